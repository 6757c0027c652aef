//! The scenario as a value: a header and blocks of steps.
//!
//! Owns the shapes only; `parse` writes them, the engine plays them. Invariant: a parsed scenario names no variable
//! that cannot have a value, and every block holds at least one step unless an empty one has a meaning.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::engine::Signal;
use super::expect::Pattern;
use super::version::Version;
pub(super) use crate::model::Usage as Counts;

/// A parsed scenario, ready to be played.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    pub(super) name: String,
    pub(super) header: Header,
    pub(super) blocks: Vec<Block>,
}

impl Scenario {
    /// The version that is played.
    pub fn version(&self) -> Version {
        self.header.version
    }

    /// Whether it handles or ignores a signal anywhere, instead of ending by it.
    pub(super) fn reacts_to(&self, signal: Signal) -> bool {
        let handled = self
            .blocks
            .iter()
            .any(|block| block.when == When::Signal(signal));
        let mut all = self.blocks.iter().map(|block| &block.steps);
        handled || ignores(&self.header.settings, signal) || all.any(|steps| ignores(steps, signal))
    }

    /// A scenario that only does what the CLI does by itself.
    pub fn empty(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

fn ignores(steps: &[Step], signal: Signal) -> bool {
    steps.iter().any(|step| match step {
        Step::Ignore(Ignored::Signal(ignored)) => *ignored == signal,
        Step::Repeat { steps, .. } => ignores(steps, signal),
        _ => false,
    })
}

/// What holds from the start.
#[derive(Debug, Clone, Default)]
pub(super) struct Header {
    pub(super) version: Version,
    pub(super) session: Option<String>,
    pub(super) flags: Vec<String>,
    /// Played before any input: `default … off`, `reply …` and `ignore …` above the first block.
    pub(super) settings: Steps,
}

pub(super) type Steps = Arc<[Step]>;

#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) when: When,
    pub(super) steps: Steps,
}

/// What sets a block off.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum When {
    /// The start of the process.
    Start,
    /// A user message.
    Turn {
        /// How often; None for always.
        uses: Option<u32>,
        contains: Option<String>,
    },
    /// Nothing: a turn the CLI starts by itself, after the block above it.
    Unsolicited { after: Duration },
    /// A control request of the host, in place of the usual reply.
    Request(String),
    /// A signal, in place of the usual end.
    Signal(Signal),
}

/// What is changed on a line before it is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Amend {
    pub(super) with: Option<Value>,
    pub(super) without: Vec<String>,
}

impl Amend {
    pub(super) fn with(fields: Value) -> Self {
        Self {
            with: Some(fields),
            without: Vec::new(),
        }
    }
}

/// How a question is put to the host.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Asking {
    pub(super) label: Option<String>,
    pub(super) id: Option<String>,
    pub(super) nowait: bool,
    pub(super) amend: Amend,
}

/// What the CLI does by itself unless it is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    Initialize,
    Control,
    Interrupt,
    Ack,
    Init,
    Result,
    Mcp,
    Eof,
    Strict,
    /// What is said costs something.
    Cost,
    /// A conversation that is resumed begins with the first turn again.
    Restart,
}

impl Habit {
    pub(super) const ALL: [(&'static str, Habit); 11] = [
        ("initialize", Habit::Initialize),
        ("control", Habit::Control),
        ("interrupt", Habit::Interrupt),
        ("ack", Habit::Ack),
        ("init", Habit::Init),
        ("result", Habit::Result),
        ("mcp", Habit::Mcp),
        ("eof", Habit::Eof),
        ("strict", Habit::Strict),
        ("cost", Habit::Cost),
        ("restart", Habit::Restart),
    ];
}

/// How control requests are answered from now on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReplyRule {
    /// None for all of them.
    pub(super) subtype: Option<String>,
    pub(super) how: How,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum How {
    Normal,
    Never,
    Late(Duration),
    Twice,
    Misaddressed,
    Error(String),
    With(Value),
}

/// What one question asks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) topic: Topic,
    /// The tool, the event, the server, the subtype.
    pub(super) name: String,
    /// The input, the fields, the message.
    pub(super) body: Value,
    /// What a tool says when it is allowed.
    pub(super) gives: Option<String>,
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Tool,
    Hook,
    Mcp,
    /// Any other request.
    Request,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ignored {
    Eof,
    Signal(Signal),
}

/// A tool call that goes the whole way: hooks, rules, approval, deed, result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calling {
    pub(super) name: String,
    pub(super) input: Value,
    /// What it reports instead of acting.
    pub(super) gives: Option<Gives>,
    /// The next step does not wait for it.
    pub(super) nowait: bool,
}

/// A report that is made up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gives {
    Text(String),
    Error(String),
}

/// A sub-agent: what it is, what it is told, and what it does.
#[derive(Debug, Clone)]
pub(super) struct Delegation {
    /// `subagent_type`.
    pub(super) kind: String,
    pub(super) prompt: String,
    /// Laid over the input of the call.
    pub(super) more: Value,
    pub(super) background: bool,
    /// None: it follows its prompt as the main conversation would.
    pub(super) steps: Option<Steps>,
}

/// What a branch depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    /// The last call was refused, or failed.
    Refused,
    /// The report of the last call contains this.
    Result(String),
    /// The prompt of the turn contains this.
    Prompt(String),
    /// The permission mode is this.
    Mode(String),
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Think(String, Amend),
    Say(String, Amend),
    /// Time between the deltas of what is said from here on.
    Pace(Duration),
    /// What the next message counts.
    Usage(Counts),
    /// The first plain turns of the file count as played.
    Skip(u32),
    Tool(Calling),
    /// Calls of one message: `Tool` and `Agent` steps only.
    Together(Steps),
    Agent(Delegation),
    /// The model cannot be reached: an API error ends the turn.
    Fail {
        status: u16,
        text: String,
    },
    If {
        condition: Condition,
        then: Steps,
        otherwise: Steps,
    },
    /// Does what a plain request says, by rules; None for the prompt of the turn.
    Follow(Option<String>),
    /// The model script goes on.
    Consult,
    /// A sub-agent is told its errand, where the host sees it.
    TellErrand,
    Block(Value, Amend),
    Emit(Value),
    Ask(Question, Asking),
    Cancel(String),
    Result(Option<String>, Amend),
    LoseResult,
    Answer(Option<How>),
    Flood {
        count: u64,
        bytes: usize,
    },
    Big(u64),
    Raw(String),
    Bytes(Vec<u8>),
    Partial(String),
    Stderr(String),
    StderrFlood(u64),
    Pause(Duration),
    WaitUser,
    WaitRequest(String),
    WaitAnswers(Option<u64>),
    WaitForever,
    Fold,
    Expect {
        pattern: Pattern,
        within: Option<Duration>,
    },
    Spawn {
        command: String,
        detached: bool,
    },
    Ignore(Ignored),
    StopReading,
    /// Takes at most so many bytes a second from stdin.
    ReadSlowly(u64),
    CloseStdout,
    Exit(u8),
    Crash {
        mid_line: bool,
    },
    Reply(ReplyRule),
    Habit(Habit, bool),
    Repeat {
        times: Option<u64>,
        steps: Steps,
    },
}
