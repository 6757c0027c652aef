//! Makes a worktree again that was removed.
//!
//! Owns the way back from [`Worktrees::remove`]: the same folder with all that was in it, on the same branch, at the commit it
//! was at. Where the branch has gone on meanwhile, or the trash has not git's record of it, as an earlier build left it, the
//! commit is checked out anew and the rest stays in the trash. Invariants: nothing that lies at the folder's place is touched,
//! and it is taken for the worktree only if it is.

use std::path::{Path, PathBuf};

use super::create::make_cwd;
use super::look::{common_of, line_of, pointed_at, record_of};
use super::remove::blocking;
use super::{Worktree, WorktreeError, Worktrees};
use crate::control::now;
use crate::trash::{TrashError, Trashed};

impl Worktrees {
    /// Makes a worktree again whose folder lies in the trash. Returns whether there was anything to do.
    ///
    /// # Errors
    /// When its repository or its commit is gone, something else lies at its place, or git fails.
    pub async fn restore(&self, worktree: &Worktree) -> Result<bool, WorktreeError> {
        let path = &worktree.path;
        if std::fs::symlink_metadata(path).is_ok() {
            self.check_place(worktree)?;
            return Ok(false);
        }
        let common = common_of(worktree)?;
        let (trash, origin) = (self.trash.clone(), path.clone());
        let entry = blocking(path, move || trash.last_from(&origin)).await??;
        let commit = entry.as_ref().and_then(|entry| entry.reason.commit.clone());
        let full = worktree.full_branch();
        if self.tip(&common, &full).await?.is_none() {
            let commit = commit.ok_or_else(|| WorktreeError::FolderGone {
                path: path.clone(),
                branch: worktree.branch.clone(),
            })?;
            let call = self.git.on(&common);
            let made = call.args(["update-ref", "--no-deref", "--create-reflog", "-m"]);
            // The empty old value: it must not be there.
            let made = made.args(["countersign: a worktree is back", &full, &commit, ""]);
            made.good().await?;
        }
        let entry = match entry {
            Some(entry) if self.bring_all_back(worktree, &common, &entry).await? => {
                self.check_place(worktree)?;
                return Ok(true);
            }
            entry => entry,
        };
        let made = self.check_out(worktree).await;
        if let Ok(made) = &made
            && made.ok
        {
            make_cwd(worktree)?;
            let trash = self.trash.clone();
            if let Some(entry) = entry {
                // It speaks for the worktree no more.
                blocking(path, move || trash.mark_used(&entry.id)).await??;
            }
            return Ok(true);
        }
        if record_of(&common, path).is_some() {
            self.discard(worktree, now()).await?;
        }
        let said = made?;
        Err(super::git::failed("worktree add".to_owned(), &said))
    }

    /// Brings folder and record back, if all is as it was when they went.
    async fn bring_all_back(
        &self,
        worktree: &Worktree,
        common: &Path,
        entry: &Trashed,
    ) -> Result<bool, WorktreeError> {
        let files = self.trash.place_of(&entry.id);
        let Some(to) = place_of_record(&files, common) else {
            return Ok(false);
        };
        let here = self.trash.record_of(&entry.id);
        // Stopped after the one and before the other, the record is at its place already.
        let is_there = record_of(common, &worktree.path) == Some(to.clone());
        let record = match &here {
            Some(record) if !is_there => record,
            _ if is_there => &to,
            _ => return Ok(false),
        };
        if !self.is_as_it_went(worktree, common, record, entry).await? {
            return Ok(false);
        }
        let (trash, id) = (self.trash.clone(), entry.id.clone());
        let back = blocking(&worktree.path, move || {
            if !is_there {
                if let Some(all) = to.parent() {
                    let _ = std::fs::create_dir(all);
                }
                match trash.restore_record(&id, &to) {
                    // Another worktree has its name now.
                    Err(TrashError::Occupied(_)) => return Ok(false),
                    done => done?,
                }
            }
            trash.restore(&id)?;
            // A copy is left where it came from another disk.
            let _ = trash.mark_used(&id);
            Ok::<_, TrashError>(true)
        });
        Ok(back.await??)
    }

    /// Whether what a record is at is still the commit that the worktree was at, and no other worktree has its branch.
    async fn is_as_it_went(
        &self,
        worktree: &Worktree,
        common: &Path,
        record: &Path,
        entry: &Trashed,
    ) -> Result<bool, WorktreeError> {
        let head = line_of(&record.join("HEAD")).unwrap_or_default();
        let head = head.to_string_lossy().into_owned();
        let (name, at) = match head.strip_prefix("ref: ") {
            Some(name) => (Some(name.to_owned()), self.tip(common, name).await?),
            None => (None, Some(head)),
        };
        if at.is_none() || at != entry.reason.commit {
            return Ok(false);
        }
        let records = self.records(common).await?;
        let mut others = records.iter().filter(|record| record.path != worktree.path);
        Ok(!others.any(|other| name.is_some() && other.branch == name))
    }

    async fn tip(&self, common: &Path, name: &str) -> Result<Option<String>, WorktreeError> {
        let call = self.git.on(common);
        let call = call.args(["rev-parse", "--verify", "--quiet"]);
        let tip = call.args([format!("{name}^{{commit}}")]).run().await?;
        Ok(tip.ok.then(|| tip.text()))
    }
}

/// Where git's record of these files was: among those of the repository, and nowhere else.
fn place_of_record(files: &Path, common: &Path) -> Option<PathBuf> {
    let named = pointed_at(files)?;
    let name = named.file_name()?;
    let repository = named.parent()?.parent()?.canonicalize().ok()?;
    let all = common.join("worktrees");
    let is_ours = repository == common && named.parent()?.file_name() == all.file_name();
    is_ours.then(|| all.join(name))
}
