//! Every command tells by content what it was given, and says what it wants otherwise.

use std::fs;

use serde_json::Value;

use crate::stage::{APPROVED, Stage, recording, text};

/// What must not depend on the form.
fn steady(report: &Value) -> Vec<Value> {
    let mut agent: Vec<Value> = report["types"].as_array().unwrap().clone();
    agent.retain(|row| row["from"] == "agent");
    let tools = report["tools"].as_array().unwrap().iter();
    let calls = tools.map(|tool| (tool["name"].clone(), tool["calls"].clone()));
    vec![
        Value::from(agent),
        serde_json::to_value(calls.collect::<Vec<_>>()).unwrap(),
        report["cost"].clone(),
        report["turns"]["ends"].clone(),
        report["approvals"]["asked"].clone(),
    ]
}

#[test]
fn a_session_is_the_same_in_every_form() {
    let stage = Stage::new();
    let session = stage.session("session", &[APPROVED]);
    let recorded = recording(APPROVED);
    let plain = stage.said(&["export", "session"]);
    fs::write(stage.path("plain.ndjson"), &plain).unwrap();
    let segment = session.join("journal/000001.j");
    let inputs = [
        ("session", "session"),
        ("session/journal", "journal"),
        (segment.to_str().unwrap(), "segment"),
        (recorded.to_str().unwrap(), "recording"),
        ("plain.ndjson", "plain"),
    ];
    let first = stage.json(&["inspect", "session"]);
    for (path, form) in inputs {
        let report = stage.json(&["inspect", path]);
        assert_eq!(report["form"], form, "{path}");
        assert_eq!(steady(&report), steady(&first), "{path}");
    }
    let piped = stage.fed(&["inspect", "-", "--json"], plain.as_bytes());
    let piped: Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(steady(&piped), steady(&first));
}

#[test]
fn closed_segments_may_be_compressed() {
    let stage = Stage::new();
    let session = stage.session("session", &[APPROVED, "newest/plain-turn.ndjson"]);
    let before = stage.json(&["inspect", "session"]);
    let shown = stage.said(&["replay", "session", "--speed", "max"]);
    countersign_journal::compress_closed(&session.join("journal")).unwrap();
    assert!(session.join("journal/000001.j.zst").exists());
    assert_eq!(stage.json(&["inspect", "session"]), before);
    assert_eq!(stage.said(&["replay", "session", "--speed", "max"]), shown);
    let alone = stage.json(&["inspect", "session/journal/000001.j.zst"]);
    assert_eq!(alone["form"], "segment");
    assert_eq!(alone["generations"].as_array().unwrap().len(), 1);
    assert!(stage.said(&["verify", "session"]).starts_with("ok: "));
}

#[test]
fn journals_of_every_format_version_are_read() {
    let stage = Stage::new();
    let root = recording("../journal");
    let mut versions = 0;
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let path = path.to_str().unwrap();
        let report = stage.json(&["inspect", path]);
        assert_eq!(
            (&report["form"], &report["damaged"]),
            (&"session".into(), &0.into())
        );
        assert_eq!(report["tools"][0]["name"], "Bash");
        assert_eq!(report["approvals"]["by"]["person"], 1);
        let key = format!("{path}/public-key");
        let said = stage.said(&["verify", path, "--key", &key]);
        assert!(
            said.starts_with("ok: ") && said.contains(", sealed up to "),
            "{said}"
        );
        let shown = stage.said(&["replay", path, "--speed", "max"]);
        assert!(
            shown.contains("✓ Allowed by person: it only makes a file"),
            "{shown}"
        );
        versions += 1;
    }
    assert!(versions >= 1);
}

#[test]
fn what_is_none_of_them_is_refused_with_what_is_wanted() {
    let stage = Stage::new();
    fs::create_dir(stage.path("empty")).unwrap();
    fs::write(stage.path("nothing"), "").unwrap();
    fs::write(stage.path("notes.txt"), "Dear diary\n").unwrap();
    fs::write(
        stage.path("later"),
        r#"{"recording":9,"cli":"x","scenario":"y"}"#,
    )
    .unwrap();
    for (path, words) in [
        ("empty", "empty holds no journal: give a session's folder"),
        ("nothing", "nothing is empty: give a session's folder"),
        ("missing", "cannot read missing: No such file"),
        (
            "notes.txt",
            "notes.txt is no journal, no recording and no output of a CLI (it begins with \"Dear diary\")",
        ),
        (
            "later",
            "a recording of format 9; this build reads format 1",
        ),
    ] {
        for command in ["inspect", "replay", "export", "verify"] {
            let (said, code) = stage.refused(&[command, path]);
            assert!(said.contains(words), "{command} {path}: {said}");
            assert_eq!(code, 1);
        }
    }
    assert_eq!(stage.refused(&["inspect"]).1, 2);
    assert_eq!(stage.refused(&["replay", "x", "--from", "7"]).1, 2);
}

#[test]
fn lines_that_are_no_entry_are_told_and_passed_over() {
    let stage = Stage::new();
    let mut lines = fs::read_to_string(recording(APPROVED)).unwrap();
    lines.push_str("{\"at\":1}\nnonsense\n");
    fs::write(stage.path("broken.ndjson"), &lines).unwrap();
    let report = stage.json(&["inspect", "broken.ndjson"]);
    assert_eq!(report["damaged"], 2);
    let table = stage.said(&["inspect", "broken.ndjson"]);
    assert!(
        table.contains("! 2 lines are no record; the first: line 15"),
        "{table}"
    );
    let exported = stage.run(&["export", "broken.ndjson"]);
    assert!(exported.status.success());
    assert!(text(&exported.stderr).contains("left out 2 lines that are no record"));
}

#[test]
fn a_part_that_is_not_there_is_refused() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    for command in ["inspect", "export", "replay"] {
        let (said, code) = stage.refused(&[command, "session", "--generation", "7"]);
        assert!(
            said.contains("there is no generation 7: the last is 1"),
            "{said}"
        );
        assert_eq!(code, 1);
        let (said, _) = stage.refused(&[command, "session", "--from", "1-9", "--until", "1-3"]);
        assert!(said.contains("--from must be before --until"), "{said}");
    }
}

#[test]
fn a_segment_on_standard_input_is_refused_as_one() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let segment = std::fs::read(stage.path("session/journal/000001.j")).unwrap();
    let output = stage.fed(&["inspect", "-"], &segment);
    let said = crate::stage::text(&output.stderr);
    assert!(
        said.contains("a segment cannot be read from standard input"),
        "{said}"
    );
}

#[test]
fn of_plain_lines_answers_are_not_recorded_rather_than_open() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    std::fs::write(stage.path("plain"), stage.said(&["export", "session"])).unwrap();
    let report = stage.json(&["inspect", "plain"]);
    assert_eq!(
        report["approvals"]["outcomes"]["not_recorded"]["count"], 1,
        "{report}"
    );
    assert!(
        stage
            .said(&["inspect", "plain"])
            .contains("answer not recorded")
    );
}
