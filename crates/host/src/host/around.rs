//! What lies around sessions, asked and changed: templates, folders, conversations of terminals, the disk, drafts.
//!
//! Owns the answers. What is read from the disk is read beside the runtime.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::files::proposed;
use super::{Host, locked};
use crate::control::{
    ApprovalId, Browsed, Cmd, Command, ControlError, Did, DiskUse, DiskView, Drafts, InTrash, Keep,
    Receipt, RecentFolder, Result, now,
};
use crate::desk;
use crate::import::{self, ImportFilter, Importable, World};
use crate::shelf::{MOST_TEMPLATES, browse, check_comments, check_template, recent};
use crate::store::{Connection, StoreError, approvals, around, sessions};
use crate::trash::Trash;

/// Does what blocks, and says so if it breaks.
pub(super) async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(ControlError::Unknown {
            why: error.to_string(),
        })
    })
}

impl Host {
    pub(super) async fn recent(&self) -> Result<Vec<RecentFolder>> {
        let rows = self.inner.store.read(sessions::all).await?;
        let of = |row: &sessions::SessionRow| {
            let cwd = self.inner.copy_of(row).unwrap_or_else(|| row.cwd.clone());
            (cwd, row.last_activity)
        };
        let there = rows.iter().filter(|row| row.trashed.is_none());
        let worked: Vec<_> = there.map(of).collect();
        beside(move || {
            let mut folders = recent(worked);
            folders.retain(|folder| folder.path.is_dir());
            Ok(folders)
        })
        .await
    }

    /// Below the folders that the person named, or the home, and below folders that sessions worked in.
    pub(super) async fn browsed(&self, path: Option<PathBuf>) -> Result<Browsed> {
        let mut roots = self.inner.preferences().browse_roots;
        if roots.is_empty() {
            let home = desk::variable_of_host("HOME", &self.inner.settings.agents);
            roots.extend(home.map(PathBuf::from));
        }
        for folder in self.recent().await? {
            if !roots.iter().any(|root| folder.path.starts_with(root)) {
                roots.push(folder.path);
            }
        }
        let ours = self.inner.folders.root().to_owned();
        beside(move || browse(&roots, &ours, path.as_deref())).await
    }

    pub(super) async fn to_import(&self, filter: ImportFilter) -> Result<Vec<Importable>> {
        let rows = self.inner.store.read(sessions::all).await?;
        let ours: HashSet<String> = rows
            .into_iter()
            .filter_map(|row| row.conversation)
            .collect();
        let transcripts = self.inner.transcripts()?;
        beside(move || {
            let world = World::look(transcripts.config_dir());
            import::list(&transcripts, &filter, |id| ours.contains(id), &world, now())
        })
        .await
    }

    pub(super) async fn disk_use(&self) -> Result<DiskView> {
        let measure = Arc::clone(&self.inner.measure);
        let folders = self.inner.folders.clone();
        let ended = self.ended_for_long().await?;
        beside(move || {
            let unreadable = |error: &dyn std::fmt::Display| ControlError::Unavailable {
                why: format!("the data folder cannot be measured: {error}"),
                retry_ms: 1_000,
            };
            let disk = locked(&measure)
                .use_of(folders.root(), now())
                .map_err(|error| unreadable(&error))?;
            let listing = Trash::at(folders.trash()).list();
            let listing = listing.map_err(|error| unreadable(&error))?;
            let uses = disk.sessions.iter().map(|(session, one)| DiskUse {
                session: *session,
                journal: one.journal,
                worktree: one.worktree,
                uploads: one.uploads,
                trash: one.trash,
            });
            let mut uses: Vec<DiskUse> = uses.collect();
            let total = |one: &DiskUse| one.journal + one.worktree + one.uploads + one.trash;
            uses.sort_by_key(|one| std::cmp::Reverse(total(one)));
            let trash = listing.entries.into_iter().map(|one| InTrash {
                id: one.id.as_str().to_owned(),
                origin: one.origin,
                why: one.reason.why,
                session: one.reason.session,
                at: one.at,
            });
            Ok(DiskView {
                total: disk.total(),
                sessions: uses,
                nobody: disk.nobody.total(),
                unread: disk.unread,
                trash: trash.collect(),
                proposed: proposed(ended, &disk),
            })
        })
        .await
    }

    pub(super) async fn drafts_of(&self, approval: ApprovalId) -> Result<Drafts> {
        let drafts = self.inner.store.read(move |it| {
            approvals::get(it, approval)?;
            around::drafts(it, approval)
        });
        Ok(drafts.await?)
    }

    /// Templates and drafts are kept, or kept no longer.
    pub(super) async fn keep_around(
        &self,
        cmd: &Cmd,
        command: &Command,
        keep: Keep,
    ) -> Result<Receipt> {
        match &keep {
            Keep::PutTemplate { name, template } => check_template(name, template)?,
            Keep::PutComments { comments, .. } => check_comments(comments)?,
            _ => {}
        }
        let (by, at) = (cmd.principal.clone(), now());
        let deed = move |it: &Connection| {
            match keep {
                Keep::PutTemplate { name, template } => {
                    around::put_template(it, &name, at, &by, &template)?;
                    if around::templates(it)?.len() > MOST_TEMPLATES {
                        return Err(StoreError::Invalid(format!(
                            "there are {MOST_TEMPLATES} templates already: remove one first"
                        )));
                    }
                }
                Keep::RemoveTemplate { name } => around::remove_template(it, &name)?,
                Keep::PutComments { approval, comments } => {
                    approvals::get(it, approval)?;
                    around::put_drafts(it, approval, at, &by, &comments)?;
                }
                _ => {}
            }
            Ok(Did::Done)
        };
        self.kept(cmd, command, deed).await
    }
}
