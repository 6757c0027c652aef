//! Modes and `--yes`: what they open, and what they never open.

use crate::stage::{Stage, Which};

const ASK: &str = r#"
reply
  tool AskUserQuestion {"questions":[{"question":"Which database?","header":"Database","multiSelect":false,"options":[{"label":"SQLite","description":"one file"},{"label":"Postgres","description":"a server"}]}]}
reply
  say "I take SQLite."
"#;

#[test]
fn yes_answers_no_question_and_says_that_nobody_is_there() {
    for flags in [
        &["--yes"][..],
        &["--mode", "hands-off"],
        &["--allow", "AskUserQuestion"],
        &[],
    ] {
        let stage = Stage::new(Which::Scripted, ASK).unwrap();
        let ran = stage.run(&[flags, &["--json", "Ask me"]].concat()).is(3);
        assert_eq!(
            ran.decisions(),
            ["AskUserQuestion deny nobody"],
            "{flags:?}"
        );
        let told = &ran.typed("countersign_decision")[0]["message"];
        assert!(
            told.as_str()
                .unwrap()
                .starts_with("Nobody is here to answer."),
            "{told}"
        );
    }
}

/// What no rule opens, and one that is open.
const PROTECTED: &str = r#"
reply
  tool Write {"file_path":"${cwd}/.git/config","content":"[alias]\n"}
reply
  tool Write {"file_path":"${cwd}/.claude/settings.json","content":"{}\n"}
reply
  tool Bash {"command":"echo x >> ~/.bashrc","description":"Add a line"}
reply
  tool Bash {"command":"rm -rf /","description":"Clear"}
reply
  tool Write {"file_path":"${cwd}/plain.txt","content":"x\n"}
reply
  say "That is all."
"#;

#[test]
fn neither_yes_nor_hands_off_nor_a_rule_lifts_a_safety_check() {
    let rules = ["--allow", "Write", "--allow", "Bash"];
    for (flags, by) in [
        (&["--yes"][..], "yes"),
        (&["--mode", "hands-off"], "policy"),
        (&["--mode", "hands-off=2h", "--yes"], "policy"),
        (&rules, "policy"),
    ] {
        let stage = Stage::new(Which::Scripted, PROTECTED).unwrap();
        let ran = stage.run(&[flags, &["--json", "Try it"]].concat()).is(3);
        let mut expected = ["Write", "Write", "Bash", "Bash"]
            .map(|tool| format!("{tool} deny nobody"))
            .to_vec();
        expected.push(format!("Write allow {by}"));
        assert_eq!(ran.decisions(), expected, "{flags:?}");
        assert_eq!(
            (
                stage.read(".git/config"),
                stage.read(".claude/settings.json")
            ),
            (None, None)
        );
        assert!(!stage.home().join(".bashrc").exists());
        assert_eq!(stage.read("plain.txt").as_deref(), Some("x\n"));
    }
}

#[test]
fn yes_lifts_no_deny_rule() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let words = "run `touch a`, then run `rm a`";
    let ran = stage
        .run(&["--json", "--yes", "--deny", "Bash(rm:*)", words])
        .is(0);
    assert_eq!(ran.decisions(), ["Bash allow yes", "Bash deny policy"]);
    assert_eq!(stage.read("a").as_deref(), Some(""));
}

#[test]
fn what_a_rule_wants_asked_is_waved_through_by_yes_and_by_nothing_else() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let ask = ["--json", "--ask", "Bash(ls)", "run `ls`"];
    let ran = stage.run(&[&["--yes"][..], &ask].concat()).is(0);
    assert_eq!(ran.decisions(), ["Bash allow yes"]);
    let ran = stage
        .run(&[&["--mode", "hands-off"][..], &ask].concat())
        .is(3);
    assert_eq!(ran.decisions(), ["Bash deny nobody"]);
}

const PLAN: &str = r##"
reply
  take plan after "/.claude/plans/" until ".md"
  tool Write {"file_path":"${home}/.claude/plans/${plan}.md","content":"# The plan\n\n1. Write a.txt\n"}
reply
  tool ExitPlanMode {}
reply
  tool Write {"file_path":"${cwd}/a.txt","content":"done\n"}
reply
  say "Over."
"##;

#[test]
fn where_nobody_is_there_no_plan_is_approved_and_nothing_written() {
    for flags in [&[][..], &["--allow", "Write", "--allow", "ExitPlanMode"]] {
        let stage = Stage::new(Which::Scripted, PLAN).unwrap();
        let ran = stage
            .run(&[flags, &["--json", "--mode", "plan", "Plan it"]].concat())
            .is(3);
        let expected = [
            "Write allow policy",
            "ExitPlanMode deny nobody",
            "Write deny nobody",
        ];
        assert_eq!(ran.decisions(), expected);
        assert_eq!(stage.read("a.txt"), None);
    }
}

