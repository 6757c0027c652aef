//! One typed field changes, and only that one: for one message of every public type, whatever else stands in it.
//!
//! A message is decoded, one field of the typed value is set, and the value is written again. Nothing but the typed
//! value survives between the two, so a field that was only remembered as text would show up here.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;

use countersign_wire::cli::SystemMessage;
use countersign_wire::content::ContentBlock;
use countersign_wire::control::{CliRequest, ControlOutcome, HostRequest};
use countersign_wire::hooks::{
    HookDeny, HookEvent, HookInput, HookSpecificOutput, PermissionRequestDecision,
};
use countersign_wire::vocab::PermissionMode;
use countersign_wire::{CliMessage, HostMessage, Json, Nullable, Num};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use support::entries;

/// What was set: the field as it stands on the wire, and its new value.
type Change = (&'static str, Value);

/// Decodes `message`, lets `change` set a field, writes it; complains if anything else is different.
fn only_that_changes<M: DeserializeOwned + Serialize>(
    name: &str,
    mut message: Value,
    change: impl Fn(&mut M) -> Option<Change>,
) -> Option<String> {
    // Something no type declares, that must survive.
    message["field of tomorrow"] = json!({"kept": [1, "two", null]});
    let mut typed: M = serde_json::from_str(&message.to_string()).unwrap();
    let Some((field, value)) = change(&mut typed) else {
        return Some(format!("{name}: no field is changed for it"));
    };
    let before = message.clone();
    match field {
        "response.request_id" => message["response"]["request_id"] = value,
        field => message[field] = value,
    }
    let written = serde_json::to_value(&typed).unwrap();
    if message == before {
        Some(format!("{name}: the change of {field} changed nothing"))
    } else if written != message {
        Some(format!(
            "{name}: changed {field}\nexpected {message}\nwritten  {written}"
        ))
    } else {
        None
    }
}

/// One row a variant: the field to set, its new value, and how both stand on the wire.
macro_rules! changes {
    ($name:ident($enum:ident): $($variant:ident.$field:ident = $value:expr => $key:literal: $json:tt;)* ; $other:ident => $rest:expr) => {
        fn $name(value: &mut $enum) -> Option<Change> {
            match value {
                $( $enum::$variant(m) => {
                    m.$field = $value;
                    Some(($key, json!($json)))
                } )*
                $other => $rest,
            }
        }
    };
}

fn check(broken: Vec<Option<String>>, least: usize) {
    let count = broken.len();
    let broken: Vec<_> = broken.into_iter().flatten().collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count >= least, "only {count} were looked at");
}

#[test]
fn of_every_message_of_the_cli() {
    let checked = entries::stdout()
        .into_iter()
        .map(|(name, message)| only_that_changes(&name, message, change_cli));
    check(checked.collect(), 48);
}

#[test]
fn of_every_message_of_the_host() {
    let checked = entries::stdin()
        .into_iter()
        .map(|(name, message)| only_that_changes(&name, message, change_host));
    check(checked.collect(), 5);
}

#[test]
fn of_every_control_request() {
    let host = entries::host_requests()
        .into_iter()
        .map(|(name, request)| only_that_changes(&name, request, change_host_request));
    let cli = entries::cli_requests()
        .into_iter()
        .map(|(name, request)| only_that_changes(&name, request, change_cli_request));
    check(host.chain(cli).collect(), 34);
}

#[test]
fn of_every_hook_input_and_output() {
    let inputs = entries::hook_inputs().into_iter().map(|(name, input)| {
        only_that_changes(&name, input, |input: &mut HookInput| change_hook(input))
    });
    let outputs = entries::hook_outputs()
        .into_iter()
        .map(|(name, output)| only_that_changes(&name, output, change_hook_output));
    check(inputs.chain(outputs).collect(), 55);
}

#[test]
fn of_every_content_block() {
    let checked = entries::blocks().into_iter().map(|(name, block)| {
        only_that_changes(&name, block, |block: &mut ContentBlock| change_block(block))
    });
    check(checked.collect(), 20);
}

