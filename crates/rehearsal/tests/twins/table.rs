//! The one table of fields that the normaliser may touch (`table.txt`), and what it may do to each. Whatever is not in there
//! is compared as it is.
//!
//! A row names lines by their word (`*` at the end stands for any rest) and fields by a pattern. The first row that fits
//! counts.

use std::sync::OnceLock;

use super::path::{Path, Pattern, fits};

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
    pub line: &'static str,
    pub pattern: Pattern,
    pub how: How,
}

impl Row {
    fn parse(row: &'static str) -> Self {
        let (how, rest) = row.split_once(' ').unwrap();
        let (line, path) = rest.split_once(" | ").unwrap();
        let how = match how {
            "Id" => How::Id,
            "Figure" => How::Figure,
            "Prose" => How::Prose,
            other => panic!("{other} is nothing that can be done"),
        };
        Row {
            line: line.trim(),
            pattern: Pattern::parse(path),
            how,
        }
    }

    pub(crate) fn fits(&self, word: &str, path: &Path) -> bool {
        self.pattern.matches(path) && fits(self.line, word)
    }
}

pub(crate) fn table() -> &'static [Row] {
    static TABLE: OnceLock<Vec<Row>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = include_str!("table.txt").lines();
        rows.filter(|row| !row.is_empty() && !row.starts_with('#'))
            .map(Row::parse)
            .collect()
    })
}

/// What may be done to that field of a line of that name.
pub(crate) fn lookup(word: &str, path: &Path) -> Option<How> {
    let row = table().iter().find(|row| row.fits(word, path));
    row.map(|row| row.how)
}
