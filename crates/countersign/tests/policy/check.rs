//! `policy check`: what is wrong with rules.

use serde_json::json;

use crate::{GOOD, Ground};

#[test]
fn good_rules_are_checked_in_silence() {
    let ground = Ground::new(&[("work/rules.toml", GOOD)]);
    let (said, code) = ground.said(&["check", "rules.toml"]);
    assert_eq!(
        said,
        "rules.toml: 3 rules (your own rules)\nnothing to say about them\n"
    );
    assert_eq!(code, 0);
}

#[test]
fn every_kind_of_mistake_is_told_with_its_place() {
    let rules = r#"[[rule]]
allow = "Bash(git log:*)"
examples = { match = ["git status"], not_match = ["git log -1"] }

[[rule]]
deny = "Bash(git log"

[[rule]]
ask = "Bash(git log:*)"

[[rule]]
allow = ["Bahs(ls:*)", "Bash(python3:*)"]
expires = 2020-01-01T00:00:00Z
"#;
    let ground = Ground::new(&[("work/rules.toml", rules)]);
    let (said, code) = ground.said(&["check", "rules.toml"]);
    insta::assert_snapshot!(said, @r"
    rules.toml:2: warning: `allow Bash(git log:*)`: `ask Bash(git log:*)` (rules.toml:9) wins whenever it would speak
        take it out, or narrow the other
    rules.toml:3:23: error: `git status` must be meant by `allow Bash(git log:*)` (line 2), and is not: with it alone the verdict is ask (No rule allows this command)
        widen the rule, or mend the example
    rules.toml:3:51: error: `git log -1` must not be meant by `allow Bash(git log:*)` (line 2), and is
        narrow the rule, or take the example out
    rules.toml:6:8: error: `Bash(git log` is no rule
        the bracket is not closed; write `Tool(content)`
    rules.toml:12: warning: `allow Bahs(ls:*)`: it ended on 2020-01-01T00:00:00Z
        take it out, or give it a later end
    rules.toml:12: warning: `allow Bahs(ls:*)`: there is no tool `Bahs`, so it means no call
        Start with a tool name, for example `Bash(npm test:*)`; `Bash` may be meant
    rules.toml:12: warning: `allow Bash(python3:*)`: it ended on 2020-01-01T00:00:00Z
        take it out, or give it a later end
    rules.toml:12: warning: `allow Bash(python3:*)`: `python3` allows everything: an interpreter runs whatever program it is given
        name the commands that you mean, such as `Bash(git log:*)`

    rules.toml: 4 rules (your own rules)
    3 errors, 5 warnings
    ");
    assert_eq!(code, 1);
    let report = ground.json(&["check", "rules.toml"]);
    assert_eq!(
        (&report["errors"], &report["warnings"]),
        (&json!(3), &json!(5))
    );
    let kinds: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "shadowed",
            "example",
            "example",
            "syntax",
            "expired",
            "unknown-tool",
            "expired",
            "dangerous"
        ]
    );
}

#[test]
fn without_a_file_all_that_count_here_are_checked() {
    let ground = Ground::new(&[
        (
            "home/.claude/settings.json",
            r#"{"permissions":{"deny":["Bash(git push:*)"]}}"#,
        ),
        ("home/.config/countersign/countersign.toml", GOOD),
        (
            "work/.claude/settings.json",
            r#"{"permissions":{"allow":["Bash(git push:*)"]}}"#,
        ),
    ]);
    let (said, code) = ground.said(&["check"]);
    insta::assert_snapshot!(said, @r"
    work/.claude/settings.json:1: warning: `allow Bash(git push:*)`: `deny Bash(git push:*)` (home/.claude/settings.json:1) wins whenever it would speak
        take it out, or narrow the other

    home/.claude/settings.json: 1 rule (your Claude Code settings)
    home/.config/countersign/countersign.toml: 3 rules (your own rules)
    work/.claude/settings.json: 1 rule (Claude Code settings of a project)
    Not in force, since you have not trusted the folder; `countersign run` asks about it:
        allow Bash(git push:*) (work/.claude/settings.json:1)
    0 errors, 1 warning
    ");
    assert_eq!(code, 1);
    let report = ground.json(&["check"]);
    assert_eq!(report["files"].as_array().unwrap().len(), 3);
    assert_eq!(report["withheld"][0]["text"], "Bash(git push:*)");
    // From elsewhere the same with -C.
    let there = ground.root.join("work");
    let output = ground
        .command(&["check", "-C", there.to_str().unwrap()])
        .current_dir("/")
        .output()
        .unwrap();
    assert_eq!(ground.plain(&output.stdout), said);
}

#[test]
fn where_there_are_no_rules_it_is_said_where_they_could_stand() {
    let (said, code) = Ground::new(&[]).said(&["check"]);
    assert_eq!(code, 0);
    for path in [
        "home/.claude/settings.json",
        "home/.config/countersign/countersign.toml",
        "work/countersign.toml",
    ] {
        assert!(said.contains(&format!("    {path}\n")), "{said}");
    }
}

#[test]
fn what_cannot_be_read_at_all_is_an_error_with_a_next_step() {
    let ground = Ground::new(&[("work/broken.json", "{"), ("work/rules.yaml", "")]);
    let (said, code) = ground.said(&["check", "broken.json"]);
    assert!(
        said.starts_with("broken.json:1:1: error: this is no JSON object"),
        "{said}"
    );
    assert_eq!(code, 1);
    let (error, code) = ground.refused(&["check", "missing.toml"]);
    assert_eq!(
        (error.as_str(), code),
        (
            "error: missing.toml is not there: name a file of rules\n",
            1
        )
    );
    let (error, code) = ground.refused(&["check", "rules.yaml"]);
    assert!(error.contains("neither *.toml"), "{error}");
    assert_eq!(code, 2);
    let (error, code) = ground.refused(&["check", "-C", "no/such/folder"]);
    assert!(error.contains("give -C a folder that is there"), "{error}");
    assert_eq!(code, 1);
}
