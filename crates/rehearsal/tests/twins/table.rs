//! The one table of fields that the normaliser may touch (`table.txt`), and what it may do to each. Whatever is not in there
//! is compared as it is.
//!
//! A row names lines by their word (`*` at the end stands for any rest) and a field by its place. The first row that fits
//! counts.

use std::sync::LazyLock;

/// What may be done to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// An id of the run's own making: its form counts, and that both logs use it in the same places.
    Id,
    /// A measurement: that it is a number counts.
    Figure,
    /// The vendor's own words: that there are some counts.
    Prose,
}

/// One row.
#[derive(Debug)]
pub(crate) struct Row {
    line: &'static str,
    place: &'static str,
    how: How,
}

impl Row {
    fn parse(row: &'static str) -> Self {
        let (how, rest) = row.split_once(' ').unwrap();
        let (line, place) = rest.split_once(" | ").unwrap();
        let how = match how {
            "Id" => How::Id,
            "Figure" => How::Figure,
            "Prose" => How::Prose,
            other => panic!("{other} is nothing that can be done"),
        };
        let line = line.trim();
        Row { line, place, how }
    }

    pub(crate) fn fits(&self, word: &str, place: &str) -> bool {
        self.place == place && fits(self.line, word)
    }
}

pub(crate) static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let rows = include_str!("table.txt").lines();
    rows.filter(|row| !row.is_empty() && !row.starts_with('#'))
        .map(Row::parse)
        .collect()
});

/// What may be done to that field of a line of that name.
pub(crate) fn lookup(word: &str, place: &str) -> Option<How> {
    let row = TABLE.iter().find(|row| row.fits(word, place));
    row.map(|row| row.how)
}

/// Whether a word fits a pattern that may end in `*`.
pub(crate) fn fits(pattern: &str, word: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => pattern == word,
    }
}
