//! `experiments`: the experiments of seed 001, run again on a CLI of today; `cargo xtask experiments` runs it.
//!
//! Seed 001 is a written analysis of plan mode and of `--permission-prompt-tool stdio`: eight experiments, A to H, with
//! their figures. `takes` says what is run, `perform` runs it, `seen` reads off the wire what happened, `claims` holds
//! what the seed says and where it is compared with what was seen, `report` writes it down. All but `perform` and
//! `stage` are pure. Invariant: no verdict is written anywhere; each follows from the wire of this run.
//!
//! This file owns the command line, the progress and the exit code: 0 when everything ran, whatever was found; 1 when an
//! experiment could not be run.

mod claims;
mod figure;
mod keep;
mod letters;
mod perform;
mod place;
mod probe;
mod report;
mod seen;
#[path = "../../../crates/countersign/src/drift/stage.rs"]
#[expect(
    dead_code,
    reason = "shared with `countersign drift`, which speaks to the CLI itself"
)]
mod stage;
mod takes;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use countersign_client::options::Surroundings;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::keep::keep;
use crate::letters::Letter;
use crate::perform::{Performed, perform};
use crate::report::{Report, markdown};
use crate::stage::Agent;
use crate::takes::{Take, takes};

/// Runs the experiments of seed 001 again, and compares.
///
/// Seed 001 is a written analysis of plan mode and permission prompts: eight experiments with their figures. Each is run
/// again on a `claude` CLI with a scripted model, with no account and with nothing of your environment in sight, and
/// each figure and claim of the seed is printed beside what is seen now: `agrees`, or `differs` with the section of the
/// ground truth that says why. Costs and style are those of a thinking model and cannot be measured so. The tables are
/// Markdown; docs/experiments.md has them for every tested version.
///
/// Exits 0 when everything ran, whatever was found; 1 when an experiment could not be run.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask experiments", bin_name = "cargo xtask experiments")]
struct Arguments {
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

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if stderr is gone.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: Arguments) -> anyhow::Result<()> {
    let letters = match arguments.letters.is_empty() {
        true => Letter::ALL.to_vec(),
        false => {
            arguments.letters.sort_unstable();
            arguments.letters.dedup();
            arguments.letters
        }
    };
    let agent = Agent::find(arguments.claude.as_deref())?;
    let takes = takes(&letters, Surroundings::of_this_process().root);
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
    Ok(())
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
