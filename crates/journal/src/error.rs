//! Why a journal cannot be read or written.
//!
//! Owns the errors of this crate that more than one part of it has. Each names the file and the next step.

use std::io;
use std::path::{Path, PathBuf};

use crate::folder;
use crate::header::BadHeader;

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The first line of a segment is none of ours, or of a later build.
    #[error("{} is no segment of a journal: {why}", path.display())]
    Header {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: BadHeader,
    },
    /// A segment that is not the newest has no header.
    #[error("{} has no header, and later segments follow it; `countersign journal verify` says what is left", path.display())]
    Headless {
        /// Which file.
        path: PathBuf,
    },
    /// There is no such record.
    #[error("the journal has no record {0}")]
    NoRecord(crate::Cursor),
}

impl ReadError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Io { path, source }
    }

    pub(crate) fn header(dir: &Path, number: u32, why: BadHeader) -> Self {
        let path = folder::plain(dir, number);
        Self::Header { path, why }
    }

    pub(crate) fn headless(dir: &Path, number: u32) -> Self {
        let path = folder::plain(dir, number);
        Self::Headless { path }
    }
}

/// Why a journal cannot be opened to write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There was an agent of this generation, or of a later one. There is never a second.
    #[error("generation {asked} cannot begin: generation {newest} was opened before; ask for {}", newest + 1)]
    Generation {
        /// Which was asked for.
        asked: u32,
        /// Which is there.
        newest: u32,
    },
    /// The folder is another session's.
    #[error("the journal is that of session {found}, not of {asked}")]
    Session {
        /// Which was asked for.
        asked: String,
        /// Whose it is.
        found: String,
    },
    /// A session cannot be called that.
    #[error("a session's name has 1 to 256 visible ASCII characters, and no space")]
    Name,
    /// There is no generation to go on with.
    #[error("the journal in {} has no segment that can be gone on with", dir.display())]
    Nothing {
        /// Where.
        dir: PathBuf,
    },
    /// What is there cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl OpenError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Io { path, source }
    }
}

/// Why what is staged was not written. The file ends where it ended before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// There is no room. What is staged stays staged: commit again when there is.
    #[error("no room for the journal: {}; make some, it goes on by itself", io::Error::from_raw_os_error(*errno))]
    Full {
        /// What the system said.
        errno: i32,
    },
    /// Nothing can be written any more.
    #[error(
        "the journal cannot be written any more: {source}; end the agent and start a new generation"
    )]
    Broken {
        /// What the system said.
        source: io::Error,
    },
}

/// Why the journal is not on the disk. It is never tried again: the system may have dropped what it could not write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The system refused.
    #[error(
        "the journal could not be brought to the disk: {0}; end the agent and start a new generation"
    )]
    Failed(#[source] io::Error),
    /// It did so before.
    #[error(
        "the journal could not be brought to the disk earlier; end the agent and start a new generation"
    )]
    FailedBefore,
}

/// Why no new segment was begun. The old one goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RollError {
    /// The end of the old segment, or the new one, could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The old segment, or the folder, is not on the disk.
    #[error(transparent)]
    Sync(#[from] SyncError),
}
