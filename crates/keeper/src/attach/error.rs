//! What can go wrong when a host attaches to a keeper.

use std::time::Duration;

use super::state::Over;
use crate::protocol::Refusal;

/// Why a host is not attached, or is not any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The socket does not answer.
    #[error("the keeper's socket does not answer: {0}; look whether the keeper still runs")]
    Socket(#[source] std::io::Error),
    /// The socket is another user's.
    #[error("the keeper's socket is answered by user {uid}, who is not us: leave it alone")]
    Foreign {
        /// Whose.
        uid: u32,
    },
    /// Nothing came.
    #[error("the keeper said nothing within {0:?}: it may be stopped; it can be killed by its pid")]
    Silent(Duration),
    /// The keeper does not want us.
    #[error("the keeper turned us away: {0:?}")]
    Refused(Refusal),
    /// The connection is over.
    #[error("the connection to the keeper is over: {0:?}")]
    Over(Over),
    /// What came is not of the protocol.
    #[error("the keeper said something that is not of the protocol: {0}")]
    Protocol(String),
    /// The line, or the note on it, is longer than a keeper takes.
    #[error("a line may have 256 MiB and a note 1 MiB: send less at once")]
    TooLong,
    /// The journal cannot be read.
    #[error("the journal cannot be read: {0}")]
    Journal(String),
    /// Starting the agent failed.
    #[error(transparent)]
    Start(#[from] crate::StartError),
    /// The session could not be built.
    #[error(transparent)]
    Client(#[from] countersign_client::Error),
    /// Files of the session cannot be read or written.
    #[error("{what}: {source}")]
    File {
        /// Which.
        what: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}
