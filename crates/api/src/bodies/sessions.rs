//! What is sent about sessions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::MessageBlock;
use crate::control::session::{ForkWorktree, NewWorktree};
use crate::control::{ControlError, MessageId, Mode, SessionId};

/// The modes a person chooses from, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModeName {
    /// Nothing is changed until a plan is approved.
    Plan,
    /// Whatever no rule decides is asked.
    #[default]
    Ask,
    /// Editing files inside of the folder is allowed.
    Edits,
    /// Everything is allowed that no rule forbids or wants asked, for a while.
    HandsOff,
    /// What no rule allows is refused; nobody is asked.
    RulesOnly,
    /// Claude judges by itself. Has a name, so that its refusal has a reason: it is not offered.
    Auto,
}

/// Why Claude does not judge by itself here.
const NO_AUTO: &str = "`auto` is not offered: in it Claude lets calls run by itself, and here every call is decided by a \
                       rule or a person; choose `ask`, `edits` or `hands-off`";

/// Another mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeBody {
    /// Which.
    pub mode: ModeName,
    /// For hands-off: when it ends, in microseconds of Unix time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

impl ModeBody {
    /// The mode it names.
    ///
    /// # Errors
    /// Hands-off without an end, an end without hands-off, and what is not offered.
    pub fn mode(&self) -> Result<Mode, ControlError> {
        match (self.mode, self.until) {
            (ModeName::Auto, _) => Err(ControlError::invalid(NO_AUTO)),
            (ModeName::HandsOff, Some(until)) => Ok(Mode::HandsOff { until }),
            (ModeName::HandsOff, None) => Err(ControlError::invalid(
                "hands-off needs an end: say `until`, in microseconds of Unix time",
            )),
            (_, Some(_)) => Err(ControlError::invalid("only hands-off has an end")),
            (ModeName::Plan, None) => Ok(Mode::Plan),
            (ModeName::Ask, None) => Ok(Mode::Ask),
            (ModeName::Edits, None) => Ok(Mode::Edits),
            (ModeName::RulesOnly, None) => Ok(Mode::RulesOnly),
        }
    }
}

/// A session begins.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StartBody {
    /// Its id; made from the key of the write without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
    /// The name of a template, which says what is left out here. What is said here counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The first message. None: the session waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Images and documents in front of it, as content blocks of the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<MessageBlock>)]
    pub blocks: Vec<Value>,
    /// The folder it works in, from the root on or from your home (`~/work`). Only a template may say it instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// Its name; made from the first message without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model; the CLI's own choice without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode; to ask without one. Hands-off needs a first message and an end, and holds for the first agent alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ModeName>,
    /// For hands-off: when it ends, in microseconds of Unix time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// Variables for the agent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What it may cost, in US dollars, before a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// How much work the model puts into an answer: low, medium, high, xhigh or max. Claude Code has it since 2.1.62; an
    /// earlier version is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Maximum number of tokens to think with; 0 turns thinking off, since 2.1.62.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_thinking_tokens: Option<u32>,
    /// Maximum number of round trips of one turn, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Hooks by event, as in the CLI's settings. Their commands run on this machine, and answer no question in a person's
    /// place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hooks: BTreeMap<String, Value>,
    /// Sub-agents by name, as the CLI's `--agents` takes them; without a mode, hooks and servers of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Value>,
    /// What is added to the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// MCP servers, by name, as the CLI takes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, Value>,
    /// More folders that count as inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_dirs: Vec<String>,
    /// The CLI's own folder, where it is not the person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_dir: Option<String>,
    /// A worktree of its own on a branch of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<NewWorktree>,
}

impl StartBody {
    /// The mode it names, if it does.
    ///
    /// # Errors
    /// As [`ModeBody::mode`].
    pub fn mode(&self) -> Result<Option<Mode>, ControlError> {
        match (self.mode, self.until) {
            (Some(mode), until) => ModeBody { mode, until }.mode().map(Some),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(ControlError::invalid("only hands-off has an end")),
        }
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageBody {
    /// Its id; made from the key of the write without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
    /// Its text.
    #[serde(default)]
    pub text: String,
    /// Images and documents in front of it, as content blocks of the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<MessageBlock>)]
    pub blocks: Vec<Value>,
}

/// What of a session changes. What is left out stays.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchSession {
    /// Another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Out of sight, or back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Another budget, in US dollars; 0 lifts it. Looked at when a turn ends. Where the CLI itself has stopped the agent, another one
    /// takes its place and goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// All variables of the agent, from its next start at an idle moment on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
}

/// An agent takes the conversation up again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeBody {
    /// What it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageBody>,
}

