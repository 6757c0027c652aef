//! Which lines a CLI survives on its stdin.
//!
//! Owns the stdin table: for each kind of line, from which version on it may be written. Invariant: what is not listed
//! as harmless for a version is not sent to it.

use super::Capabilities;
use super::measured::*;

/// The kinds of lines a host may want to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StdinKind {
    /// `user`, with a message of role `user`.
    User,
    /// `control_request` with a `request`.
    ControlRequest,
    /// `control_response` with a `response`.
    ControlResponse,
    /// `control_cancel_request`.
    ControlCancelRequest,
    /// `keep_alive`.
    KeepAlive,
    /// `update_environment_variables`.
    UpdateEnvironmentVariables,
    /// Any other type.
    Other,
}

impl Capabilities {
    /// Whether a line of this kind leaves the CLI alive.
    pub fn may_send(&self, kind: StdinKind) -> bool {
        match kind {
            StdinKind::User
            | StdinKind::ControlRequest
            | StdinKind::ControlResponse
            | StdinKind::KeepAlive => true,
            StdinKind::ControlCancelRequest => self.may_send_cancel(),
            StdinKind::UpdateEnvironmentVariables => self.may_send_env_update(),
            StdinKind::Other => self.may_send_unknown_type(),
        }
    }

    /// Whether `control_cancel_request` may be written. Up to 2.1.17 it ends the CLI.
    pub fn may_send_cancel(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether `update_environment_variables` may be written. It ends 1.0.128 and 2.0.75.
    pub fn may_send_env_update(&self) -> bool {
        self.since(V2_1_17)
    }

    /// Whether `update_environment_variables` reaches Bash. Seen on 2.1.62 alone; later versions accept it without
    /// effect.
    pub fn env_update_reaches_bash(&self) -> bool {
        self.version == Some(V2_1_62)
    }

    /// Whether a line of an unknown `type`, of `assistant` or `system`, or of bare JSON is ignored. Up to 2.1.17 it
    /// ends the CLI.
    pub fn may_send_unknown_type(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether an empty line is ignored. Up to 2.1.17 it ends the CLI.
    pub fn survives_empty_line(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether a line of blanks is ignored. Up to 2.1.197 it ends the CLI.
    pub fn survives_blank_line(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether a `user` message may have no content blocks (`[]`). 2.0.75 hangs on it and does not even end at EOF.
    pub fn may_send_empty_content(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether a `user` message may have `null` as its content. Before 2.1.62 the CLI ends after the turn.
    pub fn may_send_null_content(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether a `control_response` without `response` is ignored. Up to 2.1.197 it ends the CLI.
    pub fn survives_empty_response(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether a byte order mark before a line is skipped. Up to 2.1.197 it ends the CLI.
    pub fn survives_byte_order_mark(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether raw non-ASCII text arrives whole. The node builds damage a character that straddles two reads, so we
    /// write ASCII to all.
    pub fn reads_raw_utf8(&self) -> bool {
        self.since(V2_1_197)
    }

    /// Whether a line it cannot read comes back on stderr in full, however long. So stderr is always drained.
    pub fn echoes_bad_lines_to_stderr(&self) -> bool {
        !self.since(V2_1_325)
    }

    /// Whether an unknown control request is answered with an error. Up to 2.1.30 there is silence, and a timer is
    /// the only sign.
    pub fn answers_unknown_requests(&self) -> bool {
        self.since(V2_1_45)
    }
}
