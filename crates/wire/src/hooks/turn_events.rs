//! Hook inputs around a turn, its tasks and its sub-agents.

use countersign_wire_derive::Wire;

use crate::ids::TaskId;
use crate::open::open_enum;
use crate::vocab::{AssistantErrorKind, Trigger};
use crate::{Extra, Nullable, Num};

/// A background task, as hooks see it.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct BackgroundTaskSummary {
    /// Its id.
    pub id: String,
    /// Its type.
    #[wire(rename = "type")]
    pub kind: String,
    /// Where it stands.
    pub status: String,
    /// What it is, in words.
    pub description: String,
    /// The command.
    pub command: Option<String>,
    /// Type of the sub-agent.
    pub agent_type: Option<String>,
    /// Name of the MCP server.
    pub server: Option<String>,
    /// Name of the tool.
    pub tool: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A scheduled prompt, as hooks see it.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SessionCronSummary {
    /// Its id.
    pub id: String,
    /// When it runs, as a cron expression.
    pub schedule: String,
    /// Whether it repeats.
    pub recurring: bool,
    /// The prompt.
    pub prompt: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Where a prompt came from.
    pub enum PromptSource {
        User = "user",
        Sdk = "sdk",
        System = "system",
        LoopWakeup = "loop_wakeup",
        ScheduleWakeup = "schedule_wakeup",
        PollEvent = "poll_event",
    }
}

/// A prompt was submitted.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UserPromptSubmitInput {
    /// The prompt.
    pub prompt: String,
    /// Where it comes from.
    pub source: Option<PromptSource>,
    /// Title of the session.
    pub session_title: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What was expanded.
    pub enum ExpansionType {
        SlashCommand = "slash_command",
        McpPrompt = "mcp_prompt",
    }
}

/// A slash command became a prompt.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UserPromptExpansionInput {
    /// What was expanded.
    pub expansion_type: ExpansionType,
    /// Name of the command.
    pub command_name: String,
    /// Its arguments.
    pub command_args: String,
    /// Where the command comes from.
    pub command_source: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The model is about to end its turn.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct StopInput {
    /// A stop hook already kept this turn going.
    pub stop_hook_active: bool,
    /// The model's last text.
    pub last_assistant_message: Option<String>,
    /// Live background tasks.
    pub background_tasks: Option<Vec<BackgroundTaskSummary>>,
    /// Scheduled prompts.
    pub session_crons: Option<Vec<SessionCronSummary>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A turn ended in an error.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct StopFailureInput {
    /// What went wrong.
    pub error: AssistantErrorKind,
    /// Details of the error.
    pub error_details: Option<String>,
    /// The model's last text.
    pub last_assistant_message: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A sub-agent began.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SubagentStartInput {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A sub-agent is about to end.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SubagentStopInput {
    /// A stop hook already kept this turn going.
    pub stop_hook_active: bool,
    /// Transcript of the sub-agent.
    pub agent_transcript_path: String,
    /// The model's last text.
    pub last_assistant_message: Option<String>,
    /// Live background tasks.
    pub background_tasks: Option<Vec<BackgroundTaskSummary>>,
    /// Scheduled prompts.
    pub session_crons: Option<Vec<SessionCronSummary>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The context is about to be compacted.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PreCompactInput {
    /// What set it off.
    pub trigger: Trigger,
    /// Instructions the person gave.
    pub custom_instructions: Nullable<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The context was compacted.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PostCompactInput {
    /// What set it off.
    pub trigger: Trigger,
    /// The summary.
    pub compact_summary: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A task was put on the list.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TaskCreatedInput {
    /// The task.
    pub task_id: TaskId,
    /// What the task is.
    pub task_subject: String,
    /// Sub-agent task text.
    pub task_description: Option<String>,
    /// Name of the teammate.
    pub teammate_name: Option<String>,
    /// Name of the team.
    pub team_name: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A task of the list is done.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TaskCompletedInput {
    /// The task.
    pub task_id: TaskId,
    /// What the task is.
    pub task_subject: String,
    /// Sub-agent task text.
    pub task_description: Option<String>,
    /// Name of the teammate.
    pub teammate_name: Option<String>,
    /// Name of the team.
    pub team_name: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A teammate has nothing to do.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TeammateIdleInput {
    /// Name of the teammate.
    pub teammate_name: String,
    /// Name of the team.
    pub team_name: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The CLI shows a notification.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct NotificationInput {
    /// The message.
    pub message: String,
    /// Its title.
    pub title: Option<String>,
    /// Kind of notification.
    pub notification_type: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Text is about to be shown.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MessageDisplayInput {
    /// The turn.
    pub turn_id: String,
    /// The message.
    pub message_id: String,
    /// Its place.
    pub index: Num,
    /// Whether it is the last piece.
    #[wire(rename = "final")]
    pub is_final: bool,
    /// The piece of text.
    pub delta: String,
    /// Fields this build does not know.
    pub extra: Extra,
}
