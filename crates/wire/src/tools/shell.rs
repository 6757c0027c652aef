//! Inputs of the tools that run and watch commands.

use countersign_wire_derive::Wire;

use crate::ids::TaskId;
use crate::{Extra, Num};

/// Runs a shell command.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct BashInput {
    /// The command.
    pub command: String,
    /// Time limit in milliseconds.
    pub timeout: Option<Num>,
    /// What it is, in words.
    pub description: Option<String>,
    /// Run it in the background.
    pub run_in_background: Option<bool>,
    /// Run it outside the sandbox.
    #[wire(rename = "dangerouslyDisableSandbox")]
    pub dangerously_disable_sandbox: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A web socket to watch.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MonitorSocket {
    /// Web address.
    pub url: String,
    /// Sub-protocols.
    pub protocols: Option<Vec<String>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Watches a command or socket in the background.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MonitorInput {
    /// What it is, in words.
    pub description: String,
    /// Time limit in milliseconds.
    pub timeout_ms: Num,
    /// The command.
    pub command: Option<String>,
    /// Socket to watch.
    pub ws: Option<MonitorSocket>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Ends a background task.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct TaskStopInput {
    /// The task.
    pub task_id: Option<TaskId>,
    /// Older name of the task.
    pub shell_id: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}
