//! Every line that was recorded from a real CLI, in both directions, on every pinned version: the lines
//! themselves, the replies inside control responses, and the inputs of the tools.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_wire::content::ContentBlock;
use countersign_wire::control::{CliRequest, ControlOutcome};
use countersign_wire::decode::{Message, decode};
use countersign_wire::recording::{self, Direction};
use countersign_wire::route::Route;
use countersign_wire::tools::ToolInput;
use countersign_wire::write::to_line;
use countersign_wire::{CliMessage, HostMessage, Json};
use serde_json::Value;
use support::{novelties, reply_findings};

/// Folder of the recordings, one folder for each version in it and `newest` for the newest of them.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire")
}

/// Returns the version whose protocol the types follow: nothing in it may be unknown.
fn current() -> String {
    let target = fs::read_link(fixtures().join("newest")).unwrap();
    target.to_str().unwrap().to_owned()
}

struct Recorded {
    cli: String,
    file: String,
    entries: Vec<recording::Entry>,
}

fn recordings() -> Vec<Recorded> {
    let folder = |path: PathBuf| {
        fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    // `newest` is one of them by another name.
    let versions = folder(fixtures()).filter(|path| !path.is_symlink());
    let files = versions.flat_map(folder);
    files.map(|path| read(&path)).collect()
}

fn read(path: &Path) -> Recorded {
    let text = fs::read(path).unwrap();
    let mut lines = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let header = recording::header(lines.next().unwrap()).unwrap();
    Recorded {
        cli: header.cli,
        file: path.file_name().unwrap().to_string_lossy().into_owned(),
        entries: lines.map(|line| recording::entry(line).unwrap()).collect(),
    }
}

/// Decodes a line; says what is broken or new in it.
fn line_findings<M: Message>(line: &[u8], found: &mut Vec<String>) -> Option<M> {
    let message: M = match decode(line) {
        Ok(message) => message,
        Err(error) => {
            found.push(error.to_string());
            return None;
        }
    };
    found.extend(novelties(&message));
    let original: Value = serde_json::from_slice(line).unwrap();
    let written = to_line(&message).unwrap();
    assert!(written.is_ascii());
    if serde_json::from_slice::<Value>(&written).unwrap() != original {
        found.push("round trip is not lossless".to_owned());
    }
    if original["type"] != *Route::of(line).unwrap().kind.get() {
        found.push("routed to another type".to_owned());
    }
    Some(message)
}

fn tool_findings(name: &str, input: &Json, found: &mut Vec<String>) {
    match ToolInput::view(name, input) {
        Ok(view) => {
            found.extend(
                novelties(&view)
                    .into_iter()
                    .map(|n| format!("{n} in {name}")),
            );
            if serde_json::to_value(&view).unwrap() != input.to_value().unwrap() {
                found.push(format!("view of {name} is not lossless"));
            }
        }
        Err(error) => found.push(format!("input of {name} does not fit: {error}")),
    }
}

/// What is broken or new in one recording, line by line.
fn findings(recorded: &Recorded) -> Vec<String> {
    let mut report = Vec::new();
    let mut asked: HashMap<String, String> = HashMap::new();
    for entry in &recorded.entries {
        let mut found = Vec::new();
        match entry.direction {
            Direction::Out => match line_findings::<CliMessage>(&entry.line, &mut found) {
                Some(CliMessage::Assistant(line)) => {
                    for block in &line.message.content {
                        if let ContentBlock::ToolUse(call) = block {
                            tool_findings(&call.name, &call.input, &mut found);
                        }
                    }
                }
                Some(CliMessage::ControlRequest(asks)) => {
                    asked.insert(asks.request_id.to_string(), asks.request.tag().to_owned());
                    if let CliRequest::CanUseTool(ask) = &asks.request {
                        tool_findings(&ask.tool_name, &ask.input, &mut found);
                    }
                }
                Some(CliMessage::ControlResponse(answer)) => {
                    answer_findings(&asked, &answer.response, &mut found);
                }
                _ => {}
            },
            Direction::In => match line_findings::<HostMessage>(&entry.line, &mut found) {
                Some(HostMessage::ControlRequest(asks)) => {
                    asked.insert(asks.request_id.to_string(), asks.request.tag().to_owned());
                    // The host of a recording asks nonsense on purpose, to see what the CLI says to it.
                    found.retain(|finding| !finding.starts_with("unknown"));
                }
                Some(HostMessage::ControlResponse(answer)) => {
                    answer_findings(&asked, &answer.response, &mut found);
                }
                _ => {}
            },
            _ => continue,
        }
        let name = Route::of(&entry.line)
            .map(|route| route.name())
            .unwrap_or_default();
        let place = format!("{} {} {name}", recorded.cli, recorded.file);
        report.extend(
            found
                .into_iter()
                .map(|finding| format!("{place}: {finding}")),
        );
    }
    report
}

fn answer_findings(
    asked: &HashMap<String, String>,
    outcome: &ControlOutcome,
    found: &mut Vec<String>,
) {
    let ControlOutcome::Success(success) = outcome else {
        return;
    };
    let id = success
        .request_id
        .as_ref()
        .map(|id| id.as_str())
        .unwrap_or_default();
    if let (Some(subtype), Some(reply)) = (asked.get(id), &success.response) {
        let findings = reply_findings(subtype, reply);
        found.extend(
            findings
                .into_iter()
                .map(|f| format!("{f} in the reply to {subtype}")),
        );
    }
}

/// Returns the findings that `keep` holds for, in the recordings of the versions that `is_wanted` holds for.
fn report(is_wanted: impl Fn(&str) -> bool, keep: impl Fn(&str) -> bool) -> String {
    let recordings = recordings().into_iter();
    let mut report: Vec<String> = recordings
        .filter(|recorded| is_wanted(&recorded.cli))
        .flat_map(|recorded| findings(&recorded))
        .filter(|finding| keep(finding))
        .collect();
    report.sort();
    report.dedup();
    report.join("\n")
}

#[test]
fn every_recorded_line_decodes_and_round_trips() {
    assert_eq!(
        report(|_| true, |finding| !finding.contains(": unknown")),
        ""
    );
}

#[test]
fn nothing_of_the_current_version_is_unknown() {
    let current = current();
    assert_eq!(
        report(
            |cli| cli == current,
            |finding| finding.contains(": unknown")
        ),
        ""
    );
}

#[test]
fn every_tested_version_is_recorded() {
    let recordings = recordings();
    for cli in [
        &*current(),
        "2.1.200",
        "2.1.62",
        "2.0.75",
        "2.0.30",
        "1.0.128",
    ] {
        let lines: usize = recordings
            .iter()
            .filter(|recorded| recorded.cli == cli)
            .map(|recorded| recorded.entries.len())
            .sum();
        assert!(lines > 300, "{cli}: {lines} lines");
    }
}
