//! Why a play failed: which step, and what was last on the wire. Written for the person who fixes the
//! scenario, so it shows lines, not structures.

use std::fmt;

use countersign_rehearsal::model;

use crate::recording::{Dir, Entry};
use crate::sandbox::SandboxError;
use crate::scenario::{Scenario, Step};

/// How many lines of the wire and of stderr an error shows, and how much of each.
const SHOWN_LINES: usize = 12;
const SHOWN_CHARS: usize = 240;

/// A play that failed.
#[derive(Debug, thiserror::Error)]
pub struct DriveError {
    scenario: String,
    step: Option<(usize, String)>,
    /// What went wrong.
    pub why: Why,
    wire: Vec<String>,
    stderr: Vec<String>,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// The sandbox could not be made, or the CLI not be started.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The model's part does not parse.
    #[error("the [model] part is wrong (lines count from [model]): {0}")]
    Script(#[from] model::ParseError),
    /// The model did not start.
    #[error("the scripted model did not start: {0}")]
    Start(#[from] model::StartError),
    /// The wire and the model's script do not fit: replies left over or requests with none.
    #[error("the model's script does not fit what was asked:{0}")]
    Model(String),
    /// No such line came in time.
    #[error("no such line within {0:?}")]
    NoLine(std::time::Duration),
    /// The CLI ended while a line was awaited.
    #[error("the CLI ended (exit {0:?}) before such a line")]
    EndedEarly(Option<i32>),
    /// The CLI did not end in time.
    #[error("the CLI did not end within {0:?}")]
    NoEnd(std::time::Duration),
    /// The CLI ended in another way.
    #[error("the CLI ended with {found:?}, not {wanted}")]
    ExitCode {
        /// What the step wants.
        wanted: i32,
        /// What it was; none for a signal.
        found: Option<i32>,
    },
    /// A step speaks of something that is not there.
    #[error("{0}")]
    Unknown(String),
    /// The CLI reads no more.
    #[error("the CLI no longer reads its stdin")]
    Deaf,
    /// No CLI is running, or one still is.
    #[error("{0}")]
    NotRunning(&'static str),
    /// The process could not be waited for.
    #[error("cannot wait for the CLI")]
    Wait(#[from] std::io::Error),
}

impl DriveError {
    pub(super) fn before(scenario: &Scenario, why: Why) -> Self {
        DriveError::after(scenario, why, &[])
    }

    pub(super) fn after(scenario: &Scenario, why: Why, entries: &[Entry]) -> Self {
        let (wire, stderr) = (
            shown(entries, |dir| dir != Dir::Err),
            shown(entries, |dir| dir == Dir::Err),
        );
        DriveError {
            scenario: scenario.name.clone(),
            step: None,
            why,
            wire,
            stderr,
        }
    }

    pub(super) fn at(scenario: &Scenario, step: &Step, why: Why, entries: &[Entry]) -> Self {
        let step = Some((step.line, step.text.clone()));
        DriveError {
            step,
            ..DriveError::after(scenario, why, entries)
        }
    }
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.scenario", self.scenario)?;
        if let Some((line, text)) = &self.step {
            write!(f, ", line {line}: {text}\n  ")?;
        } else {
            write!(f, ": ")?;
        }
        write!(f, "{}", self.why)?;
        for (title, lines) in [("last on the wire", &self.wire), ("stderr", &self.stderr)] {
            if !lines.is_empty() {
                write!(f, "\n  {title}:")?;
            }
            for line in lines {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}

fn shown(entries: &[Entry], wanted: impl Fn(Dir) -> bool) -> Vec<String> {
    let lines: Vec<&Entry> = entries.iter().filter(|entry| wanted(entry.dir)).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..]
        .iter()
        .map(|entry| abbreviated(entry))
        .collect()
}

fn abbreviated(entry: &Entry) -> String {
    let text = String::from_utf8_lossy(&entry.bytes);
    let mut short: String = text.chars().take(SHOWN_CHARS).collect();
    if short.len() < text.len() {
        short.push_str(&format!("… ({} bytes)", entry.bytes.len()));
    }
    format!("{:>6} ms {:<3} {short}", entry.at, entry.dir.name())
}
