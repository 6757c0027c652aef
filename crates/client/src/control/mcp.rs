//! Calls about MCP servers.

use std::collections::BTreeMap;

use countersign_wire::control::{
    McpCall, McpCallReply, McpMessage, McpReadResource, McpReadResourceReply, McpReconnect,
    McpServerStatus, McpSetServers, McpSetServersReply, McpStatus, McpToggle,
};
use countersign_wire::mcp::McpServerConfig;
use countersign_wire::{Extra, Json};

use crate::error::Result;
use crate::session::Handle;

impl Handle {
    /// The MCP servers and their state.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_status(&self) -> Result<Vec<McpServerStatus>> {
        let reply = self.call(McpStatus::default()).await?;
        Ok(reply.mcp_servers)
    }

    /// Replaces the MCP servers that were added while running, and the in-process ones too: list all that should stay.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_set_servers(
        &self,
        servers: BTreeMap<String, McpServerConfig>,
    ) -> Result<McpSetServersReply> {
        let extra = Extra::default();
        self.call(McpSetServers { servers, extra }).await
    }

    /// Connects to an MCP server again.
    ///
    /// # Errors
    /// As [`Handle::call`]; "Server not found" for an unknown one.
    pub async fn mcp_reconnect(&self, server: &str) -> Result<()> {
        let request = McpReconnect {
            server_name: server.to_owned(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// Switches an MCP server on or off.
    ///
    /// # Errors
    /// As [`Handle::call`]; "Server not found" for an unknown one.
    pub async fn mcp_toggle(&self, server: &str, enabled: bool) -> Result<()> {
        let request = McpToggle {
            server_name: server.to_owned(),
            enabled,
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// Sends a message of an in-process MCP server. [`crate::mcp`] does this by itself.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_message(&self, server: &str, message: Json) -> Result<()> {
        let request = McpMessage {
            server_name: server.to_owned(),
            message,
            extra: Extra::default(),
        };
        self.call(request).await.map(drop)
    }

    /// Calls a tool of an MCP server, beside the conversation (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_call(&self, request: McpCall) -> Result<McpCallReply> {
        self.call_if_known(request).await
    }

    /// Reads a resource of an MCP server (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn mcp_read_resource(&self, server: &str, uri: &str) -> Result<McpReadResourceReply> {
        let request = McpReadResource {
            server_name: server.to_owned(),
            uri: uri.to_owned(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }
}
