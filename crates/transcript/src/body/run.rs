//! The agent as a process: its start, its end, what it prints beside the protocol, when nothing could be written.
//!
//! Plain values, taken from the keeper's records. What is not JSON or not known stands here, too, with the line itself.

use serde::{Deserialize, Serialize};

use crate::clip::Clip;

/// A process that was ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The name of its program.
    pub command: String,
}

/// The agent was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryStarted))]
pub struct Started {
    /// The run of the agent.
    pub generation: u32,
    /// Its folder.
    pub cwd: String,
    /// Its command, secrets masked.
    pub argv: Vec<String>,
    /// It goes on with an earlier conversation.
    pub is_resumed: bool,
    /// Its process; none while it is being started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// The agent has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryEnded))]
pub struct Ended {
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why it could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The step of the end plan that ended it; none if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Why it was ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Lines of the host that did not reach it whole.
    #[serde(default)]
    pub unwritten: u64,
    /// What it left running, ended with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed: Vec<Process>,
}

/// The keeper ended without a word; what it kept running was found and ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryLost))]
pub struct Lost {
    /// What was found running, and ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed: Vec<Process>,
}

/// Nothing could be written to the journal for a time, so the agent stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryPaused))]
pub struct Paused {
    /// What the system said.
    pub errno: i32,
    /// When it went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

/// No host was there for a time: questions waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryAway))]
pub struct Away {
    /// The epoch of the host that has gone.
    pub epoch: u64,
    /// When one was there again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

/// Lines of stderr that came in a row.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryStderr))]
pub struct Stderr {
    /// The lines.
    pub text: Clip,
}

/// A line that this build cannot read, or does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryUnread))]
pub struct Unread {
    /// The letter of its record: `a` from the agent, `h` from the host, `k` from the keeper, …
    pub from: char,
    /// `type`, or `type/subtype`; none if the line has no type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is wrong with it; none if it is only unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The line.
    pub line: Clip,
}
