//! Things that several control requests and replies speak of.

use std::collections::BTreeMap;

use countersign_wire_derive::Wire;

use crate::mcp::McpServerConfig;
use crate::open::open_enum;
use crate::vocab::{Effort, PermissionMode};
use crate::{Extra, Json, Num, TextOr};

/// A slash command or skill.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SlashCommand {
    /// Its name.
    pub name: String,
    /// What it is, in words.
    pub description: String,
    /// What arguments look like.
    #[wire(rename = "argumentHint")]
    pub argument_hint: String,
    /// Other names.
    pub aliases: Option<Vec<String>>,
    /// It comes with the CLI.
    pub builtin: Option<bool>,
    /// Plugin it belongs to.
    pub plugin: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A sub-agent that can be used.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// What it is, in words.
    pub description: String,
    /// The model.
    pub model: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ModelInfo {
    /// Goal state; null when cleared.
    pub value: String,
    /// The model behind the name.
    #[wire(rename = "resolvedModel")]
    pub resolved_model: Option<String>,
    /// Name to show.
    #[wire(rename = "displayName")]
    pub display_name: String,
    /// What it is, in words.
    pub description: String,
    /// Effort can be set.
    #[wire(rename = "supportsEffort")]
    pub supports_effort: Option<bool>,
    /// Efforts it knows.
    #[wire(rename = "supportedEffortLevels")]
    pub supported_effort_levels: Option<Vec<Effort>>,
    /// It can decide itself how much to think.
    #[wire(rename = "supportsAdaptiveThinking")]
    pub supports_adaptive_thinking: Option<bool>,
    /// Fast mode is possible.
    #[wire(rename = "supportsFastMode")]
    pub supports_fast_mode: Option<bool>,
    /// The auto permission mode is possible.
    #[wire(rename = "supportsAutoMode")]
    pub supports_auto_mode: Option<bool>,
    /// Thinking can be switched off.
    #[wire(rename = "supportsThinkingOff")]
    pub supports_thinking_off: Option<bool>,
    /// It cannot be used now.
    pub disabled: Option<bool>,
    /// List price behind a promotion.
    #[wire(rename = "promoListPrice")]
    pub promo_list_price: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What is wrong in a settings file.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SettingsParseError {
    /// The file.
    pub file: Option<String>,
    /// Path of the file or folder.
    pub path: String,
    /// The message.
    pub message: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Which memory a sub-agent keeps.
    pub enum AgentMemory {
        User = "user",
        Project = "project",
        Local = "local",
    }
}

/// A sub-agent the host defines.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct AgentDefinition {
    /// What it is, in words.
    pub description: String,
    /// Tools.
    pub tools: Option<Vec<String>>,
    /// Tools it may not use.
    #[wire(rename = "disallowedTools")]
    pub disallowed_tools: Option<Vec<String>>,
    /// The prompt.
    pub prompt: String,
    /// The model.
    pub model: Option<String>,
    /// MCP servers.
    #[wire(rename = "mcpServers")]
    pub mcp_servers: Option<Vec<TextOr<BTreeMap<String, McpServerConfig>>>>,
    /// Reminder repeated to the model.
    #[wire(rename = "criticalSystemReminder_EXPERIMENTAL")]
    pub critical_system_reminder_experimental: Option<String>,
    /// Skills.
    pub skills: Option<Vec<String>>,
    /// Prompt it starts with.
    #[wire(rename = "initialPrompt")]
    pub initial_prompt: Option<String>,
    /// Most round trips.
    #[wire(rename = "maxTurns")]
    pub max_turns: Option<Num>,
    /// Context size at which it compacts.
    #[wire(rename = "autoCompactWindow")]
    pub auto_compact_window: Option<Num>,
    /// It runs in the background.
    pub background: Option<bool>,
    /// It does not get the instructions files.
    #[wire(rename = "omitClaudeMd")]
    pub omit_claude_md: Option<bool>,
    /// Which memory it keeps.
    pub memory: Option<AgentMemory>,
    /// How much work to put in.
    pub effort: Option<Json>,
    /// Permission mode.
    #[wire(rename = "permissionMode")]
    pub permission_mode: Option<PermissionMode>,
    /// Sub-agent that watches it.
    pub observer: Option<String>,
    /// What the observer is told.
    #[wire(rename = "observerMessage")]
    pub observer_message: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A plugin the host brings along.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PluginConfig {
    /// Always `local`.
    #[wire(rename = "type")]
    pub kind: String,
    /// Path of the file or folder.
    pub path: String,
    /// Do not start its MCP servers.
    #[wire(rename = "skipMcpDiscovery")]
    pub skip_mcp_discovery: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What happens to the call when a hook fails.
    pub enum OnFailure {
        Continue = "continue",
        Block = "block",
    }
}

/// Which calls go to which callbacks.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("whenUnanswered", "contextOnly", "replacedByFrame"))]
pub struct HookMatcher {
    /// Tool names: exact, a `|` list, or a regular expression; absent, empty or `*` is all.
    pub matcher: Option<String>,
    /// Callbacks to call, all at once.
    #[wire(rename = "hookCallbackIds")]
    pub hook_callback_ids: Vec<String>,
    /// Time limit in seconds.
    pub timeout: Option<Num>,
    /// What happens when the hook fails.
    #[wire(rename = "onFailure")]
    pub on_failure: Option<OnFailure>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What is fixed for a tool of an MCP server.
    pub enum McpPermissionPolicy {
        AlwaysAllow = "always_allow",
        AlwaysAsk = "always_ask",
        AlwaysDeny = "always_deny",
    }
}

open_enum! {
    /// The most the organisation permits.
    pub enum OrgMaxPermission {
        Allow = "allow",
        Ask = "ask",
        Blocked = "blocked",
    }
}

/// The policy for one tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpToolPolicy {
    /// Its name.
    pub name: String,
    /// What is fixed for the tool.
    pub permission_policy: Option<McpPermissionPolicy>,
    /// The most the organisation permits.
    pub org_max_permission: Option<OrgMaxPermission>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A file that an MCP task gave back.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpResourceLink {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// What it is, in words.
    pub description: Option<String>,
    /// Media type.
    #[wire(rename = "mimeType")]
    pub mime_type: Option<String>,
    /// Size in bytes.
    pub size: Option<Num>,
    /// Hints about it.
    pub annotations: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Whether an MCP server can be used.
    pub enum McpConnection {
        Connected = "connected",
        Failed = "failed",
        NeedsAuth = "needs-auth",
        Pending = "pending",
        Disabled = "disabled",
    }
}

/// How an MCP server names itself.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Why an MCP server cannot be used.
    pub enum McpErrorCode {
        ClaudeaiBearerRejected = "CLAUDEAI_BEARER_REJECTED",
        FirstPartyAuthRejected = "FIRST_PARTY_AUTH_REJECTED",
        ApprovalRequired = "APPROVAL_REQUIRED",
        ClaudeaiConnectorsDisabled = "CLAUDEAI_CONNECTORS_DISABLED",
        ClientRegistrationUnavailable = "CLIENT_REGISTRATION_UNAVAILABLE",
    }
}

