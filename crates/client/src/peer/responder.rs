//! The right to answer what the CLI asks: once, at any time, in any order.
//!
//! Owns the open questions of a session and [`Responder`], the right to answer one. Invariants: a question is answered
//! at most once; an unanswered one that is dropped is refused in the safe way for its kind, unless another host may
//! still answer it; one that the CLI withdrew cannot be answered, and its holder learns so.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use countersign_wire::Json;
use countersign_wire::permission::PermissionResult;
use countersign_wire::write::append_ascii;
use serde::Serialize;
use tokio::sync::Notify;

use super::Shared;
use crate::kept::Freight;

/// So many questions may be open at once. The next one is refused: a CLI that asks more is out of order.
pub(crate) const MOST_OPEN: usize = 1024;

/// The CLI no longer wants an answer, or is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the question was withdrawn: take its card away")]
pub struct Withdrawn;

/// What is sent for a question that nobody answers.
#[derive(Debug, Clone)]
pub(crate) enum Fallback {
    /// A denial with this text for the model.
    Deny(&'static str),
    /// A reply that refuses.
    Reply(Json),
    /// An error.
    Error(String),
}

impl Fallback {
    /// The line that refuses the question `id`.
    pub(crate) fn line(&self, id: &str) -> serde_json::Result<Vec<u8>> {
        match self {
            Self::Deny(message) => answer_line(id, Outcome::Success, |line| {
                append_ascii(line, &PermissionResult::deny(*message))
            }),
            Self::Reply(reply) => answer_line(id, Outcome::Success, |l| append_ascii(l, reply)),
            Self::Error(text) => answer_line(id, Outcome::Error, |l| append_ascii(l, text)),
        }
    }
}

/// One open question.
pub(crate) struct Slot {
    id: Box<str>,
    subtype: Cow<'static, str>,
    position: u64,
    asked: Instant,
    is_withdrawn: AtomicBool,
    withdrawn: Notify,
    shared: Weak<Shared>,
}

impl Slot {
    pub(crate) fn new(
        id: &str,
        subtype: Cow<'static, str>,
        position: u64,
        shared: Weak<Shared>,
    ) -> Self {
        Self {
            id: id.into(),
            subtype,
            position,
            asked: Instant::now(),
            is_withdrawn: AtomicBool::new(false),
            withdrawn: Notify::new(),
            shared,
        }
    }

    pub(crate) fn withdraw(&self) {
        self.is_withdrawn.store(true, Ordering::Release);
        self.withdrawn.notify_waiters();
    }
}

/// Tells whether the CLI still wants an answer. Cheap to clone.
#[derive(Clone)]
pub struct Interest(Arc<Slot>);

impl Interest {
    pub(crate) fn new(slot: Arc<Slot>) -> Self {
        Self(slot)
    }

    /// Whether the question was withdrawn.
    pub fn is_withdrawn(&self) -> bool {
        self.0.is_withdrawn.load(Ordering::Acquire)
    }

    /// Waits until the question is withdrawn: by an interrupt, by another answer, by the end of the agent.
    pub async fn withdrawn(&self) {
        let notified = self.0.withdrawn.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        if !self.is_withdrawn() {
            notified.await;
        }
    }
}

impl std::fmt::Debug for Interest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Interest({})", self.0.id)
    }
}

/// The right to answer one question, once. Dropped without an answer, the question is refused; that of a kept agent
/// stays open, for the next host.
#[must_use = "a question that is dropped is refused"]
pub struct Responder {
    slot: Arc<Slot>,
    fallback: Option<Fallback>,
    note: Option<Box<Json>>,
    refuses: bool,
}

impl Responder {
    pub(crate) fn new(slot: Arc<Slot>, fallback: Fallback) -> Self {
        Self {
            slot,
            fallback: Some(fallback),
            note: None,
            refuses: false,
        }
    }

