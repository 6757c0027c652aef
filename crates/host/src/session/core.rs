//! The state of one session, and the one way it changes.
//!
//! Owns [`Core`] and the order of a step: what happened, then what time brings, then what follows from how things stand.
//! Invariants: no clock, no files, no chance in here; the same inputs give the same effects, whether or not the core was
//! stored in between; there is never more than one agent.

use serde::{Deserialize, Serialize};

use super::agent::Start;
use super::fact::Seen;
use super::open::{Open, Question, Task, Tool, Unread};
use super::turn::Turn;
use super::{Begin, Effect, Fact, Input, Timing};
use crate::control::{MessageId, State};

/// Where the agent of a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// There is none.
    #[default]
    Off,
    /// One is wanted, and waits for room.
    Waiting,
    /// One is being started.
    Starting,
    /// One is there.
    Live,
}

/// Why there is no agent, or how the last turn went.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(super) enum Outcome {
    /// Nothing has happened yet.
    #[default]
    Fresh,
    /// The last turn went well.
    Done,
    /// The last turn was ended by a person.
    Interrupted,
    /// The last message was known to the CLI before: nothing ran.
    KnownBefore,
    /// A limit kept the last turn from getting through.
    Limited,
    /// A person ended the agent.
    Stopped,
    /// The last turn failed, or the agent ended by itself.
    Failed { why: String, stderr: String },
    /// The CLI is not signed in.
    NotSignedIn { why: String, fix: String },
}

/// Why the queue waits for a person's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Hold {
    /// The turn was interrupted.
    Interrupted,
    /// The turn failed, or the agent has gone.
    Failed,
    /// A message could not be sent.
    NotSent,
}

/// Why an agent is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EndWhy {
    /// A person wants it gone.
    Stop,
    /// It is idle.
    Sleep,
    /// Another one takes its place.
    Restart,
    /// Its keeper ends it, for a reason of its own.
    Keeper,
}

/// How far the end of an agent has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EndStep {
    /// It waits until the agent can be reached.
    Wanted,
    /// The turn is interrupted first.
    Interrupting,
    /// The keeper was told.
    Told,
    /// The keeper was told to kill it.
    Killing,
}

/// The end of an agent, under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ending {
    pub(super) why: EndWhy,
    pub(super) step: EndStep,
    /// When the next step is taken.
    pub(super) deadline: Option<u64>,
}

/// How the agent stands with the limit that the CLI itself was started with (`--max-budget-usd`). It cannot be changed while the agent runs: whoever
/// has reached it needs another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CliCap {
    /// Not reached.
    #[default]
    Below,
    /// It ended a turn at this moment, and fails every later one.
    Reached(u64),
    /// Reached, and the budget allows more: another agent takes its place.
    Lifted,
}

/// Room for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Room {
    #[default]
    None,
    Asked,
    /// There is room, and too few files can be opened.
    WithoutFiles,
    Have,
}

/// How far the question is whether it may sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Look {
    #[default]
    None,
    /// What runs below the agent was asked.
    Asked,
}

