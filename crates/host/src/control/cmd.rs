//! Who wants something done, and the proof that it was.
//!
//! Owns [`Cmd`], [`Receipt`] and [`ControlError`]. Invariants: the same key with the same command gives the same receipt
//! and does nothing twice; the same key with another command is refused.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::Upload;
use super::ids::{ApprovalId, MessageId, SessionId};

/// Around every write: who, from where, and a key by which it is known when it comes again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cmd {
    /// Chosen by the client; at most 128 letters.
    pub key: String,
    /// Who: the name of a token, of a user, of a rule.
    pub principal: String,
    /// From which client: `web`, `terminal`, the name of a program.
    pub client: String,
    /// Not to be begun after this moment (microseconds of Unix time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
}

impl Cmd {
    /// The longest key.
    pub const LONGEST_KEY: usize = 128;

    /// A command with a key that nobody has used.
    pub fn of(principal: impl Into<String>, client: impl Into<String>) -> Self {
        Self {
            key: uuid::Uuid::new_v4().simple().to_string(),
            principal: principal.into(),
            client: client.into(),
            deadline: None,
        }
    }

    /// With this key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }
}

/// That a command was taken, and what came of it. Stored: the same key gives it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// The key of the command.
    pub key: String,
    /// When it was taken, in microseconds of Unix time.
    pub at: u64,
    /// What came of it.
    pub did: Did,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "did", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Did {
    /// Taken; what follows shows in the session.
    Done,
    /// A session is there.
    Session {
        /// Which.
        session: SessionId,
    },
    /// A message waits or was sent.
    Message {
        /// Which.
        message: MessageId,
    },
    /// A decision is stored. It reaches the agent even if the host ends now.
    Decided {
        /// The approvals it decided.
        approvals: Vec<ApprovalId>,
        /// A session that was started by it: *clear context*.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    },
    /// A file is there for the agent.
    Upload {
        /// Which.
        upload: Upload,
    },
    /// What the command gave.
    Value {
        /// As JSON.
        value: Value,
    },
}

/// Why a command was not taken, or a question not answered.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize, ToSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ControlError {
    /// There is no such thing.
    #[error("there is no {what} {id}")]
    NotFound {
        /// What kind of thing.
        what: String,
        /// Its name.
        id: String,
    },
    /// Somebody was first.
    #[error("{first}")]
    Conflict {
        /// What holds, in words.
        first: String,
        /// What holds, for a program: the first decision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holds: Option<Value>,
    },
    /// The person saw something else than what is asked now.
    #[error("what was shown is not what is asked: look at it again")]
    Stale {
        /// The digest that would be right.
        now: super::ids::Digest,
    },
    /// It makes no sense as it is.
    #[error("{why}")]
    Invalid {
        /// What is wrong, and what would be right.
        why: String,
    },
    /// Not in this state.
    #[error("{why}")]
    NotNow {
        /// Why not, and what to do first.
        why: String,
    },
    /// A person must say yes to this first.
    #[error("{why}")]
    Confirm {
        /// What they must know.
        why: String,
    },
    /// The key was used for something else.
    #[error("the key `{key}` was used for another command: choose a new one")]
    KeyReused {
        /// The key.
        key: String,
    },
    /// Its time has passed.
    #[error("the deadline of this command has passed: nothing was done")]
    TooLate,
    /// Elsewhere: another machine has it.
    #[error("this session is held by {holder}")]
    NotHere {
        /// Who holds it.
        holder: String,
    },
    /// Not at the moment.
    #[error("{why}; try again")]
    Unavailable {
        /// Why.
        why: String,
        /// When to try again, in milliseconds.
        retry_ms: u64,
    },
    /// No room on the disk.
    #[error("the disk is full: nothing was done; make room and try again")]
    NoSpace,
    /// It may have been done: ask again with the same key.
    #[error("it is not known whether this was done ({why}): send it again with the same key")]
    Unknown {
        /// What happened.
        why: String,
    },
}

impl ControlError {
    /// There is no such thing.
    pub fn not_found(what: &str, id: impl std::fmt::Display) -> Self {
        Self::NotFound {
            what: what.to_owned(),
            id: id.to_string(),
        }
    }

    /// It makes no sense.
    pub fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid { why: why.into() }
    }

    /// Not in this state.
    pub fn not_now(why: impl Into<String>) -> Self {
        Self::NotNow { why: why.into() }
    }
}

/// The result of a command or a question.
pub type Result<T, E = ControlError> = std::result::Result<T, E>;
