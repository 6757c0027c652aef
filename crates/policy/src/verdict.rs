//! What the rules say about a call, and why.
//!
//! Owns [`Verdict`]. Its reason is made to be read by a person and by a program: a kind, the rule, a sentence.

use std::fmt;

use serde::Serialize;

use crate::rule::{Effect, Rule};

/// What policy says about a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Allow, ask or deny.
    pub effect: Effect,
    /// Why.
    pub reason: Reason,
    /// Whether a blanket yes (`--yes`, hands-off) may stand in for the person who would be asked. Never for what a
    /// person must see, and never where a deny rule may be meant.
    pub may_be_waved_through: bool,
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The kind of reason.
    pub why: Why,
    /// In a sentence, for people and for the model.
    pub text: String,
    /// The rule that decided.
    pub rule: Option<Rule>,
    /// The part of the call that decided, where it has several: a command, a file.
    pub part: Option<String>,
}

/// The kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// A rule means it.
    Rule,
    /// A deny or ask rule may mean it; it cannot be said before it runs.
    MayBeMeant,
    /// The profile decides.
    Profile,
    /// It changes something, and the session plans.
    PlanMode,
    /// It is the session's own plan file.
    PlanFile,
    /// It touches a path that no rule opens.
    Protected,
    /// The CLI marks it.
    Marked,
    /// It is a question to a person, or a plan.
    Question,
    /// It cannot be read: the shell text, the input.
    Unclear,
    /// No rule means it.
    NoRule,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Rule => "rule",
            Why::MayBeMeant => "may-be-meant",
            Why::Profile => "profile",
            Why::PlanMode => "plan-mode",
            Why::PlanFile => "plan-file",
            Why::Protected => "protected",
            Why::Marked => "marked",
            Why::Question => "question",
            Why::Unclear => "unclear",
            Why::NoRule => "no-rule",
        })
    }
}
