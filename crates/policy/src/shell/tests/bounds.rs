//! No text is too long, too deep or too odd.

use proptest::prelude::*;

use super::super::{CommandPattern, Side, read};

#[test]
fn a_text_without_bounds_is_unclear_and_soon() {
    let deep = |open: &str, close: &str| format!("{}a{}", open.repeat(5000), close.repeat(5000));
    let texts = [
        "a;".repeat(100_000),
        "a;".repeat(30_000),
        deep("$(", ")"),
        deep("(", ")"),
        deep("{ ", ";}"),
        deep("\"$(", ")\""),
        deep("${x:-", "}"),
        deep("if a; then ", "; fi"),
        "`".repeat(9999),
        "$(".repeat(9999),
        "((".repeat(9999),
        "f() ".repeat(9999),
        "a|".repeat(30_000) + "b",
        format!("find . {}", "-exec a \\; ".repeat(4000)),
        "eval ".repeat(5000),
        "sudo ".repeat(5000),
        "! ".repeat(5000),
        "a <<E\nb\nE\n".repeat(2000),
        format!("a <<{0}\nb\n{0}\n", "E".repeat(2000)),
        format!("{}a", "eval 'eval \"".repeat(900)),
    ];
    for text in texts {
        let reading = read(&text);
        let hides = reading
            .commands
            .iter()
            .any(|command| command.hides.is_some());
        assert!(hides || !reading.unclear.is_empty(), "{:?}", &text[..20]);
    }
}

#[test]
fn long_but_plain_texts_are_read() {
    let text = format!("echo {}", "a ".repeat(20_000));
    let reading = read(&text);
    assert!(reading.unclear.is_empty());
    assert_eq!(reading.commands[0].words.len(), 20_001);
    assert_eq!(read(&"ls\n".repeat(800)).commands.len(), 800);
}

/// Any text, more often one of characters or words that mean something.
fn texts() -> impl Strategy<Value = String> {
    let special: Vec<char> = "ab1 \t\n;&|(){}[]<>$`'\"\\#!*?~=+-:,@%^/é🎉"
        .chars()
        .collect();
    let special = prop::collection::vec(prop::sample::select(special), 0..40);
    let arguments = prop::collection::vec(prop::sample::select(ARGUMENTS), 0..5);
    let call = (prop::sample::select(NAMES), arguments);
    prop_oneof![
        call.prop_map(|(name, arguments)| format!("{name} {}", arguments.join(" "))),
        any::<String>(),
        special.prop_map(String::from_iter),
    ]
}

/// Commands whose arguments are looked at.
const NAMES: &[&str] = &[
    "sudo", "env", "xargs", "find", "sed", "git", "sort", "bash", "eval", "awk", "printf", "read",
    "test", "[", "timeout", "nice", "exec", "trap", "su", "time", "command", "date", "uniq", "rg",
    "jq", "tar", "python", "node", "cd", "set", "declare", "unset", "grep", "docker", "npm",
    "make", "stdbuf", "ionice", "busybox", "ps", "diff", "tree", "mapfile", "export", ".", "alias",
];

/// Arguments that mean something to some of them.
const ARGUMENTS: &[&str] = &[
    "-u",
    "-n",
    "--",
    "-c",
    "x",
    "-I",
    "{}",
    "-exec",
    "\\;",
    "+",
    "-C",
    "=",
    "A=b",
    "-e",
    "-i",
    "-f",
    "-",
    "--x=",
    "''",
    "$x",
    "*",
    "-ok",
    "-name",
    "--output=x",
    "-o",
    "a/b",
    "-v",
    "-k",
    "5",
    "-s",
    "run",
    "log",
    "branch",
    "--list",
    "s/a/b/",
    "/x",
    "-5",
    "%d",
    "-m",
    "$(a)",
    "é",
    "-é",
    "--é",
    "--file=é",
    "s/é/b/",
    "@é",
    "-é=b",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_text_is_read_and_no_doubt_helps_it(text in texts()) {
        let reading = read(&text);
        prop_assert!(!reading.commands.is_empty() || !reading.redirects.is_empty() || !reading.unclear.is_empty());
        for command in &reading.commands {
            prop_assert!(!command.words.is_empty());
            prop_assert!(!command.only_reads() || command.obstacle.is_none() && command.hides.is_none());
            command.names();
            command.reads_folders();
        }
    }

    #[test]
    fn what_a_rule_allows_it_denies_too(rule in texts(), text in texts()) {
        for rule in [rule.clone(), format!("{rule}:*"), format!("{rule} *"), text.clone()] {
            let Ok(pattern) = CommandPattern::parse(&rule) else {
                continue;
            };
            for command in read(&text).commands {
                let allowed = pattern.fits(&command, Side::Allow).is_yes();
                prop_assert!(!allowed || pattern.fits(&command, Side::Restrict).is_yes(), "{rule:?} on {text:?}");
            }
        }
    }
}
