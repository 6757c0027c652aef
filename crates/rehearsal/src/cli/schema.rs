//! Whether a value follows a JSON schema, as far as structured answers need it; the first thing wrong, in words.
//!
//! Pure. What it does not know of a schema it lets pass: the CLI is as lenient about formats.

use serde_json::Value;

/// The first violation: `root: must have required property 'count'`.
pub(super) fn violation(schema: &Value, value: &Value) -> Option<String> {
    check(schema, schema, value, "root")
}

fn check(whole: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let schema = resolve(whole, schema);
    if schema == &Value::Bool(false) {
        return Some(format!("{at}: boolean schema is false"));
    }
    let fields = schema.as_object()?;
    let wrong = |text: String| Some(format!("{at}: {text}"));
    if let Some(kind) = fields.get("type")
        && !has_type(kind, value)
    {
        return wrong(format!("must be {}", names(kind).join(",")));
    }
    if let Some(allowed) = fields.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return wrong("must be equal to one of the allowed values".to_owned());
    }
    if let Some(only) = fields.get("const")
        && only != value
    {
        return wrong("must be equal to constant".to_owned());
    }
    for key in ["anyOf", "oneOf"] {
        let Some(options) = fields.get(key).and_then(Value::as_array) else {
            continue;
        };
        let fits = options
            .iter()
            .filter(|option| check(whole, option, value, at).is_none());
        let count = fits.count();
        if count == 0 {
            return wrong(format!("must match a schema in {key}"));
        }
        if key == "oneOf" && count > 1 {
            return wrong("must match exactly one schema in oneOf".to_owned());
        }
    }
    let all = fields.get("allOf").and_then(Value::as_array);
    if let Some(problem) = all
        .into_iter()
        .flatten()
        .find_map(|part| check(whole, part, value, at))
    {
        return Some(problem);
    }
    sizes(fields, value)
        .map(|text| format!("{at}: {text}"))
        .or_else(|| members(whole, fields, value, at))
}

fn members(
    whole: &Value,
    fields: &serde_json::Map<String, Value>,
    value: &Value,
    at: &str,
) -> Option<String> {
    let below = |name: &str| match at {
        "root" => format!("/{name}"),
        at => format!("{at}/{name}"),
    };
    match value {
        Value::Object(object) => {
            let required = fields.get("required").and_then(Value::as_array);
            for name in required.into_iter().flatten().filter_map(Value::as_str) {
                if !object.contains_key(name) {
                    return Some(format!("{at}: must have required property '{name}'"));
                }
            }
            let properties = fields.get("properties").and_then(Value::as_object);
            for (name, member) in object {
                let schema = properties.and_then(|properties| properties.get(name));
                let problem = match (schema, fields.get("additionalProperties")) {
                    (Some(schema), _) => check(whole, schema, member, &below(name)),
                    (None, Some(Value::Bool(false))) => {
                        Some(format!("{at}: must NOT have additional properties"))
                    }
                    (None, Some(schema)) => check(whole, schema, member, &below(name)),
                    (None, None) => None,
                };
                if problem.is_some() {
                    return problem;
                }
            }
            None
        }
        Value::Array(items) => {
            let schema = fields.get("items")?;
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| check(whole, schema, item, &below(&index.to_string())))
        }
        _ => None,
    }
}

/// Lengths and bounds.
fn sizes(fields: &serde_json::Map<String, Value>, value: &Value) -> Option<String> {
    let bound = |key: &str| fields.get(key).and_then(Value::as_f64);
    let (size, least, most, unit) = match value {
        Value::String(text) => {
            let length = text.chars().count() as f64;
            (length, "minLength", "maxLength", " characters")
        }
        Value::Array(items) => (items.len() as f64, "minItems", "maxItems", " items"),
        Value::Number(number) => (number.as_f64()?, "minimum", "maximum", ""),
        _ => return None,
    };
    let number = unit.is_empty();
    if let Some(least) = bound(least)
        && size < least
    {
        return Some(if number {
            format!("must be >= {least}")
        } else {
            format!("must NOT have fewer than {least}{unit}")
        });
    }
    if let Some(most) = bound(most)
        && size > most
    {
        return Some(if number {
            format!("must be <= {most}")
        } else {
            format!("must NOT have more than {most}{unit}")
        });
    }
    None
}

/// Follows references inside the schema; one that leads in a circle or nowhere stands for itself.
fn resolve<'a>(whole: &'a Value, schema: &'a Value) -> &'a Value {
    let mut found = schema;
    for _ in 0..16 {
        let Some(reference) = found["$ref"].as_str() else {
            return found;
        };
        match reference
            .strip_prefix('#')
            .and_then(|path| whole.pointer(path))
        {
            Some(next) => found = next,
            None => return found,
        }
    }
    found
}

fn names(kind: &Value) -> Vec<&str> {
    match kind {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// What a value is called in the CLI's complaints.
pub(in crate::cli) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn has_type(kind: &Value, value: &Value) -> bool {
    names(kind).iter().any(|name| match *name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_violation_is_named_with_its_place() {
        let schema = json!({
            "type": "object",
            "required": ["colour", "count"],
            "additionalProperties": false,
            "properties": {
                "colour": {"enum": ["red", "blue"]},
                "count": {"$ref": "#/$defs/count"},
                "tags": {"type": "array", "items": {"type": "string", "minLength": 2}, "maxItems": 2},
                "way": {"anyOf": [{"type": "null"}, {"type": "number"}]},
            },
            "$defs": {"count": {"type": "integer", "minimum": 1}},
        });
        let table = [
            (json!({"colour": "red", "count": 3}), None),
            (
                json!({"colour": "red"}),
                Some("root: must have required property 'count'"),
            ),
            (json!([]), Some("root: must be object")),
            (
                json!({"colour": "green", "count": 1}),
                Some("/colour: must be equal to one of the allowed values"),
            ),
            (
                json!({"colour": "red", "count": 0}),
                Some("/count: must be >= 1"),
            ),
            (
                json!({"colour": "red", "count": 1.5}),
                Some("/count: must be integer"),
            ),
            (
                json!({"colour": "red", "count": 1, "more": 1}),
                Some("root: must NOT have additional properties"),
            ),
            (
                json!({"colour": "red", "count": 1, "tags": ["ab", "c"]}),
                Some("/tags/1: must NOT have fewer than 2 characters"),
            ),
            (
                json!({"colour": "red", "count": 1, "way": "x"}),
                Some("/way: must match a schema in anyOf"),
            ),
        ];
        for (value, expected) in table {
            assert_eq!(violation(&schema, &value).as_deref(), expected, "{value}");
        }
    }
}
