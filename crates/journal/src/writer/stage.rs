//! Records that are numbered and not yet written, and the marks of those that are.
//!
//! Owns marks and heads. Touches no file. Invariants: what is discarded leaves no trace, its numbers are given out again; each
//! line is marked once, and stands in one head; a long payload that was handed over is never copied. Marks are made of many
//! lines together, when the batch is written: right behind its copy a line would have to be waited for.

use std::io::IoSlice;

use super::front::{self, Front};
use crate::heads;
use crate::marks;
use crate::record::Kind;

/// What is kept of the buffer at rest.
const KEPT: usize = 64 << 10;

/// A payload from here on is written from where it is.
const LARGE: usize = 64 << 10;

/// So many payloads stand apart, so that a write takes all pieces at once; those behind are copied.
const MOST_APART: usize = 256;

/// Stands in the text at this place.
struct Apart {
    place: usize,
    payload: Vec<u8>,
}

/// The state up to the last settled record.
struct Settled {
    seq: u64,
    at: u64,
    marks: usize,
}

pub(crate) struct Stage {
    text: Vec<u8>,
    apart: Vec<Apart>,
    /// Where staged records end in the text, newline included, as far as they have no marks.
    ends: Vec<usize>,
    /// What of the text is in the marks, and how many payloads that stand apart.
    taken: (usize, usize),
    /// One for each line from the last settled head on.
    marks: Vec<u32>,
    /// Where the marks begin that no staged head holds.
    marks_from: usize,
    head_every: usize,
    front: Front,
    last_kind: Option<Kind>,
    settled: Settled,
    /// A mark of nothing: to find out what the processor can is dear beside a short line.
    mark: crc32fast::Hasher,
}

impl Stage {
    /// Goes on behind record `seq`, whose time was `at`.
    pub(crate) fn new(seq: u64, at: u64, head_every: u32) -> Self {
        Self {
            text: Vec::new(),
            apart: Vec::new(),
            ends: Vec::new(),
            taken: (0, 0),
            marks: Vec::new(),
            marks_from: 0,
            head_every: (head_every as usize).max(2),
            front: Front::new(seq, at),
            last_kind: None,
            settled: Settled { seq, at, marks: 0 },
            mark: crc32fast::Hasher::new(),
        }
    }

    /// Goes on in a segment that has lines: the marks from its last head on.
    pub(crate) fn resume(&mut self, marks: Vec<u32>) {
        self.settled.marks = marks.len();
        self.marks = marks;
    }

    /// A new segment begins with this header, which is written.
    pub(crate) fn begin_segment(&mut self, header: &[u8]) {
        debug_assert!(self.is_empty());
        self.marks = vec![marks::of(header.trim_ascii_end())];
        self.marks_from = 0;
        self.settled.marks = 1;
    }

    /// The newest number that was given out.
    pub(crate) fn seq(&self) -> u64 {
        self.front.seq()
    }

    pub(crate) fn at(&self) -> u64 {
        self.front.at()
    }

