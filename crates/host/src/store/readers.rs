//! Connections that read.
//!
//! Owns a few of them, opened when they are needed and kept. Each question is one transaction, so it sees one state of
//! the database, whatever is written meanwhile. Invariant: none of them can write.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{StoreError, open};

/// How many read at once. Who comes then waits.
const MOST: usize = 4;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            idle: Mutex::default(),
            turns: Arc::new(Semaphore::new(MOST)),
        }
    }

    /// Waits for a turn.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        turn.map_err(|_| StoreError::Closed)
    }

    /// Asks the database, in this thread.
    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open::reader(&self.path)?,
        };
        let asked = catch_unwind(AssertUnwindSafe(|| {
            let view = connection.unchecked_transaction()?;
            question(&view)
        }));
        let mut idle = self.idle();
        if idle.len() < MOST && connection.is_autocommit() {
            idle.push(connection);
        }
        drop(idle);
        asked.unwrap_or(Err(StoreError::Panicked))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
