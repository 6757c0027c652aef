//! What a host does first: it walks the folders of sessions, not the rows, and has each looked after that needs it.
//!
//! Owns the walk. What is found in a folder is dealt with by the actor of that session, one at a time, in any order but
//! for those who wait for room; it may be stopped anywhere and run again.

use std::path::Path;
use std::sync::Arc;

use countersign_journal::{Cursor, Reader, Step};

use crate::control::{SessionId, State};
use crate::host::Inner;
use crate::store::sessions::SessionRow;
use crate::store::{Durability, StoreError, approvals, queue, sessions};

/// Has every session looked after that may have an agent, or has something to do.
pub(crate) async fn recover(inner: &Arc<Inner>) -> Result<(), StoreError> {
    let folders = inner.folders.clone();
    let on_disk = tokio::task::spawn_blocking(move || folders.all_sessions()).await;
    let on_disk = match on_disk {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the folders of sessions cannot be read");
            Vec::new()
        }
        Err(_) => Vec::new(),
    };
    let rows = inner.store.read(sessions::all).await?;
    for id in on_disk {
        if !rows.iter().any(|row| row.id == id) {
            adopt(inner, id).await?;
            inner.look_after(id).await;
        }
    }
    for row in rows.iter().filter(|row| row.live) {
        // Before anybody asks for room: an agent that runs has it.
        inner.found(row.id);
    }
    let (mut waiting, rows): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|row| !row.live && row.state == State::Queued);
    for row in rows {
        if needs_a_look(inner, &row).await? {
            crate::points::passed("session recovered");
            inner.look_after(row.id).await;
        }
    }
    // Those who wait for room ask one after the other, as they came.
    waiting.sort_unstable_by_key(|row| (row.since, row.id));
    for row in waiting {
        crate::points::passed("session recovered");
        let _ = inner.look_at(row.id).await.await;
    }
    Ok(())
}

/// Whether something may run in it, or wait.
async fn needs_a_look(inner: &Arc<Inner>, row: &SessionRow) -> Result<bool, StoreError> {
    let id = row.id;
    let (waits, is_decided) = inner
        .store
        .read(move |it| {
            Ok((
                !queue::ids(it, id)?.is_empty(),
                approvals::has_business(it, id)?,
            ))
        })
        .await?;
    let is_settled = matches!(
        row.state,
        State::Stopped | State::Failed { .. } | State::Idle { asleep: true, .. }
    );
    if row.live || !is_settled || (waits && !row.queue_held) || is_decided {
        return Ok(true);
    }
    // A database that was put back from a copy may know nothing of an agent that came since.
    let (dir, cursor) = (inner.folders.session(id), row.cursor);
    let looked = tokio::task::spawn_blocking(move || is_ahead(&dir, cursor));
    Ok(looked.await.unwrap_or(true))
}

/// Whether a journal has more than was taken, or cannot be read.
fn is_ahead(dir: &Path, cursor: Cursor) -> bool {
    if !dir.join("journal").exists() {
        return false;
    }
    let next = || {
        let mut reader = Reader::open(dir)?;
        reader.seek(cursor)?;
        reader.next().map(|step| !matches!(step, Step::End))
    };
    next().unwrap_or(true)
}

/// A folder without a row: a database that was lost or put back from a copy. It is taken up under a name that says so.
async fn adopt(inner: &Arc<Inner>, id: SessionId) -> Result<(), StoreError> {
    let dir = inner.folders.session(id);
    let read = tokio::task::spawn_blocking(move || crate::reindex::adopted_row(id, &dir));
    let row = read.await.map_err(|_| StoreError::Panicked)?;
    tracing::warn!(session = %id, "a session was found that the database does not know");
    inner
        .store
        .write(Durability::Full, move |it| sessions::insert(it, &row))
        .await
}