#[test]
fn a_plan_that_yes_approves_is_manual_so_that_what_follows_is_still_decided() {
    let stage = Stage::new(Which::Scripted, PLAN).unwrap();
    let deny = [
        "--json",
        "--yes",
        "--mode",
        "plan",
        "--deny",
        "Write(a.txt)",
        "Plan it",
    ];
    let ran = stage.run(&deny).is(0);
    let expected = [
        "Write allow policy",
        "ExitPlanMode allow yes",
        "Write deny policy",
    ];
    assert_eq!(ran.decisions(), expected);
    assert_eq!(stage.read("a.txt"), None);
}

#[test]
fn a_session_that_enters_plan_mode_by_itself_writes_nothing_until_its_plan_is_approved() {
    const MODEL: &str = r##"
reply
  tool EnterPlanMode {}
reply
  tool Write {"file_path":"${cwd}/early.txt","content":"x\n"}
reply
  say "I am planning."
"##;
    let stage = Stage::new(Which::Scripted, MODEL).unwrap();
    let ran = stage.run(&["--json", "--yes", "Plan it"]).is(3);
    assert_eq!(
        ran.decisions(),
        ["EnterPlanMode allow yes", "Write deny nobody"]
    );
    assert_eq!(stage.read("early.txt"), None);
}

#[test]
fn edits_are_accepted_inside_of_the_folder_and_nothing_else() {
    const MODEL: &str = r#"
reply
  tool Write {"file_path":"${cwd}/a.txt","content":"x\n"}
reply
  tool Write {"file_path":"${home}/b.txt","content":"x\n"}
reply
  tool Bash {"command":"touch c.txt","description":"Make a file"}
reply
  say "That is all."
"#;
    let stage = Stage::new(Which::Scripted, MODEL).unwrap();
    let ran = stage.run(&["--json", "--mode", "edits", "Write"]).is(3);
    let expected = [
        "Write allow policy",
        "Write deny nobody",
        "Bash deny nobody",
    ];
    assert_eq!(ran.decisions(), expected);
    assert!(stage.read("a.txt").is_some() && stage.read("c.txt").is_none());
    assert!(!stage.home().join("b.txt").exists());
}

#[test]
fn hands_off_ends_with_its_time() {
    const MODEL: &str = r#"
reply
  tool Bash {"command":"touch a","description":"Make a file"}
reply
  wait 2500ms
  tool Bash {"command":"touch b","description":"Make a file"}
reply
  say "That is all."
"#;
    let stage = Stage::new(Which::Scripted, MODEL).unwrap();
    let ran = stage
        .run(&["--json", "--mode", "hands-off=2s", "Make files"])
        .is(3);
    assert_eq!(ran.decisions(), ["Bash allow policy", "Bash deny nobody"]);
    assert!(stage.read("a").is_some() && stage.read("b").is_none());
}

#[test]
fn rules_only_allows_what_a_rule_allows_and_refuses_the_rest() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let flags = ["--json", "--mode", "rules-only", "--allow", "Bash(touch a)"];
    let ran = stage
        .run(&[&flags[..], &["run `touch a`, then run `touch b`"]].concat())
        .is(3);
    assert_eq!(ran.decisions(), ["Bash allow policy", "Bash deny nobody"]);
    assert!(stage.read("a").is_some() && stage.read("b").is_none());
    let both = ["--yes", "--mode", "rules-only", "say hello"];
    stage.run(&both).is(2).warns("say the opposite");
}

#[test]
fn a_mode_has_the_words_of_both_and_a_wrong_one_says_what_to_choose() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let known = [
        "plan",
        "ask",
        "edits",
        "hands-off",
        "hands-off=90s",
        "rules-only",
        "default",
        "manual",
        "acceptEdits",
        "accept-edits",
        "dontAsk",
    ];
    for mode in known {
        stage.run(&["--mode", mode, "say hello"]).is(0);
    }
    for (mode, why) in [
        ("bypassPermissions", "choose `hands-off`"),
        ("auto", "choose `ask`, `edits` or `hands-off`"),
        ("free", "choose plan, ask, edits"),
        ("hands-off=0s", "choose plan, ask, edits"),
        ("hands-off=25h", "choose plan, ask, edits"),
        ("", "choose plan, ask, edits"),
    ] {
        stage.run(&["--mode", mode, "say hello"]).is(2).warns(why);
    }
}
