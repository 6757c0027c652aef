//! What a keeper does that a test may want to leave out.
//!
//! Owns the switches, as a value. The shipped command always uses [`Habits::default`]: nothing in its environment or on
//! its command line changes one.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A moment on the way of a host line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It is in the journal and synced; the agent has not got it.
    Journalled,
    /// The agent has got it; the host has not been told.
    Written,
}

/// What a keeper does. Every field has a default, so a text may name only what differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habits {
    /// Bring grants to the disk before the agent gets them.
    pub sync: bool,
    /// Take each number and each answer once.
    pub numbers: bool,
    /// Have a second process that ends everything if the keeper is killed.
    pub guard: bool,
    /// The build that is told to hosts.
    pub build: String,
    /// A file that gets `seg off` after each sync: what a power loss would leave.
    pub synced_log: Option<PathBuf>,
    /// While this file is there, no sync works.
    pub sync_fails: Option<PathBuf>,
    /// A file with the microseconds to add to the wall clock.
    pub clock: Option<PathBuf>,
    /// Stop (SIGSTOP) at this moment of every answer.
    pub stop_at: Option<Step>,
    /// Stop (SIGSTOP) at this moment of every numbered line.
    pub stop_at_message: Option<Step>,
    /// How often the socket's file is looked for, in milliseconds.
    pub rebind_ms: u64,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            sync: true,
            numbers: true,
            guard: true,
            build: env!("CARGO_PKG_VERSION").to_owned(),
            synced_log: None,
            sync_fails: None,
            clock: None,
            stop_at: None,
            stop_at_message: None,
            rebind_ms: 10_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_only_what_differs() {
        let habits: Habits =
            serde_json::from_str(r#"{"sync":false,"stop_at":"journalled"}"#).unwrap();
        let expected = Habits {
            sync: false,
            stop_at: Some(Step::Journalled),
            ..Habits::default()
        };
        assert_eq!(habits, expected);
        assert_eq!(
            serde_json::from_str::<Habits>("{}").unwrap(),
            Habits::default()
        );
    }
}
