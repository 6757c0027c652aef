//! Top-level messages that tell of progress, limits and heartbeats.

use countersign_wire_derive::Wire;

use super::StreamEvent;
use crate::ids::{AgentId, MessageUuid, SessionId, TaskId, ToolUseId};
use crate::open::open_enum;
use crate::{Extra, Json, Nullable, Num};

open_enum! {
    /// Whether a limit lets calls through.
    pub enum RateLimitStatus {
        Allowed = "allowed",
        AllowedWarning = "allowed_warning",
        Rejected = "rejected",
    }
}

open_enum! {
    /// Which limit of the plan is meant.
    pub enum RateLimitType {
        FiveHour = "five_hour",
        SevenDay = "seven_day",
        SevenDayOpus = "seven_day_opus",
        SevenDaySonnet = "seven_day_sonnet",
        SevenDayOverageIncluded = "seven_day_overage_included",
        Overage = "overage",
    }
}

/// How much of one time window is used.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RateLimitWindow {
    /// How much is used, from 0 to 1 or in percent as the CLI sends it.
    pub utilization: Num,
    /// When it starts over, in epoch seconds.
    #[wire(rename = "resetsAt")]
    pub resets_at: Num,
    /// Where it stands.
    pub status: Option<RateLimitStatus>,
    /// The warning threshold that was passed.
    #[wire(rename = "surpassedThreshold")]
    pub surpassed_threshold: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The time windows of the plan.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct RateLimitWindows {
    /// The five-hour window.
    pub five_hour: Option<RateLimitWindow>,
    /// The seven-day window.
    pub seven_day: Option<RateLimitWindow>,
    /// The seven-day window, overage included.
    pub seven_day_overage_included: Option<RateLimitWindow>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Why use beyond the plan is not possible.
    pub enum OverageDisabledReason {
        OverageNotProvisioned = "overage_not_provisioned",
        OrgLevelDisabled = "org_level_disabled",
        OrgLevelDisabledUntil = "org_level_disabled_until",
        OutOfCredits = "out_of_credits",
        SeatTierLevelDisabled = "seat_tier_level_disabled",
        MemberLevelDisabled = "member_level_disabled",
        SeatTierZeroCreditLimit = "seat_tier_zero_credit_limit",
        GroupZeroCreditLimit = "group_zero_credit_limit",
        MemberZeroCreditLimit = "member_zero_credit_limit",
        OrgServiceLevelDisabled = "org_service_level_disabled",
        NoLimitsConfigured = "no_limits_configured",
        FetchError = "fetch_error",
        Unknown = "unknown",
    }
}

/// How much of an overage period is used.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct OveragePeriod {
    /// How much is used, from 0 to 1 or in percent as the CLI sends it.
    pub utilization: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Who shares the limit.
    pub enum RateLimitScope {
        Service = "service",
        Channel = "channel",
        GroupPool = "group_pool",
    }
}

open_enum! {
    /// What kind of offer it is.
    pub enum UsageCreditOfferKind {
        PctOff = "pct_off",
        ExtraCredit = "extra_credit",
    }
}

/// An offer of credits the CLI would show.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UsageCreditOffer {
    /// Its kind.
    pub kind: UsageCreditOfferKind,
    /// Percentage the offer names.
    #[wire(rename = "headlinePct")]
    pub headline_pct: Num,
    /// Days the offer lasts.
    #[wire(rename = "daysLeft")]
    pub days_left: Num,
    /// Short text.
    pub label: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How far a request to the administrator is.
    pub enum AdminRequestOfferState {
        CanAsk = "can_ask",
        Pending = "pending",
        Sending = "sending",
        Sent = "sent",
    }
}

