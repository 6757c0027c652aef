//! One connection to a keeper: lines out, words about them in.
//!
//! Owns the socket and its two tasks. Nothing of the agent comes this way: the level of the journal does, and who reads
//! it is woken. Invariants: what is handed in goes out in its order; each line is settled once; letting go of the last
//! [`Attachment`] closes the socket and says nothing.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinHandle;

use super::error::AttachError;
use super::outbox::{Outbox, PutOutcome};
use super::queue::{Queue, Settled};
use crate::protocol::{
    EndPlan, FromKeeper, MAX_MESSAGE, PROTO, Ref, Role, Standing, Tail, ToKeeper,
};

/// What may wait for the keeper, in bytes. Beyond it messages and requests are refused; answers are always taken, since
/// there are never more of them than questions.
const MOST_WAITING: usize = 64 << 20;

/// How long a keeper may take to say hello.
const WELCOME: Duration = Duration::from_secs(10);

/// How often a full keeper is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// Why a connection is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// The agent has ended, and its keeper.
    Gone(countersign_journal::Exit),
    /// Another host has taken over.
    Superseded,
    /// The keeper said nothing more: it was killed, or the two do not understand each other.
    Lost(String),
}

/// The newest thing the keeper said about the journal, and who waits for the next.
#[derive(Debug, Default)]
pub(super) struct Level {
    pub(super) tail: Tail,
    /// Counts what was told, so that no word is missed.
    pub(super) version: u64,
    pub(super) over: Option<Over>,
    pub(super) reader: Option<Waker>,
}

#[derive(Default)]
struct Out {
    queue: Queue,
    /// Bytes for the socket.
    waiting: Vec<u8>,
    is_over: bool,
    settling: HashMap<Ref, oneshot::Sender<PutOutcome>>,
    standing: Vec<oneshot::Sender<Standing>>,
    syncing: Vec<oneshot::Sender<u64>>,
}

pub(super) struct State {
    out: Mutex<Out>,
    work: Notify,
    settled: Notify,
    level: Mutex<Level>,
    tail: watch::Sender<Tail>,
    paused: watch::Sender<Option<i32>>,
    outbox: Box<dyn Outbox>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who attaches: the number of this host, the secret of the session, and what it wants to do.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// Higher than that of every host before.
    pub epoch: u64,
    /// The secret of the session.
    pub token: String,
    /// What it wants to do.
    pub role: Role,
}

/// A host's end of the connection to one keeper.
pub struct Attachment {
    pub(super) state: Arc<State>,
    standing: Standing,
    epoch: u64,
    tasks: [JoinHandle<()>; 2],
}

