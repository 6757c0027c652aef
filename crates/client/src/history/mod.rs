//! The CLI's own transcripts on disk: find, list, read, rename, tag, delete, fork.
//!
//! Owns everything below `<config>/projects` that a host may want of it; starts no process and knows nothing of a
//! running session. All of it is synchronous `std::fs`: call it from `spawn_blocking` where the caller is async.
//! Invariants: a session id is a UUID before it becomes part of a path; symbolic links below the projects folder
//! are not followed; what is broken in a file is a value, never the end of the reading; nothing is overwritten, and
//! what is deleted goes to a trash unless the caller says otherwise.

mod branch;
mod edit;
mod entry;
mod error;
mod fields;
mod fork;
mod graph;
mod id;
mod info;
mod key;
mod list;
mod reader;
mod resume;
mod stamp;
mod subagents;
mod transcript;
mod trash;
mod worktrees;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use branch::{Branch, BranchOptions};
pub use entry::{Entry, TranscriptLine};
pub use error::HistoryError;
pub use fork::{ForkOptions, ForkSeed};
pub use id::SessionUuid;
pub use info::SessionInfo;
pub use key::project_key;
pub use list::{ListOptions, Project};
pub use reader::Entries;
pub use resume::{Reach, ResumeError};
pub use subagents::Subagent;
pub use transcript::Transcript;
pub use trash::Trashed;

use error::io;

/// The transcripts of one configuration folder.
#[derive(Debug, Clone)]
pub struct Transcripts {
    config_dir: PathBuf,
}

impl Transcripts {
    /// The transcripts below `config_dir`, which the CLI knows as `CLAUDE_CONFIG_DIR`.
    pub fn at(config_dir: impl Into<PathBuf>) -> Self {
        Self {
            config_dir: config_dir.into(),
        }
    }

    /// The transcripts of a CLI that is started with these variables: `CLAUDE_CONFIG_DIR`, else `.claude` in the
    /// home folder.
    ///
    /// # Errors
    /// [`HistoryError::NoHome`] when the variables name neither.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, HistoryError> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        if let Some(dir) = set("CLAUDE_CONFIG_DIR") {
            return Ok(Self::at(dir));
        }
        let home = set(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
        let home = home.ok_or(HistoryError::NoHome)?;
        Ok(Self::at(PathBuf::from(home).join(".claude")))
    }

    /// The transcripts of whoever runs this process.
    ///
    /// # Errors
    /// [`HistoryError::NoHome`] when the environment names no home folder.
    pub fn of_user() -> Result<Self, HistoryError> {
        Self::of_environment(|name| std::env::var_os(name))
    }

    /// The configuration folder.
    pub fn config_dir(&self) -> &Path {
        &self.config_dir
    }

    /// The folder that holds one folder a project.
    pub fn projects_dir(&self) -> PathBuf {
        self.config_dir.join("projects")
    }

    /// The project of a working directory. Nothing is read yet, and the project need not exist.
    pub fn project(&self, cwd: &Path) -> Project {
        Project::of(self.projects_dir(), cwd)
    }

    /// Every project folder, by name. None where no CLI ever ran.
    ///
    /// # Errors
    /// When the folder is there but cannot be listed.
    pub fn all_projects(&self) -> Result<Vec<PathBuf>, HistoryError> {
        list::project_folders(&self.projects_dir())
    }

    /// The sessions of all projects, newest first.
    ///
    /// # Errors
    /// When a folder cannot be listed. A file that cannot be read is left out.
    pub fn list_all(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, HistoryError> {
        list::list_folders(&self.all_projects()?, options, |_| true)
    }

    /// The transcript of a session, in whatever project it lies. Of several copies the one changed last that has
    /// something in it.
    ///
    /// # Errors
    /// [`HistoryError::NotFound`], or when the folders cannot be listed.
    pub fn get(&self, id: &SessionUuid) -> Result<Transcript, HistoryError> {
        self.find(id)?.ok_or_else(|| HistoryError::NotFound {
            id: id.clone(),
            looked_in: self.projects_dir(),
        })
    }

    /// As [`Transcripts::get`], with `None` for a session that is not there.
    ///
    /// # Errors
    /// When the folders cannot be listed.
    pub fn find(&self, id: &SessionUuid) -> Result<Option<Transcript>, HistoryError> {
        let mut found: Option<((bool, std::time::SystemTime), PathBuf)> = None;
        for folder in self.all_projects()? {
            let path = folder.join(id.file_name());
            let Some(meta) = transcript::regular_file(&path)? else {
                continue;
            };
            let modified = meta.modified().map_err(io("read the age of", &path))?;
            let rank = (meta.len() > 0, modified);
            if found.as_ref().is_none_or(|(best, _)| rank > *best) {
                found = Some((rank, path));
            }
        }
        Ok(found.map(|(_, path)| Transcript::new(self.config_dir.clone(), id.clone(), path)))
    }
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_change;