/// The state of one session. Its default is a session before its first message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Core {
    pub(super) timing: Timing,
    pub(super) phase: Phase,
    pub(super) generation: u32,
    /// The highest number that a start was given, where a keeper of a lower one was found since.
    pub(super) numbered: u32,
    /// The agent of this generation, and all before it, have ended.
    pub(super) ended: u32,
    /// The agent was there, or was being started, when a host began: what that finds in the folder says whether it is.
    pub(super) is_in_doubt: bool,
    /// The generation whose records are read.
    pub(super) hearing: u32,
    pub(super) begin: Begin,
    /// The CLI has begun a turn in it at least once: there is something to resume.
    pub(super) has_conversation: bool,
    /// This agent has begun a turn.
    pub(super) has_worked: bool,
    pub(super) room: Room,
    /// Since when an agent is wanted and none is there: who began first is first in line, whenever its turn to ask came.
    pub(super) waits_since: Option<u64>,
    /// The journal is ahead of what is known here.
    pub(super) is_behind: bool,
    pub(super) is_unreachable: bool,
    /// The way to the agent was found closed: what became of it is told next.
    pub(super) is_closed: bool,
    pub(super) is_disk_full: bool,
    /// A person wants an agent, whatever the queue says.
    pub(super) is_wanted: bool,
    /// A person said so before it was known that there is none.
    pub(super) is_wanted_anyway: bool,
    /// A person wants the work of this agent to go on: should it go before the turn ends, another takes its place, once.
    pub(super) is_resumed: bool,
    /// Only a person's word starts an agent again.
    pub(super) needs_word: bool,
    /// Starts in a row that came to nothing.
    pub(super) failed_starts: u32,
    /// Starts in a row that no keeper came of, because the host ended.
    pub(super) starts_without_keeper: u32,
    pub(super) turn: Option<Turn>,
    pub(super) tools: Open<Tool>,
    pub(super) tasks: Open<Task>,
    pub(super) questions: Open<Question>,
    pub(super) unread: Open<Unread>,
    /// The first message of the queue, and how many wait in it.
    pub(super) next: Option<MessageId>,
    pub(super) queued: u32,
    /// A message that goes before all others, held or not.
    pub(super) first: Option<MessageId>,
    pub(super) held: Option<Hold>,
    /// A person let the queue go on while a turn runs: however it ends, nothing is held.
    pub(super) is_released: bool,
    pub(super) wants_restart: bool,
    /// The mode that a person chose, in the CLI's word, until the journal says that its agent was told.
    pub(super) owed_mode: Option<String>,
    /// The model, likewise; the empty name is the CLI's own choice.
    pub(super) owed_model: Option<String>,
    pub(super) makes_room: bool,
    pub(super) ending: Option<Ending>,
    pub(super) limit: Option<Limit>,
    /// When a limit last kept a turn from getting through.
    pub(super) limited_at: u64,
    pub(super) over_budget: Option<Over>,
    pub(super) has_budget: bool,
    pub(super) cli_cap: CliCap,
    /// A turn has just ended, and what it has cost is told next: nothing is sent before that, or before this moment.
    pub(super) counts_until: Option<u64>,
    pub(super) outcome: Outcome,
    pub(super) is_cut_off: bool,
    /// The agent of this generation crashed in the middle of a turn, and nobody has looked at that yet.
    pub(super) crashed: Option<u32>,
    /// The turn that runs was asked again after a crash.
    pub(super) is_asked_again: bool,
    pub(super) is_stalled: bool,
    pub(super) last_sign: u64,
    /// Silence before this moment was explained.
    pub(super) silent_from: u64,
    pub(super) idle_since: u64,
    pub(super) look: Look,
    pub(super) stderr: String,
    /// How the agent would come up, as far as it said so.
    pub(super) trap: Option<Begin>,
    /// Starts in a row that led to another kind of start.
    pub(super) traps: u32,
    pub(super) seen: Seen,
    pub(super) since: u64,
}

/// A limit of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limit {
    /// When it ends, where that is known.
    pub(super) until: Option<u64>,
}

/// What was spent, and what may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Over {
    pub(super) spent: f64,
    pub(super) budget: f64,
}

impl Core {
    /// A session whose first agent begins like this.
    pub fn new(begin: Begin, timing: Timing, now: u64) -> Self {
        Self {
            timing,
            begin,
            has_conversation: begin == Begin::Resume,
            waits_since: Some(now),
            since: now,
            ..Self::default()
        }
    }

    /// Waits as long as this from now on.
    pub fn set_timing(&mut self, timing: Timing) {
        self.timing = timing;
    }

    /// Takes one input: what is to be done about it.
    pub fn step(&mut self, now: u64, input: Input) -> Vec<Effect> {
        if matches!(input, Input::Fact(Fact::Sign)) && self.is_heard() && !self.is_stalled {
            self.last_sign = now;
            return Vec::new();
        }
        let (before, was_quiet) = (self.shown(), self.may_sleep());
        let mut out = Vec::new();
        let is_counted = matches!(input, Input::Budget { .. } | Input::HostBegan);
        self.counts_until = self
            .counts_until
            .filter(|until| !is_counted && now < *until);
        self.take(now, input, &mut out);
        if !was_quiet && self.may_sleep() {
            self.idle_since = now;
        }
        if !self.is_behind {
            self.time(now, &mut out);
            self.onward(now, &mut out);
        }
        if !self.may_sleep() {
            self.look = Look::None;
        }
        let after = self.shown();
        if before != after {
            if before.state.name() != after.state.name() {
                self.since = now;
            }
            out.push(Effect::Changed);
        }
        out
    }

