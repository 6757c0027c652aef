//! Removes a worktree in which nothing would be lost.
//!
//! Owns the order: look, refuse if there is work, the whole folder to the trash, look again, git's record of it to the trash,
//! too, the branch. Invariants: nobody can force it; nothing is deleted, and git is not asked to remove anything: it would
//! follow a link that lies at the folder's place by then; files that are ignored go to the trash with the rest; a branch
//! goes only at the commit that was found in another branch; stopped half-way, it is ended by the next call, if what lies
//! in the trash is what git's record is of.

use std::path::Path;

use super::look::{Looked, common_of, line_of, record_of};
use super::losses::others;
use super::{Worktree, WorktreeError, Worktrees};
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
        must_not_be_locked(worktree, &looked)?;
        let losses = self.losses_of(worktree, &looked, &worktree.path).await?;
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
        self.put_record(&trash, &looked).await?;
        let branch = self.drop_merged_branch(worktree, &looked.common).await?;
        Ok(Removed { trash, branch })
    }

    /// Whether nothing was committed, stashed, changed or begun since this worktree was looked at. Its folder is in the trash.
    async fn is_as_before(
        &self,
        worktree: &Worktree,
        looked: &Looked,
        trash: &TrashId,
    ) -> Result<bool, WorktreeError> {
        let now = self.look_at(worktree, looked.admin.clone()).await?;
        let files = self.trash.place_of(trash);
        Ok(now.head == looked.head && self.losses_of(worktree, &now, &files).await?.is_nothing())
    }

    /// The folder is gone. Only if it is in the trash, by a removal that was stopped, does the rest follow: git's record must
    /// be of what lies there, and hold nothing that is nowhere else.
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
        let common = common_of(worktree)?;
        if let Some(admin) = record_of(&common, &worktree.path) {
            let looked = self.look_at(worktree, admin).await?;
            must_not_be_locked(worktree, &looked)?;
            let (was_at, files) = (entry.reason.commit, self.trash.place_of(&entry.id));
            let losses = self.losses_of(worktree, &looked, &files).await?;
            let is_at_another = was_at.is_some() && was_at != looked.head;
            if is_at_another || losses.uncommitted.count + losses.untracked.count > 0 {
                return Err(gone);
            }
            if !losses.is_nothing() {
                return Err(WorktreeError::WouldLose {
                    path: worktree.path.clone(),
                    losses: Box::new(losses),
                });
            }
            self.put_record(&entry.id, &looked).await?;
        }
        let branch = self.drop_merged_branch(worktree, &common).await?;
        Ok(Removed {
            trash: entry.id,
            branch,
        })
    }

    /// Git's record of a worktree follows its folder: commits that were taken back are in its log.
    async fn put_record(&self, id: &TrashId, looked: &Looked) -> Result<(), WorktreeError> {
        let (trash, id, admin) = (self.trash.clone(), id.clone(), looked.admin.clone());
        blocking(&looked.admin, move || trash.put_record(&id, &admin)).await??;
        // As git does with the last one: it must be empty.
        let _ = std::fs::remove_dir(looked.common.join("worktrees"));
        Ok(())
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
        // Only at the commit that was found in another branch, and itself: it may name a branch of the person by now.
        let call = self.git.on(common);
        let dropped = call
            .args(["update-ref", "--no-deref", "-d", &full, &tip])
            .run()
            .await?;
        Ok(if dropped.ok {
            BranchFate::Deleted
        } else {
            BranchFate::Kept {
                why: "git did not let it go",
            }
        })
    }

    /// Takes a worktree out of the way that could not be made: what is in its folder, and git's record of it, to the trash.
    pub(super) async fn discard(&self, worktree: &Worktree, now: u64) -> Result<(), WorktreeError> {
        let path = &worktree.path;
        // Goes only if it is an empty folder.
        let _ = std::fs::remove_dir(path);
        let why = format!("it could not be made ({})", worktree.branch);
        let reason = Reason::of(worktree.session, why);
        let trashed = match std::fs::symlink_metadata(path) {
            Ok(_) => Some(self.put(worktree, reason.clone(), now).await?),
            Err(_) => None,
        };
        // Git may not have come as far as to know it.
        let common = common_of(worktree)?;
        let Some(admin) = record_of(&common, path) else {
            return Ok(());
        };
        let trash = self.trash.clone();
        blocking(path, move || match trashed {
            Some(id) => trash.put_record(&id, &admin),
            None => trash.put(&admin, reason, now).map(drop),
        })
        .await??;
        let _ = std::fs::remove_dir(common.join("worktrees"));
        Ok(())
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

fn must_not_be_locked(worktree: &Worktree, looked: &Looked) -> Result<(), WorktreeError> {
    let lock = looked.admin.join("locked");
    if std::fs::symlink_metadata(&lock).is_err() {
        return Ok(());
    }
    let why = line_of(&lock).map(|why| why.to_string_lossy().into_owned());
    Err(WorktreeError::Locked {
        path: worktree.path.clone(),
        why: why.filter(|why| !why.is_empty()),
    })
}

pub(super) async fn blocking<T: Send + 'static>(
    about: &Path,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorktreeError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| WorktreeError::io(about)(std::io::Error::other(error)))
}
