//! What events can be answered, as it goes to the CLI.

use std::time::Duration;

use countersign_client::Update;
use countersign_client::hook::*;
use countersign_client::wire::Json;
use countersign_client::wire::permission::PermissionUpdate;
use serde_json::{Value, json};

fn form<E: TypedEvent>(answer: Answer<E>) -> Value {
    serde_json::to_value(answer.into_output()).unwrap()
}

fn own(event: &str, mut own: Value) -> Value {
    own["hookEventName"] = json!(event);
    json!({"hookSpecificOutput": own})
}

fn json(value: Value) -> Json {
    value.into()
}

#[test]
fn what_all_events_can_be_answered_has_its_form() {
    assert_eq!(form(Stop::pass()), json!({}));
    assert_eq!(
        form(PostToolUse::in_background(None)),
        json!({"async": true})
    );
    assert_eq!(
        form(PostToolUse::in_background(Some(Duration::from_secs(5)))),
        json!({"async": true, "asyncTimeout": 5000})
    );
    assert_eq!(
        form(PreCompact::pass().end_turn("enough")),
        json!({"continue": false, "stopReason": "enough"})
    );
    assert_eq!(
        form(
            Notification::pass()
                .tell("look")
                .quiet()
                .terminal_sequence("\u{7}")
        ),
        json!({"systemMessage": "look", "suppressOutput": true, "terminalSequence": "\u{7}"})
    );
    assert_eq!(
        form(TaskCompleted::pass().block("not done")),
        json!({"decision": "block", "reason": "not done"})
    );
    assert_eq!(
        form(ConfigChange::pass().with(|output| output.reason = Some("r".to_owned()))),
        json!({"reason": "r"})
    );
}

#[test]
fn what_a_call_can_be_answered_before_it_runs_has_its_form() {
    let decided = |own_part| own("PreToolUse", own_part);
    assert_eq!(
        form(PreToolUse::allow()),
        decided(json!({"permissionDecision": "allow"}))
    );
    assert_eq!(
        form(
            PreToolUse::allow()
                .with_input(json(json!({"a": 1})))
                .with_reason("ok")
        ),
        decided(
            json!({"permissionDecision": "allow", "permissionDecisionReason": "ok", "updatedInput": {"a": 1}})
        )
    );
    assert_eq!(
        form(PreToolUse::ask("look").with_context("c")),
        decided(
            json!({"permissionDecision": "ask", "permissionDecisionReason": "look", "additionalContext": "c"})
        )
    );
    assert_eq!(
        form(PreToolUse::defer()),
        decided(json!({"permissionDecision": "defer"}))
    );
    assert_eq!(
        form(PreToolUse::pass().with_input(json(json!({})))),
        decided(json!({"updatedInput": {}}))
    );
}

#[test]
fn what_a_permission_request_can_be_answered_has_its_form() {
    let decision = |decision| own("PermissionRequest", json!({"decision": decision}));
    assert_eq!(
        form(PermissionRequest::allow()),
        decision(json!({"behavior": "allow"}))
    );
    let update: PermissionUpdate = Update::add_directories(["/d"]).into();
    let sent = serde_json::to_value(&update).unwrap();
    assert_eq!(
        form(PermissionRequest::allow_with(
            Some(json(json!({"a": 1}))),
            vec![update]
        )),
        decision(
            json!({"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [sent]})
        )
    );
    assert_eq!(
        form(PermissionRequest::deny("no")),
        decision(json!({"behavior": "deny", "message": "no"}))
    );
    assert_eq!(
        form(PermissionRequest::deny_and_stop("no")),
        decision(json!({"behavior": "deny", "message": "no", "interrupt": true}))
    );
}

#[test]
fn what_the_other_events_can_be_answered_has_its_form() {
    let blocked = json!({"decision": "block", "reason": "r"});
    assert_eq!(form(Stop::block("r")), blocked);
    assert_eq!(form(SubagentStop::block("r")), blocked);
    assert_eq!(form(UserPromptSubmit::block("r")), blocked);
    assert_eq!(form(PostToolUse::block("r")), blocked);
    let context = json!({"additionalContext": "c"});
    assert_eq!(
        form(PostToolUse::context("c")),
        own("PostToolUse", context.clone())
    );
    assert_eq!(
        form(SessionStart::context("c")),
        own("SessionStart", context.clone())
    );
    assert_eq!(form(Setup::context("c")), own("Setup", context));
    assert_eq!(
        form(PostToolUse::replace_output(json(json!("x"))).with_classifier_context("k")),
        own(
            "PostToolUse",
            json!({"updatedToolOutput": "x", "classifierContext": "k"})
        )
    );
    assert_eq!(
        form(PostToolUse::replace_mcp_output(json(json!([])))),
        own("PostToolUse", json!({"updatedMCPToolOutput": []}))
    );
    assert_eq!(
        form(
            UserPromptSubmit::context("c")
                .with_title("t")
                .without_prompt()
        ),
        own(
            "UserPromptSubmit",
            json!({"additionalContext": "c", "sessionTitle": "t", "suppressOriginalPrompt": true})
        )
    );
    assert_eq!(
        form(
            SessionStart::pass()
                .with_first_message("m")
                .with_title("t")
                .watching(["/a"])
                .reloading_skills()
        ),
        own(
            "SessionStart",
            json!({"initialUserMessage": "m", "sessionTitle": "t", "watchPaths": ["/a"], "reloadSkills": true})
        )
    );
    assert_eq!(
        form(PreModelSwitch::deny("no")),
        own(
            "PreModelSwitch",
            json!({"permissionDecision": "deny", "permissionDecisionReason": "no"})
        )
    );
    assert_eq!(
        form(PreModelSwitch::allow()),
        own("PreModelSwitch", json!({"permissionDecision": "allow"}))
    );
    assert_eq!(
        form(PermissionDenied::retry()),
        own("PermissionDenied", json!({"retry": true}))
    );
    assert_eq!(
        form(Elicitation::accept(json(json!({"x": 1})))),
        own(
            "Elicitation",
            json!({"action": "accept", "content": {"x": 1}})
        )
    );
    assert_eq!(
        form(ElicitationResult::decline()),
        own("ElicitationResult", json!({"action": "decline"}))
    );
    assert_eq!(
        form(WorktreeCreate::at("/w")),
        own("WorktreeCreate", json!({"worktreePath": "/w"}))
    );
    assert_eq!(
        form(CwdChanged::watch(["/a"])),
        own("CwdChanged", json!({"watchPaths": ["/a"]}))
    );
    assert_eq!(
        form(FileChanged::watch(["/a"])),
        own("FileChanged", json!({"watchPaths": ["/a"]}))
    );
    assert_eq!(
        form(MessageDisplay::show("x")),
        own("MessageDisplay", json!({"displayContent": "x"}))
    );
}
