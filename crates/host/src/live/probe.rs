//! What others ask of a session's agent, and what the agent says of itself when it comes.
//!
//! Owns [`Asking`]: a question in its place among everything that is said to the agent, whose answer is waited for
//! elsewhere. Invariant: the actor waits for no answer.

use std::fmt;

use countersign_client::Handle;
use futures_core::future::BoxFuture;
use serde_json::Value;

use super::{Actor, agent};
use crate::control::now;
use crate::store::told;

type Ask = Box<dyn FnOnce(Option<Handle>) -> BoxFuture<'static, ()> + Send>;

/// Something to be asked of the agent, if one is there.
pub(crate) struct Asking(Ask);

impl Asking {
    pub(crate) fn new(
        ask: impl FnOnce(Option<Handle>) -> BoxFuture<'static, ()> + Send + 'static,
    ) -> Self {
        Self(Box::new(ask))
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asking")
    }
}

impl Actor {
    pub(super) async fn ask(&self, asking: Asking) {
        let handle = self.agent.as_ref().map(|agent| agent.handle.clone());
        agent::say((asking.0)(handle)).await;
    }

    /// What the agent said to the greeting is kept for when it is not there. One that was greeted by an earlier host has
    /// said it then.
    pub(super) fn keep_greeting(&self) {
        let greeting = self
            .agent
            .as_ref()
            .and_then(|it| it.handle.initialize_reply());
        let Some(greeting) = greeting else {
            return;
        };
        let lists = [
            (told::COMMANDS, serde_json::to_value(&greeting.commands)),
            (told::MODELS, serde_json::to_value(&greeting.models)),
        ];
        let (session, at) = (self.id, now());
        for (name, list) in lists {
            let Ok(Value::Array(items)) = list else {
                continue;
            };
            self.inner
                .store
                .post(move |it| told::put(it, session, name, at, &items));
        }
    }
}
