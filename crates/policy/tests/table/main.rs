//! The table: which rules, which call, which verdict and why.
//!
//! Owns `cases/*.txt`, one theme a file, in the words of `parse.rs`. Every row is decided on a real disk that is made for
//! its block. What a row expects is what one wants, never what came out; all rows that differ are reported together.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod parse;
mod stage;

use std::fs;
use std::path::{Path, PathBuf};

use countersign_policy::{Effect, Verdict};

use parse::{Block, Expected, Row};
use stage::Stage;

/// So many rows there are at least: a table that is not read proves nothing.
const FEWEST: usize = 400;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/table/cases");
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn blocks(file: &Path) -> Vec<Block> {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    parse::blocks(&name, &fs::read_to_string(file).unwrap())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// What is wrong with the rows of a block, a paragraph each.
fn differences(block: &Block) -> Vec<String> {
    let stage = Stage::build(&block.head);
    let mut wrong = Vec::new();
    for row in &block.rows {
        let verdict = stage.decide(row);
        if let Some(difference) = difference(row, &verdict, &stage) {
            wrong.push(format!(
                "{}:{}: {}\n{difference}",
                block.file,
                row.line,
                row.shown()
            ));
        }
    }
    wrong
}

fn difference(row: &Row, verdict: &Verdict, stage: &Stage) -> Option<String> {
    let reason = &verdict.reason;
    let rule = reason.rule.as_ref().map(|rule| rule.matcher.text.clone());
    let part = reason.part.as_deref().map(|part| stage.shortened(part));
    let found = Expected {
        effect: verdict.effect,
        must_be_a_person: verdict.effect == Effect::Ask && !verdict.may_be_waved_through,
        why: reason.why.to_string(),
        rule: rule.clone().filter(|_| row.expected.rule.is_some()),
        part: part.clone().filter(|_| row.expected.part.is_some()),
    };
    (found != row.expected).then(|| {
        let whole = Expected {
            rule,
            part,
            ..found
        };
        format!(
            "    expected {}\n    got      {whole}\n             {}",
            row.expected, reason.text
        )
    })
}

#[test]
fn every_row_is_decided_as_it_says() {
    let wrong: Vec<String> = files()
        .iter()
        .flat_map(|file| blocks(file))
        .flat_map(|block| differences(&block))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} rows differ:\n\n{}\n",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn the_table_is_long_and_every_file_has_rows() {
    let mut all = 0;
    for file in files() {
        let rows: usize = blocks(&file).iter().map(|block| block.rows.len()).sum();
        assert!(rows >= 5, "{} has only {rows} rows", file.display());
        all += rows;
    }
    assert!(all >= FEWEST, "the table has only {all} rows");
}

/// What can stand around a command, by what gives it away in a text.
const CONSTRUCTS: [(&str, &str); 24] = [
    ("a list", "; "),
    ("and", " && "),
    ("or", " || "),
    ("a pipe", " | "),
    ("a pipe with errors", " |& "),
    ("the background", " & "),
    ("a new line", "\n"),
    ("a subshell", "("),
    ("a group", "{ "),
    ("a substitution", "$("),
    ("backticks", "`"),
    ("a process substitution", "<("),
    ("a redirection to a file", " > "),
    ("an appending redirection", " >> "),
    ("a variable before a command", "PATH="),
    ("a here-document", "<<"),
    ("sh -c", "sh -c "),
    ("xargs", "xargs "),
    ("find -exec", " -exec "),
    ("env", "env "),
    ("nohup", "nohup "),
    ("timeout", "timeout "),
    ("sudo", "sudo "),
    ("eval", "eval "),
];

#[test]
fn every_construct_is_in_the_table_as_something_that_is_not_let_through() {
    let rows: Vec<Row> = files()
        .iter()
        .flat_map(|file| blocks(file))
        .flat_map(|block| block.rows)
        .collect();
    for (construct, sign) in CONSTRUCTS {
        let is_shown = |row: &&Row| {
            row.expected.effect != Effect::Allow
                && row.command().is_some_and(|text| text.contains(sign))
        };
        let count = rows.iter().filter(is_shown).count();
        assert!(
            count >= 3,
            "only {count} rows have {construct} ({sign:?}) and are not allowed"
        );
    }
}

#[test]
fn a_row_that_is_wrong_is_reported_with_its_line_and_both_verdicts() {
    let text =
        "allow Bash(ls:*)\n\nls => deny rule\nls => allow rule\nrm x => ask no-rule \"rm y\"\n";
    let blocks = parse::blocks("made-up.txt", text).unwrap();
    let wrong: Vec<String> = blocks.iter().flat_map(differences).collect();
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(
        wrong[0].starts_with(
            "made-up.txt:3: ls\n    expected deny rule \"ls\"\n    got      allow rule"
        ),
        "{}",
        wrong[0]
    );
    assert!(
        wrong[1].starts_with("made-up.txt:5: rm x\n"),
        "{}",
        wrong[1]
    );
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_with_its_line() {
    for (text, line) in [
        ("ls => perhaps rule\n", 1),
        ("allow Bash(ls:*)\nls => allow\n", 2),
        ("allowed Bash\nls => allow rule\n", 1),
        ("allow Bash(\nls => allow rule\n", 1),
        ("Read {\"file_path\":} => allow rule\n", 1),
        ("ls => ask no-rule rm\n", 1),
        ("allow Bash(ls:*)\n", 1),
    ] {
        let error = parse::blocks("made-up.txt", text).err();
        let error = error.unwrap_or_else(|| panic!("{text:?} was read"));
        assert!(
            error.starts_with(&format!("made-up.txt:{line}: ")),
            "{text:?}: {error}"
        );
    }
}
