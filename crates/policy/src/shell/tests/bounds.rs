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

/// Any text, more often one of characters that mean something.
fn texts() -> impl Strategy<Value = String> {
    let special = prop::collection::vec(
        prop::sample::select(
            "ab1 \t\n;&|(){}[]<>$`'\"\\#!*?~=+-:,@%^/"
                .chars()
                .collect::<Vec<_>>(),
        ),
        0..40,
    );
    prop_oneof![
        any::<String>(),
        special.prop_map(String::from_iter),
        (
            "(sudo|env|xargs|find|sed|git|sort|bash -c|eval|awk|printf|read|test|\\[)",
            any::<String>()
        )
            .prop_map(|(name, rest)| format!("{name} {rest}")),
    ]
}

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
