//! What a host of the suite is told to do: the file that the suite writes and the host reads.
//!
//! Owns the shapes, and starts nothing. The same for every build of the host.

use std::path::PathBuf;

use countersign_keeper::KeeperCommand;
use serde::{Deserialize, Serialize};

use super::task::{self, Task};

/// Everything a host is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// The host's own folder: its lock, its epoch, its outboxes, its decisions.
    pub(crate) state: PathBuf,
    /// The program that runs a keeper.
    pub(crate) keeper: PathBuf,
    /// The variables it is given: above all its habits.
    pub(crate) keeper_env: Vec<(String, String)>,
    /// The sessions it looks after.
    pub(crate) sessions: Vec<Task>,
    /// How it answers.
    pub(crate) decide: Decide,
    /// Where it dies by its own hand, as if by `kill -9`.
    pub(crate) die: Option<Step>,
    /// When it goes, and how.
    pub(crate) leave: Leave,
    /// Starts even if another host holds the folder.
    pub(crate) past_the_lock: bool,
}

impl Orders {
    /// The command that runs a keeper.
    pub(crate) fn keeper_command(&self) -> KeeperCommand {
        KeeperCommand {
            program: self.keeper.clone(),
            args: Vec::new(),
            env: task::pairs(&self.keeper_env),
        }
    }
}

/// How a host answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decide {
    /// Yes to all.
    Allow,
    /// No to all.
    Deny,
    /// Not at all: they stay open.
    Hold,
}

/// The steps of an answer that a host knows of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// A question has come.
    Asked,
    /// The decision is on the disk, and the keeper has not heard of it.
    Decided,
    /// The keeper says that it is written.
    Written,
}

/// When a host goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Leave {
    /// When every message is done: it lets go of the agents, which live on.
    WhenDone,
    /// When every message is done; the agents are ended.
    EndWhenDone,
    /// Never, unless it is killed.
    Never,
    /// With a panic, when so many questions are open.
    PanicAt(usize),
    /// By returning from `main`, when so many questions are open.
    ReturnAt(usize),
}
