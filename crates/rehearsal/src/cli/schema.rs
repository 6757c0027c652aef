//! Whether a value follows a JSON schema, as far as structured answers need it; the first thing wrong, in words.
//!
//! Pure. What it does not know of a schema it lets pass.

use serde_json::Value;

/// The first violation: `root: must have required property 'count'`.
pub(super) fn violation(schema: &Value, value: &Value) -> Option<String> {
    check(schema, value, "root")
}

fn check(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let wrong = |text: String| Some(format!("{at}: {text}"));
    let kinds = match &schema["type"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|name| is_of(name, value)) {
        return wrong(format!("must be {}", kinds.join(",")));
    }
    if schema["enum"]
        .as_array()
        .is_some_and(|allowed| !allowed.contains(value))
    {
        return wrong("must be equal to one of the allowed values".to_owned());
    }
    let below = |name: &str| match at {
        "root" => format!("/{name}"),
        at => format!("{at}/{name}"),
    };
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required
        .filter_map(Value::as_str)
        .filter(|_| value.is_object());
    if let Some(name) = required.find(|name| value.get(name).is_none()) {
        return wrong(format!("must have required property '{name}'"));
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let problem = match (
            schema["properties"].get(name),
            schema.get("additionalProperties"),
        ) {
            (None, Some(Value::Bool(false))) => {
                wrong("must NOT have additional properties".to_owned())
            }
            (Some(schema), _) | (None, Some(schema)) => check(schema, member, &below(name)),
            (None, None) => None,
        };
        if problem.is_some() {
            return problem;
        }
    }
    let mut items = value.as_array().into_iter().flatten().enumerate();
    items.find_map(|(index, item)| check(&schema["items"], item, &below(&index.to_string())))
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

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        name => kind(value) == name,
    }
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
                "count": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
        });
        for (value, expected) in [
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
                json!({"colour": "red", "count": 1.5}),
                Some("/count: must be integer"),
            ),
            (
                json!({"colour": "red", "count": 1, "more": 1}),
                Some("root: must NOT have additional properties"),
            ),
            (
                json!({"colour": "red", "count": 1, "tags": [1]}),
                Some("/tags/0: must be string"),
            ),
        ] {
            assert_eq!(violation(&schema, &value).as_deref(), expected, "{value}");
        }
    }
}
