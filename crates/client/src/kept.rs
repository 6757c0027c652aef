//! An agent whose pipes another process owns, and which lives on when we do not.
//!
//! Owns the seam to such a process: what it must bring to attach to an agent that runs already ([`KeptAgent`]), the road
//! for what we say ([`Road`]), and what was asked before us ([`Earlier`]). Invariants: letting go of a kept agent writes
//! nothing to it, whether by drop, panic or exit; its open questions come back as values, and one that is dropped stays
//! open; nothing that was said before is acted on again.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_wire::Json;
use countersign_wire::control::ControlOutcome;
use futures_core::future::BoxFuture;
use tokio::io::AsyncRead;
use tokio::sync::oneshot;

use crate::agent::Graces;
use crate::error::{Error, Result};
use crate::peer::Shared;
use crate::session::Session;

/// What a line is that goes to a kept agent.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Freight<'a> {
    /// A message to the model.
    Message,
    /// A control request of ours, or the end of one.
    Request,
    /// The answer to a question of the agent.
    Answer {
        /// Which question.
        request_id: &'a str,
        /// What is to be remembered with it ([`crate::Responder::note`]).
        note: Option<&'a Json>,
        /// It grants nothing.
        refuses: bool,
    },
}

/// Why a line was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoadError {
    /// The agent, or who keeps it, is gone.
    Closed,
    /// Too much waits to be written.
    Full,
}

/// The road to a kept agent.
pub trait Road: Send + Sync + 'static {
    /// Takes one whole line with its newline. Does not wait.
    ///
    /// # Errors
    /// When the agent is gone, or too much waits.
    fn put(&self, line: Vec<u8>, freight: Freight<'_>) -> std::result::Result<(), RoadError>;

    /// Waits until what was taken is written, or cannot be any more.
    fn flushed(&self) -> BoxFuture<'_, ()>;

    /// Has the agent ended by whoever keeps it.
    fn end(&self, graces: Graces);

    /// How the agent ended, if it did.
    fn exit(&self) -> Option<KeptExit>;
}

/// How a kept agent ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptExit {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it took to end it; nothing if it ended unasked.
    pub ended_by: Option<crate::closed::EndedBy>,
    /// The end of its stderr.
    pub stderr: String,
    /// How many processes it left behind.
    pub swept: usize,
}

/// A line that crossed before we came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastLine {
    /// The agent said it.
    FromAgent(Vec<u8>),
    /// It was said to the agent.
    ToAgent(Vec<u8>),
}

/// Whether the agent was greeted by an earlier host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Greeted {
    /// No: it is greeted now.
    #[default]
    Never,
    /// It was, under this request id, and has not replied.
    Asked(String),
    /// It was, and this is the line of its reply.
    Replied(Vec<u8>),
}

/// A request of an earlier host that has no reply yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Its id.
    pub request_id: String,
    /// What was asked.
    pub subtype: String,
}

/// An agent that runs already, with what is needed to go on from here.
pub struct KeptAgent {
    /// What crossed before, oldest first. Read once, on a thread that may wait.
    pub past: Box<dyn Iterator<Item = io::Result<PastLine>> + Send>,
    /// The lines of its questions that have no answer.
    pub open: Vec<Vec<u8>>,
    /// Our requests that have no reply.
    pub unanswered: Vec<Unanswered>,
    /// Whether it was greeted.
    pub greeted: Greeted,
    /// What it says from here on; ends with the agent.
    pub live: Box<dyn AsyncRead + Send + Unpin>,
    /// What we say.
    pub road: Arc<dyn Road>,
    /// Its process.
    pub pid: Option<u32>,
    /// In front of the ids of our requests: no earlier host has used it.
    pub id_prefix: String,
    /// Whether it was started so that the bypass mode can be entered.
    pub may_bypass: bool,
}

impl std::fmt::Debug for KeptAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptAgent")
            .field("pid", &self.pid)
            .field("open", &self.open.len())
            .field("unanswered", &self.unanswered)
            .finish_non_exhaustive()
    }
}

/// A session with an agent that ran before.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attached {
    /// The session. Questions that were open come first.
    pub session: Session,
    /// The requests of earlier hosts whose reply may still come.
    pub earlier: Vec<Earlier>,
}

/// A request of an earlier host whose reply may still come.
pub struct Earlier {
    pub(crate) shared: Arc<Shared>,
    pub(crate) request: Unanswered,
    pub(crate) reply: oneshot::Receiver<Bytes>,
}

impl Earlier {
    /// The id it was asked under.
    pub fn request_id(&self) -> &str {
        &self.request.request_id
    }

    /// What was asked.
    pub fn subtype(&self) -> &str {
        &self.request.subtype
    }

    /// Waits for the reply, at most `timeout`; then it is given up by its name.
    ///
    /// # Errors
    /// When no reply comes in time, or the agent ends first.
    pub async fn reply(mut self, timeout: Duration) -> Result<ControlOutcome> {
        match tokio::time::timeout(timeout, &mut self.reply).await {
            Ok(Ok(line)) => crate::peer::outcome(&line, &self.request.subtype),
            Ok(Err(_)) => Err(Error::Closed(self.shared.ended().await)),
            Err(_) => Err(Error::TimedOut {
                what: self.request.subtype.clone(),
                after: timeout,
            }),
        }
    }
}

impl Drop for Earlier {
    fn drop(&mut self) {
        self.shared.give_up(&self.request.request_id);
    }
}

impl std::fmt::Debug for Earlier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Earlier({:?})", self.request)
    }
}
