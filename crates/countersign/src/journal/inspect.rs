//! `journal inspect`: counts, as a table or as JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use super::progress::Progress;
use super::range::{Place, Range};
use super::source::{Item, Source};
use super::table::table;
use super::tally::Tally;
use crate::Outcome;
use crate::term::screen::Size;
use crate::term::style::colour_wanted;
use countersign_journal::Cursor;

/// What stands behind `journal inspect`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A session's folder, its journal, one segment, a recording, or lines of a CLI; `-` is standard input (no segment)
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    range: Range,
}

pub(crate) fn inspect(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut source = Source::open(&arguments.path)?;
    arguments.range.check(&source)?;
    let tally = count(&mut source, &arguments.range)?;
    let report = tally.report(source.form(), source.session(), source.header());
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(Outcome::Fine);
    }
    let is_terminal = io::stdout().is_terminal();
    let width = match is_terminal {
        true => usize::from(Size::of_terminal().columns),
        false => 100,
    };
    let variable = |name: &str| std::env::var(name).ok();
    let with_colour = colour_wanted(
        is_terminal,
        variable("NO_COLOR").as_deref(),
        variable("TERM").as_deref(),
    );
    for row in table(&report).iter().flat_map(|line| line.rows(width)) {
        writeln!(out, "{}", row.write(with_colour).trim_end())?;
    }
    Ok(Outcome::Fine)
}

fn count(source: &mut Source, range: &Range) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let mut progress = Progress::new();
    loop {
        match source.next()? {
            None => break,
            Some(Item::Damaged(why)) => tally.damaged(&why),
            Some(Item::Record(generation, record)) => {
                match range.place(Cursor::new(generation, record.seq)) {
                    Place::Before => {}
                    Place::After => break,
                    Place::Inside => tally.record(generation, &record),
                }
            }
        }
        progress.step(source);
    }
    Ok(tally)
}
