//! `countersign rehearse cli`: the scripted `claude` as a process.
//!
//! Owns its own few options; all other arguments are the scripted CLI's and go on as they are.

use std::path::PathBuf;

use anyhow::bail;
use countersign_rehearsal::cli::{Setup, Version, main_with};
use countersign_rehearsal::model::parse_var;

use super::wanted::Wanted;
use crate::Outcome;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A scenario that comes with the program, or a file
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "model_script")]
    scenario: Option<String>,
    /// A model script to follow instead, as `rehearse model` takes it
    #[arg(long, value_name = "FILE")]
    model_script: Option<PathBuf>,
    /// A value for `${NAME}` in the model script; may be repeated
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_var, requires = "model_script")]
    vars: Vec<(String, String)>,
    /// The version of the CLI that is played [default: the scenario's, or 2.1.327]
    #[arg(long, value_name = "VERSION")]
    cli_version: Option<Version>,
    /// What is played if neither an option nor the environment says so
    #[arg(long, value_name = "NAME|FILE", hide = true)]
    usual: Option<String>,
    /// Flags and prompt of the scripted `claude`
    #[arg(
        value_name = "CLAUDE ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    rest: Vec<std::ffi::OsString>,
}

/// Variables that name what is played.
const TOLD: [&str; 3] = [
    "COUNTERSIGN_SCENARIO",
    "COUNTERSIGN_SCENARIO_TEXT",
    "COUNTERSIGN_MODEL_SCRIPT",
];

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let is_told = TOLD.iter().any(|name| std::env::var_os(name).is_some());
    let usual = arguments.usual.filter(|_| !is_told);
    let setup = match (arguments.scenario.or(usual), arguments.model_script) {
        (_, Some(script)) => {
            Setup::from_model_script(&script, arguments.vars.into_iter().collect())?
        }
        (Some(scenario), None) => Wanted::parse(&scenario)?.setup()?,
        (None, None) => Setup::from_env()?,
    };
    let setup = match arguments.cli_version {
        Some(version) => setup.with_version(version),
        None => setup,
    };
    let mut rest = Vec::with_capacity(arguments.rest.len());
    for argument in arguments.rest {
        match argument.into_string() {
            Ok(argument) => rest.push(argument),
            Err(argument) => bail!("{argument:?} is no UTF-8, and the CLI takes nothing else"),
        }
    }
    Ok(Outcome::Ended(main_with(setup, rest)))
}
