//! System messages about hooks that run as commands. Callbacks to the host print none.

use countersign_wire_derive::Wire;

use crate::ids::{MessageUuid, SessionId};
use crate::open::open_enum;
use crate::{Extra, Num};

/// A hook began.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("label", "plugin_name", "origin",))]
pub struct HookStarted {
    /// Id of this hook run. Older CLIs leave it out.
    pub hook_id: Option<String>,
    /// Hook label.
    pub hook_name: String,
    /// Hook event name.
    pub hook_event: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Output of a hook that is still running.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("backgrounded",))]
pub struct HookProgress {
    /// Id of this hook run. Older CLIs leave it out.
    pub hook_id: Option<String>,
    /// Hook label.
    pub hook_name: String,
    /// Hook event name.
    pub hook_event: String,
    /// Captured stdout.
    pub stdout: String,
    /// Captured stderr.
    pub stderr: String,
    /// Captured output.
    pub output: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How a hook ended.
    pub enum HookOutcome {
        Success = "success",
        Error = "error",
        Cancelled = "cancelled",
    }
}

/// A hook ended.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HookResponse {
    /// Id of this hook run. Older CLIs leave it out.
    pub hook_id: Option<String>,
    /// Hook label.
    pub hook_name: String,
    /// Hook event name.
    pub hook_event: String,
    /// Captured output.
    pub output: String,
    /// Captured stdout.
    pub stdout: String,
    /// Captured stderr.
    pub stderr: String,
    /// Process exit code.
    pub exit_code: Option<Num>,
    /// Success, error or cancelled.
    pub outcome: HookOutcome,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}
