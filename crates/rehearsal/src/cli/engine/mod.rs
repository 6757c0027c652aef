//! The step machine that plays a scenario.
//!
//! [`Engine::step`] takes what happened and the time, and gives back what the shell must do; it does nothing itself and
//! has no clock and no randomness of its own. From the outside in: `host` reads what the host wrote, `control` answers its
//! requests, `turn` begins turns and `endings` ends them, `run` plays blocks in fibers, `consult` asks the mind where no block says what
//! comes, `talk` and `speech` say it, `call` takes a tool call through hooks, rules and the host's word to its report,
//! `acts` and `tasks` do what calls are about, `ask` keeps the open questions, `lines` builds what is written.
//! Invariant: lines are written whole, except where a step asks for something else.

mod acts;
mod ask;
mod call;
mod commands;
mod consult;
mod control;
pub(in crate::cli) mod deed;
mod endings;
mod fiber;
mod hook_commands;
mod hooks;
mod host;
mod ledger;
mod lines;
mod notes;
mod offer;
mod permission;
mod report;
mod requests;
mod rights;
mod run;
mod servers;
mod speech;
mod steps;
mod talk;
mod tasks;
mod turn;
mod turns;
mod values;

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::args;
use super::args::Flags;
use super::cast::Cast;
use super::disk::{Agents, Commands, Plugin, Scribe, Settings};
use super::ids::Ids;
use super::permissions::Permissions;
use super::scenario::{Habit, ReplyRule, Scenario, When};
use super::version::Version;
use crate::model::inline::Inline;
use ask::{Answer, Open};
use call::Call;
pub use deed::{Deed, Outcome};
use fiber::{Fiber, Role};
use hook_commands::HookRun;
use ledger::{AgentStats, Ledger};
use requests::Pending;
use servers::Servers;
use talk::{MAIN, Talk};
use tasks::Task;
use turn::{Beginning, Turn, UserMessage};
use values::FlagsOfEnv;
pub use values::{Input, Launch, ModelScript, Output, Signal};

