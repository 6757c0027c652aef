//! What a decision comes to: the answer on the wire, and everything beside it.
//!
//! Owns [`Consequence`], [`Answer`] and [`After`]. All of them are stored with the decision, so that a host that ends
//! half-way carries on where it stood. Ids are derived from the approval: whoever carries a decision out again makes the
//! same message and the same session.

use countersign_client::options::Version;
use countersign_client::{Decision, Json, Question, Responder, Withdrawn};
use countersign_wire::Extra;
use countersign_wire::control::{
    DialogBehavior, ElicitationAction, ElicitationReply, RequestUserDialogReply,
};
use countersign_wire::permission::PermissionUpdate;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::control::approval::{Effect, Kind, Scope, Way};
use crate::control::{ApprovalId, Message, MessageId, Mode, SessionId};

/// What is known when a decision is made, beside the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// The approval.
    pub approval: ApprovalId,
    /// Now: microseconds of Unix time.
    pub now: u64,
    /// The version of the CLI. None is taken for the oldest.
    pub version: Option<Version>,
    /// Whether the agent that asked is still there.
    pub agent: Agent,
}

/// Whether the agent that asked is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// It waits for the answer.
    Waits,
    /// It has ended. Only a plan can still be decided.
    Gone,
}

/// What a decision comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consequence {
    /// What is answered. None where the agent has gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// What the person decided. A plan that is carried out in a fresh conversation is a yes, although the wire says no.
    pub effect: Effect,
    /// For a plan: the way on that it comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
    /// What the model is told, or what was decided, in words.
    pub message: String,
    /// Rules of ours that hold from now on. The desk reads them before anything is sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<NewRule>,
    /// The mode from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Folders that count as inside from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_dirs: Vec<String>,
    /// The input the call would run with, where it was changed: another call, which the desk must check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Value>,
    /// The plan as the person changed it: a version of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_plan: Option<String>,
    /// What the person should know about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What is to be done once it is answered.
    #[serde(default)]
    pub after: After,
}

impl Consequence {
    /// A decision that comes to this answer and nothing else.
    pub(crate) fn of(answer: Answer, message: impl Into<String>) -> Self {
        Self {
            effect: answer.effect(),
            answer: Some(answer),
            ..Self::without_answer(Effect::Deny, message)
        }
    }

    /// A decision for an agent that has gone.
    pub(crate) fn without_answer(effect: Effect, message: impl Into<String>) -> Self {
        Self {
            answer: None,
            effect,
            way: None,
            message: message.into(),
            rules: Vec::new(),
            mode: None,
            add_dirs: Vec::new(),
            changed: None,
            edited_plan: None,
            notes: Vec::new(),
            after: After::Nothing,
        }
    }
}

/// A rule that holds from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRule {
    /// The rule, in Claude Code's language. It allows.
    pub text: String,
    /// Where it holds.
    pub scope: Scope,
    /// Until when: microseconds of Unix time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// The call runs.
    Allow {
        /// With another input; the original one without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
        /// Changes that go with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        updates: Vec<PermissionUpdate>,
    },
    /// The call does not run.
    Deny {
        /// What the model reads.
        message: String,
        /// The turn ends.
        #[serde(default)]
        stop: bool,
    },
    /// A form is filled in.
    Accept {
        /// Its values; none for a web page that was visited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Value>,
    },
    /// The person says no to a form.
    Decline,
    /// A form or a dialog is closed without an answer.
    Dismiss,
    /// A dialog is answered.
    Complete {
        /// What was chosen.
        result: Value,
    },
}

/// Why an answer was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GiveError {
    /// The agent no longer wants it.
    #[error("the question was withdrawn: take its card away")]
    Withdrawn,
    /// The answer is one to another kind of question. The question was left open.
    #[error("the answer does not fit the question `{0}`: decide it again")]
    Misfit(&'static str),
}

impl From<Withdrawn> for GiveError {
    fn from(_: Withdrawn) -> Self {
        Self::Withdrawn
    }
}

impl Answer {
    /// Whether the wire says yes.
    pub fn effect(&self) -> Effect {
        match self {
            Self::Allow { .. } | Self::Accept { .. } | Self::Complete { .. } => Effect::Allow,
            Self::Deny { .. } | Self::Decline | Self::Dismiss => Effect::Deny,
        }
    }

    /// No to a question of this kind, as its wire says it; only the model of a call reads the words.
    pub(crate) fn refusal(kind: Kind, message: String) -> Self {
        match kind {
            Kind::Elicitation => Self::Decline,
            Kind::Dialog => Self::Dismiss,
            Kind::Tool | Kind::Questions | Kind::Plan => Self::Deny {
                message,
                stop: false,
            },
        }
    }

