//! Questions of an agent, with their whole life.
//!
//! The journal shows a question from *open* on. *Decided* is not in it: a decision is a note and the answer behind it, one
//! write, so it appears as *written*.

use countersign_journal::Cursor;
use serde::{Deserialize, Serialize};

use crate::clip::{Clip, Shown};
use crate::id::cursor;

/// What came of an answer that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AskOutcome))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call ran; a form or dialog went on.
    Ran,
    /// The call was let run, and failed or was aborted.
    Failed,
    /// The call was denied, and did not run.
    Refused,
    /// The agent had withdrawn the question: the answer did nothing.
    Unused,
    /// The agent was gone before a line said what happened.
    Unknown,
}

/// Why a question was never answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AskWithdrawn))]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    /// The agent took it back, or went on without an answer.
    Cancelled,
    /// The turn was interrupted.
    Interrupted,
    /// The agent ended, or no answer reached it whole.
    AgentGone,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AskStanding))]
#[serde(tag = "state", content = "how", rename_all = "snake_case")]
pub enum Standing {
    /// It waits.
    Open,
    /// The answer is in the journal.
    Written,
    /// It is known what came of the answer.
    Settled(Outcome),
    /// No answer was used.
    Withdrawn(Withdrawn),
}

/// What kind of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// May this tool run?
    Tool,
    /// An MCP server asks for values.
    Elicitation,
    /// The CLI shows a dialog.
    Dialog,
}

/// What the answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AnswerVerdict))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The tool may run; the values are given.
    Allow,
    /// It may not; the values are not given.
    Deny,
    /// An error instead of an answer.
    Error,
    /// Something this build does not know.
    Other,
}

/// The answer as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryAnswer))]
pub struct Answer {
    /// What it says.
    pub verdict: Verdict,
    /// The word on the wire: `allow`, `deny`, `accept`, `decline`, …
    pub word: String,
    /// What the model is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Clip>,
    /// The turn ends with it.
    #[serde(default)]
    pub interrupts: bool,
    /// For a plan: the way on that was taken, where it is known: `clear-context`, `accept-edits`, `manual`,
    /// `keep-planning`. The wire says no to the first and the last, and neither is a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
    /// The input that runs, where it is not the one that was asked about; the values of a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Shown>,
    /// The rules and modes that go with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updates: Option<Shown>,
    /// Who decided: a person, or a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why, as a word, where a rule or the mode decided: `plan-file` for the session's own plan, which is no change of the
    /// project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_kind: Option<String>,
    /// From which client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The digest of the input that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When it was written.
    pub at: u64,
    /// The record that holds it.
    #[serde(with = "cursor")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub written: Cursor,
    /// How long the agent waited, in microseconds.
    pub waited: u64,
}

/// A question with its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryApproval))]
pub struct Approval {
    /// The id by which it is answered.
    pub request_id: String,
    /// What kind it is.
    pub kind: AskKind,
    /// The record that holds it.
    #[serde(with = "cursor")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub asked: Cursor,
    /// When it was asked.
    pub asked_at: u64,
    /// The CLI's own headline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the call is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Why the CLI asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, as a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_kind: Option<String>,
    /// The path that is in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_path: Option<String>,
    /// Only a person may answer.
    #[serde(default)]
    pub needs_person: bool,
    /// The input that would run, where it is not what the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Shown>,
    /// What the CLI offers as *always*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Shown>,
    /// The sub-agent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What the sub-agents do that lead to the one that asks, outermost first; empty for the main conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Where it stands.
    pub standing: Standing,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// When it was settled or withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
}

/// A question that is no tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryAsk))]
pub struct Ask {
    /// The question.
    pub approval: Approval,
    /// Who asks: an MCP server, or the kind of dialog.
    pub from: String,
    /// What is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Clip>,
    /// The address to open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The form: a JSON schema, or what the dialog shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Shown>,
}
