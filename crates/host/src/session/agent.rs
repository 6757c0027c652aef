//! The agent comes and goes.
//!
//! Owns what happens when an agent is there, does not come up, ends or is lost, and how the next one begins. Invariants: no
//! generation is started twice; while an agent may be there, none is started beside it; whoever has no agent has no room.

use countersign_journal::Exit;

use super::core::{CliCap, Core, EndStep, EndWhy, Hold, Look, Outcome, Phase, Room};
use super::turn::Turn;
use super::{Begin, Effect, words};

/// How often in a row a start may lead to another kind of start.
const MOST_TRAPS: u32 = 3;

/// How often in a row a host may end while it is about to start an agent. More often than a keeper, since it need not be the
/// start that ends it; not for ever, since it may.
const MOST_WITHOUT_KEEPER: u32 = 12;

/// How far a start came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// A keeper was there, and has ended.
    Kept,
    /// There never was one.
    Never,
}

impl Core {
    /// The host has begun anew: room is given out anew, and the journal is read on.
    pub(super) fn host_began(&mut self) {
        self.is_behind = true;
        self.look = Look::None;
        self.is_in_doubt = self.has_agent();
        for unread in self.unread.iter_mut() {
            unread.is_doubtful = true;
        }
        if self.phase == Phase::Waiting {
            self.phase = Phase::Off;
        }
        if self.phase == Phase::Off {
            self.room = Room::None;
        }
    }

    pub(super) fn attached(
        &mut self,
        now: u64,
        generation: u32,
        paused: Option<i32>,
        out: &mut Vec<Effect>,
    ) {
        // What has ended may still be connected for a moment.
        if generation <= self.ended {
            return;
        }
        if generation < self.generation {
            self.step_back(generation, out);
        }
        if generation > self.generation {
            self.forget_agent();
            self.generation = generation;
            self.cli_cap = CliCap::Below;
        }
        self.is_in_doubt = false;
        if self.phase != Phase::Live {
            self.outcome = match &self.outcome {
                Outcome::Limited => Outcome::Limited,
                _ => Outcome::Fresh,
            };
        }
        self.phase = Phase::Live;
        self.room = Room::Have;
        self.waits_since = None;
        self.is_wanted = false;
        self.needs_word = false;
        self.is_unreachable = false;
        self.is_closed = false;
        self.is_disk_full = paused.is_some();
        self.silent_from = now;
        // What was said to an earlier connection may not have arrived.
        match self.ending.as_ref().map(|ending| ending.step) {
            Some(EndStep::Killing) => self.kill(now, out),
            Some(_) => self.tell_end(now, out),
            None => {
                self.tell_again(out);
                self.interrupt_again(out);
            }
        }
    }

    /// A keeper of an earlier start has the session, and where one keeper is there is no other: what was thought to be
    /// starting behind it never was. What is wanted of the agent is wanted of the one that is there.
    fn step_back(&mut self, generation: u32, out: &mut Vec<Effect>) {
        let ending = self.ending.take();
        self.leave_agent(out);
        self.ending = ending;
        self.numbered = self.numbered.max(self.generation);
        self.generation = generation;
    }

    /// So does what a person chose for it.
    fn tell_again(&self, out: &mut Vec<Effect>) {
        let (mode, model) = (self.owed_mode.is_some(), self.owed_model.is_some());
        if mode || model {
            out.push(Effect::Tell { mode, model });
        }
    }

    /// An interrupt that an earlier connection did not bring to the agent goes again, if its turn still runs.
    fn interrupt_again(&self, out: &mut Vec<Effect>) {
        let is_owed = |turn: &Turn| turn.interrupted.is_some() && !turn.is_interrupt_written;
        if self.turn.as_ref().is_some_and(is_owed) {
            out.push(Effect::Interrupt {
                cancel_queued: !self.unread.is_empty(),
            });
        }
    }

    pub(super) fn unreachable(&mut self) {
        self.phase = Phase::Live;
        self.room = Room::Have;
        self.is_unreachable = true;
    }

    pub(super) fn disk_resumed(&mut self, now: u64) {
        self.is_disk_full = false;
        self.silent_from = now;
    }

    pub(super) fn lacks_files(&mut self) {
        if (self.room, self.phase) == (Room::Asked, Phase::Waiting) {
            self.room = Room::WithoutFiles;
        }
    }

    pub(super) fn admitted(&mut self, out: &mut Vec<Effect>) {
        match (self.room, self.phase) {
            (Room::Have, _) => {}
            (Room::Asked | Room::WithoutFiles, Phase::Waiting) => {
                self.room = Room::Have;
                let begin = self.next_begin();
                self.spawn(begin, out);
            }
            _ => {
                self.room = Room::None;
                out.push(Effect::GiveUpRoom);
            }
        }
    }

    /// How the next agent begins.
    fn next_begin(&self) -> Begin {
        match (self.has_conversation, self.generation) {
            (true, _) => Begin::Resume,
            (false, 0) => self.begin,
            (false, _) => Begin::NewSameId,
        }
    }

