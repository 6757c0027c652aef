//! The heads of a journal: what a host signs.
//!
//! Owns their text and how they are found. Does not check them; that is `verify`'s. Invariant: the text is that of the event,
//! and is read back as one.

use std::path::Path;

use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::event::KeeperEvent;
use crate::marks;
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

/// Appends the text of a head. It holds nothing but digits, so it is written as it is: with thousands of marks that is a good
/// part of what a record costs.
pub(crate) fn append_text(hash: &blake3::Hash, of_records: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"event":"head","hash":""#);
    out.extend_from_slice(hash.to_hex().as_bytes());
    out.extend_from_slice(br#"","marks":""#);
    marks::append_text(of_records, out);
    out.extend_from_slice(br#""}"#);
}

/// How long the text of a head with so many marks is.
pub(crate) fn text_len(marks: usize) -> usize {
    r#"{"event":"head","hash":"","marks":""}"#.len() + 2 * blake3::OUT_LEN + 8 * marks
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_the_text_of_its_event() {
        let hash = blake3::hash(b"x");
        let mut text = Vec::new();
        append_text(&hash, &[0x12, 0xdead_beef], &mut text);
        let event = KeeperEvent::Head {
            hash: hash.to_hex().to_string(),
            marks: "00000012deadbeef".to_owned(),
        };
        assert_eq!(text, serde_json::to_vec(&event).unwrap());
        assert_eq!(text.len(), text_len(2));
    }
}
