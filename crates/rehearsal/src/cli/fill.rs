//! `${name}` in the texts and JSON of a scenario. `$${` is a plain `${`.

use serde_json::Value;

/// Names that always have a value.
pub(super) const BUILT_IN: [&str; 13] = [
    "cwd",
    "first_prompt",
    "home",
    "mode",
    "model",
    "n",
    "plan_file",
    "prompt",
    "result",
    "session",
    "user_uuid",
    "uuid",
    "version",
];

/// Puts values in place of names; a name without one is left as it stands.
pub(super) fn text(template: &str, lookup: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            out.push_str(&rest[..at - 1]);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let name = rest[at + 2..].split_once('}').map(|(name, _)| name);
        match name.and_then(|name| Some((name, lookup(name)?))) {
            Some((name, value)) => {
                out.push_str(&value);
                rest = &rest[at + 3 + name.len()..];
            }
            None => {
                out.push_str("${");
                rest = &rest[at + 2..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The same in every string of a value.
pub(super) fn value(template: &Value, lookup: &mut dyn FnMut(&str) -> Option<String>) -> Value {
    match template {
        Value::String(string) => Value::String(text(string, lookup)),
        Value::Array(items) => items.iter().map(|item| value(item, lookup)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, field)| (key.clone(), value(field, lookup)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> String {
        text(template, &mut |name| (name == "n").then(|| "3".to_owned()))
    }

    #[test]
    fn names_with_a_value_are_replaced() {
        assert_eq!(filled("${n} of ${n}"), "3 of 3");
        assert_eq!(filled("$${n} ${m} ${n"), "${n} ${m} ${n");
    }

    #[test]
    fn strings_inside_json_are_filled_and_keys_are_not() {
        let template = serde_json::json!({"${n}": ["${n}", 1]});
        let filled = value(&template, &mut |_| Some("x".to_owned()));
        assert_eq!(filled, serde_json::json!({"${n}": ["x", 1]}));
    }
}
