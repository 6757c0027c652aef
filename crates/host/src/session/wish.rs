//! What people want, and what the host decides for them.
//!
//! Owns the answers to wishes. Invariant: a wish that cannot be met now is either remembered or leaves everything as it is;
//! *stop* and *force end* are met from every state.

use countersign_keeper::protocol::EndPlan;

use super::core::{CliCap, Core, EndStep, EndWhy, Ending, Hold, Look, Outcome, Over, Phase};
use super::open::Unread;
use super::{Effect, Input};
use crate::control::MessageId;

impl Core {
    /// What the host decides, and what is told of the queue.
    pub(super) fn told(&mut self, now: u64, input: Input, out: &mut Vec<Effect>) {
        match input {
            Input::Queue(queue) => self.queue(&queue),
            Input::NotSent { message } => self.not_sent(message),
            Input::Closed { message } => self.closed(message),
            Input::Decided { request_id } => {
                if let Some(question) = self.questions.get_mut(&request_id) {
                    question.needs_person = false;
                    self.silent_from = now;
                }
            }
            Input::Children { others } => self.children(now, others, out),
            Input::Budget { spent, budget } => self.budget(now, spent, budget, out),
            _ => {}
        }
    }

    /// What a person wants.
    pub(super) fn wish(&mut self, now: u64, input: Input, out: &mut Vec<Effect>) {
        match input {
            Input::Interrupt => self.interrupt(now, out),
            Input::Stop => self.stop(now, out),
            Input::ForceEnd => self.force_end(now, out),
            Input::Resume => self.resume(),
            Input::AskAgain => {
                self.is_asked_again = true;
                self.resume();
            }
            Input::ReleaseQueue => {
                self.held = None;
                self.is_released = self.turn.is_some();
                if self.phase == Phase::Off && self.queued > 0 {
                    self.resume();
                }
            }
            Input::SendNow(message) => {
                self.first = Some(message);
                self.needs_word = false;
            }
            Input::TryAgain => self.try_again(out),
            // One that is started later is started with it.
            Input::ModeChosen { owed } => self.owed_mode = owed.filter(|_| self.has_agent()),
            Input::ModelChosen { owed } => self.owed_model = owed.filter(|_| self.has_agent()),
            Input::Restart => self.wants_restart = self.has_agent(),
            _ => {}
        }
    }

    fn queue(&mut self, queue: &[MessageId]) {
        self.doubt(queue);
        let is_on_its_way = |id: &MessageId| self.unread.iter().any(|unread| unread.id == *id);
        let mut waiting = queue.iter().filter(|id| !is_on_its_way(id));
        self.next = waiting.next().copied();
        self.queued = match self.next {
            Some(_) => u32::try_from(waiting.count() + 1).unwrap_or(u32::MAX),
            None => 0,
        };
        if self.queued == 0 {
            self.held = None;
        }
        self.first = self.first.filter(|first| queue.contains(first));
    }

    /// What an earlier host was to write and the journal does not know is still in the queue, or is on its way.
    fn doubt(&mut self, queue: &[MessageId]) {
        let before = self.unread.iter().count();
        let waits = |unread: &Unread| {
            !unread.is_written && unread.is_doubtful && queue.contains(&unread.id)
        };
        let newest = |unread: &&Unread| waits(unread) && unread.is_at_once;
        let at_once = self.unread.iter().rev().find(newest).map(|it| it.id);
        self.first = at_once.or(self.first);
        self.unread.retain(|unread| !waits(unread));
        for unread in self.unread.iter_mut() {
            unread.is_doubtful = false;
        }
        if self.unread.iter().count() < before {
            self.drop_awaited_turn(Outcome::Done);
        }
    }

    fn not_sent(&mut self, message: MessageId) {
        if self.unread.close(&message.to_string()) {
            self.held = Some(Hold::NotSent);
            self.drop_awaited_turn(Outcome::Done);
        }
    }

    /// The message waits as before: the agent had gone, or the way to it, and a person need not say anything about that.
    fn closed(&mut self, message: MessageId) {
        let is_it = |unread: &Unread| unread.id == message && unread.is_at_once;
        if self.unread.iter().any(is_it) {
            self.first = Some(message);
        }
        if self.unread.close(&message.to_string()) {
            self.is_closed = true;
            self.drop_awaited_turn(Outcome::Done);
        }
    }

