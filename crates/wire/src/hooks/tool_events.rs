//! Hook inputs around a tool call.

use countersign_wire_derive::Wire;

use crate::control::{ElicitationAction, ElicitationMode};
use crate::ids::ToolUseId;
use crate::permission::{McpServerProvenance, PermissionUpdate};
use crate::{Extra, Json, Num};

/// A tool is about to be called.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PreToolUseInput {
    /// Name of the tool.
    pub tool_name: String,
    /// The tool's input.
    pub tool_input: Json,
    /// The tool call. CLIs up to 2.0.42 leave it out here; [`crate::control::HookCallback`] names it there too.
    pub tool_use_id: Option<ToolUseId>,
    /// Server serving the tool.
    pub mcp_server: Option<McpServerProvenance>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A tool was called and succeeded.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PostToolUseInput {
    /// Name of the tool.
    pub tool_name: String,
    /// The tool's input.
    pub tool_input: Json,
    /// What the tool gave back.
    pub tool_response: Json,
    /// The tool call. CLIs up to 2.0.42 leave it out here; [`crate::control::HookCallback`] names it there too.
    pub tool_use_id: Option<ToolUseId>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<Num>,
    /// Server serving the tool.
    pub mcp_server: Option<McpServerProvenance>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A tool was called and failed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PostToolUseFailureInput {
    /// Name of the tool.
    pub tool_name: String,
    /// The tool's input.
    pub tool_input: Json,
    /// The tool call. CLIs up to 2.0.42 leave it out here; [`crate::control::HookCallback`] names it there too.
    pub tool_use_id: Option<ToolUseId>,
    /// What went wrong.
    pub error: String,
    /// An interrupt ended it.
    pub is_interrupt: Option<bool>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<Num>,
    /// Server serving the tool.
    pub mcp_server: Option<McpServerProvenance>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// One call of a batch.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct BatchedToolCall {
    /// Name of the tool.
    pub tool_name: String,
    /// The tool's input.
    pub tool_input: Json,
    /// The tool call. CLIs up to 2.0.42 leave it out here; [`crate::control::HookCallback`] names it there too.
    pub tool_use_id: Option<ToolUseId>,
    /// What the tool gave back.
    pub tool_response: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// All calls of one model message are done.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PostToolBatchInput {
    /// The calls.
    pub tool_calls: Vec<BatchedToolCall>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A call needs permission; races with `can_use_tool`.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PermissionRequestInput {
    /// Name of the tool.
    pub tool_name: String,
    /// The tool's input.
    pub tool_input: Json,
    /// Ready-made rule updates.
    pub permission_suggestions: Option<Vec<PermissionUpdate>>,
    /// Server serving the tool.
    pub mcp_server: Option<McpServerProvenance>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A call was denied.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PermissionDeniedInput {
    /// Name of the tool.
    pub tool_name: String,
    /// The tool's input.
    pub tool_input: Json,
    /// The tool call. CLIs up to 2.0.42 leave it out here; [`crate::control::HookCallback`] names it there too.
    pub tool_use_id: Option<ToolUseId>,
    /// Why.
    pub reason: String,
    /// Server serving the tool.
    pub mcp_server: Option<McpServerProvenance>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// An MCP server asks the person something.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ElicitationInput {
    /// MCP server.
    pub mcp_server_name: String,
    /// The message.
    pub message: String,
    /// The mode.
    pub mode: Option<ElicitationMode>,
    /// Web address.
    pub url: Option<String>,
    /// Finished URL elicitation.
    pub elicitation_id: Option<String>,
    /// JSON schema of the form.
    pub requested_schema: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A question of an MCP server was answered.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ElicitationResultInput {
    /// MCP server.
    pub mcp_server_name: String,
    /// Finished URL elicitation.
    pub elicitation_id: Option<String>,
    /// The mode.
    pub mode: Option<ElicitationMode>,
    /// What is done.
    pub action: ElicitationAction,
    /// Its content.
    pub content: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}
