//! Why a request came to nothing.
//!
//! Owns [`ClientError`]. Invariant: whoever gets one knows whether the server was reached, and what to do next.

use std::time::Duration;

use crate::Problem;

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address is none.
    #[error("`{address}` is no address of a server: {why}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody is there.
    #[error("no server answers at {place}: {why}")]
    NotThere {
        /// Where.
        place: String,
        /// What the machine says.
        why: String,
    },
    /// The connection broke after the request was sent, and again when it was sent again.
    #[error(
        "the connection to {place} broke ({why}): it is not known whether this was done; look before you repeat it"
    )]
    Lost {
        /// Where.
        place: String,
        /// What the machine says.
        why: String,
    },
    /// No answer in time.
    #[error("{place} did not answer within {} s: it is not known whether this was done; look before you repeat it", .after.as_secs())]
    Slow {
        /// Where.
        place: String,
        /// How long it was waited.
        after: Duration,
    },
    /// The server says no.
    #[error("{}", .0.detail)]
    Refused(Box<Problem>),
    /// An answer that no Countersign gives.
    #[error(
        "{place} answered with status {status} and {why}: is this a Countersign server of this version?"
    )]
    Strange {
        /// Where.
        place: String,
        /// The status of the answer.
        status: u16,
        /// What is strange about it.
        why: String,
    },
}

impl ClientError {
    /// What the server said, where it said anything.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Refused(problem) => Some(problem),
            _ => None,
        }
    }

    /// Whether the same request may be sent again: nobody has said yes or no.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}
