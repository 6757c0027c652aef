//! `initialize`, the host's introduction, and what the CLI says to it.

use std::collections::BTreeMap;

use countersign_wire_derive::Wire;

use crate::cli::SessionState;
use crate::control::{
    AgentDefinition, AgentInfo, HookMatcher, McpToolPolicy, ModelInfo, PluginConfig, SlashCommand,
};
use crate::mcp::McpServerConfig;
use crate::open::open_enum;
use crate::vocab::{FastModeDisabledReason, FastModeState, PermissionMode};
use crate::{Extra, Json, Num};

/// Settings of one MCP server that runs in the host.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SdkMcpServerConfig {
    /// Time limit.
    pub timeout: Option<Num>,
    /// Do not move its calls to the background.
    #[wire(rename = "disableAutoBackground")]
    pub disable_auto_background: Option<bool>,
    /// Id of the connector behind it.
    #[wire(rename = "connectorId")]
    pub connector_id: Option<String>,
    /// Tools that the auto mode may judge.
    #[wire(rename = "autoModeVerdictTools")]
    pub auto_mode_verdict_tools: Option<Vec<String>>,
    /// What is behind it, for data-flow rules.
    #[wire(rename = "dataFlowServer")]
    pub data_flow_server: Option<Json>,
    /// Tools.
    pub tools: Option<Vec<McpToolPolicy>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The handshake of an in-process MCP server, done ahead.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SdkMcpManifest {
    /// Its answer to `initialize`.
    #[wire(rename = "initializeResult")]
    pub initialize_result: Json,
    /// Its answer to `tools/list`.
    #[wire(rename = "toolsListResult")]
    pub tools_list_result: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Registers hooks, in-process MCP servers and prompts. Optional, and may come at any time.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(internal(
    "appendSubagentSystemPrompt",
    "codeRunningMcpTools",
    "webSearchIsolationExemptMcpServers",
    "rendersChromeSetupOffer",
    "forwardNestedSubagentToolCalls",
    "rapidFollowupPreempt",
    "managedSettings",
    "workspaceTrust",
    "attachServeRequest",
    "cloudStatusBeforeInit",
    "disallowedTools",
    "settings",
))]
pub struct Initialize {
    /// Event → callback matchers.
    pub hooks: Option<BTreeMap<String, Vec<HookMatcher>>>,
    /// Names of host-run MCP servers.
    #[wire(rename = "sdkMcpServers")]
    pub sdk_mcp_servers: Option<Vec<String>>,
    /// Per-server timeout and tool policy.
    #[wire(rename = "sdkMcpServerConfigs")]
    pub sdk_mcp_server_configs: Option<BTreeMap<String, SdkMcpServerConfig>>,
    /// Pre-captured initialize/tools results.
    #[wire(rename = "sdkMcpServerManifests")]
    pub sdk_mcp_server_manifests: Option<BTreeMap<String, SdkMcpManifest>>,
    /// Freshness marker for remote transports.
    #[wire(rename = "sdkMcpServerManifestsOrigin")]
    pub sdk_mcp_server_manifests_origin: Option<String>,
    /// Structured-output schema.
    #[wire(rename = "jsonSchema")]
    pub json_schema: Option<Json>,
    /// Custom system prompt blocks.
    #[wire(rename = "systemPrompt")]
    pub system_prompt: Option<Vec<String>>,
    /// Text appended to preset prompt.
    #[wire(rename = "appendSystemPrompt")]
    pub append_system_prompt: Option<String>,
    /// Record prompt once and reuse.
    #[wire(rename = "systemPromptSnapshot")]
    pub system_prompt_snapshot: Option<bool>,
    /// Custom plan-mode workflow.
    #[wire(rename = "planModeInstructions")]
    pub plan_mode_instructions: Option<String>,
    /// Tool name redirects, single hop.
    #[wire(rename = "toolAliases")]
    pub tool_aliases: Option<BTreeMap<String, String>>,
    /// Move per-user sections to first message.
    #[wire(rename = "excludeDynamicSections")]
    pub exclude_dynamic_sections: Option<bool>,
    /// Sub-agents.
    pub agents: Option<BTreeMap<String, AgentDefinition>>,
    /// Its title.
    pub title: Option<String>,
    /// Skills.
    pub skills: Option<Vec<String>>,
    /// Emit `prompt_suggestion` frames.
    #[wire(rename = "promptSuggestions")]
    pub prompt_suggestions: Option<bool>,
    /// Summaries on `task_progress`.
    #[wire(rename = "agentProgressSummaries")]
    pub agent_progress_summaries: Option<bool>,
    /// Forward sub-agent text and thinking.
    #[wire(rename = "forwardSubagentText")]
    pub forward_subagent_text: Option<bool>,
    /// Dialog kinds host can render.
    #[wire(rename = "supportedDialogKinds")]
    pub supported_dialog_kinds: Option<Vec<String>>,
    /// Host can stop single tasks.
    #[wire(rename = "perTaskStopAffordance")]
    pub per_task_stop_affordance: Option<bool>,
    /// Plugins.
    pub plugins: Option<Vec<PluginConfig>>,
    /// MCP servers that the CLI is to connect to, by name. Read only at the start, with `--await-initialize` (2.1.261).
    #[wire(rename = "mcpServers")]
    pub mcp_servers: Option<BTreeMap<String, McpServerConfig>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Whose API answers.
    pub enum ApiProvider {
        FirstParty = "firstParty",
        Bedrock = "bedrock",
        Vertex = "vertex",
        Foundry = "foundry",
        AnthropicAws = "anthropicAws",
        AnthropicGoogleCloud = "anthropicGoogleCloud",
        Mantle = "mantle",
        Gateway = "gateway",
    }
}

