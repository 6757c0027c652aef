//! A live area of some rows at the bottom, and everything else above it in the terminal's own scrollback.
//!
//! Owns where the cursor stands between two writes. Knows no terminal: bytes go to whatever is given, each change in one
//! write. Invariants: the live area is never taller than the screen less one row, no row of it ever wraps, and when it
//! is empty the cursor stands at the start of a fresh row.

use std::fmt::Write as _;
use std::io::{self, Stdout, Write};

use super::style::Line;
use super::tty;

const UPDATE_STARTS: &str = "\x1b[?2026h";
const UPDATE_ENDS: &str = "\x1b[?2026l";

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
}

impl Size {
    /// What is assumed of a terminal that does not say.
    const USUAL: Size = Size {
        columns: 80,
        rows: 24,
    };

    /// How large the terminal of this process is.
    pub(crate) fn of_terminal() -> Self {
        tty::size().unwrap_or(Self::USUAL)
    }
}

/// A row as it stands on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    text: String,
    width: usize,
}

/// Where the cursor is, counted from the top left of the live area.
type Place = (usize, usize);

/// What the live area shows.
#[derive(Debug, Default)]
struct Shown {
    rows: Vec<Row>,
    /// Where the cursor is to be seen.
    cursor: Option<Place>,
}

impl Shown {
    /// Where the cursor stands after drawing, seen or not.
    fn place(&self) -> Place {
        self.cursor
            .unwrap_or((self.rows.len().saturating_sub(1), 0))
    }
}

/// The screen of one run.
#[derive(Debug)]
pub(crate) struct Screen<W: Write> {
    out: W,
    size: Size,
    with_colour: bool,
    shown: Shown,
    /// What was asked to be shown, for when the size changes.
    asked: (Vec<Line>, Option<(u16, u16)>),
    /// Tells the size at this moment, where somebody knows. The message that it changed comes late.
    measure: fn() -> Option<Size>,
}

impl Screen<Stdout> {
    /// The terminal of this process.
    pub(crate) fn of_terminal(with_colour: bool) -> Self {
        let screen = Self::new(io::stdout(), Size::of_terminal(), with_colour);
        Self {
            measure: tty::size,
            ..screen
        }
    }
}

impl<W: Write> Screen<W> {
    /// A screen whose cursor stands at the start of a row.
    pub(crate) fn new(out: W, size: Size, with_colour: bool) -> Self {
        Self {
            out,
            size: sane(size),
            with_colour,
            shown: Shown::default(),
            asked: (Vec::new(), None),
            measure: || None,
        }
    }

    /// How large it is.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// Draws the live area for another size, or anew for the same.
    pub(crate) fn resized(&mut self, size: Size) -> io::Result<()> {
        let size = sane(size);
        let up = rows_above(&self.shown, size.columns);
        self.size = size;
        let mut pen = Pen::new();
        pen.back_to_top(up);
        pen.clear_from_here();
        let next = self.laid_out();
        pen.live_rows(&next.rows);
        self.finish(pen, next)
    }

    /// Prints above the live area, broken to the width. It stays for good.
    pub(crate) fn print(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        if let Some(size) = self.changed_size() {
            self.resized(size)?;
        }
        let mut pen = Pen::new();
        pen.back_to_top(self.shown.place().0);
        for row in lines
            .iter()
            .flat_map(|line| line.rows(self.size.columns.into()))
        {
            pen.printed_row(&self.row(&row));
        }
        let next = std::mem::take(&mut self.shown);
        pen.live_rows(&next.rows);
        self.finish(pen, next)
    }

    /// Shows these lines instead of what was live before. `cursor` is a row of `lines` and a column; without one it is
    /// hidden. Where there is no room for all, those around the cursor are shown, or the last.
    pub(crate) fn live(&mut self, lines: &[Line], cursor: Option<(u16, u16)>) -> io::Result<()> {
        self.asked = (lines.to_vec(), cursor);
        if let Some(size) = self.changed_size() {
            return self.resized(size);
        }
        let next = self.laid_out();
        if next.rows == self.shown.rows && next.cursor == self.shown.cursor {
            return Ok(());
        }
        let mut pen = Pen::new();
        pen.row = self.shown.place().0;
        pen.changed_rows(&self.shown.rows, &next.rows);
        self.finish(pen, next)
    }

    /// Takes the live area away: for the end, or before somebody else gets the terminal.
    pub(crate) fn clear_live(&mut self) -> io::Result<()> {
        self.live(&[], None)
    }

    fn changed_size(&self) -> Option<Size> {
        (self.measure)().filter(|size| *size != self.size)
    }

