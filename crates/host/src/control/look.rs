//! What clients get when they look: pages, records, events, sums.
//!
//! Owns the shapes of answers that are neither a session nor an approval. Cursors are text that only the host reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::ids::{ApprovalId, MessageId, SessionId};

/// Which sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct SessionFilter {
    /// In these states, by name; all without one.
    #[serde(default)]
    pub states: Vec<String>,
    /// Those out of sight, too.
    #[serde(default)]
    pub archived: bool,
    /// Those in the trash instead.
    #[serde(default)]
    pub trashed: bool,
    /// How many at most; 0 for the usual number.
    #[serde(default)]
    pub most: usize,
    /// Where the last page ended.
    #[serde(default)]
    pub after: Option<String>,
}

/// Which approvals.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct ApprovalFilter {
    /// Of this session.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// In this part of their life (`open`, `decided`, …); all without one.
    #[serde(default)]
    pub life: Option<String>,
    /// How many at most; 0 for the usual number.
    #[serde(default)]
    pub most: usize,
    /// Where the last page ended.
    #[serde(default)]
    pub after: Option<String>,
}

/// Some of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// They.
    pub items: Vec<T>,
    /// Where the next page begins; none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A part of something that is read backwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Above<T> {
    /// Oldest first.
    pub items: Vec<T>,
    /// There is more above.
    pub more: bool,
    /// The newest record that is in it: `generation-seq`.
    pub cursor: String,
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Queued {
    /// Its id.
    pub id: MessageId,
    /// Its text.
    pub text: String,
    /// How many blocks stand in front of it.
    pub blocks: usize,
    /// When it was sent.
    pub at: u64,
    /// Who sent it.
    pub by: String,
}

/// A version of a session's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanVersion {
    /// The approval it was presented with; none if a person wrote it.
    pub approval: Option<ApprovalId>,
    /// Approvals by which the same text was presented again, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_again: Vec<ApprovalId>,
    /// From 1.
    pub number: u32,
    /// When.
    pub at: u64,
    /// Who wrote it: `agent`, or a person.
    pub by: String,
    /// The text.
    pub text: String,
    /// The difference to the version before, as lines with `+`, `-` and a space in front.
    pub changes: String,
}

/// What a follower gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Followed {
    /// A record.
    Record {
        /// `generation-seq`.
        cursor: String,
        /// When, in microseconds of Unix time.
        at: u64,
        /// The letter of its kind.
        kind: char,
        /// Its bytes.
        payload: Vec<u8>,
    },
    /// A record that is too long to come along.
    Large {
        /// `generation-seq`.
        cursor: String,
        /// When.
        at: u64,
        /// The letter of its kind.
        kind: char,
        /// How many bytes it has.
        len: u64,
    },
    /// That was all there is; what follows is new.
    CaughtUp {
        /// The newest record.
        cursor: String,
    },
    /// Records that were told are gone after a loss of power. It goes on behind this one.
    Rewound {
        /// The last one that holds.
        to: String,
    },
    /// Another machine has the session now.
    Moved {
        /// Which.
        holder: String,
    },
}

/// What a follower of a transcript gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "is", rename_all = "snake_case")]
pub enum Told {
    /// What one record changed.
    Changes(Box<countersign_transcript::Changes>),
    /// The sums of the session, after they changed.
    Totals(Box<countersign_transcript::Totals>),
    /// That was all there is; what follows is new.
    CaughtUp {
        /// The newest record.
        cursor: String,
    },
    /// Records that were told are gone after a loss of power. What they changed is to be read again.
    Rewound {
        /// The last one that holds.
        to: String,
    },
    /// Another machine has the session now.
    Moved {
        /// Which.
        holder: String,
    },
}

