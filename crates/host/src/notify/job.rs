//! One event for one target, and what follows from a try to deliver it.
//!
//! Owns [`Job::tried`]: what is tried again, when, and when it is given up. Pure: time and jitter come in. Invariants: a
//! job ends after a number of tries at most; what the receiver says it will never take is not sent again; the wait before
//! each try is bounded.

use super::event::{Event, Kind};
use crate::control::{ApprovalId, SessionId};

/// The exit code by which a program asks to be run again later (`EX_TEMPFAIL`).
pub(super) const TRY_AGAIN: i32 = 75;

/// How long to wait between tries, and how often to try. Times are microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The wait after the first try. It doubles with each further one.
    pub first: u64,
    /// The longest wait, also of those that a receiver asks for.
    pub most: u64,
    /// After so many tries a job is given up.
    pub tries: u32,
}

impl Default for Schedule {
    /// Over some four minutes: later than that nobody waits for such news.
    fn default() -> Self {
        Self {
            first: 2_000_000,
            most: 300_000_000,
            tries: 8,
        }
    }
}

impl Schedule {
    /// The wait after that many tries. `jitter` is from 0 to 1; without it, all hosts would come back at once.
    fn wait(&self, tries: u32, jitter: f64) -> u64 {
        let doublings = tries.saturating_sub(1).min(32);
        let wait = self.first.saturating_mul(1 << doublings).min(self.most);
        let half = wait / 2;
        let jitter = if jitter.is_finite() {
            jitter.clamp(0.0, 1.0)
        } else {
            0.5
        };
        half + ((wait - half) as f64 * jitter) as u64
    }
}

/// What became of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Done,
    /// The receiver answered otherwise than with a success.
    Answered {
        /// The status.
        status: u16,
        /// How many seconds it wants to be left alone.
        retry_after: Option<u64>,
        /// What it said, masked and cut.
        said: String,
    },
    /// There was no answer: refused, broken off, too slow.
    Unreached {
        /// Why.
        why: String,
    },
    /// The program ended otherwise than with 0.
    Exited {
        /// With this code; none for a signal.
        code: Option<i32>,
        /// The end of what it said, masked.
        said: String,
    },
    /// It cannot work as it is set up.
    Hopeless {
        /// Why, and what to do.
        why: String,
    },
}

/// What follows from a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it arrived.
    Done,
    /// Another try, not before this moment.
    Again {
        /// Microseconds of Unix time.
        at: u64,
        /// Why the last one failed.
        why: String,
    },
    /// No other try.
    GiveUp {
        /// Why, in words.
        why: String,
    },
}

/// One event for one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The place of the target among all of them.
    pub(super) target: usize,
    /// Its place in the order of events.
    pub(super) number: u64,
    /// The same for each try.
    pub(super) id: String,
    pub(super) event: Event,
    /// Tries that were begun.
    pub(super) tries: u32,
    /// Not before this moment.
    pub(super) at: u64,
    /// Events that were left out in favour of this one, because the queue was full.
    pub(super) merged: u32,
    /// When the first of them happened.
    pub(super) merged_since: Option<u64>,
    /// Its question was settled while it was under way: it is not tried again.
    pub(super) is_settled: bool,
}

impl Job {
    pub(super) fn new(target: usize, number: u64, event: Event, now: u64) -> Self {
        Self {
            target,
            number,
            id: event.id(),
            event,
            tries: 0,
            at: now,
            merged: 0,
            merged_since: None,
            is_settled: false,
        }
    }

    /// By which the receiver knows it when it comes again.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it tells.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Tries that were begun.
    pub fn tries(&self) -> u32 {
        self.tries
    }

    /// Events that were left out in favour of this one.
    pub fn merged(&self) -> u32 {
        self.merged
    }

    pub(super) fn kind(&self) -> Kind {
        self.event.kind
    }

    pub(super) fn session(&self) -> Option<SessionId> {
        self.event.session.as_ref().map(|about| about.id)
    }

    pub(super) fn approval(&self) -> Option<ApprovalId> {
        self.event.approval.as_ref().map(|asked| asked.id)
    }

    /// Takes in one that is left out in favour of this one.
    pub(super) fn merge(&mut self, left_out: &Job) {
        self.merged = self
            .merged
            .saturating_add(left_out.merged)
            .saturating_add(1);
        let since = left_out.merged_since.unwrap_or(left_out.event.at);
        self.merged_since = Some(self.merged_since.map_or(since, |known| known.min(since)));
    }

    /// What follows from a try that ended `now`. `jitter` is from 0 to 1.
    pub fn tried(&self, now: u64, outcome: &Outcome, schedule: &Schedule, jitter: f64) -> Next {
        let (why, again, asked_for) = match outcome {
            Outcome::Done => return Next::Done,
            Outcome::Answered {
                status,
                retry_after,
                said,
            } => (answered(*status, said), is_passing(*status), *retry_after),
            Outcome::Unreached { why } => (why.clone(), true, None),
            Outcome::Exited { code, said } => (exited(*code, said), *code == Some(TRY_AGAIN), None),
            Outcome::Hopeless { why } => (why.clone(), false, None),
        };
        if !again {
            return Next::GiveUp { why };
        }
        if self.tries >= schedule.tries {
            let why = format!("{why}; given up after {} tries", self.tries);
            return Next::GiveUp { why };
        }
        let wait = schedule.wait(self.tries, jitter);
        let asked_for = asked_for
            .unwrap_or_default()
            .saturating_mul(1_000_000)
            .min(schedule.most);
        let at = now.saturating_add(wait.max(asked_for));
        Next::Again { at, why }
    }
}

/// Whether a status says that a later try may do better.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..)
}

fn answered(status: u16, said: &str) -> String {
    match status {
        300..400 => {
            format!(
                "it redirects (status {status}), and redirects are not followed: set the address it leads to"
            )
        }
        _ if said.is_empty() => format!("it answered with status {status}"),
        _ => format!("it answered with status {status}: {said}"),
    }
}

fn exited(code: Option<i32>, said: &str) -> String {
    let how = match code {
        Some(code) => format!("it ended with code {code}"),
        None => "it was ended by a signal".to_owned(),
    };
    if said.is_empty() {
        how
    } else {
        format!("{how}: {said}")
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
