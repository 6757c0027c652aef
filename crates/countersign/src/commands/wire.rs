//! `countersign wire …`: looks at what crosses the wire of a CLI.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Subcommand;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Outcome;
use crate::wire_check::{self, Report};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check every line of a file: counts, what is unknown, what is broken, what would be lost
    ///
    /// Reads what the `claude` CLI printed with `--output-format stream-json`, or one of our recordings. Exits 0 only if no
    /// line is malformed; unknown types and fields are reported, not held against the file.
    Check {
        /// The file; `-` is standard input
        file: PathBuf,
        /// Print one JSON object instead of a table
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(command: Command) -> anyhow::Result<Outcome> {
    let Command::Check { file, json } = command;
    let report = check(&file)?;
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    Ok(match report.malformed.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Found,
    })
}

fn check(file: &Path) -> anyhow::Result<Report> {
    if file == Path::new("-") {
        return wire_check::check(io::stdin().lock()).context("cannot read standard input");
    }
    let cannot = || {
        format!(
            "cannot read {}: give a file with the output of `claude --output-format stream-json`, or - for standard input",
            file.display()
        )
    };
    let input = File::open(file).with_context(cannot)?;
    let size = input.metadata().with_context(cannot)?.len();
    let progress = progress(size);
    let report = wire_check::check(progress.wrap_read(input)).with_context(cannot);
    progress.finish_and_clear();
    report
}

/// A bar for what takes longer than a moment; nothing where nobody watches.
fn progress(size: u64) -> ProgressBar {
    const WORTH_A_BAR: u64 = 32 << 20;
    if size < WORTH_A_BAR || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bytes} of {total_bytes} [{wide_bar}] {eta}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
