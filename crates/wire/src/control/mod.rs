//! Control requests and their answers: the second conversation on the same pipe.
//!
//! Owns the envelopes and the two enums of requests. Either side may ask; the answer carries the asker's
//! `request_id` inside `response`. Invariant: a request this build does not know is still a value, so that it can be
//! answered with an error and never with silence.

mod ask;
mod cloud;
mod common;
mod context;
mod hooks_listing;
mod info;
mod initialize;
mod mcp;
mod reload;
mod request;
mod session;
mod settings;

pub use ask::*;
pub use cloud::*;
pub use common::*;
pub use context::*;
pub use hooks_listing::*;
pub use info::*;
pub use initialize::*;
pub use mcp::*;
pub use reload::*;
pub use request::*;
pub use session::*;
pub use settings::*;

use countersign_wire_derive::Wire;
use serde::Serialize;

use crate::cli::CliMessage;
use crate::ids::RequestId;
use crate::open::open_enum;
use crate::{Extra, Json, Kept};

/// The CLI asks the host.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CliControlRequest {
    /// Chosen by the CLI; the answer repeats it.
    pub request_id: RequestId,
    /// What it asks.
    pub request: CliRequest,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The host asks the CLI.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HostControlRequest {
    /// Chosen by the host; the answer repeats it.
    pub request_id: RequestId,
    /// What it asks.
    pub request: HostRequest,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// An answer, in either direction.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ControlResponse {
    /// Success or error, with the id of the request.
    pub response: ControlOutcome,
    /// Fields this build does not know.
    pub extra: Extra,
}

impl HostControlRequest {
    /// A request of the host, under an id that the host has not used before.
    pub fn new(request_id: impl Into<RequestId>, request: impl Into<HostRequest>) -> Self {
        Self {
            request_id: request_id.into(),
            request: request.into(),
            extra: Extra::default(),
        }
    }
}

impl ControlResponse {
    /// The answer to a request that was done, such as [`crate::permission::PermissionResult`] to `can_use_tool`.
    ///
    /// # Errors
    /// When `reply` has no JSON form.
    pub fn success(
        request_id: impl Into<RequestId>,
        reply: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        let success = ControlSuccess {
            request_id: Some(request_id.into()),
            response: Some(Json::of(reply)?),
            ..ControlSuccess::default()
        };
        Ok(Self::of(ControlOutcome::Success(success)))
    }

    /// The answer to a request that was refused or is not known. The CLI takes it as a denial where it asked to act.
    pub fn error(request_id: impl Into<RequestId>, error: impl Into<String>) -> Self {
        Self::of(ControlOutcome::Error(ControlError {
            request_id: Some(request_id.into()),
            error: Some(error.into()),
            ..ControlError::default()
        }))
    }

    fn of(response: ControlOutcome) -> Self {
        Self {
            response,
            extra: Extra::default(),
        }
    }
}

/// The sender takes back a request of its own; no answer follows.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ControlCancelRequest {
    /// The request that is no longer wanted.
    pub request_id: RequestId,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// How a request was answered.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "subtype")]
