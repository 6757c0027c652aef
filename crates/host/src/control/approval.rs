//! Approvals as a client sees them: what is asked, by whom, how it stands, and what can be decided.
//!
//! Owns [`ApprovalView`] and [`Decide`]. Invariants: a decision names what was seen; a mode or a folder never rides along
//! with *always allow this*; bypass is never a choice.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use super::decided::{Decided, Effect};
use super::ids::{ApprovalId, Digest, SessionId};
use super::session::Mode;
pub use crate::approval::{FileAsAsked, FilePart, FileState};
pub use crate::plan::{Card, WayOffer, Wish, WishOffer};

/// What kind of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// May this call run?
    Tool,
    /// Is this the plan?
    Plan,
    /// Questions to the person.
    Questions,
    /// A form of an MCP server.
    Elicitation,
    /// A dialog of the CLI.
    Dialog,
}

/// Where an approval is in its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "life", rename_all = "snake_case")]
pub enum Life {
    /// It waits for a decision.
    Open,
    /// It is decided, and the answer is on its way.
    Decided,
    /// The answer has reached the agent.
    Written,
    /// What came of it is known, or is known to be unknown.
    Settled {
        /// What came of it.
        outcome: Outcome,
    },
    /// The agent no longer wants an answer.
    Withdrawn {
        /// Why.
        why: Withdrawal,
    },
}

impl Life {
    /// The names of all parts of a life.
    pub const NAMES: [&'static str; 5] = ["open", "decided", "written", "settled", "withdrawn"];

    /// Its name, as it is stored.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Decided => "decided",
            Self::Written => "written",
            Self::Settled { .. } => "settled",
            Self::Withdrawn { .. } => "withdrawn",
        }
    }
}

/// What came of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call ran.
    Ran,
    /// The call was let run, and failed.
    Failed,
    /// It was denied, and did not run.
    Refused,
    /// The agent had taken its question back: the answer did nothing.
    Unused,
    /// The agent was gone before a line said what happened.
    Unknown,
}

/// Why an approval was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawal {
    /// The CLI took it back.
    Cancelled,
    /// The turn was interrupted.
    Interrupted,
    /// The agent ended.
    AgentGone,
}

/// Who asks, from the main agent down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Asker {
    /// The sub-agent's id on the wire.
    pub agent_id: Option<String>,
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// What kind of agent it is, where that was said.
    pub kind: Option<String>,
    /// What it is to do.
    pub description: Option<String>,
}

/// A choice that the CLI suggests, in our words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Offer {
    /// What kind of choice it is. *Always* and the others are never one choice.
    pub kind: OfferKind,
    /// In words.
    pub label: String,
    /// For [`OfferKind::Always`]: the rules of ours that would allow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The update of the CLI, as it stood in the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<Value>,
    /// A word of warning: this version will not honour it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// For [`OfferKind::Mode`]: the mode, as a decision names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// For [`OfferKind::Directories`]: the folders, as a decision names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
}

/// Kinds of offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfferKind {
    /// Rules that allow this from now on.
    Always,
    /// Another mode for the session.
    Mode,
    /// More folders count as inside.
    Directories,
}

/// What a call would destroy, or that nobody can tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Harm {
    /// How sure that is.
    pub kind: HarmKind,
    /// For [`HarmKind::Destructive`]: what it does, in words that follow "it": `removes files`. For [`HarmKind::Unread`]: why it
    /// cannot be read.
    pub says: String,
    /// The commands or files that do it, as they stand in the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}

/// How sure a harm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HarmKind {
    /// It takes away what no undo brings back: to allow it wants a second gesture.
    Destructive,
    /// Some of it cannot be read, so it may do anything.
    Unread,
}

