//! The other side of the agent's pipes: one reader, one road out, and who waits for what.
//!
//! Owns [`Shared`], the state of one session. Lines come in by `driver`, are routed there once, and either settle
//! something here (an answer, a question, a turn) or are handed to the listeners (`audience`). Invariants: the reader
//! never waits for a callback or a listener; when the connection ends, everyone who waits learns it.

pub(crate) mod audience;
pub(crate) mod batch;
pub(crate) mod cutter;
mod dispatch;
pub(crate) mod driver;
pub(crate) mod glance;
pub(crate) mod known;
pub(crate) mod lane;
pub(crate) mod notice;
pub(crate) mod outbox;
mod pending;
pub(crate) mod question;
pub(crate) mod responder;
pub(crate) mod turns;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use countersign_wire::HostMessage;
use countersign_wire::control::{ControlOutcome, HostControlRequest, HostRequest};
use countersign_wire::write::to_line;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

pub(crate) use dispatch::{reopen, settle};

use crate::closed::Closed;
use crate::error::{Error, Result};
use crate::handlers::Handlers;
use crate::kept::Freight;
use crate::tap::{self, Tap};
use crate::turn::TurnEnd;
use audience::{Audience, Event, Events};
use known::Known;
use lane::Lane;
use notice::Notice;
use outbox::{Outbox, PutError};
use pending::Pending;
use responder::Questions;
use turns::Turns;

/// What a peer is told at its start.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Bound of what waits for a listener, in bytes.
    pub(crate) queue_bytes: usize,
    /// Bound of what waits to be written, in bytes.
    pub(crate) outbox_bytes: usize,
    /// The longest line that is taken.
    pub(crate) max_line: usize,
    /// How long a control request waits for its answer.
    pub(crate) control_timeout: Duration,
    /// Whether the reader waits for who listens: for a source that nobody waits at the other end of.
    pub(crate) waits_for_listeners: bool,
    /// Whether a question that is dropped is refused. Not where another host may still answer it.
    pub(crate) refuses_dropped: bool,
    /// Whether the agent was started so that the bypass mode can be entered later.
    pub(crate) may_bypass: bool,
    /// In front of the numbers of our requests, so that two hosts of one agent do not use the same ids.
    pub(crate) id_prefix: String,
}

/// How long the end of an agent is waited for that has closed its stdin.
const EXPLANATION: Duration = Duration::from_secs(3);

/// The state of one session, shared by its handles, its reader and its questions.
pub(crate) struct Shared {
    pub(crate) config: Config,
    outbox: Arc<Outbox>,
    questions: Questions,
    pending: Mutex<Pending>,
    turns: Mutex<Turns<oneshot::Sender<TurnEnd>>>,
    known: Mutex<Known>,
    /// Tells that a fact changed, the end of the agent too.
    changed: Notify,
    audience: Audience,
    handlers: Handlers,
    #[cfg(feature = "mcp")]
    bridges: Mutex<std::collections::BTreeMap<String, Arc<crate::mcp::Bridge>>>,
    pub(crate) lane: Lane,
    closed: OnceLock<Arc<Closed>>,
    /// Tells that the agent ended.
    over: Notify,
    /// Nobody holds the session any more.
    abandoned: Notify,
    is_abandoned: AtomicBool,
    next_request: AtomicU64,
    tap: Option<Tap>,
    pub(crate) runtime: tokio::runtime::Handle,
}

/// Held by everything through which a session is used. When the last one is dropped, the session ends.
pub(crate) struct Alive {
    shared: std::sync::Weak<Shared>,
}

impl Drop for Alive {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.abandon();
        }
    }
}