#[non_exhaustive]
pub enum ControlOutcome {
    /// It was done.
    #[wire("success")]
    Success(ControlSuccess),
    /// It was refused or failed.
    #[wire("error")]
    Error(ControlError),
    /// An outcome this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// A request was done.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ControlSuccess {
    /// The request. Absent only if the request had none.
    pub request_id: Option<RequestId>,
    /// The reply; its type follows from the request ([`Request::Reply`]). Some versions leave it out.
    pub response: Option<Json>,
    /// Tool questions still open, on the reply to `initialize`.
    pub pending_permission_requests: Option<Vec<CliMessage>>,
    /// Dialogs still open, on the reply to `initialize`.
    pub pending_user_dialog_requests: Option<Vec<CliMessage>>,
    /// Elicitations still open, on the reply to `initialize`.
    pub pending_elicitation_requests: Option<Vec<CliMessage>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A request was refused or failed.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ControlError {
    /// The request. Absent only if the request had none.
    pub request_id: Option<RequestId>,
    /// What went wrong.
    pub error: Option<String>,
    /// The same as a word for programs (2.1.325).
    pub error_code: Option<ControlErrorCode>,
    /// The model that was refused.
    pub model: Option<String>,
    /// Tool questions still open.
    pub pending_permission_requests: Option<Vec<CliMessage>>,
    /// Dialogs still open.
    pub pending_user_dialog_requests: Option<Vec<CliMessage>>,
    /// Elicitations still open.
    pub pending_elicitation_requests: Option<Vec<CliMessage>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Why a control request failed, as a word for programs.
    pub enum ControlErrorCode {
        InvalidRequest = "invalid_request",
        CatalogUnknown = "catalog_unknown",
        NotFound = "not_found",
        RestrictedByOrg = "restricted_by_org",
        UnavailableForAccount = "unavailable_for_account",
        NotOffered = "not_offered",
        Alias1mDisabled = "alias_1m_disabled",
        Alias1mUnsupported = "alias_1m_unsupported",
        BlockedByHook = "blocked_by_hook",
        HooksUnchecked = "hooks_unchecked",
        HooksUncheckedPluginNotLoaded = "hooks_unchecked_plugin_not_loaded",
        CheckFailed = "check_failed",
        CheckUnreachable = "check_unreachable",
        CheckServerError = "check_server_error",
        CheckRejected = "check_rejected",
        CreditsRequired = "credits_required",
        RateLimit = "rate_limit",
        AuthFailed = "auth_failed",
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        ModelNotCurrent = "model_not_current",
        VerdictPending = "verdict_pending",
        InternalError = "internal_error",
        InvalidMode = "invalid_mode",
        BypassRestricted = "bypass_restricted",
        BypassDisabled = "bypass_disabled",
        BypassNotLaunched = "bypass_not_launched",
        AutoModeSettings = "auto_mode_settings",
        AutoModeCircuitBreaker = "auto_mode_circuit_breaker",
        AutoModeFastMode = "auto_mode_fast_mode",
        AutoModeModel = "auto_mode_model",
        AutoModeUnavailable = "auto_mode_unavailable",
        RemoteControlAuth = "remote_control_auth",
        RemoteControlTerminal = "remote_control_terminal",
        RemoteControlEndedElsewhere = "remote_control_ended_elsewhere",
        RemoteControlPolicyDisabled = "remote_control_policy_disabled",
        RemoteControlFlagsDisabled = "remote_control_flags_disabled",
        RemoteControlFlagsUnreachable = "remote_control_flags_unreachable",
        RemoteControlGateOff = "remote_control_gate_off",
        RemoteControlBelowFloor = "remote_control_below_floor",
        RemoteControlFloorUnanswered = "remote_control_floor_unanswered",
        RemoteControlFloorMalformed = "remote_control_floor_malformed",
        RemoteControlFloorUnreachable = "remote_control_floor_unreachable",
        RemoteControlSessionUnread = "remote_control_session_unread",
        WorkspaceDiffPending = "workspace_diff_pending",
        StaleWorkerEpoch = "stale_worker_epoch",
        InvalidWorkerEpoch = "invalid_worker_epoch",
        McpClientRegistrationUnavailable = "mcp_client_registration_unavailable",
        McpRedirectUriUnusable = "mcp_redirect_uri_unusable",
        McpPolicyBlocked = "mcp_policy_blocked",
        McpCallRefusalLimit = "mcp_call_refusal_limit",
        ReadDenied = "read_denied",
        CredentialName = "credential_name",
        McpCallMalformed = "mcp_call_malformed",
        McpCallNotVouched = "mcp_call_not_vouched",
        McpCallNotListed = "mcp_call_not_listed",
        McpCallNoContainer = "mcp_call_no_container",
        SideQuestionBusy = "side_question_busy",
        UnsupportedRequest = "unsupported_request",
        ReloadPluginsBusy = "reload_plugins_busy",
    }
}