/// An approval as a client sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalView {
    /// Its id.
    pub id: ApprovalId,
    /// Its session.
    pub session: SessionId,
    /// The session's name.
    pub session_name: String,
    /// What kind of question it is.
    pub kind: Kind,
    /// Where it is in its life.
    #[serde(flatten)]
    pub life: Life,
    /// When it was asked: microseconds of Unix time.
    pub asked: u64,
    /// The record of the journal it stands in: `generation-seq`.
    pub record: String,
    /// Its name on the wire.
    pub request_id: String,
    /// The call it is about.
    pub tool_use_id: Option<String>,
    /// The tool, or the server.
    pub tool: String,
    /// The input, or the form.
    pub input: Value,
    /// The input that the agent was sent, where whoever allowed the call edited it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_input: Option<Value>,
    /// For a call that changes a file: the file as it was when the agent asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileAsAsked>,
    /// What must be named to decide.
    pub digest: Digest,
    /// Who asks, outermost first. Empty: the main agent.
    pub path: Vec<Asker>,
    /// Why policy asks, in a sentence.
    pub reason: String,
    /// What the CLI says about it, where it says anything.
    pub remark: Option<String>,
    /// For a call whose answer is not with the agent yet: what it would destroy, as far as that can be read from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm: Option<Harm>,
    /// What may be chosen beside yes and no.
    pub offers: Vec<Offer>,
    /// When it is denied by itself, where that is switched on.
    pub expires: Option<u64>,
    /// The decision.
    pub decided: Option<Decided>,
    /// The agent that asked has gone: a decision starts one again.
    pub needs_restart: bool,
    /// For a plan that waits: its text, what it wishes for, and the ways on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Card>,
}

impl ApprovalView {
    /// What it would destroy, in words that follow "it"; none where nothing is known of that.
    pub fn destroys(&self) -> Option<&str> {
        let harm = self.harm.as_ref()?;
        (harm.kind == HarmKind::Destructive).then_some(harm.says.as_str())
    }
}

/// A decision of a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum Decide {
    /// The call runs.
    Allow {
        /// With another input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Value>,
        /// And from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remember: Option<Remember>,
        /// Another mode from now on: a choice of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// Folders that count as inside from now on: a choice of its own.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add_dirs: Vec<String>,
    },
    /// The call does not run.
    Deny {
        /// What the model reads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The turn ends.
        #[serde(default)]
        interrupt: bool,
    },
    /// A way on from a plan.
    Plan(PlanDecision),
    /// Answers, by the text of the question, or the values of a form.
    Answer {
        /// The answers.
        answers: Value,
    },
    /// The person does not want to answer: a form is declined, a dialog is closed.
    Decline {
        /// What the model reads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}

impl Decide {
    /// Yes, to this call.
    pub fn allow() -> Self {
        Self::Allow {
            updated_input: None,
            remember: None,
            mode: None,
            add_dirs: Vec::new(),
        }
    }

    /// No, with these words.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: Some(message.into()),
            interrupt: false,
        }
    }

    /// What it settles beside the question as it was asked, if anything: that is more than an answer to it. Said in words
    /// that follow "this decision".
    pub fn beyond(&self) -> Option<&'static str> {
        match self {
            Self::Allow {
                updated_input: Some(_),
                ..
            } => Some("puts another input in the place of the agent's"),
            Self::Allow {
                remember: Some(_), ..
            } => Some("makes a rule"),
            Self::Allow { mode: Some(_), .. } => Some("changes the mode of the session"),
            Self::Allow { add_dirs, .. } if !add_dirs.is_empty() => Some("opens more folders"),
            Self::Plan(plan) => plan.beyond(),
            Self::Allow { .. } | Self::Deny { .. } | Self::Answer { .. } | Self::Decline { .. } => {
                None
            }
        }
    }
}

/// A rule that is to hold from now on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Remember {
    /// The rules, in Claude Code's language.
    pub rules: Vec<String>,
    /// Where.
    pub scope: Scope,
    /// Until when: microseconds of Unix time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// Also in the CLI's own settings.
    #[serde(default)]
    pub also_cli: bool,
}

/// Where a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// In this session, whatever its agent.
    Session,
    /// In this repository.
    Repository,
    /// Everywhere.
    Always,
}

