//! Removes a worktree in which nothing would be lost.
//!
//! Owns the order: look, refuse if there is work, the whole folder to the trash, look again, git's record, the branch.
//! Invariants: nobody can force it; files that are ignored go to the trash with the rest; a branch goes only at the commit
//! that was found in another branch; stopped half-way, it is ended by the next call.

use std::path::Path;

use super::look::Looked;
use super::losses::{half_done, others};
use super::{Worktree, WorktreeError, Worktrees, status};
use crate::trash::{Reason, TrashId};

/// What became of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BranchFate {
    /// Every commit of it is in another branch: it is gone.
    Deleted,
    /// It stays.
    Kept {
        /// Why.
        why: &'static str,
    },
    /// There was none.
    NotThere,
}

/// A worktree that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Where its folder is now.
    pub trash: TrashId,
    /// What became of its branch.
    pub branch: BranchFate,
}

impl Worktrees {
    /// Removes a worktree if no work is lost by it: none that is uncommitted, new, stashed, half done, or in no other
    /// branch. Its folder goes to the trash. No agent may run in it. `now` in microseconds of Unix time.
    ///
    /// # Errors
    /// When there is work in it ([`WorktreeError::WouldLose`]), it is locked, or is not where it was.
    pub async fn remove(&self, worktree: &Worktree, now: u64) -> Result<Removed, WorktreeError> {
        let looked = match self.look(worktree).await {
            Err(gone @ WorktreeError::FolderGone { .. }) => {
                return self.finish_removing(worktree, gone).await;
            }
            looked => looked?,
        };
        let records = self.records(&looked.common).await?;
        let own = records.iter().find(|record| record.path == worktree.path);
        if let Some(why) = own.and_then(|record| record.locked.clone()) {
            return Err(WorktreeError::Locked {
                path: worktree.path.clone(),
                why: Some(why).filter(|why| !why.is_empty()),
            });
        }
        let losses = self.losses_of(worktree, &looked).await?;
        if !losses.is_nothing() {
            return Err(WorktreeError::WouldLose {
                path: worktree.path.clone(),
                losses: Box::new(losses),
            });
        }
        let why = format!("its worktree was removed ({})", worktree.branch);
        let mut reason = Reason::of(worktree.session, why);
        reason.commit = looked.head.clone();
        let trash = self.put(worktree, reason, now).await?;
        // Nobody finds the folder by its name any more. Was there work since we looked?
        if !self.is_as_before(worktree, &looked, &trash).await? {
            self.bring_back(&trash).await?;
            return Err(WorktreeError::Changed(worktree.path.clone()));
        }
        let branch = self.forget(worktree, &looked.common).await?;
        Ok(Removed { trash, branch })
    }

    /// Whether nothing was committed, stashed, changed or begun since this worktree was looked at. Its folder is in the trash.
    async fn is_as_before(
        &self,
        worktree: &Worktree,
        looked: &Looked,
        trash: &TrashId,
    ) -> Result<bool, WorktreeError> {
        let head = self.git.on(&looked.admin);
        let head = head.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        let head = head.run().await?;
        if head.ok.then(|| head.text()) != looked.head {
            return Ok(false);
        }
        let files = self.trash.place_of(trash);
        let call = self.git.on(&looked.admin).env("GIT_WORK_TREE", &files);
        let changes = status::of(call, true).await?;
        let is_clean = changes.changed.count + changes.untracked.count == 0;
        Ok(is_clean
            && half_done(&looked.admin).is_empty()
            && self.stashes(worktree, looked).await?.is_empty())
    }

    /// The folder is gone. Only if it is in the trash, by a removal that was stopped, does the rest follow.
    async fn finish_removing(
        &self,
        worktree: &Worktree,
        gone: WorktreeError,
    ) -> Result<Removed, WorktreeError> {
        let (trash, path) = (self.trash.clone(), worktree.path.clone());
        let found = blocking(&worktree.path, move || trash.last_from(&path)).await?;
        let Some(entry) = found? else {
            return Err(gone);
        };
        if !worktree.git_dir.is_dir() {
            return Err(WorktreeError::RepositoryGone {
                path: worktree.path.clone(),
                repo: worktree.repo.clone(),
            });
        }
        let branch = self.forget(worktree, &worktree.git_dir).await?;
        Ok(Removed {
            trash: entry.id,
            branch,
        })
    }

    /// Takes git's record of a worktree whose folder is gone, and its branch if that is merged.
    async fn forget(
        &self,
        worktree: &Worktree,
        common: &Path,
    ) -> Result<BranchFate, WorktreeError> {
        let records = self.records(common).await?;
        let is_recorded = records.iter().any(|record| record.path == worktree.path);
        if is_recorded {
            // Without force: if a folder is there again, git looks at it, and leaves what has changed.
            let path = worktree.path.as_os_str();
            let call = self.git.on(common);
            let call = call.args(["worktree".as_ref(), "remove".as_ref(), path]);
            call.good().await?;
        }
        self.drop_merged_branch(worktree, common).await
    }

    async fn drop_merged_branch(
        &self,
        worktree: &Worktree,
        common: &Path,
    ) -> Result<BranchFate, WorktreeError> {
        let full = worktree.full_branch();
        let call = self.git.on(common);
        let tip = call.args(["rev-parse", "--verify", "--quiet", &full]);
        let tip = tip.run().await?;
        if !tip.ok {
            return Ok(BranchFate::NotThere);
        }
        let tip = tip.text();
        let records = self.records(common).await?;
        let is_used = records
            .iter()
            .any(|record| record.branch.as_ref() == Some(&full));
        if is_used {
            return Ok(BranchFate::Kept {
                why: "it is checked out elsewhere",
            });
        }
        let branches = self.branches(common).await?;
        let others = others(&branches, worktree, &full);
        let call = self.git.on(common);
        let call = call.args(["rev-list", "--count", "--stdin"]);
        let asked: String = others.iter().map(|other| format!("^{other}\n")).collect();
        let asked = format!("{tip}\n{asked}");
        let left = call.stdin(asked.into_bytes()).good().await?.count();
        if left > 0 {
            return Ok(BranchFate::Kept {
                why: "no other branch has all of its commits",
            });
        }
        // Only at the commit that was found in another branch.
        let call = self.git.on(common);
        let dropped = call.args(["update-ref", "-d", &full, &tip]).run().await?;
        Ok(if dropped.ok {
            BranchFate::Deleted
        } else {
            BranchFate::Kept {
                why: "git did not let it go",
            }
        })
    }

    pub(super) async fn to_trash(
        &self,
        worktree: &Worktree,
        why: &str,
        now: u64,
    ) -> Result<TrashId, WorktreeError> {
        let why = format!("{why} ({})", worktree.branch);
        let reason = Reason::of(worktree.session, why);
        self.put(worktree, reason, now).await
    }

    async fn put(
        &self,
        worktree: &Worktree,
        reason: Reason,
        now: u64,
    ) -> Result<TrashId, WorktreeError> {
        let (trash, path) = (self.trash.clone(), worktree.path.clone());
        let put = blocking(&worktree.path, move || trash.put(&path, reason, now));
        Ok(put.await??)
    }

    async fn bring_back(&self, id: &TrashId) -> Result<(), WorktreeError> {
        let (trash, id) = (self.trash.clone(), id.clone());
        let folder = self.trash.folder().to_owned();
        blocking(&folder, move || trash.restore(&id)).await??;
        Ok(())
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    about: &Path,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorktreeError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| WorktreeError::io(about)(std::io::Error::other(error)))
}
