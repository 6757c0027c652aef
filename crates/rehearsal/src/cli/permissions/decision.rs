//! What becomes of a tool call, in the words that the wire uses.
//!
//! Owns the shape of an outcome and the entry of `tool_result_meta` that goes with it. Says nothing of how it came to be.

use serde_json::{Map, Value, json};

/// Whether a call runs.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) enum Decision {
    /// It runs without a question.
    Run(Accepted),
    /// It does not run, and nobody is asked.
    Refuse(Refusal),
    /// The host is asked: the fields of `can_use_tool` beside `subtype`, `tool_name`, `input`, `tool_use_id` and
    /// `agent_id`.
    Ask(Value),
}

/// Why a call runs without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Accepted {
    /// `config`, `hook`, or `user_temporary` where a rule of this session says so.
    pub(in crate::cli) source: &'static str,
    /// `rule`, `mode`, `subcommandResults`, `hook`.
    pub(in crate::cli) reason_type: Option<&'static str>,
}

/// A call that does not run.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct Refusal {
    /// What the model is told, as an error.
    pub(in crate::cli) text: String,
    /// The fields of `system/permission_denied` beside the tool's name and ids; without them there is no such line.
    pub(in crate::cli) event: Option<Value>,
    /// `config`, `hook` or `user_reject`.
    pub(in crate::cli) source: &'static str,
    /// `rule`, `mode`, `subcommandResults`, `classifier`, `safetyCheck`, `asyncAgent`, `hook`.
    pub(in crate::cli) reason_type: Option<&'static str>,
    /// `permission-rule`, `user-rejected`, `automode-unavailable`.
    pub(in crate::cli) kind: Option<&'static str>,
}

impl Accepted {
    /// The entry of `tool_result_meta`, without its `id`.
    pub(in crate::cli) fn meta(&self) -> Value {
        json!({"permission_decision": verdict("accept", self.source, self.reason_type)})
    }
}

impl Refusal {
    /// The entry of `tool_result_meta`, without its `id`.
    pub(in crate::cli) fn meta(&self) -> Value {
        let verdict = verdict("reject", self.source, self.reason_type);
        match self.kind {
            Some(kind) => json!({"non_execution_kind": kind, "permission_decision": verdict}),
            None => json!({"permission_decision": verdict}),
        }
    }
}

/// The entry of `tool_result_meta` after the host has answered, without its `id`.
pub(in crate::cli) fn answered_meta(allowed: bool) -> Value {
    if allowed {
        json!({"permission_decision": verdict("accept", "user_temporary", None)})
    } else {
        json!({
            "non_execution_kind": "permission-rule",
            "permission_decision": verdict("reject", "user_reject", None),
        })
    }
}

fn verdict(decision: &str, source: &str, reason_type: Option<&str>) -> Value {
    let mut fields = Map::new();
    fields.insert("decision".into(), decision.into());
    fields.insert("source".into(), source.into());
    if let Some(reason) = reason_type {
        fields.insert("reason_type".into(), reason.into());
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_reason_is_missing_and_not_null() {
        let run = Accepted {
            source: "config",
            reason_type: None,
        };
        let expected = json!({"permission_decision": {"decision": "accept", "source": "config"}});
        assert_eq!(run.meta(), expected);
        assert_eq!(
            answered_meta(false)["permission_decision"]["source"],
            "user_reject"
        );
    }
}