    fn interrupt(&mut self, now: u64, out: &mut Vec<Effect>) {
        self.is_released = false;
        self.is_resumed = false;
        let is_reachable =
            self.phase == Phase::Live && self.ending.is_none() && !self.is_unreachable;
        if is_reachable && self.turn.is_some() {
            self.interrupt_turn(now, out);
        } else if is_reachable && self.background() > 0 {
            // New CLIs end work in the background by it, and no result follows.
            out.push(Effect::Interrupt {
                cancel_queued: false,
            });
        }
        let was_awaited = matches!(self.phase, Phase::Waiting | Phase::Starting);
        if was_awaited || self.turn.is_some() {
            self.hold(Hold::Interrupted);
            self.first = None;
        }
    }

    /// Interrupts the turn that runs, unless that is under way.
    pub(super) fn interrupt_turn(&mut self, now: u64, out: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        let is_under_way = turn.interrupted.is_some() && !turn.is_deaf;
        let began_behind_it = turn.has_begun && turn.interrupted_early;
        if is_under_way && !began_behind_it {
            return;
        }
        turn.interrupted = Some(now);
        turn.interrupted_early = !turn.has_begun;
        turn.is_interrupt_written = false;
        turn.is_deaf = false;
        out.push(Effect::Interrupt {
            cancel_queued: !self.unread.is_empty(),
        });
    }

    fn stop(&mut self, now: u64, out: &mut Vec<Effect>) {
        self.is_wanted_anyway = false;
        self.is_resumed = false;
        match self.phase {
            Phase::Off | Phase::Waiting => self.stop_without_agent(out),
            Phase::Starting => self.want_end(),
            Phase::Live if self.is_unreachable => self.want_end_of_unreachable(now),
            Phase::Live => match &mut self.ending {
                Some(ending) => ending.why = EndWhy::Stop,
                None => {
                    self.want_end();
                    self.tell_end(now, out);
                }
            },
        }
    }

    fn stop_without_agent(&mut self, out: &mut Vec<Effect>) {
        let outcome = match std::mem::take(&mut self.outcome) {
            failed @ (Outcome::Failed { .. } | Outcome::NotSignedIn { .. }) => failed,
            _ => Outcome::Stopped,
        };
        self.off(outcome, out);
    }

    /// Remembers that the agent is to end for good.
    fn want_end(&mut self) {
        match &mut self.ending {
            Some(ending) => ending.why = EndWhy::Stop,
            None => {
                self.ending = Some(Ending {
                    why: EndWhy::Stop,
                    step: EndStep::Wanted,
                    deadline: None,
                });
            }
        }
    }

    /// A keeper that does not answer is told when it does, and ended itself if it takes too long about it.
    fn want_end_of_unreachable(&mut self, now: u64) {
        self.want_end();
        if let Some(ending) = &mut self.ending {
            let deadline = now.saturating_add(self.timing.end_grace);
            ending.deadline.get_or_insert(deadline);
        }
    }

    fn force_end(&mut self, now: u64, out: &mut Vec<Effect>) {
        self.is_wanted_anyway = false;
        self.is_resumed = false;
        if !self.has_agent() {
            return self.stop_without_agent(out);
        }
        let is_under_way = (self.ending.as_ref()).is_some_and(|it| it.step != EndStep::Wanted);
        self.want_end();
        if is_under_way || self.is_unreachable || self.phase == Phase::Starting {
            return self.kill(now, out);
        }
        match &mut self.turn {
            Some(turn) => {
                turn.interrupted = Some(now);
                out.push(Effect::Interrupt {
                    cancel_queued: true,
                });
                let deadline = Some(now.saturating_add(self.timing.interrupt_grace));
                self.ending = Some(Ending {
                    why: EndWhy::Stop,
                    step: EndStep::Interrupting,
                    deadline,
                });
            }
            None => self.tell_end(now, out),
        }
    }

