//! Everything that crossed the wire of one run, in order, with times. Written by the readers of the
//! CLI's outputs and by the runner, read by the runner, which can wait for more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use crate::json::Json;
use crate::recording::{Dir, Entry};

/// More lines than any scenario has; a CLI that writes without end is cut off here.
const MOST_ENTRIES: usize = 100_000;

/// A cloneable handle on the log of one run.
#[derive(Debug, Clone)]
pub(super) struct Log(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    started: Instant,
    entries: Mutex<Vec<Logged>>,
    grown: Notify,
}

#[derive(Debug, Clone)]
struct Logged {
    entry: Entry,
    /// The line as JSON, if it came from the CLI's stdout and is an object.
    parsed: Option<Arc<Json>>,
}

impl Log {
    pub(super) fn start() -> Log {
        let (entries, grown) = (Mutex::new(Vec::new()), Notify::new());
        Log(Arc::new(Shared {
            started: Instant::now(),
            entries,
            grown,
        }))
    }

    pub(super) fn push(&self, dir: Dir, bytes: Vec<u8>) {
        let parsed = (dir == Dir::Out)
            .then(|| Json::parse_object(&bytes))
            .flatten()
            .map(Arc::new);
        let at = u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut entries = self.entries();
        if entries.len() < MOST_ENTRIES {
            entries.push(Logged {
                entry: Entry { at, dir, bytes },
                parsed,
            });
        }
        drop(entries);
        self.0.grown.notify_waiters();
    }

    pub(super) fn len(&self) -> usize {
        self.entries().len()
    }

    /// The stdout line at a place, if it is one.
    pub(super) fn message(&self, index: usize) -> Option<Arc<Json>> {
        self.entries()
            .get(index)
            .and_then(|logged| logged.parsed.clone())
    }

    /// Waits until there are more entries than that.
    pub(super) async fn longer_than(&self, length: usize) {
        loop {
            let grown = self.0.grown.notified();
            tokio::pin!(grown);
            // Armed before looking, so that an entry between look and wait is not missed.
            grown.as_mut().enable();
            if self.len() > length {
                return;
            }
            grown.await;
        }
    }

    /// All entries so far.
    pub(super) fn entries_so_far(&self) -> Vec<Entry> {
        self.entries()
            .iter()
            .map(|logged| logged.entry.clone())
            .collect()
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Logged>> {
        self.0
            .entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
