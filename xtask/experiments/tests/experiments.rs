//! `cargo xtask experiments` as people meet it: on the scripted CLI here, on the real ones in a module for each version.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const EXPERIMENTS: &str = env!("CARGO_BIN_EXE_experiments");

/// The program of the product, built beside: it plays the scripted CLI and checks recordings.
fn countersign() -> PathBuf {
    let program = Path::new(EXPERIMENTS).with_file_name("countersign");
    assert!(
        program.exists(),
        "`cargo build -p countersign` builds {}",
        program.display()
    );
    program
}

/// The page that `cargo xtask experiments` writes.
fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join("../../docs/experiments.md")).unwrap()
}

/// The program, in a folder and with a home of its own.
fn experiments(stage: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(EXPERIMENTS);
    command
        .args(arguments)
        .current_dir(stage.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", stage.path());
    command
}

fn stage() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The command line of the scripted CLI.
fn scripted() -> String {
    format!("\"{}\" rehearse cli", countersign().display())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What it printed, if it ran.
fn printed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// The lines that are the same whoever runs it: only root can be refused as root.
fn comparable(text: &str) -> Vec<&str> {
    let depends = |line: &&str| line.starts_with("Of ") || line.contains("| as root, without");
    let lines = text.lines();
    lines.filter(|line| is_root() || !depends(line)).collect()
}

/// The part of the page about one version.
fn section(page: &str, version: &str) -> String {
    let head = format!("## claude {version}\n");
    let start = page.find(&head).expect("the page has that version");
    let rest = &page[start..];
    match rest[1..].find("\n## ") {
        Some(end) => rest[..=end].to_owned(),
        None => rest.to_owned(),
    }
}

#[test]
fn the_scripted_cli_comes_to_the_same_comparisons_as_the_real_one() {
    let stage = stage();
    let output = experiments(&stage, &["--claude", &scripted()])
        .output()
        .unwrap();
    let (ours, page) = (printed(&output), page());
    let real = section(&page, countersign_testkit::fetch::newest().version);
    // The scripted CLI says why a command is denied in words of its own.
    let is_prose = |line: &&str| line.contains("| what the model reads of");
    // It does not look into a command for the folders that the real one would offer to add, and has no classifier for commands
    // in plan mode.
    let left_out = [
        "addDirectories is among the suggestions",
        "in plan mode other calls are asked about as in default mode",
    ];
    let is_left_out = |line: &&str| left_out.iter().any(|part| line.contains(part));
    let rows = |text| -> Vec<String> {
        let lines = comparable(text).into_iter();
        lines
            .filter(|line| !is_prose(line) && !is_left_out(line) && !line.starts_with("Of "))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(rows(&ours), rows(&real));
    let prose = |text: &str| text.lines().filter(is_prose).count();
    assert_eq!((prose(&ours), prose(&real)), (3, 3));
}

#[test]
fn only_the_experiments_that_are_named_are_run_each_once_and_in_order() {
    let stage = stage();
    let arguments = ["c", "A", "a", "--claude", &scripted()];
    let output = experiments(&stage, &arguments).output().unwrap();
    let progress = text(&output.stderr);
    let letters: Vec<_> = progress
        .lines()
        .filter_map(|line| line.chars().next())
        .collect();
    assert_eq!(letters, ['A', 'C']);
    let printed = printed(&output);
    assert!(printed.contains("| A ") && printed.contains("| C "));
    assert!(!printed.contains("| B ") && !printed.contains("| D "));
}

#[test]
fn json_holds_every_observation_and_comparison() {
    let stage = stage();
    let arguments = ["E", "--json", "--claude", &scripted()];
    let output = experiments(&stage, &arguments).output().unwrap();
    let report: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!(report["cli"], countersign_testkit::fetch::newest().version);
    assert_eq!(report["experiments"], serde_json::json!(["E"]));
    let asked = report["observations"]["e"]["asked"].as_array().unwrap();
    let asked: Vec<_> = asked
        .iter()
        .map(|ask| (&ask["tool"], &ask["answer"]))
        .collect();
    let (edit, bash, deny) = (
        Value::from("Edit"),
        Value::from("Bash"),
        Value::from("deny"),
    );
    assert_eq!(asked, [(&edit, &deny), (&bash, &deny)]);
    let comparisons = report["comparisons"].as_array().unwrap();
    let requests = comparisons
        .iter()
        .find(|row| row["what"] == "can_use_tool requests")
        .unwrap();
    let expected = serde_json::json!({
        "table": "prompts", "experiments": ["E"], "what": "can_use_tool requests",
        "seed": 2, "here": 2, "verdict": "agrees",
    });
    assert_eq!(*requests, expected);
}

#[test]
fn the_wire_of_every_run_is_kept_and_can_be_checked() {
    let stage = stage();
    let arguments = ["--record", "kept", "--claude", &scripted()];
    printed(&experiments(&stage, &arguments).output().unwrap());
    let kept = stage.path().join("kept");
    assert!(kept.join("README.md").is_file());
    for letter in 'a'..='h' {
        let folder = kept.join(format!("experiment_{letter}"));
        let summary = std::fs::read_to_string(folder.join("summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["experiment"], letter.to_uppercase().to_string());
        let lines = recorded(&folder.join("wire.ndjson"));
        assert!(
            lines.iter().any(|line| line["type"] == "result"),
            "{letter}"
        );
    }
    let files = |letter: &str| files_in(&kept.join(format!("experiment_{letter}")));
    assert_eq!(files("d"), ["forms.ndjson", "summary.json", "wire.ndjson"]);
    let takes = [
        "calls.ndjson",
        "revised.ndjson",
        "summary.json",
        "wire.ndjson",
    ];
    assert_eq!(files("g"), takes);
}

/// The lines of a recording, once `wire check` has nothing against it.
fn recorded(file: &Path) -> Vec<Value> {
    let check = Command::new(countersign())
        .args(["wire", "check", "--json"])
        .arg(file)
        .output()
        .unwrap();
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(lines.next().unwrap()["recording"], 1);
    lines.map(|entry| entry["line"].clone()).collect()
}

fn files_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_cli_that_cannot_be_run_is_an_error_that_says_what_to_do() {
    let stage = stage();
    let none = experiments(&stage, &["A"]).output().unwrap();
    assert_eq!(none.status.code(), Some(1));
    let said = text(&none.stderr);
    assert!(
        said.contains("was not found") && said.contains("npm install"),
        "{said}"
    );

    let broken = experiments(&stage, &["A", "--claude", "/bin/false"])
        .output()
        .unwrap();
    assert_eq!(
        (broken.status.code(), text(&broken.stdout)),
        (Some(1), String::new())
    );
    let said = text(&broken.stderr);
    assert!(
        said.contains("experiment A") && said.contains("--claude"),
        "{said}"
    );

    let unknown = experiments(&stage, &["I"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn the_cli_sees_no_variable_and_no_home_of_the_caller() {
    let stage = stage();
    let program = stage.path().join("spy");
    std::fs::write(
        &program,
        "#!/bin/sh\nenv > \"${0%/*}/seen\"\npwd >> \"${0%/*}/seen\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = experiments(&stage, &["A", "--claude", "./spy"]);
    command.env("ANTHROPIC_API_KEY", "the-callers-own");
    command.env("SOME_TOKEN", "the-callers-own");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let seen = std::fs::read_to_string(stage.path().join("seen")).unwrap();
    assert!(
        seen.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:"),
        "{seen}"
    );
    assert!(
        !seen.contains("the-callers-own") && !seen.contains("SOME_TOKEN"),
        "{seen}"
    );
    let home = stage.path().to_string_lossy().into_owned();
    let paths = seen.lines().filter(|line| line.contains(&home));
    // Its own path is all it may know.
    assert!(
        paths.into_iter().all(|line| line.starts_with("_=")),
        "{seen}"
    );
}

/// Runs everything on that version of the real CLI, and holds the page against it.
fn the_page_is_what_is_printed(version: &str) {
    let Some(installed) = countersign_testkit::demand::cli(version) else {
        return;
    };
    let words = installed.command.iter().map(PathBuf::from);
    let words: Vec<_> = words
        .map(|word| format!("\"{}\"", word.display()))
        .collect();
    let stage = stage();
    let output = experiments(&stage, &["--claude", &words.join(" ")])
        .output()
        .unwrap();
    let (printed, page) = (printed(&output), page());
    let section = section(&page, installed.pinned.version);
    assert_eq!(
        comparable(&printed),
        comparable(&section),
        "run `cargo xtask experiments` and read the difference"
    );
}

mod newest {
    #[test]
    fn the_page_is_what_is_printed() {
        super::the_page_is_what_is_printed("newest");
    }
}

mod v2_1_62 {
    #[test]
    fn the_page_is_what_is_printed() {
        super::the_page_is_what_is_printed("2.1.62");
    }
}

mod v2_0_75 {
    #[test]
    fn the_page_is_what_is_printed() {
        super::the_page_is_what_is_printed("2.0.75");
    }
}
