//! What the CLI makes of the host's answer to `can_use_tool`, per version.
//!
//! Pure, and as measured. Invariant: an answer that cannot be understood never runs the tool.

use serde_json::Value;

use super::version::Version;

/// What happens to the call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    Run { updates: Vec<Value> },
    Refuse { text: String, stop: bool },
}

const STOCK: &str = "The user doesn't want to proceed with this tool use.";

/// Reads the `response` of a `control_response`.
pub(super) fn verdict(version: Version, envelope: &Value) -> Verdict {
    if envelope["subtype"] == "error" {
        let reason = match envelope["error"].as_str() {
            Some(error) => format!("Tool permission request failed: Error: {error}"),
            None => "Tool permission request failed: Error".to_owned(),
        };
        return refused(reason);
    }
    let answer = &envelope["response"];
    match answer["behavior"].as_str() {
        Some("allow") => allow(version, answer),
        Some("deny") => deny(version, answer),
        _ => refused(invalid(version)),
    }
}

fn allow(version: Version, answer: &Value) -> Verdict {
    let understood = match answer.get("updatedInput") {
        None => version.allow_may_omit_input(),
        Some(input) => input.is_object(),
    };
    let updates = match answer.get("updatedPermissions") {
        None => Some(Vec::new()),
        Some(Value::Array(updates)) => Some(updates.clone()),
        // One entry that cannot be read takes the whole list with it; permissions see to that.
        Some(_) => version.drops_bad_updates().then(Vec::new),
    };
    match updates.filter(|_| understood) {
        Some(updates) => Verdict::Run { updates },
        None => refused(invalid(version)),
    }
}

fn deny(version: Version, answer: &Value) -> Verdict {
    let stop = answer["interrupt"] == true;
    let text = match answer["message"].as_str() {
        Some(_) if stop && version.stop_hides_message() => STOCK.to_owned(),
        Some(message) => message.to_owned(),
        None => invalid(version),
    };
    Verdict::Refuse { text, stop }
}

/// What the tool is run with: the host's input, or the original where the host left it out.
pub(super) fn input(version: Version, envelope: &Value, original: &Value) -> Value {
    match &envelope["response"]["updatedInput"] {
        Value::Object(fields) if fields.is_empty() && version.empty_input_means_original() => {
            original.clone()
        }
        updated @ Value::Object(_) => updated.clone(),
        _ => original.clone(),
    }
}

fn refused(text: String) -> Verdict {
    Verdict::Refuse { text, stop: false }
}

fn invalid(version: Version) -> String {
    if version.allow_may_omit_input() {
        "The canUseTool callback returned an invalid permission result.".to_owned()
    } else {
        "Tool permission request failed: ZodError".to_owned()
    }
}

/// What the model hears when the host has closed stdin.
pub(super) const CLOSED: &str =
    "Tool permission request failed: Error: Tool permission stream closed before response received";

/// What the model hears when the turn was interrupted.
pub(super) fn interrupted(version: Version) -> &'static str {
    if version.stop_hides_message() {
        STOCK
    } else {
        "Tool permission request failed: AbortError"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Version = Version::NEWEST;
    const OLD: Version = Version::new(2, 1, 62);

    /// `r`uns, is `d`enied or `s`topped, for 2.1.325 and 2.1.62.
    #[test]
    fn each_version_takes_the_answer_as_measured() {
        for (answer, expected) in [
            (r#"{"behavior":"allow","updatedInput":{"a":1}}"#, "rr"),
            (r#"{"behavior":"allow","updatedInput":{}}"#, "rr"),
            (r#"{"behavior":"allow"}"#, "rd"),
            (r#"{"behavior":"allow","updatedInput":null}"#, "dd"),
            (
                r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":null}"#,
                "rd",
            ),
            (r#"{"subtype":"allow","updatedInput":{"a":1}}"#, "dd"),
            (r#"{"behavior":"deny","message":"x"}"#, "dd"),
            (r#"{"behavior":"deny"}"#, "dd"),
            (
                r#"{"behavior":"deny","message":"x","interrupt":true}"#,
                "ss",
            ),
            (r#"{"behavior":"ask"}"#, "dd"),
            ("null", "dd"),
        ] {
            let answer: Value = serde_json::from_str(answer).unwrap();
            let envelope = serde_json::json!({"subtype":"success","response":answer});
            let found: String = [NEW, OLD]
                .map(|version| match verdict(version, &envelope) {
                    Verdict::Run { .. } => 'r',
                    Verdict::Refuse { stop: false, .. } => 'd',
                    Verdict::Refuse { stop: true, .. } => 's',
                })
                .iter()
                .collect();
            assert_eq!(found, expected, "{answer}");
        }
    }

    #[test]
    fn an_empty_input_means_the_original_and_a_stop_hides_its_message() {
        let envelope = serde_json::json!({"response":{"updatedInput":{}}});
        let original = serde_json::json!({"command":"ls"});
        assert_eq!(input(NEW, &envelope, &original), original);
        assert_eq!(input(OLD, &envelope, &original), serde_json::json!({}));
        let envelope =
            serde_json::json!({"response":{"behavior":"deny","message":"mine","interrupt":true}});
        let text = |version| match verdict(version, &envelope) {
            Verdict::Refuse { text, .. } => text,
            other => panic!("{other:?}"),
        };
        assert_eq!((text(OLD), text(NEW)), ("mine".into(), STOCK.into()));
        let failed = serde_json::json!({"subtype":"error","error":"host exploded"});
        let expected = "Tool permission request failed: Error: host exploded".to_owned();
        assert_eq!(verdict(NEW, &failed), refused(expected));
    }
}