/// A scenario that is being played.
#[derive(Debug, Default)]
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

    home: String,
    wall: Duration,
    session: String,
    model: String,
    permissions: Permissions,
    /// Where transcripts of this folder are, and where the output of tasks goes.
    config_dir: String,
    project_dir: String,
    tasks_dir: String,
    mind: Option<Inline>,
    state_file: Option<std::path::PathBuf>,
    scribe: Option<Scribe>,
    settings: Settings,
    agents: Option<Agents>,
    commands: Option<Commands>,
    plugins: Vec<Plugin>,
    flags_of_env: FlagsOfEnv,
    warnings: Vec<String>,
    seed: u64,
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
    /// Prompts of the turns that a resumed conversation has had.
    had: Vec<String>,
    fibers: Vec<Fiber>,
    next_fiber: u64,
    talks: Vec<Talk>,
    turn: Option<Turn>,
    queue: VecDeque<UserMessage>,
    /// Turns that begin by themselves as soon as they can.
    beginnings: VecDeque<Beginning>,
    seen_uuids: Vec<String>,
    calls: Vec<Call>,
    next_call: u64,
    tasks: Vec<Task>,
    /// Reports that `PostToolBatch` tells of.
    reported: Vec<(u64, Value)>,
    hook_runs: Vec<HookRun>,
    /// Callbacks whose failure refuses the call.
    blocking_hooks: Vec<u64>,
    open: Vec<Open>,
    /// Requests of the host that are answered later.
    pending: Vec<Pending>,
    /// Answers that somebody waits for.
    answers: Vec<(u64, Answer)>,
    /// In-process MCP servers of the host, and those of the flags that are not greeted yet.
    servers: Servers,
    configured_servers: Vec<String>,
    configured_processes: Vec<(String, Value)>,
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
    plan_file: Option<String>,
    /// What is in the plan file.
    plan: Option<String>,
    structured: Option<Value>,
    structured_attempts: u32,
    interrupted_in_tool: bool,
    state: &'static str,
    results: u64,
    total: Ledger,
    since_result: Ledger,
    agent_stats: AgentStats,
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
        let arguments: Vec<String> = arguments.cloned().collect();
        // A process was refused what cannot be understood before it came to this.
        let flags = Flags::parse(&arguments, version).unwrap_or_default();
        let mut ids = Ids::new(launch.seed);
        let ground = launch.ground.as_ref();
        let past = ground.and_then(|ground| ground.past.as_ref());
        let resumed = past.map(|past| past.session_id.clone());
        let resumed = resumed.or_else(|| flags.resume.clone());
        let session = (scenario.header.session.clone())
            .or_else(|| flags.session.clone())
            .or_else(|| resumed.filter(|_| !flags.has("--fork-session")))
            .unwrap_or_else(|| ids.uuid());
        let settings = ground.map(|ground| ground.settings.clone());
        let settings = settings.unwrap_or_default();
        let of_settings = settings.effective()["model"].as_str().map(str::to_owned);
        let model = flags.model.clone().or(of_settings);
        let model = model.and_then(|name| args::resolve_model(&name));
        let init = cast.line("init");
        let usual = || init["model"].as_str().unwrap_or_default().to_owned();
        let mind = launch.model.clone().and_then(|model| {
            let mut mind = Inline::new(model.script, model.vars).ok()?;
            mind.restore(&model.state);
            Some(mind)
        });
        let slug: String = (launch.cwd.chars())
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let mut engine = Self {
            version,
            scribe: notes::scribe(&launch, &flags, &session, version),
            flags_of_env: FlagsOfEnv::read(&launch.env),
            agents: ground.map(|ground| ground.agents.clone()),
            commands: ground.map(|ground| ground.commands.clone()),
            plugins: ground.map_or_else(Vec::new, |ground| ground.plugins.clone()),
            settings,
            warnings: ground.map_or_else(Vec::new, |ground| ground.warnings.clone()),
            seed: launch.seed,
            session,
            permissions: rights::permissions(&launch, &flags),
            model: model.unwrap_or_else(usual),
            used: vec![0; scenario.blocks.len()],
            had: past.map(|past| past.prompts()).unwrap_or_default(),
            scenario,
            cast,
            flags,
            config_dir: match ground {
                Some(ground) => ground.places.config_dir.to_string_lossy().into_owned(),
                None => format!("{}/.claude", launch.home),
            },
            project_dir: format!("{}/.claude/projects/{slug}", launch.home),
            tasks_dir: format!("{}/claude-{}/{slug}", launch.tmp(), launch.uid),
            cwd: launch.cwd.clone(),
            home: launch.home.clone(),
            wall: launch.wall,
            mind,
            state_file: launch
                .model
                .as_ref()
                .and_then(|model| model.state_file.clone()),
            pid: launch.pid,
            ids,
            talks: vec![Talk::default()],
            configured_servers: ground.map_or_else(Vec::new, |ground| ground.servers.clone()),
            configured_processes: ground.map_or_else(Vec::new, |ground| ground.processes.clone()),
            state: "idle",
            ..Self::default()
        };
        engine.recall(&launch);
        engine
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
            Input::Done { serial, outcome } => self.done(serial, outcome),
        }
        self.run();
        self.hand_in_notes();
        self.wake_last();
        std::mem::take(&mut self.out)
    }

    fn start(&mut self) {
        for warning in std::mem::take(&mut self.warnings) {
            self.out
                .push(Output::Stderr(format!("{warning}\n").into_bytes()));
        }
        let settings = self.scenario.header.settings.clone();
        self.spawn_fiber(settings, Role::Aside, MAIN);
        for index in 0..self.scenario.blocks.len() {
            if self.scenario.blocks[index].when == When::Start {
                let steps = self.scenario.blocks[index].steps.clone();
                self.spawn_fiber(steps, Role::Aside, MAIN);
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
            self.spawn_fiber(steps, Role::Aside, MAIN);
            return;
        }
        if self.ignored_signals.contains(&signal) {
            return;
        }
        match signal {
            Signal::Terminate => self.exit(143),
            Signal::HangUp => self.exit(129),
            Signal::Interrupt => {
                self.withdraw_questions();
                self.interrupt_calls();
                self.end_interrupted();
                self.exit(0);
            }
        }
    }

    /// Has the shell do something that nobody waits for.
    fn order(&mut self, deed: Deed) {
        let serial = u64::MAX;
        self.out.push(Output::Do { serial, deed });
    }

    /// Milliseconds since 1970.
    fn wall_ms(&self) -> u64 {
        u64::try_from((self.wall + self.now).as_millis()).unwrap_or_default()
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
            self.note_end();
            self.hand_in_notes();
            self.over = true;
            self.out.push(Output::Exit(code));
        }
    }

    /// The time to come back is said after everything else.
    fn wake_last(&mut self) {
        let is_wake = |output: &Output| matches!(output, Output::WakeAt(_));
        if let Some(index) = self.out.iter().rposition(is_wake) {
            let wake = self.out.remove(index);
            self.out.push(wake);
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

    fn has_turns(&self) -> bool {
        let is_turn = |when: &When| matches!(when, When::Turn { .. });
        self.scenario
            .blocks
            .iter()
            .any(|block| is_turn(&block.when))
    }

    fn lookup(&mut self, talk: u64, fiber_count: u64, name: &str) -> Option<String> {
        let (prompt, uuid) = match &self.turn {
            Some(turn) => (turn.prompt.clone(), turn.uuid.clone()),
            None => Default::default(),
        };
        Some(match name {
            "config_dir" => self.config_dir.clone(),
            "cwd" => self.cwd.clone(),
            "first_prompt" => self.talk(MAIN).first_prompt(),
            "home" => self.home.clone(),
            "mode" => self.permissions.mode().to_owned(),
            "model" => self.model.clone(),
            "n" => fiber_count.to_string(),
            "pid" => self.pid.to_string(),
            "project_dir" => self.project_dir.clone(),
            "plan_file" => self.plan_file.clone().unwrap_or_default(),
            "prompt" => prompt,
            "result" => self.talk(talk).report.clone(),
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