    /// Has the keeper end the agent, step by step.
    pub(super) fn tell_end(&mut self, now: u64, out: &mut Vec<Effect>) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        ending.step = EndStep::Told;
        ending.deadline = Some(now.saturating_add(self.timing.end_grace));
        out.push(Effect::End {
            plan: EndPlan::Gentle,
            why: ending.why.words().into(),
        });
    }

    /// Has the keeper end the agent at once. One that does not is ended itself.
    pub(super) fn kill(&mut self, now: u64, out: &mut Vec<Effect>) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        ending.step = EndStep::Killing;
        ending.deadline = Some(now.saturating_add(self.timing.end_grace));
        out.push(Effect::End {
            plan: EndPlan::Kill,
            why: ending.why.words().into(),
        });
    }

    /// Its keeper has not even killed it: it hangs, and goes first.
    pub(super) fn kill_keeper(&mut self, out: &mut Vec<Effect>) {
        if let Some(ending) = &mut self.ending {
            ending.deadline = None;
            out.push(Effect::KillKeeper);
        }
    }

    /// Begins the end of an agent that does nothing at the moment.
    pub(super) fn end_for(&mut self, now: u64, why: EndWhy, out: &mut Vec<Effect>) {
        self.ending = Some(Ending {
            why,
            step: EndStep::Wanted,
            deadline: None,
        });
        self.tell_end(now, out);
    }

    /// The journal is read: what a person wanted meanwhile is done.
    pub(super) fn caught_up(&mut self) {
        self.is_behind = false;
        if self.is_unreachable {
            return;
        }
        if std::mem::take(&mut self.is_wanted_anyway) {
            self.resume();
        }
    }

    fn resume(&mut self) {
        self.held = None;
        self.is_wanted_anyway = self.is_behind || self.is_unreachable;
        match (self.phase, &mut self.ending) {
            (Phase::Off, _) => {
                self.failed_starts = 0;
                self.starts_without_keeper = 0;
                self.is_wanted = true;
                self.needs_word = false;
            }
            (_, Some(ending)) if ending.step == EndStep::Wanted => self.ending = None,
            (_, Some(ending)) => ending.why = EndWhy::Restart,
            (Phase::Live, None) if matches!(self.outcome, Outcome::NotSignedIn { .. }) => {
                // What was signed in since is read at a start.
                self.wants_restart = true;
            }
            // It may be about to go without our knowing: the wish is not lost with it.
            _ if !self.is_wanted_anyway => {
                let is_starting = self.phase == Phase::Starting;
                self.is_resumed = is_starting || self.turn.is_some() || self.queued > 0;
            }
            _ => {}
        }
    }

    /// Why nothing would come of another try, and what would help.
    pub(crate) fn why_not_try_again(&self) -> Option<&'static str> {
        if self.limit.is_some() || matches!(self.outcome, Outcome::NotSignedIn { .. }) {
            return None;
        }
        Some(match self.has_agent() {
            _ if self.is_cut_off => {
                "its turn was cut off, and no limit of the account holds it up: resume the session to go on from there"
            }
            false => "no limit of the account holds it up: resume the session, or send a message",
            true => {
                "no limit of the account holds it up, so there is nothing to try again: send a message"
            }
        })
    }

    fn try_again(&mut self, out: &mut Vec<Effect>) {
        if matches!(self.outcome, Outcome::NotSignedIn { .. }) {
            return self.resume();
        }
        if self.limit.is_some() {
            self.lift_limit(out);
        }
    }

    /// The limit is over, or a person wants to see whether it is.
    pub(super) fn lift_limit(&mut self, out: &mut Vec<Effect>) {
        self.limit = None;
        if self.outcome == Outcome::Limited && self.queued == 0 {
            self.outcome = Outcome::Done;
            let since = self.limited_at;
            out.push(Effect::GoOn { since });
        }
    }

    fn budget(&mut self, now: u64, spent: f64, budget: Option<f64>, out: &mut Vec<Effect>) {
        self.has_budget = budget.is_some();
        let budget = budget.filter(|budget| spent >= *budget);
        self.over_budget = budget.map(|budget| Over { spent, budget });
        if self.over_budget.is_some() && self.ending.is_none() {
            self.interrupt_turn(now, out);
        }
        if self.over_budget.is_none() {
            self.leave_cap(out);
        }
    }

    /// The budget allows more than the agent was told at its start: another one takes its place, and goes on where the limit broke the turn off.
    fn leave_cap(&mut self, out: &mut Vec<Effect>) {
        let CliCap::Reached(since) = self.cli_cap else {
            return;
        };
        self.cli_cap = CliCap::Lifted;
        self.wants_restart = self.has_agent();
        self.held.take_if(|hold| *hold == Hold::Failed);
        if matches!(self.outcome, Outcome::Failed { .. }) {
            self.outcome = Outcome::Done;
        }
        if self.queued == 0 && !self.needs_word {
            out.push(Effect::GoOn { since });
        }
    }

    fn children(&mut self, now: u64, others: u32, out: &mut Vec<Effect>) {
        if self.look != Look::Asked {
            return;
        }
        self.look = Look::None;
        if others == 0 && self.may_sleep() {
            self.end_for(now, EndWhy::Sleep, out);
        } else {
            self.makes_room = false;
            self.idle_since = now;
        }
    }
}

impl EndWhy {
    /// Why, for the journal.
    fn words(self) -> &'static str {
        match self {
            Self::Stop => "a person ended it",
            Self::Sleep => "it was idle",
            Self::Restart => "another agent takes its place",
            Self::Keeper => "its keeper ended it",
        }
    }
}
