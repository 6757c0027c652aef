//! How many agents may live at once, and who is next.
//!
//! Owns the cap and the line of those who wait. Pure: who is let in is told to the caller. Invariants: never more than the
//! cap are in; whoever has waited longest is let in first, whenever it came to ask; a session is in or in the line once, however often it asks.

use std::collections::BTreeSet;

use crate::control::SessionId;

/// The room for agents.
#[derive(Debug)]
pub(crate) struct Room {
    cap: usize,
    within: BTreeSet<SessionId>,
    /// By when they began to wait: their questions come in any order.
    line: BTreeSet<(u64, SessionId)>,
    /// Those who were asked to make room and have not answered.
    asked: BTreeSet<SessionId>,
    /// Those who could not, since they last began to be idle.
    stay: BTreeSet<SessionId>,
}

impl Room {
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            cap: cap.max(1),
            within: BTreeSet::new(),
            line: BTreeSet::new(),
            asked: BTreeSet::new(),
            stay: BTreeSet::new(),
        }
    }

    /// Asks to be let in; it has waited since then. True: it is.
    pub(crate) fn ask(&mut self, session: SessionId, since: u64) -> bool {
        if self.within.contains(&session) {
            return true;
        }
        if self.within.len() < self.cap && self.line.is_empty() {
            self.within.insert(session);
            return true;
        }
        if !self.line.iter().any(|(_, waiting)| *waiting == session) {
            self.line.insert((since, session));
        }
        false
    }

    /// Takes a place without asking: its agent is there already.
    pub(crate) fn found(&mut self, session: SessionId) {
        self.line.retain(|(_, waiting)| *waiting != session);
        self.within.insert(session);
    }

    /// Leaves, or gives up waiting. Returns who is let in now.
    pub(crate) fn leave(&mut self, session: SessionId) -> Vec<SessionId> {
        self.line.retain(|(_, waiting)| *waiting != session);
        self.within.remove(&session);
        self.goes_on(session);
        self.let_in()
    }

    /// Another cap. Nobody is put out by it. Returns who is let in now.
    pub(crate) fn set_cap(&mut self, cap: usize) -> Vec<SessionId> {
        self.cap = cap.max(1);
        self.let_in()
    }

    fn let_in(&mut self) -> Vec<SessionId> {
        let mut let_in = Vec::new();
        while self.within.len() < self.cap
            && let Some((_, next)) = self.line.pop_first()
        {
            self.within.insert(next);
            let_in.push(next);
        }
        let_in
    }

    /// Number of sessions within, `session` not counted.
    pub(crate) fn others(&self, session: Option<SessionId>) -> usize {
        let is_in = session.is_some_and(|session| self.within.contains(&session));
        self.within.len() - usize::from(is_in)
    }

    /// Whether anybody waits.
    pub(crate) fn is_waited_for(&self) -> bool {
        !self.line.is_empty()
    }

    /// Who of these, idle for longest first, is to make room: one for each who waits, and nobody twice.
    pub(crate) fn whom_to_ask(&mut self, idle: &[SessionId]) -> Vec<SessionId> {
        let missing = self.line.len().saturating_sub(self.asked.len());
        let is_free = |one: &&SessionId| {
            self.within.contains(one) && !self.asked.contains(one) && !self.stay.contains(one)
        };
        let chosen: Vec<_> = idle.iter().filter(is_free).take(missing).copied().collect();
        self.asked.extend(&chosen);
        chosen
    }

    /// It cannot make room as it stands: another one is to be asked.
    pub(crate) fn stays(&mut self, session: SessionId) {
        if self.asked.remove(&session) {
            self.stay.insert(session);
        }
    }

    /// It is at work again, or stands otherwise than when it was asked.
    pub(crate) fn goes_on(&mut self, session: SessionId) {
        self.asked.remove(&session);
        self.stay.remove(&session);
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
        assert!(room.ask(session(1), 1) && room.ask(session(2), 2));
        assert!(!room.ask(session(3), 3) && !room.ask(session(4), 4) && !room.ask(session(3), 3));
        assert_eq!(room.waiting(), 2);
        assert_eq!(room.leave(session(1)), [session(3)]);
        assert_eq!(room.leave(session(4)), []);
        assert_eq!(room.leave(session(2)), []);
        assert!(room.ask(session(3), 3), "it is in");
        assert!(room.ask(session(5), 5));
    }

    #[test]
    fn agents_that_were_there_count_and_nobody_is_let_in_beyond_the_cap() {
        let mut room = Room::new(1);
        room.found(session(1));
        room.found(session(2));
        assert!(!room.ask(session(3), 3));
        assert_eq!(room.leave(session(1)), [], "two were in");
        assert_eq!(room.leave(session(2)), [session(3)]);
    }

    #[test]
    fn as_many_are_asked_to_make_room_as_wait() {
        let mut room = Room::new(3);
        let idle = [session(1), session(2), session(3)];
        assert!(idle.iter().all(|one| room.ask(*one, 0)));
        assert!(!room.is_waited_for());
        assert_eq!(room.whom_to_ask(&idle), []);
        assert!(!room.ask(session(4), 4));
        assert_eq!(room.whom_to_ask(&idle), [session(1)]);
        assert_eq!(room.whom_to_ask(&idle), [], "it was asked already");
        room.stays(session(1));
        assert_eq!(room.whom_to_ask(&idle), [session(2)], "the next one is");
        assert!(!room.ask(session(5), 5));
        assert_eq!(room.whom_to_ask(&idle), [session(3)]);
        assert_eq!(room.leave(session(2)), [session(4)]);
        room.goes_on(session(3));
        assert_eq!(
            room.whom_to_ask(&idle),
            [session(3)],
            "one waits, and nobody is asked"
        );
        room.goes_on(session(1));
        room.stays(session(3));
        assert_eq!(room.whom_to_ask(&idle), [session(1)], "it may be able now");
    }

    #[test]
    fn nobody_overtakes_those_who_wait() {
        let mut room = Room::new(2);
        assert!(room.ask(session(1), 1) && room.ask(session(2), 2));
        assert!(!room.ask(session(3), 3));
        assert_eq!(room.leave(session(1)), [session(3)]);
        assert!(!room.ask(session(4), 4));
    }

    #[test]
    fn who_began_to_wait_first_is_first_whenever_it_asked() {
        let mut room = Room::new(1);
        assert!(room.ask(session(9), 1));
        assert!(
            !room.ask(session(2), 30) && !room.ask(session(3), 10) && !room.ask(session(1), 20)
        );
        let mut order = Vec::new();
        let mut within = session(9);
        while let [next] = room.leave(within)[..] {
            order.push(next);
            within = next;
        }
        assert_eq!(order, [session(3), session(1), session(2)]);
    }
}
