//! Modes: how the mode turns what a check says into what happens.
//!
//! Owns the six modes, who may set them, and what is said when nobody can be asked. Invariant: whatever the mode, a rule
//! that denies holds, and a removal that takes too much runs only after a person said so.

use serde_json::{Map, Value};

use super::super::source::Source;
use super::ask::{Asked, Free};
use super::decision::{Accepted, Refusal};

/// The modes, as they are named on the wire.
pub(super) const MODES: [&str; 6] = [
    "acceptEdits",
    "auto",
    "bypassPermissions",
    "default",
    "dontAsk",
    "plan",
];

/// How many refusals for want of a check end the turn: the last of them is [`Refusal::last_unchecked`].
pub(in crate::cli) const UNCHECKED_LIMIT: usize = 10;

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

/// The mode that is meant by a name on the command line or on the wire.
pub(super) fn named(name: &str) -> Option<&'static str> {
    let name = if name == "manual" { "default" } else { name };
    MODES.into_iter().find(|mode| *mode == name)
}

impl Free {
    pub(super) fn accepted(self) -> Accepted {
        let (source, reason_type) = match self {
            Free::Always => ("config", None),
            Free::Own => ("config", Some("other")),
            Free::Mode => ("config", Some("mode")),
            Free::Parts => ("config", Some("subcommandResults")),
            Free::Rule(Source::Session) => ("user_temporary", Some("rule")),
            Free::Rule(Source::User | Source::Project | Source::Local) => {
                ("user_permanent", Some("rule"))
            }
            Free::Rule(_) => ("config", Some("rule")),
        };
        Accepted {
            source,
            reason_type,
        }
    }
}

/// Something runs because of the mode.
pub(super) fn by_mode() -> Accepted {
    Free::Mode.accepted()
}

impl Refusal {
    /// A rule denied it.
    pub(super) fn by_rule(text: String, reason_type: &'static str, source: Option<Source>) -> Self {
        let own = matches!(
            source,
            Some(Source::Session | Source::User | Source::Project | Source::Local)
        );
        Refusal {
            event: Some(event(&text, Some(reason_type), None, None)),
            text,
            source: if own { "user_reject" } else { "config" },
            reason_type: Some(reason_type),
            kind: Some("permission-rule"),
        }
    }

    /// `dontAsk`: what would be asked is refused.
    pub(super) fn without_asking(tool: &str) -> Self {
        let text = format!(
            "Permission to use {tool} has been denied because Claude Code is running in don't ask mode. Another tool may \
             reach the same end in an honest way; do not look for a way around this. If nothing else will do, stop and \
             tell the user what you need and why."
        );
        Refusal::by_rule(text, "mode", None)
    }

    /// Nobody is there to ask.
    pub(super) fn unasked(asked: &Asked) -> Self {
        let kind = asked.kind.map(super::ask::Kind::name);
        Refusal {
            event: Some(event(&asked.message, kind, asked.reason.as_deref(), None)),
            text: asked.message.clone(),
            source: "config",
            reason_type: None,
            kind: Some("user-rejected"),
        }
    }

    /// The host said that nobody will answer.
    pub(super) fn unanswerable(asked: &Asked) -> Self {
        let text = format!(
            "Permission for this tool use was denied. It requires approval, and nobody can give one in this session, so \
             it did not run and will not if tried again. Say what was blocked and why it was needed, and go on with the \
             rest. What required approval: {}",
            asked.message
        );
        let reason = "no approval surface in this session; permission request denied automatically";
        Refusal {
            event: Some(event(&text, Some("asyncAgent"), Some(reason), None)),
            text,
            source: "config",
            reason_type: Some("asyncAgent"),
            kind: Some("permission-rule"),
        }
    }

    /// The check that `auto` would need does not run here.
    pub(super) fn unchecked(tool: &str) -> Self {
        let text = format!(
            "Auto mode is unavailable: its safety check does not run for this session, so {tool} was not run, and nothing \
             else that needs the check will be. Do what can be done without, and tell the user that another permission \
             mode would let it run."
        );
        let reason = "Classifier unavailable";
        Refusal {
            event: Some(event(
                &text,
                Some("classifier"),
                Some(reason),
                Some("auto_mode_no_check_in_session"),
            )),
            text,
            source: "config",
            reason_type: Some("classifier"),
            kind: Some("automode-unavailable"),
        }
    }

    /// The refusal that ends a turn, after [`UNCHECKED_LIMIT`] in a row.
    pub(in crate::cli) fn last_unchecked(tool: &str) -> Self {
        let text = format!(
            "Auto mode is unavailable: its safety check does not run for this session, so {tool} was not run, and the \
             turn ends here. Wait for what the user says next."
        );
        let reason =
            "Auto mode unavailable — stopped after repeated responses with no safety verdict";
        let code = "auto_mode_stop_no_check_in_session";
        Refusal {
            event: Some(event(&text, Some("classifier"), Some(reason), Some(code))),
            text,
            ..Refusal::unchecked(tool)
        }
    }

    /// Whether it was refused for want of a check.
    pub(in crate::cli) fn is_unchecked(&self) -> bool {
        self.kind == Some("automode-unavailable")
    }

    /// A removal that only a person may allow, where no person is asked.
    pub(super) fn removal(asked: &Asked) -> Self {
        let reason = asked.reason.as_deref().unwrap_or("");
        let text = format!(
            "Permission for this command was denied by a built-in Claude Code safety check, not by the user. It would \
             remove far more than is likely meant, and only a person may allow that; none did, and it was not run. Do \
             not try it in another way; tell the user what you wanted to remove and why. What was flagged: {reason}"
        );
        Refusal {
            event: Some(event(&text, Some("safetyCheck"), Some(reason), None)),
            text,
            source: "config",
            reason_type: Some("safetyCheck"),
            kind: Some("permission-rule"),
        }
    }
}

fn event(message: &str, kind: Option<&str>, reason: Option<&str>, code: Option<&str>) -> Value {
    let mut fields = Map::new();
    for (key, value) in [
        ("decision_reason_type", kind),
        ("decision_reason_code", code),
        ("decision_reason", reason),
        ("message", Some(message)),
    ] {
        if let Some(value) = value {
            fields.insert(key.to_owned(), value.into());
        }
    }
    Value::Object(fields)
}
