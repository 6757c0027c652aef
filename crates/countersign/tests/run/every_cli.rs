//! What must hold whatever CLI is driven: ours and the real ones of six versions.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::Value;

use crate::stage::{Ran, Stage, Which};

/// Reads, a harmless command, an edit, a sub-agent with a call of its own.
const MIXED: &str = r#"
reply in "Count the files"
  tool Bash {"command":"echo inside","description":"Say something"}
reply in "Count the files"
  say "There is one."
reply
  say "Let me look."
  tool Read {"file_path":"${cwd}/a.txt"}
reply
  tool Bash {"command":"ls","description":"List"}
reply
  tool Edit {"file_path":"${cwd}/a.txt","old_string":"one","new_string":"two"}
reply
  tool Task {"description":"Count","prompt":"Count the files","subagent_type":"general-purpose","run_in_background":false}
reply
  say "All is done."
"#;

pub(crate) fn every_call_of_a_mixed_scenario_has_one_decision_with_a_verdict(which: Which) {
    let Some(stage) = Stage::new(which, MIXED) else {
        return;
    };
    let stage = stage.file("a.txt", "one\n");
    let record = stage.aside("wire.ndjson");
    let ran = stage
        .run(&["--json", "--yes", "--record", &record, "Look around"])
        .is(0);
    let calls = calls(&ran);
    assert_eq!(calls.len(), 5, "{calls:?}");
    let decided = ran.typed("countersign_decision");
    for (id, tool) in &calls {
        let own: Vec<&Value> = decided
            .iter()
            .filter(|line| line["tool_use_id"] == id.as_str())
            .collect();
        assert_eq!(own.len(), 1, "{tool} {id}: {own:?}");
        assert!(own[0]["verdict"]["effect"].is_string(), "{own:?}");
    }
    assert_eq!(decided.len(), calls.len());
    let inside = decided.iter().filter(|line| line["agent_id"].is_string());
    assert_eq!(inside.count(), 1, "{decided:?}");
    assert_eq!(stage.read("a.txt").as_deref(), Some("two\n"));
    stage.other(&["wire", "check", &record]).is(0);
}

/// The calls of the stream: id and tool.
fn calls(ran: &Ran) -> BTreeMap<String, String> {
    let mut calls = BTreeMap::new();
    for line in ran.typed("assistant") {
        for block in line["message"]["content"].as_array().unwrap() {
            if block["type"] == "tool_use" {
                let text = |name: &str| block[name].as_str().unwrap().to_owned();
                calls.insert(text("id"), text("name"));
            }
        }
    }
    calls
}

pub(crate) fn hands_off_opens_neither_what_is_denied_nor_what_is_protected(which: Which) {
    const MODEL: &str = r#"
reply
  tool Bash {"command":"ls | xargs rm -f","description":"Clear"}
reply
  tool Read {"file_path":"${cwd}/.env"}
reply
  tool Write {"file_path":"${cwd}/.git/config","content":"[alias]\n"}
reply
  tool Bash {"command":"echo done > made.txt","description":"Write"}
reply
  say "I **tried**."
"#;
    let Some(stage) = Stage::new(which, MODEL) else {
        return;
    };
    let stage = stage.file(".env", "WORD=hidden\n").file("a.txt", "a\n");
    let flags = ["--mode", "hands-off", "--deny", "Bash(rm:*)"];
    let ran = stage
        .run(&[&flags[..], &["--deny", "Read(.env)", "Try it"]].concat())
        .is(3)
        .says("✗ Refused by `deny Bash(rm:*)` (the command line).")
        .says("nobody is here to ask. No rule ")
        .says("I tried.");
    assert!(
        !ran.out.contains(['\x1b', '\r']) && !ran.out.contains("hidden"),
        "{}",
        ran.out
    );
    assert_eq!(stage.read("a.txt").as_deref(), Some("a\n"));
    assert_eq!(stage.read("made.txt").as_deref(), Some("done\n"));
    assert_eq!(stage.read(".git/config"), None);
}