changes! { change_cli(CliMessage):
    Assistant.parent_tool_use_id = Nullable::Value("changed".into()) => "parent_tool_use_id": "changed";
    User.parent_tool_use_id = Nullable::Value("changed".into()) => "parent_tool_use_id": "changed";
    Result.duration_ms = Num::from(977u64) => "duration_ms": 977;
    StreamEvent.parent_tool_use_id = Nullable::Value("changed".into()) => "parent_tool_use_id": "changed";
    ControlRequest.request_id = "changed".into() => "request_id": "changed";
    ControlCancelRequest.request_id = "changed".into() => "request_id": "changed";
    ToolProgress.tool_use_id = "changed".into() => "tool_use_id": "changed";
    ToolUseSummary.summary = "changed".to_owned() => "summary": "changed";
    AuthStatus.is_authenticating = false => "isAuthenticating": false;
    RateLimitEvent.uuid = Some("changed".into()) => "uuid": "changed";
    PromptSuggestion.suggestion = "changed".to_owned() => "suggestion": "changed";
    ConversationReset.new_conversation_id = "changed".to_owned() => "new_conversation_id": "changed";
    ActiveGoal.uuid = Some("changed".into()) => "uuid": "changed";
    CommandLifecycle.command_uuid = "changed".into() => "command_uuid": "changed";
    TranscriptMirror.file_path = "changed".to_owned() => "filePath": "changed";
    ; message => match message {
        CliMessage::System(system) => change_system(system),
        CliMessage::ControlResponse(answer) => change_outcome(&mut answer.response),
        _ => None,
    }
}

changes! { change_system(SystemMessage):
    Init.claude_code_version = Some("changed".to_owned()) => "claude_code_version": "changed";
    CompactBoundary.uuid = Some("changed".into()) => "uuid": "changed";
    Status.compact_error = Some("changed".to_owned()) => "compact_error": "changed";
    ApiRetry.attempt = Num::from(977u64) => "attempt": 977;
    ControlRequestProgress.request_id = "changed".to_owned() => "request_id": "changed";
    ModelRefusalFallback.trigger = "changed".to_owned() => "trigger": "changed";
    ModelRefusalNoFallback.original_model = "changed".to_owned() => "original_model": "changed";
    LocalCommandOutput.content = "changed".to_owned() => "content": "changed";
    HookStarted.hook_id = Some("changed".to_owned()) => "hook_id": "changed";
    HookProgress.hook_id = Some("changed".to_owned()) => "hook_id": "changed";
    HookResponse.hook_id = Some("changed".to_owned()) => "hook_id": "changed";
    PluginInstall.name = Some("changed".to_owned()) => "name": "changed";
    TaskNotification.task_id = "changed".into() => "task_id": "changed";
    TaskStarted.task_id = "changed".into() => "task_id": "changed";
    TaskUpdated.task_id = "changed".into() => "task_id": "changed";
    TaskProgress.task_id = "changed".into() => "task_id": "changed";
    BackgroundTasksChanged.uuid = Some("changed".into()) => "uuid": "changed";
    ThinkingTokens.estimated_tokens = Num::from(977u64) => "estimated_tokens": 977;
    SessionStateChanged.uuid = Some("changed".into()) => "uuid": "changed";
    WorkerShuttingDown.reason = "changed".to_owned() => "reason": "changed";
    CommandsChanged.uuid = Some("changed".into()) => "uuid": "changed";
    Notification.key = "changed".to_owned() => "key": "changed";
    FilesPersisted.processed_at = "changed".to_owned() => "processed_at": "changed";
    MemoryRecall.uuid = Some("changed".into()) => "uuid": "changed";
    ElicitationComplete.mcp_server_name = "changed".to_owned() => "mcp_server_name": "changed";
    PermissionDenied.tool_name = "changed".to_owned() => "tool_name": "changed";
    MirrorError.error = "changed".to_owned() => "error": "changed";
    Informational.content = "changed".to_owned() => "content": "changed";
    SessionWritesLost.uuid = Some("changed".into()) => "uuid": "changed";
    SessionTitleChanged.title = "changed".to_owned() => "title": "changed";
    ; _message => None
}

fn change_outcome(outcome: &mut ControlOutcome) -> Option<Change> {
    let id = match outcome {
        ControlOutcome::Success(success) => &mut success.request_id,
        ControlOutcome::Error(error) => &mut error.request_id,
        _ => return None,
    };
    *id = Some("changed".into());
    Some(("response.request_id", json!("changed")))
}

changes! { change_host(HostMessage):
    User.parent_tool_use_id = Nullable::Value("changed".into()) => "parent_tool_use_id": "changed";
    ControlRequest.request_id = "changed".into() => "request_id": "changed";
    ControlCancelRequest.request_id = "changed".into() => "request_id": "changed";
    UpdateEnvironmentVariables.request_id = Some("changed".into()) => "request_id": "changed";
    ; message => match message {
        HostMessage::ControlResponse(answer) => change_outcome(&mut answer.response),
        _ => None,
    }
}

