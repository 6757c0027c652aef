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

impl From<UserMessage> for HostMessage {
    fn from(message: UserMessage) -> Self {
        Self::User(Box::new(message))
    }
}

impl From<HostControlRequest> for HostMessage {
    fn from(request: HostControlRequest) -> Self {
        Self::ControlRequest(Box::new(request))
    }
}

impl From<ControlResponse> for HostMessage {
    fn from(response: ControlResponse) -> Self {
        Self::ControlResponse(Box::new(response))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;
    use crate::control::{Interrupt, SetPermissionMode};
    use crate::permission::PermissionResult;
    use crate::vocab::PermissionMode;
    use crate::write::to_line;

    fn line(message: impl Into<HostMessage>) -> String {
        String::from_utf8(to_line(&message.into()).unwrap()).unwrap()
    }

    #[test]
    fn what_a_host_says_most_is_short_to_write() {
        insta::assert_snapshot!(
            line(UserMessage::prompt("Grüße")),
            @r#"{"type":"user","message":{"role":"user","content":"Gr\u00fc\u00dfe"},"parent_tool_use_id":null}"#
        );
        insta::assert_snapshot!(
            line(HostControlRequest::new("r1", Interrupt::default())),
            @r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#
        );
        let mode = SetPermissionMode {
            mode: PermissionMode::Plan,
            extra: Extra::default(),
        };
        insta::assert_snapshot!(
            line(HostControlRequest::new("r2", mode)),
            @r#"{"type":"control_request","request_id":"r2","request":{"subtype":"set_permission_mode","mode":"plan"}}"#
        );
    }

    #[test]
    fn answers_have_the_form_that_every_version_takes() {
        let input: Json = serde_json::from_str(r#"{"command":"ls"}"#).unwrap();
        let allow = ControlResponse::success("r3", &PermissionResult::allow(input)).unwrap();
        insta::assert_snapshot!(
            line(allow),
            @r#"{"type":"control_response","response":{"subtype":"success","request_id":"r3","response":{"behavior":"allow","updatedInput":{"command":"ls"}}}}"#
        );
        let deny = ControlResponse::success("r4", &PermissionResult::deny("not now")).unwrap();
        insta::assert_snapshot!(
            line(deny),
            @r#"{"type":"control_response","response":{"subtype":"success","request_id":"r4","response":{"behavior":"deny","message":"not now"}}}"#
        );
        insta::assert_snapshot!(
            line(ControlResponse::error("r5", "not known here")),
            @r#"{"type":"control_response","response":{"subtype":"error","request_id":"r5","error":"not known here"}}"#
        );
    }
}
