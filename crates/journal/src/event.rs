//! What happened beside the wire: the `k` records.
//!
//! Owns their names and fields. A name that this build does not know is kept as it is: an older reader reads on.

use serde::{Deserialize, Serialize};

/// A question of the agent that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// The id by which it is answered.
    pub request_id: String,
    /// What kind it is (`can_use_tool`, …).
    pub subtype: String,
    /// The record that holds it.
    pub seq: u64,
}

/// A process that was ended, or is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessName {
    /// Its number.
    pub pid: u32,
    /// The name of its program.
    pub command: String,
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Exit {
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why no agent was there to exit: it could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The step of the end plan that ended it; none if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The `h` records that were journalled and did not reach its stdin whole.
    #[serde(default)]
    pub unwritten: Vec<u64>,
    /// What it left running, ended with it.
    #[serde(default)]
    pub killed: Vec<ProcessName>,
}

/// A `k` record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeeperEvent {
    /// A generation begins. There is never a second one of the same number.
    Open {
        /// The generation.
        generation: u32,
        /// The boot of the machine: pids of another boot mean nothing.
        boot_id: String,
        /// The build of the keeper.
        build: String,
        /// The version of its socket protocol.
        proto: u32,
        /// The command of the agent, secrets masked.
        argv: Vec<String>,
        /// Its folder.
        cwd: String,
        /// The names of the variables it was given.
        env: Vec<String>,
        /// The highest number of a host line so far.
        #[serde(default)]
        last_n: u64,
        /// The highest epoch of an owner so far.
        #[serde(default)]
        epoch: u64,
    },
    /// The agent runs.
    Spawned {
        /// Its pid.
        pid: u32,
        /// When it started, as the system counts; only compared.
        started: u64,
    },
    /// What a later segment must know of the earlier ones: its first record, but for the first of a generation.
    Carried {
        /// The highest number of a host line so far.
        last_n: u64,
        /// The highest epoch of an owner so far.
        epoch: u64,
        /// The questions without an answer.
        open: Vec<OpenQuestion>,
        /// When the agent of this generation started, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<SpawnedAgent>,
    },
    /// A host took the agent over.
    Attached {
        /// Its epoch.
        epoch: u64,
    },
    /// The host has gone.
    Detached {
        /// Its epoch.
        epoch: u64,
    },
    /// Somebody was turned away.
    Refused {
        /// Why.
        why: String,
        /// Whose process it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
    },
    /// Nothing can be written.
    Paused {
        /// What the system said.
        errno: i32,
    },
    /// It can again.
    Resumed,
    /// Wall clock and monotonic clock went apart.
    Clock {
        /// By how much the wall clock jumped, in microseconds.
        jump: i64,
    },
    /// The end plan has reached this step.
    Ending {
        /// `interrupt`, `stdin`, `terminate`, `kill`, `descendants`.
        step: String,
        /// Why the agent is ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The agent has ended, and all that came from it.
    Exit(Exit),
    /// The keeper of this generation ended without a word; written by whoever found that.
    Lost {
        /// What of the agent was found running, and ended.
        #[serde(default)]
        killed: Vec<ProcessName>,
    },
    /// What stands before this record.
    Head {
        /// BLAKE3 of this segment up to here, as hex: in version 1 of the format.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hash: Option<String>,
        /// A CRC-32 of each line from the last head of this segment on, that head included, or from its first line on (in
        /// version 1 from its first record on); eight hex digits each, without the newline.
        #[serde(default)]
        marks: String,
        /// A CRC-32 of the text of the marks, as hex, by which a changed mark is told from a changed record. Not in version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sum: Option<String>,
    },
    /// Told by another build.
    #[serde(other)]
    Unknown,
}

/// A process by what cannot be given to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnedAgent {
    /// Its pid.
    pub pid: u32,
    /// When it started, as the system counts; only compared.
    pub started: u64,
}