changes! { change_host_request(HostRequest):
    Interrupt.cancel_queued = Some(false) => "cancel_queued": false;
    Initialize.sdk_mcp_server_manifests_origin = Some("changed".to_owned()) => "sdkMcpServerManifestsOrigin": "changed";
    SetModel.model = Nullable::Value("changed".to_owned()) => "model": "changed";
    SetMaxThinkingTokens.max_thinking_tokens = Nullable::Value(Num::from(977u64)) => "max_thinking_tokens": 977;
    RenameSession.title = "changed".to_owned() => "title": "changed";
    SetColor.color = "changed".to_owned() => "color": "changed";
    McpStatus.live_reply = Some(false) => "liveReply": false;
    GetUsage.skip_behaviors = Some(false) => "skip_behaviors": false;
    McpCall.tool = "changed".to_owned() => "tool": "changed";
    FileSuggestions.query = "changed".to_owned() => "query": "changed";
    McpMessage.server_name = "changed".to_owned() => "server_name": "changed";
    RewindFiles.user_message_id = "changed".into() => "user_message_id": "changed";
    CancelAsyncMessage.message_uuid = "changed".into() => "message_uuid": "changed";
    ReadFile.path = "changed".to_owned() => "path": "changed";
    SeedReadState.path = "changed".to_owned() => "path": "changed";
    RegisterRepoRoot.directory = "changed".to_owned() => "directory": "changed";
    ReloadPlugins.hold_on_cache_impact = Some(false) => "hold_on_cache_impact": false;
    McpReconnect.server_name = "changed".to_owned() => "serverName": "changed";
    McpToggle.server_name = "changed".to_owned() => "serverName": "changed";
    SetHasSubscribers.has_subscribers = Nullable::Value(false) => "has_subscribers": false;
    StopTask.task_id = "changed".into() => "task_id": "changed";
    BackgroundTasks.tool_use_id = Some("changed".into()) => "tool_use_id": "changed";
    GetTaskOutput.task_id = "changed".into() => "task_id": "changed";
    ApplyFlagSettings.settings = Json::null() => "settings": null;
    UpdateSettings.settings = Json::null() => "settings": null;
    McpReadResource.server_name = "changed".to_owned() => "serverName": "changed";
    SetPermissionMode.mode = PermissionMode::Plan => "mode": "plan";
    GetContextUsage.detail = Some("full".into()) => "detail": "full";
    McpSetServers.servers = BTreeMap::new() => "servers": {};
    ; _request => None
}

changes! { change_cli_request(CliRequest):
    CanUseTool.tool_name = "changed".to_owned() => "tool_name": "changed";
    HookCallback.callback_id = "changed".to_owned() => "callback_id": "changed";
    McpMessage.server_name = "changed".to_owned() => "server_name": "changed";
    Elicitation.mcp_server_name = "changed".to_owned() => "mcp_server_name": "changed";
    RequestUserDialog.dialog_kind = "changed".to_owned() => "dialog_kind": "changed";
    ; _request => None
}

fn change_hook(input: &mut HookInput) -> Option<Change> {
    if let HookEvent::SubagentStart(_) = input.event {
        input.agent_type = Some("changed".to_owned());
        return Some(("agent_type", json!("changed")));
    }
    change_event(&mut input.event)
}

