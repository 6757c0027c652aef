//! Which result answers which message. Pure.
//!
//! Owns the messages that were sent and have no end yet. A message is matched by its uuid, never by "the next
//! result": turns start by themselves, one result may serve two messages, and a queued one waits through the results of
//! others. The CLI says which message it took up: newer ones by `command_lifecycle` and in the result itself, older ones
//! by echoing it (`--replay-user-messages`).

use std::collections::VecDeque;

/// So many uuids of ended turns are remembered, to tell a repeated one.
const REMEMBERED: usize = 4096;

/// Where a sent message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Written; the CLI has said nothing about it.
    Sent,
    /// Taken up by a turn.
    Started,
}

/// How a message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The result that just came answers it.
    Answered {
        /// An interrupt was asked for while it ran.
        was_interrupted: bool,
    },
    /// The CLI had seen this uuid before and did not run it again.
    Duplicate,
    /// Taken back before it ran.
    Cancelled,
    /// Taken in without a turn of its own.
    NoTurn,
}

#[derive(Debug)]
struct Open<T> {
    uuid: String,
    stage: Stage,
    was_interrupted: bool,
    waiter: T,
}

/// The messages without an end. `T` is who waits for it.
#[derive(Debug)]
pub(crate) struct Turns<T> {
    open: Vec<Open<T>>,
    ended: VecDeque<String>,
    /// The CLI tells by uuid which message it takes up.
    acknowledges: bool,
    /// It does so by `command_lifecycle`, which leaves out none.
    has_lifecycle: bool,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self {
            open: Vec::new(),
            ended: VecDeque::new(),
            acknowledges: false,
            has_lifecycle: false,
        }
    }
}

impl<T> Turns<T> {
    /// A message goes out. False: one of that uuid is open already.
    pub(crate) fn sent(&mut self, uuid: String, waiter: T) -> bool {
        if self.is_open(&uuid) {
            return false;
        }
        self.open.push(Open {
            uuid,
            stage: Stage::Sent,
            was_interrupted: false,
            waiter,
        });
        true
    }

    /// It did not go out after all.
    pub(crate) fn unsent(&mut self, uuid: &str) {
        self.open.retain(|open| open.uuid != uuid);
    }

    /// How many have no end yet.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    /// `command_lifecycle`. A message that was taken into a running turn (`is_in_turn`) is completed before the result
    /// that answers it.
    pub(crate) fn lifecycle(
        &mut self,
        uuid: &str,
        state: &str,
        is_in_turn: bool,
    ) -> Option<(T, Verdict)> {
        self.acknowledges = true;
        self.has_lifecycle = true;
        let index = self.open.iter().position(|open| open.uuid == uuid)?;
        let stage = self.open[index].stage;
        match (state, stage) {
            ("started", _) => {
                self.open[index].stage = Stage::Started;
                None
            }
            ("completed", Stage::Started) if is_in_turn => None,
            ("completed", Stage::Started) => Some(self.end(index, Verdict::NoTurn)),
            ("completed", Stage::Sent) => Some(self.end(index, Verdict::Duplicate)),
            ("cancelled" | "discarded" | "refused", _) => Some(self.end(index, Verdict::Cancelled)),
            _ => None,
        }
    }

    /// The CLI echoed a message: it took it up, or knew it already.
    pub(crate) fn replayed(&mut self, uuid: &str) -> Option<(T, Verdict)> {
        let index = self.open.iter().position(|open| open.uuid == uuid)?;
        self.acknowledges = true;
        if self.ended.iter().any(|ended| ended == uuid) {
            return Some(self.end(index, Verdict::Duplicate));
        }
        self.open[index].stage = Stage::Started;
        None
    }

    /// Whether `uuid` is one of ours that is open: worth a closer look at its line.
    pub(crate) fn is_open(&self, uuid: &str) -> bool {
        self.open.iter().any(|open| open.uuid == uuid)
    }

