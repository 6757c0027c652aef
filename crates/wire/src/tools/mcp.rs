//! Inputs of the tools that work with MCP servers.

use countersign_wire_derive::Wire;

use crate::Extra;

/// Lists resources of MCP servers.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ListMcpResourcesInput {
    /// Name of the MCP server.
    pub server: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads the tools of MCP servers again.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct RefreshMcpToolsInput {
    /// Name of the MCP server.
    pub server: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Lists a folder of an MCP server.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ReadMcpResourceDirInput {
    /// Name of the MCP server.
    pub server: String,
    /// Its address.
    pub uri: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads a resource of an MCP server.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ReadMcpResourceInput {
    /// Name of the MCP server.
    pub server: String,
    /// Its address.
    pub uri: String,
    /// Fields this build does not know.
    pub extra: Extra,
}