impl std::fmt::Debug for Attachment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attachment")
            .field("session", &self.standing.session)
            .field("generation", &self.standing.generation)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Attachment {
    /// Attaches over the socket at `path`. `outbox` is made from what the keeper has, and numbers what goes.
    ///
    /// # Errors
    /// When nobody answers there, it is another user's, or the keeper turns us away.
    pub async fn connect(
        path: &Path,
        who: &Credentials,
        outbox: impl FnOnce(&Standing) -> Box<dyn Outbox>,
    ) -> Result<Self, AttachError> {
        let stream = UnixStream::connect(path)
            .await
            .map_err(AttachError::Socket)?;
        let owner = stream.peer_cred().map_err(AttachError::Socket)?.uid();
        if owner != rustix::process::getuid().as_raw() {
            return Err(AttachError::Foreign { uid: owner });
        }
        let (read, mut write) = stream.into_split();
        let hello = ToKeeper::Hello {
            proto: PROTO,
            epoch: who.epoch,
            token: who.token.clone(),
            role: who.role,
        };
        let hello = message(&hello)?;
        write.write_all(&hello).await.map_err(AttachError::Socket)?;
        let mut read = BufReader::new(read);
        let welcomed = tokio::time::timeout(WELCOME, welcome(&mut read)).await;
        let standing = welcomed.map_err(|_| AttachError::Silent(WELCOME))??;
        let state = Arc::new(State {
            out: Mutex::default(),
            work: Notify::new(),
            settled: Notify::new(),
            level: Mutex::new(Level {
                tail: standing.tail,
                ..Level::default()
            }),
            tail: watch::Sender::new(standing.tail),
            paused: watch::Sender::new(standing.paused),
            outbox: outbox(&standing),
        });
        let tasks = [
            tokio::spawn(listen(Arc::clone(&state), read)),
            tokio::spawn(speak(Arc::clone(&state), write)),
        ];
        Ok(Self {
            state,
            standing,
            epoch: who.epoch,
            tasks,
        })
    }

    /// How things stood when we came.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The number of this host.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The newest record, as it changes.
    pub fn tail(&self) -> watch::Receiver<Tail> {
        self.state.tail.subscribe()
    }

    /// Why nothing can be written, as it changes.
    pub fn paused(&self) -> watch::Receiver<Option<i32>> {
        self.state.paused.subscribe()
    }

    /// Why the connection is over, if it is.
    pub fn over(&self) -> Option<Over> {
        locked(&self.state.level).over.clone()
    }

    /// Hands in a line under a number of the caller's own choice: one that was stored by an earlier host. Waits for its
    /// outcome.
    ///
    /// # Errors
    /// When the connection ends first.
    pub async fn put(
        &self,
        n: u64,
        line: &[u8],
        note: Option<serde_json::Map<String, serde_json::Value>>,
    ) -> Result<PutOutcome, AttachError> {
        let what = Ref::N(n);
        let (sender, outcome) = oneshot::channel();
        let parcel = parcel(&what, line, note, false)?;
        self.state.send(what, parcel, Some(sender));
        outcome.await.map_err(|_| self.state.ended())
    }

    /// Answers a question of the agent. Waits for the outcome.
    ///
    /// # Errors
    /// When the connection ends first.
    pub async fn answer(
        &self,
        request_id: &str,
        line: &[u8],
        note: Option<serde_json::Map<String, serde_json::Value>>,
        refuses: bool,
    ) -> Result<PutOutcome, AttachError> {
        let what = Ref::Answer(request_id.to_owned());
        let (sender, outcome) = oneshot::channel();
        let parcel = parcel(&what, line, note, refuses)?;
        self.state.send(what, parcel, Some(sender));
        outcome.await.map_err(|_| self.state.ended())
    }

    /// Has the agent ended.
    ///
    /// # Errors
    /// When the connection is over.
    pub fn end(&self, plan: EndPlan, why: &str) -> Result<(), AttachError> {
        self.state.say(&ToKeeper::End {
            plan,
            why: why.to_owned(),
        })
    }

    /// How things stand now.
    ///
    /// # Errors
    /// When the connection ends first.
    pub async fn status(&self) -> Result<Standing, AttachError> {
        let (sender, standing) = oneshot::channel();
        locked(&self.state.out).standing.push(sender);
        self.state.say(&ToKeeper::Status)?;
        standing.await.map_err(|_| self.state.ended())
    }

    /// Brings the journal to the disk; so far it is there.
    ///
    /// # Errors
    /// When the connection ends first.
    pub async fn sync(&self) -> Result<u64, AttachError> {
        let (sender, synced) = oneshot::channel();
        locked(&self.state.out).syncing.push(sender);
        self.state.say(&ToKeeper::Sync)?;
        synced.await.map_err(|_| self.state.ended())
    }

    /// Waits until the connection is over.
    pub async fn ended(&self) -> Over {
        loop {
            let settled = self.state.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            if let Some(over) = self.over() {
                return over;
            }
            settled.await;
        }
    }
}