pub(crate) fn in_plan_mode_yes_writes_nothing_before_the_plan_is_approved(which: Which) {
    const MODEL: &str = r##"
reply
  tool Write {"file_path":"${cwd}/early.txt","content":"x\n"}
reply
  tool Bash {"command":"touch early.txt","description":"Make a file"}
reply
  take plan after "/.claude/plans/" until ".md"
  tool Write {"file_path":"${home}/.claude/plans/${plan}.md","content":"# The plan\n\n1. Write late.txt\n"}
reply
  tool ExitPlanMode {"plan":"# The plan\n\n1. Write late.txt\n"}
reply
  tool Write {"file_path":"${cwd}/late.txt","content":"x\n"}
reply
  say "Carried out."
"##;
    let Some(stage) = Stage::new(which, MODEL) else {
        return;
    };
    let ran = stage.run(&["--json", "--yes", "--mode", "plan", "Plan it"]);
    let expected = [
        "Write deny nobody",
        "Bash deny nobody",
        "Write allow policy",
        "ExitPlanMode allow yes",
        "Write allow yes",
    ];
    assert_eq!(ran.decisions(), expected, "{}", ran.err);
    assert_eq!(ran.code, Some(3));
    assert_eq!(stage.read("early.txt"), None);
    assert_eq!(stage.read("late.txt").as_deref(), Some("x\n"));
}

pub(crate) fn a_conversation_goes_on(which: Which) {
    const MODEL: &str = r#"
reply in "The word is cormorant"
  say "The word is noted."
reply in "The word is cormorant"
  say "You said cormorant."
"#;
    let Some(stage) = Stage::new(which, MODEL) else {
        return;
    };
    let first = stage.run(&["--json", "The word is cormorant"]);
    let first = first.is(0);
    let session = |ran: &Ran| {
        let ends = ran.typed("countersign_end");
        ends[0]["session_id"].as_str().unwrap().to_owned()
    };
    let id = session(&first);
    let second = stage.run(&["--json", "--resume", &id, "Which word was it?"]);
    let second = second.is(0).says("You said cormorant.");
    assert_eq!(session(&second), id);
}

pub(crate) fn the_end_of_a_run_is_the_end_of_its_commands(which: Which) {
    const MODEL: &str = r#"
reply
  tool Bash {"command":"echo started > began; sleep 300","description":"Wait","timeout":600000}
reply
  say "Over."
"#;
    let Some(stage) = Stage::new(which, MODEL) else {
        return;
    };
    let going = stage.start(&["--json", "--yes", "Wait"]);
    stage.line_in("began");
    going.signal(Signal::TERM);
    let ran = going.ended().is(143);
    let ends = ran.typed("countersign_end");
    assert_eq!(ends[0]["outcome"], "terminated");
    stage.until_nothing_runs();
}

/// A command in the background ends, and the CLI begins a turn of its own to tell of it.
pub(crate) fn the_turn_that_follows_work_in_the_background_is_not_lost(which: Which) {
    const MODEL: &str = r#"
reply when "Begin"
  tool Bash {"command":"sleep 1; touch over.txt","description":"Wait","run_in_background":true}
reply
  say "It runs."
reply always
  say "It is over."
"#;
    let Some(stage) = Stage::new(which, MODEL) else {
        return;
    };
    let ran = stage.run(&["--yes", "Begin."]).is(0);
    assert!(stage.read("over.txt").is_some());
    ran.says("It runs.").says("It is over.");
}

/// A hook of the person runs, one of a folder that nobody trusts does not.
pub(crate) fn what_an_untrusted_folder_would_start_does_not_run(which: Which) {
    let Some(stage) = Stage::new(which, "reply\n  say \"Hello.\"\n") else {
        return;
    };
    let hook = |command: &str| {
        format!(
            r#"{{"hooks":{{"SessionStart":[{{"hooks":[{{"type":"command","command":{command:?}}}]}}]}}}}"#
        )
    };
    let stage = stage
        .home_file(".claude/settings.json", &hook("echo ran > of-the-person"))
        .file(".claude/settings.json", &hook("echo ran > of-the-folder"));
    stage.run(&["Greet me"]).is(0).warns("are left out");
    assert_eq!(stage.line_in("of-the-person"), "ran");
    assert_eq!(stage.read("of-the-folder"), None);
}
