//! The life of a question: open, written, settled or withdrawn.
//!
//! Every way a question can end, each from the same beginning.

use countersign_journal::{Exit, KeeperEvent};

use crate::support::{Tape, entry_text};
use crate::{allow, answer, assert_has, call, each, first, init, question, result, success, tool};

const INPUT: &str = r#"{"command":"ls"}"#;

/// A call that is asked about; the answer comes after 250 ms if there is one.
fn asked() -> Tape {
    let mut tape = Tape::new();
    tape.agent(init()).agent(call("t", "Bash", INPUT));
    tape.wait(50)
        .agent(question("r", "t", "Bash", INPUT))
        .wait(250);
    tape
}

#[test]
fn an_answer_is_recorded_with_who_why_where_and_how_long_it_took() {
    let mut tape = asked();
    tape.note(r#"{"answer":"r","by":"rule: Bash(ls:*)","why":"allowed by rule","client":"phone","digest":"d1"}"#);
    tape.host(allow("r", INPUT))
        .wait(30)
        .agent(result("t", "ok", false));
    assert_has(
        &tool(&tape),
        &[
            "Bash Plain Ran took=30000",
            "settled: Ran",
            r#"answer Allow "allow" in 5 waited=250000 by="rule: Bash(ls:*)" why="allowed by rule" client="phone""#,
        ],
    );
    let totals = tape.fold().0.totals().clone();
    assert_eq!((totals.approvals.allowed, totals.approvals.ran), (1, 1));
    assert_eq!(totals.approvals.waited_most, 250_000);
    assert_eq!(totals.approvals.by["rule: Bash(ls:*)"], 1);
}

#[test]
fn a_note_speaks_of_the_very_next_line_only() {
    let mut tape = asked();
    tape.note(r#"{"n":7,"by":"somebody"}"#);
    tape.agent(r#"{"type":"keep_alive"}"#);
    tape.host(allow("r", INPUT));
    assert!(!tool(&tape).contains("somebody"));
}

#[test]
fn a_denial_that_came_back_is_refused_and_not_failed() {
    let mut tape = asked();
    tape.host(answer("r", r#"{"behavior":"deny","message":"not today"}"#));
    tape.agent(result("t", "not today", true));
    assert_has(
        &tool(&tape),
        &["Refused", "settled: Refused", r#"Deny "deny""#, "not today"],
    );
    let totals = tape.fold().0.totals().clone();
    assert_eq!(
        (totals.tools["Bash"].refused, totals.tools["Bash"].failed),
        (1, 0)
    );
}

#[test]
fn the_input_that_runs_is_shown_where_it_is_another_one() {
    let mut tape = asked();
    tape.host(allow("r", r#"{"command":"ls -l"}"#));
    assert_has(&tool(&tape), &[r#"runs {"command":"ls -l"}"#]);
    let mut same = asked();
    same.host(allow("r", r#"{ "command" : "l\u0073" }"#));
    assert!(!tool(&same).contains("runs"), "{}", tool(&same));
}

#[test]
fn what_would_run_is_shown_where_the_cli_filled_something_in() {
    let mut tape = Tape::new();
    tape.agent(call("t", "Edit", r#"{"a":1}"#));
    tape.agent(question("r", "t", "Edit", r#"{"a":1,"replace_all":false}"#));
    assert_has(&tool(&tape), &[r#"would run {"a":1,"replace_all":false}"#]);
}

#[test]
fn a_question_that_the_agent_takes_back_is_cancelled() {
    let mut tape = asked();
    tape.agent(r#"{"type":"control_cancel_request","request_id":"r"}"#);
    assert_has(&tool(&tape), &["withdrawn: Cancelled", "OPEN"]);
    tape.host(allow("r", INPUT));
    assert!(
        !tool(&tape).contains("answer"),
        "a late answer changes nothing"
    );
    assert_eq!(tape.fold().0.totals().approvals.open, 0);
}

#[test]
fn a_question_that_an_interrupt_takes_back_is_interrupted() {
    let mut tape = asked();
    tape.host(r#"{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}"#);
    tape.agent(r#"{"type":"control_cancel_request","request_id":"r"}"#);
    tape.agent(result("t", "aborted", true));
    assert_has(&tool(&tape), &["withdrawn: Interrupted", "Refused"]);
}

#[test]
fn an_answer_to_a_question_that_was_taken_back_is_unused() {
    let mut tape = asked();
    tape.host(allow("r", INPUT));
    tape.agent(r#"{"type":"control_cancel_request","request_id":"r"}"#);
    assert_has(&tool(&tape), &["settled: Unused"]);
}

#[test]
fn the_first_answer_counts() {
    let mut tape = asked();
    tape.host(answer("r", r#"{"behavior":"deny","message":"no"}"#));
    tape.host(allow("r", INPUT));
    assert_has(&tool(&tape), &[r#"Deny "deny""#]);
    assert_eq!(tape.fold().0.totals().approvals.allowed, 0);
}

#[test]
fn when_the_agent_is_gone_an_answer_is_of_unknown_outcome() {
    let mut tape = asked();
    tape.host(allow("r", INPUT));
    tape.keeper(&KeeperEvent::Exit(Exit {
        signal: Some(9),
        ..Exit::default()
    }));
    assert_has(&tool(&tape), &["Unknown", "settled: Unknown"]);
    assert_eq!(tape.fold().0.totals().approvals.unknown, 1);
}

#[test]
fn when_the_agent_is_gone_an_answer_that_did_not_reach_it_is_withdrawn() {
    let mut tape = asked();
    tape.host(allow("r", INPUT));
    tape.keeper(&KeeperEvent::Exit(Exit {
        unwritten: vec![4],
        ..Exit::default()
    }));
    assert_has(&tool(&tape), &["withdrawn: AgentGone"]);
}

#[test]
fn when_the_agent_is_gone_an_open_question_is_withdrawn() {
    for end in [
        KeeperEvent::Exit(Exit::default()),
        KeeperEvent::Lost { killed: Vec::new() },
    ] {
        let mut tape = asked();
        tape.keeper(&end);
        assert_has(&tool(&tape), &["withdrawn: AgentGone"]);
    }
    let mut tape = asked();
    tape.generation = 2;
    tape.agent(init());
    assert_has(&tool(&tape), &["withdrawn: AgentGone"]);
}

#[test]
fn an_allowed_call_that_the_turn_left_behind_is_of_unknown_outcome() {
    let mut tape = asked();
    tape.host(allow("r", INPUT)).agent(success());
    assert_has(&tool(&tape), &["Unknown", "settled: Unknown"]);
    assert_eq!(tape.fold().0.open(), 0);
}

#[test]
fn an_open_question_outlives_the_turn() {
    let mut tape = asked();
    tape.agent(success());
    assert_has(&tool(&tape), &["OPEN", "Asking"]);
    tape.host(allow("r", INPUT)).agent(result("t", "ok", false));
    assert_has(&tool(&tape), &["settled: Ran"]);
}

#[test]
fn an_error_instead_of_an_answer_does_not_run() {
    let mut tape = asked();
    tape.host(r#"{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"host exploded"}}"#);
    tape.agent(result("t", "failed", true));
    assert_has(
        &tool(&tape),
        &[r#"Error "error""#, "host exploded", "settled: Refused"],
    );
}

#[test]
fn a_question_about_an_unknown_call_makes_the_call() {
    let mut tape = Tape::new();
    tape.agent(question("r", "t", "ExitPlanMode", r#"{"plan":"x"}"#));
    tape.host(allow("r", r#"{"plan":"x"}"#));
    tape.agent(result("t", "approved", false));
    assert_has(
        &tool(&tape),
        &["ExitPlanMode Plan Ran", r#"input {"plan":"x"}"#],
    );
}

#[test]
fn a_form_is_a_question_that_ends_with_its_turn() {
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"control_request","request_id":"r","request":{"subtype":"elicitation","mcp_server_name":"el","message":"Your name?","mode":"form","requested_schema":{"type":"object"}}}"#);
    tape.wait(5)
        .host(answer("r", r#"{"action":"accept","content":{"name":"x"}}"#));
    let ask = |tape: &Tape| first(&tape.fold().1, "ask");
    assert_has(
        &ask(&tape),
        &[
            "OPEN",
            "written",
            r#"from "el" "Your name?""#,
            r#"runs {"name":"x"}"#,
        ],
    );
    tape.agent(success());
    assert_has(&ask(&tape), &["settled: Ran"]);
}

#[test]
fn a_dialog_is_a_question_that_can_be_declined() {
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"control_request","request_id":"r","request":{"subtype":"request_user_dialog","dialog_kind":"trust","payload":{"a":1}}}"#);
    tape.host(answer("r", r#"{"behavior":"cancelled"}"#))
        .agent(success());
    let (_, entries) = tape.fold();
    let ask = entries.iter().map(entry_text).next().unwrap();
    assert_has(
        &ask,
        &[
            r#"from "trust""#,
            r#"form {"a":1}"#,
            r#"Deny "cancelled""#,
            "settled: Refused",
        ],
    );
}

#[test]
fn the_agents_own_echo_of_an_answer_is_no_answer() {
    let mut tape = asked();
    tape.agent(allow("r", INPUT));
    assert_has(&tool(&tape), &["Asking"]);
}

#[test]
fn a_decision_by_the_mode_is_told_from_one_by_a_rule_and_a_plan_sent_back_from_a_denial() {
    let by = |decision: &str| {
        let mut tape = asked();
        tape.note(format!(
            r#"{{"answer":"r","by":"rule","why":"","decision":{decision}}}"#
        ))
        .host(allow("r", INPUT));
        tape.fold().0.totals().approvals.by.clone()
    };
    let count = |name: &str| std::collections::BTreeMap::from([(name.to_owned(), 1)]);
    assert_eq!(by(r#"{"kind":"profile","text":"x"}"#), count("mode"));
    assert_eq!(
        by(r#"{"kind":"rule","text":"x","rule":"allow Bash"}"#),
        count("rule")
    );
    let mut tape = Tape::new();
    let plan = r#"{"plan":"one"}"#;
    tape.agent(init()).agent(call("p", "ExitPlanMode", plan));
    tape.agent(question("q", "p", "ExitPlanMode", plan))
        .host(answer("q", r#"{"behavior":"deny","message":"shorter"}"#));
    let counts = tape.fold().0.totals().approvals.clone();
    assert_eq!((counts.denied, counts.sent_back), (0, 1));
}

#[test]
fn what_a_no_to_a_plan_stands_for_is_what_its_note_says() {
    let counts = |note: &str, interrupt: bool| {
        let mut tape = Tape::new();
        let plan = r#"{"plan":"one"}"#;
        let deny = format!(r#"{{"behavior":"deny","message":"x","interrupt":{interrupt}}}"#);
        tape.agent(init()).agent(call("p", "ExitPlanMode", plan));
        tape.agent(question("q", "p", "ExitPlanMode", plan));
        tape.note(format!(r#"{{"answer":"q",{note}}}"#))
            .host(answer("q", &deny));
        let counts = tape.fold().0.totals().approvals.clone();
        (counts.allowed, counts.denied, counts.sent_back)
    };
    let way = |way: &str| format!(r#""by":"anna","way":"{way}""#);
    assert_eq!(counts(&way("clear-context"), true), (1, 0, 0));
    assert_eq!(counts(&way("keep-planning"), true), (0, 0, 1));
    assert_eq!(counts(r#""by":"anna""#, true), (0, 1, 0));
    assert_eq!(counts(r#""by":"expired""#, false), (0, 1, 0));
}

#[test]
fn a_plan_that_was_sent_back_is_no_denial_of_its_turn() {
    let mut tape = Tape::new();
    let denials = r#"[{"tool_name":"ExitPlanMode","tool_use_id":"p","tool_input":{}},{"tool_name":"Bash","tool_use_id":"b","tool_input":{}}]"#;
    let mut end: serde_json::Value = serde_json::from_str(success()).unwrap();
    end["permission_denials"] = serde_json::from_str(denials).unwrap();
    tape.agent(init()).agent(end.to_string());
    let (_, entries) = tape.fold();
    let ends = entries.iter().filter_map(|entry| match &entry.body {
        countersign_transcript::Body::Result(end) => Some(end.denials),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [1]);
}

#[test]
fn a_call_that_wrote_the_plan_of_the_session_is_marked() {
    let mut tape = asked();
    tape.note(r#"{"answer":"r","by":"rule","why":"x","decision":{"kind":"plan-file","text":"x"}}"#)
        .host(allow("r", INPUT));
    let (_, entries) = tape.fold();
    let kinds = entries.iter().find_map(|entry| match &entry.body {
        countersign_transcript::Body::Tool(tool) => {
            tool.approval.as_ref()?.answer.as_ref()?.reason_kind.clone()
        }
        _ => None,
    });
    assert_eq!(kinds.as_deref(), Some("plan-file"));
}

/// The same question as CLIs such as 1.0.128 ask it: it names no call.
fn nameless(request: &str, input: &str) -> String {
    question(request, "x", "Bash", input).replace(r#""tool_use_id":"x","#, "")
}

#[test]
fn a_question_that_names_no_call_belongs_to_the_call_of_its_input() {
    let other = r#"{"command":"pwd"}"#;
    let mut tape = Tape::new();
    tape.agent(init()).agent(call("t", "Bash", INPUT));
    tape.agent(call("u", "Bash", other));
    tape.agent(nameless("r", other)).agent(nameless("q", INPUT));
    tape.host(answer("r", r#"{"behavior":"deny","message":"no"}"#));
    tape.host(allow("q", INPUT));
    tape.agent(result("u", "no", true));
    tape.agent(result("t", "ok", false));
    let tools = each(&tape, "tool");
    assert_eq!(tools.len(), 2, "{tools:?}");
    assert_has(&tools[0], &["Bash Plain Ran", "settled: Ran"]);
    assert_has(&tools[1], &["Refused", "settled: Refused"]);
}

#[test]
fn questions_of_which_no_call_is_known_are_shown_apart() {
    let mut tape = Tape::new();
    tape.agent(init());
    tape.agent(nameless("r", INPUT)).agent(nameless("q", INPUT));
    tape.host(allow("q", INPUT));
    assert_eq!(each(&tape, "tool").len(), 2);
    assert_eq!(tape.fold().0.totals().approvals.open, 1);
}

#[test]
fn a_call_that_was_allowed_too_late_is_not_shown_as_having_run() {
    let late = r#"{"type":"system","subtype":"late_allow_not_run","request_id":"r","tool_use_id":"t","reason":"expired"}"#;
    let mut tape = asked();
    tape.host(allow("r", INPUT)).agent(late);
    assert_has(
        &tool(&tape),
        &[
            "Refused",
            "settled: Unused",
            "the call did not run (expired)",
        ],
    );
    // Asked again, it may run.
    tape.agent(question("s", "t", "Bash", INPUT));
    tape.host(allow("s", INPUT)).agent(result("t", "ok", false));
    assert_has(&tool(&tape), &["Bash Plain Ran", "settled: Ran"]);
    // A newer question that is open stays: the line is about the answer before.
    let mut tape = asked();
    tape.agent(late);
    assert_has(&tool(&tape), &["Asking"]);
    assert_has(
        &each(&tape, "notice").join("\n"),
        &["did not run (expired)"],
    );
}
