//! The heads of a journal: what a host signs.
//!
//! Owns how they are found. Does not check them; that is `verify`'s.

use std::path::Path;

use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::event::KeeperEvent;
use crate::reader::{Reader, Step};
use crate::record::{Kind, Record};

/// A head and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadAt {
    /// The head record.
    pub cursor: Cursor,
    /// BLAKE3 of its segment up to it, as hex.
    pub hash: String,
}

/// All heads behind a cursor, in order.
///
/// # Errors
/// When the journal cannot be read.
pub fn heads(path: &Path, after: Cursor) -> Result<Vec<HeadAt>, ReadError> {
    let mut reader = Reader::open(path)?;
    reader.seek(after)?;
    let mut heads = Vec::new();
    loop {
        let generation = reader.generation();
        match reader.next()? {
            Step::Record(record) => {
                if let Some((hash, _)) = head_of(&record) {
                    let seq = record.seq;
                    let cursor = reader.cursor();
                    debug_assert!(cursor.seq == seq && cursor.generation >= generation);
                    heads.push(HeadAt { cursor, hash });
                }
            }
            Step::End => return Ok(heads),
            _ => {}
        }
    }
}

/// Hash and marks, if the record is a head.
pub(crate) fn head_of(record: &Record<'_>) -> Option<(String, String)> {
    // Most records are none, and are not parsed for it.
    if record.kind != Kind::Keeper || !record.payload.starts_with(b"{\"event\":\"head\"") {
        return None;
    }
    match serde_json::from_slice(record.payload) {
        Ok(KeeperEvent::Head { hash, marks }) => Some((hash, marks)),
        _ => None,
    }
}
