//! The record of decisions, as it is read.
//!
//! Owns what stands in it: exactly what was asked, who decided what and why, and what the agent was sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::control::approval::{Asker, Decided, Effect, Kind, Life};
use crate::control::{ApprovalId, Digest, SessionId};

/// Which decisions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct DecisionFilter {
    /// Of this session.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// By whom: the name of a token, `rule`, `mode` (where no rule is named), `expired`, `budget`.
    #[serde(default)]
    pub by: Option<String>,
    /// By this rule, as a decision names it: `allow Bash(make:*)`.
    #[serde(default)]
    pub rule: Option<String>,
    /// By people: neither by a rule nor by a setting.
    #[serde(default)]
    pub people: bool,
    /// Yes or no.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// What became of it: `ran`, `failed`, `refused`, `unused`, `unknown`, `withdrawn`.
    #[serde(default)]
    pub outcome: Option<String>,
    /// Words that stand in the input, the reason, the tool or the session's name.
    #[serde(default)]
    pub text: Option<String>,
    /// About this tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// Not before this moment: microseconds of Unix time.
    #[serde(default)]
    pub since: Option<u64>,
    /// Before this moment.
    #[serde(default)]
    pub until: Option<u64>,
    /// How many at most; 0 for the usual number.
    #[serde(default)]
    pub most: usize,
    /// Where the last page ended.
    #[serde(default)]
    pub after: Option<String>,
}

/// A decision with what it was about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecisionView {
    /// The approval.
    pub id: ApprovalId,
    /// Its session.
    pub session: SessionId,
    /// The session's name.
    pub session_name: String,
    /// What kind of question it was.
    pub kind: Kind,
    /// The tool, or the server.
    pub tool: String,
    /// The call it was about.
    pub tool_use_id: Option<String>,
    /// The input, or the form, as it was asked.
    pub input: Value,
    /// The input that the agent was sent, where whoever allowed the call edited it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_input: Option<Value>,
    /// What was named by whoever decided.
    pub digest: Digest,
    /// Who asked, outermost first. Empty: the main agent.
    pub path: Vec<Asker>,
    /// When it was asked: microseconds of Unix time.
    pub asked: u64,
    /// The record of the journal it stands in: `generation-seq`.
    pub record: String,
    /// The decision.
    pub decided: Decided,
    /// What the agent was answered, where a person decided. What a rule answers stands in the journal.
    pub sent: Option<Value>,
    /// What became of it.
    #[serde(flatten)]
    pub life: Life,
}
