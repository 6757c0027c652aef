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
pub(crate) struct Going(VecDeque<QueuedRow>);

impl Going {
    /// It goes.
    pub(super) fn goes(&mut self, row: QueuedRow) {
        self.0.push_back(row);
        while self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// One that is given back.
    pub(super) fn take_back(&mut self, id: MessageId) -> Option<QueuedRow> {
        let at = self.0.iter().position(|row| row.message.id == id)?;
        self.0.remove(at)
    }
}
