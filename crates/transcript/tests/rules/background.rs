//! What runs beside the turn: tasks, hooks, retries, compaction.
//!
//! Owns the cases in which something outlives its call, its turn, or its last word.

use crate::support::Tape;
use crate::{assert_has, call, each, init, result, success, tool};

fn task(subtype: &str, rest: &str) -> String {
    format!(r#"{{"type":"system","subtype":"{subtype}","task_id":"k",{rest}}}"#)
}

#[test]
fn a_call_that_merely_takes_long_is_no_task() {
    let mut tape = Tape::new();
    tape.agent(call("t", "Bash", "{}"));
    tape.agent(task("task_started", r#""tool_use_id":"t","task_type":"local_bash","is_backgrounded":false,"description":"slow""#));
    tape.agent(result("t", "ok", false));
    assert!(each(&tape, "task").is_empty());
    assert_eq!(tape.fold().0.totals().tasks, 0);
}

#[test]
fn a_call_that_goes_to_the_background_becomes_a_task() {
    for moved in [
        task("task_updated", r#""patch":{"is_backgrounded":true}"#),
        r#"{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"k"}]}"#
            .to_owned(),
    ] {
        let mut tape = Tape::new();
        tape.agent(call("t", "Bash", "{}"));
        tape.agent(task("task_started", r#""tool_use_id":"t","task_type":"local_bash","is_backgrounded":false,"description":"slow""#));
        tape.agent(moved)
            .agent(result("t", "in the background", false));
        assert_has(
            &each(&tape, "task")[0],
            &["OPEN", "Running \"slow\" BACKGROUND"],
        );
        tape.agent(task(
            "task_notification",
            r#""status":"failed","summary":"exit 1""#,
        ));
        assert_has(&each(&tape, "task")[0], &["1-3..5 task Failed", "exit 1"]);
    }
}

#[test]
fn a_task_that_was_killed_without_a_last_word_ends_when_it_is_no_longer_listed() {
    let mut tape = Tape::new();
    tape.agent(task(
        "task_started",
        r#""task_type":"local_bash","description":"server""#,
    ));
    tape.agent(task("task_updated", r#""patch":{"status":"killed"}"#));
    assert_has(&each(&tape, "task")[0], &["OPEN", "Stopped"]);
    tape.agent(r#"{"type":"system","subtype":"background_tasks_changed","tasks":[]}"#);
    assert!(!each(&tape, "task")[0].contains("OPEN"));
}

#[test]
fn a_task_of_which_only_the_end_is_told_is_told() {
    let mut tape = Tape::new();
    tape.agent(task(
        "task_notification",
        r#""status":"completed","summary":"done","description":"old""#,
    ));
    assert_has(
        &each(&tape, "task")[0],
        &["Completed \"old\" BACKGROUND", "\"done\""],
    );
}

#[test]
fn a_hook_command_is_told_once_with_its_outcome() {
    let mut tape = Tape::new();
    let hook = |subtype: &str, rest: &str| {
        format!(
            r#"{{"type":"system","subtype":"{subtype}","hook_id":"h","hook_name":"SessionStart:startup","hook_event":"SessionStart"{rest}}}"#
        )
    };
    tape.agent(hook("hook_started", ""));
    tape.wait(7).agent(hook(
        "hook_response",
        r#","outcome":"error","exit_code":2,"output":"","stderr":"no""#,
    ));
    let hooks = each(&tape, "hook");
    assert_eq!(hooks.len(), 1);
    assert_has(
        &hooks[0],
        &[
            "1-1..2",
            r#""state":"failed""#,
            r#""exit_code":2"#,
            r#""took":7000"#,
            "\"no\"",
        ],
    );
}

#[test]
fn a_hook_callback_that_is_given_up_says_so() {
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"cb","input":{"hook_event_name":"PreToolUse"},"tool_use_id":"t"}}"#);
    tape.agent(r#"{"type":"control_cancel_request","request_id":"r"}"#);
    assert_has(
        &each(&tape, "hook")[0],
        &[r#""event":"PreToolUse""#, r#""state":"cancelled""#],
    );
}

#[test]
fn attempts_in_a_row_are_one_retry() {
    let mut tape = Tape::new();
    for attempt in 1..4 {
        tape.agent(format!(r#"{{"type":"system","subtype":"api_retry","attempt":{attempt},"max_retries":10,"retry_delay_ms":581.25,"error_status":529,"error":"overloaded"}}"#));
    }
    assert_has(
        &each(&tape, "retry")[0],
        &["OPEN", r#""attempt":3,"delay_ms":581"#],
    );
    tape.agent(
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"back"}]}}"#,
    );
    assert_has(&each(&tape, "retry")[0], &["1-1..4", r#""is_over":true"#]);
    assert_eq!(tape.fold().0.totals().retries, 3);
}

#[test]
fn a_sub_agent_that_asks_again_is_told_below_its_call() {
    let mut tape = Tape::new();
    tape.agent(call("t", "Task", "{}"));
    tape.agent(r#"{"type":"tool_progress","tool_use_id":"t","tool_name":"Task","subagent_retry":{"agent_id":"a","attempt":2,"max_retries":10,"retry_delay_ms":5,"error_category":"overloaded"}}"#);
    assert_has(&tape.text(), &["\n    1-2 OPEN retry"]);
    tape.agent(result("t", "ok", false));
    assert_has(&tape.text(), &["\n    1-2..3 retry"]);
}

#[test]
fn a_failed_compaction_says_why() {
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"system","subtype":"status","status":"compacting"}"#);
    tape.agent(r#"{"type":"system","subtype":"status","status":null,"compact_result":"failed","compact_error":"too short"}"#);
    let compactions = each(&tape, "compaction");
    assert_eq!(compactions.len(), 1);
    assert_has(&compactions[0], &["too short", r#""is_done":false"#]);
    assert!(!compactions[0].contains("OPEN"));
}

#[test]
fn a_turn_that_starts_by_itself_is_a_turn() {
    let mut tape = Tape::new();
    tape.agent(init())
        .agent(success())
        .agent(init())
        .agent(init())
        .agent(success());
    let turns = tape.fold().0.totals().turns;
    assert_eq!((turns.begun, turns.succeeded), (2, 2));
}

#[test]
fn a_background_agent_goes_on_behind_its_result() {
    let mut tape = Tape::new();
    tape.agent(call(
        "t",
        "Task",
        r#"{"description":"d","run_in_background":true}"#,
    ));
    tape.agent(task(
        "task_started",
        r#""tool_use_id":"t","task_type":"local_agent","is_backgrounded":true,"description":"d""#,
    ));
    tape.agent(r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"launched"}]},"tool_use_result":{"isAsync":true,"status":"async_launched"}}"#);
    tape.agent(success());
    assert_has(&tool(&tape), &["OPEN", "agent Running \"d\" BACKGROUND"]);
    tape.agent(task(
        "task_notification",
        r#""status":"completed","summary":"found""#,
    ));
    assert_has(&tool(&tape), &["agent Completed", "found"]);
    assert_eq!(tape.fold().0.open(), 0);
}
