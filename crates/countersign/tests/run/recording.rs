//! `--record` and `--debug`: what is kept of a run.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::stage::{Stage, Which};

#[test]
fn a_recording_is_read_by_the_other_commands() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let record = stage.aside("wire.ndjson");
    let words = "run `touch a`, then run `ls`";
    stage
        .run(&["--record", &record, "--allow", "Bash(ls)", words])
        .is(3)
        .says("Bash  touch a");
    let checked = stage.other(&["wire", "check", "--json", &record]).is(0);
    let checked: Value = serde_json::from_str(&checked.out).unwrap();
    assert_eq!(checked["types"]["control_request/can_use_tool"], 2);
    assert_eq!(
        (&checked["malformed"], &checked["lossless"]),
        (&Value::Array(Vec::new()), &true.into())
    );
    let stage = stage.file("other.toml", "[[rule]]\nallow = \"Bash(touch:*)\"\n");
    let tested = stage.other(&["policy", "test", "other.toml", &record]);
    let tested = tested.is(1).says("denied then, now allow: Bash touch a");
    assert!(
        tested.out.contains("2 questions in 1 recording"),
        "{}",
        tested.out
    );
}

#[test]
fn a_recording_is_private_and_nothing_is_overwritten() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let record = stage.aside("wire.ndjson");
    stage.run(&["--record", &record, "say hello"]).is(0);
    let mode = std::fs::metadata(&record).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = std::fs::read(&record).unwrap();
    let ran = stage.run(&["--record", &record, "say hello"]).is(1);
    assert_eq!(ran.out, "");
    ran.warns(&record)
        .warns("name a file that is not there yet");
    assert_eq!(std::fs::read(&record).unwrap(), before);
}

#[test]
fn a_recording_in_a_folder_that_is_not_there_stops_the_start() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let record = stage.aside("nowhere/wire.ndjson");
    let ran = stage.run(&["--record", &record, "say hello"]).is(1);
    assert_eq!(ran.out, "");
    ran.warns("cannot make the recording");
}

#[test]
fn an_unknown_conversation_cannot_go_on() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let nobody = "11111111-1111-4111-8111-111111111111";
    let ran = stage.run(&["--resume", nobody, "say hello"]).is(1);
    ran.warns(nobody);
}

#[test]
fn what_is_logged_holds_no_secret() {
    let secret = concat!("sk-ant-", "api03-0123456789abcdefghijklmnopqrstuvwxyz");
    let scenario = format!(
        "turn\n  stderr \"the key {secret} is refused\"\n  noise \"no JSON\"\n  say \"Hello.\"\n"
    );
    let stage = Stage::with(Which::Scenario, &scenario, &[("SOME_TOKEN", secret)]).unwrap();
    let log = stage.aside("debug.log");
    stage
        .run(&[&format!("--debug={log}"), "Go"])
        .is(0)
        .says("Hello.");
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(
        !logged.contains(secret) && !logged.contains("not-a-key"),
        "{logged}"
    );
    assert!(!logged.contains('\x1b'), "{logged}");
    for word in ["the agent was started", "the agent ended"] {
        assert!(logged.contains(word), "no {word:?} in:\n{logged}");
    }
}

#[test]
fn a_recording_is_only_made_once_there_is_something_to_record() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let record = stage.aside("wire.ndjson");
    stage.run(&["--record", &record]).is(1);
    stage.run(&["--record", &record, "say hello"]).is(0);
}
