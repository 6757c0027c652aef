//! `countersign run`: one agent in this terminal.
//!
//! Owns the command line; the work is done in [`crate::run`].

use std::path::PathBuf;

use clap::Args;

use crate::Outcome;
use crate::run::{self, Limits, Mode};

/// What stands behind `run`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What the agent is to do; read from stdin if that is a pipe, asked for in a terminal
    pub(crate) prompt: Option<String>,
    /// Work in this folder
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The CLI: a path, or a command with arguments (`countersign rehearse cli` needs no account)
    #[arg(long, value_name = "CMD")]
    pub(crate) claude: Option<String>,
    /// The model
    #[arg(long, value_name = "M")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// plan, ask, edits, hands-off, hands-off=30m or rules-only
    #[arg(long, default_value = "ask", value_parser = |text: &str| text.parse::<Mode>(), value_name = "MODE")]
    pub(crate) mode: Mode,
    /// Allow what this rule means, such as `Bash(npm test:*)` or `Edit(src/**)`
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Ask about what this rule means, whatever else allows it
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// Refuse what this rule means, whatever else allows it
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Allow what no rule denies; answers no question, lifts no safety check, approves plans as `manual`
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print what the agent says and what is decided as NDJSON; nobody is asked
    #[arg(long)]
    pub(crate) json: bool,
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// Keep every line of the wire, both directions, in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Settings for the CLI, merged with those that make it ask about everything
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// A folder that counts as the working folder, too
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Show thinking and results in full
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Say what goes on inside, on stderr or in this file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) debug: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    if arguments.yes && arguments.mode == Mode::RulesOnly {
        let kind = clap::error::ErrorKind::ArgumentConflict;
        let message = "`--yes` and `--mode rules-only` say the opposite: leave one out";
        clap::Error::raw(kind, format!("{message}\n")).exit();
    }
    run::run(arguments).map(|ending| Outcome::Ended(ending.code()))
}
