//! What follows from how things stand: an agent is asked for, a message goes, a restart, nothing.
//!
//! Owns the conditions under which something happens without a new word from anybody. Invariants: a message goes only when
//! nothing else goes on, unless a person wants it at once; a held queue does not move.

use super::Effect;
use super::core::{CliCap, Core, EndWhy, Phase, Room};
use super::open::Unread;

use crate::control::MessageId;

impl Core {
    pub(super) fn onward(&mut self, now: u64, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Off if self.wants_agent() => {
                self.phase = Phase::Waiting;
                self.room = Room::Asked;
                let since = *self.waits_since.get_or_insert(now);
                out.push(Effect::AskForRoom { since });
            }
            Phase::Waiting if !self.wants_agent() => {
                self.phase = Phase::Off;
                self.waits_since = None;
                self.give_up_room(out);
            }
            Phase::Live if self.can_write() => self.next_message(now, out),
            _ => {}
        }
    }

    fn wants_agent(&self) -> bool {
        if self.needs_word {
            return false;
        }
        self.is_wanted || self.message_now().is_some() || self.message_in_turn().is_some()
    }

    /// The agent is there, and takes what is written.
    fn can_write(&self) -> bool {
        self.ending.is_none() && !self.is_unreachable && !self.is_closed && !self.is_disk_full
    }

    /// The message that a person wants sent at once. A budget stands above that.
    fn message_now(&self) -> Option<MessageId> {
        self.first.filter(|_| self.over_budget.is_none())
    }

    /// The message whose turn it would be, if nothing else goes on.
    fn message_in_turn(&self) -> Option<MessageId> {
        let is_free = self.held.is_none()
            && self.limit.is_none()
            && self.over_budget.is_none()
            && self.counts_until.is_none();
        self.next.filter(|_| is_free)
    }

    fn next_message(&mut self, now: u64, out: &mut Vec<Effect>) {
        let is_idle = self.turn.is_none() && self.questions.is_empty();
        // Work in the background is waited for, but not by one that can do nothing any more.
        let may_restart = self.tasks.is_empty() || self.cli_cap == CliCap::Lifted;
        if is_idle && self.wants_restart && may_restart {
            return self.end_for(now, EndWhy::Restart, out);
        }
        if let Some(message) = self.message_now() {
            self.first = None;
            return self.send(now, message, true, out);
        }
        if let Some(message) = self.message_in_turn().filter(|_| is_idle) {
            self.send(now, message, false, out);
        }
    }

    fn send(&mut self, now: u64, message: MessageId, is_at_once: bool, out: &mut Vec<Effect>) {
        let unread = Unread {
            id: message,
            is_written: false,
            is_doubtful: false,
            is_at_once,
        };
        self.unread.open(unread, out);
        if self.next == Some(message) {
            self.next = None;
        }
        self.queued = self.queued.saturating_sub(1);
        self.await_turn(now);
        out.push(Effect::Send { message });
    }

    /// A message waits in the queue again. How the queue stands then is told as after every change.
    pub(super) fn put_back(
        &mut self,
        message: MessageId,
        is_given_back: bool,
        out: &mut Vec<Effect>,
    ) {
        self.queued = self.queued.saturating_add(1);
        out.push(Effect::PutBack {
            message,
            is_given_back,
        });
    }

    /// What waits in the queue does so until a person says otherwise: no agent is needed for that.
    fn is_queue_stuck(&self) -> bool {
        self.held.is_some() || self.over_budget.is_some()
    }

    /// Nothing goes on and nothing is to come by itself: the agent could sleep.
    pub(crate) fn may_sleep(&self) -> bool {
        self.phase == Phase::Live
            && self.can_write()
            && self.turn.is_none()
            && self.tasks.is_empty()
            && self.questions.is_empty()
            && self.unread.is_empty()
            && self.first.is_none()
            && (self.queued == 0 || self.is_queue_stuck())
            && !self.wants_restart
    }
}
