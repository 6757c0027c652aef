//! Which control requests a version has.
//!
//! Owns the table of host → CLI requests. Whether a missing one is answered at all is
//! [`Capabilities::answers_unknown_requests`].

use super::measured::*;
use super::{Capabilities, Span, Support};

/// In every version.
const ALWAYS: &[&str] = &["initialize", "interrupt", "set_permission_mode"];

/// Measured from 2.0.75 on.
const SINCE_2_0_75: &[&str] = &[
    "set_model",
    "set_max_thinking_tokens",
    "mcp_status",
    "mcp_set_servers",
    "mcp_message",
    "rewind_files",
];

/// Measured on 2.1.62, not there on 2.0.75.
const SINCE_2_1_62: &[&str] = &[
    "mcp_reconnect",
    "mcp_toggle",
    "apply_flag_settings",
    "stop_task",
];

/// In no version, or asked by the CLI only.
const NEVER: &[&str] = &[
    "set_color",
    "list_directory",
    "start_shell_task",
    "can_use_tool",
    "hook_callback",
    "elicitation",
    "ping",
];

impl Capabilities {
    /// Whether this CLI has a control request. What the table does not list is as new as the newest version measured.
    pub fn has_control(&self, subtype: &str) -> Support {
        if NEVER.contains(&subtype) {
            return Support::No;
        }
        let span = if ALWAYS.contains(&subtype) {
            Span::ALWAYS
        } else if SINCE_2_0_75.contains(&subtype) {
            Span {
                without: Some(super::Version::new(0, 0, 0)),
                with: Some(V2_0_75),
            }
        } else if SINCE_2_1_62.contains(&subtype) {
            Span::new(V2_0_75, V2_1_62)
        } else if subtype == "end_session" {
            Span::new(V2_1_62, V2_1_197)
        } else {
            Span::new(V2_1_62, V2_1_325)
        };
        span.support(self.version)
    }
}
