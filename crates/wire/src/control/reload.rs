//! Control requests that make the CLI read plugins, skills, styles and folders again.

use countersign_wire_derive::Wire;

use crate::cli::PluginInfo;
use crate::control::{AgentInfo, McpServerStatus, PluginConfig, SlashCommand};
use crate::open::open_enum;
use crate::{Extra, Nullable, Num};

/// Reads plugins again.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ReloadPlugins {
    /// Do nothing if the prompt cache would suffer.
    pub hold_on_cache_impact: Option<bool>,
    /// Plugins to add.
    pub add_plugins: Option<Vec<PluginConfig>>,
    /// Refuse while a turn runs.
    pub refuse_if_busy: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What happens to the language-server tool.
    pub enum LspToolChange {
        Adds = "adds",
        MayAdd = "may-add",
        Removes = "removes",
        MayRemove = "may-remove",
    }
}

/// What a reload would cost in prompt cache.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CacheImpact {
    /// MCP servers that would come.
    pub mcp_servers_added: Vec<String>,
    /// MCP servers that would go.
    pub mcp_servers_removed: Vec<String>,
    /// What happens to the language-server tool.
    pub lsp_tool_change: Nullable<LspToolChange>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What is loaded now.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ReloadPluginsReply {
    /// Slash commands.
    pub commands: Vec<SlashCommand>,
    /// Sub-agents.
    pub agents: Vec<AgentInfo>,
    /// Plugins.
    pub plugins: Vec<PluginInfo>,
    /// MCP servers.
    #[wire(rename = "mcpServers")]
    pub mcp_servers: Vec<McpServerStatus>,
    /// How many failed.
    pub error_count: Num,
    /// Nothing was done, because of the cache.
    pub held: Option<bool>,
    /// What it would cost in prompt cache.
    pub cache_impact: Option<CacheImpact>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads skills again.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ReloadSkills {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The skills now loaded.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ReloadSkillsReply {
    /// Skills.
    pub skills: Vec<SlashCommand>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads output styles again.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ReloadOutputStyles {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The output styles now known.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ReloadOutputStylesReply {
    /// Style names.
    pub available_output_styles: Vec<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Adds a repository to the session.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RegisterRepoRoot {
    /// The folder.
    pub directory: String,
    /// Read instructions files again.
    pub reload_claude_md: Option<bool>,
    /// Read plugins again.
    pub reload_plugins: Option<bool>,
    /// Read skills again.
    pub reload_skills: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The folder that was added.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RegisterRepoRootReply {
    /// The folder.
    pub directory: String,
    /// Fields this build does not know.
    pub extra: Extra,
}
