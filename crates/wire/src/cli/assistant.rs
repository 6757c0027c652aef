//! What the model said, and the reports that ride on such lines.

use std::collections::BTreeMap;

use countersign_wire_derive::Wire;

use crate::content::ApiMessage;
use crate::ids::{AgentId, MessageUuid, SessionId, ToolUseId};
use crate::open::open_enum;
use crate::usage::ModelUsage;
use crate::vocab::AssistantErrorKind;
use crate::{Extra, Nullable, Num};

open_enum! {
    /// Which limit the context is over.
    pub enum ContextLimitKind {
        HardLimit = "hard_limit",
        CompactionWindow = "compaction_window",
    }
}

/// How far the context is over its limit.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextOverLimit {
    /// Tokens over the limit.
    pub tokens_over: Num,
    /// Its kind.
    pub kind: ContextLimitKind,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Whether a share of the context is in use.
    pub enum ContextCategoryKind {
        Used = "used",
        Free = "free",
        Buffer = "buffer",
        Deferred = "deferred",
    }
}

/// One share of the context window.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextCategory {
    /// Its name.
    pub name: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Its kind.
    pub kind: ContextCategoryKind,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the description of one MCP tool takes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextMcpTool {
    /// Its name.
    pub name: String,
    /// Name of the MCP server.
    pub server_name: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What one memory file takes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextMemoryFile {
    /// Path of the file or folder.
    pub path: String,
    /// Its type.
    #[wire(rename = "type")]
    pub kind: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the description of one sub-agent takes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextAgent {
    /// Type of the sub-agent.
    pub agent_type: String,
    /// Where it comes from.
    pub source: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the description of one skill takes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextSkill {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// Plugin it belongs to.
    pub plugin_name: Option<String>,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// How full the context is; the structured form of `/context`.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextUsage {
    /// The model.
    pub model: String,
    /// Tokens in all.
    pub total_tokens: Num,
    /// Size of the context window.
    pub raw_max_tokens: Num,
    /// How full, in percent.
    pub percentage: Num,
    /// How far over the limit.
    pub over_limit: Option<ContextOverLimit>,
    /// The shares.
    pub categories: Vec<ContextCategory>,
    /// MCP tools and what they take.
    pub mcp_tools: Vec<ContextMcpTool>,
    /// Memory files and what they take.
    pub memory_files: Vec<ContextMemoryFile>,
    /// Sub-agents.
    pub agents: Vec<ContextAgent>,
    /// Skills.
    pub skills: Option<Vec<ContextSkill>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Cost, time and lines of a session so far.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SessionTotals {
    /// Cumulative USD estimate, not a delta.
    pub total_cost_usd: Num,
    /// Time spent in API calls.
    pub total_api_duration_ms: Num,
    /// Wall time of the session.
    pub total_duration_ms: Num,
    /// Lines added to files.
    pub total_lines_added: Num,
    /// Lines removed from files.
    pub total_lines_removed: Num,
    /// Totals per model.
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A name to show.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct DisplayName {
    /// Name to show.
    pub display_name: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What a limit applies to.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct LimitScope {
    /// The model.
    pub model: Nullable<DisplayName>,
    /// Product surface it applies to.
    pub surface: Nullable<DisplayName>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// One limit of the account's plan.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ReportedLimit {
    /// Its kind.
    pub kind: String,
    /// Group the limit belongs to.
    pub group: String,
    /// How much of it is used.
    pub percent: Num,
    /// When it starts over.
    pub resets_at: Nullable<String>,
    /// How far it reaches.
    pub scope: Nullable<LimitScope>,
    /// How serious it is.
    pub severity: String,
    /// Whether it is in force.
    pub is_active: bool,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Pay-as-you-go use beyond the plan.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ExtraUsage {
    /// Whether it is switched on.
    pub is_enabled: bool,
    /// Most per month.
    pub monthly_limit: Nullable<Num>,
    /// Credits used.
    pub used_credits: Nullable<Num>,
    /// How much is used, from 0 to 1 or in percent as the CLI sends it.
    pub utilization: Nullable<Num>,
    /// Currency of the amounts.
    pub currency: Nullable<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The limits of the account's plan.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ReportedLimits {
    /// Limits of the plan.
    pub limits: Nullable<Vec<ReportedLimit>>,
    /// Use beyond the plan.
    pub extra_usage: Nullable<ExtraUsage>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Cost and limits; the structured form of `/usage`.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UsageReport {
    /// The session so far.
    pub session: SessionTotals,
    /// Limits of the plan.
    pub rate_limits: Nullable<ReportedLimits>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// One completed content block of the model. Several lines share one `message.id`.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal(
    "historical",
    "refused_message_id",
    "tool_use_meta",
    "narration_block_indexes",
    "narration_hint",
    "thinking_duration_ms",
    "thinking_display",
    "is_meta",
    "local_command_source",
    "local_command_run",
    "local_command_outcome",
    "is_virtual",
    "batch_tool_uses",
    "wire_tool_inputs",
    "wire_ingest_context",
    "is_api_error_message",
    "api_error_status",
    "api_error",
    "api_error_params",
    "api_error_code",
    "api_error_type",
    "api_error_origin",
    "error_details",
    "advisor_model",
    "attribution_agent",
    "attribution_skill",
    "attribution_plugin",
    "attribution_mcp_server",
    "attribution_mcp_tool",
))]
pub struct AssistantMessage {
    /// API message payload.
    pub message: ApiMessage,
    /// Spawning tool call; null on main thread.
    pub parent_tool_use_id: Nullable<ToolUseId>,
    /// Coarse failure category.
    pub error: Option<AssistantErrorKind>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// API request id.
    pub request_id: Option<String>,
    /// Client uuid of prompt being answered.
    pub user_message_uuid: Option<MessageUuid>,
    /// All client uuids consumed by turn.
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Why turn continues after worker restart.
    pub resume_reason: Option<String>,
    /// Continues a truncated thinking block.
    pub resumed_from_incomplete_thinking: Option<bool>,
    /// Earlier uuids this frame replaces.
    pub supersedes: Option<Vec<MessageUuid>>,
    /// Cut short by an interrupt.
    pub aborted: Option<bool>,
    /// Sub-agent id (same as its `task_id`).
    pub agent_id: Option<AgentId>,
    /// Sub-agent type name.
    pub subagent_type: Option<String>,
    /// Sub-agent task text.
    pub task_description: Option<String>,
    /// ISO creation time; display only.
    pub timestamp: Option<String>,
    /// Structured twin of /context.
    pub context_usage: Option<ContextUsage>,
    /// Structured twin of /usage.
    pub usage_report: Option<UsageReport>,
    /// Fields this build does not know.
    pub extra: Extra,
}
