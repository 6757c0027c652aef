//! The recordings of three real CLIs, as a person sees them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_wire::CliMessage;
use countersign_wire::decode::decode;
use countersign_wire::recording::{self, Direction};

use super::{text, toned, view};
use crate::show::Feed;
use crate::term::style::Line;

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/wire")
        .join(version)
}

fn recordings(version: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder(version))
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "ndjson"))
        .collect();
    files.sort();
    assert!(files.len() > 20, "{version} has recordings");
    files
}

/// What is shown of a recording; after each message the tail and the status are asked for, too.
fn played(file: &Path, width: usize, is_verbose: bool) -> Vec<Line> {
    let mut shown = view(width);
    shown.verbose = is_verbose;
    let mut feed = Feed::new(shown);
    let mut lines = Vec::new();
    let content = fs::read(file).unwrap();
    for line in content
        .split(|byte| *byte == b'\n')
        .skip(1)
        .filter(|line| !line.is_empty())
    {
        let entry = recording::entry(line).unwrap();
        if entry.direction != Direction::Out {
            continue;
        }
        let Ok(message) = decode::<CliMessage>(&entry.line) else {
            lines.extend(feed.broken(&entry.line));
            continue;
        };
        lines.extend(feed.take(&message, Duration::from_millis(entry.at)));
        let now = feed.status().words_at(Duration::from_millis(entry.at));
        assert!(!now.is_empty());
        assert!(feed.tail().len() < 100);
    }
    lines.extend(feed.finish());
    lines
}

fn all(version: &str, width: usize) -> String {
    let mut out = String::new();
    for file in recordings(version) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        out += &format!(
            "==== {name}\n{}\n",
            text(&played(&file, width, false), width)
        );
    }
    out
}

#[test]
fn sessions_of_the_newest_in_80_columns() {
    insta::assert_snapshot!(all("newest", 80));
}

#[test]
fn sessions_of_the_newest_in_40_columns() {
    insta::assert_snapshot!(all("newest", 40));
}

#[test]
fn sessions_of_2_1_62_in_80_columns() {
    insta::assert_snapshot!(all("2.1.62", 80));
}

#[test]
fn sessions_of_2_1_62_in_40_columns() {
    insta::assert_snapshot!(all("2.1.62", 40));
}

#[test]
fn sessions_of_2_0_75_in_80_columns() {
    insta::assert_snapshot!(all("2.0.75", 80));
}

#[test]
fn sessions_of_2_0_75_in_40_columns() {
    insta::assert_snapshot!(all("2.0.75", 40));
}

#[test]
fn tones_of_an_edit_and_of_a_denial() {
    let edit = toned(
        &played(&folder("newest").join("write-edit.ndjson"), 80, false),
        80,
    );
    let denied = toned(
        &played(&folder("newest").join("bash-denied.ndjson"), 80, false),
        80,
    );
    insta::assert_snapshot!(format!("{edit}\n{denied}"));
}

#[test]
fn everything_of_a_sub_agent_and_of_thinking_when_verbose() {
    let agent = text(
        &played(&folder("newest").join("sub-agent.ndjson"), 80, true),
        80,
    );
    let thinking = text(
        &played(&folder("newest").join("thinking.ndjson"), 80, true),
        80,
    );
    insta::assert_snapshot!(format!("{agent}\n{thinking}"));
}

#[test]
fn no_recording_shows_a_control_character_or_a_row_too_wide() {
    for version in ["2.0.75", "2.1.62", "newest"] {
        for file in recordings(version) {
            // Megabytes are decoded once.
            let is_large = file.ends_with("large-line.ndjson");
            for width in [20, 40, 80, 200]
                .into_iter()
                .filter(|width| !is_large || *width == 20)
            {
                for line in played(&file, width, width == 80) {
                    assert!(
                        !line.text().contains(char::is_control),
                        "{} {line:?}",
                        file.display()
                    );
                    for row in line.rows(width) {
                        assert!(row.width() <= width, "{} {width} {row:?}", file.display());
                    }
                }
            }
        }
    }
}
