//! Where checkpoints are kept.
//!
//! Owns the trait by which a caller stores them: files beside the journal, rows of a database, memory. A value is put
//! whole and read whole. Its place is a [`Key`], so nobody else can put something there under a name that happens to be the
//! same; as text it is short and plain (`blocks 0`, `fold 1-42`, `late 1-42`).

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use countersign_journal::Cursor;

/// A place on the shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A part of the list of blocks, by its number.
    Blocks(u32),
    /// The fold behind a record.
    Fold(Cursor),
    /// What began in the block behind a record and ended behind that block.
    Late(Cursor),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(part) => write!(f, "blocks {part}"),
            Self::Fold(behind) => write!(f, "fold {behind}"),
            Self::Late(behind) => write!(f, "late {behind}"),
        }
    }
}

/// Why the shelf fails.
#[derive(Debug, thiserror::Error)]
#[error("the checkpoints of the transcript: {why}; throw them away to have them made again")]
pub struct ShelfError {
    why: String,
    is_missing: bool,
}

impl ShelfError {
    pub(super) fn missing(key: Key) -> Self {
        Self {
            why: format!("`{key}` is not there or cannot be read"),
            is_missing: true,
        }
    }

    pub(super) fn is_missing(&self) -> bool {
        self.is_missing
    }
}

impl From<io::Error> for ShelfError {
    fn from(error: io::Error) -> Self {
        Self {
            why: error.to_string(),
            is_missing: false,
        }
    }
}

impl From<serde_json::Error> for ShelfError {
    fn from(error: serde_json::Error) -> Self {
        Self {
            why: error.to_string(),
            is_missing: false,
        }
    }
}

/// Values by their place.
pub trait Shelf {
    /// The value of that place.
    ///
    /// # Errors
    /// When it cannot be read. That it is not there is no error.
    fn get(&self, key: Key) -> Result<Option<Vec<u8>>, ShelfError>;

    /// Puts a value, in place of an earlier one.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn put(&mut self, key: Key, value: &[u8]) -> Result<(), ShelfError>;
}

/// A shelf in memory.
#[derive(Debug, Clone, Default)]
pub struct Memory(BTreeMap<Key, Vec<u8>>);

impl Memory {
    /// Bytes of all values.
    pub fn bytes(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// All values with their places.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &[u8])> {
        self.0.iter().map(|(key, value)| (*key, &**value))
    }
}

impl Shelf for Memory {
    fn get(&self, key: Key) -> Result<Option<Vec<u8>>, ShelfError> {
        Ok(self.0.get(&key).cloned())
    }

    fn put(&mut self, key: Key, value: &[u8]) -> Result<(), ShelfError> {
        self.0.insert(key, value.to_vec());
        Ok(())
    }
}

impl<S: Shelf + ?Sized> Shelf for &mut S {
    fn get(&self, key: Key) -> Result<Option<Vec<u8>>, ShelfError> {
        (**self).get(key)
    }

    fn put(&mut self, key: Key, value: &[u8]) -> Result<(), ShelfError> {
        (**self).put(key, value)
    }
}
