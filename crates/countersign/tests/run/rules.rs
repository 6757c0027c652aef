//! Whose rules count: those of flags, of settings, of the folder.

use serde_json::Value;

use crate::stage::{Stage, Which};

/// Where the scripted CLI notes how it was started.
const NOTE: (&str, &str) = ("COUNTERSIGN_SCENARIO_ARGV", "started.json");

/// The flags the CLI was started with.
fn flags(stage: &Stage) -> Vec<String> {
    let note: Value = serde_json::from_str(&stage.read(NOTE.1).unwrap()).unwrap();
    serde_json::from_value(note["argv"].clone()).unwrap()
}

/// What stands behind a flag.
fn value_of(flags: &[String], flag: &str) -> Option<String> {
    let joined = flags
        .iter()
        .find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
    let at = flags.iter().position(|word| word == flag);
    let next = at.and_then(|at| flags.get(at + 1));
    joined.map(str::to_owned).or(next.cloned())
}

#[test]
fn allow_allows_ask_goes_before_it_and_deny_before_both() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let words = "run `echo a`, then run `touch b`, then run `rm c`";
    let rules = [
        "--allow",
        "Bash",
        "--ask",
        "Bash(touch:*)",
        "--deny",
        "Bash(rm:*)",
    ];
    let ran = stage.run(&[&rules[..], &["--json", words]].concat()).is(3);
    let expected = ["Bash allow policy", "Bash deny nobody", "Bash deny policy"];
    assert_eq!(ran.decisions(), expected);
    assert_eq!(stage.read("b"), None);
}

#[test]
fn flags_may_be_given_more_than_once() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let words = "run `echo a`, then run `touch b`";
    let ran = stage.run(&["--allow", "Bash(echo:*)", "--allow", "Bash(touch b)", words]);
    ran.is(0);
    assert_eq!(stage.read("b").as_deref(), Some(""));
}

#[test]
fn a_rule_is_about_every_command_of_a_line() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    for line in [
        "echo a; touch b",
        "echo $(touch b)",
        "echo a | tee b",
        "echo a > b",
        "sh -c 'touch b'",
    ] {
        let ran = stage.run(&[
            "--json",
            "--allow",
            "Bash(echo:*)",
            &format!("run `{line}`"),
        ]);
        assert_eq!(ran.decisions(), ["Bash deny nobody"], "{line}");
    }
    assert_eq!(stage.read("b"), None);
}

#[test]
fn settings_of_the_person_are_weighed_here_and_let_nothing_pass_unseen() {
    let settings = r#"{"permissions":{"allow":["Bash(echo:*)"],"deny":["Bash(touch:*)"],"defaultMode":"bypassPermissions"}}"#;
    let stage = Stage::new(Which::Plain, "")
        .unwrap()
        .home_file(".claude/settings.json", settings);
    let words = "run `echo a`, then run `touch b`, then run `ls`";
    let ran = stage.run(&["--json", words]).is(3);
    let decided = ran.decisions();
    assert_eq!(decided.len(), 3);
    assert_eq!(
        (decided[0].as_str(), decided[2].as_str()),
        ("Bash allow policy", "Bash deny nobody")
    );
    // The CLI may refuse it before it asks; either way it does not run.
    assert!(decided[1].starts_with("Bash deny"), "{decided:?}");
    assert_eq!(stage.read("b"), None);
    let decisions = ran.typed("countersign_decision");
    let from = decisions[0]["verdict"]["rule"]["from"].as_str().unwrap();
    assert!(from.contains(".claude/settings.json:1"), "{from}");
}

#[test]
fn settings_of_the_flag_are_merged_denied_by_the_cli_and_weighed_here() {
    let given = r#"{"includeCoAuthoredBy":false,"permissions":{"allow":["Bash(echo:*)"],"deny":["Bash(touch:*)"]}}"#;
    let stage = Stage::with(Which::Plain, "", &[NOTE])
        .unwrap()
        .file("given.json", given);
    let words = "run `echo a`, then run `touch b`, then run `ls`";
    let ran = stage
        .run(&["--json", "--settings", "given.json", words])
        .is(3);
    let decided = ran.decisions();
    assert_eq!(
        (decided[0].as_str(), decided[2].as_str()),
        ("Bash allow policy", "Bash deny nobody")
    );
    assert!(decided[1].starts_with("Bash deny"), "{decided:?}");
    assert_eq!(stage.read("b"), None);
    let passed = value_of(&flags(&stage), "--settings").unwrap();
    let passed: Value = serde_json::from_str(&passed).unwrap();
    assert_eq!(passed["includeCoAuthoredBy"], false);
    let has = |effect: &str, rule: &str| {
        let rules = passed["permissions"][effect].as_array();
        rules.is_some_and(|rules| rules.iter().any(|one| one == rule))
    };
    assert!(
        has("ask", "Bash") && has("ask", "Read") && has("deny", "Bash(touch:*)"),
        "{passed}"
    );
    assert!(
        !has("allow", "Bash(echo:*)"),
        "what the person allows is weighed here: {passed}"
    );
}

#[test]
fn what_an_untrusted_folder_allows_does_not_count_and_what_it_denies_does() {
    let settings =
        r#"{"permissions":{"allow":["Bash(touch:*)","Bash(ls)"],"deny":["Bash(echo:*)"]}}"#;
    let stage = Stage::new(Which::Plain, "").unwrap();
    let stage = stage.file(".claude/settings.json", settings);
    let ran = stage
        .run(&["--json", "run `touch b`, then run `echo a`"])
        .is(3);
    let ran = ran
        .warns("allow rules of this folder do not count (2)")
        .warns("run `countersign run` in a terminal there once");
    let decided = ran.decisions();
    assert_eq!(decided[0], "Bash deny nobody");
    assert!(decided[1].starts_with("Bash deny"), "{decided:?}");
    assert_eq!(stage.read("b"), None);
}

