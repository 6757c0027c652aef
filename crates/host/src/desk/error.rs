//! What keeps a session from being set up.
//!
//! Owns [`DeskError`]. Every message says what would be right.

use std::path::PathBuf;

use countersign_client::options::{LocateError, OLDEST_SUPPORTED, OptionError, Version};
use countersign_policy::RuleError;

/// Why a session cannot be set up as it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeskError {
    /// A folder is named from nowhere.
    #[error("{} is no whole path: name the folder from the root on", .0.display())]
    NotWhole(PathBuf),
    /// The agent would work among our own files.
    #[error("{} belongs to countersign itself: choose another folder", .0.display())]
    Ours(PathBuf),
    /// A variable that no process can have.
    #[error("`{0}` is no name of a variable, or its value holds a zero byte")]
    BadVariable(String),
    /// An MCP server that cannot be read.
    #[error("the MCP server `{name}` cannot be read ({why}): write it as in .mcp.json")]
    BadServer {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// An option that makes no sense.
    #[error("`{option}` is not taken: {why}")]
    BadOption {
        /// Which.
        option: &'static str,
        /// What would be right.
        why: String,
    },
    /// An option that the CLI of the session does not have.
    #[error(
        "Claude Code {version} does not have `{option}`: leave it out, or use {since} or later"
    )]
    NotInVersion {
        /// Which.
        option: &'static str,
        /// The version there is.
        version: Version,
        /// The first version that has it.
        since: Version,
    },
    /// A hook that cannot be taken.
    #[error("the hook for `{event}` is not taken: {why}")]
    BadHook {
        /// When it would run.
        event: String,
        /// What is wrong.
        why: String,
    },
    /// A sub-agent that cannot be taken.
    #[error("the agent `{name}` is not taken: {why}")]
    BadAgent {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// A budget that is none.
    #[error("{0} is no budget: give an amount above zero")]
    BadBudget(f64),
    /// A text that is no rule.
    #[error(transparent)]
    BadRule(#[from] RuleError),
    /// A rule for a moment that is over, or that no clock shows.
    #[error("a rule cannot end at {0}: give a moment to come, in microseconds of Unix time")]
    BadMoment(u64),
    /// There is no CLI.
    #[error(transparent)]
    NoCli(#[from] LocateError),
    /// A CLI that is older than all that were measured.
    #[error(
        "claude {0} is too old: install {OLDEST_SUPPORTED} or a newer one (`claude update`), and start again"
    )]
    TooOld(Version),
    /// A CLI that is too old for what is asked of it.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// What is trusted cannot be kept.
    #[error("this cannot be trusted: {0}")]
    NotTrusted(String),
}

impl From<DeskError> for crate::control::ControlError {
    fn from(error: DeskError) -> Self {
        Self::invalid(error.to_string())
    }
}
