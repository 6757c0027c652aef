//! `policy test`: recorded questions, put to other rules.

use std::fs;

use serde_json::json;

use crate::{GOOD, Ground, recording, text};

#[test]
fn recorded_questions_are_put_to_other_rules() {
    let rules = "[[rule]]\nallow = [\"Bash(touch:*)\", \"Bash(echo:*)\"]\n[[rule]]\ndeny = \"Bash(sh:*)\"\n";
    let ground = Ground::new(&[("work/rules.toml", rules)]);
    let recordings = [
        "newest/bash-approved.ndjson",
        "newest/bash-denied.ndjson",
        "newest/rules.ndjson",
    ]
    .map(recording);
    let mut arguments = vec!["test", "rules.toml"];
    arguments.extend(recordings.iter().map(String::as_str));
    let output = ground.run(&arguments);
    let folder = recording("newest/");
    insta::assert_snapshot!(ground.plain(&output.stdout).replace(&folder, ""), @r"
    bash-denied.ndjson:8: denied then, now allow: Bash touch never.txt
        The rule `allow Bash(touch:*)` (rules.toml:2) allows this.
    bash-denied.ndjson:16: denied then, now allow: Bash touch never-again.txt
        The rule `allow Bash(touch:*)` (rules.toml:2) allows this.
    rules.ndjson:8: allowed then, now deny: Bash sh -c 'echo 1'
        The rule `deny Bash(sh:*)` (rules.toml:4) forbids this: echo 1
    rules.ndjson:17: denied then, now ask: Read /etc/passwd
        No rule may allow it: the server's policy wants a person asked every time.

                 now allow   now ask  now deny
    allowed              1         0         1
    denied               2         1         0
    unanswered           0         0         0

    5 questions in 3 recordings, 3 decided the other way
    ");
    assert_eq!(
        output.status.code(),
        Some(1),
        "two were denied, one was allowed"
    );
    let report = ground.json(&arguments);
    assert_eq!(report["questions"], 5);
    assert_eq!(
        report["totals"],
        json!({
            "allowed": {"allow": 1, "ask": 0, "deny": 1},
            "denied": {"allow": 2, "ask": 1, "deny": 0},
            "unanswered": {"allow": 0, "ask": 0, "deny": 0},
        })
    );
    let first = &report["different"][0];
    assert_eq!(
        (
            &first["then"],
            &first["verdict"],
            &first["decided_the_other_way"]
        ),
        (&json!("denied"), &json!("allow"), &json!(true))
    );
    assert_eq!(first["rule"]["text"], "Bash(touch:*)");
}

#[test]
fn a_question_that_is_asked_again_is_no_other_decision() {
    let ground = Ground::new(&[("work/rules.toml", "")]);
    let output = ground.run(&[
        "test",
        "rules.toml",
        &recording("newest/bash-approved.ndjson"),
    ]);
    let said = text(&output.stdout);
    assert!(
        said.contains("allowed then, now ask: Bash touch made.txt"),
        "{said}"
    );
    assert!(
        said.ends_with("1 question in 1 recording, 0 decided the other way\n"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn plain_lines_of_a_cli_will_do_as_well() {
    let lines = concat!(
        r#"{"type":"system","subtype":"init","cwd":"/project","permissionMode":"default","session_id":"s"}"#,
        "\nnonsense\n",
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Read","input":{"file_path":"/project/a.rs"},"tool_use_id":"t1"}}"#,
        "\n",
    );
    let ground = Ground::new(&[("work/rules.toml", ""), ("work/lines.ndjson", lines)]);
    let report = ground.json(&["test", "rules.toml", "lines.ndjson"]);
    assert_eq!(
        report["totals"]["unanswered"],
        json!({"allow": 1, "ask": 0, "deny": 0})
    );
    assert_eq!(report["malformed"][0]["line"], 2);
    let here = ground.json(&["test", "rules.toml", "lines.ndjson", "-C", "."]);
    assert_eq!(
        here["totals"]["unanswered"]["ask"], 1,
        "outside of this folder"
    );
}

#[test]
fn every_recorded_question_of_every_version_has_a_verdict() {
    let ground = Ground::new(&[("work/rules.toml", GOOD)]);
    for (version, least) in [("2.0.75", 15), ("2.1.62", 15), ("newest", 15)] {
        let folder = recording(version);
        let files = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().to_string_lossy().into_owned());
        let files: Vec<String> = files.collect();
        let mut arguments = vec!["test", "rules.toml"];
        arguments.extend(files.iter().map(String::as_str));
        let report = ground.json(&arguments);
        assert_eq!(report["malformed"], json!([]), "{version}");
        assert!(
            report["questions"].as_u64().unwrap() >= least,
            "{version}: {}",
            report["questions"]
        );
    }
}
