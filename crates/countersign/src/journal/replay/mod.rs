//! A recorded session, played again: for a person, or as an agent for a host.
//!
//! Owns `journal replay`: which part, how fast, into what. `show` is the terminal, `agent` the fake agent, `script` what
//! that one waits for.

mod agent;
mod host;
mod pace;
mod script;
mod show;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use countersign_journal::{Cursor, KeeperEvent, Kind, Record};
use countersign_wire::route::Route;

use self::pace::{Pace, Speed};
use super::range::{Place, Range};
use super::source::{Item, Source, SourceError};
use crate::Outcome;

/// What stands behind `journal replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A session's folder, its journal, one segment, a recording, or lines of a CLI; `-` is standard input (no segment)
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    /// What it is played as: to a person in this terminal, or as an agent on stdin and stdout
    #[arg(long = "as", value_enum, default_value = "person", value_name = "WHAT")]
    role: Role,
    /// How many times as fast as it was, or `max` for no waiting at all
    #[arg(long, default_value = "1", value_parser = |text: &str| text.parse::<Speed>(), value_name = "N|max")]
    speed: Speed,
    /// No pause is longer than so many seconds, however long the recorded one was
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    idle: Duration,
    #[command(flatten)]
    range: Range,
    /// Show everything: thinking, whole results, stderr, housekeeping
    #[arg(short, long)]
    verbose: bool,
    /// Flags of the `claude` CLI, as a host gives them
    #[arg(
        value_name = "CLAUDE ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    rest: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    /// Shown in this terminal
    Person,
    /// The agent's lines on stdout, the host's on stdin
    Agent,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub(crate) fn replay(arguments: Arguments) -> anyhow::Result<Outcome> {
    let source = Source::open(&arguments.path)?;
    let pace = Pace::new(arguments.speed, arguments.idle);
    if arguments.role == Role::Agent {
        let flags: Vec<_> = arguments
            .rest
            .iter()
            .map(|flag| flag.to_string_lossy())
            .collect();
        if flags
            .iter()
            .any(|flag| *flag == "--version" || *flag == "-v")
        {
            return agent::version(source);
        }
        arguments.range.check(&source)?;
        return agent::play(source, arguments.range, pace);
    }
    if let Some(first) = arguments.rest.first() {
        anyhow::bail!(
            "{} means nothing here: flags of the claude CLI go with --as agent",
            first.to_string_lossy()
        );
    }
    arguments.range.check(&source)?;
    show::play(source, &arguments.range, pace, arguments.verbose)
}

/// What a part of an input begins with: the folder it ran in and the version of the CLI, as far as the first records say.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) version: Option<String>,
}

/// So many records are looked at for it.
const LOOKED_AT: usize = 2_000;

impl Beginning {
    pub(crate) fn read(mut source: Source, range: &Range) -> Result<Self, SourceError> {
        let header = source.header().map(|header| header.cli.clone());
        let mut found = Self {
            version: header.filter(|version| version != "unknown"),
            cwd: None,
        };
        for _ in 0..LOOKED_AT {
            let Some(item) = source.next()? else {
                break;
            };
            if let Item::Record(generation, record) = item {
                if range.generation.is_some_and(|wanted| generation > wanted) {
                    break;
                }
                if found.look(&record) {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Whether everything is known with this record.
    fn look(&mut self, record: &Record<'_>) -> bool {
        match record.kind {
            Kind::Keeper => {
                if let Ok(KeeperEvent::Open { cwd, .. }) = serde_json::from_slice(record.payload) {
                    self.cwd = Some(cwd).filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
                }
                false
            }
            Kind::Agent => {
                let route = Route::of(record.payload);
                let is_init = route.is_ok_and(|route| route.subtype.is_some_and(|s| s == "init"));
                if is_init {
                    let init: serde_json::Value =
                        serde_json::from_slice(record.payload).unwrap_or_default();
                    let text = |name: &str| init[name].as_str().map(str::to_owned);
                    self.cwd = text("cwd").map(PathBuf::from).or(self.cwd.take());
                    self.version = text("claude_code_version").or(self.version.take());
                }
                is_init
            }
            _ => false,
        }
    }
}

/// Where a record stands, and whether anything follows that is wanted.
fn place(range: &Range, generation: u32, record: &Record<'_>) -> Place {
    range.place(Cursor::new(generation, record.seq))
}
