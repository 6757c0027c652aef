//! A worktree of its own for a session: made, looked at, removed.
//!
//! Owns the folder `worktrees` of the data folder and the branches `countersign/…`. The git CLI does the writing; how it
//! is run is `git`'s. Invariants: a worktree lies outside of its repository; one with work that is nowhere else is never
//! removed, and there is no word that would force it; what is removed goes to the trash, git's record of it too, and git
//! itself removes no file; a branch goes only if every commit of it is in another one.

mod been;
mod create;
mod diff;
mod error;
mod git;
mod list;
mod look;
mod losses;
mod merged;
mod remove;
mod repository;
mod restore;
mod setup;
pub mod slug;
mod status;
mod summary;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use diff::MOST_DIFF;
pub use error::WorktreeError;
pub use list::{Listed, Standing};
pub use losses::{Losses, Unmerged};
pub use remove::{BranchFate, Removed};
pub use repository::{Base, folder_of};
pub use setup::{SetupEnd, SetupFailed, SetupReport};
pub use status::Names;
pub use summary::Summary;

use crate::control::SessionId;
use crate::control::session::NewWorktree;
use crate::trash::{Trash, path_text};
use git::Git;

/// How long a setup script may take.
const SETUP_LIMIT: Duration = Duration::from_secs(15 * 60);

/// How long the files of a repository may take to be written.
const CHECKOUT_LIMIT: Duration = Duration::from_secs(15 * 60);

/// A worktree of a session. Kept with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// Whose it is.
    pub session: SessionId,
    /// The folder of the repository it was made from.
    #[serde(with = "path_text")]
    pub repo: PathBuf,
    /// The repository's inner folder, as it was then.
    #[serde(with = "path_text")]
    pub git_dir: PathBuf,
    /// Its own folder.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// The folder in it that the session works in.
    #[serde(with = "path_text")]
    pub cwd: PathBuf,
    /// Its branch: `countersign/…`.
    pub branch: String,
    /// What it began from.
    pub base: Base,
    /// When it was made: microseconds of Unix time.
    pub created: u64,
}

impl Worktree {
    fn full_branch(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// The wish for a worktree.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// Whose it is to be.
    pub session: SessionId,
    /// The folder in a repository that the session would work in otherwise.
    pub cwd: &'a Path,
    /// Base, name and setup script, as they were asked for.
    pub new: &'a NewWorktree,
    /// The session's name: the branch is called by it if the order names none.
    pub name: &'a str,
    /// Variables of the session, for the setup script.
    pub env: &'a BTreeMap<String, String>,
    /// Now: microseconds of Unix time.
    pub now: u64,
}

/// A worktree that was made.
#[derive(Debug)]
pub struct Created {
    /// The worktree.
    pub worktree: Worktree,
    /// What came of the setup script, if there was one.
    pub setup: Option<SetupReport>,
    /// What the person may want to know: sentences.
    pub notes: Vec<String>,
}

/// The worktrees of a host.
#[derive(Debug, Clone)]
pub struct Worktrees {
    git: Git,
    folder: PathBuf,
    trash: Trash,
    setup_limit: Duration,
    checkout_limit: Duration,
}

impl Worktrees {
    /// Those in `folder`, outside of every repository. Git and setup scripts see `env`, without what steers git.
    pub fn new(
        folder: impl Into<PathBuf>,
        trash: Trash,
        env: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            git: Git::new(env),
            folder: folder.into(),
            trash,
            setup_limit: SETUP_LIMIT,
            checkout_limit: CHECKOUT_LIMIT,
        }
    }

    /// With another limit for setup scripts.
    #[must_use]
    pub fn setup_limit(mut self, limit: Duration) -> Self {
        self.setup_limit = limit;
        self
    }

    /// With another limit for the writing of a repository's files.
    #[must_use]
    pub fn checkout_limit(mut self, limit: Duration) -> Self {
        self.checkout_limit = limit;
        self
    }

    /// Where they lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
