//! What goes on while it is looked at: `logs -f`, `inbox -w`, and a daemon that ends and comes back.

use serde_json::Value;

use super::stage::{Stage, id, until};

const TOUCHES: &str = "\
turn always
  stream \"Let me see.\"
  tool Bash {\"command\":\"touch made.txt\",\"description\":\"Make a file\"}
  stream \"Done with ${prompt}.\"
";

#[test]
fn a_transcript_goes_on_as_it_happens_and_ends_with_ctrl_c() {
    let stage = Stage::playing(TOUCHES);
    let session = stage.start("one");
    let question = stage.question();
    let mut log = stage.going(&["logs", "-f", &session]);
    log.until("waits for a decision");
    stage.ok(&["approve", "-y", id(&question)]);
    log.until("✓ Allowed by");
    log.until("Done with one.");
    stage.until_state(&session, "idle");
    stage.ok(&["send", &session, "two"]);
    log.until("› two");
    assert_eq!(log.interrupt(), Some(130));
}

#[test]
fn a_call_is_shown_while_it_runs_and_not_again_when_it_ends() {
    let stage = Stage::playing("turn always\n  tool Bash {\"command\":\"sh wait.sh\"}\n");
    let wait = "until test -e gate; do sleep 0.02; done; echo it is open\n";
    std::fs::write(stage.project().join("wait.sh"), wait).unwrap();
    let receipt = stage.json(&["start", "go", "--mode", "hands-off"]);
    let session = receipt["did"]["session"].as_str().unwrap();
    let mut log = stage.going(&["logs", "-f", session]);
    log.until("● Bash  sh wait.sh");
    let shown = stage.until_said(session, "● Bash  sh wait.sh …");
    assert_eq!(shown.matches("sh wait.sh").count(), 1, "{shown}");
    std::fs::write(stage.project().join("gate"), "").unwrap();
    // Every line that follows, up to what came of it.
    let last = loop {
        let line = log.until("");
        assert!(!line.contains("sh wait.sh"), "{line}");
        if line.contains("it is open") {
            break line;
        }
    };
    assert_eq!(last, "  └ it is open");
    let shown = stage.until_said(session, "it is open");
    assert!(!shown.contains("sh wait.sh …"), "{shown}");
}

#[test]
fn records_are_told_as_they_stand_in_the_journal() {
    let stage = Stage::playing("turn always\n  stream \"Hello.\"\n");
    let session = stage.start("one");
    stage.until_state(&session, "idle");
    let out = stage.ok(&["logs", "--raw", &session]);
    let records: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_result = |record: &Value| record["line"]["type"] == "result";
    assert_eq!(
        records.iter().filter(|record| is_result(record)).count(),
        1,
        "{out}"
    );
    let cursors: Vec<&str> = records
        .iter()
        .map(|record| record["cursor"].as_str().unwrap())
        .collect();
    assert_eq!(cursors[0], "1-1", "{cursors:?}");
    let mut follow = stage.going(&["logs", "--raw", "-f", &session]);
    follow.until("\"type\":\"result\"");
    stage.ok(&["send", &session, "two"]);
    follow.until("two");
    follow.until("\"type\":\"result\"");
}

#[test]
fn the_inbox_tells_what_is_asked_and_what_became_of_it() {
    let stage = Stage::playing(TOUCHES);
    let mut inbox = stage.going(&["inbox", "--watch", "--json"]);
    stage.start("one");
    let asked: Value = serde_json::from_str(&inbox.until("touch made.txt")).unwrap();
    assert_eq!(asked["life"], "open");
    stage.ok(&["deny", id(&asked)]);
    let told: Value = serde_json::from_str(&inbox.until("touch made.txt")).unwrap();
    assert_eq!(
        (&told["id"], &told["decided"]["effect"]),
        (&asked["id"], &"deny".into())
    );
    assert_eq!(inbox.interrupt(), Some(130));
}

#[test]
fn a_follower_goes_on_when_the_daemon_comes_back() {
    let mut stage = Stage::playing(TOUCHES);
    let session = stage.start("one");
    let question = stage.question();
    let mut log = stage.going(&["logs", "-f", &session]);
    log.until("waits for a decision");
    stage.end_daemon();
    stage.serve("127.0.0.1:0");
    until("the daemon has the session", || {
        let ran = stage.run(&["approve", "-y", id(&question)]);
        if ran.code == Some(0) {
            Ok(())
        } else {
            Err(format!("{ran:?}"))
        }
    });
    log.until("Done with one.");
}
