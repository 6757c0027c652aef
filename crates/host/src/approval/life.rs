//! The life of an approval, as a table.
//!
//! Owns [`step`]: from where it stands and what happened to where it stands then. Invariants: only a decision can be
//! refused, since everything else has happened already; what has ended never begins again; the same event twice is the
//! same as once, so that a journal may be folded again.

use serde::{Deserialize, Serialize};

use crate::control::approval::{Effect, Kind, Life, Outcome, Withdrawal};

/// What the table depends on beside the life itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// What kind of question it is.
    pub kind: Kind,
    /// What the answer says on the wire ([`super::Answer::effect`]); what was decided, where an agent that has gone gets
    /// none; nothing before the decision.
    pub answer: Option<Effect>,
}

/// Something that happened to an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Somebody decides.
    Decided,
    /// The answer stands in the journal and went to the agent.
    Written,
    /// A result of the call it is about.
    ToolResult {
        /// Whether the call failed.
        is_error: bool,
    },
    /// The sub-agent that asked has ended, and no line told what came of the call.
    AskerEnded,
    /// The CLI took the question back.
    Cancelled,
    /// The turn was interrupted.
    Interrupted,
    /// The agent ended.
    AgentGone,
    /// Another agent took the conversation up by other means than this decision.
    AgentBack,
    /// The keeper says that the question is not open.
    NotOpen,
    /// What a decision led to without an answer was done: a resume, a fresh conversation.
    CarriedOut,
}

/// Why a decision is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Somebody was first.
    #[error("this was decided already: the first decision holds")]
    DecidedBefore,
    /// The agent no longer wants an answer.
    #[error("{}", words(*.0))]
    Withdrawn(Withdrawal),
}

fn words(why: Withdrawal) -> &'static str {
    match why {
        Withdrawal::Cancelled => "the agent took this question back: there is nothing to decide",
        Withdrawal::Interrupted => {
            "the turn was interrupted, and the question with it: there is nothing to decide"
        }
        Withdrawal::AgentGone => {
            "the agent that asked has ended, and the question with it: resume the session to go on"
        }
    }
}

/// Where an approval stands after something happened.
///
/// # Errors
/// When it is a decision and there is nothing to decide.
pub fn step(stage: Stage, life: &Life, event: Event) -> Result<Life, Refusal> {
    match life {
        Life::Open => Ok(open(stage, event)),
        Life::Decided => decided(stage, event),
        Life::Written => written(stage, event),
        Life::Settled { outcome } => match event {
            Event::Decided => Err(Refusal::DecidedBefore),
            _ => Ok(Life::Settled { outcome: *outcome }),
        },
        Life::Withdrawn { why } => match event {
            Event::Decided => Err(Refusal::Withdrawn(*why)),
            _ => Ok(Life::Withdrawn { why: *why }),
        },
    }
}

fn open(stage: Stage, event: Event) -> Life {
    match event {
        Event::Decided => Life::Decided,
        // A rule's decision is committed by its record.
        Event::Written => sent(stage),
        // A plan stays on the table: it can be carried out by the next agent.
        Event::AgentGone if stage.kind == Kind::Plan => Life::Open,
        event => unanswered(event).unwrap_or(Life::Open),
    }
}

fn decided(stage: Stage, event: Event) -> Result<Life, Refusal> {
    Ok(match event {
        Event::Decided => return Err(Refusal::DecidedBefore),
        Event::Written => sent(stage),
        // A person was promised that it happens: it is carried out without the agent.
        Event::AgentGone | Event::AgentBack if stage.kind == Kind::Plan => Life::Decided,
        Event::CarriedOut => carried_out(stage),
        event => unanswered(event).unwrap_or(Life::Decided),
    })
}

/// What becomes of a question that was not answered. None: nothing.
fn unanswered(event: Event) -> Option<Life> {
    let withdrawn = |why| Some(Life::Withdrawn { why });
    match event {
        // It ran without our answer, and that is said.
        Event::ToolResult { is_error: false } => settled(Outcome::Ran),
        Event::ToolResult { is_error: true }
        | Event::AskerEnded
        | Event::Cancelled
        | Event::NotOpen => withdrawn(Withdrawal::Cancelled),
        Event::Interrupted => withdrawn(Withdrawal::Interrupted),
        Event::AgentGone | Event::AgentBack => withdrawn(Withdrawal::AgentGone),
        Event::Decided | Event::Written | Event::CarriedOut => None,
    }
}

fn written(stage: Stage, event: Event) -> Result<Life, Refusal> {
    let life = match (event, stage.answer) {
        (Event::Decided, _) => return Err(Refusal::DecidedBefore),
        // What the wire shows counts more than what was answered.
        (Event::ToolResult { is_error: false }, _) => settled(Outcome::Ran),
        (Event::ToolResult { is_error: true }, Some(Effect::Deny)) => settled(Outcome::Refused),
        (Event::ToolResult { is_error: true }, _) => settled(Outcome::Failed),
        (Event::Cancelled, _) => settled(Outcome::Unused),
        // A denial that was not read lets nothing run either.
        (Event::AskerEnded | Event::AgentGone | Event::AgentBack, Some(Effect::Deny)) => {
            settled(Outcome::Refused)
        }
        (Event::AskerEnded | Event::AgentGone | Event::AgentBack, _) => settled(Outcome::Unknown),
        (Event::CarriedOut, _) => Some(carried_out(stage)),
        // The call was let run and is aborted: its result says so.
        (Event::Interrupted | Event::Written | Event::NotOpen, _) => None,
    };
    Ok(life.unwrap_or(Life::Written))
}

/// An answer has gone out. No call follows from a form or a dialog: having reached them is all that can be known.
fn sent(stage: Stage) -> Life {
    match stage.kind {
        Kind::Elicitation | Kind::Dialog => carried_out(stage),
        _ => Life::Written,
    }
}

fn carried_out(stage: Stage) -> Life {
    let outcome = match stage.answer {
        Some(Effect::Deny) => Outcome::Refused,
        _ => Outcome::Ran,
    };
    Life::Settled { outcome }
}

fn settled(outcome: Outcome) -> Option<Life> {
    Some(Life::Settled { outcome })
}
