//! Control requests that steer the session: interrupt, mode, model, tasks, rewind.

use countersign_wire_derive::Wire;

use crate::ids::{MessageUuid, SessionId, TaskId, ToolUseId};
use crate::open::open_enum;
use crate::vocab::PermissionMode;
use crate::{Extra, Nullable, Num};

/// Ends the running turn; the process stays. No result follows when it is idle.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(internal(
    "reason",
    "send_now",
    "message_uuid",
    "for_user_message_uuids",
    "spare_background_tasks",
    "worker_epoch",
))]
pub struct Interrupt {
    /// Also drop queued messages.
    pub cancel_queued: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Which queued messages will still run. Absent before 2.1.197.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("put_back", "send_now", "turn",))]
pub struct InterruptReply {
    /// Messages that will still run.
    pub still_queued: Vec<MessageUuid>,
    /// Messages that were dropped.
    pub cancelled: Option<Vec<MessageUuid>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Changes the permission mode.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("ultraplan", "from_settings",))]
pub struct SetPermissionMode {
    /// The mode.
    pub mode: PermissionMode,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The mode now in force. CLIs up to 2.1.30 reply twice; the first reply counts.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SetPermissionModeReply {
    /// The mode.
    pub mode: Option<PermissionMode>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Changes the model. Null, absent and `default` reset it.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(internal("system_prompt", "only_if_model_is_current",))]
pub struct SetModel {
    /// The model.
    pub model: Nullable<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The model now in force, where the CLI says so.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(internal("model",))]
pub struct SetModelReply {
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How thinking is shown.
    pub enum ThinkingDisplay {
        Summarized = "summarized",
        Omitted = "omitted",
        Highlights = "highlights",
    }
}

/// Changes the thinking budget. Null resets it, absent leaves it.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SetMaxThinkingTokens {
    /// The budget; null resets it.
    pub max_thinking_tokens: Nullable<Num>,
    /// How thinking is shown.
    pub thinking_display: Nullable<ThinkingDisplay>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Who renamed the session.
    pub enum RenameSource {
        Remote = "remote",
        Host = "host",
    }
}

/// Gives the session a title.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("names_chrome_tab_group",))]
pub struct RenameSession {
    /// Its title.
    pub title: String,
    /// Where it comes from.
    pub source: Option<RenameSource>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Gives the session a colour. Declared; 2.1.325 does not support it.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SetColor {
    /// Colour name.
    pub color: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Puts files back to where they were at a user message.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RewindFiles {
    /// The user message to go back to.
    pub user_message_id: MessageUuid,
    /// Only say what would change.
    pub dry_run: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What a rewind would change or did change.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RewindFilesReply {
    /// Whether it is possible.
    #[wire(rename = "canRewind")]
    pub can_rewind: bool,
    /// What went wrong.
    pub error: Option<String>,
    /// Files that change.
    #[wire(rename = "filesChanged")]
    pub files_changed: Option<Vec<String>>,
    /// Lines that come back.
    pub insertions: Option<Num>,
    /// Lines that go.
    pub deletions: Option<Num>,
    /// Links that were left alone.
    #[wire(rename = "skippedLinks")]
    pub skipped_links: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Takes a queued message back.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CancelAsyncMessage {
    /// The message.
    pub message_uuid: MessageUuid,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Whether the message was still in the queue.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CancelAsyncMessageReply {
    /// Whether it was still queued.
    pub cancelled: bool,
    /// The message (2.1.327).
    pub message_uuid: Option<MessageUuid>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Tells the CLI that a file counts as read.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SeedReadState {
    /// Path of the file or folder.
    pub path: String,
    /// Modification time that was seen.
    pub mtime: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Tells the CLI whether anyone watches the stream.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SetHasSubscribers {
    /// Whether anyone watches; null is unknown.
    pub has_subscribers: Nullable<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Ends one background task.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct StopTask {
    /// The task.
    pub task_id: TaskId,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Moves running work to the background.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct BackgroundTasks {
    /// The tool call.
    pub tool_use_id: Option<ToolUseId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Whether anything was moved.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct BackgroundTasksReply {
    /// Whether anything was moved.
    pub backgrounded: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks for the output of a background task.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct GetTaskOutput {
    /// The task.
    pub task_id: TaskId,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The output of a background task.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct GetTaskOutputReply {
    /// The output.
    pub output: String,
    /// Size in all.
    pub total_bytes: Num,
    /// Whether it was cut.
    pub truncated: bool,
    /// Fields this build does not know.
    pub extra: Extra,
}
