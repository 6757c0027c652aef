//! To any place of a journal.
//!
//! Owns which segment holds a cursor and where in it. Invariant: the next record is the first one behind the cursor; a
//! cursor that is behind the end of its generation is answered with where that end is.

use std::ops::Range;
use std::path::Path;

use super::index::Index;
use super::upcoming::Upcoming;
use super::{Place, Reader, around};
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::folder;
use crate::header::Header;
use crate::lines::{Lines, Piece};
use crate::record::Record;

/// What was found in a segment.
struct Reached {
    /// The last record at or before the one that was looked for, or the one before the segment.
    last: u64,
    /// Whether there is a record behind it.
    is_more: bool,
}

impl Reader {
    /// Goes behind `after`. The next step is [`super::Step::Rewound`] if its generation does not reach that far.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn seek(&mut self, after: Cursor) -> Result<(), ReadError> {
        self.current = None;
        self.next = None;
        self.rewound = None;
        self.damaged.clear();
        self.cursor = after;
        let dir = match &self.place {
            Place::Folder(dir) => dir.clone(),
            Place::File(_) => {
                return self.seek_in_file(after);
            }
        };
        let mut chosen = None;
        // Backwards, as most look for what is new.
        let numbers = folder::segments(&dir).map_err(|error| ReadError::io(&dir, error))?;
        for number in numbers.iter().rev() {
            let Some(upcoming) = Upcoming::of(&dir, *number)? else {
                continue;
            };
            let is_behind = match &upcoming.header {
                Ok(header) => {
                    let first = (header.generation, header.first_seq);
                    first > (after.generation, after.seq.saturating_add(1))
                }
                Err(_) => true,
            };
            if !is_behind {
                return self.seek_in(&dir, upcoming, after, chosen);
            }
            chosen = Some(upcoming);
        }
        // Before everything, or there is nothing yet.
        if let Some(first) = chosen {
            self.enter(first);
        } else if after.seq > 0 {
            self.cursor = Cursor::START;
            self.rewound = Some(Cursor::START);
        }
        Ok(())
    }

    fn seek_in_file(&mut self, after: Cursor) -> Result<(), ReadError> {
        if !self.begin()? {
            return Ok(());
        }
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        if current.generation > after.generation {
            return Ok(());
        }
        let seq = match current.generation < after.generation {
            true => u64::MAX,
            false => after.seq,
        };
        let number = current.number;
        let reached = pass(&mut current.lines, seq, 0, &mut Index::default());
        let reached = reached.map_err(|error| self.fail(number, error))?;
        self.settle(after, &reached);
        Ok(())
    }

    /// The place is in this segment, or between it and the one behind.
    fn seek_in(
        &mut self,
        dir: &Path,
        upcoming: Upcoming,
        after: Cursor,
        behind: Option<Upcoming>,
    ) -> Result<(), ReadError> {
        let number = upcoming.number;
        let Ok(header) = upcoming.header.clone() else {
            self.enter(upcoming);
            return Ok(());
        };
        let is_its_own = header.generation == after.generation;
        let of_behind = behind.as_ref().and_then(Upcoming::generation);
        let is_behind_its_own = of_behind == Some(after.generation);
        if let Some(behind) = behind.filter(|_| !is_its_own)
            && (is_behind_its_own || after.seq == 0)
        {
            // Before the first record of its generation: nothing of this segment is behind it.
            self.enter(behind);
            return Ok(());
        }
        let seq = if is_its_own { after.seq } else { u64::MAX };
        self.enter(upcoming);
        let reached = self.go_behind(dir, number, &header, seq)?;
        // With another segment of its generation behind, records are missing in the middle, not at the end.
        if !is_behind_its_own && after.seq > 0 {
            self.settle(after, &reached);
        }
        Ok(())
    }

    /// Whether the place that was asked for is there.
    fn settle(&mut self, after: Cursor, reached: &Reached) {
        let to = Cursor::new(self.generation(), reached.last);
        if !reached.is_more && to < after {
            self.cursor = to;
            self.rewound = Some(to);
        }
    }

    /// Goes behind record `seq` of the segment that was entered, with the help of its index.
    fn go_behind(
        &mut self,
        dir: &Path,
        number: u32,
        header: &Header,
        seq: u64,
    ) -> Result<Reached, ReadError> {
        let before = header.first_seq.saturating_sub(1);
        let header = header.line();
        let header = header.as_bytes();
        let fail = |error| ReadError::io(&folder::plain(dir, number), error);
        let Some(current) = &mut self.current else {
            return Ok(Reached {
                last: before,
                is_more: false,
            });
        };
        let lines = &mut current.lines;
        let mut index = Index::load(dir, number, header);
        if let Some(entry) = index.before(seq) {
            lines.go_to(entry.offset).map_err(fail)?;
            if is_at(lines, entry.seq).map_err(fail)? {
                let reached = pass(lines, seq, before, &mut index).map_err(fail)?;
                index.save(dir, number);
                return Ok(reached);
            }
            // Not of this segment, or of what it was before it was cut.
            index = Index::empty(header);
        }
        lines.go_to(header.len() as u64).map_err(fail)?;
        let reached = pass(lines, seq, before, &mut index).map_err(fail)?;
        index.save(dir, number);
        Ok(reached)
    }
}

/// Whether record `seq` begins here.
fn is_at(lines: &mut Lines, seq: u64) -> std::io::Result<bool> {
    let is_it = |lines: &Lines, bytes: Range<usize>| {
        Record::parse(lines.bytes(bytes)).is_ok_and(|record| record.seq == seq)
    };
    Ok(match lines.next(0)? {
        Piece::Line(line) => {
            let found = is_it(lines, line.clone());
            lines.give_back(&line);
            found
        }
        Piece::Long(begin) => is_it(lines, begin),
        Piece::End { .. } => false,
    })
}

/// Goes behind record `seq`.
fn pass(lines: &mut Lines, seq: u64, before: u64, index: &mut Index) -> std::io::Result<Reached> {
    let mut last = before;
    loop {
        let offset = lines.offset();
        match lines.next(0)? {
            Piece::Line(line) => {
                // What is no record is passed over with those before it.
                let found = Record::parse(lines.bytes(line.clone())).map(|record| record.seq);
                if let Ok(found) = found {
                    if found > seq {
                        lines.give_back(&line);
                        return Ok(Reached {
                            last,
                            is_more: true,
                        });
                    }
                    index.note(found, offset);
                    last = found;
                }
            }
            Piece::Long(begin) => {
                let found = around(lines.bytes(begin)).1;
                if let Ok((found, ..)) = found {
                    if found > seq {
                        return Ok(Reached {
                            last,
                            is_more: true,
                        });
                    }
                    index.note(found, offset);
                    last = found;
                }
                if lines.skim(|_| {})?.is_none() {
                    return Ok(Reached {
                        last,
                        is_more: false,
                    });
                }
            }
            Piece::End { .. } => {
                return Ok(Reached {
                    last,
                    is_more: false,
                });
            }
        }
    }
}
