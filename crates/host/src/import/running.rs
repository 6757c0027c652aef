//! What speaks for it that a terminal still runs a conversation.
//!
//! Owns the weighing. Pure: processes, records and the time come in. Invariant: no sign is no proof; a process of another
//! conversation is no sign.

use std::fmt;
use std::path::Path;

use super::world::{Life, Record, World};

/// A transcript that was written within this time (microseconds) may be written now.
const FRESH: u64 = 120_000_000;

/// Something that speaks for it, the strongest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// A process says itself that it runs it.
    Says {
        /// Its number.
        pid: u32,
        /// Its version, where it tells.
        version: Option<String>,
        /// `busy`, `idle`, …, where it tells.
        status: Option<String>,
    },
    /// The command of a process names it.
    Named {
        /// Its number.
        pid: u32,
    },
    /// A process that cannot be looked at from here said so.
    Elsewhere {
        /// When it last said anything: microseconds of Unix time, where it tells.
        at: Option<u64>,
    },
    /// A CLI runs in its folder and does not say which conversation it is at.
    SameFolder {
        /// Its number.
        pid: u32,
    },
    /// Its transcript was written a moment ago.
    Fresh {
        /// So many seconds ago.
        seconds: u64,
    },
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says {
                pid,
                version,
                status,
            } => {
                let version = version.as_deref().unwrap_or("an unknown version");
                let status = status.as_deref().unwrap_or("open");
                write!(
                    f,
                    "Process {pid} (claude, {version}) runs this conversation ({status})"
                )
            }
            Self::Named { pid } => {
                write!(f, "Process {pid} was started with this conversation")
            }
            Self::Elsewhere { .. } => f.write_str(
                "A claude on another machine or in a container had this conversation open, and cannot be looked at from here",
            ),
            Self::SameFolder { pid } => write!(
                f,
                "Process {pid} (claude) runs in the same folder and may be at this conversation"
            ),
            Self::Fresh { seconds } => write!(
                f,
                "The transcript of this conversation was written {seconds} s ago, so that somebody may be at it"
            ),
        }
    }
}

impl World {
    /// The strongest sign that a conversation is run. `last` is when its transcript was written, both in microseconds.
    pub fn sign_of(&self, conversation: &str, cwd: &Path, last: u64, now: u64) -> Option<Sign> {
        let says = || {
            self.live_records()
                .find_map(|record| says(record, conversation))
        };
        let named = || {
            let mut all = self.terminals.iter();
            let one = all.find(|one| one.words.iter().any(|word| word == conversation))?;
            Some(Sign::Named { pid: one.pid })
        };
        let elsewhere = || {
            let mut foreign = self
                .records
                .iter()
                .filter(|(_, life)| *life == Life::Unknown);
            let (record, _) =
                foreign.find(|(record, _)| record.conversation.as_deref() == Some(conversation))?;
            Some(Sign::Elsewhere {
                at: record.updated_ms.map(|ms| ms.saturating_mul(1_000)),
            })
        };
        says()
            .or_else(named)
            .or_else(elsewhere)
            .or_else(|| self.in_folder(cwd))
            .or_else(|| fresh(last, now))
    }

    fn live_records(&self) -> impl Iterator<Item = &Record> {
        let live = self.records.iter().filter(|(_, life)| *life == Life::Runs);
        live.map(|(record, _)| record)
    }

    /// A CLI in that folder of which nobody knows what it is at.
    fn in_folder(&self, cwd: &Path) -> Option<Sign> {
        let tells = |pid| {
            self.live_records()
                .any(|record| record.pid == pid && record.conversation.is_some())
        };
        let mut all = self.terminals.iter();
        let one = all.find(|one| one.cwd == cwd && !one.is_ours && !tells(one.pid))?;
        Some(Sign::SameFolder { pid: one.pid })
    }
}

fn says(record: &Record, conversation: &str) -> Option<Sign> {
    let is_it = record.conversation.as_deref() == Some(conversation);
    is_it.then(|| Sign::Says {
        pid: record.pid,
        version: record.version.clone(),
        status: record.status.clone(),
    })
}

fn fresh(last: u64, now: u64) -> Option<Sign> {
    // A time of the future is as fresh as can be.
    let age = now.saturating_sub(last);
    (age < FRESH).then_some(Sign::Fresh {
        seconds: age / 1_000_000,
    })
}
