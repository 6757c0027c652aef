//! What a line says, as far as the state of a session depends on it.
//!
//! Owns [`Fact`]. Invariant: what a fact holds is bounded, whatever the line held: names are short, texts are cut.

use countersign_journal::Exit;
use serde::{Deserialize, Serialize};

use crate::control::MessageId;

/// What a record says. How it is read is in [`facts`](super::facts).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fact {
    /// The agent said something: it lives.
    Sign,
    /// A turn begins, or goes on: `system/init`.
    Init(Seen),
    /// A turn has ended: `result`.
    Ended(TurnEnd),
    /// The agent asks what only a decision answers.
    Asked {
        /// Its name on the wire.
        request_id: String,
        /// What kind it is (`can_use_tool`, …).
        subtype: String,
        /// The tool, or the server.
        tool: Option<String>,
    },
    /// The agent takes a question back.
    Withdrawn {
        /// Which.
        request_id: String,
    },
    /// An answer was written.
    Answered {
        /// To which question.
        request_id: String,
        /// It ends the turn: a refusal with `interrupt`.
        ends_turn: bool,
    },
    /// The model calls a tool.
    ToolBegan {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// The call whose sub-agent makes it.
        parent: Option<String>,
    },
    /// A call has its result.
    ToolEnded {
        /// The call.
        id: String,
        /// It goes on in the background.
        goes_on: bool,
    },
    /// A task has begun.
    TaskBegan {
        /// The task.
        id: String,
        /// The call that began it.
        tool_use_id: Option<String>,
        /// It runs in the background, where that was said.
        background: Option<bool>,
    },
    /// A task that ran in front goes on in the background.
    TaskBackgrounded {
        /// The task.
        id: String,
    },
    /// A task has ended.
    TaskEnded {
        /// The task.
        id: String,
    },
    /// All tasks in the background.
    Tasks(Vec<String>),
    /// A call to the API failed and is made again later.
    Retry {
        /// In so many microseconds.
        delay: u64,
    },
    /// Where the account stands with its limits.
    Limit {
        /// Nothing gets through.
        reached: bool,
        /// When it starts over: microseconds of Unix time.
        until: Option<u64>,
    },
    /// An answer of the model failed.
    AnswerFailed(Trouble),
    /// The mode of the CLI changed.
    Mode(String),
    /// What the CLI says of itself (only where it is asked to).
    Reported(Report),
    /// The CLI was told to change its mode.
    ModeAsked(String),
    /// The CLI was told to change its model; the empty name is its own choice.
    ModelAsked(String),
    /// A message was written to the agent.
    Written {
        /// Which; none if it has no id of ours.
        message: Option<MessageId>,
    },
    /// The CLI has taken a message: it is part of a turn, or was known before.
    Taken {
        /// Which.
        message: MessageId,
    },
    /// The CLI began with a message.
    Started {
        /// Which.
        message: MessageId,
    },
    /// The CLI is through with a message.
    Completed {
        /// Which.
        message: MessageId,
    },
    /// The CLI dropped a message unread.
    Cancelled {
        /// Which.
        message: MessageId,
    },
    /// An interrupt was written.
    Interrupted,
    /// The conversation begins anew in the same agent.
    Reset {
        /// The id of the new one.
        conversation: Option<String>,
    },
    /// A line of stderr, its end.
    Stderr(String),
    /// A generation begins: what follows is of it.
    Opened {
        /// Which.
        generation: u32,
    },
    /// The keeper carries out an end plan.
    Ending {
        /// Why.
        why: String,
    },
    /// The keeper cannot write.
    Paused,
    /// It can again.
    Resumed,
    /// The agent has ended.
    Exited(Exit),
    /// The keeper ended without a word.
    Lost,
}

/// What the CLI says of itself at the start of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// The id of the conversation.
    pub conversation: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The mode of the CLI.
    pub mode: Option<String>,
    /// The version of the CLI.
    pub version: Option<String>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnEnd {
    /// `success` without `is_error`.
    pub ok: bool,
    /// The CLI says that it was broken off.
    pub aborted: bool,
    /// What it says of its failure.
    pub why: String,
    /// The status of the API.
    pub status: Option<u16>,
    /// The CLI's own limit of dollars ended it.
    pub is_capped: bool,
}

/// What kind of failure an answer of the model reports, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// Nobody is signed in.
    SignIn,
    /// Too much was used.
    Limit,
    /// Anything else.
    Other,
}

/// `session_state_changed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// It works.
    Running,
    /// It waits for an answer.
    RequiresAction,
    /// It does nothing.
    Idle,
}
