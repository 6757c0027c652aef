//! What time brings.
//!
//! Owns the deadlines: each is a pure function of the state, so none can be forgotten and none outlives what it was for.

use super::Effect;
use super::core::{Core, EndStep, Look, Outcome, Phase};

impl Core {
    /// When the next deadline is. None while the journal is ahead: nothing is decided from half of it.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        if self.is_behind {
            return None;
        }
        let deadlines = [
            self.begins_by(),
            self.end_step_by(),
            self.deaf_at(),
            self.stalls_at(),
            self.sleeps_at(),
            self.limit.and_then(|limit| limit.until),
            self.counts_until,
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Does what is due.
    pub(super) fn time(&mut self, now: u64, out: &mut Vec<Effect>) {
        let is_due = |deadline: Option<u64>| deadline.is_some_and(|deadline| deadline <= now);
        if is_due(self.begins_by()) {
            self.unread.clear();
            self.drop_awaited_turn(Outcome::KnownBefore);
            self.idle_since = now;
        }
        if is_due(self.end_step_by()) {
            match self.ending.as_ref().map(|ending| ending.step) {
                Some(EndStep::Interrupting) => self.tell_end(now, out),
                Some(EndStep::Killing) => self.kill_keeper(out),
                _ => self.kill(now, out),
            }
        }
        if is_due(self.deaf_at())
            && let Some(turn) = &mut self.turn
        {
            turn.is_deaf = true;
        }
        if is_due(self.stalls_at()) {
            self.is_stalled = true;
        }
        if is_due(self.limit.and_then(|limit| limit.until)) {
            self.lift_limit(out);
        }
        if is_due(self.sleeps_at()) {
            self.look = Look::Asked;
            out.push(Effect::LookAtChildren);
        }
    }

    /// A turn that has not begun by then will not come.
    fn begins_by(&self) -> Option<u64> {
        self.turn.as_ref()?.begins_by
    }

    fn end_step_by(&self) -> Option<u64> {
        self.ending.as_ref()?.deadline
    }

    /// An interrupt that has not helped by then does not help.
    fn deaf_at(&self) -> Option<u64> {
        let turn = self.turn.as_ref()?;
        let since = turn
            .interrupted
            .filter(|_| !turn.is_deaf && self.ending.is_none())?;
        Some(since.saturating_add(self.timing.interrupt_grace))
    }

    /// A turn that nothing explains and that says nothing until then has stalled.
    fn stalls_at(&self) -> Option<u64> {
        let turn = self.turn.as_ref()?;
        let can_speak = self.phase == Phase::Live
            && self.ending.is_none()
            && !self.is_unreachable
            && !self.is_disk_full;
        let is_explained = self.open_questions() > 0 || self.has_call();
        if !can_speak || is_explained || self.is_stalled {
            return None;
        }
        let from = self.silent_since().max(turn.retry_at.unwrap_or_default());
        Some(from.saturating_add(self.timing.stall_after))
    }

    /// Since when nothing came that something would have explained.
    pub(super) fn silent_since(&self) -> u64 {
        self.last_sign.max(self.silent_from)
    }

    /// A call of the turn runs: its own, or one of a sub-agent that it waits for.
    fn has_call(&self) -> bool {
        let mut calls = self.tools.iter();
        calls.any(|call| {
            let parent = call.parent.as_deref();
            parent.is_none_or(|parent| self.tools.contains(parent))
        })
    }

    fn sleeps_at(&self) -> Option<u64> {
        if !self.may_sleep() || self.look != Look::None {
            return None;
        }
        match self.makes_room {
            true => Some(self.idle_since),
            false => Some(self.idle_since.saturating_add(self.timing.sleep_after?)),
        }
    }
}
