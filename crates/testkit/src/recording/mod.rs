//! What crossed the wire of one scenario on one version, as it is stored in
//! `fixtures/wire/<version>/<scenario>.ndjson`.
//!
//! Owns the file format (described in `docs/recordings.md`), and with its parts the normalisation before
//! storing and the comparison of two runs. Invariant: what is read back is what was written, long
//! repeats included.

mod figures;
mod ids;
pub mod normalise;
mod prose;
mod repeat;
mod shape;

use std::path::{Path, PathBuf};

pub use countersign_wire::recording::Direction as Dir;
pub use shape::shape;

use countersign_wire::recording;

use crate::json::Json;

/// One scenario played on one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The CLI's version.
    pub cli: String,
    /// The scenario's name.
    pub scenario: String,
    /// In order.
    pub entries: Vec<Entry>,
}

/// One line, or the start or end of a CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Milliseconds since the scenario began.
    pub at: u64,
    /// What it is.
    pub dir: Dir,
    /// The line without its newline, repeats expanded.
    pub bytes: Vec<u8>,
}

/// Why a recording could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read or written.
    #[error("cannot access {}: `cargo xtask record` writes the recordings", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not of the format.
    #[error("{}, line {line}: {what}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
}

impl Recording {
    /// Where the recordings of this workspace are.
    pub fn fixtures() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire")
    }

    /// The file of a scenario on a version, below a folder like [`Recording::fixtures`].
    pub fn path(below: &Path, cli: &str, scenario: &str) -> PathBuf {
        below.join(cli).join(format!("{scenario}.ndjson"))
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Recording, RecordingError> {
        let text = std::fs::read_to_string(path).map_err(|source| RecordingError::Io {
            path: path.to_owned(),
            source,
        })?;
        Recording::parse(&text).map_err(|(line, what)| RecordingError::Format {
            path: path.to_owned(),
            line,
            what,
        })
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, path: &Path) -> Result<(), RecordingError> {
        let failed = |source| RecordingError::Io {
            path: path.to_owned(),
            source,
        };
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(failed)?;
        }
        std::fs::write(path, self.to_ndjson()).map_err(failed)
    }

    /// The lines of the CLI's stdout, in order.
    pub fn stdout(&self) -> impl Iterator<Item = &[u8]> {
        self.entries
            .iter()
            .filter(|entry| entry.dir == Dir::Out)
            .map(|entry| &*entry.bytes)
    }

    /// Whether two recordings differ in nothing but times.
    pub fn same_lines(&self, other: &Recording) -> bool {
        let lines = |recording: &Recording| -> Vec<(Dir, Vec<u8>)> {
            recording
                .entries
                .iter()
                .map(|entry| (entry.dir, entry.bytes.clone()))
                .collect()
        };
        self.cli == other.cli && self.scenario == other.scenario && lines(self) == lines(other)
    }

    /// This recording with the times of an older one, if the two go line by line: a diff then shows what was said
    /// differently, not when.
    pub fn with_times_of(mut self, older: &Recording) -> Recording {
        let kinds = |recording: &Recording| -> Vec<Dir> {
            recording.entries.iter().map(|entry| entry.dir).collect()
        };
        if kinds(&self) == kinds(older) {
            for (entry, older) in self.entries.iter_mut().zip(&older.entries) {
                entry.at = older.at;
            }
        }
        self
    }

    /// The file's content.
    pub fn to_ndjson(&self) -> String {
        let header = Json::object([
            ("recording", Json::from(recording::FORMAT)),
            ("cli", Json::from(&*self.cli)),
            ("scenario", Json::from(&*self.scenario)),
        ]);
        let mut text = format!("{header}\n");
        for entry in &self.entries {
            let body = match Json::parse_object(&entry.bytes) {
                Some(line) => ("line", repeat::shrink(line)),
                None => (
                    "text",
                    repeat::shrink(Json::from(&*String::from_utf8_lossy(&entry.bytes))),
                ),
            };
            let entry = Json::object([
                ("at", Json::from(entry.at)),
                ("dir", Json::from(entry.dir.name())),
                body,
            ]);
            text.push_str(&format!("{entry}\n"));
        }
        text
    }

    fn parse(text: &str) -> Result<Recording, (usize, String)> {
        let mut lines = (1..).zip(text.lines());
        let (_, first) = lines.next().ok_or((1, "the file is empty".to_owned()))?;
        let header = recording::header(first.as_bytes())
            .filter(|header| header.recording == recording::FORMAT);
        let header = header.ok_or_else(|| {
            let expected = format!(
                "expected {{\"recording\":{},…}} as the first line",
                recording::FORMAT
            );
            (1, expected)
        })?;
        let entries = lines.map(|(number, line)| {
            let entry =
                recording::entry(line.as_bytes()).map_err(|error| (number, error.to_string()))?;
            Ok(Entry {
                at: entry.at,
                dir: entry.direction,
                bytes: entry.line,
            })
        });
        Ok(Recording {
            cli: header.cli,
            scenario: header.scenario,
            entries: entries.collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let long = format!(
            r#"{{"z":1,"type":"user","text":"{}"}}"#,
            "x".repeat(5_000_000)
        );
        let entry = |at, dir, line: &str| Entry {
            at,
            dir,
            bytes: line.as_bytes().to_vec(),
        };
        Recording {
            cli: "2.1.62".into(),
            scenario: "large".into(),
            entries: vec![
                entry(0, Dir::Run, "--flag x"),
                entry(3, Dir::In, r#"{"type":"user"}"#),
                entry(9, Dir::Out, &long),
                entry(9, Dir::Err, "a warning"),
                entry(10, Dir::End, "0"),
            ],
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_is_small() {
        let text = recording().to_ndjson();
        assert!(text.len() < 1000, "{} bytes", text.len());
        assert_eq!(Recording::parse(&text).unwrap(), recording());
    }

    #[test]
    fn only_times_may_differ_between_the_same_lines() {
        let mut later = recording();
        later.entries[1].at += 5;
        assert!(recording().same_lines(&later));
        later.entries[3].bytes.push(b'!');
        assert!(!recording().same_lines(&later));
    }

    #[test]
    fn times_of_an_older_recording_are_kept_while_the_lines_correspond() {
        let mut later = recording();
        later.entries.iter_mut().for_each(|entry| entry.at += 5);
        assert_eq!(later.clone().with_times_of(&recording()), recording());
        later.entries.remove(1);
        assert_eq!(later.clone().with_times_of(&recording()), later);
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line() {
        let header = "{\"recording\":1,\"cli\":\"c\",\"scenario\":\"s\"}\n";
        for (text, line) in [
            (String::new(), 1),
            ("{\"recording\":2}\n".to_owned(), 1),
            (
                format!("{header}{{\"at\":1,\"dir\":\"up\",\"text\":\"x\"}}"),
                2,
            ),
            (
                format!(
                    "{header}{{\"at\":1,\"dir\":\"out\",\"text\":\"x\"}}\n{{\"at\":1,\"dir\":\"out\"}}"
                ),
                3,
            ),
        ] {
            assert_eq!(Recording::parse(&text).unwrap_err().0, line, "{text}");
        }
    }
}
