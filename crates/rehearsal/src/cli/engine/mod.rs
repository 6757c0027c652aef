//! The step machine that plays a scenario.
//!
//! [`Engine::step`] takes what happened and the time, and gives back what the shell must do; it does nothing itself and
//! has no clock and no randomness of its own. `fiber` runs blocks, `host` reads what the host wrote, `control` answers
//! its requests, `turn` begins and ends turns, `ask` keeps the open questions, `speak` builds lines. Invariant: lines
//! are written whole, except where a step asks for something else.

mod ask;
mod control;
mod fiber;
mod host;
mod run;
mod speak;
mod turn;

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::cast::Cast;
use super::flags::Flags;
use super::ids::Ids;
use super::scenario::{Habit, ReplyRule, Scenario, Uses, When};
use super::version::Version;
use ask::Open;
use fiber::{Fiber, Role};
use turn::{Turn, UserMessage};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input<'a> {
    /// The process begins. The first input, and only once.
    Start,
    /// The host wrote a line; without its newline.
    Line(&'a [u8]),
    /// The host closed stdin.
    Eof,
    /// The time of the last [`Output::WakeAt`] has come, or an earlier one.
    Timer,
    /// A signal arrived.
    Signal(Signal),
}

/// A signal that ends a CLI in an orderly way, or should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM
    Terminate,
    /// SIGINT
    Interrupt,
    /// SIGHUP
    HangUp,
}

impl Signal {
    /// The signal that is written `sigterm`, `sigint` or `sighup`.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "sigterm" => Some(Self::Terminate),
            "sigint" => Some(Self::Interrupt),
            "sighup" => Some(Self::HangUp),
            _ => None,
        }
    }
}

/// What the shell must do, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Write to stdout.
    Write(Vec<u8>),
    /// Write one byte many times to stdout, in blocks.
    Fill {
        /// The byte.
        byte: u8,
        /// How often.
        count: u64,
    },
    /// Write to stderr.
    Stderr(Vec<u8>),
    /// Come back with [`Input::Timer`] at this time after the start. Always last, and replaces the one before.
    WakeAt(Duration),
    /// Start a shell command that inherits stdout and stderr.
    Spawn {
        /// For `sh -c`.
        command: String,
        /// In a session of its own.
        detached: bool,
    },
    /// Read nothing more from stdin.
    StopReading,
    /// Close stdout and go on.
    CloseStdout,
    /// End with this code. Nothing follows.
    Exit(u8),
    /// Die by SIGKILL. Nothing follows.
    Crash,
}

/// What the process is started with.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The arguments after the name of the program.
    pub arguments: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// The process id, as the CLI tells it.
    pub pid: u32,
    /// What ids are made from; the same seed gives the same ids.
    pub seed: u64,
}

/// A scenario that is being played.
#[derive(Debug)]
pub struct Engine {
    scenario: Scenario,
    version: Version,
    cast: Cast,
    flags: Flags,
    cwd: String,
    pid: u32,
    ids: Ids,
    now: Duration,
    out: Vec<Output>,

    session: String,
    mode: String,
    model: String,
    initialized: bool,
    hooks: Value,
    habits_off: Vec<Habit>,
    rules: Vec<ReplyRule>,
    ignored_signals: Vec<Signal>,
    ignores_eof: bool,
    eof: bool,
    over: bool,

    /// How often each block was used.
    used: Vec<u32>,
    fibers: Vec<Fiber>,
    next_fiber: u64,
    turn: Option<Turn>,
    queue: VecDeque<UserMessage>,
    seen_uuids: Vec<String>,
    open: Vec<Open>,
    /// Calls whose questions were taken back.
    withdrawn: Vec<ask::Call>,
    /// In-process MCP servers of the host.
    servers: Vec<String>,
    next_question: u64,
    answered: u64,
    labels: Vec<(String, String)>,
    /// What the host wrote, for `expect`: number and line.
    inbox: VecDeque<(u64, Value)>,
    next_line: u64,
    /// Replies that come late.
    delayed: Vec<(Duration, Vec<u8>)>,
    /// Turns that start by themselves: when, and which block.
    self_started: Vec<(Duration, usize)>,
    results: u64,
    cost: f64,
    last_was_error: bool,
}

/// The exit code of a scenario that was not followed.
pub(super) const UNEXPECTED: u8 = 97;
/// Host lines that are kept for `expect`; older ones are let go.
const INBOX: usize = 4096;

impl Engine {
    /// An engine at the beginning of a scenario.
    pub fn new(scenario: Scenario, launch: Launch) -> Self {
        let version = scenario.header.version;
        let cast = Cast::of(version);
        let arguments = scenario.header.flags.iter().chain(&launch.arguments);
        let flags = Flags::read(arguments.map(String::as_str));
        let mut ids = Ids::new(launch.seed);
        let session = (scenario.header.session.clone())
            .or_else(|| flags.session.clone())
            .unwrap_or_else(|| ids.uuid());
        let init = cast.line("init");
        let model = flags.model.clone();
        Self {
            version,
            session,
            mode: flags.mode.clone().unwrap_or_else(|| "default".to_owned()),
            model: model.unwrap_or_else(|| init["model"].as_str().unwrap_or_default().to_owned()),
            used: vec![0; scenario.blocks.len()],
            scenario,
            cast,
            flags,
            cwd: launch.cwd,
            pid: launch.pid,
            ids,
            now: Duration::ZERO,
            out: Vec::new(),
            initialized: false,
            hooks: Value::Null,
            habits_off: Vec::new(),
            rules: Vec::new(),
            ignored_signals: Vec::new(),
            ignores_eof: false,
            eof: false,
            over: false,
            fibers: Vec::new(),
            next_fiber: 0,
            turn: None,
            queue: VecDeque::new(),
            seen_uuids: Vec::new(),
            open: Vec::new(),
            withdrawn: Vec::new(),
            servers: Vec::new(),
            next_question: 0,
            answered: 0,
            labels: Vec::new(),
            inbox: VecDeque::new(),
            next_line: 0,
            delayed: Vec::new(),
            self_started: Vec::new(),
            results: 0,
            cost: 0.0,
            last_was_error: false,
        }
    }

