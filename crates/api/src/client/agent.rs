//! What a session's agent is told.

use hyper::Method;

use super::error::ClientError;
use super::query::Target;
use super::{Client, NOTHING};
use crate::bodies::{ForkBody, MessageBody, ModeBody, ModelBody, ResumeBody, RewindBody};
use crate::control::{Receipt, SessionId};

fn of(id: SessionId, what: &str) -> Target {
    Target::api("/sessions").part(id).part(what)
}

impl Client {
    /// Puts a message behind the others in the queue.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn send(&self, id: SessionId, body: &MessageBody) -> Result<Receipt, ClientError> {
        let target = of(id, "messages");
        self.write(Method::POST, target, Some(body)).await
    }

    /// Ends the turn. The agent stays.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn interrupt(&self, id: SessionId) -> Result<Receipt, ClientError> {
        self.write(Method::POST, of(id, "interrupt"), NOTHING).await
    }

    /// Ends the agent, gently.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn stop(&self, id: SessionId) -> Result<Receipt, ClientError> {
        self.write(Method::POST, of(id, "stop"), NOTHING).await
    }

    /// Ends the agent, whatever it takes.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn force_end(&self, id: SessionId) -> Result<Receipt, ClientError> {
        self.write(Method::POST, of(id, "force-end"), NOTHING).await
    }

    /// Has an agent take the conversation up again.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn resume(&self, id: SessionId, body: &ResumeBody) -> Result<Receipt, ClientError> {
        let target = of(id, "resume");
        self.write(Method::POST, target, Some(body)).await
    }

    /// Begins another session from this conversation.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn fork(&self, id: SessionId, body: &ForkBody) -> Result<Receipt, ClientError> {
        let target = of(id, "fork");
        self.write(Method::POST, target, Some(body)).await
    }

    /// Puts the files back to how they were before a message.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn rewind(&self, id: SessionId, body: &RewindBody) -> Result<Receipt, ClientError> {
        let target = of(id, "rewind");
        self.write(Method::POST, target, Some(body)).await
    }

    /// Chooses another mode.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn set_mode(&self, id: SessionId, body: &ModeBody) -> Result<Receipt, ClientError> {
        let target = of(id, "mode");
        self.write(Method::PUT, target, Some(body)).await
    }

    /// Chooses another model.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn set_model(&self, id: SessionId, body: &ModelBody) -> Result<Receipt, ClientError> {
        let target = of(id, "model");
        self.write(Method::PUT, target, Some(body)).await
    }

    /// Lets the queue go on after an interrupt or a failure.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn release(&self, id: SessionId) -> Result<Receipt, ClientError> {
        let target = of(id, "queue").part("release");
        self.write(Method::POST, target, NOTHING).await
    }
}
