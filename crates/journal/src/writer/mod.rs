//! Appends to a journal. There is one writer; whoever keeps the session's lock is it.
//!
//! Owns the newest segment: one write for each commit, the room kept on the disk, syncs, the step to the next segment.
//! Does not decide when to sync or what a full disk means for the agent. Invariants: the file ends in a whole record or
//! is cut back to one; numbers have no gap; after a failed sync nothing is called synced again.

mod disk;
mod front;
mod open;
mod stage;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};

use crate::error::{AppendError, RollError, SyncError};
use crate::event::KeeperEvent;
use crate::folder;
use crate::header::{Header, Previous};
use crate::record::{Kind, Record};
use crate::tail::Tail;
use disk::{Disk, Segment};
use stage::Stage;

/// How a journal is cut and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From this length on a segment is closed.
    pub segment: u64,
    /// What is kept on the disk for the end of a session on a full one. 0 keeps nothing.
    pub reserve: u64,
    /// After so many records there is a head.
    pub head_every: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            segment: 64 << 20,
            reserve: 1 << 20,
            head_every: 4096,
        }
    }
}

/// At most eight times the reserve is kept ahead.
const MOST_HURRY: u32 = 3;

/// The one writer of a journal.
pub struct Writer {
    disk: Box<dyn Disk>,
    dir: PathBuf,
    session: String,
    generation: u32,
    limits: Limits,
    number: u32,
    segment: Box<dyn Segment>,
    /// Behind the last whole record.
    end: u64,
    /// Up to here the disk has room for us. None where room cannot be kept.
    reserved: Option<u64>,
    stage: Stage,
    synced: u64,
    is_dirty: bool,
    /// The name of the segment may not be on the disk yet.
    is_dir_dirty: bool,
    sync_failed: bool,
    /// How often room was asked for since the last sync, up to a bound.
    hurry: u32,
    is_broken: bool,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("dir", &self.dir)
            .field("generation", &self.generation)
            .field("tail", &self.tail())
            .field("synced", &self.synced)
            .finish_non_exhaustive()
    }
}

impl Writer {
    /// Stages one record and returns its number. Nothing is written before [`Self::commit`]. The payload holds no
    /// newline; what stands behind one is another record's.
    pub fn push(&mut self, at: u64, kind: Kind, payload: &[u8]) -> u64 {
        debug_assert!(!payload.contains(&b'\n'));
        self.stage.push(at, kind, payload)
    }

    /// As [`Self::push`]; a long payload is written from where it is and given back to the system afterwards.
    pub fn push_owned(&mut self, at: u64, kind: Kind, payload: Vec<u8>) -> u64 {
        debug_assert!(!payload.contains(&b'\n'));
        self.stage.push_owned(at, kind, payload)
    }

    /// Stages a `k` record.
    pub fn push_event(&mut self, at: u64, event: &KeeperEvent) -> u64 {
        self.stage.push(at, Kind::Keeper, &event_text(event))
    }

    /// Stages a head: the marks of what stands before it.
    pub fn head(&mut self, at: u64) -> u64 {
        self.stage.head(at)
    }

    /// Forgets what is staged. Its numbers are given out again.
    pub fn discard(&mut self) {
        self.stage.discard();
    }

    /// As [`Self::discard`], and gives back, in order, what [`Self::push_owned`] took and did not copy.
    pub fn discard_owned(&mut self) -> Vec<Vec<u8>> {
        self.stage.discard()
    }

    /// How many bytes are staged.
    pub fn staged(&self) -> u64 {
        self.stage.staged_len()
    }

    /// Writes all that is staged, at once, as long as the room that is kept is not needed for it.
    ///
    /// # Errors
    /// [`AppendError::Full`] when there is no room: everything stays staged. [`AppendError::Broken`] when nothing can be
    /// written any more.
    pub fn commit(&mut self) -> Result<Tail, AppendError> {
        self.append(true)
    }

