//! What a host line must look like to be the expected one. Pure: a line in, yes or no out.

use std::fmt;

use serde_json::Value;

/// A kind of line and conditions on its fields.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    /// A `type`, or the subtype of a control request.
    pub(super) kind: String,
    pub(super) conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    Subset(Value),
    Equals(String, Value),
    Contains(String, String),
}

/// Where a field may stand when it is not at the top: the envelopes of the wire.
const ENVELOPES: [&str; 3] = ["request", "response", "message"];

/// `user`, `control_response`, or `control_request/interrupt`: how a line is named to people.
pub(super) fn kind(line: &Value) -> String {
    let of = line["type"].as_str().unwrap_or("?");
    match subtype(line) {
        Some(subtype) => format!("{of}/{subtype}"),
        None => of.to_owned(),
    }
}

fn subtype(line: &Value) -> Option<&str> {
    match line["type"].as_str()? {
        "control_request" => line["request"]["subtype"].as_str(),
        "control_response" => line["response"]["subtype"].as_str(),
        _ => None,
    }
}

impl Pattern {
    pub(super) fn request(subtype: &str) -> Self {
        Self {
            kind: format!("control_request/{subtype}"),
            conditions: Vec::new(),
        }
    }

    /// Whether this is the kind of line that is looked for, whatever its fields say.
    pub(super) fn is_kind(&self, line: &Value) -> bool {
        let of = line["type"].as_str().unwrap_or_default();
        let whole = kind(line);
        self.kind == of
            || self.kind == whole
            || (of == "control_request" && subtype(line) == Some(self.kind.as_str()))
    }

    /// The first condition that does not hold.
    pub(super) fn broken_condition<'a>(&'a self, line: &Value) -> Option<&'a Condition> {
        self.conditions
            .iter()
            .find(|condition| !condition.holds(line))
    }
}

impl Condition {
    fn holds(&self, line: &Value) -> bool {
        match self {
            Condition::Subset(wanted) => contains(line, wanted),
            Condition::Equals(path, wanted) => find(line, path) == Some(wanted),
            Condition::Contains(path, wanted) => {
                find(line, path).is_some_and(|found| match found {
                    Value::String(text) => text.contains(wanted),
                    other => other.to_string().contains(wanted),
                })
            }
        }
    }
}

/// Whether everything in `wanted` is in `found`, too. Lists must agree in length.
fn contains(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| found.get(key).is_some_and(|found| contains(found, wanted))),
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found
                    .iter()
                    .zip(wanted)
                    .all(|(found, wanted)| contains(found, wanted))
        }
        (found, wanted) => found == wanted,
    }
}

fn find<'a>(line: &'a Value, path: &str) -> Option<&'a Value> {
    at(line, path).or_else(|| {
        ENVELOPES
            .iter()
            .find_map(|envelope| at(line.get(envelope)?, path))
    })
}

fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Subset(value) => write!(f, "{value}"),
            Condition::Equals(path, value) => write!(f, "{path}={value}"),
            Condition::Contains(path, text) => write!(f, "{path}~{text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_of_its_kinds_and_holds_the_conditions() {
        let request =
            json!({"type":"control_request","request":{"subtype":"set_model","model":"opus"}});
        let user = json!({"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]}});
        let equals = |path: &str, value| Condition::Equals(path.to_owned(), value);
        let contains = Condition::Contains("content".to_owned(), "hi".to_owned());
        for (kind, condition, line, holds) in [
            (
                "control_request/set_model",
                equals("request.model", json!("opus")),
                &request,
                true,
            ),
            (
                "user",
                Condition::Subset(json!({"message":{"content":[{"text":"hi"}]}})),
                &user,
                true,
            ),
            (
                "user",
                Condition::Subset(json!({"message":{"content":[]}})),
                &user,
                false,
            ),
            ("user", contains, &user, true),
            ("user", equals("content.0.text", json!("hi")), &user, true),
        ] {
            let pattern = Pattern {
                kind: kind.to_owned(),
                conditions: vec![condition],
            };
            assert!(pattern.is_kind(line), "{kind}");
            assert_eq!(
                pattern.broken_condition(line).is_none(),
                holds,
                "{pattern:?}"
            );
        }
        assert!(!Pattern::request("interrupt").is_kind(&request));
    }
}
