//! Why something did not go to the trash, or did not come back.
//!
//! Owns [`TrashError`]. Invariant: each says what is still where, and what to do next.

use std::io;
use std::path::{Path, PathBuf};

use super::TrashId;

/// What went wrong with the trash. Nothing was deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrashError {
    /// Nothing lies at that path.
    #[error("there is nothing at {}", .0.display())]
    NotThere(PathBuf),
    /// The path cannot be put into the trash.
    #[error("{} cannot go to the trash: {why}", .path.display())]
    Refused {
        /// The path.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// The trash has no such thing.
    #[error("the trash has no {0}: it was restored or emptied")]
    NoEntry(TrashId),
    /// Something else is where it was.
    #[error("{} is taken: move that away, or restore to another place", .0.display())]
    Occupied(PathBuf),
    /// It changed while it was copied to another disk.
    #[error("{} changed while it was copied and was left where it is: end what writes there and try again", .0.display())]
    Changed(PathBuf),
    /// The copy is whole, but the original could not be removed entirely.
    #[error("{} is in the trash as {id}, but the original could not be removed ({source}): remove what is left of it by hand", .path.display())]
    LeftBehind {
        /// Where the copy is.
        id: TrashId,
        /// What was not removed.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Emptying was asked for by nobody.
    #[error("the trash is emptied only when a person says so: name who does")]
    NoWord,
    /// The file system said no.
    #[error("{}: {source}", .path.display())]
    Io {
        /// What it was about.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl TrashError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Whether there is no room on the disk.
    pub fn is_no_space(&self) -> bool {
        let (Self::Io { source, .. } | Self::LeftBehind { source, .. }) = self else {
            return false;
        };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}