impl State {
    pub(super) fn level(&self) -> MutexGuard<'_, Level> {
        locked(&self.level)
    }

    pub(super) fn outbox(&self) -> &dyn Outbox {
        &*self.outbox
    }

    /// Whether a line of that length would be too much.
    pub(super) fn is_full(&self, length: usize) -> bool {
        let out = locked(&self.out);
        !out.queue.is_empty() && out.queue.bytes().saturating_add(length) > MOST_WAITING
    }

    pub(super) fn is_over(&self) -> bool {
        locked(&self.out).is_over
    }

    /// Hands a line to the task that writes.
    pub(super) fn send(
        &self,
        what: Ref,
        parcel: Vec<u8>,
        waiter: Option<oneshot::Sender<PutOutcome>>,
    ) {
        let mut out = locked(&self.out);
        if out.is_over {
            return;
        }
        if let Some(waiter) = waiter {
            out.settling.insert(what.clone(), waiter);
        }
        let is_held = out.queue.is_held();
        if !is_held {
            out.waiting.extend_from_slice(&parcel);
        }
        out.queue.push(what.clone(), parcel);
        if is_held {
            // Behind the others that wait, so that numbers keep their order.
            let _ = out
                .queue
                .refused(&what, crate::protocol::Refusal::Paused, None);
        }
        drop(out);
        self.work.notify_one();
    }

    fn say(&self, what: &ToKeeper) -> Result<(), AttachError> {
        let text = message(what)?;
        let mut out = locked(&self.out);
        if out.is_over {
            drop(out);
            return Err(self.ended());
        }
        out.waiting.extend_from_slice(&text);
        drop(out);
        self.work.notify_one();
        Ok(())
    }

    fn ended(&self) -> AttachError {
        let over = self.level().over.clone();
        AttachError::Over(over.unwrap_or_else(|| Over::Lost("the connection ended".to_owned())))
    }

    /// Waits until every line that was handed in has its outcome, or none can come.
    pub(super) async fn flushed(&self) {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            {
                let out = locked(&self.out);
                if out.is_over || out.queue.is_empty() {
                    return;
                }
            }
            settled.await;
        }
    }

    fn take(&self, said: FromKeeper) -> Option<Over> {
        match said {
            FromKeeper::Tail(tail) => self.grown(tail),
            FromKeeper::Ok { reference, seq } => {
                let settled = locked(&self.out).queue.written(&reference, seq);
                return self.settle(settled);
            }
            FromKeeper::Refused {
                reference: Some(reference),
                why,
                seq,
            } => {
                let settled = locked(&self.out).queue.refused(&reference, why, seq);
                return self.settle(settled);
            }
            FromKeeper::Refused {
                reference: None,
                why,
                ..
            } => return Some(Over::Lost(format!("the keeper turned us away: {why:?}"))),
            FromKeeper::Status(standing) | FromKeeper::Welcome(standing) => {
                let waiting = std::mem::take(&mut locked(&self.out).standing);
                for waiter in waiting {
                    let _ = waiter.send(standing.clone());
                }
            }
            FromKeeper::Synced { seq } => {
                for waiter in std::mem::take(&mut locked(&self.out).syncing) {
                    let _ = waiter.send(seq);
                }
            }
            FromKeeper::Paused { errno } => drop(self.paused.send_replace(Some(errno))),
            FromKeeper::Resumed => {
                self.paused.send_replace(None);
                self.try_again();
            }
            FromKeeper::Superseded => return Some(Over::Superseded),
            FromKeeper::Gone { exit } => return Some(Over::Gone(exit)),
            FromKeeper::Unknown => {}
        }
        None
    }

    fn grown(&self, tail: Tail) {
        let mut level = self.level();
        level.tail = tail;
        level.version += 1;
        let reader = level.reader.take();
        drop(level);
        if let Some(reader) = reader {
            reader.wake();
        }
        self.tail.send_replace(tail);
    }

    fn settle(&self, settled: Settled) -> Option<Over> {
        match settled {
            Settled::Final(what, outcome) => {
                self.outbox.settled(&what, &outcome);
                let waiter = locked(&self.out).settling.remove(&what);
                if let Some(waiter) = waiter {
                    let _ = waiter.send(outcome);
                }
                self.settled.notify_waiters();
                None
            }
            Settled::Held => {
                self.work.notify_one();
                None
            }
            Settled::Unknown => None,
            Settled::Broken(why) => Some(Over::Lost(format!(
                "the keeper did not take a numbered line: {why:?}"
            ))),
        }
    }

    fn try_again(&self) {
        let mut out = locked(&self.out);
        for parcel in out.queue.again() {
            out.waiting.extend_from_slice(&parcel);
        }
        drop(out);
        self.work.notify_one();
    }

    fn finish(&self, over: Over) {
        let mut out = locked(&self.out);
        out.is_over = true;
        out.settling.clear();
        out.standing.clear();
        out.syncing.clear();
        drop(out);
        let mut level = self.level();
        level.over.get_or_insert(over);
        level.version += 1;
        let reader = level.reader.take();
        drop(level);
        if let Some(reader) = reader {
            reader.wake();
        }
        self.work.notify_one();
        self.settled.notify_waiters();
    }
}

