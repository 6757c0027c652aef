//! Whether a JSON schema is one, by the rules of its draft 7, in the words of the CLI's validator.
//!
//! Pure. Owns the shape of each keyword and the first complaint about it. Does not say whether a value follows the
//! schema, and does not read patterns: one that is no expression passes.

use serde_json::{Map, Value};

/// What a keyword's value must be.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Any,
    Text,
    Truth,
    Number,
    Positive,
    Count,
    List,
    Schema,
    SchemaOrList,
    Schemas,
    SchemaMap,
    Dependencies,
    Names,
    Choices,
    Types,
}

use Shape::{
    Any, Choices, Count, Dependencies, List, Names, Number, Positive, Schema, SchemaMap,
    SchemaOrList, Schemas, Text, Truth, Types,
};

/// The keywords of draft 7, in the order in which they are looked at, and those that pass beside them.
const KEYWORDS: &[(&str, Shape)] = &[
    ("$id", Text),
    ("$schema", Text),
    ("$ref", Text),
    ("$comment", Text),
    ("title", Text),
    ("description", Text),
    ("default", Any),
    ("readOnly", Truth),
    ("examples", List),
    ("multipleOf", Positive),
    ("maximum", Number),
    ("exclusiveMaximum", Number),
    ("minimum", Number),
    ("exclusiveMinimum", Number),
    ("maxLength", Count),
    ("minLength", Count),
    ("pattern", Text),
    ("additionalItems", Schema),
    ("items", SchemaOrList),
    ("maxItems", Count),
    ("minItems", Count),
    ("uniqueItems", Truth),
    ("contains", Schema),
    ("maxProperties", Count),
    ("minProperties", Count),
    ("required", Names),
    ("additionalProperties", Schema),
    ("definitions", SchemaMap),
    ("properties", SchemaMap),
    ("patternProperties", SchemaMap),
    ("propertyNames", Schema),
    ("dependencies", Dependencies),
    ("const", Any),
    ("enum", Choices),
    ("type", Types),
    ("format", Text),
    ("contentMediaType", Text),
    ("contentEncoding", Text),
    ("if", Schema),
    ("then", Schema),
    ("else", Schema),
    ("allOf", Schemas),
    ("anyOf", Schemas),
    ("oneOf", Schemas),
    ("not", Schema),
    ("writeOnly", Any),
    ("deprecated", Any),
    ("nullable", Any),
    ("$defs", Any),
    ("$anchor", Any),
    ("$vocabulary", Any),
];

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];
const DRAFT: &str = "http://json-schema.org/draft-07/schema";

/// The first thing wrong with a schema.
pub(super) fn complaint(schema: &Value) -> Option<String> {
    if let Some(draft) = schema["$schema"].as_str()
        && draft.trim_end_matches('#') != DRAFT
    {
        return Some(format!("no schema with key or ref \"{draft}\""));
    }
    (well_formed(schema, "data").err()).or_else(|| usable(schema, schema).err())
}

fn well_formed(schema: &Value, at: &str) -> Result<(), String> {
    let fields = match schema {
        Value::Object(fields) => fields,
        Value::Bool(_) => return Ok(()),
        _ => return Err(format!("{at} must be object,boolean")),
    };
    for (keyword, shape) in KEYWORDS {
        if let Some(value) = fields.get(*keyword) {
            fits(value, *shape, &format!("{at}/{keyword}"))?;
        }
    }
    Ok(())
}

fn fits(value: &Value, shape: Shape, at: &str) -> Result<(), String> {
    let must = |holds: bool, what: &str| match holds {
        true => Ok(()),
        false => Err(format!("{at} must {what}")),
    };
    match shape {
        Any => Ok(()),
        Text => must(value.is_string(), "be string"),
        Truth => must(value.is_boolean(), "be boolean"),
        Number => must(value.is_number(), "be number"),
        Positive => {
            must(value.is_number(), "be number")?;
            must(value.as_f64() > Some(0.0), "be > 0")
        }
        Count => {
            let count = value.as_f64().filter(|count| count.fract() == 0.0);
            must(count.is_some(), "be integer")?;
            must(count >= Some(0.0), "be >= 0")
        }
        List => must(value.is_array(), "be array"),
        Schema => well_formed(value, at),
        SchemaOrList => match value {
            Value::Object(_) | Value::Bool(_) => well_formed(value, at),
            Value::Array(_) => fits(value, Schemas, at),
            _ => Err(format!(
                "{at} must be object,boolean, {at} must be array, {at} must match a schema in anyOf"
            )),
        },
        Schemas => {
            let schemas = some_items(value, at)?;
            let mut schemas = schemas.iter().enumerate();
            schemas.try_for_each(|(i, schema)| well_formed(schema, &format!("{at}/{i}")))
        }
        SchemaMap => each_member(value, at, well_formed),
        Dependencies => each_member(value, at, |value, at| match value {
            Value::Array(_) => fits(value, Names, at),
            _ => well_formed(value, at),
        }),
        Names => {
            let Value::Array(names) = value else {
                return Err(format!("{at} must be array"));
            };
            let wrong = names.iter().position(|name| !name.is_string());
            match wrong {
                Some(i) => Err(format!("{at}/{i} must be string")),
                None => all_different(names, at),
            }
        }
        Choices => all_different(some_items(value, at)?, at),
        Types => types(value, at),
    }
}

