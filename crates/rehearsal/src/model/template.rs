//! `${name}` in text and in the strings of a JSON value.
//!
//! Owns the expansion, not where values come from. Replacing happens inside parsed JSON, never in its source, so a
//! value with quotes or backslashes cannot change the shape of a tool's input.

use serde_json::Value;

use super::Vars;

/// The text with every `${name}` replaced; a name without a value stays as it was written, `$${` becomes `${`.
pub(super) fn expand(text: &str, vars: &Vars) -> String {
    replaced(text, |name| vars.get(name).cloned())
}

pub(super) fn expand_json(value: &Value, vars: &Vars) -> Value {
    map_texts(value, &mut |text| expand(text, vars))
}

/// Every name the text asks for, in order.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    replaced(text, |name| {
        found.push(name.to_owned());
        None
    });
    found
}

pub(super) fn names_in_json(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    map_texts(value, &mut |text| {
        found.extend(names(text));
        String::new()
    });
    found
}

/// The value with every text in it changed; keys stay.
pub(crate) fn map_texts(value: &Value, change: &mut impl FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => items.iter().map(|item| map_texts(item, change)).collect(),
        Value::Object(map) => {
            let entries = map.iter();
            Value::Object(
                entries
                    .map(|(key, item)| (key.clone(), map_texts(item, change)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// The text with each `${name}` that has a value replaced by it, and `$${` as `${`.
pub(crate) fn replaced(text: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find("${") {
        let (before, from_mark) = rest.split_at(found);
        rest = &from_mark[2..];
        if let Some(escaped) = before.strip_suffix('$') {
            out.push_str(escaped);
            out.push_str("${");
            continue;
        }
        out.push_str(before);
        let name = rest.find('}').map(|end| &rest[..end]);
        match name.filter(|name| is_name(name)) {
            Some(name) => {
                out.push_str(&value(name).unwrap_or_else(|| format!("${{{name}}}")));
                rest = &rest[name.len() + 1..];
            }
            None => out.push_str("${"),
        }
    }
    out + rest
}

/// Letters, digits, `_`, `-` and `.`: what a name on a command line can hold without quoting.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty() && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_replaced_and_escapes_kept_plain() {
        let vars = [("cwd", "/w"), ("q", "a\"b")];
        let vars = Vars::from(vars.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let table = [
            ("plain", "plain"),
            ("${cwd}${cwd}", "/w/w"),
            ("$${cwd}", "${cwd}"),
            ("$5 and ${ and ${not a name}", "$5 and ${ and ${not a name}"),
            ("${missing}", "${missing}"),
            ("ü${cwd}ü", "ü/wü"),
        ];
        for (text, want) in table {
            assert_eq!(expand(text, &vars), want, "{text}");
        }
        assert_eq!(names("${a} $${b} ${c-d}"), ["a", "c-d"]);
        let value = json!({"path": "${q}", "list": ["${cwd}", 1]});
        let filled = json!({"path": "a\"b", "list": ["/w", 1]});
        assert_eq!(expand_json(&value, &vars), filled);
        assert_eq!(names_in_json(&value), ["cwd", "q"]);
    }
}
