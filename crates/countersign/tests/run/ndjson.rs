//! `--json`: the agent's lines as they are, and ours between them.

use serde_json::Value;

use crate::stage::{Ran, Stage, Which};

fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

fn is_ours(line: &str) -> bool {
    line.contains(r#""type":"countersign_"#)
}

/// The lines that the CLI wrote, byte for byte, without those that only the two programs exchange.
fn recorded(file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter_map(|entry| {
        let (head, line) = entry.split_once(r#""line":"#)?;
        let line = line.strip_suffix('}')?;
        let is_message = !line.contains(r#""type":"control_"#);
        (head.contains(r#""dir":"out""#) && is_message).then(|| line.to_owned())
    });
    lines.collect()
}

#[test]
fn every_line_of_the_agent_is_passed_on_as_it_is() {
    let scenario = r#"turn
  say "Grüße, \"quoted\" & \\ more"
  raw {"type" : "from_the_future",   "b":1.50, "a":"\u00e9", "huge":12345678901234567890123}
  ask Bash {"command":"ls"} gives "a.txt"
  emit {"type":"assistant","message":{"content":[{"type":"new_block","x":1}]}}
"#;
    let stage = Stage::new(Which::Scenario, scenario).unwrap();
    let record = stage.aside("wire.ndjson");
    let ran = stage
        .run(&["--json", "--yes", "--record", &record, "Go"])
        .is(0);
    let printed: Vec<&str> = ran.out.lines().filter(|line| !is_ours(line)).collect();
    assert_eq!(printed, recorded(&record));
    assert!(printed.contains(
        &r#"{"type" : "from_the_future",   "b":1.50, "a":"\u00e9", "huge":12345678901234567890123}"#
    ));
    assert!(printed.len() > 6, "{printed:?}");
    ran.lines();
}

#[test]
fn a_decision_says_what_was_decided_about_what_by_whom_and_why() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let ran = stage
        .run(&[
            "--json",
            "--allow",
            "Bash(echo:*)",
            "run `echo a`, then run `ls`",
        ])
        .is(3);
    let decided = ran.typed("countersign_decision");
    let all = [
        "agent_id",
        "at",
        "by",
        "changed_input",
        "decision",
        "input",
        "message",
        "remembered",
        "tool",
        "tool_use_id",
        "type",
        "verdict",
    ];
    for line in &decided {
        assert_eq!(fields(line), all);
        assert_eq!(
            fields(&line["verdict"]),
            ["effect", "part", "reason", "rule", "why"]
        );
        let at: jiff::Timestamp = line["at"].as_str().unwrap().parse().unwrap();
        assert!(at > jiff::Timestamp::UNIX_EPOCH);
    }
    let [allowed, refused] = &decided[..] else {
        panic!("{decided:?}");
    };
    assert_eq!(allowed["input"]["command"], "echo a");
    assert_eq!(
        (&allowed["decision"], &allowed["by"]),
        (&"allow".into(), &"policy".into())
    );
    let rule = &allowed["verdict"]["rule"];
    assert_eq!(fields(rule), ["effect", "from", "note", "rule"]);
    assert_eq!(
        (&rule["rule"], &rule["from"]),
        (&"Bash(echo:*)".into(), &"the command line".into())
    );
    assert_eq!(
        (&refused["decision"], &refused["by"]),
        (&"deny".into(), &"nobody".into())
    );
    assert_eq!(refused["verdict"]["effect"], "ask");
    assert!(refused["verdict"]["rule"].is_null());
    // The model is told what the record says.
    let message = refused["message"].as_str().unwrap();
    let heard = ran
        .typed("user")
        .iter()
        .any(|line| line.to_string().contains(message));
    assert!(heard, "{message}");
}

#[test]
fn a_decision_stands_between_the_call_and_its_result() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let ran = stage.run(&["--json", "--yes", "run `ls`"]).is(0);
    let at = |wanted: &str| {
        ran.out
            .lines()
            .position(|line| line.contains(wanted))
            .unwrap()
    };
    let call = at(r#""type":"tool_use""#);
    let decision = at(r#""type":"countersign_decision""#);
    let result = at(r#""type":"tool_result""#);
    assert!(
        call < decision && decision < result,
        "{call} {decision} {result}"
    );
}

#[test]
fn a_notice_says_what_is_worth_knowing() {
    let scenario = "reply twice initialize\nturn\n  say \"Hello.\"\n";
    let stage = Stage::new(Which::Scenario, scenario).unwrap();
    let ran = stage.run(&["--json", "Go"]).is(0);
    let notices = ran.typed("countersign_notice");
    assert!(!notices.is_empty(), "{}", ran.out);
    for notice in &notices {
        assert_eq!(fields(notice), ["at", "text", "type"]);
        assert!(!notice["text"].as_str().unwrap().is_empty());
    }
}

#[track_caller]
fn end(ran: &Ran) -> Value {
    let end = ran.lines().pop().unwrap();
    let all = ["at", "exit_code", "outcome", "session_id", "signal", "type"];
    assert_eq!(
        (&end["type"], fields(&end)),
        (&"countersign_end".into(), all.to_vec())
    );
    assert_eq!(ran.typed("countersign_end").len(), 1);
    end
}

#[test]
fn the_last_line_says_how_it_ended() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    for (words, outcome, code) in [
        ("say hello", "fine", 0),
        ("fail with 529", "failed", 1),
        ("run `ls`", "refused", 3),
    ] {
        let ran = stage.run(&["--json", words]).is(code);
        let end = end(&ran);
        assert_eq!(end["outcome"], outcome);
        let id = &ran.typed("result")[0]["session_id"];
        assert!(id.is_string() && *id == end["session_id"], "{end}");
    }
}

#[test]
fn what_is_piped_in_is_a_prompt_and_nobody_is_asked() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let ran = stage
        .piped(&["--json"], "ask me which colour: red or blue")
        .is(3);
    assert_eq!(ran.decisions(), ["AskUserQuestion deny nobody"]);
}

#[test]
fn the_last_line_says_how_it_ended_also_when_the_agent_died() {
    let scenario = "turn\n  say \"Let me look.\"\n  exit 7\n";
    let stage = Stage::new(Which::Scenario, scenario).unwrap();
    let ran = stage.run(&["--json", "Go"]).is(1);
    let last = end(&ran);
    assert_eq!(
        (&last["outcome"], &last["exit_code"]),
        (&"failed".into(), &7.into())
    );
    ran.warns("exit code 7");
    let stage = Stage::new(Which::Scenario, "turn\n  say \"Hm\"\n  crash\n").unwrap();
    let ran = stage.run(&["--json", "Go"]).is(1);
    assert_eq!(end(&ran)["signal"], 9);
}

#[test]
fn a_line_of_the_agent_that_is_no_json_breaks_nothing() {
    let scenario = r#"turn
  say "one"
  noise "Warning: no JSON"
  raw {"type":"assistant", oops
  rawbytes "\xff\xfe\n"
  say "two"
"#;
    let stage = Stage::new(Which::Scenario, scenario).unwrap();
    let ran = stage.run(&["--json", "Go"]).is(0);
    let notices = ran.typed("countersign_notice");
    let texts: Vec<&str> = notices
        .iter()
        .filter_map(|notice| notice["text"].as_str())
        .collect();
    assert!(
        texts.iter().any(|text| text.contains("Warning: no JSON")),
        "{texts:?}"
    );
    assert!(texts.iter().any(|text| text.contains("oops")), "{texts:?}");
    assert_eq!(ran.typed("assistant").len(), 2);
    let half = "turn\n  say \"one\"\n  crash mid-line\n";
    let stage = Stage::new(Which::Scenario, half).unwrap();
    end(&stage.run(&["--json", "Go"]).is(1));
}

#[test]
fn a_call_that_the_cli_settles_by_itself_has_its_line_and_a_verdict() {
    let settings = r#"{"permissions":{"deny":["Bash(touch:*)"]}}"#;
    let stage = Stage::new(Which::Plain, "").unwrap();
    let stage = stage.home_file(".claude/settings.json", settings);
    let ran = stage.run(&["--json", "--yes", "run `touch a`"]).is(0);
    let decided = ran.typed("countersign_decision");
    assert_eq!(decided.len(), 1);
    assert_eq!(decided[0]["decision"], "deny");
    assert_eq!(decided[0]["verdict"]["effect"], "deny");
    assert_eq!(stage.read("a"), None);
}
