//! `journal replay` to a person.

use std::time::{Duration, Instant};

use countersign_journal::{Exit, Kind};

use crate::stage::{APPROVED, Journal, Stage, question, recording, text};

const SHOWN: &str = "
› Make a file
· claude-opus-5-5 · mode default · Claude Code 2.1.327 · /project · session 00000000

  I will make the file.

● Bash  touch made.txt && echo made
  ✓ Allowed by rule Bash(touch:*): allowed by the rules of the folder
└ 1 line: made

  The file is there.

· 0.1 s · $0.0014 · 200 in, 28 out · context < 1 % of 1 M
· the agent ended
";

#[test]
fn a_session_looks_as_it_did() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    assert_eq!(stage.said(&["replay", "session", "--speed", "max"]), SHOWN);
    let from_recording = stage.said(&[
        "replay",
        recording(APPROVED).to_str().unwrap(),
        "--speed",
        "max",
    ]);
    assert_eq!(
        from_recording,
        SHOWN.replace(
            " by rule Bash(touch:*): allowed by the rules of the folder",
            "."
        )
    );
}

#[test]
fn plain_lines_are_played_as_far_as_they_tell() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let plain = stage.said(&["export", "session"]);
    let shown = stage.fed(&["replay", "-"], plain.as_bytes());
    let shown = text(&shown.stdout);
    assert!(shown.contains("● Bash  touch made.txt") && shown.contains("  The file is there."));
}

#[test]
fn a_part_is_played_alone() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED, "newest/plain-turn.ndjson"]);
    let whole = stage.said(&["replay", "session", "--speed", "max"]);
    let first = stage.said(&["replay", "session", "--speed", "max", "--generation", "1"]);
    assert_eq!(first, SHOWN);
    assert!(whole.starts_with(SHOWN.trim_end()));
    assert!(whole.contains("· generation 2: the agent is started again"));
    let report = stage.json(&["inspect", "session", "--generation", "1"]);
    let last = format!("1-{}", report["records"]);
    let until = stage.said(&["replay", "session", "--speed", "max", "--until", &last]);
    assert_eq!(until, SHOWN);
    let rest = stage.said(&["replay", "session", "--speed", "max", "--from", &last]);
    let (_, second) = whole.split_once("· the agent ended\n").unwrap();
    assert!(
        rest.starts_with("· generation 2: the agent is started again\n"),
        "{rest}"
    );
    assert_eq!(rest.lines().last(), second.lines().last());
}

#[test]
fn the_recorded_time_passes_at_the_speed_that_was_asked_for() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    // Six tenths of a second, and one that somebody thought.
    let took = |flags: &[&str]| {
        let began = Instant::now();
        stage.said(&[&["replay", "session"], flags].concat());
        began.elapsed()
    };
    assert!(took(&["--speed", "2"]) >= Duration::from_millis(750));
    let quick = took(&["--speed", "max"]);
    assert!(took(&["--speed", "1", "--idle", "0.4"]) >= Duration::from_millis(850));
    assert!(quick < Duration::from_secs(60));
}

