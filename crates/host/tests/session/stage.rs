//! A core with a clock, played by tables.
//!
//! Owns the form of a table: what happens, the state after it, the effects of it. Invariant: every step is made twice, by
//! the core and by one that was stored and restored in between, and both do the same.

use countersign_host::control::MessageId;
use countersign_host::session::{Begin, Core, Effect, Input, Timing, facts};
use countersign_journal::{Exit, KeeperEvent, Kind, Record};
use countersign_keeper::protocol::EndPlan;
use serde_json::Value;

use crate::lines::message;

pub(crate) const SECOND: u64 = 1_000_000;

/// Something that happens.
#[derive(Debug, Clone)]
pub(crate) enum Do {
    /// The agent writes a line.
    A(Value),
    /// The host has written a line.
    H(Value),
    /// The keeper notes something.
    K(KeeperEvent),
    /// The core is told something else.
    I(Input),
    /// So many seconds pass, and the core is woken when it wants to be.
    Wait(u64),
}

/// What happens, the name of the state after it, the effects of it but for `Changed`.
pub(crate) type Row = (Do, &'static str, &'static [&'static str]);

pub(crate) struct Stage {
    pub(crate) core: Core,
    pub(crate) now: u64,
    seq: u64,
}

impl Stage {
    /// A new session.
    pub(crate) fn new() -> Self {
        let now = 1_000_000 * SECOND;
        Self {
            core: Core::new(Begin::New, Timing::default(), now),
            now,
            seq: 0,
        }
    }

    /// A session whose first agent has come up and waits for a message.
    pub(crate) fn idle() -> Self {
        let mut stage = Self::new();
        stage.give(Input::Resume);
        stage.give(Input::Admitted);
        stage.come_up(1);
        assert_eq!(stage.state(), "idle");
        stage
    }

    /// One whose agent works on message 1.
    pub(crate) fn running() -> Self {
        let mut stage = Self::idle();
        stage.queue(&[1]);
        stage.queue(&[]);
        stage.host(crate::lines::user(1));
        stage.agent(crate::lines::init());
        stage.agent(crate::lines::replay(1));
        assert_eq!(stage.state(), "running");
        stage
    }

    /// The agent of that generation is there.
    pub(crate) fn come_up(&mut self, generation: u32) -> Vec<Effect> {
        self.keeper(&opened(generation));
        self.give(Input::Attached {
            generation,
            paused: None,
        })
    }

    pub(crate) fn state(&self) -> &'static str {
        self.core.state().name()
    }

    /// Gives an input to the core and to one from the disk.
    pub(crate) fn give(&mut self, input: Input) -> Vec<Effect> {
        let stored = serde_json::to_string(&self.core).unwrap();
        let mut restored: Core = serde_json::from_str(&stored).unwrap();
        let effects = self.core.step(self.now, input.clone());
        let again = restored.step(self.now, input.clone());
        assert_eq!(effects, again, "after a restart, at {input:?}");
        assert_eq!(self.core, restored, "after a restart, at {input:?}");
        let wake = self.core.wake_at();
        assert!(
            wake.is_none_or(|wake| wake > self.now),
            "{input:?}: it wants to be woken in the past ({wake:?})"
        );
        effects
    }

    fn record(&mut self, kind: Kind, payload: &[u8]) -> Vec<Effect> {
        self.seq += 1;
        let record = Record {
            seq: self.seq,
            at: self.now,
            kind,
            payload,
        };
        let facts = facts(&record);
        let steps = facts.into_iter().map(|fact| self.give(Input::Fact(fact)));
        steps.flatten().collect()
    }

    pub(crate) fn agent(&mut self, line: Value) -> Vec<Effect> {
        self.record(Kind::Agent, line.to_string().as_bytes())
    }

    pub(crate) fn host(&mut self, line: Value) -> Vec<Effect> {
        self.record(Kind::Host, line.to_string().as_bytes())
    }

    pub(crate) fn stderr(&mut self, line: &str) -> Vec<Effect> {
        self.record(Kind::Stderr, line.as_bytes())
    }

    pub(crate) fn keeper(&mut self, event: &KeeperEvent) -> Vec<Effect> {
        self.record(Kind::Keeper, &serde_json::to_vec(event).unwrap())
    }

    pub(crate) fn raw(&mut self, kind: Kind, payload: &[u8]) -> Vec<Effect> {
        self.record(kind, payload)
    }

    /// The queue now holds these.
    pub(crate) fn queue(&mut self, numbers: &[u64]) -> Vec<Effect> {
        self.give(queue(numbers))
    }

    /// Lets time pass, waking the core whenever it wants to be.
    pub(crate) fn wait(&mut self, seconds: u64) -> Vec<Effect> {
        let until = self.now + seconds * SECOND;
        let mut effects = Vec::new();
        while let Some(wake) = self.core.wake_at().filter(|wake| *wake <= until) {
            self.now = self.now.max(wake);
            effects.extend(self.give(Input::Tick));
        }
        self.now = until;
        effects.extend(self.give(Input::Tick));
        effects
    }

    pub(crate) fn perform(&mut self, it: Do) -> Vec<Effect> {
        match it {
            Do::A(line) => self.agent(line),
            Do::H(line) => self.host(line),
            Do::K(event) => self.keeper(&event),
            Do::I(input) => self.give(input),
            Do::Wait(seconds) => self.wait(seconds),
        }
    }

    /// Plays a table.
    pub(crate) fn play<const N: usize>(&mut self, rows: [Row; N]) {
        for (at, (it, state, effects)) in rows.into_iter().enumerate() {
            let done = words(&self.perform(it.clone()));
            let reason = self.core.reason();
            assert_eq!(done, effects, "row {at}: {it:?} ({reason})");
            assert_eq!(self.state(), state, "row {at}: {it:?} ({reason})");
            assert!(!reason.is_empty(), "row {at}: no reason");
        }
    }
}

pub(crate) fn queue(numbers: &[u64]) -> Input {
    Input::Queue(numbers.iter().map(|n| message(*n)).collect())
}

pub(crate) fn opened(generation: u32) -> KeeperEvent {
    KeeperEvent::Open {
        generation,
        boot_id: "b".to_owned(),
        build: "test".to_owned(),
        proto: 1,
        argv: vec!["claude".to_owned()],
        cwd: "/project".to_owned(),
        env: Vec::new(),
        last_n: 0,
        epoch: 0,
    }
}

pub(crate) fn exited(code: i32) -> KeeperEvent {
    KeeperEvent::Exit(exit(code))
}

pub(crate) fn exit(code: i32) -> Exit {
    Exit {
        code: Some(code),
        ..Exit::default()
    }
}

fn number(id: MessageId) -> u64 {
    (id.bits() & 0xffff) as u64
}

/// Effects in a few words each, without `Changed`.
pub(crate) fn words(effects: &[Effect]) -> Vec<String> {
    let all = effects.iter().filter(|effect| **effect != Effect::Changed);
    all.map(word).collect()
}

fn word(effect: &Effect) -> String {
    match effect {
        Effect::AskForRoom { .. } => "ask for room".into(),
        Effect::GiveUpRoom => "give up room".into(),
        Effect::Spawn { generation, begin } => format!("spawn {generation} {begin:?}"),
        Effect::Send { message } => format!("send {}", number(*message)),
        Effect::PutBack {
            message,
            is_given_back,
        } => match is_given_back {
            true => format!("given back {}", number(*message)),
            false => format!("put back {}", number(*message)),
        },
        Effect::Interrupt {
            cancel_queued: true,
        } => "interrupt and cancel".into(),
        Effect::Interrupt { .. } => "interrupt".into(),
        Effect::End { plan, .. } => match plan {
            EndPlan::Gentle => "end".into(),
            EndPlan::Quick => "end quickly".into(),
            EndPlan::Kill => "kill".into(),
        },
        Effect::KillKeeper => "kill the keeper".into(),
        Effect::Tell { mode, model } => match (mode, model) {
            (true, true) => "tell mode and model".into(),
            (true, false) => "tell mode".into(),
            _ => "tell model".into(),
        },
        Effect::LookAtChildren => "look at children".into(),
        Effect::GoOn { .. } => "go on".into(),
        Effect::LetGo { what, .. } => format!("let go {what:?}"),
        Effect::TurnEnded { ok: true, .. } => "turn ended well".into(),
        Effect::TurnEnded {
            interrupted: true, ..
        } => "turn interrupted".into(),
        Effect::TurnEnded { .. } => "turn failed".into(),
        other => format!("{other:?}"),
    }
}
