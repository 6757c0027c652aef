//! The end of a turn.
//!
//! A result ends a turn, not the run: turns may start by themselves, and one result may serve two user messages.

use std::collections::BTreeMap;

use countersign_wire_derive::Wire;

use crate::cli::MessageOrigin;
use crate::ids::{MessageUuid, SessionId};
use crate::open::open_enum;
use crate::permission::PermissionDenial;
use crate::usage::{ModelUsage, Usage};
use crate::vocab::{FastModeDisabledReason, FastModeState, StartupFailureReason, TerminalReason};
use crate::{Extra, Json, Nullable, Num};

open_enum! {
    /// How a turn ended.
    pub enum ResultSubtype {
        Success = "success",
        ErrorDuringExecution = "error_during_execution",
        ErrorMaxTurns = "error_max_turns",
        ErrorMaxBudgetUsd = "error_max_budget_usd",
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }
}

open_enum! {
    /// What a remote upload had to wait for.
    pub enum QueuedBehind {
        DurablePost = "durable_post",
        EphemeralPost = "ephemeral_post",
        RetryBackoff = "retry_backoff",
        Hold = "hold",
        None = "none",
    }
}

/// The tool call that a hook put off; the turn ended with it.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct DeferredToolUse {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The input.
    pub input: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A configuration file that cannot be read.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct InvalidConfigFile {
    /// Path of the file or folder.
    pub path: String,
    /// Whether it is the global one.
    pub is_global: bool,
    /// Whether a backup was looked for.
    pub backup_searched: bool,
    /// The backup that was found.
    pub backup_path: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The end of a turn. Success is `subtype` success *and* not `is_error`.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal(
    "memory_check_detail",
    "time_to_request_phases_ms",
    "turn_start_resume_kind",
    "handoff_intake_phases_ms",
    "process_turn_index",
    "time_to_request_cpu_ms",
    "time_to_request_loop_lag_ms",
    "time_to_request_major_faults",
    "process_rss_mib_turn_start",
    "process_anon_mib_turn_start",
    "process_rss_mib_result",
    "process_anon_mib_result",
    "process_peak_rss_mib",
    "process_cpu_ms_between_turns",
    "process_wall_ms_between_turns",
    "process_cpu_ms_turn",
    "process_wall_ms_turn",
    "shell_cpu_ms_turn",
    "shell_cpu_ms_since_last_result",
    "shell_wall_ms_since_last_result",
    "process_cpu_ms_streaming",
    "process_wall_ms_streaming",
    "main_stream_count",
    "main_stream_event_count",
    "main_stream_chunk_count",
    "tool_pool_build_count",
    "tool_pool_build_lapsed_count",
    "tool_pool_moved_at_lapse_count",
    "tool_pool_limit_ms",
    "process_turn_states",
    "process_turn_threads",
    "input_attachments_detail",
    "resume_store_confirm_detail",
    "tool_schema_build_detail",
    "message_normalization_detail",
    "request_build_detail",
    "first_request_input_tokens",
    "first_request_cache_read_input_tokens",
    "user_message_server_received_wall_ms",
    "frame_received_wall_ms",
    "frame_enqueued_wall_ms",
    "turn_started_wall_ms",
    "frame_intake_phases_ms",
    "turn_start_phases_ms",
    "turn_start_control_requests_ms",
    "text_post_count",
    "text_post_gap_over_500ms_count",
    "text_post_flush_timer_max_late_ms",
    "flag_fetch_kick",
    "process_start_tuning",
    "process_start_purge_delay_ms",
    "process_garbage_collections",
    "api_error_code",
    "api_error_type",
    "api_error_origin",
    "api_error",
    "model_usage_since_last_result",
    "subagent_stats",
    "safety_stops",
    "interrupted_by_shutdown",
    "restored_rewind",
    "stopped_by_permission_check",
    "runner_exit",
    "policy_answer",
    "policy_answer_reason",
))]
pub struct ResultMessage {
    /// How the turn ended.
    pub subtype: ResultSubtype,
    /// Wall time in ms.
    pub duration_ms: Num,
    /// Time in API calls.
    pub duration_api_ms: Num,
    /// Time to first token.
    pub ttft_ms: Option<Num>,
    /// Time to first stream event.
    pub ttft_stream_ms: Option<Num>,
    /// Turn start to API request.
    pub time_to_request_ms: Option<Num>,
    /// Client uuid of prompt being answered.
    pub user_message_uuid: Option<MessageUuid>,
    /// All client uuids consumed by turn.
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Why turn continues after worker restart.
    pub resume_reason: Option<String>,
    /// Slash command handled locally.
    pub local_command: Option<String>,
    /// Epoch ms the request left.
    pub request_sent_wall_ms: Option<Num>,
    /// Time to first content frame.
    pub first_content_frame_ms: Option<Num>,
    /// Remote upload: first stream post.
    pub first_stream_post_ms: Option<Num>,
    /// Remote upload: first post acknowledged.
    pub first_stream_post_ack_ms: Option<Num>,
    /// Remote upload: queue wait.
    pub first_stream_post_queue_wait_ms: Option<Num>,
    /// Remote upload: what it waited on.
    pub first_stream_post_queued_behind: Option<QueuedBehind>,
    /// Remote upload: epoch ms of post.
    pub first_stream_post_wall_ms: Option<Num>,
    /// Remote upload: first text post.
    pub first_text_post_ms: Option<Num>,
    /// Remote upload: text queue wait.
    pub first_text_post_queue_wait_ms: Option<Num>,
    /// Remote upload: text waited on.
    pub first_text_post_queued_behind: Option<QueuedBehind>,
    /// Remote upload: epoch ms of text post.
    pub first_text_post_wall_ms: Option<Num>,
    /// Process spawn to API request.
    pub time_to_request_from_spawn_ms: Option<Num>,
    /// Turn served by pre-warmed process.
    pub warm_spare_claimed: Option<bool>,
    /// Process clock origin, epoch ms.
    pub time_origin_ms: Option<Num>,
    /// Turn ended in error.
    pub is_error: bool,
    /// HTTP status of failed API call.
    pub api_error_status: Nullable<Num>,
    /// Model round-trips in this turn.
    pub num_turns: Num,
    /// Final text, or error text.
    pub result: Option<String>,
    /// API stop reason.
    pub stop_reason: Nullable<String>,
    /// Cumulative USD estimate, not a delta.
    pub total_cost_usd: Num,
    /// Main-loop token counts, this turn only.
    pub usage: Usage,
    /// Cumulative per-model totals, sub-agents included.
    #[wire(rename = "modelUsage")]
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Denied tool calls (authoritative list).
    pub permission_denials: Vec<PermissionDenial>,
    /// User sends still queued.
    pub queued_turn_count: Option<Num>,
    /// Value matching requested JSON schema.
    pub structured_output: Option<Json>,
    /// Tool call a hook deferred.
    pub deferred_tool_use: Option<DeferredToolUse>,
    /// Why the loop stopped.
    pub terminal_reason: Option<TerminalReason>,
    /// 0-based delivery sequence in run.
    pub result_index: Option<Num>,
    /// ISO end of claude.ai login.
    pub credential_expires_at: Option<String>,
    /// Fast mode off/cooldown/on.
    pub fast_mode_state: Option<FastModeState>,
    /// What blocks fast mode.
    pub fast_mode_disabled_reason: Option<FastModeDisabledReason>,
    /// Provenance of the prompt.
    pub origin: Option<MessageOrigin>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// What went wrong.
    pub errors: Option<Vec<String>>,
    /// Machine-readable startup refusal.
    pub startup_failure_reason: Option<StartupFailureReason>,
    /// Unparsable config file and backup.
    pub invalid_config_file: Option<InvalidConfigFile>,
    /// Fields this build does not know.
    pub extra: Extra,
}
