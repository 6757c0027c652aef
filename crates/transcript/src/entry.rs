//! One entry of a transcript: what a person sees as one thing.
//!
//! Owns [`Entry`] and the list of what an entry can be. Invariant: an entry whose life is not [`Life::Open`] is never
//! told again.

use countersign_journal::Cursor;
use serde::{Deserialize, Serialize};

use crate::body::{
    Ask, Away, Compaction, Ended, Hook, Limit, Lost, Mode, Model, Notice, Paused, Prompt, Reset,
    Retry, Said, Started, Stderr, Task, Thought, Tool, TurnEnd, Unread,
};
use crate::id::{EntryId, cursor};

/// Whether an entry may still change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryLife))]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// It may.
    Open,
    /// It is final.
    Final,
    /// It is final because too many others were open; what came of it later stands in entries of its own.
    LetGo,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Entry {
    /// Its name, which never changes.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: EntryId,
    /// The call of the sub-agent it belongs to; none in the main conversation, or where that call is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub parent: Option<EntryId>,
    /// The id of that call, as the wire names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The record that began it.
    #[serde(with = "cursor")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub first: Cursor,
    /// The last record that changed it.
    #[serde(with = "cursor")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub last: Cursor,
    /// When it began: microseconds of Unix time, as the journal says.
    pub at: u64,
    /// Whether it may still change.
    pub life: Life,
    /// What it is.
    pub body: Body,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryBody))]
#[serde(tag = "kind", content = "is", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Body {
    /// A message to the agent.
    Prompt(Box<Prompt>),
    /// Text of the agent.
    Text(Box<Said>),
    /// Thinking of the agent.
    Thinking(Box<Thought>),
    /// A tool call with its question, its answer and its result. The call that started a sub-agent is its root.
    Tool(Box<Tool>),
    /// A question that is no tool call: an elicitation or a dialog.
    Ask(Box<Ask>),
    /// Something that runs in the background.
    Task(Box<Task>),
    /// A hook.
    Hook(Box<Hook>),
    /// The API is asked again.
    Retry(Retry),
    /// A limit of the account.
    Limit(Limit),
    /// The agent's memory was made smaller.
    Compaction(Box<Compaction>),
    /// The permission mode changed.
    Mode(Mode),
    /// The model changed.
    Model(Model),
    /// The conversation began anew.
    Reset(Reset),
    /// The end of a turn.
    Result(Box<TurnEnd>),
    /// Something the CLI or the keeper says.
    Notice(Box<Notice>),
    /// What came on stderr.
    Stderr(Stderr),
    /// A line that this build cannot read or does not know.
    Unread(Box<Unread>),
    /// The agent was started.
    Started(Box<Started>),
    /// The agent has ended.
    Ended(Box<Ended>),
    /// The keeper ended without a word.
    Lost(Box<Lost>),
    /// Nothing could be written for a time.
    Paused(Paused),
    /// No host was there for a time.
    Away(Away),
}

impl Body {
    /// Its name, as it is stored.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Prompt(_) => "prompt",
            Self::Text(_) => "text",
            Self::Thinking(_) => "thinking",
            Self::Tool(_) => "tool",
            Self::Ask(_) => "ask",
            Self::Task(_) => "task",
            Self::Hook(_) => "hook",
            Self::Retry(_) => "retry",
            Self::Limit(_) => "limit",
            Self::Compaction(_) => "compaction",
            Self::Mode(_) => "mode",
            Self::Model(_) => "model",
            Self::Reset(_) => "reset",
            Self::Result(_) => "result",
            Self::Notice(_) => "notice",
            Self::Stderr(_) => "stderr",
            Self::Unread(_) => "unread",
            Self::Started(_) => "started",
            Self::Ended(_) => "ended",
            Self::Lost(_) => "lost",
            Self::Paused(_) => "paused",
            Self::Away(_) => "away",
        }
    }
}
