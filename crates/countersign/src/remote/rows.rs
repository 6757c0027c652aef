//! Lists as a person reads them: a heading, then a row for each.
//!
//! Owns the columns. Names come from agents and people: they are cut to their column. Pure.

use unicode_width::UnicodeWidthStr as _;

use crate::show::text;
use crate::term::style::{Line, Tone, tamed};

/// A table that is as wide as what is in it.
#[derive(Debug)]
pub(crate) struct Rows {
    heads: Vec<&'static str>,
    rows: Vec<Vec<(String, Tone)>>,
}

/// The widest column but the last.
const WIDEST: usize = 40;

/// Between two columns.
const GAP: usize = 2;

impl Rows {
    pub(crate) fn of(heads: &[&'static str]) -> Self {
        Self {
            heads: heads.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, cells: Vec<(String, Tone)>) {
        let cells = cells.into_iter().enumerate().map(|(at, (cell, tone))| {
            let most = if at + 1 == self.heads.len() {
                300
            } else {
                WIDEST
            };
            (tamed(&text::one_row(&cell, most - 1)), tone)
        });
        let cells = cells.collect();
        self.rows.push(cells);
    }

    /// The lines, cut to the width.
    pub(crate) fn lines(&self, width: usize) -> Vec<Line> {
        let wide = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            let widest = cells.map(|(cell, _)| cell.width()).max();
            widest.unwrap_or(0).max(self.heads[at].width())
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(wide).collect();
        let line = |cells: Vec<(&str, Tone)>| {
            let mut line = Line::new();
            let last = cells.len().saturating_sub(1);
            for (at, (cell, tone)) in cells.into_iter().enumerate() {
                line = line.add(cell, tone);
                if at != last {
                    let blanks = widths[at].saturating_sub(cell.width()) + GAP;
                    line = line.add(" ".repeat(blanks), Tone::Plain);
                }
            }
            line.cut(width)
        };
        let heads = self.heads.iter().map(|head| (*head, Tone::Dim)).collect();
        let rows = self.rows.iter().map(|row| {
            let cells = row.iter().map(|(cell, tone)| (cell.as_str(), *tone));
            line(cells.collect())
        });
        std::iter::once(line(heads)).chain(rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_their_heads_and_are_cut_to_the_width() {
        let mut rows = Rows::of(&["id", "state", "name"]);
        let cell = |text: &str| (text.to_owned(), Tone::Plain);
        rows.add(vec![
            cell("9g5fav"),
            cell("idle"),
            cell("fix\nthe \u{1b}[2Jtests"),
        ]);
        rows.add(vec![
            cell("x"),
            cell("needs you (2)"),
            cell("a name that is too long"),
        ]);
        let lines: Vec<String> = rows.lines(34).iter().map(Line::text).collect();
        assert_eq!(lines[0], "id      state          name");
        assert!(
            lines[1].starts_with("9g5fav  idle           fix the "),
            "{lines:?}"
        );
        assert!(!lines[1].contains('\u{1b}'));
        assert_eq!(lines[2], "x       needs you (2)  a name tha…");
    }
}
