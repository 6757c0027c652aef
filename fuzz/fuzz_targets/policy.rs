//! Policy: whatever the rules and the call, nothing panics, what the shell reader cannot read is not allowed, one more
//! rule that denies is never milder, and an explanation explains the verdict.
//!
//! The input is text: rules such as `deny Bash(rm:*)` a line each, an empty line, then what is asked for: a shell
//! command, a path and an address all at once.

#![no_main]

use std::path::{Path, PathBuf};

use countersign_policy::{Call, Disk, Effect, Origin, Place, Policy, Profile, Rule, shell};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// A disk without links, with a few names on it.
struct Flat;

const FILES: [&str; 5] = [".env", "src", "src/a.rs", ".git/config", "a.txt"];

impl Disk for Flat {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_path_buf())
    }

    fn list(&self, folder: &Path) -> Option<Vec<(String, bool)>> {
        let inside = folder.strip_prefix("/here").ok()?;
        let entries = FILES
            .iter()
            .filter_map(|file| Path::new(file).strip_prefix(inside).ok());
        let first = |path: &Path| Some(path.components().next()?.as_os_str().to_str()?.to_owned());
        Some(
            entries
                .filter_map(|path| Some((first(path)?, path.components().count() > 1)))
                .collect(),
        )
    }

    fn exists(&self, path: &Path) -> bool {
        FILES
            .iter()
            .any(|file| Path::new("/here").join(file) == path)
    }
}

fn rule(line: &str) -> Option<Rule> {
    let (effect, text) = line.split_once(' ')?;
    let effect = match effect {
        "allow" => Effect::Allow,
        "ask" => Effect::Ask,
        "deny" => Effect::Deny,
        _ => return None,
    };
    Rule::parse(effect, text, Path::new("/here"), Origin::Session).ok()
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = std::str::from_utf8(data) else {
        return;
    };
    let (head, text) = input.split_once("\n\n").unwrap_or(("", input));
    let now = Timestamp::UNIX_EPOCH;
    let profile = match head.len() % 3 {
        0 => Profile::Careful,
        1 => Profile::Edits,
        _ => Profile::HandsOff {
            until: Timestamp::MAX,
        },
    };
    let policy = Policy {
        rules: head.lines().filter_map(rule).collect(),
        profile,
    };
    let mut stricter = policy.clone();
    stricter.rules.extend(rule("deny Bash(rm:*)"));
    stricter.rules.extend(rule("deny Read(.env)"));
    let (home, own) = (
        Path::new("/home/user"),
        [PathBuf::from("/home/user/.countersign")],
    );
    let place = Place {
        cwd: Path::new("/here"),
        add_dirs: &[],
        home: Some(home),
        own: &own,
        disk: &Flat,
    };

    let is_unclear = !shell::read(text).unclear.is_empty();
    for (tool, field) in [
        ("Bash", "command"),
        ("Read", "file_path"),
        ("Edit", "file_path"),
        ("Glob", "pattern"),
        ("WebFetch", "url"),
    ] {
        let call = Call {
            in_plan_mode: head.len() % 5 == 4,
            ..Call::new(tool, json!({ field: text }))
        };
        let verdict = policy.decide(&call, &place, now);
        assert!(
            !(tool == "Bash" && is_unclear && verdict.effect == Effect::Allow),
            "allowed what it cannot read"
        );
        assert!(
            stricter.decide(&call, &place, now).effect >= verdict.effect,
            "one more denial is milder"
        );
        assert!(
            policy.explain(&call, &place, now).verdict == verdict,
            "the explanation is of another verdict"
        );
    }
});