    fn spawn(&mut self, begin: Begin, out: &mut Vec<Effect>) {
        self.generation = self.generation.max(self.numbered) + 1;
        self.is_in_doubt = false;
        self.begin = begin;
        self.phase = Phase::Starting;
        self.waits_since = None;
        self.wants_restart = false;
        self.cli_cap = CliCap::Below;
        self.trap = None;
        self.stderr.clear();
        out.push(Effect::Spawn {
            generation: self.generation,
            begin,
        });
    }

    pub(super) fn spawn_failed(
        &mut self,
        generation: u32,
        why: &str,
        fix: Option<String>,
        trap: Option<Begin>,
        out: &mut Vec<Effect>,
    ) {
        if generation != self.generation || !self.has_agent() {
            return;
        }
        self.ended = generation;
        let trap = trap.or(self.trap).or_else(|| trap_in(why, self.begin));
        let ending = self.ending.as_ref().map(|ending| ending.why);
        self.leave_agent(out);
        match (ending, trap) {
            (Some(EndWhy::Stop), _) => self.off(Outcome::Stopped, out),
            (_, Some(begin)) if self.may_try(begin) => self.spawn(begin, out),
            (Some(EndWhy::Restart), _) => self.spawn(self.next_begin(), out),
            _ => {
                let outcome = self.failed_start(why, fix);
                self.off(outcome, out);
            }
        }
    }

    /// Whether a start of another kind may follow. A conversation that was not found is gone for good.
    fn may_try(&mut self, begin: Begin) -> bool {
        self.traps += 1;
        if begin != Begin::Resume {
            self.has_conversation = false;
        }
        self.traps <= MOST_TRAPS
    }

    fn failed_start(&mut self, why: &str, fix: Option<String>) -> Outcome {
        let why = words::sentence(why);
        if words::says_not_signed_in(&why) || words::says_not_signed_in(&self.stderr) {
            return Outcome::NotSignedIn {
                why: format!("The CLI is not signed in: {why}"),
                fix: fix.unwrap_or_else(|| words::SIGN_IN.into()),
            };
        }
        let why = format!("The agent did not come up: {why}");
        Outcome::Failed {
            why: match fix {
                Some(fix) => format!("{why} {}", words::sentence(&fix)),
                None => why,
            },
            stderr: self.stderr.clone(),
        }
    }

    pub(super) fn gone(
        &mut self,
        generation: u32,
        exit: &Exit,
        stderr: &str,
        out: &mut Vec<Effect>,
    ) {
        if generation != self.generation || !self.has_agent() {
            return;
        }
        self.ended = generation;
        if !stderr.is_empty() {
            self.stderr = words::tail(stderr).to_owned();
        }
        let trap = (self.trap).or_else(|| trap_in(&self.stderr, self.begin));
        let trap = trap.filter(|_| !self.has_worked);
        let was_idle = self.turn.is_none() && exit.code == Some(0);
        // One that has worked came up, whether or not a host was there to see it.
        let came_up = self.has_worked || (self.phase == Phase::Live && was_idle);
        let busy = self.is_busy();
        let ending = self.ending.as_ref().map(|ending| ending.why);
        let is_resumed = self.is_resumed && (busy || exit.code != Some(0));
        // Whatever comes next is by a person's word, and may be asked again.
        let was_asked_again = std::mem::take(&mut self.is_asked_again);
        let may_ask_again = self.has_crashed(exit) && !was_asked_again;
        self.leave_agent(out);
        match (ending, trap) {
            (Some(EndWhy::Stop), _) => self.off(Outcome::Stopped, out),
            (Some(EndWhy::Sleep), _) => self.sleep(out),
            (Some(EndWhy::Restart), _) => self.spawn(self.next_begin(), out),
            (_, Some(begin)) if self.may_try(begin) => self.spawn(begin, out),
            _ if is_resumed => self.spawn(self.next_begin(), out),
            _ if came_up && exit.error.is_some() => {
                self.is_cut_off = busy;
                let why = exit.error.as_deref().unwrap_or_default();
                let why = format!("The agent was ended: {}", words::sentence(why));
                let stderr = self.stderr.clone();
                self.off(Outcome::Failed { why, stderr }, out);
            }
            _ if !came_up => {
                let why = exit.error.clone().unwrap_or_else(|| how(exit));
                let outcome = self.failed_start(&why, None);
                self.off(outcome, out);
            }
            _ if !busy && exit.code == Some(0) => self.sleep(out),
            _ => {
                self.is_cut_off = busy;
                self.crashed = may_ask_again.then_some(generation);
                let cut = if busy { " in the middle of a turn" } else { "" };
                let outcome = Outcome::Failed {
                    why: format!("The agent ended{cut}: {}.", how(exit)),
                    stderr: self.stderr.clone(),
                };
                self.off(outcome, out);
            }
        }
    }

    /// Whether it ended in the middle of a turn by itself or by a signal from elsewhere: not because a person, a limit or its
    /// keeper wanted an end.
    fn has_crashed(&self, exit: &Exit) -> bool {
        let turn = self.turn.as_ref();
        turn.is_some_and(|turn| turn.has_begun && turn.interrupted.is_none())
            && self.ending.is_none()
            && exit.step.is_none()
            && exit.error.is_none()
            && exit.code != Some(0)
    }

