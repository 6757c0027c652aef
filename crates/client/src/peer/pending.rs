//! Our own requests that have no answer yet.
//!
//! Invariants: the first answer counts; an answer nobody waits for is named (repeated, late, or not ours) and harmless;
//! when the agent is gone nobody waits any longer.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use tokio::sync::oneshot;

/// So many ids of ended requests are remembered, to name what comes after.
const REMEMBERED: usize = 256;

/// The line of an answer.
pub(crate) type Answer = Bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Answered,
    GivenUp,
}

/// What an answer turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Somebody waited for it.
    Wanted,
    /// The same request was answered before.
    Repeated,
    /// Its request had been given up.
    Late,
    /// Not ours: newer CLIs echo our own answers when they echo our messages.
    Foreign,
}

#[derive(Debug, Default)]
pub(crate) struct Pending {
    waiting: HashMap<String, oneshot::Sender<Answer>>,
    ended: VecDeque<(String, End)>,
    is_over: bool,
}

impl Pending {
    /// Waits for the answer to `id`. `None`: the agent is gone.
    pub(crate) fn expect(&mut self, id: &str) -> Option<oneshot::Receiver<Answer>> {
        if self.is_over {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        self.waiting.insert(id.to_owned(), sender);
        Some(receiver)
    }

    /// Nobody waits any longer. False: it had been answered.
    pub(crate) fn give_up(&mut self, id: &str) -> bool {
        let was_open = self.waiting.remove(id).is_some();
        if was_open {
            self.remember(id, End::GivenUp);
        }
        was_open
    }

    pub(crate) fn arrived(&mut self, id: &str) -> (Arrival, Option<oneshot::Sender<Answer>>) {
        if let Some(sender) = self.waiting.remove(id) {
            self.remember(id, End::Answered);
            return (Arrival::Wanted, Some(sender));
        }
        let ended = self.ended.iter().find(|(ended, _)| ended == id);
        let arrival = match ended {
            Some((_, End::Answered)) => Arrival::Repeated,
            Some((_, End::GivenUp)) => Arrival::Late,
            None => Arrival::Foreign,
        };
        (arrival, None)
    }

    /// The agent is gone: all who wait learn it by their channel closing.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
        self.waiting.clear();
    }

    fn remember(&mut self, id: &str, end: End) {
        if self.ended.len() == REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((id.to_owned(), end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_counts_and_what_follows_is_named() {
        let mut pending = Pending::default();
        let mut receiver = pending.expect("a").unwrap();
        let (arrival, sender) = pending.arrived("a");
        assert_eq!(arrival, Arrival::Wanted);
        sender.unwrap().send(Bytes::from_static(b"1")).unwrap();
        assert_eq!(pending.arrived("a").0, Arrival::Repeated);
        assert_eq!(receiver.try_recv().unwrap(), "1");
        assert_eq!(pending.arrived("never").0, Arrival::Foreign);
    }

    #[test]
    fn an_answer_after_giving_up_is_late() {
        let mut pending = Pending::default();
        let _receiver = pending.expect("a");
        assert!(pending.give_up("a"));
        assert!(!pending.give_up("a"));
        assert_eq!(pending.arrived("a").0, Arrival::Late);
    }

    #[test]
    fn nobody_waits_for_an_agent_that_is_gone() {
        let mut pending = Pending::default();
        let mut receiver = pending.expect("a").unwrap();
        pending.end();
        assert!(receiver.try_recv().is_err());
        assert!(pending.expect("b").is_none());
    }
}
