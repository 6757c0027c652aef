//! What an agent wants to do, as the CLI asks it.
//!
//! Owns [`Call`] and [`Marks`], what the CLI itself has to say about a call. Nothing here decides.

use std::path::PathBuf;

use countersign_wire::control::CanUseTool;
use countersign_wire::control::DecisionReasonType;
use serde_json::Value;

/// One call that an agent wants to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool, as the CLI names it.
    pub tool: String,
    /// Its input, defaults filled in.
    pub input: Value,
    /// What the CLI says about it.
    pub marks: Marks,
    /// Whether the session is in plan mode.
    pub in_plan_mode: bool,
    /// The session's own plan file by its real path, where it is known: the one file that may be written in plan mode.
    pub plan_file: Option<PathBuf>,
}

impl Call {
    /// A call outside of plan mode, about which the CLI says nothing.
    pub fn new(tool: impl Into<String>, input: Value) -> Self {
        Self {
            tool: tool.into(),
            input,
            marks: Marks::default(),
            in_plan_mode: false,
            plan_file: None,
        }
    }

    /// The call that is asked about. An input that cannot be read is no object, and is asked.
    pub fn asked(ask: &CanUseTool) -> Self {
        Self {
            marks: Marks::of(ask),
            ..Self::new(ask.tool_name.clone(), ask.input.to().unwrap_or(Value::Null))
        }
    }

    /// A text field of the input.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.input.get(field)?.as_str()
    }
}

/// What the CLI marks a call with. Each of them wants a person, whatever the rules say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// `decision_reason_type` is `safetyCheck`.
    pub safety_check: bool,
    /// `suppress_always_allow_rule`: no rule may allow this.
    pub no_rule: bool,
    /// `server_policy_ask_only`.
    pub ask_only: bool,
    /// `requires_user_interaction`: a plan, a question.
    pub needs_person: bool,
    /// `default_to_no`.
    pub default_to_no: bool,
}

impl Marks {
    /// The marks of a question.
    pub fn of(ask: &CanUseTool) -> Self {
        Self {
            safety_check: ask.decision_reason_type == Some(DecisionReasonType::SafetyCheck),
            no_rule: ask.suppress_always_allow_rule == Some(true),
            ask_only: ask.server_policy_ask_only == Some(true),
            needs_person: ask.requires_user_interaction == Some(true),
            default_to_no: ask.default_to_no == Some(true),
        }
    }

    /// The first mark that is set, in words.
    pub fn first(&self) -> Option<&'static str> {
        let marks = [
            (self.safety_check, "the CLI marks it as a safety check"),
            (self.no_rule, "the CLI wants no rule to allow it"),
            (
                self.ask_only,
                "the server's policy wants a person asked every time",
            ),
            (self.needs_person, "the CLI wants a person to answer it"),
            (self.default_to_no, "the CLI suggests to say no"),
        ];
        marks
            .into_iter()
            .find_map(|(is_set, text)| is_set.then_some(text))
    }
}
