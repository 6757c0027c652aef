//! Files of sessions, asked and changed: what people hand to agents, the journal as it lies, what has lain for long.
//!
//! Owns the way from a client to the disk. Invariants: one upload at a time; the receipt of one is given when its file is on
//! the disk; what is proposed stays where it is.

use std::path::PathBuf;

use futures_core::stream::BoxStream;
use serde::Serialize;

use super::{Host, Inner};
use crate::control::{
    Cmd, Command, ControlError, Did, Proposed, Receipt, Result, SessionId, State, Upload, now,
};
use crate::packed;
use crate::store::sessions::SessionRow;
use crate::store::{Connection, Durability, StoreError, queue, receipts, sessions};
use crate::trash::disk::Disk;
use crate::trash::{Reason, Trash};
use crate::uploads::Uploads;

/// Microseconds of a day.
const DAY: u64 = 24 * 60 * 60 * 1_000_000;

/// So many sessions are gone back through: a plan that was made anew again and again.
const MOST_ABOVE: usize = 32;

/// What makes two uploads the same, beside who wants it.
#[derive(Serialize)]
struct Handed<'a> {
    upload: SessionId,
    name: &'a str,
    bytes: String,
}

/// A session that ended long ago.
pub(super) struct Ended {
    session: SessionId,
    name: String,
    last_activity: u64,
}

impl Inner {
    /// Where files lie that people hand to agents.
    pub(crate) fn uploads(&self) -> Uploads {
        Uploads::at(self.folders.uploads())
    }

    /// The folders of files that the agent of a session may read: its own, and those of the sessions it came from, whose
    /// conversation may name them.
    pub(crate) async fn upload_folders(&self, row: &SessionRow) -> Result<Vec<PathBuf>> {
        let uploads = self.uploads();
        let mut folders = vec![uploads.folder(row.id)];
        let mut above = row.parent;
        while let Some(parent) = above.filter(|_| folders.len() < MOST_ABOVE) {
            folders.push(uploads.folder(parent));
            let found = self.store.read(move |it| sessions::find(it, parent));
            above = found.await?.and_then(|row| row.parent);
        }
        Ok(folders)
    }
}

impl Host {
    pub(super) async fn take_upload(
        &self,
        cmd: Cmd,
        session: SessionId,
        name: String,
        bytes: Vec<u8>,
    ) -> Result<Receipt> {
        let _one = self.inner.shelving.lock().await;
        let handed = Handed {
            upload: session,
            name: &name,
            bytes: blake3::hash(&bytes).to_hex().to_string(),
        };
        let digest = receipts::digest_of(&cmd, &handed)?;
        let (key, same) = (cmd.key.clone(), digest.clone());
        let before = self.inner.store.read(move |it| {
            let row = sessions::get(it, session)?;
            Ok((receipts::find(it, &key, &same)?, row.trashed.is_some()))
        });
        match before.await? {
            (Some(receipt), _) => return Ok(receipt),
            (None, true) => {
                let why = "the session is in the trash: restore it first";
                return Err(ControlError::not_now(why));
            }
            (None, false) => {}
        }
        let uploads = self.inner.uploads();
        let upload = super::around::beside(move || uploads.put(session, &name, &bytes)).await?;
        let (key, at) = (cmd.key, now());
        let deed = |_: &Connection| Ok(Did::Upload { upload });
        let job = move |it: &Connection| receipts::once(it, &key, &digest, at, deed);
        Ok(self.inner.store.write(Durability::Full, job).await?)
    }

    pub(super) async fn uploads_of(&self, session: SessionId) -> Result<Vec<Upload>> {
        let is_there = move |it: &Connection| sessions::get(it, session).map(drop);
        self.inner.store.read(is_there).await?;
        let uploads = self.inner.uploads();
        super::around::beside(move || uploads.list(session)).await
    }

