//! Records that are numbered and not yet written, and the chain over those that are.
//!
//! Owns numbers, marks, heads and the running hash. Touches no file. Invariants: what is discarded leaves no trace, its
//! numbers are given out again; the hash covers exactly what was settled; a long payload that was handed over is never
//! copied.

use std::io::IoSlice;

use crate::chain::Chain;
use crate::event::KeeperEvent;
use crate::marks;
use crate::record::{Kind, MOST_AROUND, append_number};

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
#[derive(Clone, Copy)]
struct Settled {
    seq: u64,
    at: u64,
    marks: usize,
}

pub(crate) struct Stage {
    text: Vec<u8>,
    apart: Vec<Apart>,
    chain: Chain,
    /// One for each record from the last settled head on.
    marks: Vec<u32>,
    /// Where the marks begin that no staged head holds.
    marks_from: usize,
    head_every: usize,
    seq: u64,
    at: u64,
    /// As it stands in the lines, with the spaces around: it is that of many records.
    at_text: Vec<u8>,
    last_kind: Option<Kind>,
    settled: Settled,
}

impl Stage {
    /// Goes on behind record `seq`, whose time was `at`.
    pub(crate) fn new(seq: u64, at: u64, head_every: u32) -> Self {
        Self {
            text: Vec::new(),
            apart: Vec::new(),
            chain: Chain::default(),
            marks: Vec::new(),
            marks_from: 0,
            head_every: (head_every as usize).max(2),
            seq,
            at,
            at_text: Vec::new(),
            last_kind: None,
            settled: Settled { seq, at, marks: 0 },
        }
    }

    /// Goes on in a segment that has records: their hash, and the marks since its last head.
    pub(crate) fn resume(&mut self, chain: Chain, marks: Vec<u32>) {
        self.chain = chain;
        self.settled.marks = marks.len();
        self.marks = marks;
    }

    /// A new segment begins with this header, which is written.
    pub(crate) fn begin_segment(&mut self, header: &[u8]) {
        debug_assert!(self.is_empty());
        self.marks.clear();
        self.marks_from = 0;
        self.settled.marks = 0;
        self.chain = Chain::default();
        self.chain.update(header);
    }

    /// The newest number that was given out.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
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
        let line = self.begin(at, kind, payload.len());
        self.text.extend_from_slice(payload);
        let mark = crc32fast::hash(&self.text[line..]);
        self.finish(kind, mark)
    }

    pub(crate) fn push_owned(&mut self, at: u64, kind: Kind, payload: Vec<u8>) -> u64 {
        if payload.len() < LARGE || self.apart.len() >= MOST_APART {
            return self.push(at, kind, &payload);
        }
        self.head_if_due(at, kind);
        let line = self.begin(at, kind, 0);
        let mut mark = crc32fast::Hasher::new();
        mark.update(&self.text[line..]);
        mark.update(&payload);
        let place = self.text.len();
        self.apart.push(Apart { place, payload });
        self.finish(kind, mark.finalize())
    }

    /// A record that says how the chain stands before it.
    pub(crate) fn head(&mut self, at: u64) -> u64 {
        let head = KeeperEvent::Head {
            hash: self.hash().to_hex().to_string(),
            marks: marks::to_text(&self.marks[self.marks_from..]),
        };
        let payload = serde_json::to_vec(&head).unwrap_or_default();
        debug_assert!(!payload.is_empty());
        let line = self.begin(at, Kind::Keeper, payload.len());
        self.text.extend_from_slice(&payload);
        let mark = crc32fast::hash(&self.text[line..]);
        // The next head holds the mark of this one, too.
        self.marks_from = self.marks.len();
        self.finish(Kind::Keeper, mark)
    }

    /// A note and its line stay together.
    fn head_if_due(&mut self, at: u64, kind: Kind) {
        let is_pair = kind == Kind::Host && self.last_kind == Some(Kind::Note);
        if self.marks.len() - self.marks_from >= self.head_every && !is_pair {
            self.head(at);
        }
    }

    /// Gives out the next number and writes what stands before the payload.
    fn begin(&mut self, at: u64, kind: Kind, payload: usize) -> usize {
        let line = self.text.len();
        let needed = payload + MOST_AROUND;
        if needed > LARGE {
            // Grown by doubling, a long line would take twice its length.
            self.text.reserve_exact(needed);
        }
        self.seq = self.seq.saturating_add(1);
        if at > self.at || self.at_text.is_empty() {
            self.at = self.at.max(at);
            self.at_text.clear();
            self.at_text.push(b' ');
            append_number(self.at, &mut self.at_text);
            self.at_text.push(b' ');
        }
        append_number(self.seq, &mut self.text);
        self.text.extend_from_slice(&self.at_text);
        self.text.extend_from_slice(&[kind.letter(), b' ']);
        line
    }

    fn finish(&mut self, kind: Kind, mark: u32) -> u64 {
        self.text.push(b'\n');
        self.marks.push(mark);
        self.last_kind = Some(kind);
        self.seq
    }

    /// What is staged, in order, to be written at once.
    pub(crate) fn slices(&self) -> Vec<IoSlice<'_>> {
        staged(&self.text, &self.apart).map(IoSlice::new).collect()
    }

    /// The hash over the segment, what is staged included.
    pub(crate) fn hash(&self) -> blake3::Hash {
        self.chain.hash_with(staged(&self.text, &self.apart))
    }

    /// What is staged was written.
    pub(crate) fn settle(&mut self) {
        for bytes in staged(&self.text, &self.apart) {
            self.chain.update(bytes);
        }
        self.clear();
        self.marks.drain(..self.marks_from);
        self.marks_from = 0;
        self.settled = Settled {
            seq: self.seq,
            at: self.at,
            marks: self.marks.len(),
        };
    }

    /// Nothing is staged, and nothing ever was.
    pub(crate) fn discard(&mut self) -> Vec<Vec<u8>> {
        let owned = self.apart.drain(..).map(|apart| apart.payload).collect();
        self.clear();
        self.marks.truncate(self.settled.marks);
        self.marks_from = 0;
        self.seq = self.settled.seq;
        self.at = self.settled.at;
        self.at_text.clear();
        self.last_kind = None;
        owned
    }

    /// Returns what a long line needed. An ordinary batch keeps its buffer.
    fn clear(&mut self) {
        self.text.clear();
        self.apart = Vec::new();
        if self.text.capacity() > 4 * KEPT {
            self.text.shrink_to(KEPT);
        }
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
