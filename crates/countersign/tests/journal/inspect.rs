//! `journal inspect`: the figures of a session, and the table at eighty columns.

use countersign_journal::{Exit, Kind};
use serde_json::json;

use crate::stage::{APPROVED, Journal, Stage, question};

#[test]
fn approvals_have_their_wait_and_who_answered() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED, "newest/bash-denied.ndjson"]);
    let report = stage.json(&["inspect", "session"]);
    let approvals = &report["approvals"];
    assert_eq!(approvals["asked"], 3);
    assert_eq!(approvals["by"], json!({"rule Bash(touch:*)": 3}));
    assert_eq!(approvals["outcomes"]["allowed"]["count"], 1);
    assert_eq!(approvals["outcomes"]["denied"]["count"], 2);
    assert_eq!(approvals["waited"]["count"], 3);
    let median = approvals["waited"]["median_ms"].as_f64().unwrap();
    assert!((1_000.0..1_100.0).contains(&median), "{median}");
}

#[test]
fn generations_say_how_each_ended() {
    let stage = Stage::new();
    let folder = stage.path("session");
    let mut journal = Journal::open(&folder, 1);
    journal.push(Kind::Agent, &question("q1"));
    journal.lose();
    Journal::open(&folder, 2).end(Exit {
        signal: Some(9),
        unwritten: vec![3],
        ..Exit::default()
    });
    Journal::open(&folder, 3).end(Exit {
        error: Some("no such program".to_owned()),
        ..Exit::default()
    });
    drop(Journal::open(&folder, 4));
    let report = stage.json(&["inspect", "session"]);
    let ends: Vec<_> = report["generations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["end"].clone())
        .collect();
    assert_eq!(ends, ["lost", "exit", "exit", "not_recorded"]);
    assert_eq!(
        report["approvals"]["outcomes"],
        json!({"agent_gone": {"count": 1, "waited": report["approvals"]["outcomes"]["agent_gone"]["waited"]}})
    );
    let table = stage.said(&["inspect", "session"]);
    for words in [
        "lost: its keeper died",
        "signal 9, 1 host lines unwritten",
        "not started: no such program",
        "no end recorded",
        "agent gone                    1",
    ] {
        assert!(table.contains(words), "{words}\n{table}");
    }
}

#[test]
fn the_table_fits_eighty_columns_and_names_everything() {
    let stage = Stage::new();
    stage.session(
        "session",
        &[
            APPROVED,
            "newest/hooks.ndjson",
            "newest/sub-agent.ndjson",
            "newest/mcp-in-process.ndjson",
        ],
    );
    let table = stage.said(&["inspect", "session"]);
    for line in table.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for words in [
        "session folder · session 01JSESSION0000000000000000",
        "Claude Code 2.1.327",
        "2026-01-01 01:00:00 – ",
        "from    type",
        "agent   control_request/can_use_tool",
        "host    control_response/success",
        "keeper  head",
        "note    (note)",
        "tool  ",
        "Bash  ",
        "by rule Bash(touch:*)",
        "hook_callback questions",
        "mcp_message questions",
        "exit 0, by the end plan (stdin)",
    ] {
        assert!(table.contains(words), "{words}\n{table}");
    }
}

#[test]
fn a_part_is_counted_alone() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED, APPROVED]);
    let whole = stage.json(&["inspect", "session"]);
    let second = stage.json(&["inspect", "session", "--generation", "2"]);
    assert_eq!(second["generations"].as_array().unwrap().len(), 1);
    assert_eq!(
        whole["records"].as_u64().unwrap(),
        2 * second["records"].as_u64().unwrap()
    );
    let few = stage.json(&["inspect", "session", "--from", "1-2", "--until", "1-5"]);
    assert_eq!(few["records"], 3);
}

#[test]
fn what_an_agent_says_does_nothing_to_the_terminal() {
    let stage = Stage::new();
    let folder = stage.path("session");
    let mut journal = Journal::open(&folder, 1);
    let tool = json!({"type": "tool_use", "id": "t", "name": "\u{1b}[2J\nforged", "input": {}});
    let line = json!({"type": "assistant\u{1b}]0;x\u{7}", "message": {"content": [tool]}});
    journal.push(Kind::Agent, line.to_string().as_bytes());
    let line = json!({"type": "assistant", "message": {"content": [tool]}});
    journal.push(Kind::Agent, line.to_string().as_bytes());
    journal.end(Exit::default());
    let table = stage.said(&["inspect", "session"]);
    assert!(!table.contains(['\u{1b}', '\u{7}']), "{table:?}");
    assert!(!table.contains("\nforged"), "{table:?}");
}
