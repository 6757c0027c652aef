//! Rules that people keep, and what policy says about a call.
//!
//! Owns the words for both. What a rule means is policy's business.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::given;
use crate::control::approval::{Effect, Scope};
use crate::control::{ApprovalId, Mode, SessionId};

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

impl From<Effect> for RuleEffect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Allow => Self::Allow,
            Effect::Deny => Self::Deny,
        }
    }
}

impl From<RuleEffect> for countersign_policy::Effect {
    fn from(effect: RuleEffect) -> Self {
        match effect {
            RuleEffect::Allow => Self::Allow,
            RuleEffect::Ask => Self::Ask,
            RuleEffect::Deny => Self::Deny,
        }
    }
}

impl From<countersign_policy::Effect> for RuleEffect {
    fn from(effect: countersign_policy::Effect) -> Self {
        match effect {
            countersign_policy::Effect::Allow => Self::Allow,
            countersign_policy::Effect::Ask => Self::Ask,
            countersign_policy::Effect::Deny => Self::Deny,
        }
    }
}

/// A rule that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRule {
    /// What it says.
    pub effect: RuleEffect,
    /// Which calls it means, in Claude Code's language: `Bash(git log:*)`.
    pub rule: String,
    /// Where it holds.
    pub scope: Scope,
    /// The session, for a rule of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The folder, for a rule of a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub repository: Option<PathBuf>,
    /// Until when: microseconds of Unix time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// Why it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What changes about a rule. What is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeRule {
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<RuleEffect>,
    /// Which calls it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Until when; `null`: for good.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<u64>)]
    pub expires: Option<Option<u64>>,
    /// Why it is there; `null` takes the words away.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<String>)]
    pub note: Option<Option<String>>,
}

/// A rule as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RuleView {
    /// Its number.
    pub id: u64,
    /// What it says.
    pub effect: RuleEffect,
    /// Which calls it means.
    pub rule: String,
    /// Where it holds.
    pub scope: Scope,
    /// The session it holds in.
    pub session: Option<SessionId>,
    /// The folder of the repository it holds in.
    pub repository: Option<String>,
    /// Until when: microseconds of Unix time.
    pub expires: Option<u64>,
    /// Its time is over.
    pub is_over: bool,
    /// Why it is there.
    pub note: Option<String>,
    /// Who made it.
    pub by: String,
    /// From which client.
    pub client: String,
    /// When.
    pub at: u64,
    /// The approval it was made with.
    pub approval: Option<ApprovalId>,
    /// Why it is better not kept, if there is a reason.
    pub warning: Option<String>,
}

/// A call that policy is asked about: of a session, or of one that would work in a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub cwd: Option<PathBuf>,
    /// The mode; the session's own, or *ask*, without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Rules that nobody keeps, as if they allowed what they mean: to see what one would do before it is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub as_if: Vec<String>,
}

/// What policy says about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Explained {
    /// What would happen.
    pub effect: RuleEffect,
    /// The kind of reason: `rule`, `no-rule`, `protected`, …
    pub why: String,
    /// In a sentence.
    pub reason: String,
    /// The rule that decides.
    pub rule: Option<String>,
    /// Where that rule stands.
    pub origin: Option<String>,
    /// What the call would do, each with a verdict of its own.
    pub parts: Vec<Part>,
    /// What would change the verdict, one sentence each.
    pub changes: Vec<String>,
    /// Which rules cannot be read, so that nothing is allowed by rule.
    pub unreadable: Option<String>,
}

/// One part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Part {
    /// The command, the file, the host.
    pub part: String,
    /// What kind of act it is: `runs`, `reads`, `writes`, `searches`, `names`, `fetches`, `uses`.
    pub kind: String,
    /// How a command was reached, outermost first.
    pub through: Vec<String>,
    /// What is said about this part alone.
    pub effect: RuleEffect,
    /// In a sentence.
    pub reason: String,
}
