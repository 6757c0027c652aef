//! The outbox as a connection to a keeper wants it.
//!
//! Owns [`StoredOutbox`]: each line is on the disk before it goes. Invariant: a note about a line that is lost changes
//! nothing, since the keeper knows better.

use std::io;

use countersign_keeper::attach::{Outbox, PutOutcome};
use countersign_keeper::protocol::Ref;
use serde_json::{Map, Value, json};

use super::outbox::{SettledAs, asks_again, enter, settle};
use super::{Durability, Store, StoreError};
use crate::control::SessionId;

/// The outbox of one agent, as the keeper's side of the host wants it.
#[derive(Debug, Clone)]
pub struct StoredOutbox {
    store: Store,
    session: SessionId,
    generation: u32,
    last_n: u64,
}

impl StoredOutbox {
    /// For the agent of this generation, whose keeper has everything up to `last_n`.
    pub fn new(store: Store, session: SessionId, generation: u32, last_n: u64) -> Self {
        Self {
            store,
            session,
            generation,
            last_n,
        }
    }
}

/// What the journal notes on a word that nobody typed.
fn note_of_repeat() -> Map<String, Value> {
    let note = [
        ("by", "countersign"),
        ("why", "Asked again after the agent crashed"),
    ];
    let note = note.map(|(name, value)| (name.to_owned(), json!(value)));
    note.into_iter().collect()
}

impl Outbox for StoredOutbox {
    /// On the disk when it returns. Waits for the writer, for about one sync.
    fn enter(&self, line: &[u8]) -> io::Result<u64> {
        self.enter_noted(line).map(|(n, _)| n)
    }

    fn enter_noted(&self, line: &[u8]) -> io::Result<(u64, Option<Map<String, Value>>)> {
        let (session, generation, last_n) = (self.session, self.generation, self.last_n);
        let line = line.to_vec();
        let entered = self
            .store
            .write_blocking(Durability::Full, move |connection| {
                let n = enter(connection, session, generation, last_n, &line)?;
                let asks_again = asks_again(connection, session, generation, n)?;
                Ok((n, asks_again.then(note_of_repeat)))
            });
        crate::points::passed("line entered");
        entered.map_err(|error| match error {
            StoreError::NoSpace => io::Error::new(io::ErrorKind::StorageFull, error),
            error => io::Error::other(error),
        })
    }

    /// A note that is lost is found again when the next host asks the keeper.
    fn settled(&self, what: &Ref, outcome: &PutOutcome) {
        let Ref::N(n) = *what else {
            return;
        };
        let how = match outcome {
            PutOutcome::Written { .. } | PutOutcome::Before { .. } => SettledAs::Written,
            PutOutcome::Refused(_) => SettledAs::Refused,
        };
        let (session, generation) = (self.session, self.generation);
        self.store
            .post(move |connection| settle(connection, session, generation, n, how));
    }
}