    /// As [`Self::commit`], and may use up the room that is kept: for the end of a session, and for refusals.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn commit_from_reserve(&mut self) -> Result<Tail, AppendError> {
        self.append(false)
    }

    fn append(&mut self, keep_reserve: bool) -> Result<Tail, AppendError> {
        let trouble = match (self.is_broken, self.sync_failed) {
            (true, _) => Some("an earlier write could not be taken back"),
            // What the system dropped then, nobody knows; nothing may stand behind it.
            (_, true) => Some("an earlier sync failed"),
            _ => None,
        };
        if let Some(trouble) = trouble {
            let source = io::Error::other(trouble);
            return Err(AppendError::Broken { source });
        }
        if self.stage.is_empty() {
            return Ok(self.tail());
        }
        let length = self.stage.staged_len();
        match self.keep_room(length) {
            Err(error) if keep_reserve => return Err(self.full_or_broken(error)),
            _ => {}
        }
        self.is_dirty = true;
        if let Err(error) = write_all(&mut *self.segment, &mut self.stage.slices()) {
            return Err(self.take_back(error));
        }
        self.end += length;
        self.stage.settle();
        Ok(self.tail())
    }

    /// Has room for so many bytes more and half of the reserve behind them. Where that works a write is never short.
    fn keep_room(&mut self, length: u64) -> io::Result<()> {
        let Some(reserved) = self.reserved else {
            return Ok(());
        };
        let least = length + self.limits.reserve / 2;
        if reserved >= self.end + least {
            return Ok(());
        }
        // The whole reserve, so that it is not asked for each time, and more of it while much is written between two
        // syncs; half of it where there is no more.
        let ahead = self.limits.reserve << self.hurry;
        self.hurry = (self.hurry + 1).min(MOST_HURRY);
        let mut kept = Ok(());
        for wanted in [length + ahead, least] {
            kept = keep(&mut *self.segment, self.end, wanted);
            match &kept {
                Ok(()) => {
                    self.reserved = Some(self.end + wanted);
                    break;
                }
                Err(error) if is_full(error) => {}
                Err(_) => {
                    // Not every file system keeps room. It goes on without.
                    self.reserved = None;
                    return Ok(());
                }
            }
        }
        kept
    }

    /// A write failed, perhaps half-way: the file ends where it ended before.
    fn take_back(&mut self, error: io::Error) -> AppendError {
        if let Err(source) = self.segment.cut_to(self.end) {
            self.is_broken = true;
            return AppendError::Broken { source };
        }
        if self.reserved.is_some() {
            // Cutting has returned the reserve, too. What cannot be had back now is asked for with the next commit.
            self.reserved = Some(self.end);
            let _ = self.keep_room(0);
        }
        self.full_or_broken(error)
    }

    fn full_or_broken(&mut self, source: io::Error) -> AppendError {
        match source.raw_os_error() {
            Some(errno) if is_full(&source) => AppendError::Full { errno },
            _ => {
                self.is_broken = true;
                AppendError::Broken { source }
            }
        }
    }

    /// Brings everything that was committed to the disk, and returns the number of the newest record that is there.
    ///
    /// # Errors
    /// When the system cannot. Then every later call fails, too.
    pub fn sync(&mut self) -> Result<u64, SyncError> {
        if self.sync_failed {
            return Err(SyncError::FailedBefore);
        }
        if self.is_dirty {
            let synced = self.segment.sync();
            self.synced_or_failed(synced)?;
            self.is_dirty = false;
            self.hurry = 0;
        }
        if self.is_dir_dirty {
            let synced = self.disk.sync_dir(&self.dir);
            self.synced_or_failed(synced)?;
            self.is_dir_dirty = false;
        }
        self.synced = self.stage.settled_seq();
        Ok(self.synced)
    }

    fn synced_or_failed(&mut self, synced: io::Result<()>) -> Result<(), SyncError> {
        synced.map_err(|error| {
            self.sync_failed = true;
            SyncError::Failed(error)
        })
    }

    /// Whether the segment is long enough to be closed.
    pub fn should_roll(&self) -> bool {
        self.end >= self.limits.segment
    }

    /// Closes the segment and begins the next one with `carried`, the sum of what later readers need.
    ///
    /// Order: head → sync → next file with header and `carried` → sync of it and of the folder.
    ///
    /// # Errors
    /// When a step fails. Until the new file stands the old segment goes on.
    pub fn roll(&mut self, at: u64, carried: &KeeperEvent) -> Result<Tail, RollError> {
        self.head(at);
        self.commit()?;
        self.sync()?;
        self.begin_next(at, carried)
    }

    /// Begins the next segment with `carried`. Everything before it is on the disk.
    fn begin_next(&mut self, at: u64, carried: &KeeperEvent) -> Result<Tail, RollError> {
        let header = self.header(self.stage.mark_of_segment()).line();
        let next = self.number + 1;
        let path = folder::plain(&self.dir, next);
        // The sum stands in the same write as the header, so that no segment is without it.
        let carried = Record {
            seq: self.stage.seq() + 1,
            at: self.stage.at().max(at),
            kind: Kind::Keeper,
            payload: &event_text(carried),
        };
        let mut text = header.clone().into_bytes();
        carried.append_to(&mut text);
        let created = begin_segment(&*self.disk, &path, &text, self.limits.reserve);
        let (segment, reserved) = match created {
            Ok(created) => created,
            Err(error) => return Err(self.full_or_broken(error).into()),
        };
        // The room behind the closed end is nobody's any more. That it is not returned harms nothing.
        let _ = self.segment.cut_to(self.end);
        self.segment = segment;
        self.reserved = reserved;
        self.number = next;
        self.end = text.len() as u64;
        self.is_dirty = true;
        self.is_dir_dirty = true;
        self.stage.begin_segment(header.as_bytes());
        self.stage.push(carried.at, carried.kind, carried.payload);
        self.stage.settle();
        self.sync()?;
        Ok(self.tail())
    }

    /// The header of a segment that begins with the next record.
    fn header(&self, previous: u32) -> Header {
        Header {
            session: self.session.clone(),
            generation: self.generation,
            first_seq: self.stage.seq() + 1,
            previous: Previous::Mark(previous),
        }
    }

    /// The newest record that was written, and where it ends.
    pub fn tail(&self) -> Tail {
        Tail {
            seq: self.stage.settled_seq(),
            seg: self.number,
            off: self.end,
        }
    }

    /// The newest record that is on the disk.
    pub fn synced(&self) -> u64 {
        self.synced
    }

    /// Whether the newest segment still has a name. If somebody has removed it, what is written goes nowhere.
    pub fn has_name(&self) -> bool {
        self.segment.has_name()
    }

    /// Whether something was written since the last sync.
    pub fn is_dirty(&self) -> bool {
        self.is_dirty || self.is_dir_dirty
    }

    /// The time of the newest record, staged ones included.
    pub fn at(&self) -> u64 {
        self.stage.at()
    }

    /// The session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The generation that is written.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The journal folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Gives memory that only a next batch would need back to the allocator. Nothing is lost by it but the time to ask again.
    pub fn rest(&mut self) {
        self.stage.rest();
    }

    /// Returns the room that was kept. What is staged is lost.
    pub fn finish(mut self) {
        // That it is not returned harms nothing: the next writer tries again.
        let _ = self.segment.cut_to(self.end);
    }
}

