//! Why there is nothing to play: what is written instead, and the exit code.
//!
//! Owns the form of the CLI's errors. Asking for the version or the help ends the same way, with code 0.

use super::table::Flag;

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

    pub(super) fn unknown_option(word: &str) -> Self {
        Self::saying(format!("error: unknown option '{word}'"))
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
