//! What the host says: the lines on the CLI's stdin.
//!
//! Owns [`HostMessage`]. A line the CLI's version does not know may end its process (2.0.75 dies of any unknown
//! type), so a host writes only what is typed here, and nothing else.

use std::collections::BTreeMap;

use countersign_wire_derive::Wire;

use crate::cli::{KeepAlive, UserMessage};
use crate::control::{ControlCancelRequest, ControlResponse, HostControlRequest};
use crate::ids::RequestId;
use crate::{Extra, Kept};

/// One line of the CLI's stdin.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "type", internal = INTERNAL_HOST_TYPES)]
#[non_exhaustive]
pub enum HostMessage {
    /// A prompt.
    #[wire("user")]
    User(Box<UserMessage>),
    /// The host asks the CLI something.
    #[wire("control_request")]
    ControlRequest(Box<HostControlRequest>),
    /// The host's answer to a request of the CLI.
    #[wire("control_response")]
    ControlResponse(Box<ControlResponse>),
    /// The host withdraws a request of its own. Kills 2.0.75; does not withdraw an approval on any version.
    #[wire("control_cancel_request")]
    ControlCancelRequest(ControlCancelRequest),
    /// A heartbeat; ignored.
    #[wire("keep_alive")]
    KeepAlive(KeepAlive),
    /// Changes environment variables. Without effect on 2.1.325, kills 2.0.75.
    #[wire("update_environment_variables")]
    UpdateEnvironmentVariables(UpdateEnvironmentVariables),
    /// A type that is known by name only.
    #[wire(internal)]
    Internal(Kept),
    /// A type this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// Types that are recognised, their bodies kept: internal ones, and those the CLI reads without declaring them.
pub const INTERNAL_HOST_TYPES: &[&str] = &[
    "bash_command",
    "queued_notification",
    "session_notice",
    "assistant",
    "system",
    "workflow_launch",
];

/// Changes environment variables.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UpdateEnvironmentVariables {
    /// Names and values.
    pub variables: BTreeMap<String, String>,
    /// Asks for an acknowledgement.
    pub request_id: Option<RequestId>,
    /// Fields this build does not know.
    pub extra: Extra,
}
