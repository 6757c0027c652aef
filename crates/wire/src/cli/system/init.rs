//! `system/init`: the state of the session at the start of a turn.

use countersign_wire_derive::Wire;

use crate::ids::{MessageUuid, SessionId};
use crate::open::open_enum;
use crate::vocab::{Effort, FastModeDisabledReason, FastModeState, PermissionMode};
use crate::{Extra, Nullable};

open_enum! {
    /// Where the credential came from.
    pub enum ApiKeySource {
        AnthropicApiKey = "ANTHROPIC_API_KEY",
        ApiKeyHelper = "apiKeyHelper",
        LoginManagedKey = "/login managed key",
        None = "none",
        User = "user",
        Project = "project",
        Org = "org",
        Temporary = "temporary",
        Oauth = "oauth",
    }
}

/// An MCP server as `init` lists it.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct InitMcpServer {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub status: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A loaded plugin.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PluginInfo {
    /// Its name.
    pub name: String,
    /// Path of the file or folder.
    pub path: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The administrator's hold on a plugin.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ManagedLock {
    /// Whether the administrator switched the plugin on.
    pub plugin_enabled: bool,
    /// Its name.
    pub name: String,
    /// Marketplace it comes from.
    pub marketplace: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A plugin that failed to load.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PluginError {
    /// Plugin it belongs to.
    pub plugin: String,
    /// Its type.
    #[wire(rename = "type")]
    pub kind: String,
    /// The message.
    pub message: String,
    /// Path of the file or folder.
    pub path: Option<String>,
    /// The administrator's hold on it.
    pub managed_lock: Option<ManagedLock>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How the transcript is shown in a terminal.
    pub enum ViewMode {
        Focus = "focus",
        Default = "default",
    }
}

/// The state of the session, sent at the start of *every* turn, never at process start.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal(
    "startup_timing",
    "plugin_warnings",
    "mcp_server_errors",
    "footer_indicator",
    "per_turn_effort_active",
    "ultrathink_available",
    "ultrathink_typed_raises",
    "analytics_disabled",
    "product_feedback_disabled",
    "memory_paths",
    "scratchpad_path",
    "original_cwd",
    "additional_directories",
    "synced_skills_path",
    "worker_epoch",
    "powershell_path",
    "client_thinking",
    "flag_restate_noop",
    "cloud_session",
    "host_dropped_env",
))]
pub struct Init {
    /// Available sub-agents.
    pub agents: Option<Vec<String>>,
    /// Where the credential came from.
    #[wire(rename = "apiKeySource")]
    pub api_key_source: Option<ApiKeySource>,
    /// Beta headers in use.
    pub betas: Option<Vec<String>>,
    /// CLI version. 1.0.128 leaves it out.
    pub claude_code_version: Option<String>,
    /// Working directory.
    pub cwd: String,
    /// Tool names in session.
    pub tools: Vec<String>,
    /// Server name, status, source.
    pub mcp_servers: Option<Vec<InitMcpServer>>,
    /// Session model.
    pub model: String,
    /// Current permission mode.
    #[wire(rename = "permissionMode")]
    pub permission_mode: Option<PermissionMode>,
    /// Command names.
    pub slash_commands: Option<Vec<String>>,
    /// Commands bound to a terminal.
    pub terminal_slash_commands: Option<Vec<String>>,
    /// Active output style.
    pub output_style: Option<String>,
    /// Loaded skill names. CLIs before skills leave them out.
    pub skills: Option<Vec<String>>,
    /// Loaded plugins. CLIs before plugins leave them out.
    pub plugins: Option<Vec<PluginInfo>>,
    /// Plugins that failed to load.
    pub plugin_errors: Option<Vec<PluginError>>,
    /// Fast mode off/cooldown/on.
    pub fast_mode_state: Option<FastModeState>,
    /// What blocks fast mode.
    pub fast_mode_disabled_reason: Option<FastModeDisabledReason>,
    /// Effort for next message.
    pub effort: Nullable<Effort>,
    /// Transcript view: focus or default.
    pub view_mode: Option<ViewMode>,
    /// Feature tokens; open set.
    pub capabilities: Option<Vec<String>>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Unix socket through which other sessions reach this one (2.1.325).
    pub messaging_socket_path: Option<String>,
    /// The prompts this turn answers, by the host's ids (2.1.325).
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Fields this build does not know.
    pub extra: Extra,
}
