//! A scenario: what the model says and what the host does, in one readable file.
//!
//! Owns the file's language and nothing that runs it. Parsing is pure; every error names line and column.
//! The format is described in `docs/recordings.md`.

mod drive;
mod guards;
mod header;
mod lex;
mod matcher;

use std::path::{Path, PathBuf};

pub use drive::{Answer, Control, Step, StepKind};
pub use header::Header;
pub use matcher::{Matcher, subtype};

/// A scenario as one version of the CLI plays it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file's name without its ending.
    pub name: String,
    /// The first comment line: what this is about.
    pub about: String,
    /// Flags, environment, files.
    pub header: Header,
    /// The scripted model's part, in the language of `rehearsal`.
    pub model: String,
    /// The host's part.
    pub steps: Vec<Step>,
}

/// What is wrong with a scenario file, and where.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {what}")]
pub struct ScenarioError {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// What was expected instead.
    pub what: String,
}

impl ScenarioError {
    fn at(line: usize, column: usize, what: impl Into<String>) -> Self {
        ScenarioError {
            line,
            column,
            what: what.into(),
        }
    }
}

/// Why a scenario could not be had from a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: `record --list` names the scenarios there are", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is wrong.
    #[error("{}, {error}", .path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        error: ScenarioError,
    },
}

impl Scenario {
    /// Parses a scenario for one version; `None` if the scenario is not for that version.
    pub fn parse(name: &str, text: &str, version: &str) -> Result<Option<Scenario>, ScenarioError> {
        let about = match text.lines().next().and_then(|line| line.strip_prefix("# ")) {
            Some(about) => about.trim().to_owned(),
            None => {
                return Err(ScenarioError::at(
                    1,
                    1,
                    "expected a comment that says what it is about",
                ));
            }
        };
        let text = guards::for_version(text, version)?;
        let parts = Parts::split(&text)?;
        let header = header::parse(&parts.header)?;
        if !guards::begins_with(header.from.as_deref(), version) {
            return Ok(None);
        }
        let steps = drive::parse(&parts.drive)?;
        Ok(Some(Scenario {
            name: name.to_owned(),
            about,
            header,
            model: parts.model,
            steps,
        }))
    }

    /// Reads and parses a scenario file.
    pub fn load(path: &Path, version: &str) -> Result<Option<Scenario>, LoadError> {
        let text = std::fs::read_to_string(path).map_err(|source| LoadError::Io {
            path: path.to_owned(),
            source,
        })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Scenario::parse(&name, &text, version).map_err(|error| LoadError::Parse {
            path: path.to_owned(),
            error,
        })
    }
}

/// The scenario files of this crate, by name.
pub fn all() -> std::io::Result<Vec<PathBuf>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "scenario"));
    files.sort();
    Ok(files)
}

/// A line with its number.
type Numbered<'a> = (usize, &'a str);

/// The three parts of a file, each line with its number in the file.
struct Parts<'a> {
    header: Vec<Numbered<'a>>,
    model: String,
    drive: Vec<Numbered<'a>>,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, ScenarioError> {
        let mut parts = Parts {
            header: Vec::new(),
            model: String::new(),
            drive: Vec::new(),
        };
        let mut section = None;
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(name) = guards::section(line) {
                match name {
                    "model" | "drive" => section = Some(name),
                    _ => {
                        let what = format!("expected [model] or [drive], not [{name}]");
                        return Err(ScenarioError::at(number, 1, what));
                    }
                }
                continue;
            }
            match section {
                None => parts.header.push((number, line)),
                Some("model") => {
                    parts.model.push_str(line);
                    parts.model.push('\n');
                }
                Some(_) => parts.drive.push((number, line)),
            }
        }
        Ok(parts)
    }
}

/// Lines that say something: no comments, no blank ones, `\` at the end joins the next.
fn statements(lines: &[Numbered<'_>]) -> Vec<(usize, String)> {
    let mut statements: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in lines {
        let trimmed = line.trim();
        if !open && (trimmed.is_empty() || trimmed.starts_with('#')) {
            continue;
        }
        let (text, more) = match trimmed.strip_suffix('\\') {
            Some(text) => (text, true),
            None => (trimmed, false),
        };
        match statements.last_mut() {
            Some((_, joined)) if open => joined.push_str(text),
            _ => statements.push((*number, text.to_owned())),
        }
        open = more;
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "# One turn.\nflags --max-turns 3\n\n[model]\nreply\n  say \"Hello.\"\n[drive]\nsend \"Hi\"\nexpect result/success\n";

    #[test]
    fn a_file_has_a_subject_a_header_a_model_and_steps() {
        let scenario = Scenario::parse("plain", PLAIN, "2.1.62").unwrap().unwrap();
        assert_eq!(scenario.about, "One turn.");
        assert_eq!(scenario.header.flags, ["--max-turns", "3"]);
        assert_eq!(scenario.model.trim(), "reply\n  say \"Hello.\"");
        assert_eq!(
            scenario
                .steps
                .iter()
                .map(|step| step.line)
                .collect::<Vec<_>>(),
            [8, 9]
        );
    }

    #[test]
    fn a_scenario_for_other_versions_is_none() {
        let text = PLAIN.replace("flags", "from 2.1.62\nflags");
        assert!(Scenario::parse("plain", &text, "2.0.75").unwrap().is_none());
        assert!(
            Scenario::parse("plain", &text, "2.1.200")
                .unwrap()
                .is_some()
        );
    }

    #[test]
    fn an_unknown_section_and_a_missing_subject_are_refused() {
        let error =
            Scenario::parse("x", &PLAIN.replace("[drive]", "[host]"), "2.0.75").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 7, column 1: expected [model] or [drive], not [host]"
        );
        assert_eq!(
            Scenario::parse("x", "flags -x", "2.0.75").unwrap_err().line,
            1
        );
    }

    #[test]
    fn a_backslash_joins_lines_and_keeps_the_first_number() {
        let lines = [(3, "send \\"), (4, "  \"a\""), (5, "# no"), (6, "close")];
        assert_eq!(
            statements(&lines),
            [(3, "send \"a\"".to_owned()), (6, "close".to_owned())]
        );
    }

    #[test]
    fn every_scenario_of_this_crate_parses_for_every_version() {
        let files = all().unwrap();
        for file in files {
            for pinned in crate::fetch::pinned() {
                Scenario::load(&file, pinned.version).unwrap();
            }
        }
    }
}