    /// Has this kept with the answer, where answers are kept: who decided, and why. A JSON object.
    pub fn note(&mut self, note: Json) {
        self.note = Some(Box::new(note));
    }

    /// The answer grants nothing.
    pub(crate) fn refusing(mut self) -> Self {
        self.refuses = true;
        self
    }

    /// Refuses in the safe way for the kind of question, also where dropping would leave it open.
    pub fn refuse(mut self) {
        self.refuse_now();
    }

    fn refuse_now(&mut self) {
        let Some(fallback) = self.fallback.take() else {
            return;
        };
        let line = fallback.line(&self.slot.id);
        let refused = line
            .map_err(|_| Withdrawn)
            .and_then(|line| send(&self.slot, line, self.note.as_deref(), true));
        if refused.is_ok() {
            tracing::debug!(
                request_id = &*self.slot.id,
                subtype = &*self.slot.subtype,
                "a question was refused"
            );
        }
    }

    /// The id under which the CLI asked.
    pub fn request_id(&self) -> &str {
        &self.slot.id
    }

    /// What was asked: `can_use_tool`, `elicitation`, …
    pub fn subtype(&self) -> &str {
        &self.slot.subtype
    }

    /// How many events the CLI had told before it asked. The events up to here may still wait to be read.
    pub fn position(&self) -> u64 {
        self.slot.position
    }

    /// How long the question has been open.
    pub fn age(&self) -> Duration {
        self.slot.asked.elapsed()
    }

    pub(crate) fn is_withdrawn(&self) -> bool {
        self.slot.is_withdrawn.load(Ordering::Acquire)
    }

    /// Whether and when the CLI withdraws it.
    pub fn interest(&self) -> Interest {
        Interest(Arc::clone(&self.slot))
    }

    /// The session it belongs to, if that is still there.
    pub(crate) fn shared(&self) -> Option<Arc<Shared>> {
        self.slot.shared.upgrade()
    }

    /// Answers with success and `reply`.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn reply<T: Serialize + ?Sized>(self, reply: &T) -> Result<(), Withdrawn> {
        self.answer(Outcome::Success, |line| append_ascii(line, reply))
    }

    /// Answers with success; `body` appends the reply, as ASCII on one line.
    pub(crate) fn reply_with(
        self,
        body: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    ) -> Result<(), Withdrawn> {
        self.answer(Outcome::Success, body)
    }

    /// Answers with an error. The CLI takes it as a refusal where it asked to act.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn error(self, message: &str) -> Result<(), Withdrawn> {
        self.refusing()
            .answer(Outcome::Error, |line| append_ascii(line, message))
    }

    fn answer(
        mut self,
        outcome: Outcome,
        body: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    ) -> Result<(), Withdrawn> {
        // What has no JSON form cannot be sent; dropping refuses.
        let line = answer_line(&self.slot.id, outcome, body).map_err(|_| Withdrawn)?;
        self.fallback = None;
        send(&self.slot, line, self.note.as_deref(), self.refuses)
    }

    /// Lets the question stay open without an answer, for another host to answer.
    pub fn leave_open(mut self) {
        self.fallback = None;
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Responder({} {})", self.slot.subtype, self.slot.id)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let refuses = self
            .shared()
            .is_some_and(|shared| shared.config.refuses_dropped);
        if refuses {
            self.refuse_now();
        }
    }
}

#[derive(Clone, Copy)]
enum Outcome {
    Success,
    Error,
}

/// Writes the answer if the question is still open.
fn send(
    slot: &Arc<Slot>,
    line: Vec<u8>,
    note: Option<&Json>,
    refuses: bool,
) -> Result<(), Withdrawn> {
    let shared = slot.shared.upgrade().ok_or(Withdrawn)?;
    if !shared.questions().close(slot) {
        return Err(Withdrawn);
    }
    let answer = Freight::Answer {
        request_id: &slot.id,
        note,
        refuses,
    };
    let written = shared.outbox().put(line, answer);
    shared.touch();
    written.map_err(|_| Withdrawn)
}

