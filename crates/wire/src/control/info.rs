//! Control requests that ask for costs, versions and files.

use countersign_wire_derive::Wire;

use crate::cli::{ExtraUsage, SessionTotals};
use crate::open::open_enum;
use crate::{Extra, Nullable, Num};

open_enum! {
    /// A habit that costs.
    pub enum UsageBehaviorKey {
        CacheMiss = "cache_miss",
        LongContext = "long_context",
        SubagentHeavy = "subagent_heavy",
        HighParallel = "high_parallel",
        Cron = "cron",
        MaxEffort = "max_effort",
        Workflow = "workflow",
        AlwaysOnContext = "always_on_context",
        LargeToolResults = "large_tool_results",
    }
}

/// How often a habit was seen.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UsageBehavior {
    /// Its key.
    pub key: UsageBehaviorKey,
    /// Share in percent.
    pub pct: Num,
    /// How often.
    pub count: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A way to use less.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UsageRecommendation {
    /// Its key.
    pub key: String,
    /// Share in percent.
    pub pct: Num,
    /// Its title.
    pub title: String,
    /// Details.
    pub detail: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the CLI would do about it.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UsageFix {
    /// Which habits.
    pub keys: Vec<String>,
    /// What is proposed.
    pub messages: Vec<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A share of the use, by name.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UsageShare {
    /// Its name.
    pub name: String,
    /// Share in percent.
    pub pct: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Where the use of a period went.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UsageBehaviors {
    /// Requests in the period.
    pub request_count: Num,
    /// Sessions in the period.
    pub session_count: Num,
    /// Habits that cost.
    pub behaviors: Vec<UsageBehavior>,
    /// Ways to use less.
    pub recommendations: Option<Vec<UsageRecommendation>>,
    /// What the CLI would do.
    pub fix: Option<UsageFix>,
    /// Sub-agents.
    pub agents: Vec<UsageShare>,
    /// Skills.
    pub skills: Vec<UsageShare>,
    /// Plugins.
    pub plugins: Vec<UsageShare>,
    /// Server name, status, source.
    pub mcp_servers: Vec<UsageShare>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks for the cost as text.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct GetSessionCost {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The cost as text.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct GetSessionCostReply {
    /// The text.
    pub text: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks for cost and plan limits.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct GetUsage {
    /// Leave habits out.
    pub skip_behaviors: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// How much of a plan window is used.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PlanWindow {
    /// How much is used, from 0 to 1 or in percent as the CLI sends it.
    pub utilization: Nullable<Num>,
    /// When it starts over.
    pub resets_at: Nullable<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// How much of a model's window is used.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ModelWindow {
    /// Name to show.
    pub display_name: String,
    /// How much is used, from 0 to 1 or in percent as the CLI sends it.
    pub utilization: Nullable<Num>,
    /// When it starts over.
    pub resets_at: Nullable<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The windows of the account's plan.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PlanLimits {
    /// The five-hour window.
    pub five_hour: Nullable<PlanWindow>,
    /// The seven-day window.
    pub seven_day: Nullable<PlanWindow>,
    /// The seven-day window of other apps.
    pub seven_day_oauth_apps: Nullable<PlanWindow>,
    /// The seven-day window of Opus models.
    pub seven_day_opus: Nullable<PlanWindow>,
    /// The seven-day window of Sonnet models.
    pub seven_day_sonnet: Nullable<PlanWindow>,
    /// Windows of single models.
    pub model_scoped: Option<Vec<ModelWindow>>,
    /// Use beyond the plan.
    pub extra_usage: Nullable<ExtraUsage>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Habits of the last day and week.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UsagePeriods {
    /// The last day.
    pub day: UsageBehaviors,
    /// The last week.
    pub week: UsageBehaviors,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Cost and plan limits.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct GetUsageReply {
    /// The session so far.
    pub session: SessionTotals,
    /// Plan; null without one.
    pub subscription_type: Nullable<String>,
    /// Whether limits are known.
    pub rate_limits_available: bool,
    /// Limits of the plan.
    pub rate_limits: Nullable<PlanLimits>,
    /// Habits that cost.
    pub behaviors: Nullable<UsagePeriods>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks for the CLI's version.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct GetBinaryVersion {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The CLI's version.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("oldestDesktopSdk"))]
pub struct GetBinaryVersionReply {
    /// Its version.
    pub version: String,
    /// When it was built.
    #[wire(rename = "buildTime")]
    pub build_time: Option<String>,
    /// Oldest version of the desktop app's SDK that it works with (2.1.327).
    #[wire(rename = "oldestDesktopSdk")]
    pub oldest_desktop_sdk: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks for paths that fit a few letters.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct FileSuggestions {
    /// What to look for.
    pub query: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A path that fits.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct FileSuggestion {
    /// Path of the file or folder.
    pub path: String,
    /// How well it fits.
    pub score: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Paths that fit.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct FileSuggestionsReply {
    /// What fits.
    pub suggestions: Vec<FileSuggestion>,
    /// Working folder.
    pub cwd: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How file contents are written.
    pub enum FileEncoding {
        Utf8 = "utf-8",
        Base64 = "base64",
    }
}

/// Reads a file through the CLI.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("anchor", "offset", "for_upload", "liveReply",))]
pub struct ReadFile {
    /// Path of the file or folder.
    pub path: String,
    /// Most bytes to read.
    pub max_bytes: Option<Num>,
    /// How contents are written.
    pub encoding: Option<FileEncoding>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The contents of a file.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal(
    "anchor",
    "offset",
    "read_bytes",
    "total_bytes",
    "etag",
    "upload_screened",
    "requested_path",
))]
pub struct ReadFileReply {
    /// The contents.
    pub contents: String,
    /// Its absolute path.
    #[wire(rename = "absPath")]
    pub abs_path: String,
    /// Whether it was cut.
    pub truncated: Option<bool>,
    /// How contents are written.
    pub encoding: Option<String>,
    /// Bytes were replaced to make text of it.
    pub lossy: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}
