//! Controls: the properties can fail, and the constructs are what they say.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use countersign_policy::{Effect, Policy, suggest};

use crate::constructs::{ALL, Plain, Text};
use crate::world::{bash, decide, hands_off, now, rules, with_place};
use crate::{LISTED, listed, parses};

#[test]
fn a_construct_with_nothing_but_listed_commands_is_looked_through_or_asked_about_as_it_says() {
    for construct in ALL {
        for harmless in LISTED {
            let text = construct.around(harmless, &Text::words("ls -la")).text;
            let is_allowed = decide(&listed(), &bash(&text)).effect == Effect::Allow;
            assert_eq!(
                is_allowed,
                construct.plain == Plain::Allowed,
                "{}: {text}",
                construct.name
            );
        }
    }
}

#[test]
fn without_the_denial_the_denied_command_would_be_allowed() {
    let open = Policy {
        rules: rules(Effect::Allow, &["Bash"]),
        profile: hands_off(),
    };
    let looked_through = ALL
        .iter()
        .filter(|construct| construct.plain == Plain::Allowed);
    for construct in looked_through {
        let text = construct.around("true", &Text::words("touch x")).text;
        assert_eq!(
            decide(&open, &bash(&text)).effect,
            Effect::Allow,
            "{}: {text}",
            construct.name
        );
    }
}

#[test]
fn suggestions_are_made_at_all() {
    let policy = Policy::default();
    for (command, expected) in [
        ("npm test", "Bash(npm test)"),
        ("cargo build --release", "Bash(cargo build --release)"),
        ("git log | head -5", "Bash(head -5)"),
    ] {
        let sets = with_place(|place| suggest(&policy, &bash(command), place, now()));
        assert!(
            sets.iter().flatten().any(|rule| rule == expected),
            "{command}: {sets:?}"
        );
    }
}

#[test]
fn bash_tells_what_it_can_parse() {
    assert!(parses("echo a; (ls)"));
    for text in [
        "echo 'a",
        "(ls",
        "ls &&",
        "if true; then",
        "ls )",
        "echo $(ls",
    ] {
        assert!(!parses(text), "{text}");
    }
}

/// Bash itself says whether a construct runs what stands in it.
#[test]
fn bash_runs_what_stands_in_each_construct() {
    for construct in ALL
        .iter()
        .filter(|construct| !construct.text.contains("sudo"))
    {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        // As a file of that folder it is found on every path, and takes whatever words are added to it.
        let run = folder.path().join("run");
        fs::write(&run, format!("#!/bin/sh\n: > '{}'\n", mark.display())).unwrap();
        fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let text = construct
            .around("true", &Text::words(&run.display().to_string()))
            .text;
        let mut child = Command::new("bash")
            .args(["--norc", "--noprofile", "-c", &text])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // What runs in the background may come after the end.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !mark.exists() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        child.wait().unwrap();
        assert!(mark.exists(), "{} does not run it: {text}", construct.name);
    }
}
