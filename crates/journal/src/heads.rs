//! The heads of a journal: what a host signs.
//!
//! Owns how they are found. Does not check them; that is `verify`'s.

use std::path::Path;

use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::event::KeeperEvent;
use crate::reader::{Reader, Step};
use crate::record::{Kind, Record};

/// No head is longer: it has eight bytes for each record since the last one.
const LONGEST: usize = 16 << 20;

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
    let mut reader = Reader::open(path)?.with_max_inline(LONGEST);
    reader.seek(after)?;
    let mut heads = Vec::new();
    loop {
        match reader.next()? {
            Step::Record(record) => {
                if let Some((hash, _)) = head_of(&record) {
                    let cursor = reader.cursor();
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
