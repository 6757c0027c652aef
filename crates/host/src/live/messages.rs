//! Messages of a session: from the queue to the agent.
//!
//! Owns the writing of one message, and what the core is told of the queue. Invariant: a message leaves the queue when the
//! journal has it, and not before; so one that was on its way when a host ended goes again, under the same name, by which
//! the CLI knows it.

use std::path::Path;

use countersign_client::{Error as ClientError, Prompt};
use countersign_journal::{Kind, Reader, Step};
use countersign_wire::content::ContentBlock;
use serde::Deserialize;
use serde_json::Value;

use super::Actor;
use crate::control::{Message, MessageId, now};
use crate::session::Input;
use crate::store::{Durability, queue};

/// What an agent is told that should go on where it stopped.
const GO_ON: &str = "Go on.";

/// Who says so, where nobody else does.
const BY_HOST: &str = "countersign";

/// Why a message was not written.
#[derive(Debug)]
pub(super) enum Unsent {
    /// The agent, or the way to it, is gone: news of that follows.
    Closed,
    /// It cannot be sent as it is.
    Refused(String),
}

impl Actor {
    /// Writes a message of the queue to the agent.
    pub(super) async fn write_message(&mut self, id: MessageId) -> Result<(), Unsent> {
        let session = self.id;
        let row = self.inner.store.read(move |it| queue::get(it, session, id));
        let row = (row.await).map_err(|error| Unsent::Refused(error.to_string()))?;
        let prompt = prompt_of(&row.message).map_err(Unsent::Refused)?;
        let agent = self.agent.as_ref().ok_or(Unsent::Closed)?;
        let handle = agent.handle.clone();
        self.going.goes(row);
        // Not waited for: the journal tells how its turn ends.
        match handle.send(prompt).await {
            Ok(turn) => {
                crate::points::passed("message handed in");
                drop(turn);
                Ok(())
            }
            Err(ClientError::Closed(_)) => Err(Unsent::Closed),
            Err(error) => Err(Unsent::Refused(error.to_string())),
        }
    }

    /// A message that was not read waits in front of the others, but behind one that was given back right before it: several
    /// are given back in the order in which they went. Measured: a CLI that has given a message back runs nothing under that
    /// name again, so that it gets another one there. To the next agent it goes by its own.
    pub(super) async fn put_back(&mut self, id: MessageId, is_given_back: bool) {
        let session = self.id;
        let (mut message, at, by) = match self.going.take_back(id) {
            Some(row) => (row.message, row.at, row.by),
            // An earlier host wrote it: what it said stands in the journal.
            None => {
                let dir = self.inner.folders.session(session);
                let found = tokio::task::spawn_blocking(move || written(&dir, id)).await;
                let Ok(Some(message)) = found else {
                    tracing::warn!(%session, %id, "a message was given back that is not known any more");
                    return;
                };
                (message, now(), BY_HOST.to_owned())
            }
        };
        if is_given_back && self.agent.is_some() {
            message.id = id.again();
        }
        let behind = match is_given_back {
            true => self.going.given_back(message.id),
            false => None,
        };
        let put = move |it: &crate::store::Connection| {
            queue::put_back(it, session, &message, at, &by)?;
            queue::move_behind(it, session, message.id, behind)
        };
        if let Err(error) = self.inner.store.write(Durability::Full, put).await {
            tracing::warn!(%session, %error, "a message cannot wait again");
        }
        self.tell_queue().await;
    }

    /// A turn that was cut off goes on, as if a person had said so. The same turn is told to once, whoever tells it.
    pub(super) async fn resume_cut_off(&mut self) {
        let message = self.word_to_go_on(self.core.generation(), &[]);
        self.say_first(message, BY_HOST).await;
        self.step(Input::ReleaseQueue);
        self.step(Input::Resume);
    }

    /// What was asked last did not get through: a word to go on waits. The end of the limit would not do as a name: who tries
    /// again before it meets the same one.
    pub(super) async fn go_on(&mut self, since: u64) {
        let message = self.word_to_go_on(self.core.generation(), &since.to_be_bytes());
        self.say_first(message, BY_HOST).await;
    }

    /// An agent that crashed in the middle of a turn is asked again where that is wanted, once. The same word as where all was
    /// cut off: of the two only one is said.
    pub(super) async fn after_crash(&mut self) {
        let Some(generation) = self.core.take_crash() else {
            return;
        };
        self.unsaved.changed = true;
        if !self.inner.preferences().asks_again_after_crash {
            return;
        }
        let message = self.word_to_go_on(generation, &[]);
        self.say_first(message, queue::BY_CRASH).await;
        self.step(Input::AskAgain);
    }

    /// A word to go on that has the same name whoever says it, so that it is said once: a host may end before it has stored
    /// that it was. `which` tells words to the same agent apart.
    fn word_to_go_on(&self, generation: u32, which: &[u8]) -> Message {
        let mut name = blake3::Hasher::new();
        name.update(&self.id.bits().to_be_bytes());
        name.update(&generation.to_be_bytes());
        name.update(which);
        let mut bits = [0; 16];
        bits.copy_from_slice(&name.finalize().as_bytes()[..16]);
        let mut message = Message::text(GO_ON);
        message.id = MessageId::new(self.row.created, u128::from_be_bytes(bits));
        message
    }

    async fn say_first(&mut self, message: Message, by: &'static str) {
        let (session, at) = (self.id, now());
        let put =
            move |it: &crate::store::Connection| queue::push_front(it, session, &message, at, by);
        if let Err(error) = self.inner.store.write(Durability::Full, put).await {
            tracing::warn!(%session, %error, "the session cannot go on by itself");
        }
        crate::points::passed("word to go on queued");
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

/// A message as the newest agent of a session was given it.
fn written(dir: &Path, id: MessageId) -> Option<Message> {
    #[derive(Deserialize)]
    struct Line {
        uuid: String,
        message: Said,
    }
    #[derive(Deserialize)]
    struct Said {
        content: Value,
    }
    let name = id.uuid();
    let mut reader = Reader::open(dir).ok()?;
    let mut found = None;
    loop {
        let record = match reader.next().ok()? {
            Step::Record(record) if record.kind == Kind::Host => record,
            Step::End => break,
            _ => continue,
        };
        if memchr::memmem::find(record.payload, name.as_bytes()).is_none() {
            continue;
        }
        let line = serde_json::from_slice::<Line>(record.payload).ok();
        found = line.filter(|line| line.uuid == name).or(found);
    }
    let (text, blocks) = match found?.message.content {
        Value::String(text) => (text, Vec::new()),
        Value::Array(blocks) => (String::new(), blocks),
        _ => return None,
    };
    Some(Message { id, text, blocks })
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