    pub(super) fn lost(&mut self, generation: u32, start: Start, out: &mut Vec<Effect>) {
        if generation != self.generation || !self.has_agent() {
            return;
        }
        match start {
            Start::Kept => self.ended = generation,
            // It was ordered since: this host has it started.
            Start::Never if !self.is_in_doubt => return,
            // Its keeper may yet come up: one that was started by a host that ended then.
            Start::Never => {}
        }
        // A message that was on its way is sent again by another start; it is not to be the end of every one.
        let was_starting =
            !self.has_worked && (self.phase == Phase::Starting || self.turn.is_some());
        let busy = self.is_busy();
        let had_background = self.background() > 0;
        let ending = self.ending.as_ref().map(|ending| ending.why);
        let is_resumed = self.is_resumed;
        self.leave_agent(out);
        match ending {
            Some(EndWhy::Stop) => self.off(Outcome::Stopped, out),
            Some(EndWhy::Restart) => self.spawn(self.next_begin(), out),
            Some(EndWhy::Sleep) => self.sleep(out),
            _ if was_starting => self.start_lost(start, out),
            _ if !busy && !had_background => self.sleep(out),
            _ if is_resumed => self.spawn(self.next_begin(), out),
            _ => {
                self.is_cut_off = busy;
                let what = match busy {
                    true => "The turn was cut off",
                    false => "Its work in the background was cut off",
                };
                let why = format!("{what}: the agent's keeper ended, by a crash or a reboot.");
                let stderr = self.stderr.clone();
                self.off(Outcome::Failed { why, stderr }, out);
            }
        }
    }

    /// It was lost before it came up: nothing was lost with it, so it is started again, but not for ever.
    fn start_lost(&mut self, start: Start, out: &mut Vec<Effect>) {
        let (count, most, whose) = match start {
            Start::Kept => (
                &mut self.failed_starts,
                self.timing.most_starts,
                "its keeper ended each time",
            ),
            Start::Never => (
                &mut self.starts_without_keeper,
                MOST_WITHOUT_KEEPER,
                "the daemon ended each time it was about to start it",
            ),
        };
        *count += 1;
        if *count < most {
            self.sleep(out);
            self.is_wanted = true;
        } else {
            let outcome = Outcome::Failed {
                why: format!("The agent did not come up: {whose}."),
                stderr: self.stderr.clone(),
            };
            self.off(outcome, out);
        }
    }

    /// A turn has begun, or something was asked: it would be cut off.
    fn is_busy(&self) -> bool {
        let has_begun = self.turn.as_ref().is_some_and(|turn| turn.has_begun);
        has_begun || !self.questions.is_empty()
    }

    /// The agent is not there any more. What it has not read goes back to the queue.
    fn leave_agent(&mut self, out: &mut Vec<Effect>) {
        let unread: Vec<_> = self.unread.iter().rev().map(|it| it.id).collect();
        for message in unread {
            self.put_back(message, false, out);
        }
        self.forget_agent();
        self.phase = Phase::Off;
    }

    /// Nothing of an earlier agent is known any more.
    pub(super) fn forget_agent(&mut self) {
        self.turn = None;
        self.tools.clear();
        self.tasks.clear();
        self.questions.clear();
        self.unread.clear();
        self.ending = None;
        self.is_disk_full = false;
        self.is_unreachable = false;
        self.is_closed = false;
        self.is_stalled = false;
        self.makes_room = false;
        self.is_released = false;
        self.is_resumed = false;
        self.has_worked = false;
        self.owed_mode = None;
        self.owed_model = None;
        self.look = Look::None;
    }

    /// No agent, until the next message.
    fn sleep(&mut self, out: &mut Vec<Effect>) {
        self.phase = Phase::Off;
        self.wants_restart = false;
        self.give_up_room(out);
    }

    /// No agent, until a person says so.
    pub(super) fn off(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        self.sleep(out);
        self.outcome = outcome;
        self.cli_cap = CliCap::Below;
        self.first = None;
        self.is_wanted = false;
        self.needs_word = true;
        self.hold(Hold::Failed);
    }

    pub(super) fn give_up_room(&mut self, out: &mut Vec<Effect>) {
        if self.room != Room::None {
            self.room = Room::None;
            out.push(Effect::GiveUpRoom);
        }
    }

    /// The queue waits for a person's word, if anything waits in it.
    pub(super) fn hold(&mut self, why: Hold) {
        if self.queued > 0 && !self.is_released {
            self.held = Some(why);
        }
    }
}

/// How it would come up, if a text says so.
fn trap_in(text: &str, begin: Begin) -> Option<Begin> {
    if begin == Begin::Resume && words::says_no_conversation(text) {
        return Some(Begin::NewSameId);
    }
    words::says_id_in_use(text).then_some(Begin::NewOtherId)
}

fn how(exit: &Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("claude exited with code {code}"),
        (None, Some(signal)) => format!("claude was ended by signal {signal}"),
        (None, None) => "claude ended, and nothing says how".into(),
    }
}