/// Something that happened, with a number of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HostEvent {
    /// Its number.
    pub number: u64,
    /// When.
    pub at: u64,
    /// In which session.
    pub session: Option<SessionId>,
    /// What.
    #[serde(flatten)]
    pub what: Happened,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Happened {
    /// A session is new, or stands otherwise.
    Session {
        /// The name of its state.
        state: String,
        /// Why.
        reason: String,
    },
    /// An approval is new, or is elsewhere in its life.
    Approval {
        /// Which.
        approval: ApprovalId,
        /// The name of the part of its life.
        life: String,
    },
    /// The queue of a session changed.
    Queue {
        /// How many wait.
        waiting: u32,
    },
    /// A turn ended.
    Turn {
        /// Well.
        ok: bool,
        /// What the session has cost by now.
        cost_usd: f64,
    },
    /// A rule is new or gone.
    Rules,
    /// Something went wrong that a person should know.
    Trouble {
        /// What.
        text: String,
    },
    /// Events before this one are no longer kept: look at everything again.
    Gap,
    /// Told by another build.
    #[serde(untagged)]
    Other(Value),
}

/// A place in a transcript that holds what was searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Found {
    /// In which session.
    pub session: SessionId,
    /// Its name.
    pub session_name: String,
    /// The entry.
    pub entry: String,
    /// What kind of entry it is.
    pub kind: String,
    /// When.
    pub at: u64,
    /// The words with what stands around them; found ones between U+2068 and U+2069.
    pub excerpt: String,
}

/// What was spent by one model on one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Spent {
    /// The day, `2026-01-31`, in UTC.
    pub day: String,
    /// The model.
    pub model: String,
    /// US dollars.
    pub cost_usd: f64,
    /// Turns.
    pub turns: u64,
    /// Tokens that were sent.
    pub input_tokens: u64,
    /// Tokens that came back.
    pub output_tokens: u64,
    /// Tokens that were read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens that were written to the cache.
    pub cache_creation_tokens: u64,
}

/// How a host is doing, in figures.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct Vitals {
    /// Sessions that are not in the trash, by the name of their state; every state is named.
    pub sessions: BTreeMap<String, u64>,
    /// Open approvals.
    pub open_approvals: u64,
    /// When the oldest of them was asked: microseconds of Unix time.
    pub oldest_open: Option<u64>,
    /// Messages that wait.
    pub queued: u64,
    /// Agents that run, or may.
    pub agents: u64,
    /// Records that were written to journals since the host began.
    pub records: u64,
    /// Transactions of the database since the host began.
    pub transactions: u64,
    /// Writes that wait for the database.
    pub writes_waiting: u64,
    /// What all sessions have cost, in US dollars.
    pub cost_usd: f64,
    /// The disk of the data folder is full.
    #[serde(default)]
    pub disk_full: bool,
}

/// What was spent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// By day and model, oldest first.
    pub days: Vec<Spent>,
    /// All of it, in US dollars.
    pub cost_usd: f64,
}

/// The conversation that a session goes on from: what was said before there was the session. It is read-only, and what it has
/// cost is not part of what the session costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Earlier {
    /// How the session came from it.
    pub how: Came,
    /// The session that it was forked from.
    pub session: Option<SessionId>,
    /// The name of that session.
    pub name: Option<String>,
    /// The id of the conversation in the CLI.
    pub conversation: Option<String>,
    /// Until when it is shown, in microseconds of Unix time: the import, or when the fork's first agent took it over. Now, where
    /// no agent has.
    pub until: u64,
    /// What it had cost by then, in US dollars, where that is known.
    pub cost_usd: Option<f64>,
    /// Why it cannot be shown, in a sentence.
    pub missing: Option<String>,
    /// Entries, oldest first. Their ids are of that conversation.
    pub items: Vec<countersign_transcript::Entry>,
    /// There are older ones.
    pub more: bool,
    /// The session that it was forked from itself goes on from an earlier conversation, which is shown there.
    pub goes_on: bool,
}

/// How a session came from an earlier conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// It was forked from another session.
    Forked,
    /// It was begun in a terminal.
    Imported,
}

/// Which part of an earlier conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EarlierPart {
    /// What stands before this entry; the newest without it.
    pub before: Option<countersign_transcript::EntryId>,
    /// How many entries at most; 0 for the usual number.
    pub most: usize,
    /// Only entries that hold these words, whatever their case.
    pub words: Option<String>,
}
