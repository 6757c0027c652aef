//! What stops a run before it begins, and what it says then.

use std::os::unix::fs::PermissionsExt as _;

use crate::stage::{Stage, Which};

#[test]
fn without_a_claude_it_says_where_it_looked_and_how_to_get_one() {
    let stage = Stage::new(Which::Plain, "").unwrap().without_cli();
    let looked = stage.home().join(".local/bin/claude");
    let ran = stage.run(&["say hello"]).is(1);
    assert_eq!(ran.out, "");
    ran.warns("the claude CLI was not found")
        .warns(&looked.to_string_lossy())
        .warns("npm install -g @anthropic-ai/claude-code");
    let ran = stage.run(&["--claude", "/nowhere/claude", "say hello"]);
    ran.is(1).warns("there is no /nowhere/claude");
}

#[test]
fn what_a_cli_complained_of_before_it_died_is_shown() {
    let stage = Stage::new(Which::Plain, "").unwrap().without_cli();
    let dead = stage.aside("dead");
    std::fs::write(
        &dead,
        "#!/bin/sh\necho 'a library is missing' >&2\nexit 7\n",
    )
    .unwrap();
    std::fs::set_permissions(&dead, std::fs::Permissions::from_mode(0o755)).unwrap();
    for form in [
        &["--claude", &dead, "hi"][..],
        &["--json", "--claude", &dead, "hi"],
    ] {
        let ran = stage.run(form).is(1);
        assert_eq!(ran.out, "");
        ran.warns("exit code 7").warns("a library is missing");
    }
}

#[test]
fn what_a_cli_complained_of_when_it_died_in_a_turn_is_shown() {
    let scenario = "turn\n  say \"Let me look.\"\n  stderr \"out of memory\"\n  exit 7\n";
    let stage = Stage::new(Which::Scenario, scenario).unwrap();
    let ran = stage.run(&["hi"]).is(1).says("Let me look.");
    ran.warns("exit code 7").warns("out of memory");
}

#[test]
fn a_broken_rule_stops_the_start_with_its_place() {
    let note = [("COUNTERSIGN_SCENARIO_ARGV", "started")];
    let toml = "[[rule]]\nallow = \"Bash(ls)\"\n\n[[rule]]\ndeny = \"Bash(rm\"\n";
    let json = "{\n \"permissions\": {\n  \"deny\": [\"Bash(rm\"]\n }\n}\n";
    for (name, content, place) in [
        ("home/.config/countersign/countersign.toml", toml, ":5:"),
        ("home/.claude/settings.json", json, ":3:"),
        ("countersign.toml", toml, ":5:"),
        (".claude/settings.json", json, ":3:"),
        (".claude/settings.local.json", json, ":3:"),
    ] {
        let stage = Stage::with(Which::Plain, "", &note).unwrap();
        let stage = match name.strip_prefix("home/") {
            Some(name) => stage.home_file(name, content),
            None => stage.file(name, content),
        };
        let place = format!("{}{place}", name.trim_start_matches("home/"));
        let ran = stage.run(&["--yes", "say hello"]).is(1);
        assert_eq!(
            (ran.out.as_str(), stage.read("started")),
            ("", None),
            "{name}"
        );
        ran.warns("nothing is started")
            .warns(&place)
            .warns("the bracket is not closed");
    }
}

#[test]
fn a_rule_of_the_command_line_that_is_none_stops_the_start() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    for flag in ["--allow", "--ask", "--deny"] {
        let ran = stage.run(&[flag, "Bash(ls", "say hello"]).is(1);
        assert_eq!(ran.out, "");
        ran.warns("`Bash(ls` is no rule")
            .warns("the bracket is not closed");
    }
}

#[test]
fn settings_that_cannot_be_read_stop_the_start() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let stage = stage
        .file("half.json", "{\n  \"permissions\": ")
        .file("list.json", "[]\n")
        .file(
            "bad.json",
            "{\n \"permissions\": {\n  \"deny\": [\"Bash(rm\"]\n }\n}\n",
        );
    for (file, why) in [
        ("nowhere.json", "nowhere.json"),
        ("half.json", "half.json:2:"),
        ("list.json", "list.json"),
        ("bad.json", "bad.json:3:"),
    ] {
        let ran = stage.run(&["--settings", file, "say hello"]).is(1);
        assert_eq!(ran.out, "", "{file}");
        ran.warns(why);
    }
}

#[test]
fn a_cli_that_is_older_than_all_that_were_measured_is_refused() {
    let scenario = "version 2.0.75\nturn\n  say \"Hello.\"\n";
    let mut stage = Stage::new(Which::Scenario, scenario).unwrap();
    let old = stage.aside("old");
    stage = stage.cli(&old);
    let ours = env!("CARGO_BIN_EXE_countersign");
    for (version, is_taken) in [("1.0.127", false), ("1.0.128", true), ("2.0.42", true)] {
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '{version} (Claude Code)'; exit; }}\n\
             exec '{ours}' rehearse cli \"$@\"\n"
        );
        std::fs::write(&old, text).unwrap();
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
        let ran = stage.run(&["hi"]);
        match is_taken {
            true => ran.is(0).says("Hello."),
            false => ran
                .is(1)
                .warns("claude 1.0.127 is too old: install 1.0.128 or a newer one"),
        };
    }
}
