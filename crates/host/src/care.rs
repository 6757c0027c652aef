//! What a host does for its data folder beside the sessions: journals sealed and made small, what is old forgotten.
//!
//! Owns the key that seals are signed with, and the rounds: a session is tended when its agent has ended, all of them when
//! the host begins and every hour. One at a time, beside everything else. Invariants: only what the disk has, and is as it was
//! marked, is signed; the segment that a keeper may write is never touched; a round may be stopped anywhere and run again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use countersign_journal::seal::{self, KeyError, Seal, SealError, SigningKey};
use countersign_journal::{CompressError, Heads, ReadError, compress_closed, heads};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::control::{SessionId, now};
use crate::folders::Folders;
use crate::host::Inner;
use crate::store::{Durability, Store, StoreError, events, indexed, receipts, sessions};

/// How often all sessions are tended.
const EVERY: Duration = Duration::from_secs(60 * 60);

/// Times of files are told in steps; none is longer.
const CLOCK_STEP: Duration = Duration::from_millis(20);

/// Why a session was not tended. The next round tries again.
#[derive(Debug, thiserror::Error)]
enum CareError {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Compress(#[from] CompressError),
    #[error("a journal cannot be brought to the disk: {0}")]
    Sync(#[from] io::Error),
}

/// Which sessions are due, and who tends them.
#[derive(Debug, Default)]
pub(crate) struct Care {
    due: Mutex<BTreeSet<SessionId>>,
    came: Arc<Notify>,
    task: Mutex<Option<JoinHandle<()>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Care {
    /// The agent of a session has ended: it is tended soon.
    pub(crate) fn due(&self, session: SessionId) {
        locked(&self.due).insert(session);
        self.came.notify_one();
    }

    /// Begins the rounds of a host. They end with it.
    pub(crate) fn begin(inner: &Arc<Inner>) {
        let rounds = rounds(Arc::downgrade(inner), Arc::clone(&inner.care.came));
        *locked(&inner.care.task) = Some(tokio::spawn(rounds));
    }

    /// Waits until nothing of the data folder is worked on any more. The host is over.
    pub(crate) async fn end(&self) {
        self.came.notify_one();
        let task = locked(&self.task).take();
        if let Some(task) = task {
            let _ = task.await;
        }
    }

    /// The rounds see that the host is over.
    pub(crate) fn wake(&self) {
        self.came.notify_one();
    }
}

/// Tends those that are due, and all of them from time to time.
async fn rounds(host: Weak<Inner>, came: Arc<Notify>) {
    catch_up(&host).await;
    let mut next = tokio::time::Instant::now();
    loop {
        let is_for_all = tokio::select! {
            () = came.notified() => false,
            () = tokio::time::sleep_until(next) => true,
        };
        let Some(sessions) = due(&host, is_for_all).await else {
            return;
        };
        if is_for_all {
            next = tokio::time::Instant::now() + EVERY;
            if let Some(inner) = host.upgrade() {
                inner.reserve.keep();
            }
        }
        for session in sessions {
            let Some(inner) = host.upgrade().filter(|inner| !inner.is_closed()) else {
                return;
            };
            let folders = inner.folders.clone();
            drop(inner);
            let tended = tokio::task::spawn_blocking(move || tend(&folders, session)).await;
            if let Ok(Err(error)) = tended {
                tracing::warn!(%session, %error, "a journal cannot be tended");
            }
        }
    }
}

/// Makes what derives from journals and is not there: sums that an earlier build has counted wrongly or nobody has counted, and
/// checkpoints of transcripts that are long. Who looks after an agent that runs counts for it.
async fn catch_up(host: &Weak<Inner>) {
    let Some(inner) = host.upgrade() else { return };
    let wanted = inner.store.read(|it| {
        let rows = sessions::all(it)?.into_iter();
        let rows = rows.map(|row| (row.id, (row.live, row.cursor)));
        Ok((indexed::missing(it)?, rows.collect::<BTreeMap<_, _>>()))
    });
    let Ok((uncounted, rows)) = wanted.await else {
        return;
    };
    drop(inner);
    for session in uncounted {
        let Some(inner) = host.upgrade().filter(|inner| !inner.is_closed()) else {
            return;
        };
        if rows.get(&session).is_none_or(|(is_live, _)| *is_live) {
            continue;
        }
        let counted = crate::index::catch_up(&inner.store, &inner.folders, session, None);
        if let Err(error) = counted.await {
            tracing::warn!(%session, %error, "what a session has spent cannot be counted again");
        }
    }
    for (session, (is_live, to)) in rows {
        let Some(inner) = host.upgrade().filter(|inner| !inner.is_closed()) else {
            return;
        };
        if let Err(error) = crate::earlier::index(&inner, session).await {
            tracing::debug!(%session, %error, "the conversation that it goes on from cannot be searched");
        }
        let tail = inner.levels.watch(session).borrow().tail;
        if is_live && tail.is_none() {
            continue;
        }
        let store = inner.store.clone();
        let lags = tokio::task::spawn_blocking(move || crate::pages::lags(&store, session, to));
        if let Ok(Ok(true)) = lags.await {
            crate::pages::make(&inner, session).await;
        }
    }
}

/// The sessions to tend now. None: the host is over.
async fn due(host: &Weak<Inner>, is_for_all: bool) -> Option<BTreeSet<SessionId>> {
    let inner = host.upgrade().filter(|inner| !inner.is_closed())?;
    let mut sessions = std::mem::take(&mut *locked(&inner.care.due));
    if is_for_all {
        if let Err(error) = forget_old(&inner.store, now()).await {
            tracing::warn!(%error, "what is old cannot be forgotten");
        }
        let folders = inner.folders.clone();
        let all = tokio::task::spawn_blocking(move || folders.all_sessions()).await;
        sessions.extend(all.ok().and_then(Result::ok).unwrap_or_default());
    }
    Some(sessions)
}

/// Receipts and events are kept up to an age and a count.
async fn forget_old(store: &Store, now: u64) -> Result<(), StoreError> {
    let forget = move |it: &crate::store::Connection| {
        receipts::purge(it, now)?;
        events::purge(it, events::KEPT).map(drop)
    };
    store.write(Durability::Normal, forget).await
}

/// Signs the heads that are new, and makes closed segments small.
fn tend(folders: &Folders, session: SessionId) -> Result<(), CareError> {
    let dir = folders.session(session);
    let journal = dir.join("journal");
    if !journal.exists() {
        return Ok(());
    }
    if has_news(&dir)? {
        seal_heads(folders, session, &dir)?;
    }
    let done = compress_closed(&journal)?;
    if done.segments > 0 {
        let (before, after) = (done.before, done.after);
        tracing::debug!(%session, before, after, "closed segments were made small");
    }
    Ok(())
}

fn seal_heads(folders: &Folders, session: SessionId, dir: &Path) -> Result<(), CareError> {
    let began = SystemTime::now();
    let seals = seal::read(dir)?;
    // Where the key was made anew, what an earlier one has signed is hashed again.
    let last = seals.last();
    let last = last.filter(|seal| is_ours(folders, session, seal));
    let Heads { heads, fault } = heads(dir, last)?;
    if let Some(fault) = fault {
        tracing::warn!(%session, %fault, "a journal is not as it was written: nothing behind that is signed");
    }
    if heads.is_empty() {
        return looked(dir, began);
    }
    let key = key(folders)?;
    // A head that a loss of power takes away would look cut.
    for segment in segments(dir)? {
        File::open(segment)?.sync_data()?;
    }
    seal::seal(dir, &session.to_string(), &key, &heads)?;
    looked(dir, began)
}

fn is_ours(folders: &Folders, session: SessionId, seal: &Seal) -> bool {
    let key = seal::load(&folders.seal_key());
    key.is_ok_and(|key| seal.is_by(&key.verifying_key(), &session.to_string()))
}

/// The journal was read then, and not when its seals were written: what came in between is new.
fn looked(dir: &Path, began: SystemTime) -> Result<(), CareError> {
    let seals = match File::options().append(true).open(dir.join("seals")) {
        Ok(seals) => seals,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    Ok(seals.set_modified(began - CLOCK_STEP)?)
}

/// Whether a journal was written to since its last seal.
fn has_news(dir: &Path) -> io::Result<bool> {
    let sealed = match fs::metadata(dir.join("seals")) {
        Ok(found) => found.modified()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    // The clock was set back: what is written from now on would look older than that. Once looked at, it is as of now again.
    if sealed > SystemTime::now() {
        return Ok(true);
    }
    for segment in segments(dir)? {
        if fs::metadata(segment)?.modified()? >= sealed {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The segments of a journal that may still be written, or were a moment ago.
fn segments(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir.join("journal"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "j") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The key of this data folder. Its public half lies beside it, for whoever verifies elsewhere.
fn key(folders: &Folders) -> Result<SigningKey, CareError> {
    let key = seal::load_or_create(&folders.seal_key(), &crate::host_key::randomness())?;
    let public = seal::public_text(&key.verifying_key());
    publish(&folders.seal_public(), &public)?;
    Ok(key)
}

/// Writes the public half of the key. That of an earlier key is kept beside it under a name of its own: what was signed with
/// it can be verified as long as it is there.
fn publish(path: &Path, text: &str) -> io::Result<()> {
    match fs::read_to_string(path) {
        Ok(there) if there.trim() == text => return Ok(()),
        Ok(there) => {
            let name = &blake3::hash(there.trim().as_bytes()).to_hex()[..8];
            fs::rename(path, path.with_file_name(format!("seal-{name}.pub")))?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    fs::write(path, format!("{text}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Did, Digest, Happened, Receipt};

    #[test]
    fn what_was_written_while_a_journal_was_signed_is_new() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path();
        fs::create_dir(dir.join("journal")).unwrap();
        let segment = File::create(dir.join("journal/000001.j")).unwrap();
        File::create(dir.join("seals")).unwrap();
        let began = SystemTime::now();
        for (written, is_new) in [
            (began - Duration::from_secs(1), false),
            (began, true),
            (began + Duration::from_millis(5), true),
        ] {
            segment.set_modified(written).unwrap();
            // The seals themselves are written last.
            fs::write(dir.join("seals"), "").unwrap();
            looked(dir, began).unwrap();
            assert_eq!(has_news(dir).unwrap(), is_new, "{written:?}");
        }
    }

    #[test]
    fn what_is_written_after_the_clock_was_set_back_is_new() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path();
        fs::create_dir(dir.join("journal")).unwrap();
        let segment = File::create(dir.join("journal/000001.j")).unwrap();
        let now = SystemTime::now();
        segment.set_modified(now - Duration::from_secs(1)).unwrap();
        let seals = File::create(dir.join("seals")).unwrap();
        seals
            .set_modified(now + Duration::from_secs(3_600))
            .unwrap();
        assert!(has_news(dir).unwrap());
        looked(dir, now).unwrap();
        assert!(!has_news(dir).unwrap(), "it was looked at");
    }

    #[test]
    fn the_public_half_is_that_of_the_key_and_an_earlier_one_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("seal.pub");
        for text in ["one", "one", "two", "two"] {
            publish(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap().trim(), text);
        }
        let all = fs::read_dir(place.path()).unwrap();
        let all: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(all.len(), 2, "{all:?}");
        let earlier = all.iter().find(|it| **it != path).unwrap();
        assert_eq!(fs::read_to_string(earlier).unwrap().trim(), "one");
    }

    #[tokio::test]
    async fn receipts_and_events_that_are_old_are_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(&place.path().join("host.db")).unwrap();
        let receipt = |key: &str, at| Receipt {
            key: key.to_owned(),
            at,
            did: Did::Done,
        };
        let digest = Digest::of(b"a command");
        let (old, new) = (receipt("old", 1), receipt("new", 2 + receipts::KEPT));
        let known = digest.clone();
        let put = move |it: &crate::store::Connection| {
            receipts::put(it, &known, &old)?;
            receipts::put(it, &known, &new)?;
            events::add(it, 1, None, &Happened::Rules)?;
            it.execute("UPDATE sqlite_sequence SET seq = seq + ?1", [events::KEPT])?;
            events::add(it, 2, None, &Happened::Rules)?;
            Ok(())
        };
        store.write(Durability::Full, put).await.unwrap();
        forget_old(&store, 3 + receipts::KEPT).await.unwrap();
        let look = move |it: &crate::store::Connection| {
            let is_there = |key| receipts::find(it, key, &digest).map(|found| found.is_some());
            let count = it.query_row("SELECT count(*) FROM events", [], |row| row.get(0))?;
            Ok((is_there("old")?, is_there("new")?, count))
        };
        let left: (bool, bool, u64) = store.read(look).await.unwrap();
        assert_eq!(left, (false, true, 1));
    }
}