/// Hears the keeper out.
async fn listen(state: Arc<State>, mut read: BufReader<OwnedReadHalf>) {
    let over = loop {
        match next(&mut read).await {
            Ok(Some(said)) => {
                if let Some(over) = state.take(said) {
                    break over;
                }
            }
            Ok(None) => break Over::Lost("the keeper is gone without a word".to_owned()),
            Err(error) => break Over::Lost(error.to_string()),
        }
    };
    state.finish(over);
}

/// Writes what waits.
async fn speak(state: Arc<State>, mut write: OwnedWriteHalf) {
    loop {
        let (bytes, is_held) = {
            let mut out = locked(&state.out);
            if out.is_over {
                return;
            }
            (std::mem::take(&mut out.waiting), out.queue.is_held())
        };
        if !bytes.is_empty() {
            if let Err(error) = write.write_all(&bytes).await {
                tracing::debug!(%error, "the keeper does not listen any more");
                return;
            }
            continue;
        }
        if !is_held {
            state.work.notified().await;
        } else if tokio::time::timeout(TRY_AGAIN, state.work.notified())
            .await
            .is_err()
        {
            state.try_again();
        }
    }
}

async fn welcome(read: &mut BufReader<OwnedReadHalf>) -> Result<Standing, AttachError> {
    loop {
        match next(read).await? {
            Some(FromKeeper::Welcome(standing)) => return Ok(standing),
            Some(FromKeeper::Refused { why, .. }) => return Err(AttachError::Refused(why)),
            Some(FromKeeper::Gone { exit }) => return Err(AttachError::Over(Over::Gone(exit))),
            Some(_) => {}
            None => return Err(AttachError::Over(Over::Lost("no welcome came".to_owned()))),
        }
    }
}

/// The next message, if one comes.
async fn next(read: &mut BufReader<OwnedReadHalf>) -> Result<Option<FromKeeper>, AttachError> {
    let mut line = Vec::new();
    let mut limited = tokio::io::AsyncReadExt::take(&mut *read, MAX_MESSAGE as u64);
    limited
        .read_until(b'\n', &mut line)
        .await
        .map_err(AttachError::Socket)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(AttachError::Protocol(
            "a message that does not end".to_owned(),
        ));
    }
    let said = serde_json::from_slice(&line);
    said.map(Some)
        .map_err(|error| AttachError::Protocol(error.to_string()))
}

fn message(what: &ToKeeper) -> Result<Vec<u8>, AttachError> {
    let text = serde_json::to_vec(what);
    let mut text = text.map_err(|error| AttachError::Protocol(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// A put with the line behind it.
pub(super) fn parcel(
    what: &Ref,
    line: &[u8],
    note: Option<serde_json::Map<String, serde_json::Value>>,
    refuses: bool,
) -> Result<Vec<u8>, AttachError> {
    let mut bytes = message(&ToKeeper::Put {
        reference: what.clone(),
        len: line.len(),
        d: note,
        masked_len: None,
        reserve: refuses,
    })?;
    bytes.extend_from_slice(line);
    Ok(bytes)
}