#[test]
fn what_an_untrusted_folder_would_start_is_not_even_read() {
    let hook =
        r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch pwned"}]}]}}"#;
    let server = r#"{"mcpServers":{"own":{"command":"touch","args":["pwned"]}}}"#;
    for (file, content) in [
        (".claude/settings.json", hook),
        (".claude/settings.local.json", hook),
        (".mcp.json", server),
    ] {
        let stage = Stage::with(Which::Plain, "", &[NOTE])
            .unwrap()
            .file(file, content);
        let ran = stage.run(&["--yes", "say hello"]).is(0);
        ran.warns("programs of its own").warns("are left out");
        let sources = value_of(&flags(&stage), "--setting-sources");
        assert_eq!(sources.as_deref(), Some("user"), "{file}");
    }
}

#[test]
fn what_a_trusted_folder_allows_counts() {
    let settings = r#"{"permissions":{"allow":["Bash(touch:*)"]}}"#;
    let stage = Stage::with(Which::Plain, "", &[NOTE]).unwrap();
    let folder = stage.project();
    let trusted = format!(
        "[[folder]]\npath = {:?}\nrules = [\"Bash(touch:*)\"]\n",
        folder.display().to_string()
    );
    let stage = stage
        .file(".claude/settings.json", settings)
        .home_file(".config/countersign/trusted.toml", &trusted);
    let ran = stage.run(&["--json", "run `touch b`"]).is(0);
    assert_eq!(
        (ran.decisions(), ran.err.as_str()),
        (vec!["Bash allow policy".to_owned()], "")
    );
    assert_eq!(value_of(&flags(&stage), "--setting-sources"), None);
}

#[test]
fn settings_are_the_file_that_stands_where_the_person_is() {
    let deny = |command: &str| format!(r#"{{"permissions":{{"deny":["Bash({command})"]}}}}"#);
    let stage = Stage::with(Which::Plain, "", &[NOTE]).unwrap();
    let stage = stage
        .file("s.json", &deny("ls"))
        .file("inner/s.json", &deny("pwd"));
    let words = "run `ls`, then run `pwd`";
    let flags = ["--json", "--yes", "-C", "inner", "--settings", "s.json"];
    let ran = stage.run(&[&flags[..], &[words]].concat()).is(0);
    let decided = ran.decisions();
    assert!(decided[0].starts_with("Bash deny"), "{decided:?}");
    assert_eq!(decided[1], "Bash allow yes");
}

#[test]
fn the_cli_is_never_started_in_a_mode_that_lets_calls_pass() {
    for mode in ["ask", "edits", "hands-off", "rules-only"] {
        let stage = Stage::with(Which::Plain, "", &[NOTE]).unwrap();
        stage.run(&["--mode", mode, "say hello"]).is(0);
        let flags = flags(&stage);
        assert_eq!(
            value_of(&flags, "--permission-mode").as_deref(),
            Some("default"),
            "{mode}"
        );
        assert!(
            !flags.iter().any(|flag| flag.contains("dangerously")),
            "{flags:?}"
        );
    }
}

#[test]
fn how_hard_it_works_and_what_it_may_cost_reach_the_cli() {
    let stage = Stage::with(Which::Plain, "", &[NOTE]).unwrap();
    let limits = [
        "--effort",
        "high",
        "--thinking-tokens",
        "2048",
        "--max-turns",
        "7",
        "--budget",
        "1.5",
        "--model",
        "opus",
    ];
    stage.run(&[&limits[..], &["say hello"]].concat()).is(0);
    let flags = flags(&stage);
    for (flag, value) in [
        ("--effort", "high"),
        ("--max-thinking-tokens", "2048"),
        ("--max-turns", "7"),
        ("--max-budget-usd", "1.5"),
        ("--model", "opus"),
    ] {
        assert_eq!(value_of(&flags, flag).as_deref(), Some(value), "{flags:?}");
    }
}

#[test]
fn an_unknown_model_is_refused_with_the_known_ones_before_anything_is_said_to_it() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let ran = stage.run(&["--model", "opsu", "say hello"]).is(1);
    assert_eq!(ran.out, "");
    ran.warns("opsu").warns("Known: ").warns("sonnet");
}

/// How a rule that names no tool is answered.
const START: &str = "Start with a tool name, for example `Bash(npm test:*)`";

#[test]
fn a_rule_of_the_command_line_that_names_no_tool_stops_the_start() {
    for flag in ["--allow", "--ask", "--deny"] {
        let stage = Stage::with(Which::Plain, "", &[NOTE]).unwrap();
        let ran = stage.run(&[flag, "Foo(*)", "say hello"]).is(1);
        ran.warns("there is no tool `Foo`").warns(START);
        assert_eq!(stage.read(NOTE.1), None);
    }
}

#[test]
fn a_rule_of_a_file_that_names_no_tool_is_told_and_stops_nothing() {
    let toml = "[[rule]]\ndeny = \"Foo(*)\"\n";
    let stage = Stage::new(Which::Plain, "")
        .unwrap()
        .file("countersign.toml", toml);
    for form in [&["say hello"][..], &["--json", "say hello"]] {
        let ran = stage.run(form).is(0);
        ran.warns("countersign.toml:2")
            .warns("there is no tool `Foo`")
            .warns(START);
    }
}
