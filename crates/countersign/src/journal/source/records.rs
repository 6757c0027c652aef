//! The records of a journal, one after the other.
//!
//! Copies each payload once, so that its generation can be told beside it.

use countersign_journal::{ReadError, Reader, Record, Step};

use super::Item;

#[derive(Debug)]
pub(super) struct Records {
    reader: Reader,
    payload: Vec<u8>,
}

impl Records {
    pub(super) fn new(reader: Reader) -> Self {
        Self {
            reader,
            payload: Vec::new(),
        }
    }

    pub(super) fn session(&self) -> &str {
        self.reader.session()
    }

    /// The next record; nothing where the journal ends for now.
    pub(super) fn next(&mut self) -> Result<Option<Item<'_>>, ReadError> {
        loop {
            let (seq, at, kind) = match self.reader.next()? {
                Step::Record(record) => {
                    self.payload.clear();
                    self.payload.extend_from_slice(record.payload);
                    (record.seq, record.at, record.kind)
                }
                Step::Damaged(damaged) => {
                    return Ok(Some(Item::Damaged(format!(
                        "segment {} at byte {}: {}",
                        damaged.segment, damaged.offset, damaged.flaw
                    ))));
                }
                Step::End => return Ok(None),
                // What was taken back was never there for whoever reads from the beginning.
                _ => continue,
            };
            let record = Record {
                seq,
                at,
                kind,
                payload: &self.payload,
            };
            return Ok(Some(Item::Record(self.reader.generation(), record)));
        }
    }
}
