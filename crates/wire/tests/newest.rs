//! What 2.1.327 added, and what older CLIs leave out: each read into its own field, and written back as it came.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use countersign_wire::cli::SystemMessage;
use countersign_wire::control::{
    CliRequest, HostRequest, InitializeReply, inspect_cli_reply, inspect_host_reply,
};
use countersign_wire::decode::{Message, decode};
use countersign_wire::hooks::HookEvent;
use countersign_wire::inspect::{At, Novelty};
use countersign_wire::tools::ToolInput;
use countersign_wire::{CliMessage, HostMessage, Json};
use serde_json::{Value, json};
use support::novelties;

/// Reads a line that must hold nothing new, and come back as it was.
fn read<M: Message>(line: &Value) -> M {
    let message: M = decode(line.to_string().as_bytes()).unwrap();
    assert_eq!(novelties(&message), Vec::<String>::new(), "{line}");
    assert_eq!(serde_json::to_value(&message).unwrap(), *line);
    message
}

fn system(subtype: &str, fields: Value) -> SystemMessage {
    let mut line = json!({"type": "system", "subtype": subtype, "uuid": "u", "session_id": "s"});
    line.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    match read::<CliMessage>(&line) {
        CliMessage::System(message) => message,
        other => panic!("{other:?}"),
    }
}

