//! The heads of a journal: their text, and what a host signs of them.
//!
//! Owns their text and what is told of each. Whether what stands before a head is what was marked is `verify`'s to say, and only
//! a head of which it says so is told here. Invariant: the text is that of the event, and is read back as one.

use std::path::Path;

use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::event::KeeperEvent;
use crate::marks;
use crate::record::{Kind, Record};
use crate::seal::Seal;
use crate::verify::{self, Fault};

/// A head, where it stands, and the hash of all that stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadAt {
    /// The head record.
    pub cursor: Cursor,
    /// Over all segments before its own, as hex; zeros for the first.
    pub before: String,
    /// Over those, and its segment up to it, as hex.
    pub hash: String,
}

/// Heads that a host can sign.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heads {
    /// In order. As far as can be told, what stands before each is as it was marked.
    pub heads: Vec<HeadAt>,
    /// What is not as it was written: the first of it, behind the last of them.
    pub fault: Option<Fault>,
}

/// All heads behind the last seal, in order: those of the journal in a session folder or a journal folder. Reads from the
/// beginning of the segment of that seal, or of the journal where the seal does not say how it stood there. A seal that the
/// journal does not bear out is a fault, and nothing is told behind it. Whether it is one's own, the caller has looked.
///
/// # Errors
/// When the journal cannot be read.
pub fn heads(path: &Path, last: Option<&Seal>) -> Result<Heads, ReadError> {
    verify::heads_behind(path, last)
}

/// Appends the text of a head. It holds nothing but digits, so it is written as it is: with thousands of marks that is a good
/// part of what a record costs.
pub(crate) fn append_text(of_lines: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"event":"head","marks":""#);
    let begin = out.len();
    marks::append_text(of_lines, out);
    let sum = marks::of(&out[begin..]);
    out.extend_from_slice(br#"","sum":""#);
    marks::append_text(&[sum], out);
    out.extend_from_slice(br#""}"#);
}

/// How long the text of a head with so many marks is.
pub(crate) fn text_len(marks: usize) -> usize {
    r#"{"event":"head","marks":"","sum":""}"#.len() + 8 * (marks + 1)
}

/// What a head says.
pub(crate) struct Head {
    /// In version 1, over its segment up to it.
    pub(crate) hash: Option<String>,
    /// Of the lines before it. None: they are not as they were written.
    pub(crate) marks: Option<Vec<u32>>,
}

/// What the record says, if it is a head.
pub(crate) fn head_of(record: &Record<'_>) -> Option<Head> {
    // Most records are none, and are not parsed for it.
    if record.kind != Kind::Keeper || !record.payload.starts_with(b"{\"event\":\"head\"") {
        return None;
    }
    match serde_json::from_slice(record.payload) {
        Ok(KeeperEvent::Head { hash, marks, sum }) => {
            let is_sum =
                |sum: &String| marks::from_text(sum) == Some(vec![marks::of(marks.as_bytes())]);
            let is_whole = sum.as_ref().map_or(hash.is_some(), is_sum);
            let marks = marks::from_text(&marks).filter(|_| is_whole);
            Some(Head { hash, marks })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_the_text_of_its_event() {
        let mut text = Vec::new();
        append_text(&[0x12, 0xdead_beef], &mut text);
        let event = KeeperEvent::Head {
            hash: None,
            marks: "00000012deadbeef".to_owned(),
            sum: Some(format!("{:08x}", marks::of(b"00000012deadbeef"))),
        };
        assert_eq!(text, serde_json::to_vec(&event).unwrap());
        assert_eq!(text.len(), text_len(2));
    }
}
