//! The requests by name, in both directions, and which reply belongs to which.

use countersign_wire_derive::Wire;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::hooks::HookOutput;
use crate::inspect::{At, Inspect, Novelty};
use crate::permission::PermissionResult;
use crate::{Bare, Json, Kept};

/// Ties a request to the shape of its reply.
pub trait Request: Serialize {
    /// Its `subtype`.
    const SUBTYPE: &'static str;
    /// What a success carries. [`Bare`] where the CLI only says that it was done.
    type Reply: DeserializeOwned + Serialize + Inspect;
}

macro_rules! requests {
    ($enum:ident, $inspect:ident: $($request:ident => $subtype:literal, $reply:ty;)*) => {
        /// Reports what is new in the reply to a request of this subtype. Returns whether the reply has a type and fits it.
        pub fn $inspect(
            subtype: &str,
            reply: &Json,
            sink: &mut dyn FnMut(&At<'_>, Novelty<'_>),
        ) -> bool {
            match subtype {
                $( $subtype => match reply.to::<$reply>() {
                    Ok(reply) => {
                        reply.inspect(&At::ROOT, sink);
                        true
                    }
                    Err(_) => false,
                }, )*
                _ => false,
            }
        }

        $(impl Request for $request {
            const SUBTYPE: &'static str = $subtype;
            type Reply = $reply;
        }

        impl From<$request> for $enum {
            fn from(request: $request) -> Self {
                // Some variants are boxed; `into` boxes where it must.
                Self::$request(request.into())
            }
        }
    )*};
}

requests! { HostRequest, inspect_host_reply:
    Interrupt => "interrupt", InterruptReply;
    Initialize => "initialize", InitializeReply;
    SetPermissionMode => "set_permission_mode", SetPermissionModeReply;
    SetModel => "set_model", SetModelReply;
    SetMaxThinkingTokens => "set_max_thinking_tokens", Bare;
    RenameSession => "rename_session", Bare;
    SetColor => "set_color", Bare;
    McpStatus => "mcp_status", McpStatusReply;
    GetContextUsage => "get_context_usage", GetContextUsageReply;
    GetSessionCost => "get_session_cost", GetSessionCostReply;
    ListModels => "list_models", ListModelsReply;
    GetUsage => "get_usage", GetUsageReply;
    GetBinaryVersion => "get_binary_version", GetBinaryVersionReply;
    McpCall => "mcp_call", McpCallReply;
    FileSuggestions => "file_suggestions", FileSuggestionsReply;
    McpMessage => "mcp_message", Bare;
    RewindFiles => "rewind_files", RewindFilesReply;
    CancelAsyncMessage => "cancel_async_message", CancelAsyncMessageReply;
    ReadFile => "read_file", ReadFileReply;
    SeedReadState => "seed_read_state", Bare;
    McpSetServers => "mcp_set_servers", McpSetServersReply;
    RegisterRepoRoot => "register_repo_root", RegisterRepoRootReply;
    ReloadPlugins => "reload_plugins", ReloadPluginsReply;
    ReloadSkills => "reload_skills", ReloadSkillsReply;
    ReloadOutputStyles => "reload_output_styles", ReloadOutputStylesReply;
    McpReconnect => "mcp_reconnect", Bare;
    McpToggle => "mcp_toggle", Bare;
    SetHasSubscribers => "set_has_subscribers", Bare;
    StopTask => "stop_task", Bare;
    BackgroundTasks => "background_tasks", BackgroundTasksReply;
    GetTaskOutput => "get_task_output", GetTaskOutputReply;
    ApplyFlagSettings => "apply_flag_settings", Bare;
    GetSettings => "get_settings", GetSettingsReply;
    GetHooksListing => "get_hooks_listing", GetHooksListingReply;
    UpdateSettings => "update_settings", Bare;
    ListPermissionRules => "list_permission_rules", ListPermissionRulesReply;
    McpReadResource => "mcp_read_resource", McpReadResourceReply;
    SetMessageWaiting => "set_message_waiting", Bare;
    PromptDraftActivity => "prompt_draft_activity", Bare;
    ReloadConnectors => "reload_connectors", Bare;
    UpdateCloudSession => "update_cloud_session", UpdateCloudSessionReply;
    ComparisonFork => "comparison_fork", ComparisonForkReply;
}

requests! { CliRequest, inspect_cli_reply:
    CanUseTool => "can_use_tool", PermissionResult;
    HookCallback => "hook_callback", HookOutput;
    Elicitation => "elicitation", ElicitationReply;
    RequestUserDialog => "request_user_dialog", RequestUserDialogReply;
}

