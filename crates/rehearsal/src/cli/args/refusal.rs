//! Why there is nothing to play: what is written instead, and the exit code.
//!
//! Owns the form of the CLI's errors. Asking for the version or the help ends the same way, with code 0.

use super::similar;
use super::table::{self, Flag};
use crate::cli::version::Version;

/// The end before the beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Refusal {
    /// The exit code.
    pub(in crate::cli) code: u8,
    /// What goes to stdout, with its newline.
    pub(in crate::cli) stdout: String,
    /// What goes to stderr, with its newline.
    pub(in crate::cli) stderr: String,
}

impl Refusal {
    /// A refusal with these words, as they are.
    pub(in crate::cli) fn saying(text: impl Into<String>) -> Self {
        let mut stderr = text.into();
        stderr.push('\n');
        Self {
            code: 1,
            stdout: String::new(),
            stderr,
        }
    }

    /// A refusal of a line that was understood, and cannot be followed.
    pub(in crate::cli) fn error(text: impl AsRef<str>) -> Self {
        Self::saying(format!("Error: {}", text.as_ref()))
    }

    /// What was asked for, in place of a session.
    pub(super) fn told(stdout: String) -> Self {
        Self {
            code: 0,
            stdout,
            stderr: String::new(),
        }
    }

    /// The same, after lines that were said before.
    pub(super) fn after(mut self, said: &[String]) -> Self {
        let said: String = said.iter().map(|line| format!("{line}\n")).collect();
        self.stderr.insert_str(0, &said);
        self
    }

    pub(super) fn unknown_option(word: &str, version: Version) -> Self {
        let shown = table::known(version).filter(|flag| flag.is_shown());
        // The spelling that stands last is the one that is proposed.
        let candidates = shown.map(Flag::name).chain(["--help"]);
        let near = similar::nearest(word, candidates);
        let hint = match near.as_slice() {
            [] => String::new(),
            [one] => format!("\n(Did you mean {one}?)"),
            several => format!("\n(Did you mean one of {}?)", several.join(", ")),
        };
        Self::saying(format!("error: unknown option '{word}'{hint}"))
    }

    pub(super) fn missing_value(flag: &Flag) -> Self {
        Self::saying(format!("error: option '{}' argument missing", flag.usage))
    }

    pub(super) fn invalid_value(flag: &Flag, value: &str, why: &str) -> Self {
        let usage = flag.usage;
        Self::saying(format!(
            "error: option '{usage}' argument '{value}' is invalid. {why}"
        ))
    }
}
