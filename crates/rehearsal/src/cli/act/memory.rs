//! What the model has seen of files: enough to tell whether a file changed since, and whether it was seen whole.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::paths::changed_at;
use super::text::Text;

/// What is known of a file.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// The whole text as it was last seen; nothing if only a part was.
    pub(super) text: Option<String>,
    /// When the file was changed, as of then.
    pub(super) changed_at: u128,
    /// Whether the model knows it from its own change rather than from reading.
    pub(super) by_change: bool,
    /// Its place among the others.
    turn: u64,
}

impl Known {
    /// Whether the file changed after it was seen. Clocks of file systems are coarse, so two changes can have one time.
    fn is_outdated(&self, path: &Path, changed_at: u128) -> bool {
        let differs = |text: &String| Text::read(path).is_ok_and(|now| now.body != *text);
        changed_at > self.changed_at || self.text.as_ref().is_some_and(differs)
    }
}

/// How a file stands to what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Unknown,
    Current,
    Stale,
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
        let Ok(changed_at) = changed_at(path) else {
            return;
        };
        let mut files = self.files();
        let turn = files
            .values()
            .map(|known| known.turn + 1)
            .max()
            .unwrap_or(0);
        let known = Known {
            text,
            changed_at,
            by_change,
            turn,
        };
        files.insert(path.to_path_buf(), known);
    }

    pub(super) fn of(&self, path: &Path) -> Option<Known> {
        self.files().get(path).cloned()
    }

    /// How the file stands, given what it holds now. A file that was only touched is as it was.
    pub(super) fn standing(&self, path: &Path, now: &str) -> Standing {
        let Some(known) = self.of(path) else {
            return Standing::Unknown;
        };
        let stale = match &known.text {
            Some(text) => text != now,
            None => changed_at(path).is_ok_and(|at| at > known.changed_at),
        };
        if stale {
            Standing::Stale
        } else {
            Standing::Current
        }
    }

    /// The files that changed since they were seen, and not before that moment, in the order they were seen.
    pub(super) fn stale_since(&self, moment: u128) -> Vec<PathBuf> {
        let files = self.files();
        let mut stale: Vec<(u64, &PathBuf)> = files
            .iter()
            .filter(|(path, known)| {
                changed_at(path).is_ok_and(|at| at >= moment && known.is_outdated(path, at))
            })
            .map(|(path, known)| (known.turn, path))
            .collect();
        stale.sort_unstable();
        stale.into_iter().map(|(_, path)| path.clone()).collect()
    }

    /// Before the model speaks again it is told how files stand that it changed and others changed after it.
    pub(super) fn catch_up(&self) {
        let mut files = self.files();
        for (path, known) in files.iter_mut().filter(|(_, known)| known.by_change) {
            let Ok(at) = changed_at(path) else { continue };
            if known.is_outdated(path, at)
                && let Ok(text) = Text::read(path)
            {
                known.changed_at = at;
                known.text = Some(text.body);
            }
        }
    }

    fn files(&self) -> MutexGuard<'_, HashMap<PathBuf, Known>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
