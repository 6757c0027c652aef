//! Text, thinking and tool calls, in pieces and whole, of the main conversation and of sub-agents.
//!
//! Lines are written as 2.1.325 sends them, cut to what matters.

use countersign_transcript::{Change, Fold};

use crate::support::Tape;
use crate::{assert_has, call, each, init, result, success, tool};

fn event(speaker: &str, event: &str) -> String {
    format!(r#"{{"type":"stream_event","event":{event},"parent_tool_use_id":{speaker}}}"#)
}

fn start(speaker: &str, message: &str) -> String {
    event(
        speaker,
        &format!(r#"{{"type":"message_start","message":{{"id":"{message}","model":"x"}}}}"#),
    )
}

fn block(speaker: &str, index: u32, kind: &str) -> String {
    event(
        speaker,
        &format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"{kind}"}}}}"#
        ),
    )
}

fn piece(speaker: &str, index: u32, text: &str) -> String {
    event(
        speaker,
        &format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}}"#
        ),
    )
}

fn said(speaker: &str, message: &str, text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{message}","content":[{{"type":"text","text":"{text}"}}]}},"parent_tool_use_id":{speaker}}}"#
    )
}

const MAIN: &str = "null";

#[test]
fn pieces_make_one_entry_and_the_whole_replaces_it() {
    let mut tape = Tape::new();
    tape.agent(start(MAIN, "m")).agent(block(MAIN, 0, "text"));
    tape.agent(piece(MAIN, 0, "Hel"))
        .agent(piece(MAIN, 0, "lo"));
    assert_eq!(
        each(&tape, "text"),
        [r#"1-3..4 OPEN text "Hello" message="m" PARTIAL"#]
    );
    tape.agent(said(MAIN, "m", "Hello."));
    assert_eq!(each(&tape, "text"), [r#"1-3..5 text "Hello." message="m""#]);
}

#[test]
fn a_piece_is_told_as_a_piece() {
    let mut tape = Tape::new();
    tape.agent(start(MAIN, "m")).agent(block(MAIN, 0, "text"));
    tape.agent(piece(MAIN, 0, "Hel"))
        .agent(piece(MAIN, 0, "lo"));
    let mut fold = Fold::new();
    let steps: Vec<_> = tape
        .records
        .iter()
        .map(|owned| fold.step(1, &owned.record()))
        .collect();
    assert!(matches!(&steps[2].entries[..], [Change::Put(_)]));
    match &steps[3].entries[..] {
        [Change::Grow { text, length, .. }] => assert_eq!((text.as_str(), *length), ("lo", 5)),
        other => panic!("{other:?}"),
    }
    assert!(!steps[3].totals);
}

#[test]
fn two_blocks_of_one_message_are_two_entries() {
    let mut tape = Tape::new();
    tape.agent(start(MAIN, "m"));
    for (index, text) in [(0, "one"), (1, "two")] {
        tape.agent(block(MAIN, index, "text"))
            .agent(piece(MAIN, index, text));
        tape.agent(said(MAIN, "m", text));
    }
    let texts = each(&tape, "text");
    assert_eq!(texts.len(), 2);
    assert_has(&texts[1], &["\"two\" message=\"m\""]);
    assert!(!texts[1].contains("PARTIAL"));
}

#[test]
fn a_tool_may_run_before_its_message_is_complete() {
    let mut tape = Tape::new();
    tape.agent(start(MAIN, "m"));
    tape.agent(event(MAIN, r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}}"#));
    assert_has(&tool(&tape), &["Bash Plain Writing", "OPEN"]);
    tape.agent(call("t", "Bash", r#"{"command":"ls"}"#))
        .agent(result("t", "a", false));
    tape.agent(block(MAIN, 1, "text"))
        .agent(piece(MAIN, 1, "Done"))
        .agent(said(MAIN, "m", "Done."));
    assert_eq!(each(&tape, "tool").len(), 1);
    assert_has(
        &tool(&tape),
        &["1-2..4", "Ran", r#"input {"command":"ls"}"#],
    );
    assert_has(&each(&tape, "text")[0], &["\"Done.\""]);
}

#[test]
fn what_was_never_completed_stays_as_it_is() {
    for end in [
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#.to_owned(),
        success().to_owned(),
        start(MAIN, "other"),
    ] {
        let mut tape = Tape::new();
        tape.agent(init()).agent(start(MAIN, "m")).agent(block(MAIN, 0, "text"));
        tape.agent(piece(MAIN, 0, "half")).agent(end);
        assert_has(&each(&tape, "text")[0], &["1-4..5 text \"half\"", "PARTIAL"]);
    }
}

#[test]
fn a_block_without_a_letter_is_no_entry() {
    let mut tape = Tape::new();
    tape.agent(start(MAIN, "m"))
        .agent(block(MAIN, 0, "text"))
        .agent(piece(MAIN, 0, ""));
    tape.agent(said(MAIN, "m", ""));
    assert!(each(&tape, "text").is_empty());
}

#[test]
fn half_a_surrogate_pair_costs_a_letter_not_the_line() {
    let mut tape = Tape::new();
    tape.agent(start(MAIN, "m")).agent(block(MAIN, 0, "text"));
    tape.agent(piece(MAIN, 0, r"cut \ud83d"))
        .agent(said(MAIN, "m", r"cut \ud83d here"));
    tape.agent(call("t", "Bash", r#"{"command":"echo \ud83d"}"#));
    let (fold, _) = tape.fold();
    assert_eq!(fold.totals().malformed, 0);
    assert_has(&each(&tape, "text")[0], &["cut \u{fffd} here"]);
    assert_has(&tool(&tape), &["Called"]);
}

#[test]
fn thinking_has_a_duration_where_it_came_in_pieces() {
    let mut tape = Tape::new();
    tape.agent(start(MAIN, "m"))
        .agent(block(MAIN, 0, "thinking"));
    tape.agent(event(MAIN, r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#));
    tape.wait(40).agent(r#"{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"hm, yes"}]}}"#);
    assert_eq!(
        each(&tape, "thinking"),
        [r#"1-3..4 thinking "hm, yes" took=40000"#]
    );
}

#[test]
fn sub_agents_speak_below_the_call_that_started_them() {
    let mut tape = Tape::new();
    tape.agent(call(
        "t1",
        "Task",
        r#"{"description":"outer","subagent_type":"a"}"#,
    ));
    tape.agent(r#"{"type":"assistant","message":{"id":"n","content":[{"type":"tool_use","id":"t2","name":"Agent","input":{"description":"inner"}}]},"parent_tool_use_id":"t1"}"#);
    tape.agent(start("\"t2\"", "x"))
        .agent(block("\"t2\"", 0, "text"))
        .agent(piece("\"t2\"", 0, "deep"));
    tape.agent(said(MAIN, "m", "meanwhile"))
        .agent(said("\"t2\"", "x", "deep down"));
    let text = tape.text();
    assert_has(
        &text,
        &[
            "\n    1-2 OPEN tool Agent",
            "\n        1-5..7 text \"deep down\"",
        ],
    );
    tape.agent(r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t3","input":{},"agent_id":"a7"}}"#);
    tape.agent(r#"{"type":"system","subtype":"task_started","task_id":"a7","tool_use_id":"t2","description":"inner","task_type":"local_agent"}"#);
    tape.agent(r#"{"type":"control_request","request_id":"r2","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t4","input":{},"agent_id":"a7"}}"#);
    let tools = each(&tape, "tool");
    assert!(!tools[2].contains("path="), "its agent is not known yet");
    assert_has(&tools[3], &[r#"path=["outer", "inner"]"#]);
}

#[test]
fn a_result_without_a_call_is_shown_by_itself() {
    let mut tape = Tape::new();
    tape.agent(result("nobody", "words", false));
    assert_has(&each(&tape, "notice")[0], &["Orphan", "words"]);
}

#[test]
fn two_results_for_one_call_count_once() {
    let mut tape = Tape::new();
    tape.agent(call("t", "Bash", "{}"));
    tape.agent(r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"one"},{"type":"tool_result","tool_use_id":"t","content":"two","is_error":true}]}}"#);
    assert_has(&tool(&tape), &["Ran", "\"one\""]);
    assert_has(&each(&tape, "notice")[0], &["Orphan", "\"two\""]);
    assert_eq!(tape.fold().0.totals().tools["Bash"].failed, 0);
}

#[test]
fn tools_that_the_api_runs_have_their_results_in_the_same_message() {
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"assistant","message":{"id":"m","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"text","text":"found"}]}]}}"#);
    assert_has(&tool(&tape), &["web_search Plain Ran", "\"found\""]);
}

#[test]
fn a_failed_call_of_the_api_is_a_text_with_its_error() {
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"assistant","error":"rate_limit","message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}"#);
    assert_has(&each(&tape, "text")[0], &[r#"error="rate_limit""#]);
}

#[test]
fn a_long_result_is_cut_and_says_where_the_whole_is() {
    let mut tape = Tape::new();
    tape.agent(call("t", "Bash", "{}"))
        .agent(result("t", &"x".repeat(50_000), false));
    assert_has(&tool(&tape), &["[16384 of 50000 bytes, whole in 1-2]"]);
}
