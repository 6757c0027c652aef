//! Random inputs against a simple model of the states.
//!
//! The model knows only what the world outside would know: which agent runs, who has room, which questions are open,
//! whether a turn must be running. It holds every effect against that, and from wherever it has come it looks for a way
//! out.

mod moves;

use std::collections::BTreeSet;

use countersign_host::control::State;
use countersign_host::control::session::Pause;
use countersign_host::session::{Effect, Fact, Input, Report, Seen, TurnEnd};
use countersign_keeper::protocol::EndPlan;
use proptest::prelude::*;

use crate::lines::message;
use crate::stage::{SECOND, Stage, exit};
use moves::{Move, a_move};

/// Whether a turn runs, as far as one can tell from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    No,
    /// A message is on its way, and nothing was heard of it.
    Awaited,
    Yes,
    /// One may follow, or not.
    Perhaps,
}

/// The world outside.
struct World {
    stage: Stage,
    /// The agent that runs.
    agent: Option<u32>,
    is_attached: bool,
    /// It was ordered by an earlier host: whether it came about is what the folder says.
    is_in_doubt: bool,
    spawned: BTreeSet<u32>,
    has_asked: bool,
    has_room: bool,
    is_told_to_end: bool,
    is_disk_full: bool,
    is_behind: bool,
    turn: Turn,
    questions: BTreeSet<String>,
    queue: Vec<u64>,
    wanted_now: BTreeSet<u64>,
    next_message: u64,
    way: Vec<String>,
}

