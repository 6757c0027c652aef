//! Makes a worktree again that was removed.
//!
//! Owns the way back from [`Worktrees::remove`]: the same folder, on the same branch, at the commit it was at. What git does
//! not know (build output) stays in the trash. Invariant: nothing that lies at the folder's place is touched.

use super::create::make_cwd;
use super::remove::blocking;
use super::{Worktree, WorktreeError, Worktrees};

impl Worktrees {
    /// Makes a worktree again whose folder lies in the trash. Returns whether there was anything to do.
    ///
    /// # Errors
    /// When its repository or its commit is gone, or git fails.
    pub async fn restore(&self, worktree: &Worktree) -> Result<bool, WorktreeError> {
        let path = &worktree.path;
        if std::fs::symlink_metadata(path).is_ok() {
            return Ok(false);
        }
        if !worktree.git_dir.is_dir() {
            return Err(WorktreeError::RepositoryGone {
                path: path.clone(),
                repo: worktree.repo.clone(),
            });
        }
        let (trash, origin) = (self.trash.clone(), path.clone());
        let entry = blocking(path, move || trash.last_from(&origin)).await??;
        let commit = entry.and_then(|entry| entry.reason.commit);
        let full = worktree.full_branch();
        let call = self.git.on(&worktree.git_dir);
        let tip = call.args(["rev-parse", "--verify", "--quiet", &full]);
        if !tip.run().await?.ok {
            let commit = commit.ok_or_else(|| WorktreeError::FolderGone {
                path: path.clone(),
                branch: worktree.branch.clone(),
            })?;
            let call = self.git.on(&worktree.git_dir);
            let made = call.args(["update-ref", "--create-reflog", "-m"]);
            // The empty old value: it must not be there.
            let made = made.args(["countersign: a worktree is back", &full, &commit, ""]);
            made.good().await?;
        }
        let call = self.git.on(&worktree.git_dir);
        call.args(["worktree", "add", "--quiet"])
            .args([path.as_os_str(), worktree.branch.as_ref()])
            .patience(self.checkout_limit)
            .good()
            .await?;
        make_cwd(worktree)?;
        Ok(true)
    }
}