changes! { change_event(HookEvent):
    PreToolUse.tool_name = "changed".to_owned() => "tool_name": "changed";
    PostToolUse.tool_name = "changed".to_owned() => "tool_name": "changed";
    PostToolUseFailure.tool_name = "changed".to_owned() => "tool_name": "changed";
    PostToolBatch.tool_calls = Vec::new() => "tool_calls": [];
    Notification.message = "changed".to_owned() => "message": "changed";
    UserPromptSubmit.prompt = "changed".to_owned() => "prompt": "changed";
    UserPromptExpansion.command_name = "changed".to_owned() => "command_name": "changed";
    SessionStart.model = Some("changed".to_owned()) => "model": "changed";
    Stop.stop_hook_active = false => "stop_hook_active": false;
    StopFailure.error_details = Some("changed".to_owned()) => "error_details": "changed";
    SubagentStop.stop_hook_active = false => "stop_hook_active": false;
    PreCompact.custom_instructions = Nullable::Value("changed".to_owned()) => "custom_instructions": "changed";
    PostCompact.compact_summary = "changed".to_owned() => "compact_summary": "changed";
    PreModelSwitch.from_model = "changed".to_owned() => "from_model": "changed";
    PostModelSwitch.from_model = "changed".to_owned() => "from_model": "changed";
    PermissionRequest.tool_name = "changed".to_owned() => "tool_name": "changed";
    PermissionDenied.tool_name = "changed".to_owned() => "tool_name": "changed";
    TeammateIdle.teammate_name = "changed".to_owned() => "teammate_name": "changed";
    TaskCreated.task_id = "changed".into() => "task_id": "changed";
    TaskCompleted.task_id = "changed".into() => "task_id": "changed";
    Elicitation.mcp_server_name = "changed".to_owned() => "mcp_server_name": "changed";
    ElicitationResult.mcp_server_name = "changed".to_owned() => "mcp_server_name": "changed";
    ConfigChange.file_path = Some("changed".to_owned()) => "file_path": "changed";
    WorktreeCreate.name = "changed".to_owned() => "name": "changed";
    WorktreeRemove.worktree_path = "changed".to_owned() => "worktree_path": "changed";
    InstructionsLoaded.file_path = "changed".to_owned() => "file_path": "changed";
    CwdChanged.old_cwd = "changed".to_owned() => "old_cwd": "changed";
    FileChanged.file_path = "changed".to_owned() => "file_path": "changed";
    DirectoryAdded.directory = "changed".to_owned() => "directory": "changed";
    MessageDisplay.turn_id = "changed".to_owned() => "turn_id": "changed";
    SessionEnd.reason = "logout".into() => "reason": "logout";
    Setup.trigger = "maintenance".into() => "trigger": "maintenance";
    ; _event => None
}

changes! { change_hook_output(HookSpecificOutput):
    PreToolUse.permission_decision_reason = Some("changed".to_owned()) => "permissionDecisionReason": "changed";
    PostToolUse.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    PostToolUseFailure.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    PostToolBatch.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    Notification.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    UserPromptSubmit.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    UserPromptExpansion.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    SessionStart.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    Stop.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    SubagentStart.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    SubagentStop.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    PreModelSwitch.permission_decision_reason = Some("changed".to_owned()) => "permissionDecisionReason": "changed";
    PostModelSwitch.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    PermissionDenied.retry = Some(false) => "retry": false;
    Setup.additional_context = Some("changed".to_owned()) => "additionalContext": "changed";
    Elicitation.content = Some(Json::null()) => "content": null;
    ElicitationResult.content = Some(Json::null()) => "content": null;
    WorktreeCreate.worktree_path = "changed".to_owned() => "worktreePath": "changed";
    CwdChanged.watch_paths = Some(vec!["changed".to_owned()]) => "watchPaths": ["changed"];
    FileChanged.watch_paths = Some(vec!["changed".to_owned()]) => "watchPaths": ["changed"];
    MessageDisplay.display_content = Some("changed".to_owned()) => "displayContent": "changed";
    PermissionRequest.decision = PermissionRequestDecision::Deny(HookDeny::default()) => "decision": {"behavior": "deny"};
    ; _output => None
}

changes! { change_block(ContentBlock):
    Text.text = "changed".to_owned() => "text": "changed";
    Thinking.thinking = "changed".to_owned() => "thinking": "changed";
    RedactedThinking.data = "changed".to_owned() => "data": "changed";
    ToolUse.id = "changed".into() => "id": "changed";
    ToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    Image.source = serde_json::from_value(json!({"type": "file", "file_id": "f"})).unwrap() => "source": {"type": "file", "file_id": "f"};
    Document.title = Nullable::Value("changed".to_owned()) => "title": "changed";
    SearchResult.source = "changed".to_owned() => "source": "changed";
    ToolReference.tool_name = "changed".to_owned() => "tool_name": "changed";
    ServerToolUse.id = "changed".into() => "id": "changed";
    WebSearchToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    WebFetchToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    AdvisorToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    CodeExecutionToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    BashCodeExecutionToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    TextEditorCodeExecutionToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    ToolSearchToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    McpToolUse.id = "changed".into() => "id": "changed";
    McpToolResult.tool_use_id = "changed".into() => "tool_use_id": "changed";
    ContainerUpload.file_id = "changed".to_owned() => "file_id": "changed";
    Compaction.content = Nullable::Value("changed".to_owned()) => "content": "changed";
    Fallback.from = Json::null() => "from": null;
    ; _block => None
}
