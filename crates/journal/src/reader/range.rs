//! A part of one record.
//!
//! Owns the way to the bytes of a payload that is too large to be held. Invariant: no more is kept than was asked for.

use std::ops::Range;
use std::path::Path;

use super::{Reader, around};
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::lines::Piece;
use crate::record::Record;

/// Bytes of the payload of record `at`, as far as it reaches.
///
/// # Errors
/// When there is no such record, or the journal cannot be read.
pub fn read_range(path: &Path, at: Cursor, range: Range<u64>) -> Result<Vec<u8>, ReadError> {
    let mut reader = Reader::open(path)?;
    let before = Cursor::new(at.generation, at.seq.saturating_sub(1));
    reader.seek(before)?;
    loop {
        let generation = reader.generation();
        let Some(current) = &mut reader.current else {
            return Err(ReadError::NoRecord(at));
        };
        let number = current.number;
        let piece = current.lines.next(0);
        match piece.map_err(|error| reader.fail(number, error))? {
            Piece::Line(line) => {
                let Some(current) = &reader.current else {
                    return Err(ReadError::NoRecord(at));
                };
                match Record::parse(current.lines.bytes(line)) {
                    Ok(record) if is_it(generation, record.seq, at) => {
                        return Ok(part(record.payload, 0, &range).to_vec());
                    }
                    // Damaged lines may stand in between.
                    Err(_) => {}
                    Ok(_) => return Err(ReadError::NoRecord(at)),
                }
            }
            Piece::Long(begin) => {
                if let Some(bytes) = reader.skim_for(at, begin, &range)? {
                    return Ok(bytes);
                }
            }
            Piece::End { behind } => {
                if !reader.leave(behind)? {
                    return Err(ReadError::NoRecord(at));
                }
            }
        }
    }
}

fn is_it(generation: u32, seq: u64, at: Cursor) -> bool {
    Cursor::new(generation, seq) == at
}

/// What of `bytes`, which begin at `from`, is within the range.
fn part<'a>(bytes: &'a [u8], from: u64, range: &Range<u64>) -> &'a [u8] {
    let place = |at: u64| {
        let at = at.saturating_sub(from).min(bytes.len() as u64);
        usize::try_from(at).unwrap_or(bytes.len())
    };
    let (start, end) = (place(range.start), place(range.end));
    &bytes[start..end.max(start)]
}

impl Reader {
    /// The part of a long line, if it is the record that is looked for; passes over it if it is none at all.
    fn skim_for(
        &mut self,
        at: Cursor,
        begin: Range<usize>,
        range: &Range<u64>,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        let generation = self.generation();
        let Some(current) = &mut self.current else {
            return Ok(None);
        };
        let number = current.number;
        let (around, parsed) = around(current.lines.bytes(begin));
        let is_it = match parsed {
            Ok((seq, ..)) if is_it(generation, seq, at) => true,
            Ok(_) => return Err(ReadError::NoRecord(at)),
            Err(_) => false,
        };
        let mut kept = Vec::new();
        let mut seen = 0;
        let skimmed = current.lines.skim(|bytes| {
            let skip = around.saturating_sub(seen).min(bytes.len());
            let from = (seen + skip).saturating_sub(around) as u64;
            seen += bytes.len();
            if is_it {
                kept.extend_from_slice(part(&bytes[skip..], from, range));
            }
        });
        match skimmed.map_err(|error| self.fail(number, error))? {
            None => Err(ReadError::NoRecord(at)),
            Some(_) => Ok(is_it.then_some(kept)),
        }
    }
}