fn some_items<'a>(value: &'a Value, at: &str) -> Result<&'a [Value], String> {
    match value.as_array() {
        None => Err(format!("{at} must be array")),
        Some(items) if items.is_empty() => Err(format!("{at} must NOT have fewer than 1 items")),
        Some(items) => Ok(items),
    }
}

fn all_different(items: &[Value], at: &str) -> Result<(), String> {
    for later in (1..items.len()).rev() {
        if let Some(earlier) = (0..later)
            .rev()
            .find(|earlier| items[*earlier] == items[later])
        {
            return Err(format!(
                "{at} must NOT have duplicate items (items ## {later} and {earlier} are identical)"
            ));
        }
    }
    Ok(())
}

fn each_member(
    value: &Value,
    at: &str,
    check: impl Fn(&Value, &str) -> Result<(), String>,
) -> Result<(), String> {
    let Value::Object(members) = value else {
        return Err(format!("{at} must be object"));
    };
    let mut members = members.iter();
    members.try_for_each(|(name, value)| check(value, &format!("{at}/{}", escaped(name))))
}

fn types(value: &Value, at: &str) -> Result<(), String> {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    if is_type(value) {
        return Ok(());
    }
    let of_list = match value {
        Value::Array(items) if items.is_empty() => format!("{at} must NOT have fewer than 1 items"),
        Value::Array(items) => match items.iter().position(|item| !is_type(item)) {
            Some(i) => format!("{at}/{i} must be equal to one of the allowed values"),
            None => match all_different(items, at) {
                Err(complaint) => complaint,
                Ok(()) => return Ok(()),
            },
        },
        _ => format!("{at} must be array"),
    };
    Err(format!(
        "{at} must be equal to one of the allowed values, {of_list}, {at} must match a schema in anyOf"
    ))
}

/// A name as it stands in a path.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether every keyword is known and every reference leads somewhere.
fn usable(whole: &Value, schema: &Value) -> Result<(), String> {
    let Value::Object(fields) = schema else {
        return Ok(());
    };
    let is_known = |name: &str| KEYWORDS.iter().any(|(known, _)| *known == name);
    if let Some(name) = fields.keys().find(|name| !is_known(name)) {
        return Err(format!("strict mode: unknown keyword: \"{name}\""));
    }
    if let Some(reference) = fields.get("$ref").and_then(Value::as_str)
        && let Some(pointer) = reference.strip_prefix('#')
        && !is_name(pointer)
        && whole.pointer(pointer).is_none()
    {
        return Err(format!("can't resolve reference {reference} from id #"));
    }
    parts(fields)
        .into_iter()
        .try_for_each(|part| usable(whole, part))
}

/// `#name` leads to an id and not to a place.
fn is_name(pointer: &str) -> bool {
    !pointer.is_empty() && !pointer.starts_with('/')
}

/// The schemas directly inside of one.
fn parts(fields: &Map<String, Value>) -> Vec<&Value> {
    let mut parts = Vec::new();
    for (keyword, shape) in KEYWORDS {
        match (fields.get(*keyword), shape) {
            (Some(Value::Array(items)), SchemaOrList | Schemas) => parts.extend(items),
            (Some(Value::Object(members)), SchemaMap | Dependencies) => {
                parts.extend(members.values())
            }
            (Some(value), Schema | SchemaOrList) => parts.push(value),
            _ => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_ordinary_schema_is_one() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": { "a": { "$ref": "#/definitions/n" }, "b": { "type": ["string", "null"] } },
            "required": ["a"],
            "additionalProperties": false,
            "definitions": { "n": { "type": "number", "minimum": 0 } },
        });
        assert_eq!(complaint(&schema), None);
    }

    #[test]
    fn what_is_wrong_deep_inside_is_named_with_its_place() {
        let schema = json!({ "properties": { "a/b": { "items": { "minItems": -1 } } } });
        assert_eq!(
            complaint(&schema).as_deref(),
            Some("data/properties/a~1b/items/minItems must be >= 0")
        );
        let schema = json!({ "anyOf": [{ "type": "string" }, { "widget": 1 }] });
        assert_eq!(
            complaint(&schema).as_deref(),
            Some("strict mode: unknown keyword: \"widget\"")
        );
    }
}
