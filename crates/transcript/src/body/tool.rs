//! Tool calls, the sub-agents that some of them start, and what runs in the background.
//!
//! Plain values. A call holds its question and its result, so that one entry tells who let it run and what came of it.

use serde::{Deserialize, Serialize};

use super::{Approval, Verdict};
use crate::clip::{Clip, Shown};
use crate::id::EntryId;

/// What a call is for, where that changes how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ToolRole))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A tool like any other.
    Plain,
    /// It asks the person something: `AskUserQuestion`.
    Question,
    /// It offers a plan: `ExitPlanMode`.
    Plan,
    /// It starts a sub-agent: `Task`, later `Agent`.
    Agent,
}

impl Role {
    /// The role of a tool of this name.
    pub fn of(name: &str) -> Self {
        match name {
            "AskUserQuestion" => Self::Question,
            "ExitPlanMode" => Self::Plan,
            "Task" | "Agent" => Self::Agent,
            _ => Self::Plain,
        }
    }
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// The model is writing its input.
    Writing,
    /// The model has made it.
    Called,
    /// It waits for an answer.
    Asking,
    /// It was answered; its result has not come.
    Answered,
    /// It ran.
    Ran,
    /// It failed.
    Failed,
    /// It was not let run.
    Refused,
    /// The turn or the agent ended before a result came.
    Unknown,
}

/// What a call gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ToolReturned))]
pub struct Returned {
    /// What the model sees of it.
    pub text: Clip,
    /// Pictures and documents in it.
    #[serde(default)]
    pub attachments: u32,
    /// It failed or was denied.
    #[serde(default)]
    pub is_error: bool,
    /// The tool's own form of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Shown>,
    /// When it came.
    pub at: u64,
}

/// The CLI denied a call without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ToolDenial))]
pub struct Denial {
    /// What the model was told.
    pub message: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, as a word for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// Who let the call run or not, as the CLI says (2.1.325).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ToolSigned))]
pub struct Signed {
    /// `accept` or `reject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// By whose word: `config`, `user_temporary`, `user_reject`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// For what reason: `rule`, `mode`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it did not run: `permission-rule`, `user-rejected`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryTool))]
pub struct Tool {
    /// Its id on the wire.
    pub tool_use_id: String,
    /// The tool.
    pub name: String,
    /// What the call is for.
    pub role: Role,
    /// The message of the model it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The input as the model wrote it; none while it is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Shown>,
    /// How far it is.
    pub state: ToolState,
    /// The question whether it may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<Approval>>,
    /// The CLI denied it without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denial: Option<Denial>,
    /// Who let it run, as the CLI says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Signed>,
    /// What it gave back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Returned>,
    /// From its start, or from the answer to its question, to its result, in microseconds. None if it was not let run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<u64>,
    /// The sub-agent it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<Task>>,
}

impl Tool {
    /// Returns the input that ran in the place of the agent's, where whoever allowed the call edited it. What answers a
    /// question or goes with a plan is no edit of a call.
    pub fn edited_input(&self) -> Option<&Shown> {
        let answer = self.approval.as_ref()?.answer.as_ref()?;
        let is_call = matches!(self.role, Role::Plain | Role::Agent);
        let edited = answer.input.as_ref()?;
        (is_call && answer.verdict == Verdict::Allow).then_some(edited)
    }
}

/// How far something in the background is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It runs.
    Running,
    /// It waits.
    Paused,
    /// It has ended well.
    Completed,
    /// It has ended badly.
    Failed,
    /// It was ended.
    Stopped,
    /// The agent is gone, or nothing more was heard.
    Unknown,
}

impl TaskState {
    /// Whether nothing more is expected of it.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Running | Self::Paused)
    }
}

/// A sub-agent, a shell or a workflow that the agent keeps track of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryTask))]
pub struct Task {
    /// The agent's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// `local_agent`, `local_bash`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The type of the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The entry of that call, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub tool: Option<EntryId>,
    /// The turn does not wait for it.
    #[serde(default)]
    pub is_background: bool,
    /// How far it is.
    pub state: TaskState,
    /// Tokens it has used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Tools it has called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_uses: Option<u64>,
    /// How long it has run, in milliseconds, as the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The tool it called last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tool: Option<String>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Clip>,
    /// The file with its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
}
