//! The left edge: who says what.
//!
//! Owns the marks of column 0 and the bars of sub-agents. Invariant: only lines made here begin with anything but a
//! blank, and nothing that was said by an agent or a tool begins before column 2.

use crate::term::style::{Line, Tone};

/// How deep bars are drawn; deeper ones share the last.
const DEEPEST: usize = 6;

/// A call begins.
pub(crate) const CALL: &str = "● ";
/// Its result.
pub(crate) const RESULT: &str = "└ ";
/// A notice of ours.
pub(crate) const NOTICE: &str = "· ";
/// Something that wants attention.
pub(crate) const WARNING: &str = "! ";

const SAID: &str = "  ";

/// What somebody else said: two columns to the right.
pub(crate) fn said(line: Line) -> Line {
    match line.spans.is_empty() {
        true => line,
        false => line.after(SAID, Tone::Plain),
    }
}

/// The lines of a sub-agent, behind a bar for each level.
pub(crate) fn nested(lines: Vec<Line>, depth: usize, width: usize) -> Vec<Line> {
    match depth.min(DEEPEST) {
        0 => lines,
        depth => barred(lines, &"│ ".repeat(depth), width),
    }
}

/// The lines behind a bar that goes on where they are broken.
pub(crate) fn barred(lines: Vec<Line>, bar: &str, width: usize) -> Vec<Line> {
    let room = width.saturating_sub(bar.chars().count()).max(4);
    let rows = lines.iter().flat_map(|line| line.rows(room));
    rows.map(|row| match row.spans.is_empty() {
        true => Line::of(bar.trim_end(), Tone::Dim),
        false => row.after(bar, Tone::Dim),
    })
    .collect()
}

/// How many columns are left for a text at this depth.
pub(crate) fn room(width: usize, depth: usize) -> usize {
    width
        .saturating_sub(SAID.len() + 2 * depth.min(DEEPEST))
        .max(8)
}