    /// As the client takes it, if it is an answer about a call.
    pub fn decision(&self) -> Option<Decision> {
        Some(match self {
            Self::Allow { input, updates } => {
                let decision = Decision::allow().with_updates(updates.iter().cloned());
                match input {
                    Some(input) => decision.with_input(input.clone().into()),
                    None => decision,
                }
            }
            Self::Deny {
                message,
                stop: false,
            } => Decision::deny(message),
            Self::Deny {
                message,
                stop: true,
            } => Decision::deny_and_stop(message),
            _ => return None,
        })
    }

    /// Gives it as the answer to `question`; `note` is kept with it in the journal.
    ///
    /// # Errors
    /// When the question was withdrawn, or is of another kind; the latter stays open.
    pub fn give(&self, question: Question, note: Json) -> Result<(), GiveError> {
        match question {
            Question::Permission(mut question) => match self.decision() {
                Some(decision) => {
                    question.note(note);
                    Ok(question.answer(decision)?)
                }
                None => misfit(question.into_responder(), "can_use_tool"),
            },
            Question::Elicitation(question) => match self.form_reply() {
                Some(reply) => {
                    let mut responder = question.into_responder();
                    responder.note(note);
                    Ok(responder.reply(&reply)?)
                }
                None => misfit(question.into_responder(), "elicitation"),
            },
            Question::Dialog(question) => match self.dialog_reply() {
                Some(reply) => {
                    let mut responder = question.into_responder();
                    responder.note(note);
                    Ok(responder.reply(&reply)?)
                }
                None => misfit(question.into_responder(), "request_user_dialog"),
            },
            Question::Other(question) => misfit(question.into_responder(), "other"),
            _ => Err(GiveError::Misfit("unknown")),
        }
    }

    fn form_reply(&self) -> Option<ElicitationReply> {
        let (action, content) = match self {
            Self::Accept { content } => (ElicitationAction::Accept, content.clone()),
            Self::Decline => (ElicitationAction::Decline, None),
            Self::Dismiss => (ElicitationAction::Cancel, None),
            _ => return None,
        };
        Some(ElicitationReply {
            action,
            content: content.map(Json::from),
            extra: Extra::default(),
        })
    }

    fn dialog_reply(&self) -> Option<RequestUserDialogReply> {
        let (behavior, result) = match self {
            Self::Complete { result } => (DialogBehavior::Completed, Some(result.clone())),
            Self::Dismiss => (DialogBehavior::Cancelled, None),
            _ => return None,
        };
        Some(RequestUserDialogReply {
            behavior,
            result: result.map(Json::from),
            extra: Extra::default(),
        })
    }
}

/// An answer to something else says nothing about this question.
fn misfit(responder: Responder, subtype: &'static str) -> Result<(), GiveError> {
    responder.leave_open();
    Err(GiveError::Misfit(subtype))
}

/// What is to be done once a decision is answered. Stored with it, and done once.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "after", rename_all = "snake_case")]
pub enum After {
    /// Nothing.
    #[default]
    Nothing,
    /// These messages are written right behind the answer, into the running turn.
    Then {
        /// They.
        messages: Vec<Message>,
    },
    /// The answer ends the turn, which is no failure and holds no queue. Once it has ended, the CLI is put into the mode,
    /// and these messages go in front of the queue, one at a time, each when the agent is idle. `/compact` may fail
    /// (there may be too little to compact): the next one goes all the same.
    OnceIdle {
        /// The mode, where it changes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// The messages.
        messages: Vec<Message>,
    },
    /// The agent is ended, and a fresh conversation begins, linked to this session.
    ClearContext {
        /// The id of the new session.
        session: SessionId,
        /// Its first message.
        prompt: Message,
        /// Its mode.
        mode: Mode,
    },
    /// An agent takes the conversation up again in this mode, and is told these messages, one at a time, each when it is
    /// idle.
    Resume {
        /// The mode.
        mode: Mode,
        /// The messages.
        messages: Vec<Message>,
    },
}

/// The id of the message with this number that a decision leads to.
pub fn message_id(approval: ApprovalId, number: u32) -> MessageId {
    MessageId::new(approval.at(), derived("message", approval, number))
}

/// The id of the session that a decision leads to.
pub fn session_id(approval: ApprovalId) -> SessionId {
    SessionId::new(approval.at(), derived("session", approval, 0))
}

fn derived(what: &str, approval: ApprovalId, number: u32) -> u128 {
    let mut hash = blake3::Hasher::new();
    hash.update(what.as_bytes());
    hash.update(&approval.bits().to_be_bytes());
    hash.update(&number.to_be_bytes());
    let mut bits = [0; 16];
    bits.copy_from_slice(&hash.finalize().as_bytes()[..16]);
    u128::from_be_bytes(bits)
}
