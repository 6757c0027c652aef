//! What becomes of a tool call, in the words that the wire uses: decisions, refusals and modes.
//!
//! Owns the shape of an outcome and the entry of `tool_result_meta` that goes with it. Says nothing of how it came to be.

use serde_json::{Value, json};

use super::question::Question;
use crate::cli::source::Source;

/// The modes, as they are named on the wire; the usual one first.
pub(super) const MODES: [&str; 6] = [
    "default",
    "acceptEdits",
    "auto",
    "bypassPermissions",
    "dontAsk",
    "plan",
];

/// Why a mode was not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum ModeError {
    /// There is no such mode.
    #[error(
        "Cannot set permission mode: must be one of acceptEdits, auto, bypassPermissions, default, dontAsk, plan"
    )]
    Unknown,
    /// The session was not launched for it.
    #[error(
        "Cannot set permission mode to bypassPermissions because the session was not launched with \
         --dangerously-skip-permissions"
    )]
    NotLaunched,
}

impl ModeError {
    /// The `error_code` of the answer.
    pub(in crate::cli) fn code(self) -> &'static str {
        match self {
            ModeError::Unknown => "invalid_mode",
            ModeError::NotLaunched => "bypass_not_launched",
        }
    }
}

/// Returns the mode that a name on the command line or on the wire means.
pub(super) fn named_mode(name: &str) -> Option<&'static str> {
    let name = if name == "manual" { "default" } else { name };
    MODES.into_iter().find(|mode| *mode == name)
}

/// Whether a call runs.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) enum Decision {
    /// It runs without a question.
    Run(Accepted),
    /// It does not run, and nobody is asked.
    Refuse(Refusal),
    /// The host is asked: the fields of `can_use_tool` beside those that name the call.
    Ask(Value),
}

/// Why a call runs without a question: `source` and `reason_type` of its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Accepted(&'static str, Option<&'static str>);

impl Accepted {
    pub(super) const ALWAYS: Self = Self("config", None);
    /// A file of the CLI's own, kept for the model to write.
    pub(super) const OWN_FILE: Self = Self("config", Some("other"));
    pub(super) const MODE: Self = Self("config", Some("mode"));
    pub(super) const PARTS: Self = Self("config", Some("subcommandResults"));
    pub(super) const HOOK: Self = Self("hook", Some("hook"));

    /// A rule of this source lets the call run.
    pub(super) fn by_rule(source: Source) -> Self {
        let by = match source {
            Source::Session => "user_temporary",
            Source::User | Source::Project | Source::Local => "user_permanent",
            _ => "config",
        };
        Self(by, Some("rule"))
    }

    /// The entry of `tool_result_meta`, without its `id`.
    pub(in crate::cli) fn meta(&self) -> Value {
        json!({"permission_decision": entry("accept", self.0, self.1)})
    }
}

/// A call that does not run.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct Refusal {
    /// What the model is told, as an error.
    pub(in crate::cli) text: String,
    /// The fields of `system/permission_denied` beside the tool's name and ids; without them there is no such line.
    pub(in crate::cli) event: Option<Value>,
    pub(super) source: &'static str,
    pub(super) reason_type: Option<&'static str>,
    /// `permission-rule`, `user-rejected`.
    pub(in crate::cli) kind: Option<&'static str>,
}

impl Refusal {
    /// A rule, or the mode, refuses the call.
    pub(super) fn by_rule(text: String, reason_type: &'static str) -> Self {
        let event = json!({"decision_reason_type": reason_type, "message": text});
        Refusal {
            text,
            event: Some(event),
            source: "config",
            reason_type: Some(reason_type),
            kind: Some("permission-rule"),
        }
    }

    /// A rule about a path refuses the call; the host is not told.
    pub(super) fn by_path(text: &str) -> Self {
        Refusal {
            text: format!("<tool_use_error>{text}</tool_use_error>"),
            event: None,
            source: "config",
            reason_type: Some("rule"),
            kind: None,
        }
    }

    /// `dontAsk`: what would be asked is refused.
    pub(super) fn without_asking(tool: &str) -> Self {
        let text = format!(
            "Permission to use {tool} has been denied because Claude Code is running in don't ask mode. Another tool may \
             reach the same end in an honest way; do not look for a way around this."
        );
        Refusal::by_rule(text, "mode")
    }

    /// Nobody is there to ask.
    pub(super) fn unasked(asked: &Question) -> Self {
        let mut event = json!({"message": asked.message});
        for key in ["decision_reason_type", "decision_reason"] {
            if let Some(value) = asked.fields.get(key) {
                event[key] = value.clone();
            }
        }
        Refusal {
            text: asked.message.clone(),
            event: Some(event),
            source: "config",
            reason_type: None,
            kind: Some("user-rejected"),
        }
    }

    /// The entry of `tool_result_meta`, without its `id`.
    pub(in crate::cli) fn meta(&self) -> Value {
        let entry = entry("reject", self.source, self.reason_type);
        match self.kind {
            Some(kind) => json!({"non_execution_kind": kind, "permission_decision": entry}),
            None => json!({"permission_decision": entry}),
        }
    }
}

/// The entry of `tool_result_meta` after the host has answered, without its `id`.
pub(in crate::cli) fn answered_meta(allowed: bool) -> Value {
    match allowed {
        true => json!({"permission_decision": entry("accept", "user_temporary", None)}),
        false => json!({
            "non_execution_kind": "permission-rule",
            "permission_decision": entry("reject", "user_reject", None),
        }),
    }
}

fn entry(decision: &str, source: &str, reason_type: Option<&str>) -> Value {
    let mut entry = json!({"decision": decision, "source": source});
    if let Some(reason) = reason_type {
        entry["reason_type"] = reason.into();
    }
    entry
}