#[test]
fn how_an_agent_ended_is_told() {
    let stage = Stage::new();
    let folder = stage.path("session");
    Journal::open(&folder, 1).lose();
    Journal::open(&folder, 2).end(Exit {
        signal: Some(9),
        ..Exit::default()
    });
    Journal::open(&folder, 3).end(Exit {
        code: Some(3),
        ..Exit::default()
    });
    let shown = stage.said(&["replay", "session", "--speed", "max"]);
    for words in [
        "! the agent was lost: its keeper ended without a word",
        "! the agent was ended by signal 9",
        "! the agent ended with exit code 3",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
}

/// A status of the CLI.
const STATUS: &str = r#"{"type":"system","subtype":"status","status":null,"permissionMode":"MODE","session_id":"s","uuid":"u"}"#;

#[test]
fn the_mode_that_is_shown_is_the_one_in_force_and_not_the_word_of_the_cli() {
    let stage = Stage::new();
    let mut journal = Journal::open(&stage.path("session"), 1);
    let say = |journal: &mut Journal, mode: &str| {
        journal.push(Kind::Agent, STATUS.replace("MODE", mode).as_bytes());
    };
    say(&mut journal, "plan");
    let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{}}}"#;
    let note = br#"{"answer":"r","by":"person","mode":"edits"}"#;
    journal.push(Kind::Note, note);
    journal.push(Kind::Host, answer.as_bytes());
    say(&mut journal, "default");
    say(&mut journal, "plan");
    journal.end(Exit::default());
    let shown = stage.said(&["replay", "session", "--speed", "max"]);
    let modes: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("· mode is now "))
        .collect();
    assert_eq!(modes, ["plan", "edits", "plan"], "{shown}");
}

#[test]
fn a_call_that_was_edited_is_played_as_it_was_sent() {
    let stage = Stage::new();
    let mut journal = Journal::open(&stage.path("session"), 1);
    let answer = |id: &str, answer: &str| {
        format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{answer}}}}}"#
        )
    };
    let edited = r#"{"behavior":"allow","updatedInput":{"command":"ls -a"}}"#;
    let plain = r#"{"behavior":"allow","updatedInput":{"command":"ls"}}"#;
    for (id, said) in [("a", edited), ("b", plain)] {
        journal.push(Kind::Agent, &question(id));
        let note = format!(r#"{{"answer":"{id}","by":"anna","why":""}}"#);
        journal.push(Kind::Note, note.as_bytes());
        journal.push(Kind::Host, answer(id, said).as_bytes());
    }
    journal.end(Exit::default());
    let shown = stage.said(&["replay", "session", "--speed", "max"]);
    assert_eq!(shown.matches("Allowed by anna").count(), 2, "{shown}");
    let sent: Vec<&str> = shown
        .lines()
        .filter(|line| line.contains("edited, sent:"))
        .collect();
    assert_eq!(sent.len(), 1, "{shown}");
    assert!(sent[0].contains("ls -a"), "{shown}");
}

#[test]
fn a_plan_that_was_sent_back_is_not_played_as_refused() {
    let stage = Stage::new();
    let mut journal = Journal::open(&stage.path("session"), 1);
    let line = r#"{"type":"control_request","request_id":"p","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"x"},"tool_use_id":"t"}}"#;
    journal.push(Kind::Agent, line.as_bytes());
    let note = br#"{"answer":"p","by":"anna","why":"shorter","way":"keep-planning"}"#;
    journal.push(Kind::Note, note);
    let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"p","response":{"behavior":"deny","message":"shorter"}}}"#;
    journal.push(Kind::Host, answer.as_bytes());
    journal.end(Exit::default());
    let shown = stage.said(&["replay", "session", "--speed", "max"]);
    assert!(
        shown.contains("Kept planning by anna: shorter") && !shown.contains("Refused"),
        "{shown}"
    );
}

#[test]
fn every_recording_is_played_to_its_end() {
    let stage = Stage::new();
    for entry in std::fs::read_dir(recording("newest")).unwrap() {
        let path = entry.unwrap().path();
        let shown = stage.said(&[
            "replay",
            path.to_str().unwrap(),
            "--speed",
            "max",
            "--verbose",
        ]);
        let last = shown.lines().last().unwrap_or_default();
        assert!(
            last.contains("the agent ended"),
            "{}: {last}",
            path.display()
        );
        assert!(!shown.contains("could not be read"), "{}", path.display());
    }
}

#[test]
fn flags_of_a_claude_mean_nothing_to_a_person() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let (said, code) = stage.refused(&["replay", "session", "--model", "x"]);
    assert!(said.contains("--model means nothing here"), "{said}");
    assert_eq!(code, 1);
}
