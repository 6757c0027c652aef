//! Requests that only some hosts of the vendor send (2.1.327): typed so that a recording of one is read like any other.

use countersign_wire_derive::Wire;

use crate::ids::MessageUuid;
use crate::open::open_enum;
use crate::{Extra, Json, Nullable, Num};

/// The host holds a message of the person until the running turn ends, or no longer does.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SetMessageWaiting {
    /// Whether a message waits.
    pub waiting: bool,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The person is typing a prompt. Carries none of the text.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PromptDraftActivity {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads the account's connectors again.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ReloadConnectors {
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What is to be done with a cloud session. `delete` cannot be undone; the CLI asks nobody.
    pub enum CloudSessionAction {
        Rename = "rename",
        Archive = "archive",
        Unarchive = "unarchive",
        Delete = "delete",
        MarkRead = "mark_read",
        Pin = "pin",
        Unpin = "unpin",
        Detach = "detach",
        MarkCompleted = "mark_completed",
        MarkOpened = "mark_opened",
        Ping = "ping",
    }
}

open_enum! {
    /// Why a cloud session is woken.
    pub enum CloudPingCause {
        Typing = "typing",
        Pickup = "pickup",
    }
}

/// Changes one cloud session, with the CLI's own sign-in.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UpdateCloudSession {
    /// The session, as `list_cloud_sessions` names it.
    pub session_id: String,
    /// What is to be done with it.
    pub action: CloudSessionAction,
    /// The new title, with `rename`.
    pub title: Option<String>,
    /// The time of the mark, with `mark_completed`.
    pub at: Option<String>,
    /// Why, with `ping`.
    pub cause: Option<CloudPingCause>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How a change of a cloud session ended.
    pub enum CloudUpdateStatus {
        Ok = "ok",
        Refused = "refused",
        NotFound = "not_found",
        TemporarilyUnavailable = "temporarily_unavailable",
        Failed = "failed",
    }
}

/// How a change of a cloud session ended. Unless it is `ok` or `refused`, the change may still have been made.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UpdateCloudSessionReply {
    /// How it ended.
    pub status: CloudUpdateStatus,
    /// A sentence for the person.
    pub message: Option<String>,
    /// The service's own word for a refusal.
    pub service_reason: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How a comparison is made.
    pub enum ComparisonForkMode {
        DryRun = "dry_run",
    }
}

/// Builds the first request that a second run of a turn would send, and compares it with the one that was sent.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ComparisonFork {
    /// Id of the comparison.
    pub comparison_id: String,
    /// The message that began the turn.
    pub turn_event_uuid: MessageUuid,
    /// How it is made.
    pub fork_mode: ComparisonForkMode,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How a comparison ended.
    pub enum ComparisonEnd {
        DryRunDone = "dry_run_done",
        TurnMovedOn = "turn_moved_on",
        TurnEnded = "turn_ended",
        Folded = "folded",
        Busy = "busy",
        TooLarge = "too_large",
        FlagOff = "flag_off",
        NoFirstCall = "no_first_call",
        ForkFailed = "fork_failed",
    }
}

/// How long the parts of a comparison took, in milliseconds.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ComparisonTimings {
    /// From the turn's first call to the request.
    pub first_call_to_request: Nullable<Num>,
    /// From the request to the built one.
    pub request_to_built: Nullable<Num>,
    /// From the request to finding its turn.
    pub waited: Nullable<Num>,
    /// From finding the turn to the built request.
    pub built: Nullable<Num>,
    /// From the built request to the reply.
    pub compared: Nullable<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// How the two requests compare: counts, flags and names, never text.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ComparisonForkReply {
    /// Version of this reply.
    pub contract_version: Num,
    /// Id of the comparison.
    pub comparison_id: String,
    /// The message that began the turn.
    pub turn_event_uuid: MessageUuid,
    /// How it was made.
    pub fork_mode: ComparisonForkMode,
    /// How it ended.
    pub end_reason: ComparisonEnd,
    /// How the parts compare.
    pub parts: Option<Json>,
    /// The shape of the requests.
    pub shape: Option<Json>,
    /// How long it took.
    pub timings_ms: Option<ComparisonTimings>,
    /// Fields this build does not know.
    pub extra: Extra,
}