/// An offer to ask the administrator for more.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct AdminRequestOffer {
    /// Its state.
    pub state: AdminRequestOfferState,
    /// Short text.
    pub label: String,
    /// Text of the button afterwards.
    #[wire(rename = "doneLabel")]
    pub done_label: String,
    /// Whether to ask again first.
    pub confirm: bool,
    /// The text of that question.
    #[wire(rename = "confirmPrompt")]
    pub confirm_prompt: String,
    /// The last attempt failed.
    #[wire(rename = "lastFileFailed")]
    pub last_file_failed: Option<bool>,
    /// Its revision.
    pub revision: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Where the account stands with its plan limits.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RateLimitInfo {
    /// Where it stands.
    pub status: RateLimitStatus,
    /// When it starts over, in epoch seconds.
    #[wire(rename = "resetsAt")]
    pub resets_at: Option<Num>,
    /// Which limit is meant.
    #[wire(rename = "rateLimitType")]
    pub rate_limit_type: Option<RateLimitType>,
    /// How much is used, from 0 to 1 or in percent as the CLI sends it.
    pub utilization: Option<Num>,
    /// Use per window.
    #[wire(rename = "unifiedWindows")]
    pub unified_windows: Option<RateLimitWindows>,
    /// Whether overage lets calls through.
    #[wire(rename = "overageStatus")]
    pub overage_status: Option<RateLimitStatus>,
    /// When overage starts over.
    #[wire(rename = "overageResetsAt")]
    pub overage_resets_at: Option<Num>,
    /// Why overage is off.
    #[wire(rename = "overageDisabledReason")]
    pub overage_disabled_reason: Option<OverageDisabledReason>,
    /// Calls run on overage now.
    #[wire(rename = "isUsingOverage")]
    pub is_using_overage: Option<bool>,
    /// Overage is in use.
    #[wire(rename = "overageInUse")]
    pub overage_in_use: Option<bool>,
    /// Overage is switched on.
    #[wire(rename = "overageEnabled")]
    pub overage_enabled: Option<bool>,
    /// The warning threshold that was passed.
    #[wire(rename = "surpassedThreshold")]
    pub surpassed_threshold: Option<Num>,
    /// A daily cap holds calls back.
    #[wire(rename = "dailyCapPaused")]
    pub daily_cap_paused: Option<bool>,
    /// A grace period is running.
    #[wire(rename = "rateLimitGraceActive")]
    pub rate_limit_grace_active: Option<bool>,
    /// Overage of this month.
    #[wire(rename = "overagePeriodMonthly")]
    pub overage_period_monthly: Option<OveragePeriod>,
    /// Overage of this channel.
    #[wire(rename = "overagePeriodChannel")]
    pub overage_period_channel: Option<OveragePeriod>,
    /// Who shares the limit.
    #[wire(rename = "limitScope")]
    pub limit_scope: Option<RateLimitScope>,
    /// What is missing to go on.
    #[wire(rename = "errorCode")]
    pub error_code: Option<String>,
    /// The person can buy credits.
    #[wire(rename = "canUserPurchaseCredits")]
    pub can_user_purchase_credits: Option<bool>,
    /// A payment method is on file.
    #[wire(rename = "hasChargeableSavedPaymentMethod")]
    pub has_chargeable_saved_payment_method: Option<bool>,
    /// An offer of credits.
    #[wire(rename = "usageCreditOffer")]
    pub usage_credit_offer: Option<UsageCreditOffer>,
    /// An offer to ask the administrator.
    #[wire(rename = "adminRequestOffer")]
    pub admin_request_offer: Option<AdminRequestOffer>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// An API retry inside a sub-agent.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SubagentRetry {
    /// Sub-agent id (same as its `task_id`).
    pub agent_id: AgentId,
    /// Which attempt.
    pub attempt: Num,
    /// How many attempts there are.
    pub max_retries: Num,
    /// Wait before the retry, in milliseconds; older CLIs send fractions.
    pub retry_delay_ms: Num,
    /// HTTP status; null without a response.
    pub error_status: Nullable<Num>,
    /// Failure category.
    pub error_category: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A tick while a tool runs.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ToolProgress {
    /// Tool call id.
    pub tool_use_id: ToolUseId,
    /// Tool name.
    pub tool_name: String,
    /// Spawning tool call; null on main thread.
    pub parent_tool_use_id: Nullable<ToolUseId>,
    /// Seconds since tool start.
    pub elapsed_time_seconds: Num,
    /// Task behind the tool.
    pub task_id: Option<TaskId>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Liveness tick only.
    pub heartbeat: Option<bool>,
    /// Sub-agent type name.
    pub subagent_type: Option<String>,
    /// API retry inside the sub-agent.
    pub subagent_retry: Option<SubagentRetry>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A short summary of the tool calls before it.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("timestamp",))]
