//! `countersign policy …`: what rules say, before an agent asks. One file for each command below it.

mod check;
mod explain;
mod here;
mod replay;
mod shown;
mod test;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Subcommand;

use crate::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check rules: what cannot be read, examples that do not hold, rules that never speak
    ///
    /// Reads Claude Code's settings (*.json) and our own files (*.toml). Without a FILE it checks all files that would count
    /// for an agent here. Exits 0 only if there is nothing to say about them. The language of rules is described in
    /// docs/policy.md.
    Check(check::Arguments),
    /// Say what would be decided about a call: by which rule, why, and what would change it
    ///
    /// The call is a tool's name and its input as JSON, or `-` for standard input; for Bash the command alone will do:
    ///
    ///   countersign policy explain Bash 'git log; rm -rf x'
    ///   countersign policy explain Edit '{"file_path":"src/main.rs"}' --allow 'Edit(src/**)'
    ///
    /// Without --rules, the files that count for an agent here decide. Runs nothing, and exits 0 whatever the verdict is.
    #[command(verbatim_doc_comment)]
    Explain(explain::Arguments),
    /// Replay recorded questions against a file of rules: what would have been decided differently
    ///
    /// Reads recordings, or what the `claude` CLI printed with `--output-format stream-json`, and compares each question's
    /// verdict with the answer it got. Exits 1 if a rule would deny what was allowed, or allow what was denied.
    Test(test::Arguments),
}

pub(crate) fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Test(arguments) => test::run(&arguments),
    }
}

/// The command line is not understood after all.
fn usage(message: &str) -> anyhow::Result<Outcome> {
    writeln!(io::stderr(), "error: {message}")?;
    Ok(Outcome::Ended(ExitCode::from(2)))
}
