//! Control requests about MCP servers.

use std::collections::BTreeMap;

use countersign_wire_derive::Wire;

use crate::control::McpServerStatus;
use crate::mcp::McpServerConfig;
use crate::{Extra, Json, Num};

/// Asks for the state of all MCP servers.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct McpStatus {
    /// Answer from live state.
    #[wire(rename = "liveReply")]
    pub live_reply: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The MCP servers and their states.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpStatusReply {
    /// MCP servers.
    #[wire(rename = "mcpServers")]
    pub mcp_servers: Vec<McpServerStatus>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A file handed to an MCP tool.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpInputFile {
    /// Its name.
    pub name: String,
    /// Path in the exchange area.
    pub lane_path: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A file expected from an MCP tool.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpOutputFile {
    /// Its name.
    pub name: String,
    /// Path in the exchange area.
    pub lane_path: String,
    /// Only replace this version.
    pub if_match: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Calls an MCP tool without the model.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpCall {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub arguments: Option<Json>,
    /// When the call is no longer wanted.
    pub expires_at: Option<String>,
    /// Time limit in milliseconds.
    pub timeout_ms: Option<Num>,
    /// The model does not see the result.
    pub result_not_for_model: Option<bool>,
    /// Permission rules apply.
    pub check_permissions: Option<bool>,
    /// Files it reads.
    pub input_files: Option<Vec<McpInputFile>>,
    /// Files it writes.
    pub output_files: Option<Vec<McpOutputFile>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the MCP tool gave back.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpCallReply {
    /// Its content.
    pub content: Json,
    /// Structured result.
    #[wire(rename = "structuredContent")]
    pub structured_content: Option<Json>,
    /// Free-form metadata.
    #[wire(rename = "_meta")]
    pub meta: Option<Json>,
    /// What became of the files.
    pub staging: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A JSON-RPC message to or from an MCP server that runs in the host.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpMessage {
    /// Name of the MCP server.
    pub server_name: String,
    /// The message.
    pub message: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Replaces all MCP servers that were added while running.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("hint", "denied_tools",))]
pub struct McpSetServers {
    /// Servers by name.
    pub servers: BTreeMap<String, McpServerConfig>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpSetServersReply {
    /// Servers that were added.
    pub added: Vec<String>,
    /// Servers that were removed.
    pub removed: Vec<String>,
    /// What went wrong.
    pub errors: BTreeMap<String, String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Connects an MCP server again.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpReconnect {
    /// Name of the MCP server.
    #[wire(rename = "serverName")]
    pub server_name: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Switches an MCP server on or off.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpToggle {
    /// Name of the MCP server.
    #[wire(rename = "serverName")]
    pub server_name: String,
    /// On or off.
    pub enabled: bool,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads a resource of an MCP server.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpReadResource {
    /// Name of the MCP server.
    #[wire(rename = "serverName")]
    pub server_name: String,
    /// Its address.
    pub uri: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// One part of a resource.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpResourceContents {
    /// Its address.
    pub uri: String,
    /// Media type.
    #[wire(rename = "mimeType")]
    pub mime_type: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// Binary contents, base64.
    pub blob: Option<String>,
    /// Free-form metadata.
    #[wire(rename = "_meta")]
    pub meta: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The contents of a resource.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpReadResourceReply {
    /// The contents.
    pub contents: Vec<McpResourceContents>,
    /// Fields this build does not know.
    pub extra: Extra,
}