pub struct ToolUseSummary {
    /// Summary of tool batch.
    pub summary: String,
    /// Tool calls being summarised.
    pub preceding_tool_use_ids: Vec<ToolUseId>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Progress of a sign-in; only with `--enable-auth-status`.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct AuthStatus {
    /// Sign-in in progress.
    #[wire(rename = "isAuthenticating")]
    pub is_authenticating: bool,
    /// Sign-in output lines.
    pub output: Vec<String>,
    /// Sign-in failure.
    pub error: Option<String>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The plan-limit status changed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RateLimitEvent {
    /// Plan limit status.
    pub rate_limit_info: RateLimitInfo,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A guess at the next prompt, sent after the result.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PromptSuggestion {
    /// Predicted next prompt.
    pub suggestion: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What made the CLI start over.
    pub enum ResetTrigger {
        Clear = "clear",
        PlanModeExit = "plan_mode_exit",
        FreshSession = "fresh_session",
        Onboarding = "onboarding",
    }
}

/// The conversation was discarded (`/clear` and the like); a fresh one follows.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ConversationReset {
    /// Id for the fresh transcript.
    pub new_conversation_id: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Clear, `plan_mode_exit`, `fresh_session`, onboarding.
    pub trigger: Option<ResetTrigger>,
    /// Uuid of the /clear message.
    pub user_message_uuid: Option<MessageUuid>,
    /// ISO creation time; display only.
    pub timestamp: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The goal the CLI works towards.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct Goal {
    /// The condition that must hold.
    pub condition: String,
    /// How often it was tried.
    pub iterations: Num,
    /// When it was set, in epoch milliseconds.
    pub set_at: Num,
    /// Tokens used when it was set.
    pub tokens_at_start: Num,
    /// Why it did not hold last time.
    pub last_reason: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The state of `/goal` changed.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ActiveGoal {
    /// Goal state; null when cleared.
    pub value: Nullable<Goal>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A heartbeat; nothing to do. Ignored by the CLI too.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(internal("startup_mark",))]
pub struct KeepAlive {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// One raw event of the model's stream; only with `--include-partial-messages`.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal(
    "thinking_display",
    "api_message_id",
    "abandoned_blocks",
    "text_runs_joined",
    "owed_rows",
))]
pub struct StreamEventMessage {
    /// Raw Messages API stream event.
    pub event: StreamEvent,
    /// Spawning tool call; null on main thread.
    pub parent_tool_use_id: Nullable<ToolUseId>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Time to first token.
    pub ttft_ms: Option<Num>,
    /// Client uuid of prompt being answered.
    pub user_message_uuid: Option<MessageUuid>,
    /// All client uuids consumed by turn.
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Why turn continues after worker restart.
    pub resume_reason: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What became of a message the host sent.
    pub enum CommandState {
        Queued = "queued",
        Started = "started",
        Completed = "completed",
        Cancelled = "cancelled",
        Discarded = "discarded",
        Refused = "refused",
    }
}

/// What became of a message the host sent with a uuid.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("wakeup_source", "scheduled_for", "ran_ahead"))]
pub struct CommandLifecycle {
    /// The uuid of the user message.
    pub command_uuid: MessageUuid,
    /// Where it stands.
    pub state: CommandState,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Lines of the stored transcript; only with `--session-mirror`.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(rename_all = "camelCase")]
pub struct TranscriptMirror {
    /// The transcript file.
    pub file_path: String,
    /// The lines.
    pub entries: Vec<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}
