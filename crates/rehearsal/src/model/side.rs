//! What a side call gets when the script says nothing about it.
//!
//! Side calls are the CLI's own small questions to a model: a title, a topic, a quota probe, a summary of a page.
//! Owns one made-up answer for each form they ask in; a call with a schema gets the smallest value that follows it.

use serde_json::{Map, Value, json};

use super::Vars;
use super::ask::Ask;
use super::message::Context;
use super::render::{Form, Rendered, render};
use super::script::{Audience, Matcher, Position, Reply, Script, Step, Text, Usage, Uses};

const TITLE: &str = "Rehearsal";

/// What a side call gets that no reply is for: the header's `side`, or something made up.
pub(super) fn default_reply(script: &Script, vars: &Vars, ask: &Ask, form: Form) -> Rendered {
    let made_up = || Text {
        template: escaped(&default_text(ask)),
        repeat: 1,
        at: Position { line: 0, column: 0 },
    };
    let reply = Reply {
        line: 0,
        audience: Audience::Side,
        uses: Uses::Always,
        matcher: Matcher::Next,
        takes: Vec::new(),
        steps: vec![Step::Say(
            script.header.side.clone().unwrap_or_else(made_up),
        )],
        usage: Usage::default(),
        stop: None,
    };
    let context = Context {
        model: &ask.model,
        digest: ask.digest,
        vars,
    };
    render(&reply, context, form)
}

/// Made-up text holds no variables, whatever a schema's constants look like.
fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

/// The text of the answer.
fn default_text(ask: &Ask) -> String {
    match &ask.schema {
        Some(schema) => sample(schema, schema, 0).to_string(),
        None => "ok".to_owned(),
    }
}

/// How deep a schema is followed before it is taken for a cycle.
const MAX_DEPTH: usize = 16;

/// The smallest value that follows a JSON schema, as far as this reads schemas.
fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    let deeper = |part: &Value| sample(part, root, depth + 1);
    if let Some(fixed) = schema
        .get("const")
        .or_else(|| schema["enum"].get(0))
        .or_else(|| schema.get("default"))
    {
        return fixed.clone();
    }
    if let Some(target) = schema["$ref"]
        .as_str()
        .and_then(|path| path.strip_prefix('#'))
    {
        return root.pointer(target).map_or(Value::Null, deeper);
    }
    if let Some(first) = ["anyOf", "oneOf", "allOf"]
        .iter()
        .find_map(|key| schema[*key].get(0))
    {
        return deeper(first);
    }
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    match kind {
        Some("string") => json!(TITLE),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0).min(8);
            (0..least).map(|_| deeper(&schema["items"])).collect()
        }
        Some("object") | None if schema["properties"].is_object() => {
            let required: Vec<&str> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let fields = required
                .into_iter()
                .map(|name| (name.to_owned(), deeper(&schema["properties"][name])));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_gets_its_smallest_value() {
        let table = [
            (
                json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}),
                json!({"title": TITLE}),
            ),
            (json!({"type": ["null", "string"]}), Value::Null),
            (json!({"enum": ["a", "b"]}), json!("a")),
            (
                json!({"type": "array", "minItems": 2, "items": {"type": "integer", "minimum": 3}}),
                json!([3, 3]),
            ),
            (
                json!({"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
                json!(false),
            ),
            (
                json!({"$ref": "#/$defs/t", "$defs": {"t": {"const": 7}}}),
                json!(7),
            ),
            (
                json!({"$ref": "#/$defs/t", "$defs": {"t": {"$ref": "#/$defs/t"}}}),
                Value::Null,
            ),
        ];
        for (schema, want) in table {
            assert_eq!(sample(&schema, &schema, 0), want, "{schema}");
        }
    }
}
