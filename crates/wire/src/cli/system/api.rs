//! System messages about calls of the model's API.

use countersign_wire_derive::Wire;

use crate::ids::{MessageUuid, SessionId};
use crate::open::open_enum;
use crate::vocab::AssistantErrorKind;
use crate::{Extra, Nullable, Num};

/// How long the API stayed silent.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct NoResponse {
    /// How long was waited.
    pub waited_ms: Num,
    /// How long until the retry.
    pub retry_wait_ms: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A call of the API failed and will be tried again.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ApiRetry {
    /// Retry number.
    pub attempt: Num,
    /// Retry cap.
    pub max_retries: Num,
    /// Wait before retry.
    pub retry_delay_ms: Num,
    /// HTTP status; null = no response.
    pub error_status: Nullable<Num>,
    /// Failure category.
    pub error: AssistantErrorKind,
    /// First-byte timeout details.
    pub no_response: Option<NoResponse>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How far a slow request is.
    pub enum ProgressStatus {
        Started = "started",
        ApiRetry = "api_retry",
    }
}

/// Progress of a slow control request, such as `side_question`.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ControlRequestProgress {
    /// Control request in progress.
    pub request_id: String,
    /// Started or `api_retry`.
    pub status: ProgressStatus,
    /// Retry number.
    pub attempt: Option<Num>,
    /// Retry cap.
    pub max_retries: Option<Num>,
    /// Wait before retry.
    pub retry_delay_ms: Option<Num>,
    /// HTTP status or null.
    pub error_status: Nullable<Num>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Which way the model changed.
    pub enum FallbackDirection {
        Retry = "retry",
        Revert = "revert",
        Sticky = "sticky",
    }
}

open_enum! {
    /// How long the change holds.
    pub enum FallbackScope {
        Session = "session",
        Local = "local",
    }
}

/// A refused turn was tried again on another model.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("saw_cyber_refusal", "api_refusal_cyber_verification",))]
pub struct ModelRefusalFallback {
    /// Always refusal.
    pub trigger: String,
    /// Retry (others legacy).
    pub direction: FallbackDirection,
    /// Session-wide or only this response.
    pub scope: Option<FallbackScope>,
    /// Model that refused.
    pub original_model: String,
    /// Model used instead.
    pub fallback_model: String,
    /// API request id or null.
    pub request_id: Nullable<String>,
    /// Refusal category; open set.
    pub api_refusal_category: Nullable<String>,
    /// Refusal prose; display only.
    pub api_refusal_explanation: Nullable<String>,
    /// Uuids to evict from transcript.
    pub retracted_message_uuids: Option<Vec<MessageUuid>>,
    /// Prompt that was refused.
    pub refused_user_message_uuid: Nullable<MessageUuid>,
    /// Text to display.
    pub content: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A turn was refused and not tried again.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ModelRefusalNoFallback {
    /// Model that refused.
    pub original_model: String,
    /// API request id or null.
    pub request_id: Nullable<String>,
    /// Refusal category; open set.
    pub api_refusal_category: Nullable<String>,
    /// Refusal prose; display only.
    pub api_refusal_explanation: Nullable<String>,
    /// Prompt that was refused.
    pub refused_user_message_uuid: Nullable<MessageUuid>,
    /// Text to display.
    pub content: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A running estimate of the thinking tokens.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ThinkingTokens {
    /// Running thinking-token estimate.
    pub estimated_tokens: Num,
    /// Increment in this frame.
    pub estimated_tokens_delta: Num,
    /// Client uuid of prompt being answered.
    pub user_message_uuid: Option<MessageUuid>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}
