//! Our own files.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::{problems, rules};
use crate::Profile;
use crate::rule::{FileKind, Scope};
use crate::source::{Read, toml};

fn read(text: &str) -> Read {
    toml(text, Path::new("c.toml"), FileKind::Own, Path::new("/base"))
}

#[test]
fn a_whole_file_is_read() {
    let found = read(
        r#"# mine
profile = "edits"

[[rule]]
allow = "Bash(git log:*)"
note = "reading history is harmless"
repository = "/src/it"
expires = 2026-12-01T00:00:00Z
examples = { match = ["git log --oneline"], not_match = ["git push", { command = "git log", run_in_background = true }] }

[[rule]]
deny = [
  "Bash(rm:*)",
  "Read(.env)",
]
"#,
    );
    assert_eq!(found.problems, []);
    assert_eq!(found.profile, Some(Profile::Edits));
    assert_eq!(
        rules(&found),
        [
            "allow Bash(git log:*) @c.toml:5",
            "deny Bash(rm:*) @c.toml:13",
            "deny Read(.env) @c.toml:14"
        ]
    );
    let first = &found.rules[0];
    assert_eq!(first.scope, Scope::Repository("/src/it".into()));
    assert_eq!(first.expires, Some("2026-12-01T00:00:00Z".parse().unwrap()));
    assert_eq!(first.note.as_deref(), Some("reading history is harmless"));
    assert_eq!(found.rules[1].scope, Scope::Always);
    let [entry] = &found.examples[..] else {
        panic!("{:?}", found.examples)
    };
    let examples: Vec<_> = entry
        .examples
        .iter()
        .map(|example| (example.is_match, &example.input))
        .collect();
    assert_eq!(
        examples,
        [
            (true, &json!("git log --oneline")),
            (false, &json!("git push")),
            (
                false,
                &json!({"command": "git log", "run_in_background": true})
            ),
        ]
    );
    assert_eq!(entry.at.line, Some(5));
}

#[test]
fn an_empty_file_is_fine() {
    assert_eq!(read(""), Read::default());
    assert_eq!(read("# nothing yet\n"), Read::default());
}

/// One text, what stands in its first problem, and whether it stops.
const BROKEN: &[(&str, &str, bool)] = &[
    ("[[rule]", "c.toml:1:8: this is no TOML", true),
    ("rule = 3", "c.toml:1:8: `rule` is no list of tables", true),
    (
        "[rule]\ndeny = \"Bash\"",
        "`rule` is no list of tables",
        true,
    ),
    ("rule = [3]", "this is no rule", true),
    (
        "[[rules]]\ndeny = \"Bash\"",
        "c.toml:1:3: `rules` means nothing here",
        true,
    ),
    (
        "deny = \"Bash\"",
        "c.toml:1:1: `deny` means nothing here",
        true,
    ),
    ("[[rule]]", "this rule says nothing", true),
    (
        "[[rule]]\nallow = \"Read\"\ndeny = \"Bash\"",
        "this rule says two things",
        true,
    ),
    (
        "[[rule]]\ndeny = \"Bash(\"",
        "c.toml:2:8: `Bash(` is no rule",
        true,
    ),
    ("[[rule]]\ndeny = 3", "c.toml:2:8: this is no text", true),
    ("[[rule]]\ndeny = []", "this list of rules is empty", true),
    (
        "[[rule]]\ndeny = \"Bash\"\nuntil = 3",
        "c.toml:3:1: `until` means nothing in a rule",
        true,
    ),
    (
        "[[rule]]\nask = \"Bash\"\nnote = 3",
        "the note is no text",
        true,
    ),
    (
        "[[rule]]\ndeny = \"Bash\"\nrepository = \"src\"",
        "the repository is no whole path",
        true,
    ),
    (
        "[[rule]]\ndeny = \"Bash\"\nexpires = 2026-12-01",
        "this names no moment",
        true,
    ),
    (
        "[[rule]]\ndeny = \"Bash\"\nexpires = 2026-12-01T00:00:00",
        "this names no moment",
        true,
    ),
    (
        "[[rule]]\ndeny = \"Bash\"\nexamples = 3",
        "the examples are no table",
        true,
    ),
    (
        "[[rule]]\ndeny = \"Bash\"\nexamples = { matches = [] }",
        "`matches` are no examples",
        true,
    ),
    (
        "[[rule]]\ndeny = \"Bash\"\nexamples = { match = \"ls\" }",
        "the examples are no list",
        true,
    ),
    (
        "[[rule]]\ndeny = \"Bash\"\nexamples = { match = [3] }",
        "this is no example",
        true,
    ),
    ("[[rule]]\nallow = \"Bash(\"", "`Bash(` is no rule", false),
    (
        "[[rule]]\nallow = \"Bash\"\nexpire = 2026-12-01T00:00:00Z",
        "`expire` means nothing in a rule",
        false,
    ),
    (
        "[[rule]]\nallow = \"Bash\"\nexpires = \"soon\"",
        "this names no moment",
        false,
    ),
    (
        "profile = \"hands-off\"",
        "`hands-off` is no profile",
        false,
    ),
    ("profile = 3", "the profile is no text", false),
];

