//! The inbox: questions of agents are seen, allowed, refused and answered.

use serde_json::json;

use super::stage::{Stage, end, id, until};

const TOUCHES: &str = "\
turn always
  tool Bash {\"command\":\"touch made.txt\",\"description\":\"Make a file\"}
  if refused
    stream \"Refused: ${result}\"
  else
    stream \"It was made.\"
  end
";

const ASKS: &str = "\
turn always
  tool AskUserQuestion {\"questions\":[{\"question\":\"Which colour?\",\"header\":\"Colour\",\"multiSelect\":false,\"options\":[{\"label\":\"Blue\",\"description\":\"b\"},{\"label\":\"Green\",\"description\":\"g\"}]},{\"question\":\"Which parts?\",\"header\":\"Parts\",\"multiSelect\":true,\"options\":[{\"label\":\"Title\",\"description\":\"t\"},{\"label\":\"Clock\",\"description\":\"c\"}]}]}
  stream \"I was told: ${result}\"
";

const PLANS: &str = "\
turn
  tool EnterPlanMode {}
  tool Write {\"file_path\":\"${plan_file}\",\"content\":\"# A plan\\n\\n1. Write a page\\n\"}
  tool ExitPlanMode {}
  if refused
    tool Write {\"file_path\":\"${plan_file}\",\"content\":\"# A plan\\n\\n1. Write a shorter page\\n\"}
    tool ExitPlanMode {}
  end
  if refused
    stream \"Not at all, then.\"
  else
    stream \"Agreed.\"
  end
turn always
  follow
";

const WISHES: &str = "\
turn
  tool EnterPlanMode {}
  tool Write {\"file_path\":\"${plan_file}\",\"content\":\"# A plan\\n\\n1. Run `touch test-ran`\\n\"}
  tool ExitPlanMode {\"allowedPrompts\":[{\"tool\":\"Bash\",\"prompt\":\"run the tests\"},{\"tool\":\"Bash\",\"prompt\":\"look around\"}]}
  tool Bash {\"command\":\"touch test-ran\"}
  stream \"Both done.\"
turn always
  follow
";

/// The words of a text, whatever rows they stand in.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_call_is_shown_with_its_folder_and_runs_after_a_yes() {
    let stage = Stage::playing(TOUCHES);
    let session = stage.start("go");
    let question = stage.question();
    let list = stage.ok(&["inbox"]);
    assert!(
        list.contains("touch made.txt") && list.contains(&end(id(&question))),
        "{list}"
    );
    let full = stage.ok(&["show", &end(id(&question))]);
    assert!(
        full.contains(&format!("countersign approve {}", end(id(&question)))),
        "{full}"
    );
    let folder = format!("in {}", stage.project().display());
    assert!(unwrapped(&full).contains(&folder), "{full}");
    let inbox = stage.ok(&["inbox", "--full"]);
    assert!(unwrapped(&inbox).contains(&folder), "{inbox}");
    let from_home = stage
        .command(&["show", id(&question)])
        .env("HOME", stage.root())
        .env("XDG_DATA_HOME", stage.root().join("home/.local/share"))
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&from_home.stdout).into_owned();
    assert!(shown.contains("in ~/project"), "{from_home:?}");
    // Nobody is at a terminal: nothing is decided without a word.
    let ran = stage.run(&["approve", id(&question)]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(unwrapped(&ran.out).contains(&folder), "{ran:?}");
    assert!(
        ran.out.contains("touch made.txt") && ran.err.contains("--yes"),
        "{ran:?}"
    );
    assert!(!stage.project().join("made.txt").exists());
    stage.ok(&["approve", "--yes", &end(id(&question))]);
    stage.until_said(&session, "It was made.");
    assert!(stage.project().join("made.txt").exists());
    let log = stage.ok(&["logs", &session]);
    assert!(log.contains("✓ Allowed by"), "{log}");
    // The record says from where.
    let decided = stage.json(&["show", id(&question)]);
    assert_eq!(decided["decided"]["client"], "terminal", "{decided:#}");
}

#[test]
fn what_cannot_be_undone_says_so_and_is_no_part_of_a_bulk() {
    let scenario = "\
turn always
  ask Bash {\"command\":\"touch one\"} as one nowait
  ask Bash {\"command\":\"rm -rf dist\"} as two nowait
  ask Bash {\"command\":\"touch two\"} as three
";
    let stage = Stage::playing(scenario);
    stage.start("go");
    let open = until("three questions", || {
        let open = stage.json(&["inbox"]);
        match open.as_array().unwrap().len() {
            3 => Ok(open),
            _ => Err(format!("{open:#}")),
        }
    });
    let of = |command: &str| {
        let open = open.as_array().unwrap().iter();
        let mut found = open.filter(|one| one["input"]["command"] == command);
        found.next().unwrap().clone()
    };
    assert_eq!(of("touch one")["harm"], json!(null));
    let harm = json!({"kind": "destructive", "says": "removes files", "parts": ["rm -rf dist"]});
    assert_eq!(of("rm -rf dist")["harm"], harm);
    let shown = stage.ok(&["inbox"]);
    assert_eq!(shown.matches("cannot be undone").count(), 1, "{shown}");
    let receipt = stage.json(&["approve", "-y", id(&of("touch one")), "--alike"]);
    let decided = receipt["did"]["approvals"].as_array().unwrap().len();
    assert_eq!(decided, 2, "{receipt:#}");
    let left = stage.json(&["inbox"]);
    assert_eq!(left[0]["input"]["command"], "rm -rf dist", "{left:#}");
    assert_eq!(left.as_array().unwrap().len(), 1, "{left:#}");
}

#[test]
fn a_second_decision_is_told_the_first() {
    let stage = Stage::playing(TOUCHES);
    let session = stage.start("go");
    let question = stage.question();
    stage.ok(&["deny", id(&question), "not today"]);
    stage.until_said(&session, "Refused: ");
    assert!(
        stage
            .until_said(&session, "not today")
            .contains("✗ Refused by")
    );
    let ran = stage.run(&["approve", "--yes", id(&question)]);
    assert_eq!(ran.code, Some(6), "{ran:?}");
    assert!(!stage.project().join("made.txt").exists());
}

#[test]
fn what_was_seen_must_be_what_is_asked() {
    let stage = Stage::playing(TOUCHES);
    stage.start("go");
    let question = stage.question();
    let other = "0".repeat(32);
    let ran = stage.run(&["approve", "--yes", "--saw", &other, "--json", id(&question)]);
    assert_eq!(ran.code, Some(6), "{ran:?}");
    let problem: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(problem["code"], "stale");
    let digest = question["digest"].as_str().unwrap();
    stage.ok(&["approve", "--yes", "--saw", digest, id(&question)]);
}

#[test]
fn always_is_a_rule_and_the_same_call_is_not_asked_again() {
    let stage = Stage::playing(TOUCHES);
    let session = stage.start("go");
    let question = stage.question();
    let rule = "Bash(touch:*)";
    stage.ok(&[
        "approve",
        "-y",
        id(&question),
        "--always",
        rule,
        "--scope",
        "session",
        "--for",
        "1h",
    ]);
    stage.until_said(&session, "It was made.");
    std::fs::remove_file(stage.project().join("made.txt")).unwrap();
    stage.until_state(&session, "idle");
    stage.ok(&["send", &session, "again"]);
    until("the call runs unasked", || {
        match stage.project().join("made.txt").exists() {
            true => Ok(()),
            false => Err(stage.ok(&["inbox"])),
        }
    });
    assert_eq!(
        stage
            .run(&["approve", id(&question), "--scope", "always"])
            .code,
        Some(2)
    );
}

#[test]
fn questions_are_answered_by_their_number_and_their_header() {
    let stage = Stage::playing(ASKS);
    let session = stage.start("go");
    let question = stage.question();
    let ran = stage.run(&["approve", "-y", id(&question)]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("countersign answer"), "{}", ran.err);
    let ran = stage.run(&["answer", id(&question)]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let ran = stage.run(&["answer", id(&question), "size=9"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("Which parts?"), "{}", ran.err);
    stage.ok(&[
        "answer",
        id(&question),
        "colour=green",
        "2=Title",
        "2=clock",
    ]);
    let log = stage.until_said(&session, "I was told");
    assert!(
        log.contains("Green") && log.contains("Title, Clock"),
        "{log}"
    );
}

#[test]
fn a_plan_is_sent_back_and_then_approved() {
    let stage = Stage::playing(PLANS);
    let session = stage.start("plan it");
    let first = stage.question();
    if first["kind"] == "tool" {
        // Some versions ask before they enter plan mode.
        stage.ok(&["approve", "-y", id(&first)]);
    }
    let plan = |words: &str| {
        until(words, || {
            let open = stage.json(&["inbox"]);
            match open[0]["plan"]["text"].as_str() {
                Some(text) if text.contains(words) => Ok(open[0].clone()),
                _ => Err(format!("{open:#}")),
            }
        })
    };
    let first = plan("Write a page");
    let shown = stage.ok(&["show", id(&first)]);
    assert!(
        shown.contains("│ 1. Write a page") && shown.contains("--keep-planning"),
        "{shown}"
    );
    for way in ["--clear-context", "--accept-edits", "--manual"] {
        assert!(
            shown.contains(&format!("{} {way}", end(id(&first)))),
            "{shown}"
        );
    }
    let hands_off = [
        "plan",
        id(&first),
        "--clear-context",
        "--mode",
        "hands-off=30m",
    ];
    let ran = stage.run(&hands_off);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("not approved into hands-off"), "{ran:?}");
    stage.ok(&["plan", id(&first), "--keep-planning", "shorter"]);
    let second = plan("shorter page");
    let shown = stage.ok(&["show", id(&first)]);
    assert!(
        shown.contains("keep planning by") && !shown.contains("deny") && !shown.contains("refused"),
        "{shown}"
    );
    let versions = stage.json(&["plan", id(&second), "--versions"]);
    assert_eq!(versions.as_array().unwrap().len(), 2, "{versions:#}");
    assert_eq!(stage.run(&["plan", id(&second), "--manual"]).code, Some(3));
    stage.ok(&["plan", id(&second), "--manual", "--yes"]);
    stage.until_said(&session, "Agreed.");
    let log = stage.ok(&["logs", &session]);
    assert!(
        log.contains("Kept planning by") && !log.contains("Refused"),
        "{log}"
    );
}

#[test]
fn what_a_wish_of_a_plan_would_allow_is_shown_and_then_runs_unasked() {
    let stage = Stage::playing(WISHES);
    let session = stage.start("plan it");
    let first = stage.question();
    if first["kind"] == "tool" {
        stage.ok(&["approve", "-y", id(&first)]);
    }
    let plan = until("the plan", || {
        let open = stage.json(&["inbox"]);
        match open[0]["kind"].as_str() {
            Some("plan") => Ok(open[0].clone()),
            _ => Err(format!("{open:#}")),
        }
    });
    let shown = stage.ok(&["show", id(&plan)]);
    assert!(
        shown.contains("--grant 0 allows Bash(touch test-ran)"),
        "{shown}"
    );
    assert!(shown.contains("--rule 'Bash(…)'"), "{shown}");
    let nothing = stage.run(&["plan", id(&plan), "--manual", "--grant", "1", "-y"]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    assert!(nothing.err.contains("no command was found"), "{nothing:?}");
    let prose = stage.run(&["plan", id(&plan), "--manual", "--rule", "run tests (", "-y"]);
    assert_eq!(prose.code, Some(1), "{prose:?}");
    let out = stage.ok(&["plan", id(&plan), "--manual", "--grant", "0", "-y"]);
    assert!(
        out.contains("these run without asking") && out.contains("Bash(touch test-ran)"),
        "{out}"
    );
    // Asked, it would wait for ever.
    stage.until_said(&session, "Both done.");
    assert!(stage.project().join("test-ran").exists());
}

#[test]
fn all_questions_about_the_same_tool_are_refused_at_once() {
    let scenario = "\
turn always
  together
    tool Read {\"file_path\":\"/srv/elsewhere/one.txt\"} gives \"1\"
    tool Read {\"file_path\":\"/srv/elsewhere/two.txt\"} gives \"2\"
  end
  stream \"That was all.\"
";
    let stage = Stage::playing(scenario);
    let session = stage.start("go");
    let open = until("two questions", || {
        let open = stage.json(&["inbox"]);
        match open.as_array().unwrap().len() {
            2 => Ok(open),
            _ => Err(format!("{open:#}")),
        }
    });
    let receipt = stage.json(&["deny", id(&open[0]), "not there", "--alike"]);
    assert_eq!(
        receipt["did"]["approvals"].as_array().unwrap().len(),
        2,
        "{receipt:#}"
    );
    stage.until_said(&session, "That was all.");
    assert_eq!(stage.json(&["inbox"]), json!([]));
}
