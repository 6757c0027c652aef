//! User-role messages: the one kind of message that travels both ways.

use countersign_wire_derive::Wire;

use crate::content::{Content, UserPayload};
use crate::ids::{AgentId, MessageUuid, SessionId, TaskId, ToolUseId};
use crate::vocab::Priority;
use crate::{Bare, Extra, Json, Kept, Nullable};

/// A user-role message, in either direction: prompts, tool results, what the CLI injects, and replays.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal(
    "requeue_if_interrupted_within_ms",
    "client_platform",
    "inbound_origin",
    "server_received_wall_ms",
    "historical",
    "is_meta",
    "seeded_summon",
    "text_not_typed",
    "initiator",
    "is_visible_in_transcript_only",
    "is_virtual",
    "is_compact_summary",
    "summarize_metadata",
    "mcp_meta",
    "tool_result_meta",
    "source_tool_use_id",
    "source_tool_assistant_uuid",
    "image_paste_ids",
    "plan_content",
    "permission_mode",
    "interrupted_message_id",
    "refused_message_id",
    "retracted_message_uuids",
    "plugin_prompt",
    "ultrathink_typed",
    "file_attachments",
    "tool_states",
))]
pub struct UserMessage {
    /// API message payload.
    pub message: UserPayload,
    /// Spawning tool call; null on main thread.
    pub parent_tool_use_id: Nullable<ToolUseId>,
    /// CLI-made, not typed by a person.
    #[wire(rename = "isSynthetic")]
    pub is_synthetic: Option<bool>,
    /// Tool's structured output object.
    pub tool_use_result: Option<Json>,
    /// Queue priority.
    pub priority: Option<Priority>,
    /// Provenance of the prompt.
    pub origin: Option<MessageOrigin>,
    /// False = append without starting a turn.
    #[wire(rename = "shouldQuery")]
    pub should_query: Option<bool>,
    /// ISO creation time; display only.
    pub timestamp: Option<String>,
    /// Deliver verbatim; no @path, no slash.
    pub client_composed: Option<bool>,
    /// Client-chosen id, echoed back.
    pub uuid: Option<MessageUuid>,
    /// Pastes removed from text, appended after.
    pub pasted_content: Option<Vec<Content>>,
    /// Paste texts still inside message.
    pub inline_pastes: Option<Vec<String>>,
    /// Session id; SDKs send "" or "default".
    pub session_id: Option<SessionId>,
    /// Sub-agent id (same as its `task_id`).
    pub agent_id: Option<AgentId>,
    /// Sub-agent type name.
    pub subagent_type: Option<String>,
    /// Sub-agent task text.
    pub task_description: Option<String>,
    /// An echo of a message the host sent, or of history.
    #[wire(rename = "isReplay")]
    pub is_replay: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

impl UserMessage {
    /// A prompt of the host. Give it a `uuid` to recognise its turn by.
    pub fn prompt(content: impl Into<Content>) -> Self {
        Self {
            message: UserPayload {
                role: "user".to_owned(),
                content: content.into(),
                extra: Extra::default(),
            },
            parent_tool_use_id: Nullable::Null,
            is_synthetic: None,
            tool_use_result: None,
            priority: None,
            origin: None,
            should_query: None,
            timestamp: None,
            client_composed: None,
            uuid: None,
            pasted_content: None,
            inline_pastes: None,
            session_id: None,
            agent_id: None,
            subagent_type: None,
            task_description: None,
            is_replay: None,
            extra: Extra::default(),
        }
    }
}

/// Who wrote a prompt.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "kind")]
#[non_exhaustive]
pub enum MessageOrigin {
    /// A person.
    #[wire("human")]
    Human(Bare),
    /// A channel of an MCP server.
    #[wire("channel")]
    Channel(ChannelOrigin),
    /// Another session.
    #[wire("peer")]
    Peer(Box<PeerOrigin>),
    /// A background task that ended.
    #[wire("task-notification")]
    TaskNotification(TaskOrigin),
    /// A coordinator.
    #[wire("coordinator")]
    Coordinator(Bare),
    /// Nobody knows.
    #[wire("unclassified")]
    Unclassified(Bare),
    /// An observing sub-agent.
    #[wire("observer")]
    Observer(ObserverOrigin),
    /// The CLI itself, to go on.
    #[wire("auto-continuation")]
    AutoContinuation(Bare),
    /// What an observer saw.
    #[wire("observer-activity")]
    ObserverActivity(Bare),
    /// A voice call.
    #[wire("voice-call")]
    VoiceCall(VoiceCallOrigin),
    /// An origin this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// A channel of an MCP server.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ChannelOrigin {
    /// Name of the MCP server.
    pub server: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Another session.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(
    rename_all = "camelCase",
    internal(
        "inbound_origin",
        "senderTaskId",
        "body",
        "verifiedPeerPid",
        "handback",
        "flagged",
        "handbackNote",
        "handbackReportText",
        "members"
    )
)]
pub struct PeerOrigin {
    /// The sender.
    pub from: String,
    /// How the sender treats permissions.
    pub from_mode: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// The sender's session.
    pub from_session: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A background task that ended.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(rename_all = "camelCase")]
pub struct TaskOrigin {
    /// Which kind of notification.
    pub subkind: Option<String>,
    /// Why it fired.
    pub fire_reason: Option<String>,
    /// Who made it.
    pub producer: Option<String>,
    /// The run of the task.
    pub run_id: Option<String>,
    /// Which kind of task.
    pub task_kind: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// An observing sub-agent.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(rename_all = "camelCase")]
pub struct ObserverOrigin {
    /// The observer.
    pub from: String,
    /// Its task.
    pub sender_task_id: TaskId,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A voice call.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(rename_all = "camelCase")]
pub struct VoiceCallOrigin {
    /// The request.
    pub request_uuid: Option<String>,
    /// What it answers.
    pub in_reply_to_uuid: Option<String>,
    /// When it was said.
    pub said_at: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}
