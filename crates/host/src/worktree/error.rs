//! Why there is no worktree, or why one stays.
//!
//! Owns [`WorktreeError`] and its form for clients. Invariant: each says what is the matter and what to do next; none of
//! them has cost anybody a file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::losses::Losses;
use super::setup::SetupFailed;
use crate::control::ControlError;
use crate::trash::TrashError;

/// What went wrong with a worktree.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorktreeError {
    /// The folder is not there, or is no folder.
    #[error("{} is no folder that can be entered: name one that is there", .0.display())]
    NoFolder(PathBuf),
    /// There is no git.
    #[error("git was not found: install it, or start the session without a worktree of its own")]
    GitMissing,
    /// Git cannot do what we need.
    #[error(
        "git {found} is too old for worktrees of sessions: install {needed} or newer, or start the session without one"
    )]
    GitTooOld {
        /// What is installed.
        found: String,
        /// What is needed.
        needed: &'static str,
    },
    /// The folder is in no repository.
    #[error("{} is in no git repository: run `git init` there, or start the session without a worktree of its own", .0.display())]
    NotARepository(PathBuf),
    /// The repository has no files there.
    #[error("{} is a bare repository or its inner folder: start from a folder with its files checked out", .0.display())]
    NoWorkingTree(PathBuf),
    /// The repository belongs to another.
    #[error("{} is a submodule of {}: start from there, or without a worktree of its own", .path.display(), .of.display())]
    Submodule {
        /// The submodule.
        path: PathBuf,
        /// The repository it belongs to.
        of: PathBuf,
    },
    /// There is nothing to begin from.
    #[error("{} has no commit yet: make a first one, or start the session without a worktree of its own", .0.display())]
    Unborn(PathBuf),
    /// The base names nothing.
    #[error(
        "`{0}` names no commit: give a branch, a tag or a commit of this repository, perhaps after a `git fetch`"
    )]
    NoSuchBase(String),
    /// Work in the folder would be missing in the worktree.
    #[error("{} has {changed} changed files that are not committed, and a worktree begins from a commit: commit or stash them, or name the base (`HEAD`) to begin without them", .repo.display())]
    DirtyBase {
        /// The repository.
        repo: PathBuf,
        /// How many files.
        changed: usize,
    },
    /// A branch stands where ours have their common name.
    #[error("a branch is called `{0}`, so that none can be called `{0}/…`: rename it")]
    PrefixTaken(String),
    /// Every number is taken.
    #[error(
        "`{0}` and its numbers are all taken: choose another name, or remove worktrees that are done"
    )]
    NoFreeName(String),
    /// The data folder is in the repository.
    #[error("the worktree would lie in {}, inside of the repository {}: start the host with a data folder elsewhere", .place.display(), .repo.display())]
    InsideRepository {
        /// Where worktrees go.
        place: PathBuf,
        /// The repository.
        repo: PathBuf,
    },
    /// The folder of the session leads out of the worktree.
    #[error("`{}` leads out of the repository by a link: start from another folder", .0.display())]
    LeadsOut(PathBuf),
    /// The setup script failed.
    #[error(transparent)]
    Setup(Box<SetupFailed>),
    /// The folder of the worktree is not where it was.
    #[error("{} is not there any more: bring it back, or run `git worktree repair` in the place it was moved to; its branch {branch} is untouched", .path.display())]
    FolderGone {
        /// Where it was.
        path: PathBuf,
        /// Its branch.
        branch: String,
    },
    /// The repository is not where it was.
    #[error("the repository of {} is not at {} any more: move it back, or put a link to its new place there and run `git worktree repair {}` in it", .path.display(), .repo.display(), .path.display())]
    RepositoryGone {
        /// The worktree.
        path: PathBuf,
        /// Where its repository was.
        repo: PathBuf,
    },
    /// Git has forgotten the worktree.
    #[error("what lies at {} is not the worktree that was made there, or git does not know it any more: copy what you need, or run `git worktree repair` on it in its own repository; its commits are on {branch}", .path.display())]
    Forgotten {
        /// The worktree.
        path: PathBuf,
        /// Its branch.
        branch: String,
    },
    /// There is work in it.
    #[error("{} stays: {losses}", .path.display())]
    WouldLose {
        /// The worktree.
        path: PathBuf,
        /// What would be lost.
        losses: Box<Losses>,
    },
    /// A person locked it.
    #[error("{} is locked{}: run `git worktree unlock` on it first", .path.display(), .why.as_deref().map(|why| format!(" ({why})")).unwrap_or_default())]
    Locked {
        /// The worktree.
        path: PathBuf,
        /// What was said when it was locked.
        why: Option<String>,
    },
    /// Something happened in it while it was being removed.
    #[error("{} changed while it was being removed, and is back at its place: end what works in it and try again", .0.display())]
    Changed(PathBuf),
    /// Git did not come to an end.
    #[error(
        "`git {what}` did not end within {after:?}: look for a hanging disk or filter, and try again"
    )]
    TimedOut {
        /// What it was to do.
        what: String,
        /// How long was waited.
        after: Duration,
    },
    /// Git said no.
    #[error("`git {what}` failed: {said}")]
    Git {
        /// What it was to do.
        what: String,
        /// What it said.
        said: String,
    },
    /// The file system said no.
    #[error("{}: {source}", .path.display())]
    Io {
        /// What it was about.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The trash said no.
    #[error(transparent)]
    Trash(#[from] TrashError),
}

impl WorktreeError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    fn is_no_space(&self) -> bool {
        match self {
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ),
            Self::Trash(error) => error.is_no_space(),
            Self::Git { said, .. } => said.contains("No space left on device"),
            _ => false,
        }
    }
}

/// In the words of the outside.
impl From<WorktreeError> for ControlError {
    fn from(error: WorktreeError) -> Self {
        if error.is_no_space() {
            return Self::NoSpace;
        }
        let why = error.to_string();
        match error {
            WorktreeError::DirtyBase { .. }
            | WorktreeError::WouldLose { .. }
            | WorktreeError::Locked { .. }
            | WorktreeError::Changed(_)
            | WorktreeError::FolderGone { .. }
            | WorktreeError::RepositoryGone { .. }
            | WorktreeError::Forgotten { .. } => Self::NotNow { why },
            WorktreeError::TimedOut { .. } => Self::Unavailable {
                why,
                retry_ms: 10_000,
            },
            _ => Self::Invalid { why },
        }
    }
}
