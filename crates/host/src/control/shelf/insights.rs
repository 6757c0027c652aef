//! What a period looked like: who decided, what agents waited for, how long.
//!
//! Owns the figures as they are read. Invariant: spans are microseconds; what is still open counts up to now.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::control::SessionId;
use crate::control::approval::Kind;

/// Which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Period {
    /// From this moment on: microseconds of Unix time.
    #[serde(default)]
    pub since: u64,
    /// Before this moment; up to now without it.
    #[serde(default)]
    pub until: Option<u64>,
    /// Minutes that the reader's clock is ahead of UTC, for the hours of a day.
    #[serde(default)]
    pub offset: i32,
}

/// Figures of a period.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Insights {
    /// Calls of tools, and by whom they were let run or not.
    pub acts: Acts,
    /// Decisions by whom, most first.
    pub decided: Vec<DecidedBy>,
    /// Questions that waited for people.
    pub waits: Waits,
    /// How many of them were answered how fast.
    pub speed: Vec<Speed>,
    /// What they were about, longest together first; at most 12.
    pub by_what: Vec<WaitedFor>,
    /// In which session, longest together first; at most 12.
    pub by_session: Vec<WaitedIn>,
    /// At which hour of the reader's day they were asked: 24 of them.
    pub by_hour: Vec<WaitedAt>,
}

/// Calls of tools, and by whom they were let run or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Acts {
    /// Calls that are over.
    pub calls: u64,
    /// Decided by people.
    pub by_people: u64,
    /// Decided by rules.
    pub by_rules: u64,
    /// Denied by a setting: nobody answered in time, or the budget was spent.
    pub by_settings: u64,
    /// Decided by the mode, with no rule named; or never asked about, since the agent's own settings knew.
    pub by_mode: u64,
}

/// Decisions of one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct DecidedBy {
    /// Who: the name of a token, `rule`, `mode`, `expired`, `budget`.
    pub by: String,
    /// Yes.
    pub allowed: u64,
    /// No.
    pub denied: u64,
    /// Plans that were sent back to be made better.
    #[serde(default)]
    pub sent_back: u64,
}

/// Questions that waited for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Waits {
    /// How many.
    pub asked: u64,
    /// Of those, still open.
    pub open: u64,
    /// How long they waited, together.
    pub waited: u64,
    /// Half of those that were answered waited no longer.
    pub median: u64,
    /// The longest.
    pub longest: u64,
}

/// Questions that were answered within some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Speed {
    /// Faster than this; none: however long.
    pub within: Option<u64>,
    /// How many, those of faster steps not counted.
    pub count: u64,
}

/// What agents waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WaitedFor {
    /// The rule that would have covered it, where there is one; else the tool.
    pub what: String,
    /// What kind of question.
    pub kind: Kind,
    /// The tool, or the server.
    pub tool: String,
    /// It is a rule.
    pub is_rule: bool,
    /// How often.
    pub asked: u64,
    /// Answered with yes.
    pub allowed: u64,
    /// Answered with no.
    pub denied: u64,
    /// How long, together.
    pub waited: u64,
    /// The longest.
    pub longest: u64,
}

/// Where agents waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WaitedIn {
    /// The session.
    pub session: SessionId,
    /// Its name.
    pub session_name: String,
    /// How often.
    pub asked: u64,
    /// How long, together.
    pub waited: u64,
    /// The longest.
    pub longest: u64,
}

/// When agents waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct WaitedAt {
    /// The hour, from 0.
    pub hour: u8,
    /// How often.
    pub asked: u64,
    /// How long, together.
    pub waited: u64,
}
