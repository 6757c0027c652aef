//! `countersign rehearse …`: agents with no model account. One file for each command below it.

mod cli;
mod install;
mod model;
mod scenarios;
mod wanted;

use clap::Subcommand;

use crate::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a scripted `claude`: its flags, its messages, no model
    ///
    /// Takes the place of the real CLI for whatever drives it: the SDKs, an editor, your own software. Without a scenario it
    /// follows plain requests, such as "run `ls`" or "write a.txt: Hello". The format of scenarios is described in
    /// docs/scenario.md, what is played and what is not in docs/rehearsal.md.
    ///
    /// The options below come first; from the first other word on, everything belongs to the scripted `claude`, as it
    /// stands. `countersign rehearse cli -- --help` is its own help. COUNTERSIGN_SCENARIO may name the scenario's file,
    /// COUNTERSIGN_SCENARIO_TEXT may hold its text.
    #[command(disable_version_flag = true)]
    Cli(cli::Arguments),
    /// Install the scripted CLI under the name `claude`
    ///
    /// Makes a small script that starts this very `countersign`. A file that was not made so is left alone.
    Install(install::Arguments),
    /// List the scenarios that come with the program
    Scenarios(scenarios::List),
    /// Check scenario files: where the first mistake is, and what may stand there
    ///
    /// Exits 0 only if all files can be played.
    Check(scenarios::Check),
    /// Serve a scripted model on loopback for the real `claude` CLI
    ///
    /// Prints the address to give the CLI as ANTHROPIC_BASE_URL and serves until it is interrupted (Ctrl-C). The format of
    /// scripts is described in docs/model-script.md. Exits 0 only if the CLI asked for nothing the script did not foresee.
    Model(model::Arguments),
}

pub(crate) fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Cli(arguments) => cli::run(arguments),
        Command::Install(arguments) => install::run(&arguments),
        Command::Scenarios(list) => scenarios::list(&list),
        Command::Check(check) => scenarios::check(&check),
        Command::Model(arguments) => model::run(arguments),
    }
}
