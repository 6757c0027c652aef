//! What the model has seen of files: enough to tell whether a file changed since, and whether it was seen whole.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::paths::changed_at;

/// What is known of a file.
#[derive(Debug, Clone)]
struct Known {
    /// The whole text as it was last seen; nothing if only a part was.
    text: Option<String>,
    /// When the file was changed, as of then.
    changed_at: u128,
    /// Whether the model knows it from its own change rather than from reading: it is told what becomes of it.
    by_change: bool,
}

/// Files by path.
#[derive(Debug, Default)]
pub(super) struct Memory {
    files: Mutex<HashMap<PathBuf, Known>>,
}

impl Memory {
    /// The model has read the file: whole, if the text is given.
    pub(super) fn read(&self, path: &Path, whole: Option<String>) {
        self.set(path, whole, false);
    }

    /// The model has changed the file. It knows all of it if it did before, or wrote all of it.
    pub(super) fn changed(&self, path: &Path, whole: Option<String>) {
        self.set(path, whole, true);
    }

    fn set(&self, path: &Path, text: Option<String>, by_change: bool) {
        if let Ok(changed_at) = changed_at(path) {
            let known = Known {
                text,
                changed_at,
                by_change,
            };
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            files.insert(path.to_path_buf(), known);
        }
    }

    fn of(&self, path: &Path) -> Option<Known> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.get(path).cloned()
    }

    /// Whether the model knows all of the file as it is now.
    pub(super) fn knows_all(&self, path: &Path, now: &str) -> bool {
        self.of(path)
            .is_some_and(|known| known.text.as_deref() == Some(now))
    }

    /// Whether somebody else changed the file after the model read it. One that was only touched is as it was.
    pub(super) fn is_stale(&self, path: &Path, now: &str) -> bool {
        self.of(path).is_some_and(|known| match known.text {
            _ if known.by_change => false,
            Some(text) => text != now,
            None => changed_at(path).is_ok_and(|at| at > known.changed_at),
        })
    }
}
