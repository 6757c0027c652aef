//! What one connection to a keeper is about: lines without an outcome, the level of the journal, who waits for what.
//!
//! Owns the state that the two tasks of a connection and its users share. Does no I/O: bytes wait here until somebody
//! writes them, one at a time. Invariants: bytes go in the order they were handed in; each line is settled once; when the
//! connection is over, everyone who waits learns it.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use serde_json::{Map, Value};
use tokio::sync::{Notify, oneshot, watch};

use super::error::AttachError;
use super::masking::masked;
use super::outbox::{Outbox, PutOutcome};
use super::queue::{Queue, Settled};
use crate::protocol::{FromKeeper, MAX_MESSAGE, MAX_PUT, Ref, Refusal, Standing, Tail, ToKeeper};

/// What may wait for the keeper, in bytes. Beyond it messages and requests are refused; answers are always taken, since
/// there are never more of them than questions.
const MOST_WAITING: usize = 64 << 20;

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

/// What came of writing.
#[derive(Debug)]
pub(super) enum Wrote {
    /// All of it, and whether lines wait for the keeper to be able to take them.
    All { is_held: bool },
    /// The socket takes no more now.
    Blocked,
    /// The socket takes nothing any more.
    Failed(io::Error),
    /// The connection is over.
    Over,
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

impl State {
    pub(super) fn new(standing: &Standing, outbox: Box<dyn Outbox>) -> Self {
        Self {
            out: Mutex::default(),
            work: Notify::new(),
            settled: Notify::new(),
            level: Mutex::new(Level {
                tail: standing.tail,
                ..Level::default()
            }),
            tail: watch::Sender::new(standing.tail),
            paused: watch::Sender::new(standing.paused),
            outbox,
        }
    }

    pub(super) fn tail(&self) -> watch::Receiver<Tail> {
        self.tail.subscribe()
    }

    pub(super) fn paused(&self) -> watch::Receiver<Option<i32>> {
        self.paused.subscribe()
    }

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

    /// Hands a line in. Who does not write it wakes the task that does.
    pub(super) fn enter(
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
            let _ = out.queue.refused(&what, Refusal::Paused, None);
        }
    }

