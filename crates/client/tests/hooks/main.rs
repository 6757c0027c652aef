//! Hooks over a connection whose far end the test plays.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_client::hook::*;
use countersign_client::wire::control::OnFailure;
use countersign_client::wire::hooks::{HookEvent, HookInput, HookOutput};
use countersign_client::{Claude, Hook, HookContext, HookError, Notice};
use serde_json::{Value, json};

use pair::{Far, greeted, notice, session, soon};

mod answers;
#[path = "../pair/mod.rs"]
mod pair;

/// What the CLI tells a callback: what all events have, and the event's own.
fn input(event: &str, own: &Value) -> Value {
    let mut input = json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/w",
        "prompt_id": "p", "permission_mode": "plan", "agent_id": "a", "agent_type": "Explore",
        "effort": {"level": "high"}, "hook_event_name": event});
    for (name, value) in own.as_object().unwrap() {
        input[name] = value.clone();
    }
    input
}

fn call(callback: &str, input: &Value) -> Value {
    json!({"subtype": "hook_callback", "callback_id": callback, "input": input, "tool_use_id": "toolu_9"})
}

fn bash() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "rm x"}, "tool_use_id": "toolu_9"})
}

/// The CLI calls the only hook of the session for `event`.
async fn fire(far: &mut Far, event: &str, own: &Value) -> Value {
    far.ask("h", call("hook-0", &input(event, own))).await;
    far.answer("h").await
}

#[tokio::test]
async fn a_typed_callback_gets_its_input_and_context_and_its_answer_goes_back() {
    let hook = Hook::of(PreToolUse, |call, cx: HookContext| async move {
        assert_eq!(call.tool_name, "Bash");
        assert_eq!(cx.tool_use_id.as_deref(), Some("toolu_9"));
        assert_eq!(
            (cx.session_id.as_deref(), cx.cwd.as_deref()),
            (Some("s"), Some("/w"))
        );
        assert_eq!(cx.transcript_path.as_deref(), Some("/t.jsonl"));
        assert_eq!(cx.permission_mode.unwrap().as_str(), "plan");
        assert_eq!(cx.agent_id.as_deref(), Some("a"));
        assert_eq!(cx.agent_type.as_deref(), Some("Explore"));
        assert_eq!(cx.effort.as_deref(), Some("high"));
        assert_eq!(cx.prompt_id.as_deref(), Some("p"));
        PreToolUse::deny("nothing is removed")
    });
    let (_session, mut far) = session(Claude::new().hook(hook)).await;
    assert_eq!(
        fire(&mut far, "PreToolUse", &bash()).await,
        json!({"subtype": "success", "request_id": "h", "response": {"hookSpecificOutput":
            {"hookEventName": "PreToolUse", "permissionDecision": "deny",
             "permissionDecisionReason": "nothing is removed"}}})
    );
}

#[tokio::test]
async fn hooks_are_registered_with_matcher_time_limit_and_what_a_failure_does() {
    let claude = Claude::new()
        .hook(
            Hook::of(PreToolUse, |_, _| async {})
                .matching("Bash|Write")
                .timeout(Duration::from_secs(30))
                .on_failure(OnFailure::Block),
        )
        .hook(Hook::of(Stop, |_, _| async {}))
        .hook(
            Hook::of(PreToolUse, |_, _| async {})
                .matching("")
                .timeout(Duration::from_millis(1500)),
        );
    let (_session, _far, initialize) = greeted(claude, "2.1.325").await;
    assert_eq!(
        initialize["hooks"],
        json!({
            "PreToolUse": [
                {"matcher": "Bash|Write", "hookCallbackIds": ["hook-0"], "timeout": 30, "onFailure": "block"},
                {"matcher": "", "hookCallbackIds": ["hook-2"], "timeout": 1.5}],
            "Stop": [{"hookCallbackIds": ["hook-1"]}]
        })
    );
}

#[test]
fn every_event_of_the_wire_has_a_marker() {
    let wire: BTreeSet<&str> = HookEvent::NAMES.iter().copied().collect();
    let marked: BTreeSet<&str> = EVENTS.iter().copied().collect();
    assert_eq!(wire, marked);
    assert_eq!(EVENTS.len(), 33);
}

