//! A value that fits a JSON schema, in its simplest form.
//!
//! Constants, defaults, the first word of an `enum`, all properties, as few items as may be. A word of an `enum`, a number
//! and `NAME: value` in the prompt are taken where they fit, so that an answer can be steered. Pure; ends whatever the schema.

use serde_json::{Map, Value, json};

/// Schemas nest deeper than this only in circles.
const DEEPEST: usize = 8;
/// Items that are made at most, whatever the schema says.
const MOST: u64 = 100;

/// Makes a value that fits the schema.
pub(crate) fn fitting(schema: &Value, prompt: &str) -> Value {
    let root = schema;
    Fitter { root, prompt }.value(schema, "", 0)
}

struct Fitter<'a> {
    root: &'a Value,
    prompt: &'a str,
}

impl Fitter<'_> {
    /// A value of this schema for the property `name`.
    fn value(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let fields = self.flattened(schema, 0);
        for known in ["const", "default"] {
            if let Some(value) = fields.get(known) {
                return value.clone();
            }
        }
        if let Some(Value::Array(words)) = fields.get("enum") {
            let said = words.iter().find(|word| self.mentions(word));
            return said.or(words.first()).cloned().unwrap_or_default();
        }
        if depth > DEEPEST {
            return Value::Null;
        }
        let kind = match &fields.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().find(|kind| **kind != "null"),
            kind => *kind,
        };
        let usual = if fields.contains_key("properties") {
            "object"
        } else {
            "string"
        };
        match kind.and_then(Value::as_str).unwrap_or(usual) {
            "object" => self.object(&fields, depth),
            "array" => {
                let least = fields.get("minItems").and_then(Value::as_u64);
                let items = fields.get("items").unwrap_or(&Value::Null);
                let items = (0..least.unwrap_or(1).min(MOST)).map(|_| items);
                items.map(|item| self.value(item, "", depth + 1)).collect()
            }
            "integer" | "number" => self.number(&fields, name),
            "boolean" => json!(self.said_about(name) != Some("false")),
            "null" => Value::Null,
            _ => match fields.get("format").and_then(Value::as_str) {
                Some("date") => "2026-01-01".into(),
                Some("date-time") => "2026-01-01T12:00:00Z".into(),
                _ => self.text(&fields, name).into(),
            },
        }
    }

    /// The schema with its references, its parts and the first branch of a choice laid into it.
    fn flattened(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let mut fields = schema.as_object().cloned().unwrap_or_default();
        let mut parts: Vec<Value> = Vec::new();
        if let Some(Value::String(reference)) = fields.remove("$ref") {
            let target = reference.strip_prefix('#');
            parts.extend(target.and_then(|target| self.root.pointer(target)).cloned());
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let Some(Value::Array(branches)) = fields.remove(key) else {
                continue;
            };
            let mut branches = branches.into_iter().filter(|one| one["type"] != "null");
            match key {
                "allOf" => parts.extend(branches),
                _ => parts.extend(branches.next()),
            }
        }
        for part in parts.iter().filter(|_| depth < DEEPEST) {
            for (key, value) in self.flattened(part, depth + 1) {
                match (fields.get_mut(&key), value) {
                    (Some(Value::Object(have)), Value::Object(more)) => have.extend(more),
                    (Some(_), _) => {}
                    (None, value) => {
                        fields.insert(key, value);
                    }
                }
            }
        }
        fields
    }

    fn object(&self, fields: &Map<String, Value>, depth: usize) -> Value {
        let properties = fields.get("properties").and_then(Value::as_object);
        let required = fields.get("required").and_then(Value::as_array);
        let required: Vec<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut made = Map::new();
        for (name, schema) in properties.into_iter().flatten() {
            // Deep down only what must be there is filled in, so that a circle ends.
            if depth < DEEPEST / 2 || required.contains(&name.as_str()) {
                made.insert(name.clone(), self.value(schema, name, depth + 1));
            }
        }
        for name in required {
            made.entry(name).or_insert_with(|| "text".into());
        }
        Value::Object(made)
    }

    fn number(&self, fields: &Map<String, Value>, name: &str) -> Value {
        let bound = |key: &str| fields.get(key).and_then(Value::as_f64);
        let (least, most) = (bound("minimum"), bound("maximum"));
        let fits = |number: &f64| {
            least.is_none_or(|least| *number >= least) && most.is_none_or(|most| *number <= most)
        };
        let apart = |c: char| !c.is_ascii_digit() && c != '.' && c != '-';
        let words = self.said_about(name).into_iter();
        let words = words.chain(self.prompt.split(apart));
        let mut said = words.filter_map(|word| word.trim_end_matches('.').parse().ok());
        let number = said.find(fits);
        let number =
            number.unwrap_or_else(|| least.or(most.filter(|most| *most < 1.0)).unwrap_or(1.0));
        match number.fract() == 0.0 {
            true => json!(number as i64),
            false => json!(number),
        }
    }

    fn text(&self, fields: &Map<String, Value>, name: &str) -> String {
        let size = |key: &str| fields.get(key).and_then(Value::as_u64);
        let said = self.said_about(name).unwrap_or(self.prompt.trim());
        let said = if said.is_empty() { "text" } else { said };
        let most = size("maxLength").unwrap_or(200);
        let text: String = said.chars().take(most.min(200) as usize).collect();
        let least = size("minLength").unwrap_or(0).min(MOST) as usize;
        format!("{text:.<least$}")
    }

    /// Whether the prompt has this word, whatever its case.
    fn mentions(&self, word: &Value) -> bool {
        let word = word.as_str().unwrap_or_default();
        let mut words = self
            .prompt
            .split(|c: char| !c.is_alphanumeric() && c != '_');
        !word.is_empty() && words.any(|said| said.eq_ignore_ascii_case(word))
    }

    /// The value of "NAME: value" or "NAME=value".
    fn said_about(&self, name: &str) -> Option<&str> {
        let mut places = self.prompt.match_indices(name).filter(|_| !name.is_empty());
        places.find_map(|(at, _)| {
            let rest = self.prompt[at + name.len()..].trim_start();
            let value = rest.strip_prefix([':', '='])?.trim_start();
            let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
            let word = match value.strip_prefix(['"', '\'', '`']) {
                Some(quoted) => quoted.split(['"', '\'', '`']).next()?,
                None => value.split(ends).next()?.trim_end_matches('.'),
            };
            (!word.is_empty()).then_some(word)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_fits_and_takes_what_the_prompt_says() {
        let pydantic = json!({
            "$defs": {"id": {"type": "integer", "minimum": 5}},
            "type": "object",
            "properties": {
                "id": {"$ref": "#/$defs/id"},
                "title": {"anyOf": [{"type": "null"}, {"type": "string"}]},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2},
            },
            "required": ["id", "free"],
        });
        for (schema, prompt, expected) in [
            (json!({"const": {"a": 1}}), "", json!({"a": 1})),
            (json!({"type": "string", "default": "d"}), "x", json!("d")),
            (
                json!({"enum": ["red", "green"]}),
                "make it GREEN",
                json!("green"),
            ),
            (json!({"type": "integer", "minimum": 3}), "2 of 4", json!(4)),
            (json!({"type": ["null", "number"]}), "", json!(1)),
            (
                json!({"type": "string", "minLength": 5}),
                "abc",
                json!("abc.."),
            ),
            (
                json!({"type": "string", "maxLength": 2}),
                "abc",
                json!("ab"),
            ),
            (
                json!({"allOf": [{"properties": {"a": {"type": "boolean"}}}]}),
                "",
                json!({"a": true}),
            ),
            (
                pydantic,
                "title: \"Big one\", tags b",
                json!({"id": 5, "title": "Big one", "tags": ["b", "b"], "free": "text"}),
            ),
        ] {
            assert_eq!(fitting(&schema, prompt), expected, "{schema}");
        }
    }

    #[test]
    fn a_circle_ends() {
        let tree =
            json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]});
        assert!(fitting(&tree, "")["next"]["next"].is_object());
        assert!(fitting(&json!({"$ref": "#"}), "x").is_string());
    }
}
