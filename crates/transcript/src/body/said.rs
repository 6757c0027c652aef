//! What people and agents say: prompts, text, thinking.
//!
//! Plain values. A text is its beginning where it is long; the record that holds the whole is named.

use serde::{Deserialize, Serialize};

use crate::clip::Clip;

/// Where a message to the agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The host wrote it.
    Host,
    /// Only the agent's echo of it is known.
    Echo,
    /// An agent wrote it to its sub-agent.
    Agent,
}

/// What became of a message to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PromptState {
    /// It was written; the agent has not said more.
    Sent,
    /// The agent has put it in its queue.
    Queued,
    /// The agent works on it.
    Started,
    /// The turn it belonged to has ended.
    Done,
    /// It was taken back.
    Cancelled,
    /// The agent did not take it.
    Refused,
    /// It did not reach the agent.
    Undelivered,
}

/// A message to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryPrompt))]
pub struct Prompt {
    /// The id the host gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Its text.
    pub text: Clip,
    /// Pictures and documents in it.
    #[serde(default)]
    pub attachments: u32,
    /// Where it comes from.
    pub origin: Origin,
    /// Who sent it, as the host notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// From which client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Why the host sent it, where nobody typed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What became of it.
    pub state: PromptState,
    /// When the agent began to work on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<u64>,
    /// When its turn ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
}

/// A block of text of the agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryText))]
pub struct Said {
    /// The message of the model it belongs to; several entries share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The line that completed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The text.
    pub text: Clip,
    /// The pieces are all there is, or all there is so far: the line that completes it has not come.
    #[serde(default)]
    pub is_partial: bool,
    /// It was cut short by an interrupt.
    #[serde(default)]
    pub is_aborted: bool,
    /// It stands for a failed call of the API: what kind of failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Lines (by uuid) that this one replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
}

/// A block of thinking.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryThinking))]
pub struct Thought {
    /// The message of the model it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The text; empty where thinking is not shown.
    pub text: Clip,
    /// The model's provider keeps it to itself.
    #[serde(default)]
    pub is_redacted: bool,
    /// The pieces are all there is, or all there is so far.
    #[serde(default)]
    pub is_partial: bool,
    /// From the first piece to the last, in microseconds; absent where it came in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<u64>,
}