/// Calls a hook of each event with an input of that event. Which were called comes back.
macro_rules! each_event {
    ($($event:ident $own:tt)*) => {{
        let mut called = BTreeSet::new();
        $(
            let hook = Hook::of($event, |_, _| async { $event::pass().tell($event::NAME) });
            let (_session, mut far) = session(Claude::new().hook(hook)).await;
            let answer = fire(&mut far, $event::NAME, &json!($own)).await;
            assert_eq!(answer["response"], json!({"systemMessage": $event::NAME}));
            called.insert($event::NAME);
        )*
        called
    }};
}

#[tokio::test]
async fn every_event_reaches_its_typed_callback() {
    let called = each_event! {
        PreToolUse {"tool_name": "T", "tool_input": {}, "tool_use_id": "t"}
        PostToolUse {"tool_name": "T", "tool_input": {}, "tool_response": "r", "tool_use_id": "t"}
        PostToolUseFailure {"tool_name": "T", "tool_input": {}, "tool_use_id": "t", "error": "e"}
        PostToolBatch {"tool_calls": []}
        Notification {"message": "m", "notification_type": "n"}
        UserPromptSubmit {"prompt": "p"}
        UserPromptExpansion {"expansion_type": "slash_command", "command_name": "c", "command_args": "", "prompt": "p"}
        SessionStart {"source": "startup"}
        SessionEnd {"reason": "other"}
        Stop {"stop_hook_active": false}
        StopFailure {"error": "unknown"}
        SubagentStart {}
        SubagentStop {"stop_hook_active": false, "agent_transcript_path": "/t"}
        PreCompact {"trigger": "auto", "custom_instructions": null}
        PostCompact {"trigger": "auto", "compact_summary": "s"}
        PreModelSwitch {"from_model": "a", "to_model": "b", "requested_model": null, "source": "sdk",
            "context_tokens": 1, "prompt_cache_warm": true, "cache_ttl": "5m",
            "estimated_cache_write_usd": 0.1, "pricing": "default"}
        PostModelSwitch {"from_model": "a", "to_model": "b", "requested_model": null, "source": "sdk",
            "context_tokens": 1, "prompt_cache_warm": true, "cache_ttl": "5m",
            "estimated_cache_write_usd": 0.1, "pricing": "default"}
        PermissionRequest {"tool_name": "T", "tool_input": {}}
        PermissionDenied {"tool_name": "T", "tool_input": {}, "tool_use_id": "t", "reason": "r"}
        Setup {"trigger": "init"}
        TeammateIdle {"teammate_name": "t", "team_name": "n"}
        TaskCreated {"task_id": "1", "task_subject": "s"}
        TaskCompleted {"task_id": "1", "task_subject": "s"}
        Elicitation {"mcp_server_name": "m", "message": "m"}
        ElicitationResult {"mcp_server_name": "m", "action": "accept"}
        ConfigChange {"source": "skills"}
        WorktreeCreate {"name": "n"}
        WorktreeRemove {"worktree_path": "/w"}
        InstructionsLoaded {"file_path": "/f", "memory_type": "User", "load_reason": "include"}
        CwdChanged {"old_cwd": "/a", "new_cwd": "/b"}
        FileChanged {"file_path": "/f", "event": "add"}
        DirectoryAdded {"directory": "/d", "source": "slash_command"}
        MessageDisplay {"turn_id": "t", "message_id": "m", "index": 0, "final": true, "delta": "d"}
    };
    let wire: BTreeSet<&str> = HookEvent::NAMES.iter().copied().collect();
    assert_eq!(called, wire);
}

/// The reason in an answer that refuses, or the error.
fn refusal(answer: &Value) -> Result<&str, &str> {
    let own = &answer["response"]["hookSpecificOutput"];
    if own["permissionDecision"] == "deny" && own["hookEventName"] == "PreToolUse" {
        return Ok(own["permissionDecisionReason"].as_str().unwrap());
    }
    if own["decision"]["behavior"] == "deny" && own["hookEventName"] == "PermissionRequest" {
        return Ok(own["decision"]["message"].as_str().unwrap());
    }
    assert_eq!(answer["subtype"], "error", "{answer}");
    Err(answer["error"].as_str().unwrap())
}

async fn fails<E: TypedEvent>(event: E, own: Value) -> Value {
    let hook = Hook::of(event, |_, _| async { Err::<(), _>("out of order") });
    let (_session, mut far) = session(Claude::new().hook(hook)).await;
    fire(&mut far, E::NAME, &own).await
}

