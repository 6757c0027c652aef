//! Questions to the person at the terminal, one at a time.
//!
//! Owns what all dialogs have in common: they are shown as lines, take keys, and end with a [`Choice`]. Pure: no dialog
//! knows the terminal, the agent or the clock; an editor is asked for, not started. Invariant: no key that was typed for
//! something else decides anything, because whoever shows a dialog lets it rest first.

mod approval;
mod elicitation;
mod plan;
mod questions;
mod trust;

use serde_json::Value;

pub(crate) use approval::Approval;
pub(crate) use elicitation::Elicit;
pub(crate) use plan::PlanReview;
pub(crate) use questions::Questions;
pub(crate) use trust::TrustFolder;

use crate::term::keys::Input;
use crate::term::screen::Size;
use crate::term::style::{Line, Tone};

/// Something a person is asked.
pub(crate) trait Dialog {
    /// What is printed before it, to stay: what it is about.
    fn intro(&self, width: usize) -> Vec<Line>;

    /// What is shown while it is open, and where the cursor stands.
    fn lines(&self, size: Size) -> (Vec<Line>, Option<(u16, u16)>);

    /// Takes what was typed.
    fn input(&mut self, input: &Input) -> Step;

    /// Takes what came back from the editor; nothing if it was left unchanged.
    fn edited(&mut self, text: Option<String>) -> Step;
}

/// The last row says which keys there are. Until they count it says so: whoever sees them may press them.
pub(crate) fn not_yet(lines: &mut Vec<Line>) {
    lines.pop();
    lines.push(Line::of("one moment …", Tone::Dim));
}

/// What comes after a key.
#[derive(Debug)]
pub(crate) enum Step {
    /// It goes on.
    Going,
    /// This text is to be changed in the person's editor.
    Edit { text: String, suffix: &'static str },
    /// The person decided.
    Done(Choice),
}

/// What the person decided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Choice {
    Allow(Allow),
    Deny {
        message: String,
        stop: bool,
    },
    Plan(PlanChoice),
    /// Answers, by the text of the question.
    Answers(Vec<(String, String)>),
    /// The values of a form.
    Form(Value),
    /// The person does not want to answer.
    Decline,
    /// The folder's rules are trusted, or not.
    Trust(bool),
}

/// A call may run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Allow {
    /// With another input.
    pub(crate) input: Option<Value>,
    /// And from now on by these rules.
    pub(crate) remember: Option<Remember>,
    /// And from now on all edits.
    pub(crate) accept_edits: bool,
}

/// Rules that are to hold from now on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Remember {
    pub(crate) rules: Vec<String>,
    pub(crate) reach: Reach,
}

/// How far a rule reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Session,
    Repository,
    Everywhere,
}

/// What a person says to a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlanChoice {
    pub(crate) way: Way,
    /// The plan, where the person changed it.
    pub(crate) edited: Option<String>,
}

/// The four ways on from a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Way {
    /// A fresh conversation with the plan, edits accepted.
    ClearContext,
    /// Go ahead, edits accepted.
    AcceptEdits,
    /// Go ahead, each edit asked.
    Manual,
    /// Not yet, because.
    KeepPlanning(String),
}