#[test]
fn every_mistake_is_told_with_its_place_and_what_to_write() {
    for (text, wanted, stops) in BROKEN {
        let found = read(text);
        let [problem] = &found.problems[..] else {
            panic!("{text}: {:?}", found.problems)
        };
        assert!(problem.to_string().contains(wanted), "{text}: {problem}");
        assert!(!problem.fix.is_empty(), "{text}");
        assert_eq!(problem.stops, *stops, "{text}: {problem}");
        assert_eq!(found.is_safe(), !stops, "{text}");
    }
}

#[test]
fn an_allow_with_a_mistake_in_it_allows_nothing() {
    for text in [
        "[[rule]]\nallow = \"Bash\"\nexpire = 2026-12-01T00:00:00Z",
        "[[rule]]\nallow = [\"Bash\", \"Read(\"]",
        "[[rule]]\nallow = \"Bash\"\nrepository = 3",
    ] {
        assert_eq!(rules(&read(text)), [""; 0], "{text}");
    }
}

#[test]
fn a_deny_is_kept_as_far_as_it_can_be_read() {
    let found = read("[[rule]]\ndeny = [\"Bash\", \"Read(\"]\nnote = 3");
    assert_eq!(rules(&found), ["deny Bash @c.toml:2"]);
    assert_eq!(found.problems.len(), 2);
}

#[test]
fn a_repository_does_not_choose_the_profile() {
    let found = toml(
        "profile = \"edits\"",
        Path::new("c.toml"),
        FileKind::Repository,
        Path::new("/"),
    );
    assert_eq!(found.profile, None);
    assert_eq!(
        problems(&found.problems),
        [
            "c.toml:1:11: a repository cannot choose the profile, so this does nothing: set it in your own countersign.toml"
        ]
    );
}

#[test]
fn a_moment_may_stand_in_quotes_and_in_any_zone() {
    let found = read("[[rule]]\nallow = \"Read\"\nexpires = \"2026-12-01T02:00:00+02:00\"");
    assert_eq!(
        found.rules[0].expires,
        Some("2026-12-01T00:00:00Z".parse().unwrap())
    );
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        read(&text);
        read(&format!("[[rule]]\ndeny = {text}"));
        read(&format!("[[rule]]\ndeny = \"Bash\"\n{text}"));
    }

    /// Whatever stands beside it, a deny rule is there or the file is not safe.
    #[test]
    fn a_deny_is_kept_or_told(key in "[a-z]{1,12}", value in prop_oneof!["[0-9]{1,5}", "\"[a-z]{0,9}\"", "\\[\\]", "\\{\\}"]) {
        let found = read(&format!("[[rule]]\ndeny = \"Bash(rm:*)\"\n{key} = {value}\n"));
        prop_assert!(!found.is_safe() || found.rules.iter().any(|rule| rule.matcher.text == "Bash(rm:*)"));
    }
}
