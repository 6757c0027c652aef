//! Sessions as a client sees them: what one starts with, and how it stands.
//!
//! Owns [`NewSession`], [`SessionView`] and the states in the words a person understands. Invariant: every state has a
//! reason, and none of them is a guess: *running* is proved, *stalled* says since when and why it is thought so.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use countersign_client::PermissionMode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::ControlError;
use super::ids::{MessageId, SessionId};

/// A mode, in the words a person chooses. Only the first is a mode of the CLI: the others are our answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(tag = "mode", rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing is changed until a plan is approved.
    Plan,
    /// Whatever no rule decides is asked.
    #[default]
    Ask,
    /// Editing files inside of the folder is allowed.
    Edits,
    /// Everything is allowed that no rule forbids or wants asked, until a moment. Never travels to another agent.
    HandsOff {
        /// When it ends: microseconds of Unix time.
        until: u64,
    },
    /// What no rule allows is refused; nobody is asked.
    RulesOnly,
}

impl Mode {
    /// The mode the CLI is in.
    pub fn of_cli(self) -> PermissionMode {
        match self {
            Self::Plan => PermissionMode::Plan,
            Self::Ask | Self::Edits | Self::HandsOff { .. } | Self::RulesOnly => {
                PermissionMode::Default
            }
        }
    }

    /// What of it holds for the next agent: hands-off never does.
    #[must_use]
    pub fn for_next_agent(self) -> Self {
        match self {
            Self::HandsOff { .. } => Self::Ask,
            mode => mode,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Edits => "edits",
            Self::HandsOff { .. } => "hands-off",
            Self::RulesOnly => "rules-only",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a session starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewSession {
    /// Its id, chosen by the client.
    pub id: SessionId,
    /// The first message. None: the session waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Message>,
    /// The folder it works in.
    #[schema(value_type = String)]
    pub cwd: PathBuf,
    /// Everything that may be left out.
    #[serde(flatten)]
    pub setup: Setup,
    /// Own worktree on an own branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<NewWorktree>,
}

/// How a session's agents are started. Kept, and used for every generation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct Setup {
    /// Its name; made from the first message without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode.
    #[serde(default)]
    pub mode: Mode,
    /// Variables for the agent. Values are kept in the database, never in a journal.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What it may cost, in US dollars, before a person is asked. Looked at when a turn ends, so one turn may go beyond it; the CLI stops
    /// an agent itself, in the middle of a turn, at twice the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// How much work the model puts into an answer: low, medium, high, xhigh or max. Claude Code has it since 2.1.62.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Maximum number of tokens to think with; 0 turns thinking off, since 2.1.62.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_thinking_tokens: Option<u32>,
    /// Maximum number of round trips of one turn, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Hooks by event, as in the CLI's settings. Their commands run on this machine.
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
    #[schema(value_type = Vec<String>)]
    pub add_dirs: Vec<PathBuf>,
    /// The CLI's own folder (`CLAUDE_CONFIG_DIR`), where it is not the person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub config_dir: Option<PathBuf>,
    /// The command that runs the CLI, where it is not the host's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claude: Vec<String>,
}

/// A worktree of its own for a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct NewWorktree {
    /// What it begins from: a branch, a tag, a commit; `HEAD` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The branch, behind `countersign/`; made from the session's name without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// A program to run in it before the agent starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
}

/// Folder of a fork of a session that has a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForkWorktree {
    /// A worktree and a branch of its own, from the last commit of the other one.
    #[default]
    Own,
    /// The same worktree: two agents in the same files.
    Shared,
}

impl ForkWorktree {
    pub(crate) fn is_own(&self) -> bool {
        *self == Self::Own
    }
}

/// State of a session's worktree: what is in it that is nowhere else, and whether it may be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorktreeView {
    /// Its folder.
    #[schema(value_type = String)]
    pub folder: PathBuf,
    /// The folder of its repository.
    #[schema(value_type = String)]
    pub repository: PathBuf,
    /// Its branch.
    pub branch: String,
    /// Number of files that are changed or new, and not committed.
    pub uncommitted: usize,
    /// The reason why it cannot be removed, and what to do; none if nothing would be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_because: Option<String>,
}

/// A message to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Its id, chosen by the client.
    pub id: MessageId,
    /// Its text.
    pub text: String,
    /// Images and documents, as content blocks of the wire, in front of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Value>,
}

impl Message {
    /// A message of this text, under a new id.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            id: MessageId::fresh(),
            text: text.into(),
            blocks: Vec::new(),
        }
    }

    /// Whether nothing stands in it.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.blocks.is_empty()
    }

    pub(crate) fn says_something(&self) -> super::Result<()> {
        match self.is_empty() {
            true => Err(ControlError::invalid(
                "the message is empty: write something",
            )),
            false => Ok(()),
        }
    }
}

