//! `policy explain`: what would be decided about a call.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::{GOOD, Ground, recording};

#[test]
fn a_verdict_is_explained_part_by_part() {
    let ground = Ground::new(&[("work/rules.toml", GOOD)]);
    let (said, code) = ground.said(&[
        "explain",
        "Bash",
        "git log --oneline | head -3",
        "--rules",
        "rules.toml",
    ]);
    insta::assert_snapshot!(said, @r"
    ask: No rule allows this command.

    What it would do:
      allow  runs      git log --oneline
                       The rule `allow Bash(git log:*)` (rules.toml:2) allows this.
      ask    runs      head -3
                       No rule allows this command.

    What would change it:
      allow `Bash(head -3)`
      allow `Bash(head:*)`
    ");
    assert_eq!(code, 0);
    let (said, code) = ground.said(&[
        "explain",
        "Bash",
        "git log; rm -rf x",
        "--rules",
        "rules.toml",
    ]);
    insta::assert_snapshot!(said, @r"
    deny: The rule `deny Bash(rm:*)` (rules.toml:7) forbids this: rm -rf x

    rule   deny Bash(rm:*)
    from   rules.toml:7

    What it would do:
      allow  runs      git log
                       The rule `allow Bash(git log:*)` (rules.toml:2) allows this.
      deny   runs      rm -rf x
                       The rule `deny Bash(rm:*)` (rules.toml:7) forbids this: rm -rf x

    What would change it:
      take away or narrow the rule `deny Bash(rm:*)` (rules.toml:7)
    ");
    assert_eq!(code, 0);
}

#[test]
fn the_files_that_count_here_decide_and_flags_add_to_them() {
    let ground = Ground::new(&[
        ("home/.config/countersign/countersign.toml", GOOD),
        (
            "work/countersign.toml",
            "[[rule]]\nallow = \"Bash(make:*)\"\n",
        ),
    ]);
    let verdict = |arguments: &[&str]| {
        ground.json(&[&["explain", "Bash"], arguments].concat())["verdict"].clone()
    };
    assert_eq!(verdict(&["git log"]), "allow");
    assert_eq!(verdict(&["make"]), "ask", "the folder is not trusted");
    assert_eq!(verdict(&["make", "--allow", "Bash(make:*)"]), "allow");
    assert_eq!(
        verdict(&["make", "--allow", "Bash(make:*)", "--ask", "Bash(make:*)"]),
        "ask"
    );
    assert_eq!(verdict(&["git log", "--deny", "Bash(git:*)"]), "deny");
    let (said, _) = ground.said(&["explain", "Bash", "make"]);
    assert!(
        said.contains("1 rule of this repository would allow more"),
        "{said}"
    );
}

#[test]
fn the_mode_and_the_profile_count() {
    let ground = Ground::new(&[]);
    let edit = |flags: &[&str]| {
        let call = [
            "explain",
            "Edit",
            r#"{"file_path":"a.rs","old_string":"a","new_string":"b"}"#,
        ];
        let report = ground.json(&[&call, flags].concat());
        format!(
            "{} {}",
            report["verdict"].as_str().unwrap(),
            report["why"].as_str().unwrap()
        )
    };
    assert_eq!(edit(&[]), "ask no-rule");
    assert_eq!(edit(&["--profile", "edits"]), "allow profile");
    assert_eq!(edit(&["--profile", "hands-off"]), "allow profile");
    assert_eq!(
        edit(&["--profile", "edits", "--mode", "plan"]),
        "ask plan-mode"
    );
    assert_eq!(
        edit(&["--allow", "Edit(*.rs)", "--mode", "plan"]),
        "ask plan-mode"
    );
}

#[test]
fn an_explanation_as_json_has_all_its_keys() {
    let ground = Ground::new(&[("work/rules.toml", GOOD)]);
    let report = ground.json(&["explain", "Bash", "git log", "--rules", "rules.toml"]);
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "changes",
            "input",
            "may_be_waved_through",
            "part",
            "parts",
            "reason",
            "rule",
            "tool",
            "verdict",
            "why",
            "withheld"
        ]
    );
    assert_eq!(
        report["rule"],
        json!({
            "effect": "allow", "text": "Bash(git log:*)", "note": "reading history is harmless", "expires": null,
            "scope": "always", "origin": {"from": "file", "path": "rules.toml", "line": 2, "kind": "own"},
        })
    );
    assert_eq!(report["input"], json!({"command": "git log"}));
    assert_eq!(report["parts"][0]["kind"], "runs");
}

#[test]
fn the_input_may_come_from_standard_input() {
    let ground = Ground::new(&[]);
    let mut child = ground
        .command(&["explain", "Read", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"{\"file_path\": \"a.rs\"}\n")
        .unwrap();
    let report: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        (&report["verdict"], &report["why"]),
        (&json!("allow"), &json!("profile"))
    );
}

#[test]
fn a_call_that_is_none_is_a_mistake_of_the_command_line() {
    let ground = Ground::new(&[]);
    for (arguments, wanted) in [
        (
            &["explain", "Read", "{oops"][..],
            "the input of Read is no JSON object",
        ),
        (
            &["explain", "TodoWrite", "x"],
            "the input of TodoWrite is a JSON object",
        ),
        (
            &["explain", "mcp__a__b", "x"],
            "the input of mcp__a__b is a JSON object",
        ),
        (
            &["explain", "Bash", "ls", "--allow", "Bash("],
            "--allow: `Bash(` is no rule",
        ),
        (&["explain", "Bash"], "<JSON>"),
        (
            &["explain", "Bash", "ls", "--mode", "bypass"],
            "invalid value 'bypass'",
        ),
    ] {
        let (error, code) = ground.refused(arguments);
        assert!(error.contains(wanted), "{error}");
        assert_eq!(code, 2, "{arguments:?}");
    }
}

#[test]
fn rules_with_a_lost_denial_decide_nothing() {
    let ground = Ground::new(&[
        ("work/rules.toml", "[[rule]]\ndeny = \"Bash(rm\"\n"),
        (
            "work/.claude/settings.json",
            r#"{"permissions":{"deny":["Bash(rm"]}}"#,
        ),
    ]);
    let recording = recording("newest/bash-approved.ndjson");
    for arguments in [
        &["explain", "Bash", "ls", "--rules", "rules.toml"][..],
        &["explain", "Bash", "ls"],
        &["test", "rules.toml", &recording],
    ] {
        let (error, code) = ground.refused(arguments);
        assert!(error.contains("these rules cannot be used"), "{error}");
        assert!(error.contains("`Bash(rm` is no rule"), "{error}");
        assert_eq!(code, 1);
    }
}

#[test]
fn rules_whose_examples_do_not_hold_decide_nothing() {
    let rules = "[[rule]]\nallow = \"Bash(ls:*)\"\nexamples = { not_match = [\"ls -l\"] }\n";
    let ground = Ground::new(&[("work/rules.toml", rules)]);
    let (error, code) = ground.refused(&["explain", "Bash", "ls", "--rules", "rules.toml"]);
    assert!(error.contains("`ls -l` must not be meant"), "{error}");
    assert_eq!(code, 1);
}