/// A way on from a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanDecision {
    /// Which way.
    pub choice: Way,
    /// For [`Way::ClearContext`]: the mode of the fresh conversation. Never plan, never hands-off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The plan as the person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Rules that allow calls in this session from now on, and in the fresh conversation that goes on with the plan: what a
    /// person made of the plan's wishes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// No longer taken: a wish is prose, and its place alone says nothing about what would run. Name `rules`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_prompts: Vec<usize>,
    /// What the person says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Images that go with it, as content blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Value>,
    /// Comments on lines of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
    /// Compact the context before going on.
    #[serde(default)]
    pub compact: bool,
}

impl PlanDecision {
    fn beyond(&self) -> Option<&'static str> {
        match self.choice {
            Way::ClearContext => Some("begins another session"),
            Way::AcceptEdits => Some("changes the mode of the session"),
            Way::Manual | Way::KeepPlanning if self.mode.is_some() => {
                Some("changes the mode of the session")
            }
            Way::Manual if self.plan.is_some() => {
                Some("puts another plan in the place of the agent's")
            }
            Way::Manual | Way::KeepPlanning
                if !self.rules.is_empty() || !self.allowed_prompts.is_empty() =>
            {
                Some("allows calls in advance")
            }
            Way::Manual | Way::KeepPlanning if self.compact => {
                Some("has the conversation compacted")
            }
            Way::Manual | Way::KeepPlanning => None,
        }
    }
}

/// Ways on from a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A fresh conversation with the plan.
    ClearContext,
    /// Go on, and edit files without asking.
    AcceptEdits,
    /// Go on, and ask about each edit.
    Manual,
    /// Not yet.
    KeepPlanning,
}

/// A comment on a line of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Comment {
    /// The line, from 1.
    pub line: u32,
    /// What is said about it.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reaches_no_further_than_its_question() {
        for text in [
            r#"{"decision":"allow"}"#,
            r#"{"decision":"deny","message":"no","interrupt":true}"#,
            r#"{"decision":"answer","answers":{"Which?":"This"}}"#,
            r#"{"decision":"decline"}"#,
            r#"{"decision":"plan","choice":"manual","feedback":"go on"}"#,
            r#"{"decision":"plan","choice":"keep-planning","plan":"1. Less","comments":[{"line":1,"text":"why"}]}"#,
        ] {
            let decide: Decide = serde_json::from_str(text).unwrap();
            assert_eq!(decide.beyond(), None, "{text}");
        }
        for text in [
            r#"{"decision":"allow","updated_input":{"command":"ls"}}"#,
            r#"{"decision":"allow","remember":{"rules":["Bash"],"scope":"session"}}"#,
            r#"{"decision":"allow","mode":{"mode":"edits"}}"#,
            r#"{"decision":"allow","add_dirs":["/srv"]}"#,
            r#"{"decision":"plan","choice":"clear-context"}"#,
            r#"{"decision":"plan","choice":"accept-edits"}"#,
            r#"{"decision":"plan","choice":"manual","compact":true}"#,
            r#"{"decision":"plan","choice":"keep-planning","compact":true,"feedback":"shorter"}"#,
            r#"{"decision":"plan","choice":"manual","plan":"1. More"}"#,
            r#"{"decision":"plan","choice":"manual","allowed_prompts":[0]}"#,
            r#"{"decision":"plan","choice":"manual","rules":["Bash(npm test)"]}"#,
            r#"{"decision":"plan","choice":"manual","mode":{"mode":"edits"}}"#,
        ] {
            let decide: Decide = serde_json::from_str(text).unwrap();
            assert!(decide.beyond().is_some(), "{text}");
        }
    }

    #[test]
    fn a_decision_is_read_as_it_crosses_http() {
        let text = r#"{"decision":"plan","choice":"keep-planning","feedback":"shorter"}"#;
        let Decide::Plan(plan) = serde_json::from_str(text).unwrap() else {
            panic!("a plan");
        };
        assert_eq!(plan.choice, Way::KeepPlanning);
        let text = r#"{"decision":"allow"}"#;
        assert_eq!(
            serde_json::from_str::<Decide>(text).unwrap(),
            Decide::allow()
        );
        let bypass = r#"{"decision":"allow","mode":{"mode":"bypassPermissions"}}"#;
        assert!(serde_json::from_str::<Decide>(bypass).is_err());
    }
}
