//! A value that fits a JSON schema.
//!
//! Owns the choice of values; `pattern` makes the strings of regular expressions. Words, numbers and JSON of the prompt are
//! taken where they fit, so that an answer can be steered. Pure. Invariant: whatever the schema, it ends, with a value of
//! bounded size; a schema that cannot be met gets the nearest value.

mod object;
mod scalar;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::{call, plain_value, quote};
use crate::cli::scenario::{Condition, Step};
use crate::cli::schema::violation;

/// Schemas nest deeper than this only in circles.
const DEEPEST: usize = 24;
/// From here on only what must be there is filled in.
const SPARSE: usize = 6;
/// Values in one answer.
const MOST: usize = 10_000;
/// Where exactly one branch may fit, the first one may not be it.
const TRIES: usize = 6;

/// The call that gives the answer. An answer that the prompt spells out comes first, whether it fits or not.
pub(super) fn answer(schema: &Value, prompt: &str) -> Vec<Step> {
    let fitting = structured(&fitting(schema, prompt));
    let Some(spelled) = spelled_out(prompt) else {
        return vec![fitting];
    };
    let again = Step::If {
        condition: Condition::Refused,
        then: [fitting].into(),
        otherwise: [].into(),
    };
    vec![structured(&spelled), again]
}

fn structured(value: &Value) -> Step {
    call("StructuredOutput", plain_value(value))
}

/// The object after "answer with" or "answer:".
fn spelled_out(prompt: &str) -> Option<Value> {
    let lower = prompt.to_ascii_lowercase();
    let openings = ["answer with", "answer:", "reply with", "fill in"];
    openings.iter().find_map(|opening| {
        let at = lower.find(opening)? + opening.len();
        match quote::leading_json(prompt.get(at..)?)? {
            Ok((value @ Value::Object(_), _)) => Some(value),
            _ => None,
        }
    })
}

/// A value that fits the schema: the first of a few tries, each of which takes other branches.
pub(super) fn fitting(schema: &Value, prompt: &str) -> Value {
    let tries = (0..TRIES).map(|shift| {
        let mut fitter = Fitter {
            root: schema,
            prompt,
            left: MOST,
            shift,
        };
        fitter.value(schema, &Spot::default())
    });
    let mut first = None;
    for value in tries {
        if violation(schema, &value).is_none() {
            return value;
        }
        first.get_or_insert(value);
    }
    first.unwrap_or_default()
}

struct Fitter<'a> {
    root: &'a Value,
    prompt: &'a str,
    left: usize,
    /// Which try this is.
    shift: usize,
}

/// Where in the answer a value is wanted.
#[derive(Clone, Copy, Default)]
struct Spot<'a> {
    /// The property's name.
    name: Option<&'a str>,
    /// The place in a list, so that its items can differ.
    index: usize,
    depth: usize,
}

impl<'a> Spot<'a> {
    fn property(self, name: &'a str) -> Self {
        Self {
            name: Some(name),
            index: 0,
            depth: self.depth + 1,
        }
    }

    fn item(self, index: usize) -> Self {
        Self {
            index,
            depth: self.depth + 1,
            ..self
        }
    }
}

