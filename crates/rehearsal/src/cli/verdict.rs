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

const UPDATES: [&str; 6] = [
    "addRules",
    "replaceRules",
    "removeRules",
    "setMode",
    "addDirectories",
    "removeDirectories",
];
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
        None => Ok(Vec::new()),
        Some(Value::Array(updates)) => Ok(updates.clone()),
        Some(_) if version.drops_bad_updates() => Ok(Vec::new()),
        Some(_) => Err(()),
    };
    match updates {
        Ok(updates) if understood => {
            let known = |update: &Value| {
                update["type"]
                    .as_str()
                    .is_some_and(|kind| UPDATES.contains(&kind))
            };
            if version.drops_bad_updates() {
                // One entry that cannot be read takes the whole list with it; the permission core sees to that.
                Verdict::Run { updates }
            } else if updates.iter().all(known) {
                Verdict::Run { updates }
            } else {
                refused(invalid(version))
            }
        }
        _ => refused(invalid(version)),
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
    const MIDDLE: Version = Version::new(2, 1, 197);
    const OLD: Version = Version::new(2, 1, 62);

    /// `r`uns, is `d`enied or `s`topped, for 2.1.325, 2.1.197 and 2.1.62.
    #[test]
    fn each_version_takes_the_answer_as_measured() {
        let table = [
            (r#"{"behavior":"allow","updatedInput":{"a":1}}"#, "rrr"),
            (r#"{"behavior":"allow","updatedInput":{}}"#, "rrr"),
            (r#"{"behavior":"allow"}"#, "rdd"),
            (r#"{"behavior":"allow","updated_input":{"a":1}}"#, "rdd"),
            (r#"{"behavior":"allow","updatedInput":null}"#, "ddd"),
            (
                r#"{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":null}"#,
                "rrd",
            ),
            (
                r#"{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{"type":"new"}]}"#,
                "rrd",
            ),
            (r#"{"subtype":"allow","updatedInput":{"a":1}}"#, "ddd"),
            (r#"{"behavior":"deny","message":"x"}"#, "ddd"),
            (r#"{"behavior":"deny"}"#, "ddd"),
            (
                r#"{"behavior":"deny","message":"x","interrupt":true}"#,
                "sss",
            ),
            (r#"{"behavior":"ask"}"#, "ddd"),
            ("null", "ddd"),
        ];
        for (answer, expected) in table {
            let answer: Value = serde_json::from_str(answer).unwrap();
            let envelope = serde_json::json!({"subtype":"success","response":answer});
            let found: String = [NEW, MIDDLE, OLD]
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
    fn an_empty_input_means_the_original_from_2_1_197_on() {
        let envelope = serde_json::json!({"response":{"updatedInput":{}}});
        let original = serde_json::json!({"command":"ls"});
        assert_eq!(input(MIDDLE, &envelope, &original), original);
        assert_eq!(input(OLD, &envelope, &original), serde_json::json!({}));
    }

    #[test]
    fn the_message_of_a_stop_is_kept_by_old_versions_only() {
        let envelope =
            serde_json::json!({"response":{"behavior":"deny","message":"mine","interrupt":true}});
        let text = |version| match verdict(version, &envelope) {
            Verdict::Refuse { text, .. } => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(OLD), "mine");
        assert_ne!(text(NEW), "mine");
    }

    #[test]
    fn an_error_envelope_is_a_refusal_that_says_why() {
        let refusal = verdict(
            NEW,
            &serde_json::json!({"subtype":"error","error":"host exploded"}),
        );
        let expected = "Tool permission request failed: Error: host exploded".to_owned();
        assert_eq!(refusal, refused(expected));
    }
}
