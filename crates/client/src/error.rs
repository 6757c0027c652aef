//! What can go wrong, each with what to do about it.

use std::sync::Arc;
use std::time::Duration;

use countersign_wire::control::ControlErrorCode;

use crate::closed::Closed;
use crate::options::{LocateError, OptionError};

/// The result of a client call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call of the client failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No `claude` was found; the error lists where it was looked for and how to install it.
    #[error(transparent)]
    NotFound(#[from] LocateError),
    /// The options contradict each other or this version of the CLI.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// The process could not be started.
    #[error(transparent)]
    Spawn(#[from] crate::agent::SpawnError),
    /// The agent is gone.
    #[error("{0}")]
    Closed(Arc<Closed>),
    /// The agent ended before it answered `initialize`.
    #[error("claude did not come up: {0}")]
    Handshake(Arc<Closed>),
    /// The agent did not answer `initialize` in time, and was ended.
    #[error("claude did not answer the greeting within {after:?}: {closed}")]
    HandshakeTimedOut {
        /// How long was waited.
        after: Duration,
        /// How it was ended, with what it said on stderr.
        closed: Arc<Closed>,
    },
    /// The session to resume does not exist.
    #[error("there is no session {id} to resume here: list sessions, or start without `resume`")]
    NoSuchSession {
        /// What was asked for.
        id: String,
    },
    /// A session is to begin under an id of which the CLI has a transcript already. One without a single message in it,
    /// as an agent leaves it that was killed in its first turn, can be neither begun nor resumed.
    #[error(
        "session {id} is there already: resume it, or if that finds no conversation begin one under a new id"
    )]
    SessionIdInUse {
        /// What was asked for.
        id: String,
    },
    /// There is nothing in the message. Empty content hangs older CLIs for good.
    #[error("the message is empty: give it a text or a block")]
    EmptyPrompt,
    /// The CLI refused a control request.
    #[error("claude refused {subtype}: {message}")]
    Refused {
        /// Which request.
        subtype: String,
        /// What the CLI said.
        message: String,
        /// The same as a word for programs, where the CLI has one.
        code: Option<ControlErrorCode>,
    },
    /// No answer came in time. Versions up to 2.1.30 do not answer requests they do not know.
    #[error("claude did not answer {what} within {after:?}: it may be busy, or too old to know it")]
    TimedOut {
        /// What was asked.
        what: String,
        /// How long was waited.
        after: Duration,
    },
    /// The CLI answered something else than this build understands.
    #[error(
        "claude answered {subtype} in an unknown form: {reason}; use `control` for the raw answer"
    )]
    Reply {
        /// Which request.
        subtype: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// This version of the CLI cannot do it, or would die of it.
    #[error("claude {version} does not know {what}: install a newer one")]
    Unsupported {
        /// What was asked.
        what: String,
        /// The version that runs.
        version: String,
    },
    /// The CLI does not read its stdin: too much waits to be written.
    #[error("claude does not read: too much waits to be written; interrupt or close the session")]
    Backlog,
    /// A value has no JSON form.
    #[error("a value cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The turn ended in an error.
    #[error("the turn failed: {0}")]
    Turn(Box<crate::turn::TurnFailure>),
    /// The uuid of the message was known to the CLI, which did not run it again.
    #[error("message {uuid} was sent before and did not run again: use a new uuid")]
    Duplicate {
        /// The uuid.
        uuid: String,
    },
    /// The message was taken back before it ran.
    #[error("message {uuid} was taken back before it ran")]
    Cancelled {
        /// The uuid.
        uuid: String,
    },
    /// A blocking call where it cannot wait.
    #[cfg(feature = "blocking")]
    #[error(transparent)]
    Blocking(#[from] crate::blocking::BlockingError),
    /// Files or folders of the CLI could not be read.
    #[error(transparent)]
    History(#[from] crate::history::HistoryError),
}

impl Error {
    /// Whether the agent is gone.
    pub fn is_closed(&self) -> bool {
        self.closed().is_some()
    }

    /// Whether time ran out.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::HandshakeTimedOut { .. })
    }

    /// How the agent ended, if that is what went wrong.
    pub fn closed(&self) -> Option<&Closed> {
        match self {
            Self::Closed(closed)
            | Self::Handshake(closed)
            | Self::HandshakeTimedOut { closed, .. } => Some(closed),
            _ => None,
        }
    }

    /// The end of the agent's stderr, if it is gone.
    pub fn stderr(&self) -> Option<&str> {
        self.closed().map(|closed| closed.stderr.as_str())
    }

    /// The agent's exit code, if it is gone and had one.
    pub fn exit_code(&self) -> Option<i32> {
        self.closed().and_then(|closed| closed.code)
    }
}
