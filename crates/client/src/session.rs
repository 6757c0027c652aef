//! A long-lived conversation with one agent, split into a handle and a stream.
//!
//! Owns [`Session`] and [`Handle`]. Invariants: every method of a handle takes `&self` and may be called from any task;
//! when the last handle, stream and turn is dropped the agent is ended, and nothing of it is left running.

use std::sync::Arc;
use std::time::Duration;

use countersign_wire::CliMessage;
use countersign_wire::control::{ControlOutcome, Initialize, InitializeReply, Request as _};
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use crate::agent::Graces;
use crate::closed::Closed;
use crate::error::{Error, Result};
use crate::input::Prompt;
use crate::options::{Version, Warning};
use crate::peer::audience::Events;
use crate::peer::notice::Notice;
use crate::peer::question::Question;
use crate::peer::{Alive, Shared, reopen};
use crate::turn::{Turn, TurnStream};

/// A conversation with one agent. Take it apart: the handle to speak, the events to listen, the questions to answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Session {
    /// To speak to the agent. Cheap to clone.
    pub handle: Handle,
    /// What the agent says, from its start.
    pub events: Events,
    /// What the agent asks, where no callback answers it. Ends at once unless [`crate::Claude::questions`] was called.
    pub questions: Questions,
}

impl Session {
    /// The handle and the events; questions that no callback answers are refused.
    pub fn split(self) -> (Handle, Events) {
        (self.handle, self.events)
    }
}

impl std::ops::Deref for Session {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

/// The questions that no callback answers, in the order they were asked.
///
/// They wait on a lane of their own: they come even if nobody reads the events. Dropping this refuses what comes.
pub struct Questions {
    shared: Arc<Shared>,
}

impl Questions {
    /// The next question; `None` when there will be none.
    pub async fn next(&mut self) -> Option<Question> {
        std::future::poll_fn(|context| self.shared.lane.poll_next(context)).await
    }

    /// The next question, if one is there already.
    pub fn try_next(&mut self) -> Option<Question> {
        self.shared.lane.try_next()
    }
}

impl futures_core::Stream for Questions {
    type Item = Question;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Question>> {
        self.shared.lane.poll_next(context)
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        self.shared.lane.close();
    }
}

impl std::fmt::Debug for Questions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Questions")
    }
}

/// What does not change while the session lives.
#[derive(Debug)]
struct About {
    reply: Option<Box<InitializeReply>>,
    warnings: Vec<Warning>,
    pid: Option<u32>,
}

/// Speaks to one agent. Cheap to clone; every method takes `&self`.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
    alive: Arc<Alive>,
    end: watch::Sender<Option<Graces>>,
    graces: Graces,
    about: Arc<About>,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle")
            .field("pid", &self.about.pid)
            .field("session_id", &self.session_id())
            .finish_non_exhaustive()
    }
}

/// A connection that was made and has not been greeted.
pub(crate) struct Greeting {
    pub(crate) shared: Arc<Shared>,
    pub(crate) end: watch::Sender<Option<Graces>>,
    pub(crate) graces: Graces,
    pub(crate) pid: Option<u32>,
    pub(crate) warnings: Vec<Warning>,
    /// Held from the start, so that nothing the agent says early is missed.
    pub(crate) alive: Arc<Alive>,
    pub(crate) events: Events,
}

impl Greeting {
    /// Introduces the host and waits for the reply.
    pub(crate) async fn greet(self, initialize: Initialize, timeout: Duration) -> Result<Session> {
        let asking = self
            .shared
            .ask(Initialize::SUBTYPE, initialize.into(), timeout);
        let outcome = match asking.await {
            Err(Error::Closed(closed)) => return Err(came_down(closed)),
            // The agent is of no use, and its stderr may say what it waits for.
            Err(Error::TimedOut { after, .. }) => {
                self.end.send_replace(Some(Graces::at_once()));
                let closed = self.shared.ended().await;
                return Err(Error::HandshakeTimedOut { after, closed });
            }
            outcome => outcome?,
        };
        let reply = self.read(outcome)?;
        Ok(self.open(reply))
    }

    /// Opens the session of an agent that was greeted before, by its reply of then.
    pub(crate) fn greeted_before(self, outcome: ControlOutcome) -> Session {
        let reply = match outcome {
            ControlOutcome::Success(success) => success.response,
            _ => None,
        };
        let reply = self.learn(reply);
        self.open(reply)
    }