    /// Goes on from what happened at `now`, which is counted from the start.
    pub fn step(&mut self, now: Duration, input: Input<'_>) -> Vec<Output> {
        if self.over {
            return Vec::new();
        }
        self.now = self.now.max(now);
        match input {
            Input::Start => self.start(),
            Input::Line(line) => self.host_line(line),
            Input::Eof => self.end_of_input(),
            Input::Timer => {}
            Input::Signal(signal) => self.signal(signal),
        }
        self.run();
        std::mem::take(&mut self.out)
    }

    /// Whether the scenario has ended the process.
    pub fn is_over(&self) -> bool {
        self.over
    }

    fn start(&mut self) {
        let settings = self.scenario.header.settings.clone();
        self.spawn_fiber(settings, Role::Aside);
        for index in 0..self.scenario.blocks.len() {
            if self.scenario.blocks[index].when == When::Start {
                let steps = self.scenario.blocks[index].steps.clone();
                self.spawn_fiber(steps, Role::Aside);
            }
        }
        self.schedule_self_started(0);
    }

    fn end_of_input(&mut self) {
        self.eof = true;
        if self.ignores_eof || !self.does(Habit::Eof) {
            return;
        }
        self.close_questions();
    }

    fn signal(&mut self, signal: Signal) {
        let block = (self.scenario.blocks.iter()).find(|block| block.when == When::Signal(signal));
        if let Some(block) = block {
            let steps = block.steps.clone();
            self.spawn_fiber(steps, Role::Aside);
            return;
        }
        if self.ignored_signals.contains(&signal) {
            return;
        }
        match signal {
            Signal::Terminate => self.exit(143),
            Signal::HangUp => self.exit(129),
            Signal::Interrupt => {
                if self.version.sigint_reports() {
                    self.withdraw_questions();
                    self.tell_withdrawn();
                    self.end_interrupted();
                }
                self.exit(0);
            }
        }
    }

    fn does(&self, habit: Habit) -> bool {
        !self.habits_off.contains(&habit)
    }

    fn write(&mut self, bytes: Vec<u8>) {
        if self.over {
            return;
        }
        match self.out.last_mut() {
            Some(Output::Write(last)) => last.extend_from_slice(&bytes),
            _ => self.out.push(Output::Write(bytes)),
        }
    }

    fn exit(&mut self, code: u8) {
        if !self.over {
            self.over = true;
            self.out.push(Output::Exit(code));
        }
    }

    /// Ends the process because the host, or the scenario, did something else than the scenario says.
    fn fail(&mut self, reason: &str) {
        if !self.over {
            let name = &self.scenario.name;
            let text = format!("scenario {name}: {reason}\n");
            self.out.push(Output::Stderr(text.into_bytes()));
            self.exit(UNEXPECTED);
        }
    }

    /// The turns that start by themselves and stand right after the blocks before `from`.
    fn schedule_self_started(&mut self, from: usize) {
        for index in from..self.scenario.blocks.len() {
            let When::Unsolicited { after } = self.scenario.blocks[index].when else {
                break;
            };
            if self.used[index] == 0 {
                self.used[index] = 1;
                self.self_started.push((self.now + after, index));
            }
        }
    }

    /// The block for a user message: the next one in the file that wants it.
    fn choose_block(&mut self, prompt: &str) -> Option<usize> {
        let wanted = |index: &usize| match &self.scenario.blocks[*index].when {
            When::Turn { uses, contains } => {
                let left = match uses {
                    Uses::Always => true,
                    Uses::Times(times) => self.used[*index] < *times,
                };
                left && contains.as_ref().is_none_or(|text| prompt.contains(text))
            }
            _ => false,
        };
        let conditional = |index: &usize| {
            matches!(
                &self.scenario.blocks[*index].when,
                When::Turn {
                    contains: Some(_),
                    ..
                }
            )
        };
        let mut candidates = (0..self.scenario.blocks.len()).filter(wanted);
        let chosen = candidates
            .clone()
            .find(conditional)
            .or_else(|| candidates.next())?;
        self.used[chosen] += 1;
        Some(chosen)
    }

    fn has_turns(&self) -> bool {
        let is_turn = |when: &When| matches!(when, When::Turn { .. });
        self.scenario
            .blocks
            .iter()
            .any(|block| is_turn(&block.when))
    }

    fn lookup(&mut self, fiber_count: u64, name: &str) -> Option<String> {
        let (prompt, uuid) = match &self.turn {
            Some(turn) => (turn.prompt.clone(), turn.uuid.clone()),
            None => Default::default(),
        };
        Some(match name {
            "cwd" => self.cwd.clone(),
            "mode" => self.mode.clone(),
            "model" => self.model.clone(),
            "n" => fiber_count.to_string(),
            "prompt" => prompt,
            "session" => self.session.clone(),
            "user_uuid" => uuid.unwrap_or_default(),
            "uuid" => self.ids.uuid(),
            "version" => self.version.to_string(),
            label => {
                let found = self.labels.iter().rev().find(|(known, _)| known == label);
                return found.map(|(_, id)| id.clone());
            }
        })
    }
}
