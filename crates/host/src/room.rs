//! How many agents may live at once, and who is next.
//!
//! Owns the cap and the line of those who wait. Pure: who is let in is told to the caller. Invariants: never more than the
//! cap are in; whoever waits longest is let in first; a session is in or in the line once, however often it asks.

use std::collections::{BTreeSet, VecDeque};

use crate::control::SessionId;

/// The room for agents.
#[derive(Debug)]
pub(crate) struct Room {
    cap: usize,
    within: BTreeSet<SessionId>,
    line: VecDeque<SessionId>,
}

impl Room {
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            cap: cap.max(1),
            within: BTreeSet::new(),
            line: VecDeque::new(),
        }
    }

    /// Asks to be let in. True: it is.
    pub(crate) fn ask(&mut self, session: SessionId) -> bool {
        if self.within.contains(&session) {
            return true;
        }
        if self.within.len() < self.cap && self.line.is_empty() {
            self.within.insert(session);
            return true;
        }
        if !self.line.contains(&session) {
            self.line.push_back(session);
        }
        false
    }

    /// Takes a place without asking: its agent is there already.
    pub(crate) fn found(&mut self, session: SessionId) {
        self.line.retain(|waiting| *waiting != session);
        self.within.insert(session);
    }

    /// Leaves, or gives up waiting. Returns who is let in now.
    pub(crate) fn leave(&mut self, session: SessionId) -> Vec<SessionId> {
        self.line.retain(|waiting| *waiting != session);
        self.within.remove(&session);
        let mut let_in = Vec::new();
        while self.within.len() < self.cap
            && let Some(next) = self.line.pop_front()
        {
            self.within.insert(next);
            let_in.push(next);
        }
        let_in
    }

    /// How many wait.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.line.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u128) -> SessionId {
        SessionId::new(1_000, number)
    }

    #[test]
    fn who_waits_longest_is_let_in_first() {
        let mut room = Room::new(2);
        assert!(room.ask(session(1)) && room.ask(session(2)));
        assert!(!room.ask(session(3)) && !room.ask(session(4)) && !room.ask(session(3)));
        assert_eq!(room.waiting(), 2);
        assert_eq!(room.leave(session(1)), [session(3)]);
        assert_eq!(room.leave(session(4)), []);
        assert_eq!(room.leave(session(2)), []);
        assert!(room.ask(session(3)), "it is in");
        assert!(room.ask(session(5)));
    }

    #[test]
    fn agents_that_were_there_count_and_nobody_is_let_in_beyond_the_cap() {
        let mut room = Room::new(1);
        room.found(session(1));
        room.found(session(2));
        assert!(!room.ask(session(3)));
        assert_eq!(room.leave(session(1)), [], "two were in");
        assert_eq!(room.leave(session(2)), [session(3)]);
    }

    #[test]
    fn nobody_overtakes_those_who_wait() {
        let mut room = Room::new(2);
        assert!(room.ask(session(1)) && room.ask(session(2)));
        assert!(!room.ask(session(3)));
        assert_eq!(room.leave(session(1)), [session(3)]);
        assert!(!room.ask(session(4)));
    }
}
