//! A table of Markdown, fitted to the columns that are there.
//!
//! Wide columns give way first and their cells are broken; where there is no room for columns at all each row becomes
//! a list of its cells. Invariant: no line is wider than asked.

use pulldown_cmark::Alignment;

use crate::term::style::{Line, Tone};

const BETWEEN: &str = " │ ";
/// A column narrower than this is not read.
const NARROWEST: usize = 5;

pub(super) struct Table {
    alignment: Vec<Alignment>,
    /// The first row is the head.
    rows: Vec<Vec<Line>>,
}

impl Table {
    pub(super) fn new(alignment: Vec<Alignment>) -> Self {
        Self {
            alignment,
            rows: Vec::new(),
        }
    }

    /// The next row begins.
    pub(super) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self, cell: Line) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    pub(super) fn lines(mut self, room: usize) -> Vec<Line> {
        if let Some(head) = self.rows.first_mut() {
            head.iter_mut()
                .flat_map(|cell| &mut cell.spans)
                .for_each(|span| span.tone = Tone::Strong);
        }
        match widths(&self.natural(), room) {
            Some(widths) => self.columns(&widths),
            None => self.records(),
        }
    }

    fn natural(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(Line::width).max().unwrap_or_default().max(1)
        };
        (0..self.alignment.len()).map(width).collect()
    }

    fn columns(&self, widths: &[usize]) -> Vec<Line> {
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            lines.extend(self.broken(row, widths));
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::of(rules.join("─┼─"), Tone::Dim));
            }
        }
        lines
    }

    /// One row of the table: as many lines as its highest cell has.
    fn broken(&self, row: &[Line], widths: &[usize]) -> Vec<Line> {
        let cells: Vec<Vec<Line>> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| {
                row.get(column)
                    .map(|cell| cell.rows(*width))
                    .unwrap_or_default()
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        let line = |at: usize| {
            let mut line = Line::new();
            for (column, width) in widths.iter().enumerate() {
                if column > 0 {
                    line = line.add(BETWEEN, Tone::Dim);
                }
                let part = cells[column].get(at).map(trimmed).unwrap_or_default();
                line = self.padded(line, part, column, *width, column + 1 == widths.len());
            }
            line
        };
        (0..height).map(line).collect()
    }

    fn padded(
        &self,
        mut line: Line,
        part: Line,
        column: usize,
        width: usize,
        is_last: bool,
    ) -> Line {
        let free = width.saturating_sub(part.width());
        let before = match self.alignment.get(column) {
            Some(Alignment::Right) => free,
            Some(Alignment::Center) => free / 2,
            _ => 0,
        };
        line = line.add(" ".repeat(before), Tone::Plain);
        line.spans.extend(part.spans);
        match is_last {
            true => line,
            false => line.add(" ".repeat(free - before), Tone::Plain),
        }
    }

    /// Each row as a list of its cells.
    fn records(&self) -> Vec<Line> {
        let Some((head, rows)) = self.rows.split_first() else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        for row in rows {
            if !lines.is_empty() {
                lines.push(Line::new());
            }
            for (column, cell) in row.iter().enumerate() {
                let mut line = head
                    .get(column)
                    .cloned()
                    .unwrap_or_default()
                    .add(": ", Tone::Dim)
                    .hanging(2);
                line.spans.extend(cell.spans.iter().cloned());
                lines.push(line);
            }
        }
        lines
    }
}

/// A row without the blank it was broken at.
fn trimmed(row: &Line) -> Line {
    let mut row = row.clone();
    if let Some(last) = row.spans.last_mut() {
        last.text.truncate(last.text.trim_end().len());
    }
    row
}

/// How wide each column becomes; nothing where they cannot stand side by side.
fn widths(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let between = 3 * natural.len().saturating_sub(1);
    let room = room.checked_sub(between)?;
    if natural.iter().sum::<usize>() <= room {
        return Some(natural.to_vec());
    }
    let least: usize = natural.iter().map(|width| (*width).min(NARROWEST)).sum();
    if least > room {
        return None;
    }
    // The widest that all columns may have; what is left goes to the first that want more.
    let total = |most: usize| {
        natural
            .iter()
            .map(|width| (*width).min(most))
            .sum::<usize>()
    };
    let mut most = NARROWEST;
    while total(most + 1) <= room {
        most += 1;
    }
    let mut left = room - total(most);
    let fitted = natural.iter().map(|width| {
        let more = usize::from(*width > most && left > 0);
        left -= more;
        (*width).min(most) + more
    });
    Some(fitted.collect())
}