    /// Writes what waits with `write`, which does not wait itself.
    pub(super) fn write_with(&self, mut write: impl FnMut(&[u8]) -> io::Result<usize>) -> Wrote {
        let mut out = locked(&self.out);
        if out.is_over {
            return Wrote::Over;
        }
        let mut written = 0;
        let ended = loop {
            let rest = &out.waiting[written..];
            if rest.is_empty() {
                break None;
            }
            match write(rest) {
                Ok(0) => break Some(Wrote::Failed(io::ErrorKind::WriteZero.into())),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    break Some(Wrote::Blocked);
                }
                Err(error) => break Some(Wrote::Failed(error)),
            }
        };
        match ended {
            // The room is given back: a long line is rare.
            None => out.waiting = Vec::new(),
            Some(_) => drop(out.waiting.drain(..written)),
        }
        ended.unwrap_or_else(|| Wrote::All {
            is_held: out.queue.is_held(),
        })
    }

    /// Wakes the task that writes.
    pub(super) fn wake(&self) {
        self.work.notify_one();
    }

    /// Waits until there may be something to write.
    pub(super) async fn work(&self) {
        self.work.notified().await;
    }

    pub(super) fn ask_standing(&self) -> Result<oneshot::Receiver<Standing>, AttachError> {
        let (sender, standing) = oneshot::channel();
        locked(&self.out).standing.push(sender);
        self.say(&ToKeeper::Status)?;
        Ok(standing)
    }

    pub(super) fn ask_sync(&self) -> Result<oneshot::Receiver<u64>, AttachError> {
        let (sender, synced) = oneshot::channel();
        locked(&self.out).syncing.push(sender);
        self.say(&ToKeeper::Sync)?;
        Ok(synced)
    }

    pub(super) fn say(&self, what: &ToKeeper) -> Result<(), AttachError> {
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

    pub(super) fn ended(&self) -> AttachError {
        let over = self.level().over.clone();
        AttachError::Over(over.unwrap_or_else(|| Over::Lost("the connection ended".to_owned())))
    }

    /// Waits until the connection is over.
    pub(super) async fn until_over(&self) -> Over {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            if let Some(over) = self.level().over.clone() {
                return over;
            }
            settled.await;
        }
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

    /// What the keeper said. Returns why the connection is over, if it is.
    pub(super) fn take(&self, said: FromKeeper) -> Option<Over> {
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
            // About a request that this connection made, not about the connection.
            FromKeeper::Refused {
                reference: None,
                why: Refusal::Sync | Refusal::Role,
                ..
            } => locked(&self.out).syncing.clear(),
            FromKeeper::Refused {
                reference: None,
                why,
                ..
            } => return Some(Over::Lost(format!("the keeper turned us away: {why}"))),
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
                "the keeper did not take a numbered line: {why}"
            ))),
        }
    }

    /// The lines that were held go again.
    pub(super) fn try_again(&self) {
        let mut out = locked(&self.out);
        for parcel in out.queue.again() {
            out.waiting.extend_from_slice(&parcel);
        }
        drop(out);
        self.work.notify_one();
    }

    /// The connection is over.
    pub(super) fn finish(&self, over: Over) {
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

pub(super) fn message(what: &ToKeeper) -> Result<Vec<u8>, AttachError> {
    let text = serde_json::to_vec(what);
    let mut text = text.map_err(|error| AttachError::Protocol(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// A put with the line behind it, and behind that what the journal is to have of a line with secrets.
pub(super) fn parcel(
    what: &Ref,
    line: &[u8],
    note: Option<Map<String, Value>>,
    refuses: bool,
) -> Result<Vec<u8>, AttachError> {
    let masked = match what {
        Ref::N(_) => masked(line),
        Ref::Answer(_) => None,
    };
    let mut note = note;
    if let Some(masked) = &masked {
        let places = masked.places.iter().cloned().map(Value::String).collect();
        let note = note.get_or_insert_default();
        note.insert("masked".to_owned(), Value::Array(places));
    }
    let mut bytes = message(&ToKeeper::Put {
        reference: what.clone(),
        len: line.len(),
        d: note,
        masked_len: masked.as_ref().map(|masked| masked.line.len()),
        reserve: refuses,
    })?;
    if line.len() > MAX_PUT || bytes.len() > MAX_MESSAGE {
        return Err(AttachError::TooLong);
    }
    bytes.extend_from_slice(line);
    bytes.extend(masked.into_iter().flat_map(|masked| masked.line));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::Counting;

    fn state() -> State {
        let standing = serde_json::json!({
            "proto": 1, "build": "test", "session": "s", "generation": 1, "tail": {"seq": 1, "seg": 1, "off": 1},
            "synced": 1, "last_n": 0, "epoch": 1, "open": [], "unwritten": [], "children": [],
        });
        let standing = serde_json::from_value(standing).unwrap();
        State::new(&standing, Box::new(Counting::after(0)))
    }

    fn blocked() -> io::Error {
        io::ErrorKind::WouldBlock.into()
    }

    #[test]
    fn what_finds_no_room_goes_first_the_next_time() {
        let state = state();
        state.enter(Ref::N(1), b"first".to_vec(), None);
        let mut room = 3;
        let mut written = Vec::new();
        let wrote = state.write_with(|bytes| {
            let count = bytes.len().min(room);
            room -= count;
            written.extend_from_slice(&bytes[..count]);
            (count > 0).then_some(count).ok_or_else(blocked)
        });
        assert!(matches!(wrote, Wrote::Blocked), "{wrote:?}");
        state.enter(Ref::N(2), b"second".to_vec(), None);
        let wrote = state.write_with(|bytes| {
            written.extend_from_slice(bytes);
            Ok(bytes.len())
        });
        assert!(matches!(wrote, Wrote::All { is_held: false }), "{wrote:?}");
        assert_eq!(written, b"firstsecond");
        let wrote = state.write_with(|_| unreachable!("nothing waits"));
        assert!(matches!(wrote, Wrote::All { is_held: false }), "{wrote:?}");
    }

    #[test]
    fn behind_a_line_that_a_full_keeper_sent_back_nothing_is_written() {
        let state = state();
        let take_all = |bytes: &[u8]| Ok(bytes.len());
        state.enter(Ref::N(1), b"first".to_vec(), None);
        state.write_with(take_all);
        state.take(FromKeeper::Refused {
            reference: Some(Ref::N(1)),
            why: Refusal::Paused,
            seq: None,
        });
        state.enter(Ref::N(2), b"second".to_vec(), None);
        let wrote = state.write_with(|_| unreachable!("it waits for the keeper"));
        assert!(matches!(wrote, Wrote::All { is_held: true }), "{wrote:?}");
        state.try_again();
        let mut written = Vec::new();
        let wrote = state.write_with(|bytes| {
            written.extend_from_slice(bytes);
            Ok(bytes.len())
        });
        assert!(matches!(wrote, Wrote::All { is_held: false }), "{wrote:?}");
        assert_eq!(written, b"firstsecond");
    }

    #[test]
    fn a_socket_that_takes_nothing_any_more_is_told_of() {
        let state = state();
        state.enter(Ref::N(1), b"first".to_vec(), None);
        let wrote = state.write_with(|_| Err(io::ErrorKind::BrokenPipe.into()));
        assert!(matches!(wrote, Wrote::Failed(_)), "{wrote:?}");
        let wrote = state.write_with(|_| Ok(0));
        assert!(matches!(wrote, Wrote::Failed(_)), "{wrote:?}");
        state.finish(Over::Superseded);
        let wrote = state.write_with(|_| unreachable!("it is over"));
        assert!(matches!(wrote, Wrote::Over), "{wrote:?}");
    }
}
