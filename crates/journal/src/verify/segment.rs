//! One segment, held against its own heads.
//!
//! Owns the walk over its records. Invariant: the first fault that is told is the first record that differs from its
//! mark; without marks, the first whose number is out of order; without either, the range between two heads. A head of
//! version 1 has a hash beside its marks, and both must hold.

use std::ops::Range;
use std::path::Path;

use super::{Check, Fault, Stop, What, unreadable};
use crate::cursor::Cursor;
use crate::header::Header;
use crate::heads::{self, Head};
use crate::lines::{Lines, Piece};
use crate::marks::{self, Difference};
use crate::record::Record;

/// The walk over one segment.
pub(super) struct Walk<'a> {
    lines: &'a mut Lines,
    check: &'a mut Check,
    number: u32,
    generation: u32,
    first_seq: u64,
    next_seq: u64,
    /// The first number whose mark the next head holds: that of the last head; before there is one, that of the first record,
    /// or one less where the header is marked, too.
    range_start: u64,
    last_head: Option<Cursor>,
    /// The head before that, or the record before the segment.
    earlier_head: Cursor,
    /// Of the lines since.
    found: Vec<u32>,
    /// Out of order, as far as numbers tell. The next head knows better.
    suspect: Option<Fault>,
    /// What is doubtful about the segment before, or this one's header.
    doubt: Option<Fault>,
    torn: u64,
}

