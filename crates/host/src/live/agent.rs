//! The agent of a session, as long as we are attached to its keeper.
//!
//! Owns the connection and the questions that can be answered. Speaks and listens; decides nothing. Invariant: letting go
//! of it writes nothing to the agent.

use std::collections::HashMap;
use std::sync::Arc;

use countersign_client::{Handle, Question, Questions};
use countersign_journal::Tail;
use countersign_keeper::attach::{Attachment, Kept, Over};
use tokio::sync::watch;

/// A live agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) generation: u32,
    pub(crate) handle: Handle,
    pub(crate) attachment: Arc<Attachment>,
    /// Questions that can be answered, by their name on the wire.
    pub(crate) asked: HashMap<String, Question>,
    questions: Option<Questions>,
    tail: watch::Receiver<Tail>,
    paused: watch::Receiver<Option<i32>>,
}

/// What comes from an agent.
#[derive(Debug)]
pub(crate) enum News {
    /// The journal has grown.
    Grown,
    /// It asks.
    Asks(Box<Question>),
    /// The disk is full, or is no longer.
    Paused(Option<i32>),
    /// It is over.
    Over(Over),
}

impl Agent {
    pub(crate) fn of(kept: Kept) -> Self {
        let standing = kept.attachment.standing();
        // Replies to requests of an earlier host: given up by name when dropped, and logged by the client.
        drop(kept.earlier);
        Self {
            generation: standing.generation,
            handle: kept.session.handle,
            asked: HashMap::new(),
            questions: Some(kept.session.questions),
            tail: kept.attachment.tail(),
            paused: kept.attachment.paused(),
            attachment: kept.attachment,
        }
    }

    /// How far the journal may be read.
    pub(crate) fn tail(&self) -> Tail {
        *self.tail.borrow()
    }

    /// Waits for the next thing. May be dropped: nothing is lost.
    pub(crate) async fn news(&mut self) -> News {
        loop {
            let question = async {
                match &mut self.questions {
                    Some(questions) => questions.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                question = question => match question {
                    Some(question) => return News::Asks(Box::new(question)),
                    None => self.questions = None,
                },
                Ok(()) = self.tail.changed() => return News::Grown,
                Ok(()) = self.paused.changed() => {
                    let errno = *self.paused.borrow_and_update();
                    return News::Paused(errno);
                }
                over = self.attachment.ended() => return News::Over(over),
            }
        }
    }
}
