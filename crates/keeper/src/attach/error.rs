//! What can go wrong when a host attaches to a keeper.

use std::fmt;
use std::time::Duration;

use countersign_journal::Exit;

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
    #[error("the keeper turned us away: {0}")]
    Refused(Refusal),
    /// There is nothing to attach to: the agent has ended.
    #[error("the agent has ended ({}){}: start its next generation", How(.exit), Words(.stderr))]
    Ended {
        /// How.
        exit: Box<Exit>,
        /// The end of its stderr.
        stderr: String,
    },
    /// There is nothing to attach to: the keeper ended without a word.
    #[error("the keeper of this session was killed: recover it, then start its next generation")]
    Lost,
    /// The connection is over.
    #[error("the connection to the keeper is over: {0}")]
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dup => "a line of that number was taken before",
            Self::Gap => "lines before this one are missing",
            Self::NotOpen => "no such question is open: it was answered or withdrawn",
            Self::NotJson => "the line is not one complete JSON object",
            Self::Newline => "the line has a newline inside",
            Self::NonAscii => "the line is not ASCII",
            Self::TooLong => "the line is too long",
            Self::Full => "too much waits for the agent to read",
            Self::Paused => "the disk is full",
            Self::Ending => "the agent is being ended",
            Self::Token => "the token is not that of this session",
            Self::Epoch => "another host owns this agent: come with a higher epoch",
            Self::Peer => "it is of another user, or comes from the agent itself",
            Self::Role => "a watcher may only look",
            Self::Protocol => "it does not understand what was said",
            Self::Sync => "the journal could not be brought to the disk",
            Self::Unknown => "for a reason that this build does not know",
        })
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone(exit) => write!(f, "the agent has ended ({})", How(exit)),
            Self::Superseded => f.write_str("another host has taken this agent over"),
            Self::Lost(reason) => f.write_str(reason),
        }
    }
}

/// How an agent ended, in a few words.
struct How<'a>(&'a Exit);

impl fmt::Display for How<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.code, self.0.signal, &self.0.error) {
            (Some(code), _, _) => write!(f, "exit code {code}"),
            (_, Some(signal), _) => write!(f, "signal {signal}"),
            (_, _, Some(error)) => f.write_str(error),
            _ => f.write_str("nobody saw how"),
        }
    }
}

/// The last words of an agent, if it had any.
struct Words<'a>(&'a str);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.trim() {
            "" => Ok(()),
            words => write!(f, ", saying: {words}"),
        }
    }
}
