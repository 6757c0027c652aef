//! What a host orders: one agent of one generation.
//!
//! Owns the order as values. What of it may be stored is decided in `spec`; values of variables and secret arguments
//! never are.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use countersign_process::Marker;
use serde::{Deserialize, Serialize};

/// An argument of the agent.
#[derive(Clone, PartialEq, Eq)]
pub enum Arg {
    /// May be stored and shown.
    Plain(OsString),
    /// Stored and shown as `***`.
    Secret(OsString),
}

impl Arg {
    /// What stands for a secret wherever it is stored or shown.
    pub const MASK: &'static str = "***";

    /// The argument as the agent gets it.
    pub fn value(&self) -> &OsString {
        match self {
            Self::Plain(value) | Self::Secret(value) => value,
        }
    }

    /// The argument as it is stored.
    pub fn shown(&self) -> String {
        match self {
            Self::Plain(value) => value.to_string_lossy().into_owned(),
            Self::Secret(_) => Self::MASK.to_owned(),
        }
    }
}

impl fmt::Debug for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.shown())
    }
}

/// How long each step of an end is given, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graces {
    /// From the interrupt to the result.
    pub interrupt_ms: u64,
    /// From the end of its stdin to the agent's own.
    pub stdin_ms: u64,
    /// From SIGTERM to the agent's end.
    pub terminate_ms: u64,
}

impl Default for Graces {
    fn default() -> Self {
        Self {
            interrupt_ms: 2_000,
            stdin_ms: 5_000,
            terminate_ms: 2_000,
        }
    }
}

/// One agent of one generation.
#[derive(Clone)]
pub struct Order {
    /// The session.
    pub session: String,
    /// Which start of its agent this is, from 1. There is never a second one of the same number.
    pub generation: u32,
    /// The folder of the session.
    pub dir: PathBuf,
    /// The folder for sockets.
    pub run: PathBuf,
    /// The agent's program: a path, or a name to be found in the `PATH` of `env`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// All of its environment but for the marker. Only the names are stored.
    pub env: Vec<(OsString, OsString)>,
    /// The secret by which a host shows that it may speak for this session. Never stored.
    pub token: String,
    /// What all processes of this agent carry.
    pub marker: Marker,
    /// How long each step of its end is given.
    pub graces: Graces,
    /// Never close stdin within a turn: CLIs up to 2.1.197 would go on as if their hooks had agreed.
    pub kill_first: bool,
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Order")
            .field("session", &self.session)
            .field("generation", &self.generation)
            .field("dir", &self.dir)
            .field("run", &self.run)
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("env", &names)
            .field("graces", &self.graces)
            .field("kill_first", &self.kill_first)
            .finish_non_exhaustive()
    }
}

/// The command that becomes a keeper: it calls [`main`](crate::main) first thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperCommand {
    /// The program.
    pub program: PathBuf,
    /// What comes before `--dir … --generation …`.
    pub args: Vec<OsString>,
    /// Its environment, beside `TMPDIR`. The agent gets nothing of it.
    pub env: Vec<(OsString, OsString)>,
}
