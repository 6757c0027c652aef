//! The values that cross the border of the engine: what it is told, what it asks for, and what it starts from.

use std::time::Duration;

use serde_json::Value;

use super::deed::{Deed, Outcome};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input<'a> {
    /// The process begins. The first input, and only once.
    Start,
    /// The host wrote a line; without its newline.
    Line(&'a [u8]),
    /// The host closed stdin.
    Eof,
    /// The time of the last [`Output::WakeAt`] has come, or an earlier one.
    Timer,
    /// A signal arrived.
    Signal(Signal),
    /// What [`Output::Do`] asked for is done.
    Done {
        /// Of which deed.
        serial: u64,
        /// How it went.
        outcome: &'a Outcome,
    },
}

/// A signal that ends a CLI in an orderly way, or should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM
    Terminate,
    /// SIGINT
    Interrupt,
    /// SIGHUP
    HangUp,
}

impl Signal {
    /// The signal that is written `sigterm`, `sigint` or `sighup`.
    pub(in crate::cli) fn named(name: &str) -> Option<Self> {
        match name {
            "sigterm" => Some(Self::Terminate),
            "sigint" => Some(Self::Interrupt),
            "sighup" => Some(Self::HangUp),
            _ => None,
        }
    }
}

/// What the shell must do, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Write to stdout.
    Write(Vec<u8>),
    /// Write one byte many times to stdout, in blocks.
    Fill {
        /// The byte.
        byte: u8,
        /// How often.
        count: u64,
    },
    /// Write to stderr.
    Stderr(Vec<u8>),
    /// Come back with [`Input::Timer`] at this time after the start. Always last, and replaces the one before.
    WakeAt(Duration),
    /// Start a shell command that inherits stdout and stderr.
    Spawn {
        /// For `sh -c`.
        command: String,
        /// In a session of its own.
        detached: bool,
    },
    /// Do something in the world, and come back with [`Input::Done`] if the deed has an outcome.
    Do {
        /// Comes back with the outcome.
        serial: u64,
        /// What to do.
        deed: Deed,
    },
    /// Stop a deed that is under way; no outcome is waited for.
    Abort {
        /// Of which deed.
        serial: u64,
    },
    /// Read nothing more from stdin.
    StopReading,
    /// Read at most so many bytes a second from stdin.
    ReadSlowly(u64),
    /// Close stdout and go on.
    CloseStdout,
    /// End with this code. Nothing follows.
    Exit(u8),
    /// Die by SIGKILL. Nothing follows.
    Crash,
}

/// What the process is started with.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The arguments after the name of the program.
    pub arguments: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// The user's folder.
    pub home: String,
    /// The time at the start, since 1970.
    pub wall: Duration,
    /// The environment, as far as the CLI looks at it.
    pub env: std::collections::BTreeMap<String, String>,
    /// What was found on disk; without it nothing is read and nothing is left behind.
    pub ground: Option<crate::cli::ground::Ground>,
    /// What the model says, in place of rules and where no scenario has turns.
    pub model: Option<ModelScript>,
    /// The process id, as the CLI tells it.
    pub pid: u32,
    /// Whose process it is.
    pub uid: u32,
    /// What ids are made from; the same seed gives the same ids.
    pub seed: u64,
}

impl Launch {
    pub(super) fn tmp(&self) -> &str {
        self.env.get("TMPDIR").map_or("/tmp", String::as_str)
    }
}

/// A model script, and how far an earlier process came with it.
#[derive(Debug, Clone)]
pub struct ModelScript {
    /// The script.
    pub script: crate::model::Script,
    /// The values of its variables.
    pub vars: crate::model::Vars,
    /// Where its state is kept for the next process, if anywhere.
    pub state_file: Option<std::path::PathBuf>,
    /// The state an earlier process left there.
    pub state: Value,
}

/// What variables of the environment ask for.
#[derive(Debug, Default)]
pub(super) struct FlagsOfEnv {
    pub(super) emits_state: bool,
    /// The host is an SDK, which keeps these lines to itself.
    pub(super) state_for_sdk: bool,
    pub(super) max_retries: u32,
}

impl FlagsOfEnv {
    pub(super) fn read(env: &std::collections::BTreeMap<String, String>) -> Self {
        let set = |name: &str| {
            env.get(name)
                .is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
        };
        let retries = env.get("CLAUDE_CODE_MAX_RETRIES");
        let (asked, by_sdk) = (
            set("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"),
            set("CLAUDE_CODE_SDK_READS_SESSION_STATE"),
        );
        Self {
            emits_state: asked || by_sdk,
            state_for_sdk: by_sdk && !asked,
            max_retries: retries.and_then(|value| value.parse().ok()).unwrap_or(10),
        }
    }
}
