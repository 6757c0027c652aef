//! How MCP servers are configured, in flags, requests and status replies.

use std::collections::BTreeMap;

use countersign_wire_derive::Wire;

use crate::control::McpToolPolicy;
use crate::{Extra, Kept, Num};

/// How an MCP server is reached. Without a `type` it is a command ([`McpServerConfig::Implied`]).
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum McpServerConfig {
    /// A command that speaks over its stdio.
    #[wire("stdio")]
    Stdio(McpStdioServer),
    /// The same, without saying so.
    #[wire(implied)]
    Implied(McpStdioServer),
    /// A server of the older HTTP transport.
    #[wire("sse")]
    Sse(McpHttpServer),
    /// A server of the HTTP transport.
    #[wire("http")]
    Http(McpHttpServer),
    /// A server inside the host.
    #[wire("sdk")]
    Sdk(McpSdkServer),
    /// A server the vendor relays; in status replies only.
    #[wire("claudeai-proxy")]
    ClaudeAiProxy(McpProxyServer),
    /// A transport this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// A command that speaks over its stdio.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(rename_all = "camelCase", internal("role"))]
pub struct McpStdioServer {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Option<Vec<String>>,
    /// Environment to add.
    pub env: Option<BTreeMap<String, String>>,
    /// Time limit of a call in milliseconds; below 1000 it is ignored.
    pub timeout: Option<Num>,
    /// Load its tools at once rather than on demand.
    pub always_load: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A server that is reached over HTTP.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(
    rename_all = "camelCase",
    internal("request_timeout_ms", "displayName", "role")
)]
pub struct McpHttpServer {
    /// Its address.
    pub url: String,
    /// Headers to send.
    pub headers: Option<BTreeMap<String, String>>,
    /// Policies of single tools.
    pub tools: Option<Vec<McpToolPolicy>>,
    /// Time limit of a call in milliseconds; below 1000 it is ignored.
    pub timeout: Option<Num>,
    /// Load its tools at once rather than on demand.
    pub always_load: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A server inside the host; its messages travel as `mcp_message`.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(
    rename_all = "camelCase",
    internal(
        "disableAutoBackground",
        "connectorId",
        "autoModeVerdictTools",
        "dataFlowServer"
    )
)]
pub struct McpSdkServer {
    /// Its name.
    pub name: String,
    /// Time limit of a call in milliseconds; below 1000 it is ignored.
    pub timeout: Option<Num>,
    /// Policies of single tools; only `always_ask` and `always_deny` take effect.
    pub tools: Option<Vec<McpToolPolicy>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A server the vendor relays.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpProxyServer {
    /// Its address.
    pub url: String,
    /// Its id.
    pub id: String,
    /// Time limit of a call in milliseconds.
    pub timeout: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}
