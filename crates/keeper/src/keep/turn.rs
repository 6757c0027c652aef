//! Whether the agent is within a turn. Pure.
//!
//! Owns what counts for it: lines of the agent that belong to a turn, its results, messages that it was given. One result
//! may serve several messages, so a message without a result of its own is only perhaps still to come: what rests on it
//! must be on the safe side either way.

use super::line::Heard;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    is_running: bool,
    /// Messages for which there was no result.
    unanswered: u32,
}

impl Turn {
    /// The agent is given a message.
    pub(crate) fn message(&mut self) {
        self.is_running = true;
        self.unanswered = self.unanswered.saturating_add(1);
    }

    pub(crate) fn hear(&mut self, heard: &Heard) {
        match heard {
            Heard::Turn => self.is_running = true,
            Heard::Result => {
                self.is_running = false;
                self.unanswered = self.unanswered.saturating_sub(1);
            }
            Heard::Question { .. } | Heard::Withdrawn { .. } => {}
        }
    }

    /// Whether a turn is under way.
    pub(crate) fn is_running(self) -> bool {
        self.is_running
    }

    /// Whether a turn is under way, or might begin at once with a message that waits.
    pub(crate) fn may_run(self) -> bool {
        self.is_running || self.unanswered > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_runs_from_its_message_or_its_first_line_to_its_result() {
        let mut turn = Turn::default();
        assert!(!turn.is_running() && !turn.may_run());
        turn.message();
        assert!(turn.is_running());
        turn.hear(&Heard::Turn);
        turn.hear(&Heard::Result);
        assert_eq!(turn, Turn::default());
        // One that the agent begins by itself.
        turn.hear(&Heard::Turn);
        assert!(turn.is_running());
        turn.hear(&Heard::Result);
        assert!(!turn.may_run());
    }

    #[test]
    fn a_message_that_waits_behind_a_result_may_begin_a_turn() {
        let mut turn = Turn::default();
        turn.message();
        turn.message();
        turn.hear(&Heard::Result);
        assert!(!turn.is_running() && turn.may_run());
        turn.hear(&Heard::Result);
        assert!(!turn.may_run());
    }
}
