//! `cargo xtask`: the one vocabulary for building, testing and looking after this repository.
//!
//! Owns the command line. Each command lives in a module of its own and returns whether it succeeded;
//! exit codes are 0 (yes), 1 (no, or an error), 2 (wrong arguments), 77 (skipped: something needed is
//! not on this machine).

mod bench;
mod budget;
mod check;
mod cli_docs;
mod cli_versions;
mod conformance;
mod experiments;
mod fetch;
mod fuzz;
mod fuzz_seeds;
mod generate;
mod nextest;
mod ordinary;
mod out;
mod page;
mod process;
mod report;
mod suites;
mod summary;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::bench::Bench;
use crate::fuzz::Fuzzed;
use crate::out::Format;
use crate::report::Strictness;
use crate::workspace::{PROFILE, Workspace};

/// What `cargo xtask fuzz` exits with when it could not run.
const EXIT_SKIPPED: u8 = 77;

/// Builds, tests and looks after this repository.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fetches what the tests need, builds once, runs the suites, prints a summary.
    ///
    /// What is not on this machine makes its suite skipped by name. The last line counts tests.
    Test {
        /// The suites to run, by name or family (`unit`, `real-cli`, `"real-cli 2.1.62"`); all
        /// without one
        suites: Vec<String>,
        /// How many rounds the suite `faults` has
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: Option<u32>,
        /// All rounds of storms and soaks, by hand: ten times as many as without, which is what CI runs
        #[arg(long, conflicts_with = "rounds")]
        long: bool,
        /// A skipped suite fails the run (but for vulnerability databases and fuzzing)
        #[arg(long)]
        strict: bool,
        /// Only list the suites
        #[arg(long)]
        list: bool,
        /// Print the summary (or the list) as JSON
        #[arg(long)]
        json: bool,
    },
    /// Checks format, lints, docs, dependencies, generated files and house rules.
    Check {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Formats, applies what clippy can mend, writes generated files.
    Fix,
    /// Writes the files that are made from the code.
    Gen {
        /// Write nothing; fail if a file is out of date
        #[arg(long)]
        check: bool,
        /// Only list the generators
        #[arg(long)]
        list: bool,
        /// Print the list as JSON
        #[arg(long, requires = "list")]
        json: bool,
    },
    /// Records what crosses the wire of the real CLI, scenario by scenario, into fixtures/wire.
    // Its help is the recorder's own.
    #[command(disable_help_flag = true)]
    Record {
        /// Passed on to the recorder
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Looks after the versions of the CLI that the tests know, and writes what changed between them.
    #[command(subcommand)]
    Cli(cli_versions::Action),
    /// Runs the client on every pinned CLI and writes docs/conformance.md of what was seen.
    Conformance {
        /// Write nothing; fail if the page is out of date
        #[arg(long)]
        check: bool,
    },
    /// Runs the experiments of seed 001 on every tested CLI and writes docs/experiments.md; with arguments, as those say.
    // Its help is the program's own.
    #[command(disable_help_flag = true)]
    Experiments {
        /// Passed on to the experiments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Runs a benchmark and prints its table.
    Bench {
        /// Which one
        #[arg(value_enum)]
        name: Bench,
        /// Passed on to the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Makes the pictures of the web page, docs/img: each main screen on a desk and on a phone, light and dark.
    Screenshots,
    /// Runs the fuzz targets from their seeds; needs a nightly toolchain (exit code 77 without).
    Fuzz {
        /// The targets; all without one
        targets: Vec<String>,
        /// How long each target runs
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        seconds: u32,
        /// Only list the targets
        #[arg(long)]
        list: bool,
        /// Print the list as JSON
        #[arg(long, requires = "list")]
        json: bool,
    },
    /// Brings everything the tests need into the cache, so that they run without a network.
    ///
    /// The cache is $COUNTERSIGN_CACHE, else $XDG_CACHE_HOME/countersign, else ~/.cache/countersign.
    Fetch {
        /// Only list what is needed and what is there
        #[arg(long)]
        list: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            out::note(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find()?;
    let workspace = &workspace;
    let success = match command {
        Command::Test {
            list: true, json, ..
        } => {
            test::list(workspace, Format::from_flag(json))?;
            true
        }
        Command::Test {
            suites,
            rounds,
            long,
            strict,
            json,
            ..
        } => {
            let strictness = if strict {
                Strictness::Strict
            } else {
                Strictness::Lenient
            };
            let wish = test::Wish {
                suites: &suites,
                rounds: rounds.or(long.then_some(test::LONG)),
            };
            test::command(workspace, &wish, strictness, Format::from_flag(json))?
        }
        Command::Check { json } => check::command(workspace, Format::from_flag(json))?,
        Command::Fix => fix(workspace)?,
        Command::Gen {
            list: true, json, ..
        } => {
            generate::list(Format::from_flag(json))?;
            true
        }
        Command::Gen { check: true, .. } => gen_check(workspace)?,
        Command::Gen { .. } => {
            generate::command(workspace)?;
            true
        }
        Command::Record { args } => record(workspace, &args)?,
        Command::Cli(action) => cli_versions::command(workspace, action)?,
        Command::Conformance { check } => conformance::command(workspace, check)?,
        Command::Experiments { args } => experiments::command(workspace, &args)?,
        Command::Screenshots => page::screenshots(workspace)?,
        Command::Bench { name, args } => bench::command(workspace, name, &args)?,
        Command::Fuzz {
            list: true, json, ..
        } => {
            fuzz::list(workspace, Format::from_flag(json))?;
            true
        }
        Command::Fuzz {
            targets, seconds, ..
        } => match fuzz::command(workspace, &targets, seconds)? {
            Fuzzed::NoFinding => true,
            Fuzzed::Finding => false,
            Fuzzed::Skipped => return Ok(ExitCode::from(EXIT_SKIPPED)),
        },
        Command::Fetch { list, json } => fetch::command(workspace, list, Format::from_flag(json))?,
    };
    Ok(if success {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn fix(workspace: &Workspace) -> anyhow::Result<bool> {
    let clippy = workspace
        .cargo()
        .args(["clippy", "--fix", "--allow-dirty", "--allow-staged"]);
    let mut success = clippy
        .args(["--workspace", "--all-targets", "--profile", PROFILE])
        .run()?
        .success();
    for formatter in check::formatters(workspace) {
        success &= formatter.run()?.success();
    }
    generate::command(workspace)?;
    Ok(success)
}

fn gen_check(workspace: &Workspace) -> anyhow::Result<bool> {
    match generate::check(workspace, check::Binary::Missing)? {
        check::Outcome::Failed(why) => {
            out::say(why);
            Ok(false)
        }
        _ => Ok(true),
    }
}

fn record(workspace: &Workspace, args: &[String]) -> anyhow::Result<bool> {
    let cargo = workspace
        .cargo()
        .args(["run", "--quiet", "--profile", PROFILE]);
    let cargo = cargo.args(["--package", "countersign-testkit", "--bin", "record", "--"]);
    Ok(cargo.args(args).hand_over()?.success())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn arguments_after_a_recording_or_benchmark_are_passed_on_unread() {
        let cli = Cli::try_parse_from(["cargo xtask", "record", "--help", "2.1.62"]).unwrap();
        assert!(matches!(cli.command, Command::Record { args } if args == ["--help", "2.1.62"]));
        let cli = Cli::try_parse_from(["cargo xtask", "bench", "wire", "--lines", "10"]).unwrap();
        assert!(matches!(cli.command, Command::Bench { args, .. } if args == ["--lines", "10"]));
    }
}
