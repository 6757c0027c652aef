//! The documentation of the format and the parser say the same.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use countersign_rehearsal::cli::{Scenario, WORDS};

const DOC: &str = include_str!("../../../docs/scenario.md");

fn examples() -> Vec<&'static str> {
    DOC.split("```scenario\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

#[test]
fn every_example_parses() {
    assert!(examples().len() >= 7);
    for example in examples() {
        if let Err(error) = Scenario::parse(example, "example") {
            panic!("{error}\n{example}");
        }
    }
}

#[test]
fn every_word_is_explained_in_its_form_and_used_in_an_example() {
    for word in WORDS.iter() {
        let form = format!("`{}`", word.form.replace('|', "\\|"));
        assert!(DOC.contains(&form), "the doc does not have the form {form}");
        let begins = |line: &str| line.split_whitespace().next() == Some(word.name);
        assert!(
            examples().iter().any(|example| example.lines().any(begins)),
            "no example uses `{}`",
            word.name
        );
    }
}

#[test]
fn no_table_explains_a_word_the_parser_does_not_have() {
    let rows = DOC.lines().filter_map(|line| line.strip_prefix("| `"));
    let headings = rows
        .filter_map(|row| row.split_once('`'))
        .map(|(form, _)| form);
    let defaults = [
        "initialize",
        "control",
        "interrupt",
        "ack",
        "init",
        "result",
        "mcp",
        "eof",
        "strict",
        "cost",
        "restart",
    ];
    for form in headings {
        let name = form.split_whitespace().next().unwrap();
        let known = WORDS.iter().any(|word| word.name == name) || defaults.contains(&form);
        assert!(known, "`{name}` is explained but does not exist");
    }
    for name in defaults {
        let text = format!("default {name} off\n");
        assert!(Scenario::parse(&text, "default").is_ok(), "{name}");
    }
}

#[test]
fn each_misbehaviour_is_named_in_words_of_the_format() {
    let table = DOC.split("By name:").nth(1).unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with("|---"));
    let rows: Vec<&str> = rows.skip(1).take_while(|row| row.contains('`')).collect();
    assert!(rows.len() > 25, "{}", rows.len());
    for row in rows {
        let how = row.split('|').nth(2).unwrap();
        for line in how.split('`').skip(1).step_by(2) {
            let name = line.split_whitespace().next().unwrap();
            let known = WORDS.iter().any(|word| word.name == name);
            assert!(known, "`{name}` in {row}");
        }
    }
}