/// What the host can ask of the CLI.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "subtype", internal = INTERNAL_HOST_REQUESTS)]
#[non_exhaustive]
pub enum HostRequest {
    /// Ends the running turn; the process stays.
    #[wire("interrupt")]
    Interrupt(Interrupt),
    /// Registers hooks, in-process MCP servers and prompts.
    #[wire("initialize")]
    Initialize(Box<Initialize>),
    /// Changes the permission mode.
    #[wire("set_permission_mode")]
    SetPermissionMode(SetPermissionMode),
    /// Changes the model.
    #[wire("set_model")]
    SetModel(SetModel),
    /// Changes the thinking budget.
    #[wire("set_max_thinking_tokens")]
    SetMaxThinkingTokens(SetMaxThinkingTokens),
    /// Gives the session a title.
    #[wire("rename_session")]
    RenameSession(RenameSession),
    /// Gives the session a colour.
    #[wire("set_color")]
    SetColor(SetColor),
    /// Asks for the state of all MCP servers.
    #[wire("mcp_status")]
    McpStatus(McpStatus),
    /// Asks how full the context is.
    #[wire("get_context_usage")]
    GetContextUsage(GetContextUsage),
    /// Asks for the cost as text.
    #[wire("get_session_cost")]
    GetSessionCost(GetSessionCost),
    /// Asks for the models that can be chosen.
    #[wire("list_models")]
    ListModels(ListModels),
    /// Asks for cost and plan limits.
    #[wire("get_usage")]
    GetUsage(GetUsage),
    /// Asks for the CLI's version.
    #[wire("get_binary_version")]
    GetBinaryVersion(GetBinaryVersion),
    /// Calls an MCP tool without the model.
    #[wire("mcp_call")]
    McpCall(Box<McpCall>),
    /// Asks for paths that fit a few letters.
    #[wire("file_suggestions")]
    FileSuggestions(FileSuggestions),
    /// A JSON-RPC message to or from an MCP server that runs in the host.
    #[wire("mcp_message")]
    McpMessage(McpMessage),
    /// Puts files back to where they were at a user message.
    #[wire("rewind_files")]
    RewindFiles(RewindFiles),
    /// Takes a queued message back.
    #[wire("cancel_async_message")]
    CancelAsyncMessage(CancelAsyncMessage),
    /// Reads a file through the CLI.
    #[wire("read_file")]
    ReadFile(ReadFile),
    /// Tells the CLI that a file counts as read.
    #[wire("seed_read_state")]
    SeedReadState(SeedReadState),
    /// Replaces all MCP servers that were added while running.
    #[wire("mcp_set_servers")]
    McpSetServers(McpSetServers),
    /// Adds a repository to the session.
    #[wire("register_repo_root")]
    RegisterRepoRoot(RegisterRepoRoot),
    /// Reads plugins again.
    #[wire("reload_plugins")]
    ReloadPlugins(ReloadPlugins),
    /// Reads skills again.
    #[wire("reload_skills")]
    ReloadSkills(ReloadSkills),
    /// Reads output styles again.
    #[wire("reload_output_styles")]
    ReloadOutputStyles(ReloadOutputStyles),
    /// Connects an MCP server again.
    #[wire("mcp_reconnect")]
    McpReconnect(McpReconnect),
    /// Switches an MCP server on or off.
    #[wire("mcp_toggle")]
    McpToggle(McpToggle),
    /// Tells the CLI whether anyone watches the stream.
    #[wire("set_has_subscribers")]
    SetHasSubscribers(SetHasSubscribers),
    /// Ends one background task.
    #[wire("stop_task")]
    StopTask(StopTask),
    /// Moves running work to the background.
    #[wire("background_tasks")]
    BackgroundTasks(BackgroundTasks),
    /// Asks for the output of a background task.
    #[wire("get_task_output")]
    GetTaskOutput(GetTaskOutput),
    /// Merges settings over those of the command line; null clears a key.
    #[wire("apply_flag_settings")]
    ApplyFlagSettings(ApplyFlagSettings),
    /// Asks for the settings and their sources.
    #[wire("get_settings")]
    GetSettings(GetSettings),
    /// Asks for all configured hooks.
    #[wire("get_hooks_listing")]
    GetHooksListing(GetHooksListing),
    /// Writes to a settings file.
    #[wire("update_settings")]
    UpdateSettings(UpdateSettings),
    /// Asks for all permission rules.
    #[wire("list_permission_rules")]
    ListPermissionRules(ListPermissionRules),
    /// Reads a resource of an MCP server.
    #[wire("mcp_read_resource")]
    McpReadResource(McpReadResource),
    /// Says that a message of the person waits for the turn's end.
    #[wire("set_message_waiting")]
    SetMessageWaiting(SetMessageWaiting),
    /// Says that the person is typing.
    #[wire("prompt_draft_activity")]
    PromptDraftActivity(PromptDraftActivity),
    /// Reads the account's connectors again.
    #[wire("reload_connectors")]
    ReloadConnectors(ReloadConnectors),
    /// Changes a cloud session.
    #[wire("update_cloud_session")]
    UpdateCloudSession(Box<UpdateCloudSession>),
    /// Compares a turn's first request with that of a second run.
    #[wire("comparison_fork")]
    ComparisonFork(ComparisonFork),
    /// A request that is known by name only.
    #[wire(internal)]
    Internal(Kept),
    /// A request this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// What the CLI can ask of the host.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "subtype", internal = INTERNAL_CLI_REQUESTS)]
#[non_exhaustive]
pub enum CliRequest {
    /// May this call run?
    #[wire("can_use_tool")]
    CanUseTool(Box<CanUseTool>),
    /// A registered hook fired.
    #[wire("hook_callback")]
    HookCallback(Box<HookCallback>),
    /// A JSON-RPC message for an MCP server that runs in the host. Notifications want an answer too.
    #[wire("mcp_message")]
    McpMessage(McpMessage),
    /// An MCP server asks the person something.
    #[wire("elicitation")]
    Elicitation(Box<Elicitation>),
    /// The CLI wants a dialog shown.
    #[wire("request_user_dialog")]
    RequestUserDialog(RequestUserDialog),
    /// A request that is known by name only.
    #[wire(internal)]
    Internal(Kept),
    /// A request this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// Requests of the host that are recognised, their bodies kept.
pub const INTERNAL_HOST_REQUESTS: &[&str] = &[
    "get_memory_dialog",
    "get_skills_dialog",
    "get_chrome_dialog",
    "get_chrome_browsers",
    "select_chrome_browser",
    "get_sandbox_dialog",
    "get_status",
    "export_conversation",
    "list_cloud_sessions",
    "get_cloud_session",
    "get_cloud_session_transcript",
    "list_directory",
    "get_workspace_diff",
    "get_plan",
    "set_mcp_permission_mode_override",
    "set_chrome_browser_hints",
    "set_prompt_suggestions_paused",
    "set_cwd",
    "claim_session",
    "register_device_hooks",
    "upload_device_hook_template",
    "message_rated",
    "start_shell_task",
    "submit_feedback",
    "submit_survey_feedback",
    "remote_tools_announce",
    "ui_attach",
    "ui_detach",
    "ui_render",
    "ui_press",
    "ui_client_module",
    "ui_client_press",
    "ui_message",
    "ui_client_fault",
    "turn_handoff",
    "ui_input",
    "ui_select",
    "ui_panes",
    "ui_pane_show",
    "ui_pane_focus",
    "ui_close",
    "ui_scroll",
    "ui_focus",
    "ui_prompt_edit",
    "ui_prompt_autocomplete",
    // undeclared: handled by the CLI, not in its registry
    "end_session",
    "generate_session_title",
    "side_question",
    "channel_enable",
    "mcp_authenticate",
    "mcp_clear_auth",
    "mcp_oauth_callback_url",
    "claude_authenticate",
    "claude_oauth_callback",
    "claude_oauth_wait_for_completion",
    "remote_control",
    "ultrareview_launch",
    "rewind_conversation",
    "fork_conversation",
    "add_directory",
    "set_proactivity_level",
    "poll_event",
    "stage_file",
    "mcp_tasks_changed",
    "send_task_message",
    "prefetch_attachments",
    "set_attached_project",
];

/// Requests of the CLI that are recognised, their bodies kept.
pub const INTERNAL_CLI_REQUESTS: &[&str] = &[
    "oauth_token_refresh",
    "host_auth_token_refresh",
    "remote_tool_call",
    "remote_plumbing_call",
    "remote_tools_probe",
    "remote_tools_reannounce",
    "remote_control_work_secret",
    "ui_copy",
    "ui_prompt_read",
    "ui_prompt_fill",
    "ui_prompt_paint",
    "ui_prompt_suggest",
    "ui_read_selection",
];
