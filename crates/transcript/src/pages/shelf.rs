//! Where checkpoints are kept.
//!
//! Owns the trait by which a caller stores them: files beside the journal, rows of a database, memory. A value is put
//! whole and read whole; names are short and plain (`index`, `fold 1-42`, `late 1-42`).

use std::collections::BTreeMap;
use std::io;

/// Why the shelf fails.
#[derive(Debug, thiserror::Error)]
#[error("the checkpoints of the transcript: {why}; throw them away to have them made again")]
pub struct ShelfError {
    why: String,
    is_missing: bool,
}

impl ShelfError {
    pub(super) fn missing(name: &str) -> Self {
        Self {
            why: format!("`{name}` is not there or cannot be read"),
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

/// Values by name.
pub trait Shelf {
    /// The value of that name.
    ///
    /// # Errors
    /// When it cannot be read. That it is not there is no error.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, ShelfError>;

    /// Puts a value, in place of an earlier one.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn put(&mut self, name: &str, value: &[u8]) -> Result<(), ShelfError>;
}

/// A shelf in memory.
#[derive(Debug, Clone, Default)]
pub struct Memory(BTreeMap<String, Vec<u8>>);

impl Memory {
    /// Bytes of all values.
    pub fn bytes(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// All values by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

impl Shelf for Memory {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, ShelfError> {
        Ok(self.0.get(name).cloned())
    }

    fn put(&mut self, name: &str, value: &[u8]) -> Result<(), ShelfError> {
        self.0.insert(name.to_owned(), value.to_vec());
        Ok(())
    }
}

impl<S: Shelf + ?Sized> Shelf for &mut S {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, ShelfError> {
        (**self).get(name)
    }

    fn put(&mut self, name: &str, value: &[u8]) -> Result<(), ShelfError> {
        (**self).put(name, value)
    }
}
