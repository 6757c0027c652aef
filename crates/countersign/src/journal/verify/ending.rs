//! How a journal ends, as far as the last segment that has begun tells.
//!
//! A chain cannot see that whole records were cut off its end. What can be seen is that the end of the agent is not
//! recorded, and that a segment was made in which nothing stands. Reads that one segment; decides nothing.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use countersign_journal::{KeeperEvent, Kind};

use crate::journal::source::{Item, Source, is_segment};

/// No header is longer.
const LONGEST_HEADER: u64 = 1 << 16;

/// How the last generation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    /// The word for its end. None: it may still run, or its end was cut off.
    end: Option<&'static str>,
    /// Behind the segment that tells stands one without a header.
    is_last_empty: bool,
}

impl Ending {
    /// Of the journal that `path` is or holds.
    pub(super) fn of(path: &Path) -> Self {
        let mut files = segments(path);
        if files.is_empty() {
            files.push(path.to_owned());
        }
        // One that was made on a full disk has not begun, and its writer went on in the one before.
        let begun = files.iter().rposition(|file| has_begun(file));
        Self {
            end: begun.and_then(|at| end_in(&files[at])),
            is_last_empty: begun.is_none_or(|at| at + 1 < files.len()),
        }
    }

    /// The word for programs; none if no end is recorded.
    pub(super) fn name(self) -> Option<&'static str> {
        self.end
    }

    /// What a person should know about it.
    pub(super) fn words(self) -> Option<&'static str> {
        match self.end {
            _ if self.is_last_empty => Some(
                "the last segment is empty: its writer was stopped or had no room for it, or it was emptied; only seals (--key) show a clean cut",
            ),
            None => Some(
                "no end recorded: it may still run, or its end was cut off; only seals (--key) show a clean cut",
            ),
            Some(_) => None,
        }
    }
}

/// Whether a segment has its first line. One that is compressed was closed.
fn has_begun(segment: &Path) -> bool {
    if segment
        .extension()
        .is_some_and(|extension| extension == "zst")
    {
        return true;
    }
    let Ok(file) = File::open(segment) else {
        return false;
    };
    let mut line = Vec::new();
    let read = BufReader::new(file.take(LONGEST_HEADER)).read_until(b'\n', &mut line);
    read.is_ok() && line.ends_with(b"\n")
}

/// The word for the end that a segment tells.
fn end_in(segment: &Path) -> Option<&'static str> {
    let mut source = Source::open(segment).ok()?;
    let mut end = None;
    while let Ok(Some(item)) = source.next() {
        let Item::Record(_, record) = item else {
            continue;
        };
        if record.kind == Kind::Keeper {
            match serde_json::from_slice(record.payload) {
                Ok(KeeperEvent::Exit(_)) => end = Some("exit"),
                Ok(KeeperEvent::Lost { .. }) => end = Some("lost"),
                Ok(KeeperEvent::Open { .. }) => end = None,
                _ => {}
            }
        }
    }
    end
}

/// The segments of a journal, in order.
pub(super) fn segments(path: &Path) -> Vec<PathBuf> {
    let inner = path.join("journal");
    let folder = if inner.is_dir() { &inner } else { path };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_segment))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}
