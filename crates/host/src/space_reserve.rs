//! A file that keeps room on the disk for what must work when it is full: a start of the host, a no, the end of a turn.
//!
//! Owns `reserve` in the data folder. Invariant: it is made only where there is plenty of room, so that what was given back is not taken again at
//! once.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Size of the file, in bytes: some thousand pages of the database, and the records that go with them.
const SIZE: u64 = 8 << 20;

/// Room that must be there before the file is made.
const PLENTY: u64 = 4 * SIZE;

/// A disk with less room than this is full: the database cannot grow by a log.
const LEAST: u64 = 1 << 20;

/// The room that is kept.
#[derive(Debug)]
pub(crate) struct SpaceReserve {
    root: PathBuf,
}

impl SpaceReserve {
    /// The one of a data folder.
    pub(crate) fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    fn file(&self) -> PathBuf {
        self.root.join("reserve")
    }

    /// Makes it where there is plenty of room and it is not there.
    pub(crate) fn keep(&self) {
        if self.file().exists() || self.room().is_none_or(|room| room < PLENTY) {
            return;
        }
        if let Err(error) = self.make() {
            tracing::warn!(%error, "no room can be kept for a full disk");
            self.release();
        }
    }

    fn make(&self) -> io::Result<()> {
        let mut how = OpenOptions::new();
        how.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
        fill(&how.open(self.file())?)
    }

    /// Gives the room back. Returns whether there was any.
    pub(crate) fn release(&self) -> bool {
        let released = std::fs::remove_file(self.file()).is_ok();
        if released {
            tracing::warn!("the disk is full: the room that is kept for that is given back");
        }
        released
    }

    /// Gives the room back if there is no other.
    pub(crate) fn release_if_full(&self) {
        if self.is_full() {
            self.release();
        }
    }

    /// Returns whether the disk is full, as far as the system says.
    pub(crate) fn is_full(&self) -> bool {
        self.room().is_some_and(|room| room < LEAST)
    }

    /// Returns how many bytes may still be written there.
    fn room(&self) -> Option<u64> {
        let found = rustix::fs::statvfs(&self.root).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
}

#[cfg(target_os = "linux")]
fn fill(file: &File) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    Ok(fallocate(file, FallocateFlags::empty(), 0, SIZE)?)
}

#[cfg(not(target_os = "linux"))]
fn fill(mut file: &File) -> io::Result<()> {
    io::copy(&mut io::Read::take(io::repeat(0), SIZE), &mut file).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_kept_once_and_given_back_once() {
        let root = tempfile::tempdir().unwrap();
        let reserve = SpaceReserve::of(root.path());
        if reserve.room().is_none_or(|room| room < PLENTY) {
            eprintln!("skipped: there is too little room to keep any");
            return;
        }
        assert!(!reserve.is_full());
        reserve.keep();
        reserve.keep();
        assert_eq!(std::fs::metadata(reserve.file()).unwrap().len(), SIZE);
        assert!(reserve.release());
        assert!(!reserve.release());
    }
}