/// Another session goes on from this conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkBody {
    /// The new session's id; made from the key of the write without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
    /// What it is told first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageBody>,
    /// Where it works, if the other session has a worktree: in one of its own without it.
    #[serde(default)]
    pub worktree: ForkWorktree,
}

/// The files go back to how they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RewindBody {
    /// Before which message: its id, or the `uuid` that the transcript shows of it.
    #[serde(deserialize_with = "message_as_shown")]
    pub message: MessageId,
    /// Only say what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// Reads the id of a message, in our form or in the one that the transcript shows.
fn message_as_shown<'de, D: serde::Deserializer<'de>>(from: D) -> Result<MessageId, D::Error> {
    let text = String::deserialize(from)?;
    match MessageId::of_uuid(&text) {
        Some(id) => Ok(id),
        None => text.parse().map_err(serde::de::Error::custom),
    }
}

/// Another model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelBody {
    /// Which; the CLI's own choice without one.
    #[serde(default)]
    pub model: Option<String>,
}

/// Another text for a message that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditBody {
    /// The text.
    pub text: String,
}

/// Another place for a message that waits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveBody {
    /// In front of this one; behind all others without it.
    #[serde(default)]
    pub before: Option<MessageId>,
}

/// A conversation that was begun in a terminal comes under our care.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportBody {
    /// The session it becomes; made from the key of the write without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
    /// Its id in the CLI.
    pub conversation: String,
    /// The folder it was begun in.
    pub cwd: String,
    /// The CLI's own folder, where it is not the person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_dir: Option<String>,
    /// The person says that no terminal runs it.
    #[serde(default)]
    pub confirmed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewind_names_its_message_as_the_transcript_does_or_by_its_id() {
        let id = MessageId::fresh();
        for name in [id.to_string(), id.uuid()] {
            let body = format!(r#"{{"message":"{name}"}}"#);
            let body: RewindBody = serde_json::from_str(&body).unwrap();
            assert_eq!(body.message, id, "{name}");
        }
        assert!(serde_json::from_str::<RewindBody>(r#"{"message":"x"}"#).is_err());
    }

    #[test]
    fn hands_off_has_an_end_and_nothing_else_has() {
        let body = |text: &str| serde_json::from_str::<ModeBody>(text).unwrap().mode();
        let timed = body(r#"{"mode":"hands-off","until":5}"#);
        assert_eq!(timed, Ok(Mode::HandsOff { until: 5 }));
        assert!(body(r#"{"mode":"hands-off"}"#).is_err());
        assert!(body(r#"{"mode":"plan","until":5}"#).is_err());
        assert_eq!(body(r#"{"mode":"edits"}"#), Ok(Mode::Edits));
        assert!(serde_json::from_str::<ModeBody>(r#"{"mode":"bypass"}"#).is_err());
        let auto = body(r#"{"mode":"auto"}"#).unwrap_err().to_string();
        assert!(auto.contains("decided by a rule or a person"), "{auto}");
    }

    #[test]
    fn a_session_begins_in_the_mode_that_is_named() {
        let body = |text: &str| serde_json::from_str::<StartBody>(text).unwrap().mode();
        assert_eq!(body("{}"), Ok(None));
        assert_eq!(body(r#"{"mode":"rules-only"}"#), Ok(Some(Mode::RulesOnly)));
        let timed = body(r#"{"mode":"hands-off","until":5}"#);
        assert_eq!(timed, Ok(Some(Mode::HandsOff { until: 5 })));
        for bad in [
            r#"{"mode":"hands-off"}"#,
            r#"{"mode":"ask","until":5}"#,
            r#"{"until":5}"#,
            r#"{"mode":"auto"}"#,
        ] {
            assert!(body(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let start = serde_json::from_str::<StartBody>(r#"{"cwd":"/x","promt":"hello"}"#);
        assert!(start.unwrap_err().to_string().contains("promt"));
    }
}
