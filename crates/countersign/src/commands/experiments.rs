//! `countersign experiments`: the experiments of seed 001, run again.
//!
//! Owns the command line, the progress and the exit code: 0 when everything ran, whatever was found; 1 when an
//! experiment could not be run.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Outcome;
use crate::experiments::{Agent, Letter, Performed, Report, Take, keep, markdown, perform, takes};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Which experiments [default: all]
    #[arg(value_enum, ignore_case = true, value_name = "A…H")]
    letters: Vec<Letter>,
    /// The CLI to run them on: a path, or a command line [default: the installed `claude`]
    #[arg(long, value_name = "CMD")]
    claude: Option<String>,
    /// Keep the wire of every run in DIR/experiment_a … experiment_h
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Print one JSON object: all observations and comparisons
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(mut arguments: Arguments) -> anyhow::Result<Outcome> {
    let letters = match arguments.letters.is_empty() {
        true => Letter::ALL.to_vec(),
        false => {
            arguments.letters.sort_unstable();
            arguments.letters.dedup();
            arguments.letters
        }
    };
    let agent = Agent::find(arguments.claude.as_deref())?;
    let takes = takes(&letters, agent.is_root);
    let performed = tokio::runtime::Runtime::new()
        .context("cannot start the runtime")?
        .block_on(perform_all(&agent, &takes))?;
    let report = Report::new(&letters, &performed);
    if let Some(dir) = &arguments.record {
        let cannot = || format!("cannot keep the recordings in {}", dir.display());
        keep(dir, &report, &performed).with_context(cannot)?;
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", markdown(&report))?;
    }
    Ok(Outcome::Fine)
}

/// One after the other: each is quick, and a busy machine would only make them late.
async fn perform_all(agent: &Agent, takes: &[Take]) -> anyhow::Result<Vec<Performed>> {
    let progress = Progress::new(takes.len());
    let mut performed = Vec::with_capacity(takes.len());
    for take in takes {
        let letter = take.name.letter();
        progress.next(&format!("{letter}: {}", take.about));
        let done = tokio::select! {
            done = perform(agent, take) => done,
            interrupted = tokio::signal::ctrl_c() => {
                interrupted.context("cannot wait for Ctrl-C")?;
                anyhow::bail!("interrupted; nothing is printed of what was run");
            }
        };
        let cannot = || format!("experiment {letter} ({}) could not be run", take.about);
        performed.push(done.with_context(cannot)?);
    }
    progress.bar.finish_and_clear();
    Ok(performed)
}

/// A bar where somebody watches, a line for each run where not.
struct Progress {
    bar: ProgressBar,
    is_watched: bool,
}

impl Progress {
    fn new(length: usize) -> Self {
        let is_watched = io::stderr().is_terminal();
        let target = match is_watched {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(length as u64), target);
        let style = ProgressStyle::with_template("{spinner} {pos} of {len}  {wide_msg}");
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, is_watched }
    }

    fn next(&self, what: &str) {
        self.bar.inc(1);
        self.bar.set_message(what.to_owned());
        if !self.is_watched {
            // Nobody is left to tell if stderr is gone.
            let _ = writeln!(io::stderr(), "{what}");
        }
    }
}