impl Fitter<'_> {
    fn value(&mut self, schema: &Value, spot: &Spot<'_>) -> Value {
        if spot.depth > DEEPEST || self.left == 0 {
            return Value::Null;
        }
        self.left -= 1;
        let Some(fields) = schema.as_object() else {
            // `true` takes anything.
            return self.text(&Map::new(), spot).into();
        };
        let fields = self.flattened(fields, 0);
        if let Some(only) = fields.get("const") {
            return only.clone();
        }
        if let Some(Value::Array(allowed)) = fields.get("enum") {
            return self.choice(allowed, spot);
        }
        if let Some(known) = ready_made(&fields) {
            return known;
        }
        match kind(&fields) {
            "object" => self.object(&fields, spot),
            "array" => self.array(&fields, spot),
            "integer" => self.number(&fields, spot, true),
            "number" => self.number(&fields, spot, false),
            "boolean" => json!(!self.says_no(spot)),
            "null" => Value::Null,
            _ => self.text(&fields, spot).into(),
        }
    }

    /// The schema with its references, `allOf` and the first fitting branch of a choice laid into it.
    fn flattened(&self, fields: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut flat = fields.clone();
        if depth > DEEPEST {
            return flat;
        }
        let mut parts: Vec<&Value> = Vec::new();
        let target = flat.remove("$ref");
        let referred = target.as_ref().and_then(|target| self.resolved(target));
        parts.extend(referred);
        let all = flat.remove("allOf");
        parts.extend(all.iter().filter_map(Value::as_array).flatten());
        let choices = [flat.remove("anyOf"), flat.remove("oneOf")];
        for branches in choices.iter().flatten().filter_map(Value::as_array) {
            parts.extend(self.branch(branches));
        }
        for part in parts {
            if let Some(part) = part.as_object() {
                lay_over(&mut flat, self.flattened(part, depth + 1));
            }
        }
        flat
    }

    /// The branch that the prompt names, or the first that is not empty.
    fn branch<'b>(&self, branches: &'b [Value]) -> Option<&'b Value> {
        let named = branches.iter().find(|branch| self.names(branch));
        let full: Vec<&Value> = branches.iter().filter(|branch| !is_null(branch)).collect();
        let in_turn = full.get(self.shift % full.len().max(1)).copied();
        named
            .filter(|_| self.shift == 0)
            .or(in_turn)
            .or(branches.first())
    }

    /// Whether a constant of the branch stands in the prompt.
    fn names(&self, branch: &Value) -> bool {
        let Some(Value::Object(properties)) = branch.get("properties") else {
            return branch["const"]
                .as_str()
                .is_some_and(|word| self.mentions(word));
        };
        let constants = properties
            .values()
            .filter_map(|schema| schema["const"].as_str());
        constants.into_iter().any(|word| self.mentions(word))
    }

    fn resolved(&self, target: &Value) -> Option<&Value> {
        let pointer = target.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    fn choice(&self, allowed: &[Value], spot: &Spot<'_>) -> Value {
        let said = allowed
            .iter()
            .find(|value| value.as_str().is_some_and(|word| self.mentions(word)));
        let said = said.filter(|_| spot.index == 0);
        let full: Vec<&Value> = allowed.iter().filter(|value| !value.is_null()).collect();
        let in_turn = full.get(spot.index % full.len().max(1)).copied();
        said.or(in_turn).cloned().unwrap_or_default()
    }

    fn array(&mut self, fields: &Map<String, Value>, spot: &Spot<'_>) -> Value {
        let size = |name: &str| {
            fields
                .get(name)
                .and_then(Value::as_u64)
                .map(|size| size as usize)
        };
        let fixed = ["prefixItems", "items"]
            .iter()
            .find_map(|name| fields.get(*name)?.as_array());
        let fixed = fixed.map_or(&[][..], Vec::as_slice);
        let rest = match fields.get("items") {
            Some(Value::Array(_)) | None => fields.get("additionalItems"),
            other => other,
        };
        let least = size("minItems").unwrap_or(0).max(fixed.len());
        let sparse = spot.depth >= SPARSE || rest == Some(&Value::Bool(false));
        let wanted = if sparse { least } else { least.max(1) };
        let wanted = wanted.min(size("maxItems").unwrap_or(usize::MAX)).min(MOST);
        let anything = Value::Bool(true);
        let contained = fields.get("contains");
        let items = (0..wanted).map(|index| {
            let schema = fixed.get(index).or(contained).or(rest).unwrap_or(&anything);
            self.value(schema, &spot.item(index))
        });
        items.collect()
    }
}

/// A value that the schema itself offers.
fn ready_made(fields: &Map<String, Value>) -> Option<Value> {
    let example = fields.get("examples").and_then(|examples| examples.get(0));
    let known = fields.get("default").or(example)?;
    (!known.is_null()).then(|| known.clone())
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null" || schema.get("const") == Some(&Value::Null)
}

/// The type, as it is said or as the other words betray it.
fn kind(fields: &Map<String, Value>) -> &str {
    match fields.get("type") {
        Some(Value::String(kind)) => return kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            return kinds.find(|kind| *kind != "null").unwrap_or("null");
        }
        _ => {}
    }
    let has = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
    if has(&[
        "properties",
        "required",
        "minProperties",
        "additionalProperties",
        "patternProperties",
    ]) {
        "object"
    } else if has(&[
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "contains",
        "uniqueItems",
    ]) {
        "array"
    } else if has(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]) {
        "number"
    } else {
        "string"
    }
}

/// Both must hold: objects grow together, lists of required names add up, narrower words win.
fn lay_over(flat: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (flat.get_mut(&key), value) {
            (Some(Value::Object(have)), Value::Object(more)) if key == "properties" => {
                for (name, schema) in more {
                    let both = match have.remove(&name) {
                        Some(first) => json!({"allOf": [first, schema]}),
                        None => schema,
                    };
                    have.insert(name, both);
                }
            }
            (Some(Value::Array(have)), Value::Array(more)) if key == "required" => {
                have.extend(more)
            }
            (Some(Value::Array(have)), Value::Array(more)) if key == "enum" => {
                have.retain(|value| more.contains(value));
            }
            (Some(have), value) if key.starts_with("min") || key == "exclusiveMinimum" => {
                if value.as_f64() > have.as_f64() {
                    *have = value;
                }
            }
            (Some(have), value) if key.starts_with("max") || key == "exclusiveMaximum" => {
                if value.as_f64() < have.as_f64() {
                    *have = value;
                }
            }
            (Some(Value::Array(kinds)), value @ Value::String(_)) if key == "type" => {
                if kinds.contains(&value) {
                    flat.insert(key, value);
                }
            }
            (Some(_), _) => {}
            (None, value) => {
                flat.insert(key, value);
            }
        }
    }
}