    /// Puts the cursor in its place and writes everything at once.
    fn finish(&mut self, mut pen: Pen, next: Shown) -> io::Result<()> {
        let (row, column) = next.place();
        if !next.rows.is_empty() {
            pen.go_row(row);
        }
        if column > 0 {
            let _ = write!(pen.text, "\x1b[{column}C");
        }
        let sight = match next.cursor.is_some() || next.rows.is_empty() {
            true => "\x1b[?25h",
            false => "\x1b[?25l",
        };
        // Hidden while it travels: not every terminal knows updates.
        let bytes = format!("{UPDATE_STARTS}\x1b[?25l{}{sight}{UPDATE_ENDS}", pen.text);
        self.shown = next;
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    fn row(&self, line: &Line) -> Row {
        Row {
            text: line.write(self.with_colour),
            width: line.width(),
        }
    }

    /// The rows of what was asked for, as many as there is room for.
    fn laid_out(&self) -> Shown {
        let columns = usize::from(self.size.columns);
        let (lines, cursor) = &self.asked;
        let mut rows = Vec::new();
        let mut place = None;
        for (at, line) in lines.iter().enumerate() {
            let broken = line.rows(columns);
            if let Some((_, column)) = cursor.filter(|cursor| usize::from(cursor.0) == at) {
                // A line that holds the cursor fits, unless the terminal just became narrower.
                let (down, column) = (usize::from(column) / columns, usize::from(column) % columns);
                place = Some((rows.len() + down.min(broken.len() - 1), column));
            }
            rows.extend(broken);
        }
        let room = usize::from(self.size.rows).saturating_sub(1).max(1);
        let first = match place {
            // One row of what follows the cursor is kept in sight.
            Some((row, _)) => (row + 2).min(rows.len()).saturating_sub(room).min(row),
            None => rows.len().saturating_sub(room),
        };
        let rows = rows
            .iter()
            .skip(first)
            .take(room)
            .map(|row| self.row(row))
            .collect();
        Shown {
            rows,
            cursor: place.map(|(row, column)| (row - first, column)),
        }
    }
}

fn sane(size: Size) -> Size {
    match size {
        Size { columns: 0, .. } | Size { rows: 0, .. } => Size::USUAL,
        size => size,
    }
}

/// How many rows lie between the top of the live area and the cursor once the terminal has broken them to another width.
/// A terminal that cuts rows instead loses as many rows above the live area as it would have broken; few do, and the
/// others would keep pieces of the live area for good.
fn rows_above(shown: &Shown, columns: u16) -> usize {
    let columns = usize::from(columns);
    let (row, column) = shown.place();
    let above: usize = shown
        .rows
        .iter()
        .take(row)
        .map(|row| row.width.div_ceil(columns).max(1))
        .sum();
    above + column / columns
}

/// Writes rows and knows in which one it is.
struct Pen {
    text: String,
    /// Counted from the top of the live area.
    row: usize,
}

impl Pen {
    fn new() -> Self {
        Self {
            text: String::new(),
            row: 0,
        }
    }

    /// From so many rows below the top to its first column.
    fn back_to_top(&mut self, rows: usize) {
        if rows > 0 {
            let _ = write!(self.text, "\x1b[{rows}A");
        }
        self.text.push('\r');
        self.row = 0;
    }

    /// To the first column of a row that is there already.
    fn go_row(&mut self, row: usize) {
        match row.cmp(&self.row) {
            std::cmp::Ordering::Less => drop(write!(self.text, "\x1b[{}A", self.row - row)),
            std::cmp::Ordering::Greater => drop(write!(self.text, "\x1b[{}B", row - self.row)),
            std::cmp::Ordering::Equal => {}
        }
        self.text.push('\r');
        self.row = row;
    }

    /// Clears this row and all below. Row by row at first: where the whole screen is cleared at once, some terminals put
    /// what was live into the scrollback.
    fn clear_from_here(&mut self) {
        self.text.push_str("\r\x1b[K\x1b7\x1b[B\r\x1b[J\x1b8");
    }

    /// A row that leaves the live area upwards.
    fn printed_row(&mut self, row: &Row) {
        self.row_text(row);
        self.text.push_str("\r\n");
    }

    /// All rows of the live area. Nothing older stands below: where rows were printed, they took its place.
    fn live_rows(&mut self, rows: &[Row]) {
        self.text.push_str("\x1b[?7l");
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                self.text.push_str("\r\n");
            }
            self.row_text(row);
        }
        self.row = rows.len().saturating_sub(1);
        self.text.push_str("\x1b[?7h");
    }

    /// Cleared first: behind a full row the cursor stands on its last letter, and a terminal that breaks rows anew takes
    /// blanks that were cleared afterwards for text.
    fn row_text(&mut self, row: &Row) {
        self.text.push_str("\r\x1b[K");
        self.text.push_str(&row.text);
    }

    /// Only the rows that differ.
    fn changed_rows(&mut self, old: &[Row], new: &[Row]) {
        self.text.push_str("\x1b[?7l");
        for (at, row) in new.iter().enumerate() {
            if old.get(at) == Some(row) {
                continue;
            }
            match at < old.len().max(1) {
                true => self.go_row(at),
                false => self.new_row(at),
            }
            self.row_text(row);
        }
        if new.len() < old.len() {
            self.go_row(new.len());
            self.clear_from_here();
        }
        self.text.push_str("\x1b[?7h");
    }

    /// The row below the last, which may have to be made.
    fn new_row(&mut self, row: usize) {
        self.go_row(row - 1);
        self.text.push_str("\r\n");
        self.row = row;
    }
}

#[cfg(test)]
mod tests;