    fn read(&self, outcome: ControlOutcome) -> Result<Option<Box<InitializeReply>>> {
        let success = match outcome {
            ControlOutcome::Success(success) => success,
            ControlOutcome::Error(error) => {
                return Err(Error::Refused {
                    subtype: Initialize::SUBTYPE.to_owned(),
                    message: error.error.unwrap_or_default(),
                    code: error.error_code,
                });
            }
            _ => return Ok(None),
        };
        let open = [
            success.pending_permission_requests,
            success.pending_user_dialog_requests,
            success.pending_elicitation_requests,
        ];
        for message in open.into_iter().flatten().flatten() {
            if let CliMessage::ControlRequest(_) = &message {
                reopen(&self.shared, &message);
            }
        }
        Ok(self.learn(success.response))
    }

    fn learn(&self, reply: Option<countersign_wire::Json>) -> Option<Box<InitializeReply>> {
        // A reply that this build cannot read is no reason to give up the agent.
        let reply = reply.and_then(|json| json.to().ok());
        if let Some(reply) = &reply {
            self.shared.known().initialized(reply);
        }
        let knows_on_failure = self.shared.known().capabilities().hook_on_failure();
        if !knows_on_failure && self.shared.has_blocking_hooks() {
            self.shared.notice(Notice::OnFailureUnknown);
        }
        reply.map(Box::new)
    }

    /// Opens the session without a greeting, or after it.
    pub(crate) fn open(self, reply: Option<Box<InitializeReply>>) -> Session {
        let questions = Questions {
            shared: Arc::clone(&self.shared),
        };
        let handle = Handle {
            shared: self.shared,
            alive: self.alive,
            end: self.end,
            graces: self.graces,
            about: Arc::new(About {
                reply,
                warnings: self.warnings,
                pid: self.pid,
            }),
        };
        Session {
            handle,
            events: self.events,
            questions,
        }
    }
}

/// An agent that ended during the handshake, told as what it means where that is known.
pub(crate) fn came_down(closed: Arc<Closed>) -> Error {
    let said = closed.errors.iter().map(String::as_str);
    let said = said.chain(closed.stderr.lines());
    for line in said {
        if let Some((_, id)) = line.split_once("No conversation found with session ID:") {
            let id = id.trim().to_owned();
            return Error::NoSuchSession { id };
        }
        if let Some(id) = taken(line) {
            let id = id.to_owned();
            return Error::SessionIdInUse { id };
        }
    }
    Error::Handshake(closed)
}

/// The id that a line of stderr says is in use.
fn taken(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("Session ID ")?;
    let (id, _) = rest.split_once(" is already in use")?;
    Some(id.trim())
}

impl Handle {
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// What the CLI said to the greeting: commands, models, styles, account.
    pub fn initialize_reply(&self) -> Option<&InitializeReply> {
        self.about.reply.as_deref()
    }

    /// What is odd about the options.
    pub fn warnings(&self) -> &[Warning] {
        &self.about.warnings
    }

    /// The number of the agent's process.
    pub fn pid(&self) -> Option<u32> {
        self.about.pid
    }

    /// The session's id, once a turn has begun. It changes with `/clear`.
    pub fn session_id(&self) -> Option<String> {
        self.shared.known().session_id.clone()
    }

    /// The permission mode in force, as the CLI last said.
    pub fn permission_mode(&self) -> Option<String> {
        self.shared.known().mode.clone()
    }

    /// The model in use, as the CLI last said.
    pub fn model(&self) -> Option<String> {
        self.shared.known().model.clone()
    }

    /// The version of the CLI, once it is known: newer ones tell it in the greeting, older ones with the first turn.
    pub fn version(&self) -> Option<Version> {
        self.shared.known().capabilities().version()
    }

    /// Whether nothing is going on: no message without an end, no turn, no background work, no open question.
    pub fn is_idle(&self) -> bool {
        self.shared.is_idle()
    }

    /// Waits until nothing is going on.
    ///
    /// # Errors
    /// When the agent ends first.
    pub async fn idle(&self) -> Result<()> {
        self.shared.until(|shared| shared.is_idle()).await
    }

