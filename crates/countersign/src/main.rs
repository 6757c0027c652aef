//! The `countersign` command: parses the command line, runs one command, turns its outcome into an exit code.
//!
//! Exit codes: 0 all is well, 1 the command failed or found something wrong, 2 the command line is not understood;
//! `rehearse cli` ends as the CLI it plays.
//! Results go to stdout, everything else to stderr, so that output can be piped.

mod commands;
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
    /// Look at what crosses the wire of a `claude` CLI
    #[command(subcommand)]
    Wire(commands::wire::Command),
    /// Run agents with no model account
    #[command(subcommand)]
    Rehearse(commands::rehearse::Command),
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
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        None => commands::overview::run(),
        Some(Command::Wire(command)) => commands::wire::run(command),
        Some(Command::Rehearse(command)) => commands::rehearse::run(command),
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
