//! Lines that wait until a question is answered.
//!
//! Owns what came meanwhile: printed at once it would stand between the question and its answer, and could stand in for
//! the question. Bounded: lines that find no room are counted and named.

use crate::term::style::{Line, Tone};

/// So many lines are kept.
const MOST: usize = 5000;

/// What came while a question was open.
#[derive(Debug, Default)]
pub(crate) struct Held {
    lines: Vec<Line>,
    untold: usize,
}

impl Held {
    /// Keeps these for later.
    pub(crate) fn hold(&mut self, lines: &[Line]) {
        let room = MOST.saturating_sub(self.lines.len());
        self.lines.extend(lines.iter().take(room).cloned());
        self.untold += lines.len().saturating_sub(room);
    }

    /// All that was kept, and how much was not.
    pub(crate) fn take(&mut self) -> Vec<Line> {
        let mut lines = std::mem::take(&mut self.lines);
        if self.untold > 0 {
            let text = format!(
                "… {} more lines came meanwhile and are not shown.",
                self.untold
            );
            lines.push(Line::of(text, Tone::Warn));
            self.untold = 0;
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_named() {
        let mut held = Held::default();
        held.hold(&vec![Line::plain("x"); MOST - 1]);
        held.hold(&[Line::plain("a"), Line::plain("b"), Line::plain("c")]);
        let lines = held.take();
        assert_eq!(lines.len(), MOST + 1);
        assert_eq!(
            lines[MOST].text(),
            "… 2 more lines came meanwhile and are not shown."
        );
        assert!(held.take().is_empty());
    }
}