    fn take(&mut self, now: u64, input: Input, out: &mut Vec<Effect>) {
        match input {
            Input::Fact(fact) => self.hear(now, fact, out),
            Input::HostBegan => self.host_began(),
            Input::CaughtUp => self.caught_up(),
            Input::Attached { generation, paused } => self.attached(now, generation, paused, out),
            Input::SpawnFailed {
                generation,
                why,
                fix,
                trap,
            } => self.spawn_failed(generation, &why, fix, trap, out),
            Input::Gone {
                generation,
                exit,
                stderr,
            } => self.gone(generation, &exit, &stderr, out),
            Input::Lost { generation } => self.lost(generation, Start::Kept, out),
            Input::NeverBegan { generation } => self.lost(generation, Start::Never, out),
            Input::Unreachable => self.unreachable(),
            Input::DiskPaused => self.is_disk_full = self.has_agent(),
            Input::DiskResumed => self.disk_resumed(now),
            Input::Admitted => self.admitted(out),
            Input::NoFiles => self.lacks_files(),
            Input::MakeRoom => self.makes_room = self.phase == Phase::Live,
            Input::Queue(_)
            | Input::NotSent { .. }
            | Input::Closed { .. }
            | Input::Decided { .. }
            | Input::Children { .. }
            | Input::Budget { .. } => self.told(now, input, out),
            Input::Interrupt
            | Input::Stop
            | Input::ForceEnd
            | Input::Resume
            | Input::AskAgain
            | Input::ReleaseQueue
            | Input::SendNow(_)
            | Input::TryAgain
            | Input::ModeChosen { .. }
            | Input::ModelChosen { .. }
            | Input::Restart => self.wish(now, input, out),
            Input::Tick => {}
        }
    }

    /// How it stands.
    pub fn state(&self) -> State {
        self.shown().state
    }

    /// Why, in a sentence.
    pub fn reason(&self) -> String {
        self.shown().reason
    }

    /// When it came to that.
    pub fn since(&self) -> u64 {
        self.since
    }

    /// When [`Input::Tick`] is due, if it is.
    pub fn wake_at(&self) -> Option<u64> {
        self.next_deadline()
    }

    /// The last turn was cut off, and nobody has gone on from there.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Takes which agent has crashed in the middle of a turn that may be asked again. Told once.
    pub fn take_crash(&mut self) -> Option<u32> {
        self.crashed.take()
    }

    /// Messages wait for a person's word.
    pub fn queue_held(&self) -> bool {
        (self.held.is_some() || self.needs_word) && self.queued > 0
    }

    /// Which start of its agent it is at; 0 before the first.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// How the agent of this generation began, or the first one will.
    pub fn begin(&self) -> Begin {
        self.begin
    }

    /// How many questions need a person.
    pub fn open_questions(&self) -> u32 {
        let open = self
            .questions
            .iter()
            .filter(|question| question.needs_person);
        open.count() as u32
    }

    /// Whether there is an agent, or is about to be one.
    pub fn has_agent(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Live)
    }

    /// Whether a turn runs, or is about to.
    pub fn has_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// What the CLI last said of itself.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// When the agent last said anything.
    pub fn last_sign(&self) -> u64 {
        self.last_sign
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::Core;

    /// Every field as it is stored, none as it is in the beginning.
    const STORED: &str = include_str!("../../../../fixtures/stored/session-state.json");

    #[test]
    fn what_is_stored_of_a_session_keeps_its_names() {
        let stored: Map<String, Value> = serde_json::from_str(STORED).unwrap();
        let core: Core = serde_json::from_str(STORED).unwrap();
        let again = serde_json::to_value(&core).unwrap();
        assert_eq!(again.as_object().unwrap(), &stored);
        let fresh = serde_json::to_value(Core::default()).unwrap();
        for (name, value) in fresh.as_object().unwrap() {
            assert_ne!(
                stored.get(name),
                Some(value),
                "`{name}` is as it is in the beginning"
            );
        }
    }
}