/// The account the CLI is signed in to.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct Account {
    /// E-mail address.
    pub email: Option<String>,
    /// Organisation.
    pub organization: Option<String>,
    /// Plan.
    #[wire(rename = "subscriptionType")]
    pub subscription_type: Option<String>,
    /// Where the token comes from.
    #[wire(rename = "tokenSource")]
    pub token_source: Option<String>,
    /// Where the credential came from.
    #[wire(rename = "apiKeySource")]
    pub api_key_source: Option<String>,
    /// Whose API is used.
    #[wire(rename = "apiProvider")]
    pub api_provider: Option<ApiProvider>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What became of a manifest.
    pub enum ManifestFate {
        Parked = "parked",
        AlreadyConnected = "already_connected",
        ProtocolVersionMismatch = "protocol_version_mismatch",
        Malformed = "malformed",
        NotHonoured = "not_honoured",
    }
}

/// What the CLI offers: commands, agents, models, account.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal(
    "user_output_styles_dir",
    "unavailable_models",
    "auth_conflict",
    "current_model",
    "inbound_read_receipts",
    "other_hook_ask_outranks_host",
    "code_running_mcp_tools_applied",
    "managed_settings_applied",
    "settings_applied",
    "disallowed_tools_applied",
    "host_worded_asks",
    "workspace_trust_recorded",
    "permission_mode_from_default_fallback",
    "auto_default_nudge",
    "footer_indicator",
    "feedback_survey_config",
    "survey_followup_box",
    "feedback_mode",
    "analytics_disabled",
    "remote_control_auto_enable",
    "remote_control_auto_on_by_default",
    "remote_control_auto_connect_default",
    "claude_in_chrome_at_startup",
    "claude_in_chrome_prompt_disabled",
    "remote_control_available",
    "ide_rc_auto_enable_gate",
))]
pub struct InitializeReply {
    /// Slash commands.
    pub commands: Vec<SlashCommand>,
    /// Sub-agents.
    pub agents: Option<Vec<AgentInfo>>,
    /// Active output style.
    pub output_style: String,
    /// Style names.
    pub available_output_styles: Vec<String>,
    /// Models.
    pub models: Vec<ModelInfo>,
    /// Signed-in account.
    pub account: Account,
    /// Permission mode before the first turn; the only place that tells it.
    pub current_permission_mode: Option<PermissionMode>,
    /// The session's state.
    pub session_state: Option<SessionState>,
    /// Hooks in this request registered.
    pub hooks_applied: Option<bool>,
    /// CLI honours onFailure.
    pub hook_on_failure_supported: Option<bool>,
    /// All listed plugins loaded.
    pub plugins_applied: Option<bool>,
    /// The CLI took `mcpServers` at its start. Absent: it did not (2.1.261).
    pub mcp_servers_applied: Option<bool>,
    /// How many hook matchers keep what the host said about an unanswered question (2.1.327).
    pub hooks_when_unanswered_kept: Option<Num>,
    /// Fate of each manifest.
    pub sdk_mcp_manifests_parked: Option<BTreeMap<String, ManifestFate>>,
    /// Process id of the CLI.
    pub pid: Option<Num>,
    /// CLI version.
    pub claude_code_version: Option<String>,
    /// Fast mode.
    pub fast_mode_state: Option<FastModeState>,
    /// What blocks fast mode.
    pub fast_mode_disabled_reason: Option<FastModeDisabledReason>,
    /// What this CLI can do; an open set of words.
    pub capabilities: Option<Vec<String>>,
    /// Fields this build does not know.
    pub extra: Extra,
}