/// What an MCP server says of its tool. Hints, not promises.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct McpToolAnnotations {
    /// It says it only reads.
    #[wire(rename = "readOnly")]
    pub read_only: Option<bool>,
    /// It says it may destroy.
    pub destructive: Option<bool>,
    /// It says it reaches beyond this machine.
    #[wire(rename = "openWorld")]
    pub open_world: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpTool {
    /// Its name.
    pub name: String,
    /// What it is, in words.
    pub description: Option<String>,
    /// Hints about it.
    pub annotations: Option<McpToolAnnotations>,
    /// Free-form metadata.
    #[wire(rename = "_meta")]
    pub meta: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What an MCP server can do.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct McpCapabilities {
    /// Experimental capabilities.
    pub experimental: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// An MCP server and its state.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpServerStatus {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub status: McpConnection,
    /// How the server names itself.
    #[wire(rename = "serverInfo")]
    pub server_info: Option<McpServerInfo>,
    /// What went wrong.
    pub error: Option<String>,
    /// ENOSPC or EDQUOT.
    pub error_code: Option<McpErrorCode>,
    /// How it is configured.
    pub config: Option<McpServerConfig>,
    /// How it is reached.
    pub transport: Option<String>,
    /// It is reached through the session.
    #[wire(rename = "sessionProxied")]
    pub session_proxied: Option<bool>,
    /// The vendor runs it.
    #[wire(rename = "cloudServiceProvided")]
    pub cloud_service_provided: Option<bool>,
    /// Host of its address.
    #[wire(rename = "urlHost")]
    pub url_host: Option<String>,
    /// Which settings it comes from.
    pub scope: Option<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// Tools.
    pub tools: Option<Vec<McpTool>>,
    /// How many tools it has.
    #[wire(rename = "toolCount")]
    pub tool_count: Option<Num>,
    /// What this CLI can do; an open set of words.
    pub capabilities: Option<McpCapabilities>,
    /// Fields this build does not know.
    pub extra: Extra,
}
