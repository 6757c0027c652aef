//! What is wrong with a scenario is said with its place, what may stand there and the word that was meant.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use countersign_rehearsal::cli::Scenario;

fn error(text: &str) -> String {
    Scenario::parse(text, "s").unwrap_err().to_string()
}

#[test]
fn errors_have_place_expectation_and_finding() {
    insta::assert_snapshot!(
        [
            "version two",
            "turn\n  version 2.0.75",
            "turn 0 times",
            "turn\n  say hello",
            "turn\n  say \"a\" more",
            "turn\n  ask",
            "turn\n  ask Bash {\"command\":}",
            "turn\n  ask Bash {} nowiat",
            "turn\n  wait soon",
            "turn\n  wait contrl interrupt",
            "turn\n  exit 300",
            "turn\n  big 20X",
            "turn\n  rawbytes \"\\q\"",
            "turn\n  stop writing",
            "turn\n  repeat 3\n    say \"a\"\nturn",
            "turn\n  end",
            "turn\n  say \"${pormpt}\"",
            "turn\n  expect user content",
            "default intialize off",
            "reply sometimes interrupt",
            "reply late interrupt",
            "say \"a\"",
            "turn\n  say <<END\n  never closed",
        ]
        .map(error)
        .join("\n")
    );
}

#[test]
fn comments_blank_lines_and_a_byte_order_mark_are_fine() {
    let text = "\u{feff}# first\n\nturn # a turn\n  say \"# no comment\" # one\n";
    assert!(Scenario::parse(text, "s").is_ok());
}

#[test]
fn names_of_questions_are_variables() {
    assert!(Scenario::parse("turn\n  ask Bash as a nowait\n  say \"${a} $${b}\"\n", "s").is_ok());
}
