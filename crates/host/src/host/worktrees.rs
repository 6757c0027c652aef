//! Worktrees of sessions: looked at, removed with their session, and made again when it comes back.
//!
//! Owns who may remove one, and when. Invariants: only the worktree of a session in the trash is removed, and only when no
//! other session works in it or in a folder below it, and no agent runs; what counts as work is the worktree's own business, and is asked at the moment
//! of removal.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::{Host, gate};
use crate::control::{
    Cmd, Command, ControlError, Did, Receipt, Result, SessionId, WorktreeView, now,
};
use crate::make::worktree_of;
use crate::store::sessions::SessionRow;
use crate::store::{Durability, receipts, sessions};
use crate::worktree::{Worktree, WorktreeError};

/// How long an agent may take to end before its worktree is removed.
const ENDING: Duration = Duration::from_secs(30);

/// Pause between two looks at whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl Host {
    /// Returns what is in the worktree of a session, and whether it may be removed.
    pub(super) async fn worktree_view(&self, id: SessionId) -> Result<WorktreeView> {
        let (row, others) = self.with_others(id).await?;
        let worktree = worktree_of(&row)?;
        let losses = self.inner.worktrees.losses(&worktree).await;
        let shared = shared_with(&others);
        let (uncommitted, kept_because) = match losses {
            Ok(losses) => {
                let words = (!losses.is_nothing()).then(|| losses.to_string());
                let files = losses.uncommitted.count + losses.untracked.count;
                (files, words.or(shared))
            }
            Err(error) => (0, Some(error.to_string())),
        };
        Ok(WorktreeView {
            folder: worktree.path,
            repository: worktree.repo,
            branch: worktree.branch,
            uncommitted,
            kept_because,
        })
    }

    /// Removes the worktree of a session in the trash.
    pub(super) async fn remove_worktree(
        &self,
        id: SessionId,
        cmd: Cmd,
        command: Command,
    ) -> Result<Receipt> {
        let worktree = worktree_of(&self.row(id).await?)?;
        let gate = gate(&self.inner.making, worktree.session);
        let _one = gate.lock().await;
        self.must_be_put_away(id, &worktree).await?;
        let removed = self.inner.worktrees.remove(&worktree, now()).await;
        removed.map_err(refusal)?;
        let digest = receipts::digest(&cmd, &command)?;
        let job = move |it: &_| receipts::once(it, &cmd.key, &digest, now(), |_| Ok(Did::Done));
        Ok(self.inner.store.write(Durability::Full, job).await?)
    }

    /// Makes the worktree again of a session that comes back from the trash. What goes wrong is told, and the session is back
    /// all the same.
    pub(super) async fn bring_worktree_back(&self, id: SessionId) -> Result<()> {
        let Ok(worktree) = worktree_of(&self.row(id).await?) else {
            return Ok(());
        };
        let gate = gate(&self.inner.making, worktree.session);
        let _one = gate.lock().await;
        if let Err(error) = self.inner.worktrees.restore(&worktree).await {
            let text = format!("its worktree could not be made again: {error}");
            self.inner.trouble(id, text);
        }
        Ok(())
    }

    /// Waits until nobody works in a worktree any more, or says who does.
    async fn must_be_put_away(&self, id: SessionId, worktree: &Worktree) -> Result<()> {
        let deadline = Instant::now() + ENDING;
        loop {
            let (row, others) = self.with_others(id).await?;
            if row.trashed.is_none() {
                return Err(ControlError::not_now(
                    "the session is not in the trash: move it there first",
                ));
            }
            if let Some(shared) = shared_with(&others) {
                return Err(ControlError::not_now(shared));
            }
            let is_live = std::iter::once(&row).chain(&others).any(|row| row.live);
            if !is_live {
                return Ok(());
            }
            if Instant::now() > deadline {
                let path = worktree.path.display();
                return Err(ControlError::not_now(format!(
                    "the agent in {path} has not ended yet: try again, or force its end"
                )));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn row(&self, id: SessionId) -> Result<SessionRow> {
        Ok(self
            .inner
            .store
            .read(move |it| sessions::get(it, id))
            .await?)
    }

    /// Returns a session, and the others that have the same worktree.
    async fn with_others(&self, id: SessionId) -> Result<(SessionRow, Vec<SessionRow>)> {
        let row = self.row(id).await?;
        let worktree = worktree_of(&row)?;
        let mut others = self.inner.store.read(sessions::all).await?;
        others.retain(|other| other.id != id);
        let others = super::around::beside(move || {
            others.retain(|other| works_in(other, &worktree));
            Ok(others)
        });
        Ok((row, others.await?))
    }
}

/// Whether a session has this worktree, or a folder below it, whosever it is.
fn works_in(row: &SessionRow, worktree: &Worktree) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let whole = real(&worktree.path);
    let is_below =
        |folder: &Path| folder.starts_with(&worktree.path) || real(folder).starts_with(&whole);
    let added = row.setup.add_dirs.iter().map(|dir| row.cwd.join(dir));
    worktree_of(row).is_ok_and(|theirs| theirs.path == worktree.path)
        || is_below(&row.cwd)
        || added.into_iter().any(|folder| is_below(&folder))
}

fn shared_with(others: &[SessionRow]) -> Option<String> {
    let other = others.iter().find(|other| other.trashed.is_none())?;
    Some(format!(
        "the session “{}” works in it, too: move that one to the trash first",
        other.name
    ))
}

fn refusal(error: WorktreeError) -> ControlError {
    ControlError::not_now(error.to_string())
}
