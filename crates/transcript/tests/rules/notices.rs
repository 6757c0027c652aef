//! Modes, models, limits, notices, and lines that cannot be read.
//!
//! Also what must make no entry at all.

use countersign_journal::Kind;

use crate::support::Tape;
use crate::{assert_has, each, init, success};

fn request(id: &str, subtype: &str, field: &str) -> String {
    format!(
        r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"{subtype}",{field}}}}}"#
    )
}

fn reply(id: &str, body: &str) -> String {
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}"{body}}}}}"#
    )
}

#[test]
fn a_mode_is_told_when_it_changes_and_by_whom() {
    let mut tape = Tape::new();
    tape.agent(init());
    tape.note(r#"{"n":2,"by":"You"}"#).host(request(
        "q",
        "set_permission_mode",
        r#""mode":"plan""#,
    ));
    tape.agent(reply("q", r#","response":{"mode":"plan"}"#))
        .agent(reply("q", ""));
    tape.agent(r#"{"type":"system","subtype":"status","status":null,"permissionMode":"plan"}"#);
    assert_eq!(
        each(&tape, "mode"),
        [r#"1-4 mode {"by":"You","from":"default","to":"plan"}"#]
    );
}

#[test]
fn the_mode_that_a_host_notes_is_told_and_not_the_one_of_the_cli() {
    let status = |mode: &str| {
        format!(r#"{{"type":"system","subtype":"status","status":null,"permissionMode":"{mode}"}}"#)
    };
    let told = |tape: &Tape| -> Vec<String> {
        let field = |text: &str| text.split(r#""to":""#).nth(1).unwrap().to_owned();
        let modes = each(tape, "mode").into_iter();
        modes
            .map(|text| field(&text).trim_end_matches("\"}").to_owned())
            .collect()
    };
    let mut tape = Tape::new();
    tape.agent(init());
    let set = || request("q", "set_permission_mode", r#""mode":"default""#);
    // It was in it all the time.
    tape.note(r#"{"n":1,"mode":"ask"}"#).host(set());
    tape.agent(reply("q", r#","response":{"mode":"default"}"#));
    assert!(told(&tape).is_empty());
    tape.note(r#"{"n":2,"mode":"edits","by":"You"}"#)
        .host(set());
    tape.agent(reply("q", r#","response":{"mode":"default"}"#));
    tape.agent(status("default"));
    assert_eq!(told(&tape), ["edits"]);
    // The agent begins to plan by itself, and goes back.
    tape.agent(status("plan")).agent(status("default"));
    assert_eq!(told(&tape), ["edits", "plan", "edits"]);
    // What it says of a mode before is old once another one was asked for.
    let plan = request("p", "set_permission_mode", r#""mode":"plan""#);
    tape.note(r#"{"n":5,"mode":"plan","by":"You"}"#).host(plan);
    tape.note(r#"{"n":6,"mode":"edits","by":"You"}"#)
        .host(set());
    tape.agent(reply("p", r#","response":{"mode":"plan"}"#))
        .agent(status("plan"));
    tape.agent(reply("q", r#","response":{"mode":"default"}"#))
        .agent(status("default"));
    assert_eq!(told(&tape)[3..], ["plan", "edits"]);
    // Without a note nothing changes, whatever the line.
    tape.note(r#"{"n":3}"#)
        .host(request("i", "interrupt", "\"x\":1"));
    assert_eq!(told(&tape).len(), 5);
}

#[test]
fn a_model_is_told_when_it_changes() {
    let model = |name: &str| format!(r#"{{"type":"system","subtype":"init","model":"{name}"}}"#);
    let mut tape = Tape::new();
    tape.agent(model("x"));
    tape.host(request("q", "set_model", r#""model":"y""#));
    tape.agent(reply("q", r#","response":{"model":"y-1"}"#));
    assert_eq!(
        each(&tape, "model"),
        [r#"1-3 model {"from":"x","to":"y-1"}"#]
    );
    tape.agent(model("z"));
    assert_has(&each(&tape, "model")[1], &[r#""from":"y-1","to":"z""#]);
}

#[test]
fn a_model_by_another_name_is_told_once_it_is_resolved() {
    let mut tape = Tape::new();
    tape.agent(init());
    tape.note(r#"{"n":1,"by":"You"}"#);
    tape.host(request("q", "set_model", r#""model":"fast""#));
    tape.agent(reply("q", ""));
    assert!(each(&tape, "model").is_empty());
    tape.agent(r#"{"type":"system","subtype":"init","model":"fast-1"}"#);
    assert_eq!(
        each(&tape, "model"),
        [r#"1-5 model {"by":"You","from":"x","to":"fast-1"}"#]
    );
}

#[test]
fn a_refused_request_is_told() {
    let mut tape = Tape::new();
    tape.host(request("q", "set_permission_mode", r#""mode":"banana""#));
    tape.agent(r#"{"type":"control_response","response":{"subtype":"error","request_id":"q","error":"must be one of"}}"#);
    assert!(each(&tape, "mode").is_empty());
    assert_has(
        &each(&tape, "notice")[0],
        &["Warning Request", "must be one of"],
    );
}

#[test]
fn a_limit_is_told_when_it_changes() {
    let limit = |status: &str| {
        format!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","rateLimitType":"five_hour","utilization":0.9,"resetsAt":1700000000}}}}"#
        )
    };
    let mut tape = Tape::new();
    for status in [
        "allowed",
        "allowed",
        "allowed_warning",
        "allowed_warning",
        "rejected",
        "allowed",
    ] {
        tape.agent(limit(status));
    }
    let limits = each(&tape, "limit");
    assert_eq!(limits.len(), 3, "{limits:?}");
    assert_has(&limits[1], &["rejected", "five_hour", "1700000000"]);
}

#[test]
fn an_interrupt_names_who_wanted_it() {
    let mut tape = Tape::new();
    tape.agent(init());
    tape.note(r#"{"n":2,"by":"You"}"#);
    tape.host(r#"{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}"#);
    tape.agent(
        r#"{"type":"user","message":{"role":"user","content":"[Request interrupted by user]"}}"#,
    );
    tape.agent(r#"{"type":"result","subtype":"error_during_execution","is_error":false}"#);
    assert_has(
        &each(&tape, "result")[0],
        &["FAILED INTERRUPTED by=\"You\""],
    );
    assert_eq!(tape.fold().0.totals().turns.interrupted, 1);
}

#[test]
fn the_answer_of_a_slash_command_is_told_with_the_result() {
    let mut tape = Tape::new();
    tape.agent(init());
    tape.agent(r#"{"type":"result","subtype":"success","result":"Total cost: $0"}"#);
    assert_has(&each(&tape, "result")[0], &["text \"Total cost: $0\""]);
}

#[test]
fn a_line_that_cannot_be_read_is_an_entry_and_ends_nothing() {
    let lines: [(Kind, &[u8]); 8] = [
        (Kind::Agent, b"not json"),
        (Kind::Agent, b"\xff\xfe"),
        (Kind::Agent, b""),
        (Kind::Agent, b"{\"type\":\"assistant\",\"message\":7}"),
        (Kind::AgentPiece, b"{\"type\":\"assist"),
        (Kind::Host, b"null"),
        (Kind::Keeper, b"{}"),
        (Kind::Note, b"[1"),
    ];
    let mut tape = Tape::new();
    for (kind, line) in lines {
        tape.push(kind, line);
    }
    tape.agent(init()).agent(success());
    let unread = each(&tape, "unread");
    assert_eq!(unread.len(), lines.len(), "{unread:#?}");
    assert_has(&unread[0], &["a -", "\"not json\""]);
    assert_has(&unread[3], &["assistant"]);
    assert_has(&unread[4], &["A -", "cut off"]);
    assert_eq!(tape.fold().0.totals().malformed, lines.len() as u64);
    assert_eq!(each(&tape, "result").len(), 1);
}

#[test]
fn a_message_of_tomorrow_is_shown_by_its_name() {
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"tomorrow","a":1}"#);
    tape.agent(r#"{"type":"system","subtype":"tomorrow"}"#);
    tape.agent(r#"{"type":"control_request","request_id":"r","request":{"subtype":"tomorrow"}}"#);
    tape.agent(r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tomorrow"}]}}"#);
    let unread = each(&tape, "unread");
    let names = [
        "tomorrow",
        "system/tomorrow",
        "control_request/tomorrow",
        "assistant",
    ];
    for (unread, name) in unread.iter().zip(names) {
        assert_has(unread, &[&format!("unread a {name}:")]);
    }
    assert_eq!(tape.fold().0.totals().unknown, 4);
}

#[test]
fn what_only_passes_makes_no_entry() {
    let mut tape = Tape::new();
    for line in [
        r#"{"type":"keep_alive"}"#,
        r#"{"type":"system","subtype":"thinking_tokens","estimated_tokens":1}"#,
        r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#,
        r#"{"type":"system","subtype":"status","status":"requesting"}"#,
        r#"{"type":"system","subtype":"ui_log"}"#,
        r#"{"type":"tool_progress","tool_use_id":"t","tool_name":"Bash","elapsed_time_seconds":3}"#,
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"mcp_message","server_name":"x","message":{}}}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"nobody"}}"#,
    ] {
        tape.agent(line);
    }
    let (fold, entries) = tape.fold();
    assert!(entries.is_empty(), "{}", tape.text());
    assert_eq!(fold.totals(), &countersign_transcript::Totals::default());
}

#[test]
fn lines_of_stderr_in_a_row_are_one_entry() {
    let mut tape = Tape::new();
    tape.push(Kind::Stderr, "one")
        .push(Kind::Stderr, "two")
        .agent(init())
        .push(Kind::Stderr, "three");
    let stderr = each(&tape, "stderr");
    assert_eq!(stderr.len(), 2);
    assert_has(&stderr[0], &[r"one\ntwo"]);
    assert_eq!(tape.fold().0.totals().stderr, 3);
}

#[test]
fn a_denial_without_a_question_stands_at_its_call() {
    let mut tape = Tape::new();
    tape.agent(crate::call("t", "Bash", "{}"));
    tape.agent(r#"{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"t","message":"denied","decision_reason_code":"auto_mode_no_check_in_session"}"#);
    tape.agent(crate::result("t", "denied", true));
    assert_has(
        &crate::tool(&tape),
        &[
            "Refused",
            "denied by the CLI",
            "auto_mode_no_check_in_session",
        ],
    );
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"gone","message":"denied"}"#);
    assert_has(
        &each(&tape, "notice")[0],
        &["Warning Cli system/permission_denied", "denied"],
    );
}
