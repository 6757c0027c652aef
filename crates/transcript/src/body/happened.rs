//! What happens around the conversation: hooks, retries, limits, compaction, modes, the end of a turn.
//!
//! Plain values. Numbers are those the CLI told; what it did not tell is absent or zero, as the field says.

use serde::{Deserialize, Serialize};

use crate::clip::{Clip, Shown};

/// How far a hook is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookState {
    /// It runs.
    Running,
    /// It is done.
    Done,
    /// It failed.
    Failed,
    /// It was given up, or its answer was no longer wanted.
    Cancelled,
    /// The agent is gone.
    Unknown,
}

/// A hook: a command of the CLI's settings, or a callback to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryHook))]
pub struct Hook {
    /// The point of the turn: `PreToolUse`, `Stop`, …
    pub event: String,
    /// Its name, or the id of the callback.
    pub name: String,
    /// The host answers it.
    #[serde(default)]
    pub is_callback: bool,
    /// The call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// How far it is.
    pub state: HookState,
    /// What it decided: `allow`, `deny`, `ask`, `block`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Clip>,
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// How long it took, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<u64>,
}

/// The API was asked again, once or several times in a row.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryRetry))]
pub struct Retry {
    /// The latest attempt.
    pub attempt: u64,
    /// How many there may be.
    pub most: u64,
    /// How long the agent waits before it, in milliseconds.
    pub delay_ms: u64,
    /// What the API said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    /// The same as a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The agent went on.
    #[serde(default)]
    pub is_over: bool,
}

/// Where a limit of the account stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryLimit))]
pub struct Limit {
    /// `allowed`, `allowed_warning`, `rejected`.
    pub status: String,
    /// Which limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// How much of it is used, as the CLI says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
    /// When it starts over, in seconds of Unix time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
}

/// The agent's memory was made smaller.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryCompaction))]
pub struct Compaction {
    /// Who wanted it: `manual`, `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Tokens before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// Tokens after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// It is done.
    #[serde(default)]
    pub is_done: bool,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the agent remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Clip>,
}

/// The permission mode changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ModeChange))]
pub struct Mode {
    /// What it was, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is.
    pub to: String,
    /// Who wanted it, where the host did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The model changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ModelChange))]
pub struct Model {
    /// What it was, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is.
    pub to: String,
    /// Who wanted it, where the host did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The conversation began anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryReset))]
pub struct Reset {
    /// Why: `clear`, `plan_mode_exit`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// The new conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

/// Token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tokens {
    /// Sent, without those from the cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TurnEnd {
    /// `success`, `error_max_turns`, …
    pub subtype: String,
    /// It ended well: `success`, and no error.
    pub is_success: bool,
    /// Somebody interrupted it.
    #[serde(default)]
    pub is_interrupted: bool,
    /// Who, where the host did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted_by: Option<String>,
    /// Its answer, where no text of the turn has shown it: slash commands, failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Clip>,
    /// The structured answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Shown>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// What the API said, where a call of it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_status: Option<u64>,
    /// Why it ended, as a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Calls of the model in it.
    pub steps: u64,
    /// How long it took, in milliseconds, as the CLI says.
    pub duration_ms: u64,
    /// How much of that was the API.
    pub api_ms: u64,
    /// What this turn cost, in US dollars: the rise of the CLI's own total.
    pub cost_usd: f64,
    /// What the session has cost up to here.
    pub total_usd: f64,
    /// Tokens of the main conversation in this turn.
    pub tokens: Tokens,
    /// Calls that were denied in it.
    #[serde(default)]
    pub denials: u64,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NoticeLevel))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Something went wrong.
    Error,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeKind {
    /// The CLI says something.
    Cli,
    /// The turn was interrupted.
    Interrupted,
    /// A text was put into the conversation in the person's name.
    Injected,
    /// What a slash command printed.
    Command,
    /// A request of the host was refused.
    Request,
    /// The title of the session changed.
    Title,
    /// The keeper or the machine.
    Keeper,
    /// A result came for a call that is not known.
    Orphan,
}

/// Something the CLI or the keeper says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryNotice))]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// What it is about.
    pub about: NoticeKind,
    /// The message it comes from: `system/informational`, `k/clock`, …
    pub source: String,
    /// What it says.
    pub text: Clip,
    /// The call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
}
