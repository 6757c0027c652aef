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
#[wire(internal(
    "prompt_submit_outcome",
    "model_restriction",
    "hook_no_verdict",
    "highlight",
    "launchedAgentId",
))]
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
    /// For the model only. Written where a line of the stored transcript is sent as it is (2.1.327).
    #[wire(rename = "isMeta")]
    pub is_meta: Option<bool>,
    /// ISO time at which it was stored (2.1.327).
    pub timestamp: Option<String>,
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

open_enum! {
    /// Why a call that was allowed late does not run. Any word means that it did not.
    pub enum LateAllowReason {
        TurnRunning = "turn_running",
        CardOpen = "card_open",
        CallGone = "call_gone",
        InvalidAnswer = "invalid_answer",
        Limited = "limited",
        Stopped = "stopped",
        Declined = "declined",
        AskedAgain = "asked_again",
        Withdrawn = "withdrawn",
        Expired = "expired",
        NotRun = "not_run",
    }
}

/// A call that was allowed after its question had been closed did not run, and will not (2.1.327).
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct LateAllowNotRun {
    /// The answer's request id, which the CLI does not check.
    pub request_id: Option<String>,
    /// The call.
    pub tool_use_id: Option<ToolUseId>,
    /// Why.
    pub reason: Option<LateAllowReason>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The folder that a command of the main thread left the shell in (2.1.327). It comes from the model's own `cd`.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ShellCwd {
    /// The folder.
    pub cwd: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}
