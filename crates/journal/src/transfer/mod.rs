//! Journals to and from other files: plain CLI lines, and recordings.
//!
//! Owns what becomes of a record on the way out, and of a line on the way in. Hides nothing: what is not to be seen is
//! taken out by whoever hands the file on. Invariant: the lines of an agent come back byte for byte.

mod export;
#[cfg(unix)]
mod import;

use std::io;

use countersign_wire::recording::RecordingError;

use crate::error::{AppendError, OpenError, ReadError, RollError, SyncError};

pub use export::{export_ndjson, export_recording};
#[cfg(unix)]
pub use import::{Imported, import_ndjson, import_recording};

/// Why a journal was not carried over whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The journal cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The journal cannot be begun.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The journal is not on the disk.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// No new segment could be begun.
    #[error(transparent)]
    Roll(#[from] RollError),
    /// The other file cannot be read or written.
    #[error("cannot read or write the other file: {0}")]
    Io(#[from] io::Error),
    /// The first line is no header of a recording.
    #[error("not a recording: its first line has no version; plain lines are imported as such")]
    NoRecording,
    /// The recording was written by a later build.
    #[error("the recording is of version {0}, and this build reads 1: use a newer build")]
    Version(u64),
    /// A line of a recording is none.
    #[error("line {line} of the recording: {why}")]
    Entry {
        /// Which.
        line: u64,
        /// What is wrong with it.
        why: RecordingError,
    },
    /// A line of a recording has a newline in it, which no journal can hold.
    #[error("line {line} of the recording holds a newline inside, which crossed no wire")]
    Newline {
        /// Which.
        line: u64,
    },
}
