//! `countersign reindex`: makes again what a host derives from journals.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::ProgressBar;

use crate::Outcome;

/// A bar for what takes longer than this.
const WORTH_A_BAR: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The data folder; that of this user without one
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let data = match arguments.data {
        Some(data) => data,
        None => countersign_host::Folders::of_user(|name| std::env::var_os(name))
            .context("there is no home folder to look in: name the data folder with --data")?,
    };
    if !data.is_dir() {
        anyhow::bail!(
            "there is no folder {}: name the data folder with --data",
            data.display()
        );
    }
    let is_watched = io::stderr().is_terminal();
    let begun = Instant::now();
    let mut bar: Option<ProgressBar> = None;
    let done = countersign_host::reindex(&data, |at, all| {
        if is_watched && begun.elapsed() > WORTH_A_BAR {
            let bar = bar.get_or_insert_with(|| ProgressBar::new(all as u64));
            bar.set_position(at as u64);
        }
    })?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let mut out = io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", serde_json::to_string(&done)?)?,
        false => {
            writeln!(
                out,
                "{} sessions, {} records, {} approvals ({} mended, {} sessions taken up again)",
                done.sessions, done.records, done.approvals, done.mended, done.adopted
            )?;
            for (session, why) in &done.unreadable {
                writeln!(out, "{session} cannot be read: {why}")?;
            }
        }
    }
    Ok(match done.unreadable.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Found,
    })
}
