//! What is cut in the middle: a message of a host that dies while it speaks, a line that the agent has read half of, a record
//! that was half written.
//!
//! Owns these tests, on the scripted CLI, with a bare socket as the host.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::checks::Extent;
use crate::evidence::segments;
use crate::orders::Leave;
use crate::procs;
use crate::raw::{self, Raw};
use crate::scenes;
use crate::stage::{Stage, lines};
use crate::wait::{self, Dice};

/// Reads the second message and those after it far more slowly than they come.
const SLOW_READER: &str = r#"
turn
  read slowly 256K
  say "I read slowly."
turn always
  say "I have read it."
"#;

/// More than the pipes on the way hold.
const LONG: usize = 400_000;

fn begin(stage: &Stage) -> (Raw, Value) {
    let order = stage.first_order();
    let keeper = stage.keeper();
    countersign_keeper::start(&keeper, &order).unwrap();
    Raw::hello(&stage.socket(), stage.token(), 1, "own")
}

#[test]
fn half_a_message_of_a_host_that_died_reaches_nobody() {
    let mut dice = Dice::of("half a put");
    let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
    let (first, _) = begin(&stage);
    drop(first);
    let line = format!("{}\n", raw::user(&dice.uuid(), "m0"));
    let head = json!({"type":"put","ref":{"n":1},"len":line.len()});
    let whole = format!("{head}\n{line}");
    for (count, epoch) in (2..).enumerate() {
        let cut = 1 + count * whole.len() / 12;
        if cut >= whole.len() {
            break;
        }
        let (mut host, welcome) = Raw::hello(&stage.socket(), stage.token(), epoch, "own");
        assert_eq!(welcome["last_n"], 0, "after {count} halves: {welcome}");
        host.write(&whole.as_bytes()[..cut]);
    }
    let (mut host, _) = Raw::hello(&stage.socket(), stage.token(), 99, "own");
    assert_eq!(stage.witness(1).heard, b"");
    host.write(whole.as_bytes());
    host.until("ok");
    // Written, and to be read by the agent.
    wait::until("it is heard", || stage.witness(1).lines_heard().len() == 1);
}

#[test]
fn a_line_that_the_agent_has_half_of_when_the_host_dies_comes_to_its_end_once() {
    let mut dice = Dice::of("half a line");
    let stage = Stage::scripted(SLOW_READER, &mut dice);
    let (mut host, _) = begin(&stage);
    let long = "x".repeat(LONG);
    host.put(&json!({"n":1}), &raw::user(&dice.uuid(), "m0"), &json!({}));
    host.until("ok");
    wait::until("it reads slowly", || {
        let journal = stage.journal();
        journal.said().any(|(_, line)| line["type"] == "result")
    });
    let messages: Vec<Value> = (2..6).map(|_| raw::user(&dice.uuid(), &long)).collect();
    for (n, message) in (2..).zip(&messages) {
        host.put(&json!({ "n": n }), message, &json!({}));
    }
    wait::until("all are journalled", || {
        stage
            .journal()
            .of(1, countersign_journal::Kind::Host)
            .count()
            == 5
    });
    drop(host);

    // The next host hands in again whatever it has no word of.
    let (mut next, welcome) = Raw::hello(&stage.socket(), stage.token(), 2, "own");
    assert_eq!(welcome["last_n"], 5);
    let unwritten = welcome["unwritten"].as_array().map_or(0, Vec::len);
    assert!(unwritten > 0, "nothing was under way: {welcome}");
    for (n, message) in (2..).zip(&messages) {
        next.put(&json!({ "n": n }), message, &json!({}));
        assert_eq!(next.until("refused")["why"], "dup");
    }
    wait::until("all were read", || {
        stage.witness(1).lines_heard().len() == 5
    });
    stage.assert_kept(Extent::Whole, "after the slow reader");
}

/// The agent dies in the middle of a line: the piece is kept as one, and is no message.
#[test]
fn half_a_line_of_an_agent_that_died_is_kept_as_a_piece() {
    let mut dice = Dice::of("half a frame");
    let stage = Stage::scripted("turn\n  say \"So far.\"\n  crash mid-line\n", &mut dice);
    let (mut host, _) = begin(&stage);
    host.put(&json!({"n":1}), &raw::user(&dice.uuid(), "m0"), &json!({}));
    let gone = host.until("gone");
    assert_eq!(gone["exit"]["signal"], 9, "{gone}");
    let journal = stage.journal();
    let pieces = journal.of(1, countersign_journal::Kind::AgentPiece);
    assert_eq!(pieces.count(), 1);
    stage.assert_kept(Extent::Whole, "with half a line");
}

/// A writer that was killed in the middle of a record leaves a beginning of one. The next one cuts it.
#[test]
fn a_record_that_was_half_written_is_cut_by_the_next_keeper() {
    let mut dice = Dice::of("torn tail");
    for torn in [
        &b"9"[..],
        b"99999 17",
        b"99999 1700000000000000 a {\"type\":\"sys",
    ] {
        let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
        let messages = stage.messages(2, &mut dice);
        let mut orders = stage.orders(&messages[..1]);
        orders.leave = Leave::Never;
        let mut host = stage.host(&orders);
        host.until("question");
        for process in stage.processes() {
            procs::kill(process.pid);
        }
        host.kill();
        wait::until("all is dead", || stage.processes().is_empty());
        let newest = segments(&stage.dir()).pop().unwrap();
        let file = std::fs::File::options().append(true).open(newest);
        file.unwrap().write_all(torn).unwrap();
        assert_eq!(stage.journal().torn, torn);
        let wrong = crate::chain::violations(&stage.dir());
        assert!(wrong.is_empty(), "{}", lines(&wrong));

        stage.finish(&messages);
        let journal = stage.journal();
        assert_eq!((journal.torn, journal.damaged), (Vec::new(), Vec::new()));
        stage.assert_kept(Extent::Whole, "after the torn tail");
        let wrong = crate::chain::violations(&stage.dir());
        assert!(wrong.is_empty(), "{}", lines(&wrong));
    }
}
