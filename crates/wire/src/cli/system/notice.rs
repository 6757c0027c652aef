//! System messages that a person is meant to read.

use countersign_wire_derive::Wire;

use crate::control::DecisionReasonCode;
use crate::ids::{AgentId, MessageUuid, SessionId, ToolUseId};
use crate::open::open_enum;
use crate::{Extra, Num};

open_enum! {
    /// How loud a notice is.
    pub enum NoticeLevel {
        Info = "info",
        Notice = "notice",
        Suggestion = "suggestion",
        Warning = "warning",
    }
}

/// A plain text the CLI would show.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("prompt_submit_outcome", "model_restriction", "hook_no_verdict",))]
pub struct Informational {
    /// Text to display.
    pub content: String,
    /// Render level.
    pub level: NoticeLevel,
    /// Tool call id.
    pub tool_use_id: Option<ToolUseId>,
    /// Execution stops after this.
    pub prevent_continuation: Option<bool>,
    /// Opaque feature tag.
    pub tag: Option<String>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How urgent a notification is.
    pub enum NotificationPriority {
        Low = "low",
        Medium = "medium",
        High = "high",
        Immediate = "immediate",
    }
}

/// A short notification the CLI would show.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct Notification {
    /// Dedupe key.
    pub key: String,
    /// Text.
    pub text: String,
    /// Low to immediate.
    pub priority: NotificationPriority,
    /// Colour name.
    pub color: Option<String>,
    /// Display time.
    pub timeout_ms: Option<Num>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What a slash command printed that needed no model.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct LocalCommandOutput {
    /// Text to display.
    pub content: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A call was denied without asking anyone. Advisory: the result has the full list.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PermissionDenied {
    /// Tool name.
    pub tool_name: String,
    /// Tool call id.
    pub tool_use_id: ToolUseId,
    /// Sub-agent id (same as its `task_id`).
    pub agent_id: Option<AgentId>,
    /// Kind of deciding component.
    pub decision_reason_type: Option<String>,
    /// The reason as a word for programs.
    pub decision_reason_code: Option<DecisionReasonCode>,
    /// Human-readable reason.
    pub decision_reason: Option<String>,
    /// Text returned to model.
    pub message: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A question that was answered on a web page is done.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ElicitationComplete {
    /// MCP server.
    pub mcp_server_name: String,
    /// Finished URL elicitation.
    pub elicitation_id: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}