async fn panics<E: TypedEvent>(event: E, own: Value) -> Value {
    let hook = Hook::of(event, |_, _| async {
        if true {
            panic!("on purpose");
        }
    });
    let (_session, mut far) = session(Claude::new().hook(hook)).await;
    fire(&mut far, E::NAME, &own).await
}

#[tokio::test]
async fn a_callback_that_fails_refuses_a_call_and_is_an_error_elsewhere() {
    let stop = || json!({"stop_hook_active": false});
    assert_eq!(
        refusal(&fails(PreToolUse, bash()).await),
        Ok("out of order")
    );
    assert_eq!(
        refusal(&fails(PermissionRequest, bash()).await),
        Ok("out of order")
    );
    assert_eq!(refusal(&fails(Stop, stop()).await), Err("out of order"));
    assert!(refusal(&panics(PreToolUse, bash()).await).is_ok());
    assert!(refusal(&panics(PermissionRequest, bash()).await).is_ok());
    assert!(refusal(&panics(Stop, stop()).await).is_err());
}

#[tokio::test]
async fn a_call_that_a_hook_cannot_read_is_refused() {
    let hook = Hook::of(PreToolUse, |_, _| async { PreToolUse::allow() });
    let (mut session, mut far) = session(Claude::new().hook(hook)).await;
    let answer = fire(&mut far, "PreToolUse", &json!({"tool_name": "Bash"})).await;
    assert!(refusal(&answer).is_ok());
    let told = notice(&mut session.events).await;
    assert!(matches!(told, Notice::BrokenQuestion { .. }), "{told:?}");
    // Another event under the id of this hook tells nothing about the call.
    let answer = fire(&mut far, "Stop", &json!({"stop_hook_active": true})).await;
    assert!(refusal(&answer).is_ok());
}

#[tokio::test]
async fn an_unreadable_event_that_cannot_refuse_is_an_error() {
    let hook = Hook::of(Stop, |_, _| async {});
    let (_session, mut far) = session(Claude::new().hook(hook)).await;
    assert!(refusal(&fire(&mut far, "Stop", &json!({})).await).is_err());
    far.ask("x", json!({"subtype": "hook_callback"})).await;
    assert_eq!(far.answer("x").await["subtype"], "error");
}

#[tokio::test]
async fn a_callback_that_was_never_registered_is_an_error() {
    let hook = Hook::of(Stop, |_, _| async {});
    let (_session, mut far) = session(Claude::new().hook(hook)).await;
    for id in ["hook-1", "hook-", "other", "", "hook--1"] {
        far.ask(
            "h",
            call(id, &input("Stop", &json!({"stop_hook_active": false}))),
        )
        .await;
        let answer = far.answer("h").await;
        assert_eq!(
            answer["error"],
            format!("no callback is registered as {id}"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn an_event_of_a_later_cli_comes_to_a_raw_callback() {
    let hook = Hook::on(
        "FutureEvent",
        |input: HookInput, _: HookContext| async move {
            let HookEvent::Unknown(kept) = input.event else {
                return Err(HookError::from("not known here"));
            };
            assert_eq!(&*kept.name, "FutureEvent");
            Ok(HookOutput {
                reason: kept.body.get("x").map(ToString::to_string),
                ..HookOutput::default()
            })
        },
    );
    let (_session, mut far, initialize) = greeted(Claude::new().hook(hook), "2.1.325").await;
    assert!(initialize["hooks"]["FutureEvent"].is_array());
    let answer = fire(&mut far, "FutureEvent", &json!({"x": 7})).await;
    assert_eq!(answer["response"], json!({"reason": "7"}));
}

#[tokio::test]
async fn a_hook_whose_time_is_over_is_dropped_and_gets_no_answer() {
    struct Guard(Arc<AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let let_go = Arc::clone(&dropped);
    let hook = Hook::of(PreToolUse, move |call, _| {
        let guard = Guard(Arc::clone(&let_go));
        async move {
            if call.tool_name == "Bash" {
                std::future::pending::<()>().await;
            }
            std::mem::forget(guard);
        }
    });
    let (session, mut far) = session(Claude::new().hook(hook)).await;
    far.ask("slow", call("hook-0", &input("PreToolUse", &bash())))
        .await;
    far.cancel("slow").await;
    soon(async {
        while session.open_questions() > 0 || !dropped.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let read = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t"});
    assert_eq!(
        fire(&mut far, "PreToolUse", &read).await["response"],
        json!({})
    );
}
