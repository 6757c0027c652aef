//! Where a command writes.
//!
//! Owns [`Paper`]: lines in the width of the terminal with its colours, or plain in a pipe. Invariant: what is printed for a
//! program is one JSON value in one line.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::term::screen::Size;
use crate::term::style::{Line, colour_wanted};

/// Where nobody says how wide it is.
const USUAL_WIDTH: usize = 100;

/// Standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paper {
    pub(crate) width: usize,
    with_colour: bool,
}

impl Paper {
    pub(crate) fn stdout() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let variable = |name: &str| std::env::var(name).ok();
        let with_colour = colour_wanted(
            is_terminal,
            variable("NO_COLOR").as_deref(),
            variable("TERM").as_deref(),
        );
        let width = match is_terminal {
            true => Size::of_terminal().columns.into(),
            false => USUAL_WIDTH,
        };
        Self { width, with_colour }
    }

    /// Lines, broken where they are too long.
    pub(crate) fn print(&self, lines: &[Line]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for row in lines.iter().flat_map(|line| line.rows(self.width)) {
            writeln!(out, "{}", row.write(self.with_colour).trim_end())?;
        }
        out.flush()
    }

    /// One JSON value.
    pub(crate) fn value(&self, value: &impl Serialize) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let text = serde_json::to_string(value).map_err(io::Error::other)?;
        writeln!(out, "{text}")?;
        out.flush()
    }
}
