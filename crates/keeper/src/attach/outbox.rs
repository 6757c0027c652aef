//! What a host does about the lines it hands to a keeper: numbers them, and may store them first.
//!
//! Owns the seam [`Outbox`]. The keeper takes number `last_n + 1` and no other, so a host that stored a line before it
//! went can hand it in again after a crash without its being written twice.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};

use crate::protocol::{Ref, Refusal};

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// It is journalled, and reached the agent's stdin whole.
    Written {
        /// Its record.
        seq: u64,
    },
    /// It was journalled by an earlier put.
    Before {
        /// Its record, as far as the keeper still knows.
        seq: Option<u64>,
    },
    /// It will not be written.
    Refused(Refusal),
}

/// Where a host numbers its lines.
pub trait Outbox: Send + Sync + 'static {
    /// A message or request is about to go. Returns its number: one more than the last. Who must not lose the line stores
    /// it here; an error keeps it from going.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn enter(&self, line: &[u8]) -> io::Result<u64>;

    /// The same, with what the journal is to note on the line.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn enter_noted(&self, line: &[u8]) -> io::Result<(u64, Option<Map<String, Value>>)> {
        self.enter(line).map(|n| (n, None))
    }

    /// What became of a line or an answer.
    fn settled(&self, what: &Ref, outcome: &PutOutcome) {
        let _ = (what, outcome);
    }
}

/// Counts on from what the keeper has; stores nothing.
#[derive(Debug, Default)]
pub struct Counting(AtomicU64);

impl Counting {
    /// Counts on from `last`.
    pub fn after(last: u64) -> Self {
        Self(AtomicU64::new(last))
    }
}

impl Outbox for Counting {
    fn enter(&self, _: &[u8]) -> io::Result<u64> {
        Ok(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