/// How a session stands, in words a person understands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// It waits until another agent makes room.
    Queued,
    /// Its agent is about to be there.
    Starting,
    /// A turn runs.
    Running,
    /// A question is open.
    NeedsYou {
        /// How many.
        open: u32,
    },
    /// Nothing goes on.
    Idle {
        /// No agent runs; the next message wakes one.
        asleep: bool,
        /// Work in the background goes on.
        background: u32,
    },
    /// It goes on by itself later, or when a person says so.
    Paused {
        /// Why.
        why: Pause,
    },
    /// A turn should go on and does not.
    Stalled {
        /// Since when nothing came: microseconds of Unix time.
        since: u64,
    },
    /// It is being ended.
    Ending,
    /// A person ended it. It can be resumed.
    Stopped,
    /// It ended by itself, or its last turn failed. It can be resumed.
    Failed {
        /// The end of what it said on stderr.
        stderr: String,
    },
    /// The CLI is not signed in.
    NotSignedIn {
        /// What to do.
        fix: String,
    },
    /// A keeper holds it and does not answer. It can be killed, and is never started beside.
    Unreachable,
}

impl State {
    /// The names of all states.
    pub const NAMES: [&'static str; 12] = [
        "queued",
        "starting",
        "running",
        "needs_you",
        "idle",
        "paused",
        "stalled",
        "ending",
        "stopped",
        "failed",
        "not_signed_in",
        "unreachable",
    ];

    /// Its name, as it is stored and counted.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::NeedsYou { .. } => "needs_you",
            Self::Idle { .. } => "idle",
            Self::Paused { .. } => "paused",
            Self::Stalled { .. } => "stalled",
            Self::Ending => "ending",
            Self::Stopped => "stopped",
            Self::Failed { .. } => "failed",
            Self::NotSignedIn { .. } => "not_signed_in",
            Self::Unreachable => "unreachable",
        }
    }
}

/// Why a session is paused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "pause", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Pause {
    /// A limit of the account, until a moment (microseconds of Unix time) where it is known.
    UsageLimit {
        /// When it ends.
        until: Option<u64>,
    },
    /// The journal cannot be written.
    Disk,
    /// It has cost what it may cost.
    Budget {
        /// What it has cost, in US dollars.
        spent: f64,
        /// What it may cost.
        budget: f64,
    },
}

/// A session as a client sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// Its name.
    pub name: String,
    /// The folder it works in.
    #[schema(value_type = String)]
    pub cwd: PathBuf,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
    /// Why, in a sentence.
    pub reason: String,
    /// When it came to that: microseconds of Unix time.
    pub since: u64,
    /// The last turn was cut off by a crash or a reboot, and nobody has gone on from there.
    pub cut_off: bool,
    /// The mode.
    pub mode: Mode,
    /// The model, as the CLI last said, or as it was chosen.
    pub model: Option<String>,
    /// The version of the CLI, once it is known.
    pub version: Option<String>,
    /// The id of the conversation in the CLI.
    pub conversation: Option<String>,
    /// Which start of its agent it is at; 0 before the first.
    pub generation: u32,
    /// Open approvals.
    pub open_approvals: u32,
    /// Messages that wait.
    pub queued: u32,
    /// The queue waits for a person's word.
    pub queue_held: bool,
    /// What its agent said last, in a line without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// How full its context is, in percent, where its agent has said so.
    #[serde(default)]
    pub context_percent: Option<u8>,
    /// What it has cost, in US dollars.
    pub cost_usd: f64,
    /// What it may cost, looked at when a turn ends.
    pub budget_usd: Option<f64>,
    /// When it was made.
    pub created: u64,
    /// When anything last happened.
    pub last_activity: u64,
    /// The session it came from, by a fork or a cleared context.
    pub parent: Option<SessionId>,
    /// How it came from there: `fork`, `clear-context`, `import`.
    pub origin: Option<String>,
    /// Out of sight.
    pub archived: bool,
    /// In the trash since then.
    pub trashed: Option<u64>,
    /// Its branch, if it has a worktree.
    pub branch: Option<String>,
    /// The folder of the repository that its folder belongs to; none outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub repository: Option<PathBuf>,
}

/// A word that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no mode: choose plan, ask, edits, hands-off or rules-only")]
pub struct BadMode(String);

/// Every mode but hands-off, which needs a time.
impl FromStr for Mode {
    type Err = BadMode;

    fn from_str(text: &str) -> Result<Self, BadMode> {
        match text {
            "plan" => Ok(Self::Plan),
            "ask" | "default" | "manual" => Ok(Self::Ask),
            "edits" | "acceptEdits" | "accept-edits" => Ok(Self::Edits),
            "rules-only" | "dontAsk" => Ok(Self::RulesOnly),
            other => Err(BadMode(other.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_session_is_started_with_is_stored_under_the_same_names() {
        let stored = include_str!("../../../../fixtures/stored/session-setup.json");
        let stored: Value = serde_json::from_str(stored).unwrap();
        let setup: Setup = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(serde_json::to_value(&setup).unwrap(), stored);
    }

    #[test]
    fn hands_off_never_travels() {
        let mode = Mode::HandsOff { until: 5 };
        assert_eq!(mode.for_next_agent(), Mode::Ask);
        assert_eq!(mode.of_cli(), PermissionMode::Default);
        assert_eq!(Mode::Plan.for_next_agent(), Mode::Plan);
    }

    #[test]
    fn a_new_session_needs_an_id_and_a_folder() {
        let text = r#"{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","cwd":"/x"}"#;
        let new: NewSession = serde_json::from_str(text).unwrap();
        assert_eq!(new.setup, Setup::default());
        assert!(serde_json::from_str::<NewSession>(r#"{"cwd":"/x"}"#).is_err());
    }
}
