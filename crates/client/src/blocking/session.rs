//! A long-lived conversation, split into a handle and two iterators.
//!
//! Owns the waiting versions of [`crate::Handle`], [`crate::Events`] and [`crate::session::Questions`]. Invariant: in each
//! of them the connection stands before the engine, so that it is let go first and the engine can see it to its end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use countersign_wire::Json;
use countersign_wire::control::{HostRequest, Request};
use countersign_wire::vocab::PermissionMode;

use super::engine::Engine;
use crate::claude::Claude;
use crate::closed::Closed;
use crate::control::{InterruptReceipt, ModeTaken};
use crate::error::Result;
use crate::input::Prompt;
use crate::peer::audience::Event;
use crate::peer::question::Question;
use crate::transport::Peer;
use crate::turn::TurnResult;

/// A conversation with one agent. Take it apart to speak, listen and answer on several threads.
#[derive(Debug)]
#[non_exhaustive]
pub struct Session {
    /// To speak to the agent. Cheap to clone.
    pub handle: Handle,
    /// What the agent says, from its start.
    pub events: Events,
    /// What the agent asks, where no callback answers it. Ends at once unless [`Claude::questions`] was called.
    pub questions: Questions,
}

impl Session {
    /// Starts the agent and greets it.
    ///
    /// # Errors
    /// As [`Claude::connect`], and inside an async runtime.
    pub fn connect(claude: Claude) -> Result<Self> {
        Self::open(claude.connect())
    }

    /// Builds the session on a connection that is there already.
    ///
    /// # Errors
    /// As [`Claude::connect_over`], and inside an async runtime.
    pub fn connect_over(claude: Claude, peer: Peer) -> Result<Self> {
        Self::open(claude.connect_over(peer))
    }

    fn open<F>(connecting: F) -> Result<Self>
    where
        F: Future<Output = Result<crate::Session>> + Send + 'static,
    {
        let engine = Engine::start()?;
        let session = engine.run(connecting)?;
        engine.drives(session.handle.shared());
        Ok(Self {
            handle: Handle::new(session.handle, Arc::clone(&engine)),
            events: Events {
                events: session.events,
                engine: Arc::clone(&engine),
            },
            questions: Questions {
                questions: session.questions,
                engine,
            },
        })
    }
}

impl std::ops::Deref for Session {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

/// Speaks to one agent. Cheap to clone; every method takes `&self` and may be called from any thread.
#[derive(Debug, Clone)]
pub struct Handle {
    handle: crate::Handle,
    engine: Arc<Engine>,
}

impl Handle {
    pub(super) fn new(handle: crate::Handle, engine: Arc<Engine>) -> Self {
        Self { handle, engine }
    }

    /// The handle below. What does not wait is called on it: `session_id`, `version`, `is_idle`, …
    pub fn handle(&self) -> &crate::Handle {
        &self.handle
    }

    /// Waits for any call of the handle below: `handle.wait(|handle| handle.context_usage(None))`.
    ///
    /// # Errors
    /// As the call, and inside an async runtime.
    pub fn wait<'a, T, F>(&'a self, call: impl FnOnce(&'a crate::Handle) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.engine.wait(call(&self.handle))?
    }

    /// Sends a message and waits for its result.
    ///
    /// # Errors
    /// As [`crate::Handle::send`] and [`crate::Turn::result`]. A turn that ran and failed is a result; see
    /// [`TurnResult::ok`].
    pub fn send(&self, prompt: impl Into<Prompt>) -> Result<TurnResult> {
        self.start(prompt)?.wait()
    }

    /// Sends a message without waiting for its result.
    ///
    /// # Errors
    /// As [`crate::Handle::send`].
    pub fn start(&self, prompt: impl Into<Prompt>) -> Result<Turn> {
        let turn = self.wait(|handle| handle.send(prompt))?;
        let engine = Arc::clone(&self.engine);
        Ok(Turn { turn, engine })
    }

    /// Sends a message and gives the events from then on, up to the result of this very message.
    ///
    /// # Errors
    /// As [`crate::Handle::send`].
    pub fn stream(&self, prompt: impl Into<Prompt>) -> Result<TurnStream> {
        let stream = self.wait(|handle| handle.stream(prompt))?;
        let engine = Arc::clone(&self.engine);
        Ok(TurnStream { stream, engine })
    }

    /// Ends the running turn; see [`crate::Handle::interrupt`].
    ///
    /// # Errors
    /// As [`crate::Handle::call`].
    pub fn interrupt(&self) -> Result<InterruptReceipt> {
        self.wait(crate::Handle::interrupt)
    }

    /// Ends the running turn and drops queued messages; see [`crate::Handle::interrupt_all`].
    ///
    /// # Errors
    /// As [`crate::Handle::call`].
    pub fn interrupt_all(&self) -> Result<InterruptReceipt> {
        self.wait(crate::Handle::interrupt_all)
    }

