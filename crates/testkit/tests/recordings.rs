//! The stored recordings are fit to be in the repository: small, reviewable, and with nothing in them of
//! the machine that made them, of a person, or of the vendor's prose.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use countersign_testkit::fetch;
use countersign_testkit::json::Json;
use countersign_testkit::recording::{Dir, Recording};

const LARGEST_FILE: u64 = 100 * 1024;
const LARGEST_SUM: u64 = 3 * 1024 * 1024;
/// Longer texts than this are somebody's prose, unless they are one character over and over.
const LONGEST_TEXT: usize = 102;

/// Where an absolute path in a recording may start.
const PLACES: [&str; 8] = [
    "/project",
    "/home/user",
    "/tmp/claude-1000/",
    "/tmp/cc-socks/4242.sock",
    "/etc/passwd",
    "//etc/**",
    "/compact",
    "/clear",
];

fn files() -> Vec<PathBuf> {
    let folders = fetch::pinned()
        .iter()
        .map(|pinned| Recording::fixtures().join(pinned.version));
    let folders = folders.filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn each_recorded_version_is_pinned_and_the_newest_has_a_name_of_its_own() {
    let newest = Recording::fixtures().join(fetch::NEWEST);
    assert_eq!(
        std::fs::read_link(newest).unwrap(),
        PathBuf::from(fetch::newest().version)
    );
    for folder in std::fs::read_dir(Recording::fixtures()).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(fetch::Pinned::find(&name).is_some(), "{name}");
    }
}

/// What is recorded of every version, also of those that the suites do not run on.
#[test]
fn a_turn_an_allowed_and_a_denied_call_and_an_interrupt_are_recorded_of_every_version() {
    for version in [
        "1.0.128",
        "2.0.30",
        "2.0.75",
        "2.1.62",
        "2.1.200",
        fetch::NEWEST,
    ] {
        for name in [
            "plain-turn",
            "bash-approved",
            "bash-denied",
            "interrupt-approval",
        ] {
            let file = Recording::path(&Recording::fixtures(), version, name);
            assert!(file.is_file(), "{}", file.display());
        }
    }
}

#[test]
fn recordings_are_small() {
    let sizes: Vec<_> = files()
        .iter()
        .map(|file| (file.metadata().unwrap().len(), file.clone()))
        .collect();
    for (size, file) in &sizes {
        assert!(*size <= LARGEST_FILE, "{} has {size} bytes", file.display());
    }
    let sum: u64 = sizes.iter().map(|(size, _)| size).sum();
    assert!(
        sum <= LARGEST_SUM,
        "all recordings together have {sum} bytes"
    );
}

#[test]
fn every_recording_reads_and_writes_back_to_the_same_bytes() {
    for file in files() {
        let recording = Recording::read(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            recording.to_ndjson() == std::fs::read_to_string(&file).unwrap(),
            "{}",
            file.display()
        );
    }
}

#[test]
fn recordings_start_a_cli_end_it_and_carry_json_both_ways() {
    for file in files() {
        let recording = Recording::read(&file).unwrap();
        let dirs: Vec<Dir> = recording.entries.iter().map(|entry| entry.dir).collect();
        assert_eq!(
            (dirs.first(), dirs.last()),
            (Some(&Dir::Run), Some(&Dir::End)),
            "{}",
            file.display()
        );
        for entry in recording
            .entries
            .iter()
            .filter(|entry| matches!(entry.dir, Dir::In | Dir::Out))
        {
            assert!(
                Json::parse_object(&entry.bytes).is_some(),
                "{}: a line that is no JSON",
                file.display()
            );
        }
    }
}

#[test]
fn recordings_hold_nothing_of_a_machine_a_person_or_the_vendors_prose() {
    let mut found = Vec::new();
    for file in files() {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let line: Json = serde_json::from_str(line).unwrap();
            let is_ours = matches!(line.str_at("dir"), Some("run"));
            line.map_strings(&mut |text| {
                if let Some(what) = objection(&text, is_ours) {
                    found.push(format!("{}: {what}: {text}", file.display()));
                }
                text
            });
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn objection(text: &str, is_ours: bool) -> Option<&'static str> {
    let is_path = text.starts_with('/') && text.len() > 1 && !text.contains(' ');
    if is_path && !PLACES.iter().any(|place| text.starts_with(place)) {
        return Some("a path of a machine");
    }
    if text.contains("countersign-") || text.contains("/root") || text.contains("not-a-key") {
        return Some("a name of the sandbox or its maker");
    }
    if text.contains("sk-ant-") || text.to_lowercase().contains("bearer ") {
        return Some("something like a key");
    }
    let characters = text.chars().count();
    if characters > LONGEST_TEXT && !is_ours {
        return Some("a long text");
    }
    None
}
