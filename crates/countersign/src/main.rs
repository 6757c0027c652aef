//! The `countersign` command: parses the command line, runs one command, turns its outcome into an exit code.
//!
//! Exit codes: 0 all is well, 1 the command failed or found something wrong, 2 the command line is not understood;
//! `rehearse cli` ends as the CLI it plays.
//! Results go to stdout, everything else to stderr, so that output can be piped.

mod commands;
mod experiments;
mod journal;
mod run;
mod show;
mod term;
mod wire_check;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Drives Claude Code agents and lets nothing run that was not countersigned.
#[derive(Debug, Parser)]
#[command(
    name = "countersign",
    version,
    propagate_version = true,
    max_term_width = 100
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one agent in this terminal, every call decided by a rule or by you
    ///
    /// Exits 0 if the last turn did what was asked, 1 if it failed, 3 if something was refused because nobody was there to
    /// ask, 130 if you stopped it.
    Run(commands::run::Arguments),
    /// Look at what crosses the wire of a `claude` CLI
    #[command(subcommand)]
    Wire(commands::wire::Command),
    /// Run agents with no model account
    #[command(subcommand)]
    Rehearse(commands::rehearse::Command),
    /// Run the experiments of seed 001 again, and compare
    ///
    /// Seed 001 is a written analysis of plan mode and permission prompts: eight experiments with their figures. Each is run
    /// again on a `claude` CLI with a scripted model, with no account and with nothing of your environment in sight, and
    /// each figure and claim of the seed is printed beside what is seen now: `agrees`, or `differs` with the section of the
    /// ground truth that says why. Costs and style are those of a thinking model and cannot be measured so. The tables are
    /// Markdown; docs/experiments.md has them for three versions.
    ///
    /// Exits 0 when everything ran, whatever was found; 1 when an experiment could not be run.
    Experiments(commands::experiments::Arguments),
    /// Look at rules: check them, ask them, hold them against recordings
    #[command(subcommand)]
    Policy(commands::policy::Command),
    /// Look at what a session did: count it, play it again, write it elsewhere, verify it
    #[command(subcommand)]
    Journal(commands::journal::Command),
    /// Make again what a host derives from journals: the life of approvals, search, sums
    ///
    /// Journals are the truth; the database beside them holds what people decided and what can be made again. This makes
    /// the latter again, while no host runs: after a database was put back from a copy, or when search or sums look wrong.
    /// Decisions, queues, rules and names are left alone. It can be stopped and run again.
    ///
    /// Exits 0, or 1 if a host runs on the folder or a journal cannot be read.
    #[cfg(unix)]
    Reindex(commands::reindex::Arguments),
}

/// What a command found, where it did not fail.
enum Outcome {
    /// All is well.
    Fine,
    /// It did its work and found something wrong.
    Found,
    /// It played another program, which ended so.
    Ended(ExitCode),
}

fn main() -> ExitCode {
    // Before anything else has allocated or started a thread: the process forks, and stays small.
    #[cfg(unix)]
    if let Some(code) = countersign_keeper::main_if_asked() {
        return code;
    }
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        None => commands::overview::run(),
        Some(Command::Run(arguments)) => commands::run::run(arguments),
        Some(Command::Wire(command)) => commands::wire::run(command),
        Some(Command::Rehearse(command)) => commands::rehearse::run(command),
        Some(Command::Experiments(arguments)) => commands::experiments::run(arguments),
        Some(Command::Policy(command)) => commands::policy::run(command),
        Some(Command::Journal(command)) => commands::journal::run(command),
        #[cfg(unix)]
        Some(Command::Reindex(arguments)) => commands::reindex::run(arguments),
    };
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::FAILURE,
        Ok(Outcome::Ended(code)) => code,
        // Whoever read our output has seen enough.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to report to if stderr is gone, too.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
