//! How a journal ends, as far as its last segment tells.
//!
//! A chain cannot see that whole records were cut off its end. What can be seen is that the end of the agent is not
//! recorded. Reads the last segment only; decides nothing.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_journal::{KeeperEvent, Kind};

use crate::journal::source::{Item, Source, is_segment};

/// How the last generation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Exit,
    Lost,
    /// It may still run, or its end was cut off.
    NotRecorded,
    /// The last segment has not even a header.
    NoHeader,
}

impl Ending {
    /// Of the journal that `path` is or holds.
    pub(super) fn of(path: &Path) -> Self {
        let segments = segments(path);
        let last = segments.last().map_or(path, PathBuf::as_path);
        if fs::metadata(last).is_ok_and(|about| about.len() == 0) {
            return Ending::NoHeader;
        }
        let Ok(mut source) = Source::open(last) else {
            return Ending::NoHeader;
        };
        let mut ending = Ending::NotRecorded;
        while let Ok(Some(item)) = source.next() {
            let Item::Record(_, record) = item else {
                continue;
            };
            if record.kind == Kind::Keeper {
                match serde_json::from_slice(record.payload) {
                    Ok(KeeperEvent::Exit(_)) => ending = Ending::Exit,
                    Ok(KeeperEvent::Lost { .. }) => ending = Ending::Lost,
                    Ok(KeeperEvent::Open { .. }) => ending = Ending::NotRecorded,
                    _ => {}
                }
            }
        }
        ending
    }

    /// The word for programs; none if no end is recorded.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Ending::Exit => Some("exit"),
            Ending::Lost => Some("lost"),
            Ending::NotRecorded | Ending::NoHeader => None,
        }
    }

    /// What a person should know about it.
    pub(super) fn words(self) -> Option<&'static str> {
        match self {
            Ending::Exit | Ending::Lost => None,
            Ending::NotRecorded => Some(
                "no end recorded: it may still run, or its end was cut off; only seals (--key) show a clean cut",
            ),
            Ending::NoHeader => Some(
                "the last segment is empty: its writer was stopped, or it was emptied; only seals (--key) show a clean cut",
            ),
        }
    }
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
