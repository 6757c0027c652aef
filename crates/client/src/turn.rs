//! One message and its answer.
//!
//! Owns [`Turn`], the wait for the result that answers one message, and [`TurnResult`]. Invariant: a turn ends with the
//! result of its own message (matched by uuid), or with the reason why there is none.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use countersign_wire::CliMessage;
use countersign_wire::Json;
use countersign_wire::cli::ResultMessage;
use countersign_wire::decode::{DecodeError, decode};
use futures_core::Stream;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::closed::Closed;
use crate::error::{Error, Result};
use crate::peer::Alive;
use crate::peer::audience::{Event, Events};
use crate::peer::batch::Kind;
use crate::peer::glance::ResultGlance;

/// How a message ended.
#[derive(Debug)]
pub(crate) enum TurnEnd {
    Result(Box<TurnResult>),
    Duplicate,
    Cancelled,
    NoTurn,
    Closed(Arc<Closed>),
}

/// The end of a turn. Success is `subtype` success *and* not `is_error`.
#[derive(Debug, Clone)]
pub struct TurnResult {
    glance: Arc<ResultGlance>,
    line: Bytes,
    was_interrupted: bool,
}

impl TurnResult {
    pub(crate) fn new(glance: Arc<ResultGlance>, line: Bytes, was_interrupted: bool) -> Self {
        Self {
            glance,
            line,
            was_interrupted,
        }
    }

    /// Whether the turn did what was asked.
    pub fn is_success(&self) -> bool {
        self.glance.subtype.as_deref() == Some("success") && self.glance.is_error != Some(true)
    }

    /// Whether it was cut off: an interrupt was sent while it ran, or the CLI says that it was aborted.
    pub fn is_interrupted(&self) -> bool {
        let reason = self.glance.terminal_reason.as_deref();
        let was_cut = self.glance.subtype.as_deref() == Some("error_during_execution");
        reason.is_some_and(|reason| reason.starts_with("aborted_"))
            || (self.was_interrupted && was_cut)
    }

    /// How it ended, as the CLI names it: `success`, `error_max_turns`, …
    pub fn subtype(&self) -> &str {
        self.glance.subtype.as_deref().unwrap_or_default()
    }

    /// The final text.
    pub fn text(&self) -> &str {
        self.glance.result.as_deref().unwrap_or_default()
    }

    /// What went wrong, as far as the CLI says.
    pub fn errors(&self) -> &[String] {
        self.glance.errors.as_deref().unwrap_or_default()
    }

    /// The session; it changes with `/clear` and with a fork.
    pub fn session_id(&self) -> Option<&str> {
        self.glance.session_id.as_deref()
    }

    /// What the session has cost so far, in US dollars: all turns together.
    pub fn total_cost_usd(&self) -> Option<f64> {
        self.glance.total_cost_usd
    }

    /// How often the model was called in this turn.
    pub fn model_calls(&self) -> Option<u64> {
        let count = self.glance.num_turns?;
        (count >= 0.0).then_some(count as u64)
    }

    /// The HTTP status of the API call that failed.
    pub fn api_error_status(&self) -> Option<u16> {
        let status = self.glance.api_error_status?;
        (0.0..=999.0).contains(&status).then_some(status as u16)
    }

    /// The value that fits the schema that was asked for.
    pub fn structured_output(&self) -> Option<&Json> {
        self.glance.structured_output.as_ref()
    }

    /// The structured output as `T`.
    ///
    /// # Errors
    /// When there is none, or it is no `T`.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T> {
        let Some(output) = self.structured_output() else {
            return Err(Error::Turn(Box::new(TurnFailure(self.clone()))));
        };
        Ok(output.to()?)
    }

    /// The line of the CLI.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// The whole typed message: usage, models, denials and the rest.
    ///
    /// # Errors
    /// When a field is missing that should be there; the rest is still at hand by the other methods.
    pub fn message(&self) -> Result<Box<ResultMessage>, DecodeError> {
        match decode(&self.line)? {
            CliMessage::Result(result) => Ok(result),
            _ => Err(DecodeError::NoType),
        }
    }

    /// The same if it is a success, an error with what went wrong otherwise.
    ///
    /// # Errors
    /// When the turn did not succeed.
    pub fn ok(self) -> Result<Self> {
        match self.is_success() {
            true => Ok(self),
            false => Err(Error::Turn(Box::new(TurnFailure(self)))),
        }
    }
}

/// A turn that did not succeed.
#[derive(Debug, Clone)]
pub struct TurnFailure(pub TurnResult);