    /// A file goes to the trash, from where it can be brought back.
    pub(super) async fn remove_upload(
        &self,
        cmd: &Cmd,
        command: &Command,
        session: SessionId,
        name: String,
    ) -> Result<Receipt> {
        let digest = receipts::digest(cmd, command)?;
        let key = cmd.key.clone();
        let before = self.inner.store.read(move |it| {
            sessions::get(it, session)?;
            receipts::find(it, &key, &digest)
        });
        if let Some(receipt) = before.await? {
            return Ok(receipt);
        }
        let (uploads, trash) = (self.inner.uploads(), self.inner.folders.trash());
        let (by, at) = (cmd.principal.clone(), now());
        super::around::beside(move || {
            let found = uploads.look(session, &name);
            let found = found.ok_or_else(|| ControlError::not_found("upload", &name))?;
            let why = Reason::of(session, format!("a file for the agent; {by} removed it"));
            let put = Trash::at(trash).put(&found.path, why, at);
            put.map_err(|error| ControlError::Unavailable {
                why: error.to_string(),
                retry_ms: 1_000,
            })
        })
        .await?;
        self.kept(cmd, command, |_| Ok(Did::Done)).await
    }

    pub(super) async fn journal_of(
        &self,
        session: SessionId,
    ) -> Result<BoxStream<'static, Result<Vec<u8>>>> {
        let is_there = move |it: &Connection| sessions::get(it, session).map(drop);
        self.inner.store.read(is_there).await?;
        let (folder, public) = (
            self.inner.folders.session(session),
            self.inner.folders.seal_public(),
        );
        let opened = move || packed::open(&folder, &public, &session.to_string());
        super::around::beside(opened).await
    }

    /// Sessions that ended longer ago than the person wants them kept: no agent, no question, nothing that waits.
    pub(super) async fn ended_for_long(&self) -> Result<Vec<Ended>> {
        let Some(days) = self.inner.preferences().retention_days else {
            return Ok(Vec::new());
        };
        let before = now().saturating_sub(u64::from(days) * DAY);
        let read = self.inner.store.read(move |it| ended(it, before));
        Ok(read.await?)
    }
}

fn ended(it: &Connection, before: u64) -> Result<Vec<Ended>, StoreError> {
    let mut found = Vec::new();
    for row in sessions::all(it)? {
        let has_ended = match &row.state {
            State::Stopped | State::Failed { .. } => true,
            State::Idle { asleep, background } => *asleep && *background == 0,
            _ => false,
        };
        let is_old = row.trashed.is_none() && !row.live && row.last_activity < before;
        if has_ended && is_old && queue::list(it, row.id)?.is_empty() {
            found.push(Ended {
                session: row.id,
                name: row.name,
                last_activity: row.last_activity,
            });
        }
    }
    found.sort_by_key(|one| one.last_activity);
    Ok(found)
}

/// What each of them takes.
pub(super) fn proposed(ended: Vec<Ended>, disk: &Disk) -> Vec<Proposed> {
    let all = ended.into_iter().map(|one| Proposed {
        bytes: disk.sessions.get(&one.session).map_or(0, |it| it.total()),
        session: one.session,
        name: one.name,
        last_activity: one.last_activity,
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Message;
    use crate::control::session::Setup;
    use crate::store::Store;

    fn row(number: u128, last_activity: u64, state: State) -> SessionRow {
        let id = SessionId::new(1_000, number);
        SessionRow {
            state,
            last_activity,
            ..SessionRow::new(id, "/".into(), Setup::default(), 1)
        }
    }

    #[tokio::test]
    async fn only_what_ended_long_ago_and_waits_for_nothing_is_proposed() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(&place.path().join("host.db")).unwrap();
        let asleep = |asleep| State::Idle {
            asleep,
            background: 0,
        };
        let (mut live, mut trashed) = (row(5, 1, State::Stopped), row(6, 1, State::Stopped));
        live.live = true;
        trashed.trashed = Some(2);
        let rows = [
            row(1, 20, State::Stopped),
            row(2, 10, asleep(true)),
            row(3, 1, asleep(false)),
            row(4, 1, State::Running),
            live,
            trashed,
            row(7, 100, State::Stopped),
            row(8, 1, State::Stopped),
        ];
        let waits = rows[7].id;
        let stored = store.write(Durability::Full, move |it| {
            for row in &rows {
                sessions::insert(it, row)?;
            }
            queue::push(it, waits, &Message::text("more"), 1, "somebody")
        });
        stored.await.unwrap();
        let found = store.read(|it| ended(it, 100)).await.unwrap();
        let found: Vec<_> = found.iter().map(|one| one.last_activity).collect();
        assert_eq!(found, [10, 20], "oldest first");
    }
}
