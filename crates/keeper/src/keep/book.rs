//! The journal as a keeper uses it: times, syncs when they are due, and what a full disk means.
//!
//! Owns when something is brought to the disk and whether there is room. Invariants: what could not be written leaves
//! nothing behind; after a failed sync, or a write that cannot be taken back, the journal is never written again.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use countersign_journal::{AppendError, KeeperEvent, Kind, RollError, Tail, Writer};

use crate::clock::{self, WallClock};
use crate::habits::Habits;

/// How long something may be in the journal and not on the disk.
const SYNC_WITHIN: Duration = Duration::from_secs(1);

/// Why an agent ends whose session's folder is gone: nobody would find its lock or its journal.
pub(crate) const FOLDER_REMOVED: &str = "the session's folder was removed under it";

/// Why an agent ends of whose journal the newest segment alone is gone: nobody would find what is written.
const SEGMENT_REMOVED: &str = "the newest segment of its journal was removed under it";

/// Why something is not in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// There is no room; there may be later.
    Full(i32),
    /// The journal cannot be written or synced any more.
    Broken(String),
}

#[derive(Debug)]
pub(crate) struct Book {
    writer: Writer,
    clock: WallClock,
    at: u64,
    syncs: bool,
    synced_log: Option<PathBuf>,
    sync_fails: Option<PathBuf>,
    returned: Option<Vec<u8>>,
    /// When the next sync is due.
    due: Option<Duration>,
}

impl Book {
    pub(crate) fn new(writer: Writer, habits: &Habits) -> Self {
        let mut clock = WallClock::new(habits.clock.clone());
        let (at, _) = clock.read();
        Self {
            writer,
            clock,
            at,
            syncs: habits.sync,
            synced_log: habits.synced_log.clone(),
            sync_fails: habits.sync_fails.clone(),
            returned: None,
            due: None,
        }
    }

    /// Looks at the clock: what is pushed from now on has this time. Returns by how much it was set since.
    pub(crate) fn look_at_clock(&mut self) -> Option<i64> {
        let (at, jump) = self.clock.read();
        self.at = at;
        jump
    }

    pub(crate) fn push(&mut self, kind: Kind, payload: &[u8]) -> u64 {
        self.writer.push(self.at, kind, payload)
    }

    /// As [`Book::push`], and does not copy a long payload.
    pub(crate) fn push_owned(&mut self, kind: Kind, payload: Vec<u8>) -> u64 {
        self.writer.push_owned(self.at, kind, payload)
    }

    /// A long payload that could not be written.
    pub(crate) fn take_returned(&mut self) -> Option<Vec<u8>> {
        self.returned.take()
    }

    pub(crate) fn push_event(&mut self, event: &KeeperEvent) -> u64 {
        self.writer.push_event(self.at, event)
    }

    pub(crate) fn push_head(&mut self) {
        self.writer.head(self.at);
    }

    /// Appends what was pushed, all of it or nothing. With `reserve` it may use the room kept for a full disk.
    pub(crate) fn commit(&mut self, reserve: bool) -> Result<(), Trouble> {
        let committed = if reserve {
            self.writer.commit_from_reserve()
        } else {
            self.writer.commit()
        };
        match committed {
            Ok(_) => {
                self.due.get_or_insert_with(|| clock::boot() + SYNC_WITHIN);
                Ok(())
            }
            Err(error) => {
                self.returned = self.writer.discard_owned().pop();
                Err(trouble(error))
            }
        }
    }

    /// Brings everything that was committed to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), Trouble> {
        self.due = None;
        if !self.syncs || !self.writer.is_dirty() {
            return Ok(());
        }
        if self.sync_fails.as_ref().is_some_and(|file| file.exists()) {
            return Err(Trouble::Broken("no sync works, by habit".to_owned()));
        }
        if !self.has_name() {
            return Err(Trouble::Broken(self.what_was_removed().to_owned()));
        }
        let broken = |error: countersign_journal::SyncError| Trouble::Broken(error.to_string());
        self.writer.sync().map_err(broken)?;
        self.log_sync();
        Ok(())
    }

    /// Whether what is written can be found again.
    pub(crate) fn has_name(&self) -> bool {
        self.writer.has_name()
    }

    /// Says what was removed where what is written has no name any more.
    pub(crate) fn what_was_removed(&self) -> &'static str {
        match self.writer.dir().is_dir() {
            true => SEGMENT_REMOVED,
            false => FOLDER_REMOVED,
        }
    }

    fn log_sync(&self) {
        let Some(path) = &self.synced_log else {
            return;
        };
        let tail = self.writer.tail();
        let file = File::options().create(true).append(true).open(path);
        // A test's; it notices if nothing is in it.
        let _ = file.and_then(|mut file| writeln!(file, "{} {}", tail.seg, tail.off));
    }

    /// When [`Book::sync`] should be called at the latest.
    pub(crate) fn sync_due(&self) -> Option<Duration> {
        self.due
    }

    /// Begins the next segment if this one is long enough. `carried` tells it what it must know.
    pub(crate) fn roll(&mut self, carried: impl FnOnce() -> KeeperEvent) -> Result<(), Trouble> {
        if !self.writer.should_roll() {
            return Ok(());
        }
        match self.writer.roll(self.at, &carried()) {
            Ok(_) => {
                self.log_sync();
                Ok(())
            }
            Err(RollError::Append(error)) => {
                self.writer.discard();
                Err(trouble(error))
            }
            Err(error) => Err(Trouble::Broken(error.to_string())),
        }
    }

    pub(crate) fn tail(&self) -> Tail {
        self.writer.tail()
    }

    pub(crate) fn synced(&self) -> u64 {
        self.writer.synced()
    }

    /// Gives back the memory that only a next batch would need.
    pub(crate) fn shrink(&mut self) {
        self.writer.rest();
    }

    pub(crate) fn finish(self) {
        self.writer.finish();
    }
}

fn trouble(error: AppendError) -> Trouble {
    match error {
        AppendError::Full { errno } => Trouble::Full(errno),
        error => Trouble::Broken(error.to_string()),
    }
}