impl fmt::Display for TurnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = &self.0;
        if result.is_interrupted() {
            return f.write_str("it was interrupted");
        }
        if result.is_success() {
            return f.write_str("it gave no structured output: is a schema set?");
        }
        f.write_str(match result.subtype() {
            "success" => "the model could not be reached",
            "error_max_turns" => "the limit of model calls was reached: raise `max_turns`",
            "error_max_budget_usd" => "the budget is used up: raise `max_budget_usd`",
            "error_max_structured_output_retries" => "no answer fitted the schema: relax it",
            other => other,
        })?;
        let said = match (result.errors(), result.text()) {
            ([], text) => text.to_owned(),
            (errors, _) => errors.join("; "),
        };
        match said.is_empty() {
            true => Ok(()),
            false => write!(f, " ({said})"),
        }
    }
}

/// A message that was sent. Await it for the result; dropping it only stops the waiting.
#[derive(Debug)]
#[must_use = "await the turn for its result, or drop it to not wait"]
pub struct Turn {
    uuid: String,
    end: oneshot::Receiver<TurnEnd>,
    alive: Arc<Alive>,
    span: tracing::Span,
}

impl Turn {
    pub(crate) fn new(
        uuid: String,
        end: oneshot::Receiver<TurnEnd>,
        alive: Arc<Alive>,
        span: tracing::Span,
    ) -> Self {
        Self {
            uuid,
            end,
            alive,
            span,
        }
    }

    /// The uuid of the message, by which its lines can be told.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    /// Waits for the result. Cancel-safe.
    ///
    /// # Errors
    /// When the agent ended first, or the message did not run: it was taken back, or its uuid had been used. A turn
    /// that ran and failed is a result; see [`TurnResult::ok`].
    pub async fn result(&mut self) -> Result<TurnResult> {
        let end = (&mut self.end).await;
        self.finished(end)
    }

    fn poll_result(&mut self, context: &mut Context<'_>) -> Poll<Result<TurnResult>> {
        Pin::new(&mut self.end)
            .poll(context)
            .map(|end| self.finished(end))
    }

    fn finished(&self, end: Result<TurnEnd, oneshot::error::RecvError>) -> Result<TurnResult> {
        let uuid = self.uuid.clone();
        match end {
            Ok(TurnEnd::Result(result)) => {
                self.span.record("subtype", result.subtype());
                Ok(*result)
            }
            Ok(TurnEnd::Duplicate) => Err(Error::Duplicate { uuid }),
            Ok(TurnEnd::Cancelled | TurnEnd::NoTurn) => Err(Error::Cancelled { uuid }),
            Ok(TurnEnd::Closed(closed)) => Err(Error::Closed(closed)),
            Err(_) => Err(Error::Closed(Arc::default())),
        }
    }
}

impl IntoFuture for Turn {
    type Output = Result<TurnResult>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<TurnResult>> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let result = self.result().await;
            drop(self.alive);
            result
        })
    }
}

/// A message that was sent, with the events from then on. Ends after the result of its own message.
#[derive(Debug)]
#[must_use = "a stream does nothing unless it is read"]
pub struct TurnStream {
    turn: Turn,
    events: Events,
    outcome: Option<Result<TurnResult>>,
    is_over: bool,
}

impl TurnStream {
    pub(crate) fn new(turn: Turn, events: Events) -> Self {
        Self {
            turn,
            events,
            outcome: None,
            is_over: false,
        }
    }

    /// The uuid of the message.
    pub fn uuid(&self) -> &str {
        self.turn.uuid()
    }

    /// The next event; `None` after the result.
    pub async fn next(&mut self) -> Option<Event> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Passes over the events that are left and gives the result.
    ///
    /// # Errors
    /// As [`Turn::result`].
    pub async fn finish(mut self) -> Result<TurnResult> {
        while self.next().await.is_some() {}
        match self.outcome.take() {
            Some(outcome) => outcome,
            None => self.turn.result().await,
        }
    }
}

impl Stream for TurnStream {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let this = &mut *self;
        if this.is_over {
            return Poll::Ready(None);
        }
        if this.outcome.is_none()
            && let Poll::Ready(outcome) = this.turn.poll_result(context)
        {
            this.outcome = Some(outcome);
        }
        // The lines up to the result are handed over before the turn is told of it.
        if this.outcome.is_some() {
            let event = this.events.try_next();
            this.is_over = match &event {
                None => true,
                Some(Event::Message(frame)) => {
                    frame.kind() == Kind::Result && this.is_own_result(frame.line())
                }
                Some(_) => false,
            };
            return Poll::Ready(event);
        }
        this.events.poll_event(context)
    }
}

impl TurnStream {
    fn is_own_result(&self, line: &[u8]) -> bool {
        matches!(&self.outcome, Some(Ok(result)) if result.line() == line)
    }
}