    /// An interrupt was asked for: it concerns what runs now. Older versions echo a message only some way into its
    /// answer, so while none is known to run it is the oldest.
    pub(crate) fn interrupted(&mut self) {
        let is_known = self.open.iter().any(|open| open.stage == Stage::Started);
        for (index, open) in self.open.iter_mut().enumerate() {
            let is_next = !is_known && index == 0;
            open.was_interrupted |= open.stage == Stage::Started || is_next || !self.acknowledges;
        }
    }

    /// A result came. Returns who is answered by it; nobody, if the CLI had started that turn by itself.
    ///
    /// Older versions do not echo a prompt that a hook blocks: a turn in which the model said nothing (`has_spoken`) and
    /// that answers no other message is that of the oldest. A turn that starts by itself has the model speak.
    pub(crate) fn result(&mut self, answered: &[&str], has_spoken: bool) -> Vec<(T, Verdict)> {
        self.acknowledges |= !answered.is_empty();
        let mut ended = Vec::new();
        let mut index = 0;
        while index < self.open.len() {
            let open = &self.open[index];
            if open.stage == Stage::Started || answered.contains(&open.uuid.as_str()) {
                ended.push(self.answer(index));
            } else {
                index += 1;
            }
        }
        // A CLI that acknowledges nothing (none that was measured) leaves only the order to go by.
        let goes_by_order = !self.acknowledges || (!has_spoken && !self.has_lifecycle);
        if ended.is_empty() && goes_by_order && !self.open.is_empty() {
            ended.push(self.answer(0));
        }
        ended
    }

    /// Nothing more will come: everyone who waits.
    pub(crate) fn abandon(&mut self) -> Vec<T> {
        self.open.drain(..).map(|open| open.waiter).collect()
    }

    fn answer(&mut self, index: usize) -> (T, Verdict) {
        let was_interrupted = self.open[index].was_interrupted;
        self.end(index, Verdict::Answered { was_interrupted })
    }