    /// The newest number that was written.
    pub(crate) fn settled_seq(&self) -> u64 {
        self.settled.seq
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// How many bytes wait.
    pub(crate) fn staged_len(&self) -> u64 {
        let apart: usize = self.apart.iter().map(|apart| apart.payload.len()).sum();
        (self.text.len() + apart) as u64
    }

    pub(crate) fn push(&mut self, at: u64, kind: Kind, payload: &[u8]) -> u64 {
        self.head_if_due(at, kind);
        self.begin(at, kind, payload.len());
        self.text.extend_from_slice(payload);
        self.finish(kind)
    }

    pub(crate) fn push_owned(&mut self, at: u64, kind: Kind, payload: Vec<u8>) -> u64 {
        if payload.len() < LARGE || self.apart.len() >= MOST_APART {
            return self.push(at, kind, &payload);
        }
        self.head_if_due(at, kind);
        self.begin(at, kind, 0);
        let place = self.text.len();
        self.apart.push(Apart { place, payload });
        self.finish(kind)
    }

    /// A record that says what stands before it.
    pub(crate) fn head(&mut self, at: u64) -> u64 {
        self.take();
        let length = heads::text_len(self.marks.len() - self.marks_from);
        self.begin(at, Kind::Keeper, length);
        heads::append_text(&self.marks[self.marks_from..], &mut self.text);
        // The next head holds the mark of this one, too.
        self.marks_from = self.marks.len();
        self.finish(Kind::Keeper)
    }

    /// A note and its line stay together.
    fn head_if_due(&mut self, at: u64, kind: Kind) {
        let marks = self.marks.len() + self.ends.len() - self.marks_from;
        let is_pair = kind == Kind::Host && self.last_kind == Some(Kind::Note);
        if marks >= self.head_every && !is_pair {
            self.head(at);
        }
    }

    /// Gives out the next number and writes what stands before the payload.
    #[inline]
    fn begin(&mut self, at: u64, kind: Kind, payload: usize) {
        let needed = front::COPIED + payload + 1;
        if self.text.capacity() - self.text.len() < needed {
            self.grow(needed);
        }
        self.front.append_next(at, kind, &mut self.text);
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        if needed > LARGE {
            // Grown by doubling, a long line would take twice its length.
            self.text.reserve_exact(needed);
        } else {
            self.text.reserve(needed);
        }
    }

    #[inline]
    fn finish(&mut self, kind: Kind) -> u64 {
        self.text.push(b'\n');
        self.ends.push(self.text.len());
        self.last_kind = Some(kind);
        self.front.seq()
    }

    /// Marks what is staged.
    fn take(&mut self) {
        let (mut begin, mut apart) = self.taken;
        self.marks.reserve(self.ends.len());
        for end in self.ends.drain(..) {
            let mut mark = self.mark.clone();
            if let Some(Apart { place, payload }) = self.apart.get(apart)
                && *place < end
            {
                // Nothing stands behind such a payload but the newline.
                mark.update(&self.text[begin..*place]);
                mark.update(payload);
                apart += 1;
            } else {
                mark.update(&self.text[begin..end - 1]);
            }
            self.marks.push(mark.finalize());
            begin = end;
        }
        self.taken = (self.text.len(), apart);
    }

    /// What is staged, in order, to be written at once.
    pub(crate) fn slices(&self) -> Vec<IoSlice<'_>> {
        staged(&self.text, &self.apart).map(IoSlice::new).collect()
    }

    /// What the next segment says of this one, as far as it is written.
    pub(crate) fn mark_of_segment(&self) -> u32 {
        debug_assert!(self.is_empty());
        marks::of_marks(&self.marks)
    }

    /// What is staged was written.
    pub(crate) fn settle(&mut self) {
        self.take();
        self.clear();
        self.marks.drain(..self.marks_from);
        self.marks_from = 0;
        self.settled = Settled {
            seq: self.front.seq(),
            at: self.front.at(),
            marks: self.marks.len(),
        };
    }

    /// Nothing is staged, and nothing ever was.
    pub(crate) fn discard(&mut self) -> Vec<Vec<u8>> {
        let owned = self.apart.drain(..).map(|apart| apart.payload).collect();
        self.clear();
        self.marks.truncate(self.settled.marks);
        self.marks_from = 0;
        self.front = Front::new(self.settled.seq, self.settled.at);
        self.last_kind = None;
        owned
    }

    /// Returns what a long line, or many short ones, needed. An ordinary batch keeps its buffers.
    fn clear(&mut self) {
        self.text.clear();
        self.apart = Vec::new();
        self.ends.clear();
        self.taken = (0, 0);
        if self.text.capacity() > 4 * KEPT {
            self.text.shrink_to(KEPT);
        }
        self.ends.shrink_to(KEPT / 8);
    }

    /// Gives back all memory that is not needed between two batches. The next one asks for it again.
    pub(crate) fn rest(&mut self) {
        if self.is_empty() {
            self.text = Vec::new();
            self.ends = Vec::new();
        }
        self.marks.shrink_to_fit();
    }

    /// How many bytes of memory the staged records hold.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        let apart = |apart: &Apart| apart.payload.capacity();
        self.text.capacity() + self.apart.iter().map(apart).sum::<usize>()
    }
}

/// The text with each payload at its place.
fn staged<'a>(text: &'a [u8], apart: &'a [Apart]) -> impl Iterator<Item = &'a [u8]> {
    let mut from = 0;
    let last = apart.last().map_or(0, |apart| apart.place);
    let apart = apart.iter().flat_map(move |apart| {
        let before = &text[from..apart.place];
        from = apart.place;
        [before, &apart.payload]
    });
    apart.chain(std::iter::once(&text[last..]))
}
