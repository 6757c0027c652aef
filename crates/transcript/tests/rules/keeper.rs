//! Starts, ends, pauses, and hosts that come and go.
//!
//! What of a session is left when its agent is gone is held here, too.

use countersign_journal::{Exit, KeeperEvent, ProcessName};

use crate::support::{Tape, opened};
use crate::{assert_has, call, each, init, prompt};

#[test]
fn a_start_is_one_entry_with_its_process() {
    let mut tape = Tape::new();
    tape.keeper(&opened(1, "--resume x"));
    assert_has(&each(&tape, "started")[0], &["OPEN"]);
    tape.keeper(&KeeperEvent::Spawned { pid: 7, started: 1 });
    assert_has(
        &each(&tape, "started")[0],
        &[r#""pid":7"#, r#""is_resumed":true"#, "/project"],
    );
}

#[test]
fn an_end_says_how_and_why_and_what_went_with_it() {
    let mut tape = Tape::new();
    tape.keeper(&KeeperEvent::Ending {
        step: "interrupt".to_owned(),
        why: Some("stopped by You".to_owned()),
    });
    tape.keeper(&KeeperEvent::Ending {
        step: "kill".to_owned(),
        why: None,
    });
    tape.keeper(&KeeperEvent::Exit(Exit {
        signal: Some(9),
        step: Some("kill".to_owned()),
        killed: vec![ProcessName {
            pid: 8,
            command: "sleep".to_owned(),
        }],
        ..Exit::default()
    }));
    assert_has(
        &each(&tape, "ended")[0],
        &[
            r#""signal":9"#,
            r#""step":"kill""#,
            "stopped by You",
            "sleep",
        ],
    );
}

#[test]
fn everything_open_ends_with_its_agent() {
    let mut tape = Tape::new();
    tape.host(prompt("x"))
        .agent(init())
        .agent(call("t", "Task", "{}"));
    tape.agent(r#"{"type":"system","subtype":"task_started","task_id":"k","description":"d"}"#);
    tape.agent(r#"{"type":"system","subtype":"hook_started","hook_id":"h","hook_name":"n","hook_event":"Stop"}"#);
    tape.agent(r#"{"type":"system","subtype":"api_retry","attempt":1}"#);
    tape.agent(r#"{"type":"system","subtype":"status","status":"compacting"}"#);
    tape.keeper(&KeeperEvent::Detached { epoch: 1 });
    tape.keeper(&KeeperEvent::Paused { errno: 28 });
    assert!(tape.fold().0.open() >= 8);
    tape.keeper(&KeeperEvent::Lost { killed: Vec::new() });
    let (fold, _) = tape.fold();
    assert_eq!(fold.open(), 0);
    assert_eq!(fold.totals().turns.lost, 1);
    assert_has(&each(&tape, "task")[0], &["Unknown"]);
    assert_has(&each(&tape, "tool")[0], &["Unknown"]);
}

#[test]
fn a_pause_says_how_long() {
    let mut tape = Tape::new();
    tape.keeper(&KeeperEvent::Paused { errno: 28 });
    tape.wait(1_000).keeper(&KeeperEvent::Resumed);
    assert_eq!(
        each(&tape, "paused"),
        [r#"1-1..2 paused {"errno":28,"until":1000000}"#]
    );
}

#[test]
fn a_time_without_a_host_is_told() {
    let mut tape = Tape::new();
    tape.keeper(&KeeperEvent::Attached { epoch: 1 });
    assert!(each(&tape, "away").is_empty());
    tape.keeper(&KeeperEvent::Detached { epoch: 1 });
    tape.wait(5).keeper(&KeeperEvent::Attached { epoch: 2 });
    assert_eq!(
        each(&tape, "away"),
        [r#"1-2..3 away {"epoch":1,"until":5000}"#]
    );
}

#[test]
fn housekeeping_makes_no_entry() {
    let mut tape = Tape::new();
    tape.keeper(&KeeperEvent::Head {
        hash: None,
        marks: String::new(),
        sum: None,
    });
    tape.keeper(&KeeperEvent::Carried {
        last_n: 1,
        epoch: 1,
        open: Vec::new(),
        agent: None,
    });
    assert!(tape.fold().1.is_empty());
    tape.keeper(&KeeperEvent::Refused {
        why: "not yours".to_owned(),
        pid: Some(1),
    });
    tape.keeper(&KeeperEvent::Clock { jump: -5 });
    assert_eq!(each(&tape, "notice").len(), 2);
}
