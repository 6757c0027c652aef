//! Decides what a resume means before a CLI is started for it: an id or a title to a session, or a clear no.

use std::path::{Path, PathBuf};

use super::info::SessionInfo;
use super::{HistoryError, ListOptions, SessionUuid, Transcripts};

/// Where the CLI in use looks for a session to resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// In the project of its working directory only: 2.0.75, 2.1.62.
    ThisProject,
    /// In all projects: 2.1.325.
    AllProjects,
}

/// Why a session cannot be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// There is none of that id or title.
    #[error("no session {wanted:?} below {}: list the sessions to see which there are", .looked_in.display())]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// Where it was looked for.
        looked_in: PathBuf,
    },
    /// It has a file and no conversation.
    #[error("session {id} holds no conversation: start a new one")]
    Empty {
        /// The session.
        id: SessionUuid,
    },
    /// Several sessions have that title.
    #[error("{} sessions are called {title:?}: give the id of one of them", .ids.len())]
    Ambiguous {
        /// The title.
        title: String,
        /// The sessions, newest first.
        ids: Vec<SessionUuid>,
    },
    /// It belongs to another project, where this CLI does not look.
    #[error("session {id} was started in {}, where this CLI version does not look: start it there", .started_in.as_deref().unwrap_or(Path::new("another folder")).display())]
    Elsewhere {
        /// The session.
        id: SessionUuid,
        /// Its working directory.
        started_in: Option<PathBuf>,
    },
    /// The transcripts could not be read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl Transcripts {
    /// The session that `wanted`, an id or a title, means for a CLI started in `cwd`. A title is one that a person or
    /// the CLI gave, in any case; this project's sessions go before others.
    ///
    /// # Errors
    /// See [`ResumeError`].
    pub fn resolve_resume(
        &self,
        cwd: &Path,
        wanted: &str,
        reach: Reach,
    ) -> Result<SessionInfo, ResumeError> {
        let project = self.project(cwd);
        let Ok(id) = SessionUuid::parse(wanted.trim()) else {
            return self.by_title(cwd, wanted.trim(), reach);
        };
        let here = project.folder().join(id.file_name());
        let here = super::transcript::regular_file(&here)?.map(|_| here);
        let transcript = match here {
            Some(path) => super::Transcript::new(self.config_dir().to_owned(), id.clone(), path),
            None => self.find(&id)?.ok_or_else(|| self.unknown(wanted))?,
        };
        let info = transcript.info()?.ok_or(ResumeError::Empty { id })?;
        if reach == Reach::ThisProject && !project.holds(&info.path) {
            let (id, started_in) = (info.id, info.cwd);
            return Err(ResumeError::Elsewhere { id, started_in });
        }
        Ok(info)
    }

    fn by_title(&self, cwd: &Path, title: &str, reach: Reach) -> Result<SessionInfo, ResumeError> {
        let wanted = title.to_lowercase();
        let called = |info: &SessionInfo| {
            let titles = [&info.custom_title, &info.ai_title];
            titles
                .into_iter()
                .flatten()
                .any(|title| title.trim().to_lowercase() == wanted)
        };
        let options = ListOptions {
            include_worktrees: reach == Reach::AllProjects,
            ..ListOptions::default()
        };
        let mut found = self.project(cwd).list(&options)?;
        found.retain(called);
        if found.is_empty() && reach == Reach::AllProjects {
            found = self.list_all(&ListOptions::default())?;
            found.retain(called);
        }
        if found.len() > 1 {
            return Err(ResumeError::Ambiguous {
                title: title.to_owned(),
                ids: found.into_iter().map(|info| info.id).collect(),
            });
        }
        found.pop().ok_or_else(|| self.unknown(title))
    }

    fn unknown(&self, wanted: &str) -> ResumeError {
        ResumeError::Unknown {
            wanted: wanted.chars().take(200).collect(),
            looked_in: self.projects_dir(),
        }
    }
}
