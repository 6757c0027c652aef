//! Why the store could not do it.
//!
//! Owns [`StoreError`], and what a client is told of it. Invariant: whoever gets an error was not told that something is
//! stored; a full disk is always told as one, whichever call met it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ffi;

use crate::control::approval::Decided;
use crate::control::{ApprovalId, ControlError, Digest};

/// When a client may try again.
const RETRY_MS: u64 = 1000;

/// Why the store could not do it. Nothing of a job that ends with one is kept.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No room on the disk.
    #[error("the disk is full: nothing was stored; make room and try again")]
    NoSpace,
    /// SQLite said no.
    #[error("the database: {message} (code {code})")]
    Sqlite {
        /// SQLite's extended code.
        code: i32,
        /// Its words.
        message: String,
    },
    /// Another program writes into the file.
    #[error("another program holds the database: nothing was stored; close it there and try again")]
    Busy,
    /// A file could not be read or written.
    #[error("{what}: {source}")]
    Io {
        /// What was to be done.
        what: String,
        /// Why not.
        source: Arc<io::Error>,
    },
    /// The disk failed while a commit was brought to it. What is on it now shows when the database is opened again.
    #[error(
        "the disk failed under the database ({message}): look after the disk, then start the host again"
    )]
    Failed {
        /// SQLite's words.
        message: String,
    },
    /// A later build has written this database.
    #[error(
        "{path} was written by a newer build (its form is {found}, this build knows {known}): install that build again, or open the copy that it made beside it"
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its form.
        found: u32,
        /// The newest form that this build knows.
        known: u32,
    },
    /// The file is something else.
    #[error("{path} is not a database of this program: name another data folder")]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A stored value cannot be read.
    #[error(
        "a stored {what} cannot be read: {why}; put a copy of host.db back, or move it aside: sessions are found again by their journals, without names, rules and queues"
    )]
    Damaged {
        /// Which value.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// There is no such thing.
    #[error("there is no {what} {id}")]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        id: String,
    },
    /// The name is in use.
    #[error("there is a {what} {id} already: choose another id")]
    Taken {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        id: String,
    },
    /// It makes no sense as it is.
    #[error("{0}")]
    Invalid(String),
    /// The key was used for something else.
    #[error("the key `{0}` was used for another command: choose a new one")]
    KeyReused(String),
    /// Somebody was first.
    #[error("approval {id} was already decided by {}", first.by)]
    AlreadyDecided {
        /// Which.
        id: ApprovalId,
        /// The decision that holds.
        first: Box<Decided>,
    },
    /// The agent no longer wants an answer.
    #[error("approval {0} is withdrawn: the agent no longer waits for it")]
    Withdrawn(ApprovalId),
    /// The person saw something else.
    #[error("what was shown is not what is asked: look at it again")]
    Stale(Digest),
    /// Two agents on one conversation would both do what they are told.
    #[error("another session runs the conversation {0}: stop that one first")]
    ConversationLive(String),
    /// The job panicked.
    #[error("a write to the database went wrong inside of the program: nothing of it was stored")]
    Panicked,
    /// A job may not wait for another one.
    #[error("a job of the writer waits for the writer: use the connection it was given")]
    Nested,
    /// The host ends.
    #[error("the database is closed: the host is ending")]
    Closed,
}

impl StoreError {
    /// There is no such thing.
    pub fn not_found(what: &'static str, id: impl std::fmt::Display) -> Self {
        let id = id.to_string();
        Self::NotFound { what, id }
    }

    pub(super) fn io(what: impl Into<String>, source: io::Error) -> Self {
        if matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ) {
            return Self::NoSpace;
        }
        Self::Io {
            what: what.into(),
            source: Arc::new(source),
        }
    }

    /// Whether the job itself was refused, and the database is well.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. }
                | Self::Taken { .. }
                | Self::Invalid(_)
                | Self::KeyReused(_)
                | Self::AlreadyDecided { .. }
                | Self::Withdrawn(_)
                | Self::Stale(_)
                | Self::ConversationLive(_)
        )
    }

    /// Whether nothing may be written any more: a sync that failed is never tried again, since the system may have
    /// dropped what it could not write.
    pub(super) fn is_fatal(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(code, message) => {
                let message = message.unwrap_or_else(|| code.to_string());
                of_code(code.extended_code, message)
            }
            rusqlite::Error::FromSqlConversionFailure(_, _, why) => Self::Damaged {
                what: "value",
                why: why.to_string(),
            },
            // Times and amounts of clients: the database counts to 2^63.
            rusqlite::Error::ToSqlConversionFailure(_) => Self::Invalid(
                "a number is larger than can be kept: at most 9223372036854775807".into(),
            ),
            error => Self::Sqlite {
                code: error
                    .sqlite_error()
                    .map_or(ffi::SQLITE_ERROR, |code| code.extended_code),
                message: error.to_string(),
            },
        }
    }
}

fn of_code(code: i32, message: String) -> StoreError {
    match code {
        // The file of the shared index is made longer before it is used, which fails when there is no room.
        ffi::SQLITE_FULL | ffi::SQLITE_IOERR_SHMSIZE => StoreError::NoSpace,
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => StoreError::Failed { message },
        code => match code & 0xff {
            ffi::SQLITE_BUSY => StoreError::Busy,
            ffi::SQLITE_CORRUPT => StoreError::Damaged {
                what: "page",
                why: message,
            },
            _ => StoreError::Sqlite { code, message },
        },
    }
}

impl From<StoreError> for ControlError {
    fn from(error: StoreError) -> Self {
        let first = error.to_string();
        match error {
            StoreError::NoSpace => Self::NoSpace,
            StoreError::NotFound { what, id } => Self::not_found(what, id),
            StoreError::KeyReused(key) => Self::KeyReused { key },
            StoreError::Stale(now) => Self::Stale { now },
            StoreError::AlreadyDecided { first: holds, .. } => Self::Conflict {
                first,
                holds: serde_json::to_value(holds).ok(),
            },
            StoreError::Withdrawn(_)
            | StoreError::ConversationLive(_)
            | StoreError::Taken { .. } => Self::Conflict { first, holds: None },
            StoreError::Invalid(why) => Self::Invalid { why },
            // Only of a sync that failed it is not known what the disk holds.
            StoreError::Failed { .. } => Self::Unknown { why: first },
            _ => Self::Unavailable {
                why: first,
                retry_ms: RETRY_MS,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_one_wherever_it_was_met() {
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_SHMSIZE] {
            assert!(matches!(of_code(code, String::new()), StoreError::NoSpace));
        }
        let full = StoreError::io("copy", io::ErrorKind::StorageFull.into());
        assert_eq!(ControlError::from(full), ControlError::NoSpace);
    }

    #[test]
    fn a_client_is_told_that_nothing_was_done_unless_that_is_not_known() {
        let told = |code| ControlError::from(of_code(code, "x".to_owned()));
        for code in [
            ffi::SQLITE_BUSY_SNAPSHOT,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_IOERR_WRITE,
        ] {
            assert!(
                matches!(told(code), ControlError::Unavailable { .. }),
                "{code}"
            );
        }
        assert!(matches!(
            told(ffi::SQLITE_IOERR_FSYNC),
            ControlError::Unknown { .. }
        ));
    }

    #[test]
    fn a_sync_that_failed_is_the_end() {
        assert!(of_code(ffi::SQLITE_IOERR_FSYNC, String::new()).is_fatal());
        assert!(!of_code(ffi::SQLITE_IOERR_READ, String::new()).is_fatal());
        assert!(!StoreError::NoSpace.is_fatal());
    }
}