fn asked(request: &Value) -> HostRequest {
    let line = json!({"type": "control_request", "request_id": "r", "request": request});
    match read::<HostMessage>(&line) {
        HostMessage::ControlRequest(asks) => asks.request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn fields_that_the_newest_version_added_have_types() {
    let status = json!({"status": "requesting", "user_message_uuids": ["a", "b"]});
    let SystemMessage::Status(status) = system("status", status) else {
        panic!("a status");
    };
    assert_eq!(status.user_message_uuids.unwrap().len(), 2);
    let ended = json!({"task_id": "t", "status": "completed", "output_file": "/o", "summary": "s",
        "summary_is_report": true});
    let SystemMessage::TaskNotification(ended) = system("task_notification", ended) else {
        panic!("a notification");
    };
    assert_eq!(ended.summary_is_report, Some(true));
    let told = json!({"content": "c", "level": "info", "isMeta": false, "timestamp": "2026-01-01"});
    let SystemMessage::Informational(told) = system("informational", told) else {
        panic!("a text");
    };
    assert_eq!(
        (told.is_meta, told.timestamp.as_deref()),
        (Some(false), Some("2026-01-01"))
    );
    let SystemMessage::ShellCwd(shell) = system("shell_cwd", json!({"cwd": "/w"})) else {
        panic!("a folder");
    };
    assert_eq!(shell.cwd, "/w");
    let late = json!({"request_id": "r", "tool_use_id": "t", "reason": "expired"});
    let SystemMessage::LateAllowNotRun(late) = system("late_allow_not_run", late) else {
        panic!("a call that did not run");
    };
    assert_eq!(late.tool_use_id.unwrap().as_str(), "t");
}

#[test]
fn an_introduction_may_name_servers_and_its_reply_says_whether_they_were_taken() {
    let servers = json!({"db": {"type": "stdio", "command": "db"}});
    let HostRequest::Initialize(asked) =
        asked(&json!({"subtype": "initialize", "mcpServers": servers}))
    else {
        panic!("an introduction");
    };
    assert!(asked.mcp_servers.unwrap().contains_key("db"));
    let reply = json!({"commands": [], "output_style": "default", "available_output_styles": [], "models": [],
        "account": {}, "mcp_servers_applied": true, "hooks_when_unanswered_kept": 2});
    let read: InitializeReply = serde_json::from_value(reply.clone()).unwrap();
    assert_eq!(read.mcp_servers_applied, Some(true));
    assert_eq!(read.hooks_when_unanswered_kept.unwrap().as_u64(), 2);
    assert_eq!(serde_json::to_value(&read).unwrap(), reply);
}

#[test]
fn the_newest_control_requests_have_types() {
    for (request, is_it) in [
        (
            json!({"subtype": "set_message_waiting", "waiting": true}),
            (|request| matches!(request, HostRequest::SetMessageWaiting(it) if it.waiting))
                as fn(&HostRequest) -> bool,
        ),
        (json!({"subtype": "prompt_draft_activity"}), |request| {
            matches!(request, HostRequest::PromptDraftActivity(_))
        }),
        (json!({"subtype": "reload_connectors"}), |request| {
            matches!(request, HostRequest::ReloadConnectors(_))
        }),
        (
            json!({"subtype": "update_cloud_session", "session_id": "s", "action": "rename", "title": "t"}),
            |request| matches!(request, HostRequest::UpdateCloudSession(it) if it.title.as_deref() == Some("t")),
        ),
        (
            json!({"subtype": "comparison_fork", "comparison_id": "c", "turn_event_uuid": "u", "fork_mode": "dry_run"}),
            |request| matches!(request, HostRequest::ComparisonFork(it) if it.comparison_id == "c"),
        ),
    ] {
        assert!(is_it(&asked(&request)), "{request}");
    }
}

#[test]
fn a_goal_is_read_under_either_name() {
    for tool in ["ProposeGoal", "SetGoal"] {
        let view = ToolInput::view(tool, &Json::from(json!({"condition": "c"})));
        assert!(matches!(view, Ok(ToolInput::SetGoal(_))), "{tool}");
    }
}

#[test]
fn what_older_versions_leave_out_breaks_no_line() {
    let init =
        json!({"type": "system", "subtype": "init", "cwd": "/w", "tools": ["Bash"], "model": "m"});
    let CliMessage::System(SystemMessage::Init(init)) = read(&init) else {
        panic!("the start of a turn");
    };
    assert_eq!(
        (init.claude_code_version, init.permission_mode),
        (None, None)
    );
    let question =
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}});
    let hook = json!({"subtype": "hook_callback", "callback_id": "h", "input":
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}});
    for (request, is_hook) in [(question, false), (hook, true)] {
        let line = json!({"type": "control_request", "request_id": "r", "request": request});
        let CliMessage::ControlRequest(asks) = read(&line) else {
            panic!("a question");
        };
        match asks.request {
            CliRequest::CanUseTool(ask) => assert!(!is_hook && ask.tool_use_id.is_none()),
            CliRequest::HookCallback(hook) => {
                let HookEvent::PreToolUse(call) = hook.input.event else {
                    panic!("a call");
                };
                assert!(is_hook && call.tool_use_id.is_none() && hook.input.cwd.is_none());
            }
            other => panic!("{other:?}"),
        }
    }
    for (subtype, rest) in [
        ("hook_started", json!({})),
        (
            "hook_progress",
            json!({"stdout": "", "stderr": "", "output": ""}),
        ),
        (
            "hook_response",
            json!({"stdout": "", "stderr": "", "output": "", "outcome": "success"}),
        ),
    ] {
        let mut line =
            json!({"type": "system", "subtype": subtype, "hook_name": "n", "hook_event": "Stop"});
        line.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        read::<CliMessage>(&line);
    }
}

type InspectReply = fn(&str, &Json, &mut dyn FnMut(&At<'_>, Novelty<'_>)) -> bool;

#[test]
fn what_is_new_in_a_reply_is_told_by_the_subtype_of_its_request() {
    let told = |inspect: InspectReply, subtype: &str, reply| {
        let mut found = Vec::new();
        let is_typed = inspect(subtype, &Json::from(reply), &mut |_, novelty| {
            found.push(format!("{novelty:?}"));
        });
        (is_typed, found)
    };
    let (is_typed, found) = told(
        inspect_cli_reply,
        "can_use_tool",
        json!({"behavior": "allow", "bogus": 1}),
    );
    assert!(
        is_typed && found.iter().any(|new| new.contains("bogus")),
        "{found:?}"
    );
    let (is_typed, found) = told(
        inspect_host_reply,
        "interrupt",
        json!({"still_queued": [], "bogus": 1}),
    );
    assert!(
        is_typed && found.iter().any(|new| new.contains("bogus")),
        "{found:?}"
    );
    assert_eq!(
        told(inspect_host_reply, "of_tomorrow", json!({"bogus": 1})),
        (false, vec![])
    );
}