impl std::fmt::Debug for Alive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Alive")
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn new(
        config: Config,
        handlers: Handlers,
        sink: outbox::Sink,
        tap: Option<Tap>,
        runtime: tokio::runtime::Handle,
    ) -> Arc<Self> {
        let lane = Lane::default();
        if !handlers.takes_questions {
            lane.close();
        }
        let limit = config.outbox_bytes;
        let outbox = Arc::new(Outbox::new(sink, limit, tap.clone(), runtime.clone()));
        let shared = Arc::new(Self {
            config,
            outbox,
            questions: Questions::default(),
            pending: Mutex::default(),
            turns: Mutex::default(),
            known: Mutex::default(),
            changed: Notify::new(),
            audience: Audience::default(),
            handlers,
            #[cfg(feature = "mcp")]
            bridges: Mutex::default(),
            lane,
            closed: OnceLock::new(),
            over: Notify::new(),
            abandoned: Notify::new(),
            is_abandoned: AtomicBool::new(false),
            next_request: AtomicU64::new(1),
            tap,
            runtime,
        });
        #[cfg(feature = "mcp")]
        shared.start_servers();
        shared
    }

    pub(crate) fn alive(self: &Arc<Self>) -> Arc<Alive> {
        Arc::new(Alive {
            shared: Arc::downgrade(self),
        })
    }

    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    pub(crate) fn questions(&self) -> &Questions {
        &self.questions
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        locked(&self.known)
    }

    pub(crate) fn turns(&self) -> MutexGuard<'_, Turns<oneshot::Sender<TurnEnd>>> {
        locked(&self.turns)
    }

    pub(crate) fn listen(&self, alive: Option<Arc<Alive>>) -> Events {
        self.audience.join(self.config.queue_bytes, alive)
    }

    pub(crate) fn notice(&self, notice: Notice) {
        tracing::debug!(%notice, "noticed");
        self.audience.tell(&Event::Notice(notice));
    }

    /// Tells that a fact changed.
    pub(crate) fn touch(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `holds` does, or the agent is gone.
    pub(crate) async fn until(&self, holds: impl Fn(&Self) -> bool) -> Result<()> {
        loop {
            // Listening begins before the look, so that no change falls between.
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if holds(self) {
                return Ok(());
            }
            if let Some(closed) = self.end() {
                return Err(Error::Closed(closed));
            }
            // Idleness that is held back comes by time, not by a line.
            let now = Instant::now();
            let settles_at = self.known().settles_at(now);
            match settles_at {
                Some(at) => drop(tokio::time::timeout_at(at, changed).await),
                None => changed.await,
            }
        }
    }

    pub(crate) fn has_hooks(&self) -> bool {
        !self.handlers.hooks.is_empty()
    }

    /// Whether some hook is to block when it fails.
    pub(crate) fn has_blocking_hooks(&self) -> bool {
        self.handlers
            .hooks
            .iter()
            .any(|hook| hook.blocks_on_failure())
    }

    /// Waits for the end of the agent.
    pub(crate) async fn ended(&self) -> Arc<Closed> {
        loop {
            let over = self.over.notified();
            tokio::pin!(over);
            over.as_mut().enable();
            if let Some(closed) = self.end() {
                return closed;
            }
            over.await;
        }
    }

    /// How the agent ended, if it did.
    pub(crate) fn end(&self) -> Option<Arc<Closed>> {
        self.closed.get().cloned()
    }

    /// Nobody holds the session any more, or its holder goes away.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Release);
        self.abandoned.notify_one();
    }

    /// Waits until nobody holds the session any more.
    pub(crate) async fn abandoned(&self) {
        while !self.is_abandoned.load(Ordering::Acquire) {
            self.abandoned.notified().await;
        }
    }

    fn gone(&self) -> Error {
        Error::Closed(self.end().unwrap_or_default())
    }

    /// Whether nothing is going on: no message without an end, no turn, no background work, no open question.
    pub(crate) fn is_idle(&self) -> bool {
        self.turns().open() == 0
            && self.questions.count() == 0
            && self.known().is_idle(Instant::now())
    }

    /// The same error, with how the agent ended: that is known a moment after its stdin is found closed.
    pub(crate) async fn explained(&self, error: Error) -> Error {
        match error {
            Error::Closed(_) => match tokio::time::timeout(EXPLANATION, self.ended()).await {
                Ok(closed) => Error::Closed(closed),
                Err(_) => error,
            },
            error => error,
        }
    }

    /// Writes one message.
    pub(crate) fn write(&self, message: &HostMessage) -> Result<()> {
        debug_assert!(!matches!(message, HostMessage::ControlResponse(_)));
        let freight = match message {
            HostMessage::User(_) => Freight::Message,
            _ => Freight::Request,
        };
        match self.outbox.put(to_line(message)?, freight) {
            Ok(()) => Ok(()),
            Err(PutError::Full) => Err(Error::Backlog),
            Err(PutError::Closed) => Err(self.gone()),
        }
    }

    /// Asks the CLI and waits for its answer, at most `timeout`.
    ///
    /// Dropping the future takes the request back where this version lets us; a later answer is ignored.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        subtype: &str,
        request: HostRequest,
        timeout: Duration,
    ) -> Result<ControlOutcome> {
        let number = self.next_request.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}{number}", self.config.id_prefix);
        let receiver = locked(&self.pending).expect(&id);
        let receiver = receiver.ok_or_else(|| self.gone())?;
        let open = OpenRequest {
            shared: self,
            id: &id,
        };
        let request = HostControlRequest::new(id.as_str(), request);
        if let Err(error) = self.write(&request.into()) {
            return Err(self.explained(error).await);
        }
        let answer = match tokio::time::timeout(timeout, receiver).await {
            Ok(Ok(answer)) => answer,
            // The sender is dropped when the agent is gone; how it ended is known a moment later.
            Ok(Err(_)) => return Err(Error::Closed(self.ended().await)),
            Err(_) => {
                return Err(Error::TimedOut {
                    what: subtype.to_owned(),
                    after: timeout,
                });
            }
        };
        drop(open);
        outcome(&answer, subtype)
    }

    /// Expects the reply to a request that was sent under `id`. None: the agent is gone.
    pub(crate) fn expect(&self, id: &str) -> Option<oneshot::Receiver<bytes::Bytes>> {
        locked(&self.pending).expect(id)
    }

    /// Nobody waits for the reply to `id` any longer. False: it had come.
    pub(crate) fn give_up(&self, id: &str) -> bool {
        locked(&self.pending).give_up(id)
    }

    /// The connection is over: everyone who waits learns it. Later calls change nothing.
    pub(crate) fn finish(&self, closed: Closed) {
        let closed = Arc::new(closed);
        if self.closed.set(Arc::clone(&closed)).is_err() {
            return;
        }
        if let Some(tap) = &self.tap {
            tap::tell_end(tap, &closed);
        }
        self.over.notify_waiters();
        self.outbox.cut();
        locked(&self.pending).end();
        self.questions.withdraw_all();
        self.lane.close();
        for waiter in self.turns().abandon() {
            let _ = waiter.send(TurnEnd::Closed(Arc::clone(&closed)));
        }
        #[cfg(feature = "mcp")]
        locked(&self.bridges).clear();
        self.touch();
        self.audience.tell(&Event::Closed(closed));
    }
}

/// Reads the line that answers a control request.
pub(crate) fn outcome(line: &[u8], subtype: &str) -> Result<ControlOutcome> {
    let broken = |reason: String| Error::Reply {
        subtype: subtype.to_owned(),
        reason,
    };
    match countersign_wire::decode::decode(line) {
        Ok(countersign_wire::CliMessage::ControlResponse(response)) => Ok(response.response),
        Ok(_) => Err(broken("no control_response".to_owned())),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// A request that waits: given up, and taken back where possible, when it is dropped unanswered.
struct OpenRequest<'a> {
    shared: &'a Arc<Shared>,
    id: &'a str,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let was_open = self.shared.give_up(self.id);
        // A kept agent is told nothing by a host that goes away.
        let may_cancel = self.shared.config.refuses_dropped
            && self.shared.known().capabilities().may_send_cancel();
        if was_open && may_cancel {
            let cancel = countersign_wire::control::ControlCancelRequest {
                request_id: self.id.into(),
                extra: countersign_wire::Extra::default(),
            };
            let _ = self
                .shared
                .write(&HostMessage::ControlCancelRequest(cancel));
        }
    }
}
