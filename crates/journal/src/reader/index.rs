//! Where in a segment a record stands: a number and an offset every 256 KiB.
//!
//! Owns the index file. It is derived: whoever looks for a record adds what it has learned, and a file that is missing,
//! of another segment or wrong is made anew. Nothing depends on it but time.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::folder;

/// As far apart are two entries.
const EVERY: u64 = 256 << 10;

/// Tells the files of one process apart while they are written.
static TURN: AtomicU64 = AtomicU64::new(0);

const MAGIC: &str = "#countersign-index 1";

/// A record and where its line begins in the plain bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) seq: u64,
    pub(super) offset: u64,
}

/// The entries of one segment, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// Tells the segment from another one of the same name.
    segment: String,
    entries: Vec<Entry>,
    is_new: bool,
}

impl Index {
    /// An index without entries of the segment with this header.
    pub(super) fn empty(header: &[u8]) -> Self {
        let segment = blake3::hash(header).to_hex()[..16].to_owned();
        Self {
            segment,
            ..Self::default()
        }
    }

    /// What is known of that segment; nothing if that cannot be read.
    pub(super) fn load(dir: &Path, number: u32, header: &[u8]) -> Self {
        let mut index = Self::empty(header);
        let text = fs::read_to_string(folder::index(dir, number)).unwrap_or_default();
        index.entries = parse(&text, &index.segment).unwrap_or_default();
        index
    }

    /// The last entry at or before the record.
    pub(super) fn before(&self, seq: u64) -> Option<Entry> {
        let behind = self.entries.partition_point(|entry| entry.seq <= seq);
        behind.checked_sub(1).map(|at| self.entries[at])
    }

    /// Learns where a record stands.
    pub(super) fn note(&mut self, seq: u64, offset: u64) {
        let last = self.entries.last();
        let is_due = last.is_none_or(|last| offset >= last.offset + EVERY && seq > last.seq);
        if is_due && offset >= EVERY {
            self.entries.push(Entry { seq, offset });
            self.is_new = true;
        }
    }

    /// Keeps what was learned. A reader that may not write does without.
    pub(super) fn save(&self, dir: &Path, number: u32) {
        if self.is_new {
            let _ = self.write(dir, number);
        }
    }

    fn write(&self, dir: &Path, number: u32) -> std::io::Result<()> {
        let path = folder::index(dir, number);
        let mut text = format!("{MAGIC} {}\n", self.segment);
        for Entry { seq, offset } in &self.entries {
            text.push_str(&format!("{seq} {offset}\n"));
        }
        // Each reader writes a file of its own and puts it in place at once.
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        let mine = path.with_extension(format!("ix.{}.{turn}", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file =
            folder::open_private(options.write(true).create(true).truncate(true), &mine)?;
        file.write_all(text.as_bytes())?;
        drop(file);
        fs::rename(&mine, &path).inspect_err(|_| drop(fs::remove_file(&mine)))
    }
}

fn parse(text: &str, segment: &str) -> Option<Vec<Entry>> {
    let mut lines = text.lines();
    let of = lines.next()?.strip_prefix(MAGIC)?.trim_start();
    if of != segment {
        return None;
    }
    let mut entries: Vec<Entry> = Vec::new();
    for line in lines {
        let (seq, offset) = line.split_once(' ')?;
        let entry = Entry {
            seq: seq.parse().ok()?,
            offset: offset.parse().ok()?,
        };
        let is_in_order = entries
            .last()
            .is_none_or(|last| last.seq < entry.seq && last.offset < entry.offset);
        if !is_in_order {
            return None;
        }
        entries.push(entry);
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_is_kept_and_is_of_that_segment_only() {
        let dir = tempfile::tempdir().unwrap();
        let mut index = Index::load(dir.path(), 1, b"header");
        index.note(1, 80);
        index.note(10, EVERY);
        index.note(11, EVERY + 9);
        index.note(30, 3 * EVERY);
        index.save(dir.path(), 1);
        let again = Index::load(dir.path(), 1, b"header");
        assert_eq!(again.before(9), None);
        let tenth = Entry {
            seq: 10,
            offset: EVERY,
        };
        assert_eq!(again.before(10), Some(tenth));
        assert_eq!(again.before(29), Some(tenth));
        assert_eq!(again.before(u64::MAX).map(|entry| entry.seq), Some(30));
        assert_eq!(Index::load(dir.path(), 1, b"other").before(99), None);
    }

    #[test]
    fn a_file_that_is_none_counts_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let own = Index::empty(b"header").segment;
        for text in [
            "".to_owned(),
            format!("{MAGIC} {own}\n1 x\n"),
            format!("{MAGIC} {own}\n5 300000\n4 600000\n"),
            format!("#something 1 {own}\n5 300000\n"),
        ] {
            fs::write(folder::index(dir.path(), 1), &text).unwrap();
            let index = Index::load(dir.path(), 1, b"header");
            assert_eq!(index.before(u64::MAX), None, "{text}");
        }
    }
}