impl World {
    fn new() -> Self {
        Self {
            stage: Stage::new(),
            agent: None,
            is_attached: false,
            is_in_doubt: false,
            spawned: BTreeSet::new(),
            has_asked: false,
            has_room: false,
            is_told_to_end: false,
            is_disk_full: false,
            is_behind: false,
            turn: Turn::No,
            questions: BTreeSet::new(),
            queue: Vec::new(),
            wanted_now: BTreeSet::new(),
            next_message: 1,
            way: Vec::new(),
        }
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n{}\n{:#?}", self.way.join("\n"), self.stage.core);
    }

    /// Gives an input, and does to the world what it and its effects do.
    fn give(&mut self, input: Input) {
        let mut moved = matches!(input, Input::Fact(Fact::Written { message: Some(_) }));
        let was_held = self.stage.core.queue_held();
        let releases = matches!(
            input,
            Input::ReleaseQueue | Input::Resume | Input::TryAgain | Input::Queue(_)
        );
        self.way.push(format!("{} {input:?}", self.stage.now));
        self.happens(&input);
        let effects = self.stage.give(input);
        for effect in effects {
            self.way.push(format!("    → {effect:?}"));
            if let Effect::Send { message: id } = &effect {
                let number = self.number(*id);
                if was_held && !releases && !self.wanted_now.contains(&number) {
                    self.fail("a queue moved while it was held");
                }
            }
            moved |= matches!(effect, Effect::Send { .. } | Effect::PutBack { .. });
            self.done(effect);
        }
        let state = self.stage.core.state();
        self.way
            .push(format!("    = {state:?}: {}", self.stage.core.reason()));
        if self.agent.is_some() != self.stage.core.has_agent() {
            self.fail("the core is wrong about its agent");
        }
        if moved {
            self.tell_queue();
        }
    }

    fn number(&self, id: countersign_host::control::MessageId) -> u64 {
        (1..self.next_message)
            .find(|n| message(*n) == id)
            .unwrap_or_else(|| self.fail("a message that nobody wrote"))
    }

    fn tell_queue(&mut self) {
        let queue = self.queue.iter().map(|n| message(*n)).collect();
        self.give(Input::Queue(queue));
    }

    /// What an input says about the world.
    fn happens(&mut self, input: &Input) {
        match input {
            Input::Attached { generation, .. } if self.agent == Some(*generation) => {
                self.is_attached = true;
                self.is_in_doubt = false;
                self.is_disk_full = false;
            }
            Input::NeverBegan { generation }
                if self.agent == Some(*generation) && self.is_in_doubt =>
            {
                self.agent_ends();
            }
            Input::Gone { generation, .. }
            | Input::Lost { generation }
            | Input::SpawnFailed { generation, .. }
                if self.agent == Some(*generation) =>
            {
                self.agent_ends();
            }
            Input::Fact(Fact::Exited(_) | Fact::Lost) if self.is_heard() => self.agent_ends(),
            Input::Fact(Fact::Init(_) | Fact::Reported(Report::Running)) if self.is_heard() => {
                self.turn = Turn::Yes;
            }
            Input::Fact(Fact::Written { message }) => {
                // A message that stands in the journal is not in the queue.
                (self.queue)
                    .retain(|one| message.is_none_or(|id| crate::lines::message(*one) != id));
                if self.is_heard() && self.turn != Turn::Yes {
                    self.turn = Turn::Awaited;
                }
            }
            Input::Fact(Fact::Ended(_) | Fact::Reported(Report::Idle)) if self.is_heard() => {
                self.turn = Turn::Perhaps;
            }
            Input::Fact(Fact::Taken { .. } | Fact::Completed { .. } | Fact::Cancelled { .. })
                if self.turn == Turn::Awaited =>
            {
                self.turn = Turn::Perhaps
            }
            Input::Fact(Fact::Asked { request_id, .. }) if self.is_heard() => {
                self.questions.insert(request_id.clone());
            }
            Input::Fact(Fact::Answered { request_id, .. } | Fact::Withdrawn { request_id }) => {
                self.questions.remove(request_id);
            }
            Input::DiskPaused => self.is_disk_full = self.agent.is_some(),
            Input::DiskResumed => self.is_disk_full = false,
            Input::HostBegan => {
                self.is_behind = true;
                self.is_in_doubt = self.agent.is_some();
                self.has_asked = false;
                self.has_room = self.agent.is_some();
            }
            Input::CaughtUp => self.is_behind = false,
            Input::Admitted => self.has_room = true,
            Input::SendNow(id) => {
                let number = self.number(*id);
                self.wanted_now.insert(number);
            }
            _ => {}
        }
    }

    fn is_heard(&self) -> bool {
        // The records of a generation are read from its first one on.
        self.agent.is_some()
    }

    fn agent_ends(&mut self) {
        self.agent = None;
        self.is_attached = false;
        self.is_told_to_end = false;
        self.is_disk_full = false;
        self.turn = Turn::No;
        self.questions.clear();
    }

    /// What an effect does to the world, and whether it may be.
    fn done(&mut self, effect: Effect) {
        match effect {
            Effect::AskForRoom { .. } => {
                if self.has_asked || self.has_room || self.agent.is_some() || self.is_behind {
                    self.fail("asked for room that it has or has asked for");
                }
                self.has_asked = true;
            }
            Effect::GiveUpRoom => {
                self.has_asked = false;
                self.has_room = false;
                if self.agent.is_some() {
                    self.fail("gave up the room of an agent that runs");
                }
            }
            Effect::Spawn { generation, .. } => {
                if self.agent.is_some() {
                    self.fail("two agents");
                }
                if !self.has_room {
                    self.fail("an agent without room");
                }
                if !self.spawned.insert(generation) {
                    self.fail("the same generation twice");
                }
                self.has_asked = false;
                self.is_in_doubt = false;
                self.agent = Some(generation);
            }
            Effect::Send { message: id } => self.sent(id),
            Effect::PutBack { message: id, .. } => {
                let number = self.number(id);
                if !self.queue.contains(&number) {
                    self.queue.insert(0, number);
                }
            }
            Effect::Interrupt { .. } => self.needs_agent("interrupted"),
            Effect::End { .. } => {
                if self.agent.is_none() {
                    self.fail("ended an agent that is not there");
                }
                self.is_told_to_end = true;
            }
            Effect::LookAtChildren => {
                self.needs_agent("looked at");
                let over_budget = matches!(
                    self.stage.core.state(),
                    State::Paused {
                        why: Pause::Budget { .. }
                    }
                );
                let waits = !self.queue.is_empty() && !self.stage.core.queue_held() && !over_budget;
                if !self.questions.is_empty() || waits || self.turn == Turn::Yes {
                    self.fail("wants to sleep while something goes on");
                }
            }
            _ => {}
        }
    }

    fn needs_agent(&self, what: &str) {
        if self.agent.is_none() {
            self.fail(&format!("{what} without an agent"));
        }
    }

    fn sent(&mut self, id: countersign_host::control::MessageId) {
        let number = self.number(id);
        let is_wanted_now = self.wanted_now.remove(&number);
        if self.agent.is_none() || !self.is_attached {
            self.fail("sent without an agent");
        }
        if self.is_told_to_end || self.is_disk_full || self.is_behind {
            self.fail("sent to an agent that cannot take it");
        }
        let goes_on = matches!(self.turn, Turn::Yes | Turn::Awaited);
        if !is_wanted_now && (goes_on || !self.questions.is_empty()) {
            self.fail("sent while something goes on");
        }
        if !self.queue.contains(&number) {
            self.fail("sent a message that is not in the queue");
        }
        self.queue.retain(|one| *one != number);
        if self.turn != Turn::Yes {
            self.turn = Turn::Awaited;
        }
    }

    /// Whether there is a way out from here: in the end an agent could run again, and a turn that ends leaves it idle.
    fn look_for_a_way_out(&mut self) {
        if self.is_behind {
            self.give(Input::CaughtUp);
        }
        self.settle();
        self.force_end();
        self.resume();
    }

    /// Answered questions and ended turns lead to rest, or to the next message.
    fn settle(&mut self) {
        if !self.is_attached || self.is_told_to_end {
            return;
        }
        for request_id in self.questions.clone() {
            self.give(Input::Fact(Fact::Answered {
                request_id,
                ends_turn: false,
            }));
        }
        for _ in 0..3 {
            let begun = Fact::Init(Seen::default());
            self.give(Input::Fact(begun));
            let end = TurnEnd {
                ok: true,
                ..TurnEnd::default()
            };
            self.give(Input::Fact(Fact::Ended(end)));
            if self.is_told_to_end {
                return;
            }
            self.wait(6);
        }
        let state = self.stage.core.state().name();
        let is_at_rest = ["idle", "paused", "unreachable", "ending", "running"].contains(&state);
        let is_next_sent = state != "running" || self.stage.core.has_turn();
        if !is_at_rest || !is_next_sent {
            self.fail("answered and ended, and not at rest");
        }
    }

    /// Whatever it is at, *force end* has it killed within twenty seconds, and then it can be resumed.
    fn force_end(&mut self) {
        let generation = self.stage.core.generation();
        if self.agent.is_some() {
            let begin = self.way.len();
            self.give(Input::ForceEnd);
            self.wait(20);
            let kill = format!("{:?}", EndPlan::Kill);
            let is_killed = self.way[begin..].iter().any(|line| line.contains(&kill));
            if !is_killed {
                self.fail("force end did not come to an end");
            }
            self.give(Input::Gone {
                generation,
                exit: exit(137),
                stderr: String::new(),
            });
        } else {
            self.give(Input::ForceEnd);
        }
        let state = self.stage.core.state().name();
        if !["stopped", "failed", "not_signed_in"].contains(&state) {
            self.fail("not resumable after force end");
        }
    }

    fn resume(&mut self) {
        self.give(Input::Resume);
        if self.stage.core.state().name() != "queued" {
            self.fail("resume does not ask for room");
        }
        self.give(Input::Admitted);
        if self.stage.core.state().name() != "starting" {
            self.fail("resume does not start");
        }
        let generation = self.stage.core.generation();
        self.give(Input::Fact(Fact::Opened { generation }));
        self.give(Input::Attached {
            generation,
            paused: None,
        });
        let state = self.stage.core.state().name();
        if !["idle", "running", "paused"].contains(&state) {
            self.fail("resumed, and not there");
        }
    }

    fn wait(&mut self, seconds: u64) {
        let until = self.stage.now + seconds * SECOND;
        while let Some(wake) = self.stage.core.wake_at().filter(|wake| *wake <= until) {
            self.stage.now = self.stage.now.max(wake);
            self.give(Input::Tick);
        }
        self.stage.now = until;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_effect_contradicts_the_state_and_there_is_always_a_way_out(
        queued in 0..4, moves in prop::collection::vec(a_move(), 0..80)
    ) {
        let mut world = World::new();
        for _ in 0..queued {
            world.make(&Move::Enqueue);
            world.make(&Move::Agent(0));
            world.make(&Move::Agent(6));
        }
        for it in &moves {
            world.make(it);
        }
        world.look_for_a_way_out();
    }
}