fn event_text(event: &KeeperEvent) -> Vec<u8> {
    // Maps with text keys, numbers and lists of them: there is nothing in it that has no JSON.
    serde_json::to_vec(event).unwrap_or_else(|_| b"{}".to_vec())
}

/// Writes everything, mostly at once. A short write of a full disk says what is wrong only when it is asked for the rest.
fn write_all(segment: &mut dyn Segment, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    IoSlice::advance_slices(&mut slices, 0);
    while !slices.is_empty() {
        match segment.append(slices) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut slices, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Keeps room. A signal that comes meanwhile says nothing about whether the file system can.
fn keep(segment: &mut dyn Segment, from: u64, len: u64) -> io::Result<()> {
    loop {
        match segment.reserve(from, len) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            kept => return kept,
        }
    }
}

/// Makes a segment with its first text and the reserve, or leaves it empty.
fn begin_segment(
    disk: &dyn Disk,
    path: &Path,
    text: &[u8],
    reserve: u64,
) -> io::Result<(Box<dyn Segment>, Option<u64>)> {
    let mut segment = disk.create(path)?;
    let begun = fill_segment(&mut *segment, text, reserve);
    if begun.is_err() {
        // Nobody takes it for a segment, and its number is used again.
        let _ = segment.cut_to(0);
    }
    Ok((segment, begun?))
}

fn fill_segment(segment: &mut dyn Segment, text: &[u8], reserve: u64) -> io::Result<Option<u64>> {
    let end = text.len() as u64 + reserve;
    let reserved = match reserve {
        0 => None,
        _ => match keep(segment, 0, end) {
            Ok(()) => Some(end),
            Err(error) if is_full(&error) => return Err(error),
            Err(_) => None,
        },
    };
    write_all(segment, &mut [IoSlice::new(text)])?;
    Ok(reserved)
}

/// Whether there may be room later.
fn is_full(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let full = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG];
    full.iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
