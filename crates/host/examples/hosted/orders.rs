//! What a host of the fault suite is told, as a file of JSON.
//!
//! Owns the form, which the suite writes and the host reads. Every command has the key it is known by, so that the next
//! host may be told the same again.

use std::path::PathBuf;

use countersign_host::control::{Command, SessionId};
use serde::{Deserialize, Serialize};

/// A command with its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ordered {
    pub(crate) key: String,
    pub(crate) command: Command,
}

/// What the person at the host does about open questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Person {
    /// Decides each by what it would leave behind.
    Decides,
    /// Looks on.
    Waits,
}

/// When the host goes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Leave {
    /// When all is said and the session has come to rest.
    AtRest,
    /// When the session has no agent any more.
    Off,
    /// When its agent cannot be reached.
    OutOfReach,
    Never,
}

/// Something a host must not do, so that the suite can show that it would be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    /// Tells of a receipt before the command is stored.
    EarlyReceipts,
    /// Gives every message a name of its own each time it is told to send it.
    OtherNames,
}

/// Where a host ends by its own hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Death {
    /// A point it passes.
    pub(crate) point: String,
    /// The how-manieth time, from 1.
    pub(crate) nth: u32,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) data: PathBuf,
    pub(crate) keeper: PathBuf,
    pub(crate) keeper_env: Vec<(String, String)>,
    pub(crate) claude: Vec<String>,
    /// The whole environment of the agent.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) session: SessionId,
    pub(crate) commands: Vec<Ordered>,
    /// The messages, by their names on the wire, that must have had their turn before all is at rest.
    pub(crate) awaited: Vec<String>,
    pub(crate) person: Person,
    pub(crate) leave: Leave,
    pub(crate) die: Option<Death>,
    pub(crate) fault: Option<Fault>,
    /// How many milliseconds are let pass before each command; none before those that are not named.
    pub(crate) pauses: Vec<u64>,
    /// How long each step of an agent's end is given: to the result, to the end by itself, to the end by SIGTERM.
    pub(crate) graces_ms: [u64; 3],
    /// Turns that were cut off go on by themselves.
    pub(crate) resumes_cut_off: bool,
}