    fn end(&mut self, index: usize, verdict: Verdict) -> (T, Verdict) {
        let open = self.open.remove(index);
        if self.ended.len() == REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back(open.uuid);
        (open.waiter, verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWERED: Verdict = Verdict::Answered {
        was_interrupted: false,
    };

    fn turns(uuids: &[&'static str]) -> Turns<&'static str> {
        let mut turns = Turns::default();
        for uuid in uuids {
            turns.sent((*uuid).to_owned(), *uuid);
        }
        turns
    }

    #[test]
    fn a_result_nobody_asked_for_answers_nobody() {
        let mut turns = turns(&["a"]);
        turns.lifecycle("a", "started", true);
        assert_eq!(turns.result(&["a"], true), [("a", ANSWERED)]);
        turns.sent("b".into(), "b");
        assert_eq!(turns.result(&[], true), []);
        turns.lifecycle("b", "started", true);
        assert_eq!(turns.result(&["b"], true), [("b", ANSWERED)]);
    }

    #[test]
    fn an_echo_is_enough_on_older_versions() {
        let mut turns = turns(&["a", "b"]);
        turns.replayed("a");
        assert_eq!(turns.result(&[], true), [("a", ANSWERED)]);
        assert_eq!(turns.result(&[], true), []);
        turns.replayed("b");
        assert_eq!(turns.result(&[], true), [("b", ANSWERED)]);
    }

    #[test]
    fn one_result_serves_two_messages_that_were_folded() {
        let mut turns = turns(&["a"]);
        turns.replayed("a");
        turns.sent("b".into(), "b");
        turns.replayed("b");
        assert_eq!(turns.result(&[], true), [("a", ANSWERED), ("b", ANSWERED)]);
    }

    #[test]
    fn a_folded_message_waits_for_the_result_though_it_is_completed_before() {
        let mut turns = turns(&["a", "b"]);
        turns.lifecycle("a", "started", true);
        turns.lifecycle("b", "started", true);
        assert_eq!(turns.lifecycle("b", "completed", true), None);
        assert_eq!(
            turns.result(&["a", "b"], true),
            [("a", ANSWERED), ("b", ANSWERED)]
        );
    }

    #[test]
    fn a_message_that_is_completed_while_no_turn_runs_has_none() {
        let mut turns = turns(&["a"]);
        turns.lifecycle("a", "started", false);
        assert_eq!(
            turns.lifecycle("a", "completed", false),
            Some(("a", Verdict::NoTurn))
        );
    }

    #[test]
    fn a_queued_message_waits_through_the_results_of_others() {
        let mut turns = turns(&["a", "b"]);
        turns.lifecycle("a", "queued", true);
        turns.lifecycle("a", "started", true);
        turns.lifecycle("b", "queued", true);
        assert_eq!(turns.result(&["a"], true), [("a", ANSWERED)]);
        assert_eq!(turns.lifecycle("a", "completed", true), None);
        assert_eq!(turns.open(), 1);
    }

    #[test]
    fn a_repeated_uuid_that_only_completes_is_no_turn() {
        let mut turns = turns(&["a"]);
        turns.lifecycle("a", "queued", true);
        assert_eq!(
            turns.lifecycle("a", "completed", true),
            Some(("a", Verdict::Duplicate))
        );
    }

    #[test]
    fn a_repeated_uuid_that_is_only_echoed_is_no_turn() {
        let mut turns = turns(&["a"]);
        turns.replayed("a");
        assert_eq!(turns.result(&[], true), [("a", ANSWERED)]);
        turns.sent("a".into(), "again");
        assert_eq!(turns.replayed("a"), Some(("again", Verdict::Duplicate)));
    }

    #[test]
    fn a_message_taken_back_ends_without_a_turn() {
        let mut turns = turns(&["a"]);
        assert_eq!(
            turns.lifecycle("a", "cancelled", true),
            Some(("a", Verdict::Cancelled))
        );
    }

    #[test]
    fn an_interrupt_marks_what_runs_and_not_what_is_queued() {
        let mut turns = turns(&["a", "b"]);
        turns.lifecycle("a", "started", true);
        turns.interrupted();
        let was_interrupted = true;
        assert_eq!(
            turns.result(&["a"], true),
            [("a", Verdict::Answered { was_interrupted })]
        );
        turns.lifecycle("b", "started", true);
        assert_eq!(turns.result(&["b"], true), [("b", ANSWERED)]);
    }

    #[test]
    fn an_interrupt_before_the_echo_marks_the_oldest() {
        let mut turns = turns(&["first"]);
        turns.replayed("first");
        turns.result(&[], true);
        turns.sent("a".into(), "a");
        turns.sent("b".into(), "b");
        turns.interrupted();
        turns.replayed("a");
        let was_interrupted = true;
        assert_eq!(
            turns.result(&[], true),
            [("a", Verdict::Answered { was_interrupted })]
        );
        turns.replayed("b");
        assert_eq!(turns.result(&[], true), [("b", ANSWERED)]);
    }

    #[test]
    fn a_silent_turn_answers_a_message_that_was_not_echoed() {
        let mut turns = turns(&["a"]);
        turns.replayed("a");
        assert_eq!(turns.result(&[], true), [("a", ANSWERED)]);
        turns.sent("blocked".into(), "blocked");
        assert_eq!(turns.result(&[], false), [("blocked", ANSWERED)]);
        turns.sent("queued".into(), "queued");
        turns.lifecycle("a", "completed", true);
        assert_eq!(turns.result(&[], false), []);
    }

    #[test]
    fn a_cli_that_acknowledges_nothing_is_matched_in_order() {
        let mut turns = turns(&["a", "b"]);
        assert_eq!(turns.result(&[], true), [("a", ANSWERED)]);
        assert_eq!(turns.result(&[], true), [("b", ANSWERED)]);
        assert_eq!(turns.result(&[], true), []);
    }
}
