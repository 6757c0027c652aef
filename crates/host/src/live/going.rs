//! The last messages that went to the agent.
//!
//! Owns a few of them, so that one that the CLI gives back unread can wait again. In memory only: which messages wait and
//! which are on their way stands in the queue.

use std::collections::VecDeque;

use crate::control::MessageId;
use crate::store::queue::QueuedRow;

/// So many messages can be given back.
const KEPT: usize = 16;

/// The last messages that went.
#[derive(Debug, Default)]
pub(crate) struct Going {
    went: VecDeque<QueuedRow>,
    /// The one that was given back last, if none went since.
    given_back: Option<MessageId>,
}

impl Going {
    /// It goes.
    pub(super) fn goes(&mut self, row: QueuedRow) {
        self.given_back = None;
        self.went.push_back(row);
        while self.went.len() > KEPT {
            self.went.pop_front();
        }
    }

    /// One that is given back.
    pub(super) fn take_back(&mut self, id: MessageId) -> Option<QueuedRow> {
        let at = self.went.iter().position(|row| row.message.id == id)?;
        self.went.remove(at)
    }

    /// One waits again under this name because the agent gave it back. Gives the one that was given back right before it: it
    /// belongs behind that.
    pub(super) fn given_back(&mut self, id: MessageId) -> Option<MessageId> {
        self.given_back.replace(id)
    }
}
