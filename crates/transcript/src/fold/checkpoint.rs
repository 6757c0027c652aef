//! A fold, stored.
//!
//! Owns the version of the stored form. A checkpoint is derived: one that this build cannot read is thrown away, and the
//! journal is folded again.

use countersign_journal::Cursor;
use serde::{Deserialize, Serialize};

use super::Fold;
use crate::id::cursor;

/// The version of the stored form. It rises whenever the fold keeps or makes something else.
const VERSION: u32 = 1;

/// A fold behind a record, to go on from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    #[serde(with = "cursor")]
    cursor: Cursor,
    fold: Box<Fold>,
}

/// A checkpoint that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the checkpoint is of version {found}, this build makes {VERSION}: fold the journal again from its start"
)]
pub struct BadCheckpoint {
    /// The version found.
    pub found: u32,
}

impl Checkpoint {
    /// The last record that is in it.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }
}

impl Fold {
    /// The fold as it stands, to be stored.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            version: VERSION,
            cursor: self.cursor,
            fold: Box::new(self.clone()),
        }
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    /// When it was made by a build that folds differently.
    pub fn resume(checkpoint: Checkpoint) -> Result<Self, BadCheckpoint> {
        match checkpoint.version {
            VERSION => Ok(*checkpoint.fold),
            found => Err(BadCheckpoint { found }),
        }
    }
}