/// The envelope is the same for every answer, so it is written as text around the body.
fn answer_line(
    id: &str,
    outcome: Outcome,
    body: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
) -> serde_json::Result<Vec<u8>> {
    let (subtype, field): (&[u8], &[u8]) = match outcome {
        Outcome::Success => (b"success", b",\"response\":"),
        Outcome::Error => (b"error", b",\"error\":"),
    };
    let mut line = Vec::with_capacity(512);
    line.extend_from_slice(b"{\"type\":\"control_response\",\"response\":{\"subtype\":\"");
    line.extend_from_slice(subtype);
    line.extend_from_slice(b"\",\"request_id\":");
    append_ascii(&mut line, id)?;
    line.extend_from_slice(field);
    body(&mut line)?;
    line.extend_from_slice(b"}}\n");
    Ok(line)
}

/// The questions that are open.
#[derive(Default)]
pub(crate) struct Questions {
    open: Mutex<Open>,
}

/// A handful at most, so that looking through them is quicker than any order.
#[derive(Default)]
struct Open {
    slots: Vec<Arc<Slot>>,
    /// The agent is gone: nothing more is opened.
    is_over: bool,
}

/// What became of a question that came in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    Yes,
    Repeated,
    TooMany,
    /// The agent is gone.
    Over,
}

impl Questions {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self, slot: &Arc<Slot>) -> Opened {
        let mut open = self.lock();
        if open.is_over {
            return Opened::Over;
        }
        if open.slots.iter().any(|known| known.id == slot.id) {
            return Opened::Repeated;
        }
        if open.slots.len() >= MOST_OPEN {
            return Opened::TooMany;
        }
        open.slots.push(Arc::clone(slot));
        Opened::Yes
    }

    /// Takes the question off the list. False: it was not there any more, or is another one under the same id.
    fn close(&self, slot: &Arc<Slot>) -> bool {
        self.take(|known| Arc::ptr_eq(known, slot)).is_some()
    }

    fn take(&self, is_wanted: impl Fn(&Arc<Slot>) -> bool) -> Option<Arc<Slot>> {
        let mut open = self.lock();
        let at = open.slots.iter().position(is_wanted)?;
        Some(open.slots.swap_remove(at))
    }

    /// The CLI takes a question back.
    pub(crate) fn withdraw(&self, id: &str) -> bool {
        let slot = self.take(|known| &*known.id == id);
        if let Some(slot) = &slot {
            slot.withdraw();
        }
        slot.is_some()
    }

    /// The agent is gone.
    pub(crate) fn withdraw_all(&self) {
        let slots = {
            let mut open = self.lock();
            open.is_over = true;
            std::mem::take(&mut open.slots)
        };
        for slot in &slots {
            slot.withdraw();
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().slots.len()
    }
}

#[cfg(test)]
mod tests {
    use countersign_wire::HostMessage;
    use countersign_wire::decode::decode;

    use super::*;

    #[test]
    fn the_envelope_written_as_text_is_the_one_of_the_wire() {
        let reply = serde_json::json!({"behavior": "deny", "message": "é"});
        for line in [
            answer_line("a\"b", Outcome::Success, |l| append_ascii(l, &reply)).unwrap(),
            answer_line("ü", Outcome::Error, |l| append_ascii(l, "nö\n")).unwrap(),
        ] {
            assert!(line.is_ascii() && line.ends_with(b"}}\n"));
            let message: HostMessage = decode(&line[..line.len() - 1]).unwrap();
            assert!(matches!(message, HostMessage::ControlResponse(_)));
            let written = countersign_wire::write::to_line(&message).unwrap();
            let ours: serde_json::Value = serde_json::from_slice(&line).unwrap();
            let theirs: serde_json::Value = serde_json::from_slice(&written).unwrap();
            assert_eq!(ours, theirs);
        }
    }
}
