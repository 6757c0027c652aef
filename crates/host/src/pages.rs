//! The pages of transcripts, made ahead of those who read them.
//!
//! Owns the one way to a session's pages, and the fold that goes along with a journal that grows. Invariants: one at a time makes
//! the checkpoints of a session; while it runs, and after each start of a host, no more than a bounded part of its journal is
//! without them, so opening a transcript costs the same however long it is.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use countersign_journal::{Cursor, ReadError, Reader, Tail};
use countersign_transcript::pages::{Every, PageError, Pages};
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::task::AbortHandle;

use crate::control::{ControlError, SessionId};
use crate::host::Inner;
use crate::store::Store;
use crate::store::shelf::StoredShelf;

/// After so many records checkpoints are made. No more than these, those that come meanwhile and one block are folded by
/// whoever opens the transcript.
pub(crate) const AHEAD: usize = 2048;

/// Why there are no pages.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PagesError {
    #[error(transparent)]
    Journal(#[from] ReadError),
    #[error(transparent)]
    Pages(#[from] PageError),
}

impl From<PagesError> for ControlError {
    fn from(error: PagesError) -> Self {
        Self::Unavailable {
            why: format!("the transcript cannot be read: {error}"),
            retry_ms: 1_000,
        }
    }
}

/// Who holds it makes the checkpoints of a session.
pub(crate) type Turn = OwnedMutexGuard<()>;

/// Whose turn it is, session by session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns(Arc<Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>>);

impl Turns {
    fn of(&self, session: SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, one| Arc::strong_count(one) > 1);
        Arc::clone(all.entry(session).or_default())
    }

    /// Waits until those before are through.
    pub(crate) async fn take(&self, session: SessionId) -> Turn {
        self.of(session).lock_owned().await
    }

    /// As [`Turns::take`], from a thread that may wait.
    pub(crate) fn take_blocking(&self, session: SessionId) -> Turn {
        self.of(session).blocking_lock_owned()
    }
}

/// The pages of a journal up to its tail, and the reader for them. From a thread that may wait.
pub(crate) fn open(
    store: &Store,
    dir: &Path,
    session: SessionId,
    tail: Option<Tail>,
    _turn: &Turn,
) -> Result<(Pages<StoredShelf>, Reader), PagesError> {
    let mut reader = Reader::open(dir)?;
    reader.set_limit(tail);
    let shelf = StoredShelf::new(store.clone(), session);
    let mut pages = Pages::open(shelf, Every::default())?;
    pages.catch_up(&mut reader)?;
    Ok((pages, reader))
}

/// Whether opening a transcript would fold more than usual. `to`: how far its journal goes.
pub(crate) fn lags(store: &Store, session: SessionId, to: Cursor) -> Result<bool, PagesError> {
    let shelf = StoredShelf::new(store.clone(), session);
    let reached = Pages::open(shelf, Every::default())?.cursor();
    Ok(to.seq.saturating_sub(reached.seq) > 2 * AHEAD as u64)
}

/// Makes the checkpoints that a session lacks.
pub(crate) async fn make(inner: &Arc<Inner>, session: SessionId) {
    let dir = inner.folders.session(session);
    let turn = inner.pages.take(session).await;
    let level = inner.levels.watch(session).borrow().clone();
    let store = inner.store.clone();
    let made = tokio::task::spawn_blocking(move || match dir.join("journal").exists() {
        true => open(&store, &dir, session, level.tail, &turn).map(drop),
        false => Ok(()),
    });
    if let Ok(Err(error)) = made.await {
        tracing::debug!(%session, %error, "pages of a transcript cannot be made ahead");
    }
}

/// Makes pages while a journal grows. It ends with whoever holds it.
#[derive(Debug)]
pub(crate) struct Ahead {
    grown: Arc<Notify>,
    /// Records that came since it was last called.
    records: usize,
    task: Option<AbortHandle>,
}

impl Ahead {
    pub(crate) fn new() -> Self {
        Self {
            grown: Arc::default(),
            // What an earlier host has left is not known.
            records: AHEAD,
            task: None,
        }
    }

    /// The journal of a session has grown by so many records.
    pub(crate) fn note(&mut self, inner: &Arc<Inner>, session: SessionId, records: usize) {
        self.records += records;
        if self.records < AHEAD {
            return;
        }
        self.records = 0;
        // One that is at work is done again, since it may have begun before these came.
        self.grown.notify_one();
        if self.task.is_none() {
            let work = work(Arc::downgrade(inner), session, Arc::clone(&self.grown));
            self.task = Some(tokio::spawn(work).abort_handle());
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn work(inner: Weak<Inner>, session: SessionId, grown: Arc<Notify>) {
    loop {
        grown.notified().await;
        let Some(inner) = inner.upgrade().filter(|inner| !inner.is_closed()) else {
            return;
        };
        make(&inner, session).await;
    }
}
