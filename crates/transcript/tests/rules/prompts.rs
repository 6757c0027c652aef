//! Messages to the agent and what becomes of them.
//!
//! With a CLI that tells, and with one that does not.

use countersign_journal::{Exit, KeeperEvent};

use crate::support::Tape;
use crate::{assert_has, each, init, prompt, success};

fn lifecycle(uuid: &str, state: &str) -> String {
    format!(r#"{{"type":"command_lifecycle","command_uuid":"{uuid}","state":"{state}"}}"#)
}

fn named(uuid: &str, text: &str) -> String {
    format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"role":"user","content":"{text}"}}}}"#)
}

#[test]
fn a_message_is_taken_up_by_the_next_turn_and_done_with_it() {
    let mut tape = Tape::new();
    tape.host(prompt("one"));
    assert_has(&each(&tape, "prompt")[0], &["Sent", "OPEN"]);
    tape.agent(init());
    assert_has(&each(&tape, "prompt")[0], &["Started", "OPEN"]);
    tape.agent(success());
    assert_has(&each(&tape, "prompt")[0], &["Done"]);
}

#[test]
fn two_messages_have_two_turns() {
    let mut tape = Tape::new();
    tape.host(prompt("one"))
        .host(prompt("two"))
        .agent(init())
        .agent(success());
    assert_has(&each(&tape, "prompt")[1], &["Sent"]);
    tape.agent(init()).agent(success());
    assert_has(&each(&tape, "prompt")[1], &["Done"]);
}

#[test]
fn a_result_that_names_its_messages_is_believed() {
    let mut tape = Tape::new();
    tape.host(named("a", "one"))
        .agent(init())
        .host(named("b", "two"));
    tape.agent(r#"{"type":"result","subtype":"success","user_message_uuids":["a","b"]}"#);
    let prompts = each(&tape, "prompt");
    assert_has(&prompts[0], &["Done"]);
    assert_has(&prompts[1], &["Done"]);
}

#[test]
fn a_cli_that_tells_is_believed() {
    for (states, shown) in [
        (&["queued"][..], "Queued"),
        (&["queued", "started"], "Started"),
        (&["queued", "started", "completed"], "Done"),
        (&["queued", "cancelled"], "Cancelled"),
        (&["refused"], "Refused"),
    ] {
        let mut tape = Tape::new();
        tape.host(named("a", "one"));
        for state in states {
            tape.agent(lifecycle("a", state));
        }
        assert_has(&each(&tape, "prompt")[0], &[shown]);
    }
}

#[test]
fn who_sent_it_is_noted() {
    let mut tape = Tape::new();
    tape.note(r#"{"n":1,"by":"You","client":"phone"}"#)
        .host(prompt("one"));
    assert_has(&each(&tape, "prompt")[0], &[r#"by="You" client="phone""#]);
}

#[test]
fn an_echo_is_not_a_second_message() {
    let mut tape = Tape::new();
    tape.host(named("a", "one")).host(prompt("two"));
    tape.agent(
        r#"{"type":"user","uuid":"a","isReplay":true,"message":{"role":"user","content":"one"}}"#,
    );
    tape.agent(r#"{"type":"user","isReplay":true,"message":{"role":"user","content":[{"type":"text","text":"two"}]}}"#);
    let prompts = each(&tape, "prompt");
    assert_eq!(prompts.len(), 2, "{prompts:?}");
    assert_has(&prompts[1], &["Started"]);
}

#[test]
fn an_echo_alone_is_the_message() {
    let mut tape = Tape::new();
    tape.agent(
        r#"{"type":"user","uuid":"a","isReplay":true,"message":{"role":"user","content":"one"}}"#,
    );
    assert_has(&each(&tape, "prompt")[0], &["Echo Started \"one\""]);
}

#[test]
fn a_message_that_did_not_reach_the_agent_says_so() {
    let mut tape = Tape::new();
    tape.host(prompt("one")).host(prompt("two"));
    tape.keeper(&KeeperEvent::Exit(Exit {
        unwritten: vec![2],
        ..Exit::default()
    }));
    let prompts = each(&tape, "prompt");
    assert_has(&prompts[0], &["Sent"]);
    assert_has(&prompts[1], &["Undelivered"]);
}

#[test]
fn pictures_are_counted() {
    let mut tape = Tape::new();
    tape.host(r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{}}]}}"#);
    assert_has(&each(&tape, "prompt")[0], &["\"see\"", "+1"]);
}