/// What is told of a segment that was gone through.
pub(super) struct Finished {
    /// Its last head, or the record before it.
    pub(super) last_head: Cursor,
    /// The head before that, or the record before it.
    pub(super) earlier_head: Cursor,
    /// Over the marks from there on.
    pub(super) mark: u32,
    /// How many bytes stand behind its last record.
    pub(super) torn: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        lines: &'a mut Lines,
        number: u32,
        header: &Header,
        marks: Vec<u32>,
        doubt: Option<Fault>,
        check: &'a mut Check,
    ) -> Self {
        Self {
            lines,
            check,
            number,
            generation: header.generation,
            first_seq: header.first_seq,
            next_seq: header.first_seq,
            range_start: header.first_seq.saturating_sub(marks.len() as u64),
            last_head: None,
            earlier_head: Cursor::new(header.generation, header.first_seq.saturating_sub(1)),
            found: marks,
            suspect: None,
            doubt,
            torn: 0,
        }
    }

    pub(super) fn records(&mut self, path: &Path) -> Result<(), Stop> {
        loop {
            match self.lines.next(usize::MAX) {
                Ok(Piece::Line(line)) => self.line(line)?,
                Ok(Piece::Long(_)) => {}
                Ok(Piece::End { behind }) => {
                    self.torn = behind;
                    return Ok(());
                }
                Err(error) => {
                    let fault = unreadable(self.number, self.check.verdict.end, path, error);
                    return Err(self.suspect.map_or(fault, Stop::Fault));
                }
            }
        }
    }

    pub(super) fn finish(self, is_newest: bool) -> Result<Finished, Stop> {
        if let Some(fault) = self.doubt.or(self.suspect) {
            return Err(fault.into());
        }
        if self.torn > 0 && !is_newest {
            return Err(Fault::new(self.check.verdict.end, What::TornTail).into());
        }
        Ok(Finished {
            last_head: self.last_head_or_before(),
            earlier_head: self.earlier_head,
            mark: marks::of_marks(&self.found),
            torn: self.torn,
        })
    }

    /// The last record that is vouched for: a head, or the one before the segment.
    fn last_head_or_before(&self) -> Cursor {
        let before = Cursor::new(self.generation, self.first_seq.saturating_sub(1));
        self.last_head.unwrap_or(before)
    }

    fn line(&mut self, line: Range<usize>) -> Result<(), Stop> {
        let bytes = self.lines.bytes(line.clone());
        let mark = marks::of(bytes);
        let mut seq = self.next_seq;
        let mut head = None;
        match Record::parse(bytes) {
            Ok(record) => {
                head = heads::head_of(&record);
                seq = record.seq;
                self.number_of(seq);
            }
            Err(_) => self.suspect(seq, What::Damaged),
        }
        let cursor = Cursor::new(self.generation, seq);
        if let Some(head) = head {
            self.head(cursor, &head, line.len() + 1)?;
            self.range_start = seq;
            self.earlier_head = self.last_head_or_before();
            self.last_head = Some(cursor);
            self.found.clear();
        }
        self.found.push(mark);
        self.next_seq = seq.saturating_add(1);
        self.check.verdict.end = cursor;
        self.check.verdict.records += 1;
        Ok(())
    }

    /// What the number of a record tells.
    fn number_of(&mut self, seq: u64) {
        if let Some(suspect) = &mut self.suspect {
            if suspect.what == What::Cut && suspect.cursor.seq == seq {
                suspect.what = What::Reordered;
            }
        } else if seq > self.next_seq {
            self.suspect(self.next_seq, What::Cut);
        } else if seq < self.next_seq {
            self.suspect(seq, What::Added);
        }
    }

    fn suspect(&mut self, seq: u64, what: What) {
        let fault = Fault::new(Cursor::new(self.generation, seq), what);
        self.suspect.get_or_insert(fault);
    }

    /// A head, whose line is `length` bytes long, says what stood before it.
    fn head(&mut self, at: Cursor, head: &Head, length: usize) -> Result<(), Stop> {
        let actual = self.lines.hash_before(length);
        let marked = head.marks.as_ref();
        let difference = marked.and_then(|marked| self.difference(at, marked, head));
        let are_marks = marked.is_some() && difference.is_none();
        let is_hash = |hash: &String| actual.is_some_and(|actual| actual.to_hex().as_str() == hash);
        let is_chain = head.hash.as_ref().map_or(are_marks, is_hash);
        if let (true, Some(doubt)) = (is_chain, self.doubt) {
            // The header is as it was written, so it is the segment before that is not.
            return Err(doubt.into());
        }
        match (is_chain, are_marks) {
            (true, true) => {
                let expected = Cursor::new(self.generation, self.next_seq);
                match self.suspect {
                    // Every line before it is as it was marked, so the number that is wrong is its own.
                    Some(_) if head.hash.is_none() && at != expected => {
                        return Err(Fault::new(expected, What::Changed).into());
                    }
                    Some(suspect) => return Err(suspect.into()),
                    None => {}
                }
                self.check.verdict.vouched = Some(at);
                if let Some(actual) = actual {
                    self.check.sealed(at, &actual)?;
                }
                Ok(())
            }
            // What stands before it is whole, so the marks in it are not.
            (true, false) => Err(Fault::new(at, What::Changed).into()),
            (false, false) => Err(difference
                .or(self.suspect)
                .unwrap_or(Fault::new(at, What::Changed))
                .into()),
            (false, true) => Err(self.unmarked(at).into()),
        }
    }

    /// The first record that is not the one that was marked.
    fn difference(&self, at: Cursor, marked: &[u32], head: &Head) -> Option<Fault> {
        let begins_alike = marked.first() == self.found.first();
        let is_as_long = marked.len() == self.found.len() && head.hash.is_none();
        let skip = match begins_alike || is_as_long {
            // Whatever number it has: those behind a record that was added may have been counted on.
            true => 0,
            // A head in between may have been made unknowable: these marks begin with it.
            false => {
                let begin = at.seq.saturating_sub(marked.len() as u64);
                usize::try_from(begin.saturating_sub(self.range_start)).unwrap_or(0)
            }
        };
        let skip = skip.min(self.found.len());
        let Some((place, difference)) = marks::compare(marked, &self.found[skip..]) else {
            // Marks that do not reach back say nothing of what stands before them.
            let from = self.last_head_or_before();
            let is_short = skip > 0 && head.hash.is_none();
            return is_short.then(|| Fault::new(at, What::Between { from }));
        };
        if let (0, 0, Some(last), None) = (skip, place, self.last_head, &head.hash) {
            // The head that vouched for what stands before it is not the one that was written.
            let from = self.earlier_head;
            return Some(Fault::new(last, What::Between { from }));
        }
        let seq = self.range_start.saturating_add((skip + place) as u64);
        if seq < self.first_seq {
            let header = Cursor::new(self.generation, self.first_seq);
            let segment = self.number;
            return Some(Fault::new(header, What::Header { segment }));
        }
        let what = match difference {
            Difference::Changed => What::Changed,
            Difference::Cut => What::Cut,
            Difference::Reordered => What::Reordered,
            Difference::Added => What::Added,
        };
        Some(Fault::new(Cursor::new(self.generation, seq), what))
    }

    /// All records are as they were marked, and still the hash is another one.
    fn unmarked(&self, at: Cursor) -> Fault {
        match self.last_head {
            Some(from) => Fault::new(at, What::Between { from }),
            None if self.doubt.is_some() => {
                let segment = self.number;
                Fault::new(at, What::Header { segment })
            }
            None => {
                let from = self.last_head_or_before();
                Fault::new(at, What::Between { from })
            }
        }
    }
}
