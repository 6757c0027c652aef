//! What the host keeps: SQLite, one writer, a few readers.
//!
//! Owns the database file and the data folder's lock. Rows are plain structs, and what is done with them are plain
//! functions over a connection, so that whoever writes puts several of them into one job. Invariants: one thread writes;
//! a job is stored whole or not at all; what was acknowledged with [`Durability::Full`] survives a loss of power; no name
//! of SQLite is known outside of here but the connection that a job gets.

pub mod approvals;
pub mod around;
pub mod decisions;
mod error;
pub mod events;
pub(crate) mod indexed;
pub mod insights;
#[cfg(unix)]
mod kept;
mod lock;
mod migrate;
mod open;
pub mod outbox;
pub(crate) mod page;
pub mod plans;
pub mod queue;
mod readers;
pub mod receipts;
pub mod rules;
pub mod search;
pub mod sessions;
pub mod settings;
pub mod shelf;
pub mod told;
pub mod usage;
mod value;
pub mod vitals;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;

pub use rusqlite::Connection;
use tokio::sync::oneshot;

pub use error::StoreError;
pub use lock::{HostLock, LockError};
pub use writer::{Counts, Durability};

use readers::Readers;
use writer::{Job, Task, Writer};

/// The name of the database in a data folder.
pub const FILE: &str = "host.db";

struct Inner {
    path: PathBuf,
    // In this order: who closes the file last tidies up its log, and readers cannot.
    readers: Arc<Readers>,
    writer: Writer,
}

/// The database of a host. Clones are the same one; the last to go closes it, after what waits was written.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.0.path).finish()
    }
}

impl Store {
    /// Opens the database, made if it is not there, in its newest form.
    ///
    /// # Errors
    /// When the file is not ours, is of a newer build, or cannot be used.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let connection = open::writer(file)?;
        Ok(Self(Arc::new(Inner {
            path: file.to_owned(),
            readers: Arc::new(Readers::new(file.to_owned())),
            writer: Writer::start(connection)?,
        })))
    }

    /// Opens the database of a data folder for its new host, and gives the number of that host: one more than the last.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn take(lock: &mut HostLock) -> Result<(Self, u64), StoreError> {
        let store = Self::open(&lock.dir().join(FILE))?;
        let last = lock.last_epoch();
        let epoch = store.write_blocking(Durability::Full, move |connection| {
            settings::next_epoch(connection, last)
        })?;
        lock.note(epoch)?;
        Ok((store, epoch))
    }

    /// Has something written. It is stored when this returns. Dropped while it waits, the job may still be done.
    ///
    /// # Errors
    /// Those of the job, and that it could not be committed. Then nothing of it is stored.
    pub async fn write<T: Send + 'static>(
        &self,
        how: Durability,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let room = Some(self.0.writer.room().await?);
        let (sender, done) = oneshot::channel();
        let work = Task::boxed(job, |result| drop(sender.send(result)));
        self.0.writer.push(Job { how, work, room })?;
        // A job that panicked takes the sender with it.
        done.await.unwrap_or(Err(StoreError::Panicked))
    }

    /// As [`Store::write`], from a thread that may wait.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn write_blocking<T: Send + 'static>(
        &self,
        how: Durability,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.0.writer.is_here() {
            return Err(StoreError::Nested);
        }
        let (sender, done) = mpsc::sync_channel(1);
        let work = Task::boxed(job, move |result| drop(sender.send(result)));
        let room = None;
        self.0.writer.push(Job { how, work, room })?;
        done.recv().unwrap_or(Err(StoreError::Panicked))
    }

    /// Has something written that nobody waits for, and that a journal can give again. Waits only if the queue is full.
    pub fn post(&self, job: impl FnOnce(&Connection) -> Result<(), StoreError> + Send + 'static) {
        self.post_and(job, || {});
    }

    /// The same, and `then` once it is committed: whoever looks from then on finds it.
    pub fn post_and(
        &self,
        job: impl FnOnce(&Connection) -> Result<(), StoreError> + Send + 'static,
        then: impl FnOnce() + Send + 'static,
    ) {
        let failed = |error: &StoreError| tracing::warn!(%error, "a note could not be stored");
        let how = Durability::Normal;
        let done = match self.0.writer.room_now() {
            None => self.write_blocking(how, job).map(|()| then()),
            room => {
                let reply = move |result: Result<(), StoreError>| match result {
                    Ok(()) => then(),
                    Err(error) => failed(&error),
                };
                let work = Task::boxed(job, reply);
                self.0.writer.push(Job { how, work, room })
            }
        };
        if let Err(error) = done {
            failed(&error);
        }
    }

    /// Asks the database, which shows one state of it to the whole question.
    ///
    /// # Errors
    /// Those of the question, and that the file cannot be read.
    pub async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = self.0.readers.turn().await?;
        let readers = Arc::clone(&self.0.readers);
        let asked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            readers.ask(question)
        });
        asked.await.unwrap_or(Err(StoreError::Closed))
    }

    /// As [`Store::read`], in this thread.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn read_blocking<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.0.readers.ask(question)
    }

    /// How much was written since it was opened.
    pub fn counts(&self) -> Counts {
        self.0.writer.counts()
    }
}
