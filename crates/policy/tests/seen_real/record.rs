//! What crosses the wire of a real CLI, written down and read back.

use countersign_client::{PermissionMode, Recorder};
use countersign_policy::asks_about_everything;
use countersign_testkit::fetch::Installed;
use countersign_wire::recording::{self, Direction, Entry};
use serde_json::{Value, json};

use crate::host::Host;
use crate::stage::{Stage, calls, play, soon};

fn read(recorder: &Recorder) -> Vec<Entry> {
    let text = std::fs::read_to_string(recorder.path()).unwrap();
    let mut lines = text.lines();
    assert!(recording::header(lines.next().unwrap().as_bytes()).is_some());
    lines
        .map(|line| recording::entry(line.as_bytes()).unwrap())
        .collect()
}

/// The lines of one direction, as JSON.
fn lines(entries: &[Entry], direction: Direction) -> Vec<Value> {
    let entries = entries.iter().filter(|entry| entry.direction == direction);
    entries
        .map(|entry| serde_json::from_slice(&entry.line).unwrap())
        .collect()
}

pub(crate) async fn a_recording_holds_every_line_and_every_verdict(cli: Installed) {
    let wanted = [
        (
            "Bash",
            json!({"command": "echo hi", "description": "Speak"}),
        ),
        (
            "Bash",
            json!({"command": "rm -f gone.txt", "description": "Remove"}),
        ),
    ];
    let stage = Stage::new(&cli, &calls(&wanted)).await;
    let host = Host::hands_off(&stage, &["Bash(rm:*)"]);
    let recorder =
        Recorder::create(stage.path("session.ndjson"), stage.version(), "a test").unwrap();
    let claude = stage
        .claude()
        .settings(asks_about_everything(None, &[]))
        .permission_mode(PermissionMode::Default)
        .permissions(host.answers())
        .record(&recorder);
    let mut session = soon("the greeting", claude.connect()).await.unwrap();
    let played = play(&mut session, "go").await;
    soon("the end", session.close()).await;
    recorder.check().unwrap();

    let entries = read(&recorder);
    let text = |entry: &Entry| String::from_utf8(entry.line.clone()).unwrap();
    let (first, last) = (entries.first().unwrap(), entries.last().unwrap());
    assert_eq!(first.direction, Direction::Run);
    assert!(
        text(first).contains("--settings") && !text(first).contains("permissions"),
        "{}",
        text(first)
    );
    assert_eq!((last.direction, text(last).as_str()), (Direction::End, "0"));
    assert!(entries.is_sorted_by_key(|entry| entry.at));

    let said = lines(&entries, Direction::Out);
    let told = lines(&entries, Direction::In);
    assert_eq!(told[0]["request"]["subtype"], "initialize");
    for id in played.calls.keys() {
        let question = said
            .iter()
            .find(|line| line["request"]["tool_use_id"] == *id)
            .unwrap();
        let answer = told
            .iter()
            .find(|line| line["response"]["request_id"] == question["request_id"]);
        let behavior = &answer.unwrap()["response"]["response"]["behavior"];
        let is_removal = question["request"]["input"].to_string().contains("rm -f");
        assert_eq!(behavior, if is_removal { "deny" } else { "allow" });
    }
}
