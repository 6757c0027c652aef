//! The way to a keeper that is there.
//!
//! Owns the attachment of an actor: under which secret, and what becomes of what an earlier host handed in. Invariant: a keeper that
//! does not want us is left alone.

use std::sync::Arc;
use std::time::Duration;

use countersign_client::options::Version;
use countersign_keeper::attach::{self, AttachError, Attachment, Credentials};
use countersign_keeper::protocol::{Refusal, Role, Standing};

use super::begin::{Begun, There, outbox_of};
use super::come::blocking;
use super::{Actor, greeting};
use crate::control::{SessionId, now};
use crate::desk::{self, Starting};
use crate::host::Inner;
use crate::store::{Connection, Durability, outbox, queue};

/// For a keeper that is there to answer.
const PATIENCE: Duration = Duration::from_secs(10);

impl Actor {
    /// Attaches to the keeper of this generation.
    pub(super) async fn attach(&mut self, generation: u32) {
        let mut desk = match self.open_desk(self.row.mode).await {
            Ok(desk) => desk,
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "the rules of a session cannot be set up");
                return self.unreachable().await;
            }
        };
        self.remember_plans(&mut desk).await;
        if let Some(before) = &self.desk {
            desk.go_on_from(before);
        }
        let version: Option<Version> = self.row.version.as_ref().and_then(|it| it.parse().ok());
        let host = &self.inner.settings.agents;
        let dir = self.inner.folders.session(self.id);
        let has_hook = blocking(move || Ok(greeting::registers_hook(&dir, generation)));
        let has_hook = has_hook.await.unwrap_or_default();
        // One that is registered is answered, whatever version the agent turned out to be since.
        let known_then = version.filter(|_| !has_hook);
        let Starting {
            claude, watching, ..
        } = desk::attach(&desk, &self.row.setup, host, known_then, now());
        watching.learn_version(version);
        let (sender, begun) = tokio::sync::oneshot::channel();
        self.begun = Some(begun);
        let (inner, id, tokens) = (Arc::clone(&self.inner), self.id, self.tokens(generation));
        let attaching = tokio::spawn(async move {
            let dir = inner.folders.session(id);
            let kept = match connect(&inner, id, tokens).await {
                Ok(attachment) => {
                    settle_outbox(&inner, id, attachment.standing()).await;
                    crate::points::passed("outbox settled");
                    attach::attach(claude, &dir, attachment, None).await
                }
                Err(error) => Err(error),
            };
            let _ = sender.send(match kept {
                Ok(kept) => Begun::There(Box::new(There {
                    kept,
                    desk,
                    watching,
                    servers: None,
                    amiss: Vec::new(),
                    version: None,
                })),
                Err(error) => Begun::Nobody {
                    why: error.to_string(),
                    is_refused: matches!(
                        error,
                        AttachError::Refused(_)
                            | AttachError::Foreign { .. }
                            | AttachError::Silent(_)
                            | AttachError::Protocol(_)
                    ),
                },
            });
        });
        self.beginning = Some(attaching.abort_handle());
    }

    /// What the keeper of a generation may have been given: a build that drew tokens stored the one that it drew.
    fn tokens(&self, generation: u32) -> Vec<String> {
        let stored = Some(self.row.token.clone()).filter(|token| !token.is_empty());
        let ours = self.inner.key.token(self.id, generation);
        stored.into_iter().chain([ours]).collect()
    }
}

/// Connects under the first of these tokens that the keeper takes.
async fn connect(
    inner: &Inner,
    id: SessionId,
    tokens: Vec<String>,
) -> std::result::Result<Attachment, AttachError> {
    let dir = inner.folders.session(id);
    let boxed = |standing: &Standing| outbox_of(inner, id, standing);
    let mut refused = AttachError::Refused(Refusal::Token);
    for token in tokens {
        let who = Credentials {
            epoch: inner.epoch,
            token,
            role: Role::Own,
        };
        match attach::connect(&dir, &who, PATIENCE, boxed).await {
            Err(error @ AttachError::Refused(Refusal::Token)) => refused = error,
            done => return done,
        }
    }
    Err(refused)
}

/// What an earlier host handed in stands in the journal, or waits again.
async fn settle_outbox(inner: &Inner, id: SessionId, standing: &Standing) {
    let (generation, last_n) = (standing.generation, standing.last_n);
    let settle = move |it: &Connection| {
        outbox::settle_up_to(it, id, generation, last_n)?;
        // What it did not get goes again, under new numbers: a message from the queue, a mode because it is looked after
        // anew. An interrupt would hit another turn.
        queue::give_back(it, id, generation)?;
        outbox::forget(it, id, generation)
    };
    if let Err(error) = inner.store.write(Durability::Full, settle).await {
        tracing::warn!(session = %id, %error, "the outbox cannot be settled");
    }
}
