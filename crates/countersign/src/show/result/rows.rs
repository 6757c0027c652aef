//! How much of a text is shown.
//!
//! Owns the folding of rows and the cut of each. Looks at every byte at most once, copies only what is shown.

use crate::show::text;
use crate::term::style::{Line, Tone};

/// The most of a text that is shown in full.
const BYTES: usize = 200 << 10;

/// How much is shown of a text, and in how many columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fold {
    pub(crate) rows: usize,
    pub(crate) room: usize,
    /// Rows are broken, not cut.
    pub(crate) is_whole: bool,
}

impl Fold {
    /// The rows of a text that are shown, and how many are not. `is_log` keeps the end: what a command says last is what
    /// it came to.
    pub(super) fn rows(self, words: &str, tone: Tone, is_log: bool) -> Vec<Line> {
        let (shown, left) = text::clip(words, if self.is_whole { BYTES } else { usize::MAX });
        let count = text::lines(shown);
        let mut lines = Vec::new();
        if count <= self.rows + 1 {
            lines.extend(shown.lines().map(|row| self.cut(row, tone, 0)));
        } else {
            let last = if is_log { self.rows / 2 } else { 0 };
            lines.extend(
                shown
                    .lines()
                    .take(self.rows - last)
                    .map(|row| self.cut(row, tone, 0)),
            );
            lines.push(Line::of(
                format!("… {} more lines", text::grouped((count - self.rows) as u64)),
                Tone::Dim,
            ));
            let mut ends: Vec<&str> = shown
                .trim_end_matches('\n')
                .rsplit('\n')
                .take(last)
                .collect();
            ends.reverse();
            lines.extend(ends.into_iter().map(|row| self.cut(row, tone, 0)));
        }
        if left > 0 {
            lines.push(Line::of(format!("… {} more", text::size(left)), Tone::Dim));
        }
        lines
    }

    /// One row of a text, with `used` columns taken before it.
    pub(super) fn cut(self, row: &str, tone: Tone, used: usize) -> Line {
        let room = self.room.saturating_sub(used).max(8);
        // A letter has four bytes at most; marks that take no column are cut off beyond that.
        let most = if self.is_whole {
            BYTES / 16
        } else {
            room * 4 + 4
        };
        let (shown, left) = text::clip(row, most);
        let line = Line::of(shown, tone);
        match (self.is_whole, left) {
            (false, 0) => line.cut(room),
            (false, _) => line.add("…", Tone::Dim).cut(room),
            (true, 0) => line,
            (true, _) => line.add(format!("… {} more", text::size(left)), Tone::Dim),
        }
    }

    /// A line that is made already.
    pub(super) fn fit(self, line: Line) -> Line {
        match self.is_whole {
            true => line,
            false => line.cut(self.room),
        }
    }
}
