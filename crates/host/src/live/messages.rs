//! Messages of a session: from the queue to the agent.
//!
//! Owns the writing of one message, and what the core is told of the queue. Invariant: a message leaves the queue when the
//! journal has it, and not before; so one that was on its way when a host ended goes again, under the same name, by which
//! the CLI knows it.

use countersign_client::Prompt;
use countersign_wire::content::ContentBlock;

use super::Actor;
use crate::control::{Message, MessageId, now};
use crate::session::Input;
use crate::store::{Durability, queue};

/// What an agent is told that should go on where it stopped.
const GO_ON: &str = "Go on.";

impl Actor {
    /// Writes a message of the queue to the agent.
    pub(super) async fn write_message(&mut self, id: MessageId) -> Result<(), String> {
        let session = self.id;
        let row = self.inner.store.read(move |it| queue::get(it, session, id));
        let row = row.await.map_err(|error| error.to_string())?;
        let prompt = prompt_of(&row.message)?;
        let agent = self.agent.as_ref().ok_or("no agent is there")?;
        let handle = agent.handle.clone();
        self.going.goes(row);
        // Not waited for: the journal tells how its turn ends.
        match handle.send(prompt).await {
            Ok(turn) => {
                crate::points::passed("message handed in");
                drop(turn);
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// A message that the CLI gave back waits in front of the others.
    pub(super) async fn put_back(&mut self, id: MessageId) {
        let Some(row) = self.going.take_back(id) else {
            tracing::warn!(session = %self.id, %id, "a message was given back that is not known any more");
            return;
        };
        let session = self.id;
        let put = move |it: &crate::store::Connection| {
            queue::push_front(it, session, &row.message, row.at, &row.by)
        };
        if let Err(error) = self.inner.store.write(Durability::Full, put).await {
            tracing::warn!(%session, %error, "a message cannot wait again");
        }
        self.tell_queue().await;
    }

    /// What was asked last did not get through: a word to go on waits.
    pub(super) async fn go_on(&mut self) {
        let (session, at) = (self.id, now());
        let message = Message::text(GO_ON);
        let put = move |it: &crate::store::Connection| {
            queue::push_front(it, session, &message, at, "countersign")
        };
        if let Err(error) = self.inner.store.write(Durability::Full, put).await {
            tracing::warn!(%session, %error, "the session cannot go on by itself");
        }
        self.tell_queue().await;
    }

    /// Tells the core which messages wait.
    pub(super) async fn tell_queue(&mut self) {
        let session = self.id;
        let ids = self.inner.store.read(move |it| queue::ids(it, session));
        match ids.await {
            Ok(ids) => {
                self.unsaved.queue = Some(ids.len() as u32);
                self.step(Input::Queue(ids));
            }
            Err(error) => tracing::warn!(%session, %error, "the queue cannot be read"),
        }
    }
}

fn prompt_of(message: &Message) -> Result<Prompt, String> {
    let mut prompt = Prompt::new().uuid(message.id.uuid());
    for block in &message.blocks {
        let block: ContentBlock = serde_json::from_value(block.clone())
            .map_err(|error| format!("a block of the message cannot be read: {error}"))?;
        prompt = prompt.block(block);
    }
    Ok(
        match message.text.is_empty() && !message.blocks.is_empty() {
            true => prompt,
            false => prompt.text(&message.text),
        },
    )
}
