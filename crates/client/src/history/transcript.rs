//! A handle on the transcript of one session. Holds a path, not an open file; each call looks at the file anew.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::branch::{Branch, BranchOptions};
use super::error::{HistoryError, io};
use super::info::{self, SessionInfo};
use super::reader::Entries;
use super::{SessionUuid, Subagent, subagents};

/// The transcript of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    pub(super) config_dir: PathBuf,
    pub(super) id: SessionUuid,
    pub(super) path: PathBuf,
}

impl Transcript {
    pub(super) fn new(config_dir: PathBuf, id: SessionUuid, path: PathBuf) -> Self {
        Self {
            config_dir,
            id,
            path,
        }
    }

    /// The session.
    pub fn id(&self) -> &SessionUuid {
        &self.id
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the project.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The folder beside the transcript: sub-agents and what else newer CLIs keep for the session.
    pub(super) fn side_folder(&self) -> PathBuf {
        self.folder().join(self.id.as_str())
    }

    /// What a list shows of it. `None` for a file that holds no conversation: empty, or a sub-agent's.
    ///
    /// # Errors
    /// When the file is gone or cannot be read.
    pub fn info(&self) -> Result<Option<SessionInfo>, HistoryError> {
        let meta = self.metadata()?;
        info::read(&self.id, &self.path, &meta)
    }

    /// Every line in the order of the file, one in memory at a time.
    ///
    /// # Errors
    /// When the file is gone or cannot be opened.
    pub fn entries(&self) -> Result<Entries, HistoryError> {
        self.metadata()?;
        Entries::open(&self.path)
    }

    /// The conversation as it stands: the branch that the last message is on.
    ///
    /// # Errors
    /// When the file is gone or cannot be read.
    pub fn branch(&self, options: &BranchOptions) -> Result<Branch, HistoryError> {
        self.metadata()?;
        Branch::read(&self.path, options, false)
    }

    /// The session's sub-agents, the first started first.
    ///
    /// # Errors
    /// When a folder is there and cannot be listed.
    pub fn subagents(&self) -> Result<Vec<Subagent>, HistoryError> {
        subagents::list(self)
    }

    /// The sub-agent of that id.
    ///
    /// # Errors
    /// [`HistoryError::NoSubagent`], or when a folder cannot be listed.
    pub fn subagent(&self, agent_id: &str) -> Result<Subagent, HistoryError> {
        let mut agents = self.subagents()?.into_iter();
        agents
            .find(|agent| agent.id == agent_id)
            .ok_or_else(|| HistoryError::NoSubagent {
                id: self.id.clone(),
                agent: agent_id.chars().take(80).collect(),
            })
    }

    /// The file as it is now.
    pub(super) fn metadata(&self) -> Result<Metadata, HistoryError> {
        regular_file(&self.path)?.ok_or_else(|| HistoryError::NotFound {
            id: self.id.clone(),
            looked_in: self.folder().to_owned(),
        })
    }
}

/// The metadata of a file that is there and no link.
pub(super) fn regular_file(path: &Path) -> Result<Option<Metadata>, HistoryError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => Ok(meta.is_file().then_some(meta)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io("look at", path)(error)),
    }
}