    /// Changes the permission mode; see [`crate::Handle::set_permission_mode`].
    ///
    /// # Errors
    /// As [`crate::Handle::set_permission_mode`].
    pub fn set_permission_mode(&self, mode: PermissionMode) -> Result<ModeTaken> {
        self.wait(|handle| handle.set_permission_mode(mode))
    }

    /// Changes the model; see [`crate::Handle::set_model`].
    ///
    /// # Errors
    /// As [`crate::Handle::call`].
    pub fn set_model(&self, model: Option<&str>) -> Result<()> {
        self.engine.wait(self.handle.set_model(model))?
    }

    /// Asks by type; see [`crate::Handle::call`].
    ///
    /// # Errors
    /// As [`crate::Handle::call`].
    pub fn call<R>(&self, request: R) -> Result<R::Reply>
    where
        R: Request + Into<HostRequest>,
    {
        self.wait(|handle| handle.call(request))
    }

    /// The same, with a time limit of its own.
    ///
    /// # Errors
    /// As [`crate::Handle::call`].
    pub fn call_within<R>(&self, request: R, timeout: Duration) -> Result<R::Reply>
    where
        R: Request + Into<HostRequest>,
    {
        self.wait(|handle| handle.call_within(request, timeout))
    }

    /// Asks by name; see [`crate::Handle::control`].
    ///
    /// # Errors
    /// As [`crate::Handle::control`].
    pub fn control(&self, subtype: &str, body: &Json) -> Result<Json> {
        self.engine.wait(self.handle.control(subtype, body))?
    }

    /// Another listener, from now on.
    pub fn subscribe(&self) -> Events {
        Events {
            events: self.handle.subscribe(),
            engine: Arc::clone(&self.engine),
        }
    }

    /// Waits until nothing is going on.
    ///
    /// # Errors
    /// When the agent ends first.
    pub fn idle(&self) -> Result<()> {
        self.wait(crate::Handle::idle)
    }

    /// Ends the agent and waits for it; see [`crate::Handle::close`].
    ///
    /// # Errors
    /// Inside an async runtime.
    pub fn close(&self) -> Result<Arc<Closed>> {
        self.engine.wait(self.handle.close())
    }

    /// Waits for the end of the agent, without asking for it.
    ///
    /// # Errors
    /// Inside an async runtime.
    pub fn closed(&self) -> Result<Arc<Closed>> {
        self.engine.wait(self.handle.closed())
    }
}

/// A message that was sent. Dropping it only stops the waiting.
#[derive(Debug)]
#[must_use = "wait for the turn's result, or drop it to not wait"]
pub struct Turn {
    turn: crate::Turn,
    engine: Arc<Engine>,
}

impl Turn {
    /// The uuid of the message, by which its lines can be told.
    pub fn uuid(&self) -> &str {
        self.turn.uuid()
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// As [`crate::Turn::result`].
    pub fn wait(mut self) -> Result<TurnResult> {
        self.engine.wait(self.turn.result())?
    }
}

/// A message that was sent, with the events from then on. Ends after the result of its own message.
#[derive(Debug)]
#[must_use = "an iterator does nothing unless it is read"]
pub struct TurnStream {
    stream: crate::TurnStream,
    engine: Arc<Engine>,
}

impl TurnStream {
    /// Passes over the events that are left and gives the result.
    ///
    /// # Errors
    /// As [`crate::TurnStream::finish`].
    pub fn finish(self) -> Result<TurnResult> {
        let Self { stream, engine } = self;
        engine.wait(stream.finish())?
    }
}

impl Iterator for TurnStream {
    type Item = Event;

    /// The next event; `None` after the result, and inside an async runtime.
    fn next(&mut self) -> Option<Event> {
        self.engine.wait(self.stream.next()).ok().flatten()
    }
}

/// What the agent says. The iterator waits for the next event and ends after [`Event::Closed`].
#[derive(Debug)]
pub struct Events {
    events: crate::Events,
    engine: Arc<Engine>,
}

impl Events {
    /// The next event, if one is there already.
    pub fn try_next(&mut self) -> Option<Event> {
        self.events.try_next()
    }
}

impl Iterator for Events {
    type Item = Event;

    /// The next event; `None` at the end, and inside an async runtime.
    fn next(&mut self) -> Option<Event> {
        self.engine.wait(self.events.next()).ok().flatten()
    }
}

/// What the agent asks, where no callback answers it. The iterator waits for the next question. Questions may be
/// answered on any thread, in any order.
#[derive(Debug)]
pub struct Questions {
    questions: crate::session::Questions,
    engine: Arc<Engine>,
}

impl Questions {
    /// The next question, if one is there already.
    pub fn try_next(&mut self) -> Option<Question> {
        self.questions.try_next()
    }
}

impl Iterator for Questions {
    type Item = Question;

    /// The next question; `None` when there will be none, and inside an async runtime.
    fn next(&mut self) -> Option<Question> {
        self.engine.wait(self.questions.next()).ok().flatten()
    }
}
