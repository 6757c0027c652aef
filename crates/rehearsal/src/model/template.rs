//! `${name}` in text and in the strings of a JSON value.
//!
//! Owns the expansion, not where values come from. Replacing happens inside parsed JSON, never in its source, so a
//! value with quotes or backslashes cannot change the shape of a tool's input.

use serde_json::Value;

use super::Vars;

/// The key that marks a repeated string: `{"$repeat": ["x", 5000000]}`.
pub(super) const REPEAT: &str = "$repeat";

/// The most a repeat may grow to: enough for any line a test needs, small enough to hold.
pub(super) const MAX_EXPANDED_BYTES: usize = 256 * 1024 * 1024;

enum Part<'a> {
    Literal(&'a str),
    Name(&'a str),
}

/// Every name the text asks for, in order.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    split(text, |part| {
        if let Part::Name(name) = part {
            found.push(name.to_owned());
        }
    });
    found
}

pub(super) fn names_in_json(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => names(text),
        Value::Array(items) => items.iter().flat_map(names_in_json).collect(),
        Value::Object(map) => map.values().flat_map(names_in_json).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The text with every name replaced; a name without a value stays as it was written.
pub(super) fn expand(text: &str, vars: &Vars) -> String {
    let mut out = String::with_capacity(text.len());
    split(text, |part| match part {
        Part::Literal(literal) => out.push_str(literal),
        Part::Name(name) => match vars.get(name) {
            Some(value) => out.push_str(value),
            None => {
                out.push_str("${");
                out.push_str(name);
                out.push('}');
            }
        },
    });
    out
}

pub(super) fn expand_json(value: &Value, vars: &Vars) -> Value {
    match value {
        Value::String(text) => Value::String(expand(text, vars)),
        Value::Array(items) => items.iter().map(|item| expand_json(item, vars)).collect(),
        Value::Object(map) => match repeat_of(value) {
            Some((text, times)) => Value::String(expand(text, vars).repeat(times)),
            None => map
                .iter()
                .map(|(key, item)| (key.clone(), expand_json(item, vars)))
                .collect(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// What is wrong with a repeat marker somewhere in the value, if anything is.
pub(super) fn bad_repeat(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(bad_repeat),
        Value::Object(map) if map.contains_key(REPEAT) => match repeat_of(value) {
            None => Some(format!(
                "{{\"{REPEAT}\":[text, count]}} and nothing beside it"
            )),
            Some((text, times)) if text.len().saturating_mul(times) > MAX_EXPANDED_BYTES => {
                Some(format!("a repeat of at most {MAX_EXPANDED_BYTES} bytes"))
            }
            Some(_) => None,
        },
        Value::Object(map) => map.values().find_map(bad_repeat),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn repeat_of(value: &Value) -> Option<(&str, usize)> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    let [text, times] = map.get(REPEAT)?.as_array()?.as_slice() else {
        return None;
    };
    Some((text.as_str()?, usize::try_from(times.as_u64()?).ok()?))
}

/// Cuts the text at `${name}`; `$${` stands for a plain `${`.
fn split<'a>(text: &'a str, mut each: impl FnMut(Part<'a>)) {
    let mut rest = text;
    while let Some(found) = rest.find("${") {
        let (before, from_mark) = rest.split_at(found);
        if let Some(escaped) = before.strip_suffix('$') {
            each(Part::Literal(escaped));
            each(Part::Literal("${"));
            rest = &from_mark[2..];
            continue;
        }
        each(Part::Literal(before));
        match from_mark[2..].find('}').map(|end| &from_mark[2..2 + end]) {
            Some(name) if is_name(name) => {
                each(Part::Name(name));
                rest = &from_mark[name.len() + 3..];
            }
            _ => {
                each(Part::Literal("${"));
                rest = &from_mark[2..];
            }
        }
    }
    each(Part::Literal(rest));
}

/// Letters, digits, `_`, `-` and `.`: what a name on a command line can hold without quoting.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn vars() -> Vars {
        Vars::from(
            [("cwd", "/w"), ("q", "a\"b")].map(|(name, value)| (name.to_owned(), value.to_owned())),
        )
    }

    #[test]
    fn names_are_replaced_and_escapes_kept_plain() {
        let table = [
            ("plain", "plain"),
            ("${cwd}/a", "/w/a"),
            ("${cwd}${cwd}", "/w/w"),
            ("$${cwd}", "${cwd}"),
            ("$5 and ${ and ${not a name}", "$5 and ${ and ${not a name}"),
            ("${missing}", "${missing}"),
            ("ü${cwd}ü", "ü/wü"),
        ];
        for (text, want) in table {
            assert_eq!(expand(text, &vars()), want, "{text}");
        }
        assert_eq!(names("${a} $${b} ${c-d}"), ["a", "c-d"]);
    }

    #[test]
    fn a_value_with_quotes_stays_inside_its_json_string() {
        let value = json!({"path": "${q}", "list": ["${cwd}", 1], "big": {"$repeat": ["ab", 3]}});
        assert_eq!(
            expand_json(&value, &vars()),
            json!({"path": "a\"b", "list": ["/w", 1], "big": "ababab"})
        );
    }

    #[test]
    fn a_bad_repeat_is_found_wherever_it_stands() {
        assert!(bad_repeat(&json!({"a": [{"$repeat": ["x"]}]})).is_some());
        assert!(bad_repeat(&json!({"$repeat": ["x", 2], "more": 1})).is_some());
        assert!(bad_repeat(&json!({"$repeat": ["x", u64::MAX]})).is_some());
        assert!(bad_repeat(&json!({"a": {"$repeat": ["x", 2]}})).is_none());
    }
}
