//! What can go wrong with transcripts on disk, each with the next step.

use std::path::{Path, PathBuf};

use super::SessionUuid;

/// Why something could not be done with a transcript.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The environment names no home folder.
    #[error("no home folder is known: set HOME (USERPROFILE on Windows) or CLAUDE_CONFIG_DIR")]
    NoHome,
    /// A session id is not a UUID, and so never becomes part of a path.
    #[error("{text:?} is no session id: session ids are UUIDs, as the session list shows them")]
    NotAUuid {
        /// What was given, shortened.
        text: String,
    },
    /// There is no such session.
    #[error("no session {id} below {}: list the sessions to see which there are", .looked_in.display())]
    NotFound {
        /// What was looked for.
        id: SessionUuid,
        /// Where.
        looked_in: PathBuf,
    },
    /// There is no such sub-agent of the session.
    #[error("session {id} has no sub-agent {agent:?}: list its sub-agents to see which there are")]
    NoSubagent {
        /// The session.
        id: SessionUuid,
        /// What was looked for.
        agent: String,
    },
    /// The transcript holds nothing, so there is nothing to rename, tag or fork.
    #[error("session {id} is empty: send it a message first")]
    Empty {
        /// The session.
        id: SessionUuid,
    },
    /// A title or tag has no visible character.
    #[error("the {what} is blank: give it at least one visible character")]
    Blank {
        /// Title or tag.
        what: &'static str,
    },
    /// The message a fork was to end at is not in the transcript's main conversation.
    #[error(
        "session {id} has no message {message}: take the uuid from a message of its main conversation"
    )]
    NoMessage {
        /// The session.
        id: SessionUuid,
        /// What was looked for.
        message: String,
    },
    /// A file is in the way; nothing is overwritten.
    #[error("{} is there already: choose another id, or move it away", .path.display())]
    Taken {
        /// The file.
        path: PathBuf,
    },
    /// A folder in the trash has no readable note of where its files came from.
    #[error("{} is no deleted session: its files can be moved back by hand", .path.display())]
    NotTrash {
        /// The folder.
        path: PathBuf,
    },
    /// A file operation failed.
    #[error("cannot {doing} {}: {source}; check that the folder is yours and has room", .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
}

/// Names what was tried on what, for `map_err`.
pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> HistoryError {
    let path = path.to_owned();
    move |source| HistoryError::Io {
        doing,
        path,
        source,
    }
}
