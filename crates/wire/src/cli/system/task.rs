//! System messages about tasks: sub-agents, shells and workflows (2.1.62 and later).

use countersign_wire_derive::Wire;

use crate::control::McpResourceLink;
use crate::ids::{MessageUuid, SessionId, TaskId, ToolUseId};
use crate::open::open_enum;
use crate::{Extra, Num};

/// A task (sub-agent, shell, workflow) began.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("awaited",))]
pub struct TaskStarted {
    /// Task id.
    pub task_id: TaskId,
    /// Id of one task run; sortable.
    pub run_id: Option<String>,
    /// Tool call id.
    pub tool_use_id: Option<ToolUseId>,
    /// Description.
    pub description: String,
    /// Sub-agent type name.
    pub subagent_type: Option<String>,
    /// Started in background.
    pub is_backgrounded: Option<bool>,
    /// Sub-agent nesting depth.
    pub spawn_depth: Option<Num>,
    /// Task that launched this one.
    pub parent_task_id: Option<TaskId>,
    /// `local_agent`, `local_bash`, `local_workflow`, ...
    pub task_type: Option<String>,
    /// Workflow script name.
    pub workflow_name: Option<String>,
    /// Prompt text.
    pub prompt: Option<String>,
    /// Housekeeping; hide from transcript.
    pub skip_transcript: Option<bool>,
    /// Not activity; exclude from indicators.
    pub ambient: Option<bool>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What a task used so far.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TaskUsage {
    /// Tokens in all.
    pub total_tokens: Num,
    /// Tool calls so far.
    pub tool_uses: Num,
    /// How long it took, in milliseconds.
    pub duration_ms: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Progress of a running task.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TaskProgress {
    /// Task id.
    pub task_id: TaskId,
    /// Id of one task run; sortable.
    pub run_id: Option<String>,
    /// Tool call id.
    pub tool_use_id: Option<ToolUseId>,
    /// Description.
    pub description: String,
    /// Sub-agent type name.
    pub subagent_type: Option<String>,
    /// Tokens, tool uses, duration.
    pub usage: TaskUsage,
    /// Latest tool used.
    pub last_tool_name: Option<String>,
    /// Progress line.
    pub summary: Option<String>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Where a task stands.
    pub enum TaskStatus {
        Pending = "pending",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Killed = "killed",
        Paused = "paused",
    }
}

/// The fields of a task that changed.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct TaskPatch {
    /// Where it stands.
    pub status: Option<TaskStatus>,
    /// What it is, in words.
    pub description: Option<String>,
    /// When it ended, in epoch milliseconds.
    pub end_time: Option<Num>,
    /// How long it was paused.
    pub total_paused_ms: Option<Num>,
    /// What went wrong.
    pub error: Option<String>,
    /// Started in background.
    pub is_backgrounded: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A task changed; may be the only sign that it ended.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TaskUpdated {
    /// Task id.
    pub task_id: TaskId,
    /// Id of one task run; sortable.
    pub run_id: Option<String>,
    /// Changed task fields to merge.
    pub patch: TaskPatch,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How a task ended.
    pub enum TaskEnd {
        Completed = "completed",
        Failed = "failed",
        Stopped = "stopped",
    }
}

/// A background task ended. A turn that nobody asked for follows.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("handback", "handback_report",))]
pub struct TaskNotification {
    /// Task id.
    pub task_id: TaskId,
    /// Id of one task run; sortable.
    pub run_id: Option<String>,
    /// Tool call id.
    pub tool_use_id: Option<ToolUseId>,
    /// Completed, failed or stopped.
    pub status: TaskEnd,
    /// `worker_restart` only.
    pub reason: Option<String>,
    /// File holding task output.
    pub output_file: String,
    /// Completion summary.
    pub summary: String,
    /// `summary` is the sub-agent's own report, to be shown as such (2.1.327).
    pub summary_is_report: Option<bool>,
    /// Tokens, tool uses, duration.
    pub usage: Option<TaskUsage>,
    /// Files an MCP task returned.
    pub resource_links: Option<Vec<McpResourceLink>>,
    /// Housekeeping; hide from transcript.
    pub skip_transcript: Option<bool>,
    /// Not activity; exclude from indicators.
    pub ambient: Option<bool>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A task that is alive in the background.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct BackgroundTask {
    /// The task.
    pub task_id: TaskId,
    /// Id of one run of the task.
    pub run_id: Option<String>,
    /// `local_agent`, `local_bash`, `local_workflow`, ...
    pub task_type: String,
    /// Type of the sub-agent.
    pub subagent_type: Option<String>,
    /// What it is, in words.
    pub description: String,
    /// Task that started this one.
    pub parent_task_id: Option<TaskId>,
    /// No activity of its own; leave it out of indicators.
    pub ambient: Option<bool>,
    /// The turn waits for it.
    pub awaited: Option<bool>,
    /// It runs elsewhere.
    pub off_host: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The whole set of live background tasks; replaces the one before.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct BackgroundTasksChanged {
    /// Whole live set; replace yours.
    pub tasks: Vec<BackgroundTask>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}
