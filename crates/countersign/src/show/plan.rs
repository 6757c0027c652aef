//! A plan that waits for a decision, as a document of its own.
//!
//! The plan is the agent's text: it stands behind a bar that begins in column 2, between a head and an end of ours.

use super::{gutter, markdown::markdown, text};
use crate::term::style::{Line, Tone};

/// The most of a plan that is shown.
const CAP: usize = 200 << 10;

/// The plan as lines of at most `width` columns.
pub(crate) fn plan(words: &str, width: usize) -> Vec<Line> {
    let (shown, left) = text::clip(words, CAP);
    let room = gutter::room(width, 1);
    let mut lines = match shown.trim().is_empty() {
        true => vec![Line::of("The plan is empty.", Tone::Warn)],
        false => gutter::barred(markdown(shown, room), "│ ", room + 2),
    };
    if left > 0 {
        lines.push(Line::of(format!("… {} more", text::size(left)), Tone::Warn));
    }
    lines.into_iter().map(gutter::said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_stands_behind_a_bar() {
        let lines: Vec<String> = plan("# Plan\n\n1. Write\n2. Test\n", 40)
            .iter()
            .map(Line::text)
            .collect();
        assert_eq!(lines, ["  │ Plan", "  │", "  │ 1. Write", "  │ 2. Test"]);
        assert_eq!(plan(" \n", 40)[0].text(), "  The plan is empty.");
    }
}