    /// How many questions are open.
    pub fn open_questions(&self) -> usize {
        self.shared.questions().count()
    }

    /// Sends a message. The turn ends with the result that answers this very message.
    ///
    /// While a turn runs the message waits in the CLI's queue, or is taken into the running turn.
    ///
    /// # Errors
    /// When the message is empty, the agent is gone, or does not read.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<Turn> {
        let prompt = prompt.into();
        if prompt.is_empty() {
            return Err(Error::EmptyPrompt);
        }
        let uuid = match prompt.chosen_uuid() {
            Some(uuid) => uuid.to_owned(),
            None => Uuid::new_v4().to_string(),
        };
        let starts_turn = prompt.starts_turn();
        let message = prompt.into_message(&uuid);
        let (waiter, end) = oneshot::channel();
        // Noted before it is written: the answer may be faster than we are.
        if !self.shared.turns().sent(uuid.clone(), waiter) {
            return Err(Error::Duplicate { uuid });
        }
        if starts_turn {
            self.shared.known().sent();
        }
        if let Err(error) = self.shared.write(&message.into()) {
            self.shared.turns().unsent(&uuid);
            if self.shared.turns().open() == 0 {
                self.shared.known().nothing_sent();
            }
            return Err(self.shared.explained(error).await);
        }
        let span = tracing::info_span!("turn", %uuid, subtype = tracing::field::Empty);
        Ok(Turn::new(uuid, end, Arc::clone(&self.alive), span))
    }

    /// Sends a message and gives the events from then on, up to the result of this very message.
    ///
    /// # Errors
    /// As [`Handle::send`].
    pub async fn stream(&self, prompt: impl Into<Prompt>) -> Result<TurnStream> {
        let events = self.subscribe();
        let turn = self.send(prompt).await?;
        Ok(TurnStream::new(turn, events))
    }

    /// Waits until everything that was handed in is written, for who sends faster than the agent reads.
    pub async fn flushed(&self) {
        self.shared.outbox().flushed().await;
    }

    /// Another listener, from now on, that does not keep the agent alive: for a log that ends when the session does.
    pub fn watch(&self) -> Events {
        self.shared.listen(None)
    }

    /// Another listener, from now on. The agent lives as long as it listens.
    pub fn subscribe(&self) -> Events {
        self.shared.listen(Some(Arc::clone(&self.alive)))
    }

    /// Ends the agent: interrupt, result, close stdin, SIGTERM, SIGKILL, each after its grace, then whatever it left
    /// running. Goes on if the future is dropped.
    pub async fn close(&self) -> Arc<Closed> {
        self.close_with(self.graces).await
    }

    /// The same with other graces.
    pub async fn close_with(&self, graces: Graces) -> Arc<Closed> {
        self.end.send_replace(Some(graces));
        self.shared.ended().await
    }

    /// Waits for the end of the agent, without asking for it.
    pub async fn closed(&self) -> Arc<Closed> {
        self.shared.ended().await
    }

    /// Whether the agent is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.end().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(errors: &[&str], stderr: &str) -> Error {
        came_down(Arc::new(Closed {
            code: Some(1),
            errors: errors.iter().map(|&error| error.to_owned()).collect(),
            stderr: stderr.to_owned(),
            ..Closed::default()
        }))
    }

    #[test]
    fn what_a_cli_says_of_a_session_that_it_does_not_find_or_begin_is_told_by_its_name() {
        let lost = "No conversation found with session ID: 6f1c2a9e";
        for (errors, stderr) in [(&[lost][..], ""), (&[][..], lost)] {
            let error = meaning(errors, stderr);
            assert!(matches!(error, Error::NoSuchSession { id } if id == "6f1c2a9e"));
        }
        let taken = "a warning\nError: Session ID 6f1c2a9e is already in use.\n";
        let error = meaning(&[], taken);
        assert!(matches!(&error, Error::SessionIdInUse { id } if id == "6f1c2a9e"));
        assert!(error.to_string().contains("under a new id"), "{error}");
    }

    #[test]
    fn anything_else_in_use_is_told_as_it_was_said() {
        let error = meaning(&[], "Error: port 8080 is already in use.\n");
        assert!(matches!(&error, Error::Handshake(_)), "{error:?}");
        assert!(error.to_string().contains("port 8080"), "{error}");
    }
}
