//! What the CLI says: the messages on its stdout.
//!
//! Owns [`CliMessage`]. Invariant: every line that is an object with a `type` decodes to a value of it, known or
//! not, unless a known message is broken.

mod assistant;
mod progress;
mod result;
mod stream;
mod system;
mod user;

pub use assistant::*;
pub use progress::*;
pub use result::*;
pub use stream::*;
pub use system::*;
pub use user::*;

use countersign_wire_derive::Wire;

use crate::Kept;
use crate::control::{CliControlRequest, ControlCancelRequest, ControlResponse};

/// One line of the CLI's stdout.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "type", internal = INTERNAL_TYPES)]
#[non_exhaustive]
pub enum CliMessage {
    /// What the model said: one completed block.
    #[wire("assistant")]
    Assistant(Box<AssistantMessage>),
    /// User-role content the CLI adds: tool results, injected texts, replays.
    #[wire("user")]
    User(Box<UserMessage>),
    /// The end of a turn.
    #[wire("result")]
    Result(Box<ResultMessage>),
    /// What the CLI tells about itself.
    #[wire("system")]
    System(SystemMessage),
    /// A raw event of the model's stream.
    #[wire("stream_event")]
    StreamEvent(Box<StreamEventMessage>),
    /// The CLI asks the host something and waits.
    #[wire("control_request")]
    ControlRequest(Box<CliControlRequest>),
    /// The CLI's answer to a request of the host.
    #[wire("control_response")]
    ControlResponse(Box<ControlResponse>),
    /// The CLI withdraws a request of its own.
    #[wire("control_cancel_request")]
    ControlCancelRequest(ControlCancelRequest),
    /// A heartbeat.
    #[wire("keep_alive")]
    KeepAlive(KeepAlive),
    /// A tick while a tool runs.
    #[wire("tool_progress")]
    ToolProgress(Box<ToolProgress>),
    /// A short summary of tool calls.
    #[wire("tool_use_summary")]
    ToolUseSummary(ToolUseSummary),
    /// Progress of a sign-in.
    #[wire("auth_status")]
    AuthStatus(AuthStatus),
    /// The plan-limit status changed.
    #[wire("rate_limit_event")]
    RateLimitEvent(Box<RateLimitEvent>),
    /// A guess at the next prompt.
    #[wire("prompt_suggestion")]
    PromptSuggestion(PromptSuggestion),
    /// The conversation was discarded.
    #[wire("conversation_reset")]
    ConversationReset(ConversationReset),
    /// The state of `/goal` changed.
    #[wire("active_goal")]
    ActiveGoal(ActiveGoal),
    /// What became of a message the host sent. Internal to the CLI, typed because turns are matched by it.
    #[wire("command_lifecycle")]
    CommandLifecycle(CommandLifecycle),
    /// Lines of the stored transcript, for hosts that keep their own copy. Internal to the CLI.
    #[wire("transcript_mirror")]
    TranscriptMirror(TranscriptMirror),
    /// A type that is known by name only.
    #[wire(internal)]
    Internal(Kept),
    /// A type this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// Types that are recognised, their bodies kept.
pub const INTERNAL_TYPES: &[&str] = &["autocompact_state"];
