//! What is said about a journal: how much was looked at, and the first thing that is wrong.
//!
//! Owns the words. Decides nothing.

use std::fmt;

use crate::cursor::Cursor;

/// How a journal stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Verdict {
    /// How many records are in order.
    pub records: u64,
    /// How many generations were seen.
    pub generations: u32,
    /// How many segments are in order.
    pub segments: u32,
    /// How many heads vouch for what stands before them.
    pub heads: u64,
    /// The last head that vouches.
    pub vouched: Option<Cursor>,
    /// The last head that is sealed; none without a key.
    pub sealed: Option<Cursor>,
    /// The last record that was seen.
    pub end: Cursor,
    /// Bytes of an unfinished record at the very end: what a killed writer leaves, and the next one cuts.
    pub torn: u64,
    /// The first thing that is wrong. Nothing behind it was looked at.
    pub fault: Option<Fault>,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.fault.is_none()
    }
}

/// Something that is not as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The record; for [`What::Between`] the end of the range.
    pub cursor: Cursor,
    /// What is wrong with it.
    pub what: What,
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The record is not the one that was written.
    Changed,
    /// The record is missing.
    Cut,
    /// The record stands at another place than it was written to.
    Reordered,
    /// A record that was not written.
    Added,
    /// No record at all.
    Damaged,
    /// Something behind `from` and up to the record was changed, and what would say which was changed with it.
    Between {
        /// The last record that is vouched for.
        from: Cursor,
    },
    /// The first line of the segment.
    Header {
        /// Its number.
        segment: u32,
    },
    /// A segment cannot be decompressed from this record on.
    Unreadable {
        /// Its number.
        segment: u32,
    },
    /// The seal of this head is by none of the keys, or a line of the seals behind it cannot be read.
    BadSeal,
    /// Behind the record stands the beginning of another one, and yet there is a later segment.
    TornTail,
}

impl Fault {
    pub(super) fn new(cursor: Cursor, what: What) -> Self {
        Self { cursor, what }
    }

    /// Whether what stands up to this record is beyond doubt.
    pub(super) fn is_behind(&self, at: Cursor) -> bool {
        match self.what {
            What::Between { from } => at <= from,
            // What is torn stands behind it.
            What::TornTail => at <= self.cursor,
            _ => at < self.cursor,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cursor = self.cursor;
        match self.what {
            What::Changed => write!(f, "record {cursor} was changed"),
            What::Cut => write!(f, "record {cursor} was cut out"),
            What::Reordered => write!(f, "record {cursor} was moved to another place"),
            What::Added => write!(f, "record {cursor} was added"),
            What::Damaged => write!(f, "in place of record {cursor} stands what is no record"),
            What::Between { from } => {
                write!(
                    f,
                    "something behind record {from}, up to record {cursor}, was changed"
                )
            }
            What::Header { segment } => {
                write!(
                    f,
                    "the header of segment {segment}, at record {cursor}, was changed"
                )
            }
            What::Unreadable { segment } => {
                write!(
                    f,
                    "segment {segment} cannot be decompressed from record {cursor} on"
                )
            }
            What::BadSeal => write!(f, "the seal at record {cursor} is by no key that was given"),
            What::TornTail => write!(f, "the end of the segment behind record {cursor} is torn"),
        }
    }
}
