//! One connection to a keeper: lines out, words about them in.
//!
//! Owns the socket and its two tasks. Nothing of the agent comes this way: the level of the journal does, and who reads
//! it is woken. A line is written by whoever hands it in, as far as the socket takes it; the rest by a task. Invariants:
//! what is handed in goes out in its order; each line is settled once; letting go of the last [`Attachment`] closes the
//! socket and says nothing.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::error::AttachError;
use super::outbox::{Outbox, PutOutcome};
use super::state::{Over, State, Wrote, message, parcel};
use crate::protocol::{
    EndPlan, FromKeeper, MAX_MESSAGE, PROTO, Ref, Role, Standing, Tail, ToKeeper,
};

/// How long a keeper may take to say hello.
const WELCOME: Duration = Duration::from_secs(10);

/// Room for what a keeper says: its words are short, and a host has many keepers.
const HEARD_AT_ONCE: usize = 1 << 10;

/// How often a full keeper is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(500);

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
    write: Arc<OwnedWriteHalf>,
    standing: Standing,
    epoch: u64,
    /// Goes with the next numbered line.
    next_note: Mutex<Option<Map<String, Value>>>,
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
        let mut read = BufReader::with_capacity(HEARD_AT_ONCE, read);
        let welcomed = tokio::time::timeout(WELCOME, welcome(&mut read)).await;
        let standing = welcomed.map_err(|_| AttachError::Silent(WELCOME))??;
        let outbox = outbox(&standing);
        let state = Arc::new(State::new(&standing, outbox));
        let write = Arc::new(write);
        let tasks = [
            tokio::spawn(listen(Arc::clone(&state), read)),
            tokio::spawn(speak(Arc::clone(&state), Arc::clone(&write))),
        ];
        Ok(Self {
            state,
            write,
            standing,
            epoch: who.epoch,
            next_note: Mutex::default(),
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
        self.state.tail()
    }

    /// Why nothing can be written, as it changes.
    pub fn paused(&self) -> watch::Receiver<Option<i32>> {
        self.state.paused()
    }

    /// Why the connection is over, if it is.
    pub fn over(&self) -> Option<Over> {
        self.state.level().over.clone()
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
        note: Option<Map<String, Value>>,
    ) -> Result<PutOutcome, AttachError> {
        let what = Ref::N(n);
        let (sender, outcome) = oneshot::channel();
        let parcel = parcel(&what, line, note, false)?;
        self.send(what, parcel, Some(sender));
        outcome.await.map_err(|_| self.state.ended())
    }

    /// Keeps a note for the next numbered line, whoever hands that in. A later note takes the place of one that waits.
    pub fn note_next(&self, note: Map<String, Value>) {
        *self.next_note() = Some(note);
    }

    /// Returns the note that waits for a line, to be taken or replaced.
    pub(super) fn next_note(&self) -> MutexGuard<'_, Option<Map<String, Value>>> {
        let next = self.next_note.lock();
        next.unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a question of the agent. Waits for the outcome.
    ///
    /// # Errors
    /// When the connection ends first.
    pub async fn answer(
        &self,
        request_id: &str,
        line: &[u8],
        note: Option<Map<String, Value>>,
        refuses: bool,
    ) -> Result<PutOutcome, AttachError> {
        let what = Ref::Answer(request_id.to_owned());
        let (sender, outcome) = oneshot::channel();
        let parcel = parcel(&what, line, note, refuses)?;
        self.send(what, parcel, Some(sender));
        outcome.await.map_err(|_| self.state.ended())
    }

    /// Hands a line in and writes it: an agent that waits for an answer is not to wait for a task as well.
    pub(super) fn send(
        &self,
        what: Ref,
        parcel: Vec<u8>,
        waiter: Option<oneshot::Sender<PutOutcome>>,
    ) {
        self.state.enter(what, parcel, waiter);
        let wrote = self.state.write_with(|bytes| self.write.try_write(bytes));
        if !matches!(wrote, Wrote::All { is_held: false }) {
            self.state.wake();
        }
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
        let standing = self.state.ask_standing()?;
        standing.await.map_err(|_| self.state.ended())
    }

    /// Brings the journal to the disk; so far it is there.
    ///
    /// # Errors
    /// When the connection ends first.
    pub async fn sync(&self) -> Result<u64, AttachError> {
        let synced = self.state.ask_sync()?;
        synced.await.map_err(|_| self.state.ended())
    }

    /// Ends the connection for everybody who holds it; the agent goes on with its keeper. Who attaches anew finds its place
    /// free.
    pub fn cut(&self) {
        let stream: &UnixStream = self.write.as_ref().as_ref();
        if let Err(error) = rustix::net::shutdown(stream, rustix::net::Shutdown::Both) {
            tracing::debug!(%error, "the connection to a keeper was over already");
        }
    }

    /// Waits until the connection is over.
    pub async fn ended(&self) -> Over {
        self.state.until_over().await
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

/// Writes what waits, and what the keeper could not take before.
async fn speak(state: Arc<State>, write: Arc<OwnedWriteHalf>) {
    loop {
        match state.write_with(|bytes| write.try_write(bytes)) {
            Wrote::All { is_held: false } => state.work().await,
            Wrote::All { is_held: true } => {
                if tokio::time::timeout(TRY_AGAIN, state.work()).await.is_err() {
                    state.try_again();
                }
            }
            Wrote::Blocked => {
                if let Err(error) = write.writable().await {
                    return tracing::debug!(%error, "the keeper does not listen any more");
                }
            }
            Wrote::Failed(error) => {
                return tracing::debug!(%error, "the keeper does not listen any more");
            }
            Wrote::Over => return,
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
