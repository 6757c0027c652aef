//! What the CLI makes of the host's answer to `can_use_tool`.
//!
//! Pure, and as measured. Invariant: an answer that cannot be understood never runs the tool.

use serde_json::Value;

/// What happens to the call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    Run { updates: Vec<Value> },
    Refuse { text: String, stop: bool },
}

/// What the model hears when the turn was interrupted, or is to stop.
pub(super) const STOCK: &str = "The user doesn't want to proceed with this tool use.";
const INVALID: &str = "The canUseTool callback returned an invalid permission result.";
/// What the model hears when the host has closed stdin.
pub(super) const CLOSED: &str =
    "Tool permission request failed: Error: Tool permission stream closed before response received";

/// Reads the `response` of a `control_response`.
pub(super) fn verdict(envelope: &Value) -> Verdict {
    let refused = |text: &str, stop| Verdict::Refuse {
        text: text.to_owned(),
        stop,
    };
    if envelope["subtype"] == "error" {
        let reason = match envelope["error"].as_str() {
            Some(error) => format!("Tool permission request failed: Error: {error}"),
            None => "Tool permission request failed: Error".to_owned(),
        };
        return refused(&reason, false);
    }
    let answer = &envelope["response"];
    match answer["behavior"].as_str() {
        Some("allow") if answer.get("updatedInput").is_none_or(Value::is_object) => Verdict::Run {
            // One entry that cannot be read takes the whole list with it; permissions see to that.
            updates: (answer["updatedPermissions"].as_array().cloned()).unwrap_or_default(),
        },
        Some("deny") => match (answer["message"].as_str(), answer["interrupt"] == true) {
            (Some(_), true) => refused(STOCK, true),
            (message, stop) => refused(message.unwrap_or(INVALID), stop),
        },
        _ => refused(INVALID, false),
    }
}

/// What the tool is run with: the host's input, or the original where the host left it out or empty.
pub(super) fn input(envelope: &Value, original: &Value) -> Value {
    let updated = &envelope["response"]["updatedInput"];
    let is_filled = updated.as_object().is_some_and(|fields| !fields.is_empty());
    if is_filled { updated } else { original }.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_as_measured() {
        let invalid = Some(INVALID);
        for (answer, refused, stops) in [
            (r#"{"behavior":"allow"}"#, None, false),
            (
                r#"{"behavior":"allow","updatedInput":null}"#,
                invalid,
                false,
            ),
            (
                r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":null}"#,
                None,
                false,
            ),
            (
                r#"{"subtype":"allow","updatedInput":{"a":1}}"#,
                invalid,
                false,
            ),
            (r#"{"behavior":"deny"}"#, invalid, false),
            (r#"{"behavior":"ask"}"#, invalid, false),
            ("null", invalid, false),
        ] {
            let answer: Value = serde_json::from_str(answer).unwrap();
            let envelope = serde_json::json!({"subtype":"success","response":answer});
            let found = match verdict(&envelope) {
                Verdict::Run { .. } => (None, false),
                Verdict::Refuse { text, stop } => (Some(text), stop),
            };
            assert_eq!((found.0.as_deref(), found.1), (refused, stops), "{answer}");
        }
        let envelope = serde_json::json!({"response":{"updatedInput":{}}});
        let original = serde_json::json!({"command":"ls"});
        assert_eq!(input(&envelope, &original), original);
        let failed = serde_json::json!({"subtype":"error","error":"host exploded"});
        let text = "Tool permission request failed: Error: host exploded".to_owned();
        assert_eq!(verdict(&failed), Verdict::Refuse { text, stop: false });
    }
}
