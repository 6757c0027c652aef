//! Whether a worktree is what it was: its folder, git's record of it, its repository.
//!
//! Owns the one check before anything is asked of a worktree. Reads only. Invariant: a folder that is not this worktree any
//! more is never taken for it.

use std::path::{Path, PathBuf};

use super::{Worktree, WorktreeError, Worktrees};

/// A worktree that is there.
#[derive(Debug, Clone)]
pub(super) struct Looked {
    /// Git's own folder for it.
    pub(super) admin: PathBuf,
    /// The repository's inner folder, where it is now.
    pub(super) common: PathBuf,
    /// The commit it is at; none on a branch without one.
    pub(super) head: Option<String>,
    /// The branch it is on, in full; none if it is on none.
    pub(super) on: Option<String>,
}

impl Worktrees {
    pub(super) async fn look(&self, worktree: &Worktree) -> Result<Looked, WorktreeError> {
        let path = &worktree.path;
        if !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
            return Err(WorktreeError::FolderGone {
                path: path.clone(),
                branch: worktree.branch.clone(),
            });
        }
        let ask = async |what: &[&str]| {
            let call = self.git.within(path).args(["rev-parse"]).args(what);
            call.run().await
        };
        let admin = ask(&["--absolute-git-dir"]).await?;
        if !admin.ok {
            return Err(why_unknown(worktree));
        }
        let admin = PathBuf::from(admin.line());
        let common = ask(&["--path-format=absolute", "--git-common-dir"]).await?;
        let common = PathBuf::from(common.line());
        // A repository of its own, made where the worktree was: its folder is the shared one.
        if admin == common {
            return Err(forgotten(worktree));
        }
        let head = ask(&["--verify", "--quiet", "HEAD^{commit}"]).await?;
        let on = self
            .git
            .within(path)
            .args(["symbolic-ref", "--quiet", "HEAD"]);
        let on = on.run().await?;
        Ok(Looked {
            admin,
            common,
            head: head.ok.then(|| head.text()),
            on: on.ok.then(|| on.text()),
        })
    }
}

/// Git knows no worktree there: has the repository gone, or only its record?
fn why_unknown(worktree: &Worktree) -> WorktreeError {
    let repository = pointed_at(&worktree.path)
        .and_then(|admin| Some(admin.parent()?.parent()?.to_owned()))
        .unwrap_or_else(|| worktree.git_dir.clone());
    if repository.is_dir() {
        return forgotten(worktree);
    }
    WorktreeError::RepositoryGone {
        path: worktree.path.clone(),
        repo: worktree.repo.clone(),
    }
}

fn forgotten(worktree: &Worktree) -> WorktreeError {
    WorktreeError::Forgotten {
        path: worktree.path.clone(),
        branch: worktree.branch.clone(),
    }
}

/// Where the file `.git` of a worktree says that git's folder for it is.
fn pointed_at(worktree: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let said = std::fs::read(worktree.join(".git")).ok()?;
    let path = said.strip_prefix(b"gitdir: ")?;
    let path = path.strip_suffix(b"\n").unwrap_or(path);
    Some(std::ffi::OsString::from_vec(path.to_vec()).into())
}
