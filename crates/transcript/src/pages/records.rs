//! The records of a journal with the generation they belong to.
//!
//! Owns a buffer: a segment tells its generation when it is entered, which is only known once a record of it is out. What
//! is no record is passed over; `verify` reports it.

use countersign_journal::{Cursor, Reader, Record, Step};

use super::PageError;

/// What comes next.
pub(super) enum Next<'a> {
    Record(u32, Record<'a>),
    Rewound(Cursor),
    End,
}

/// A reader and the payload of its last record.
pub(super) struct Records<'r> {
    reader: &'r mut Reader,
    payload: Vec<u8>,
}

impl<'r> Records<'r> {
    /// Behind that record.
    pub(super) fn after(reader: &'r mut Reader, after: Cursor) -> Result<Self, PageError> {
        reader.seek(after)?;
        Ok(Self {
            reader,
            payload: Vec::new(),
        })
    }

    pub(super) fn seek(&mut self, after: Cursor) -> Result<(), PageError> {
        Ok(self.reader.seek(after)?)
    }

    pub(super) fn next(&mut self) -> Result<Next<'_>, PageError> {
        let (seq, at, kind) = loop {
            match self.reader.next()? {
                Step::Record(record) => {
                    self.payload.clear();
                    self.payload.extend_from_slice(record.payload);
                    break (record.seq, record.at, record.kind);
                }
                Step::Large(large) => {
                    let cursor = Cursor::new(self.reader.generation(), large.seq);
                    return Err(PageError::Large(cursor));
                }
                Step::Rewound { to } => return Ok(Next::Rewound(to)),
                Step::End => return Ok(Next::End),
                _ => {}
            }
        };
        let record = Record {
            seq,
            at,
            kind,
            payload: &self.payload,
        };
        Ok(Next::Record(self.reader.generation(), record))
    }
}
