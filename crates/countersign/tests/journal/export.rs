//! `journal export`: three forms, the way back, and files that nobody loses.

use std::fs;
use std::io::BufReader;

use countersign_journal::{Kind, Reader, transfer};
use countersign_testkit::fetch::newest;
use serde_json::Value;

use crate::stage::{APPROVED, BEGAN, Journal, Stage, payloads, recording, text};

#[test]
fn plain_lines_are_those_that_cut_finds() {
    let stage = Stage::new();
    let session = stage.session("session", &[APPROVED, "newest/streaming.ndjson"]);
    let exported = stage.said(&["export", "session"]);
    let lines: Vec<&str> = exported.lines().collect();
    assert_eq!(lines, payloads(&session, "aA"));
    let second = stage.said(&["export", "session", "--generation", "2"]);
    assert!(exported.ends_with(&second) && second.len() < exported.len());
}

#[test]
fn a_recording_is_what_the_journal_itself_writes() {
    let stage = Stage::new();
    let session = stage.session("session", &[APPROVED, "newest/resume.ndjson"]);
    let exported = stage.said(&["export", "session", "--format", "recording"]);
    let mut own = Vec::new();
    let mut reader = Reader::open(&session).unwrap();
    let what = format!("session {}", crate::stage::SESSION);
    transfer::export_recording(&mut reader, &mut own, newest().version, &what).unwrap();
    assert_eq!(exported, text(&own));
}

#[test]
fn a_recording_comes_through_unchanged() {
    let stage = Stage::new();
    for name in [
        APPROVED,
        "newest/interrupt-streaming.ndjson",
        "2.0.75/plain-turn.ndjson",
    ] {
        let path = recording(name);
        let exported = stage.said(&["export", path.to_str().unwrap(), "--format", "recording"]);
        assert_eq!(exported, fs::read_to_string(path).unwrap(), "{name}");
    }
}

#[test]
fn what_is_exported_can_be_imported_and_is_the_same() {
    let stage = Stage::new();
    let session = stage.session("session", &[APPROVED, "newest/hooks.ndjson"]);
    stage.said(&[
        "export",
        "session",
        "--format",
        "recording",
        "-o",
        "all.ndjson",
    ]);
    let file = fs::File::open(stage.path("all.ndjson")).unwrap();
    let copy = stage.path("copy");
    transfer::import_recording(
        &copy.join("journal"),
        "copy",
        BEGAN,
        &mut BufReader::new(file),
    )
    .unwrap();
    assert_eq!(payloads(&copy, "aAheE"), payloads(&session, "aAheE"));
    assert!(stage.said(&["verify", "copy"]).starts_with("ok: "));
    let [a, b] = ["session", "copy"].map(|name| stage.json(&["inspect", name]));
    assert_eq!(a["cost"], b["cost"]);
    assert_eq!(a["approvals"]["asked"], b["approvals"]["asked"]);
}

#[test]
fn every_record_is_an_object_with_its_number() {
    let stage = Stage::new();
    let folder = stage.path("session");
    let mut journal = Journal::open(&folder, 1);
    journal.push(Kind::Agent, b"no json");
    journal.push(Kind::Agent, b"\xff\xfe");
    journal.push(Kind::Stderr, br#"{"looks":"like json"}"#);
    journal.lose();
    let exported = stage.said(&["export", "session", "--format", "json"]);
    let mut records: Vec<Value> = exported
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    records.retain(|record| record["line"]["event"] != "head");
    let kinds: Vec<&str> = records
        .iter()
        .map(|record| record["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["k", "k", "a", "a", "e", "k"]);
    assert_eq!(records[0]["cursor"], "1-1");
    assert_eq!(records[0]["line"]["event"], "open");
    assert_eq!(
        (&records[2]["text"], &records[2]["from"]),
        (&Value::from("no json"), &Value::from("agent"))
    );
    assert_eq!(records[3]["b64"], "//4=");
    assert!(records[3]["at"].as_u64().unwrap() >= BEGAN);
}

#[test]
fn a_file_that_is_there_is_left_alone() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    fs::write(stage.path("precious"), "mine").unwrap();
    let (said, code) = stage.refused(&["export", "session", "-o", "precious"]);
    assert!(
        said.contains("precious is there already: choose another name, or replace it with --force"),
        "{said}"
    );
    assert_eq!(code, 1);
    assert_eq!(fs::read_to_string(stage.path("precious")).unwrap(), "mine");
    stage.said(&["export", "session", "-o", "precious", "--force"]);
    let written = fs::read_to_string(stage.path("precious")).unwrap();
    assert_eq!(written, stage.said(&["export", "session"]));
    let left: Vec<_> = fs::read_dir(&stage.root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn what_was_exported_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    stage.said(&["export", "session", "-o", "out.ndjson"]);
    let mode = fs::metadata(stage.path("out.ndjson"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    fs::create_dir(stage.path("folder")).unwrap();
    for (target, words) in [
        ("nowhere/out", "cannot write in nowhere"),
        ("folder", "folder is a folder: give the name of a file"),
    ] {
        let (said, code) = stage.refused(&["export", "session", "-o", target, "--force"]);
        assert!(said.contains(words), "{said}");
        assert_eq!(code, 1);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let stage = Stage::new();
    stage.session("session", &["newest/large-line.ndjson"; 1]);
    let mut command = stage.command(&["export", "session"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
