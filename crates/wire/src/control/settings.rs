//! Control requests about settings, rules and models.

use countersign_wire_derive::Wire;

use crate::control::{ModelInfo, SettingsParseError};
use crate::open::open_enum;
use crate::permission::RuleBehavior;
use crate::vocab::Effort;
use crate::{Extra, Json, Nullable};

open_enum! {
    /// Where a rule comes from.
    pub enum RuleSource {
        UserSettings = "userSettings",
        ProjectSettings = "projectSettings",
        LocalSettings = "localSettings",
        FlagSettings = "flagSettings",
        PolicySettings = "policySettings",
        CliArg = "cliArg",
        Command = "command",
        Session = "session",
        McpMount = "mcpMount",
        ToolsNarrowing = "toolsNarrowing",
        McpServerPolicy = "mcpServerPolicy",
        HostCredential = "hostCredential",
    }
}

/// A rule in words.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RuleDescription {
    /// Words before.
    pub prefix: String,
    /// The words that matter.
    pub emphasis: Option<String>,
    /// Words after.
    pub suffix: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Whether a rule can be changed.
    pub enum RuleEditability {
        Persistent = "persistent",
        Session = "session",
        Readonly = "readonly",
    }
}

/// A permission rule and where it comes from.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ListedRule {
    /// What it says.
    pub behavior: RuleBehavior,
    /// Where it comes from.
    pub source: RuleSource,
    /// The rule in rule syntax.
    pub rule: String,
    /// What it is, in words.
    pub description: Option<RuleDescription>,
    /// Whether it can be changed.
    pub editability: RuleEditability,
    /// It does not hold now.
    #[wire(rename = "notInEffect")]
    pub not_in_effect: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A folder the agent may work in.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct WorkspaceDirectory {
    /// Path of the file or folder.
    pub path: String,
    /// Where it comes from.
    pub source: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// All permission rules in force.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PermissionRules {
    /// The rules.
    pub rules: Vec<ListedRule>,
    /// Folders the agent may work in.
    #[wire(rename = "workspaceDirectories")]
    pub workspace_directories: Vec<WorkspaceDirectory>,
    /// Folder the session began in.
    #[wire(rename = "originalCwd")]
    pub original_cwd: String,
    /// Only the administrator's count.
    #[wire(rename = "managedOnly")]
    pub managed_only: bool,
    /// What went wrong.
    pub errors: Option<Vec<SettingsParseError>>,
    /// Something is not shown.
    pub withheld: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Merges settings over those of the command line; null clears a key.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ApplyFlagSettings {
    /// The settings.
    pub settings: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks for the settings and their sources.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct GetSettings {
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Which settings file or layer.
    pub enum SettingsSource {
        UserSettings = "userSettings",
        ProjectSettings = "projectSettings",
        LocalSettings = "localSettings",
        FlagSettings = "flagSettings",
        PolicySettings = "policySettings",
    }
}

/// The settings of one source.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SettingsLayer {
    /// Where it comes from.
    pub source: SettingsSource,
    /// The settings.
    pub settings: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the settings came to.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct AppliedSettings {
    /// The model.
    pub model: String,
    /// How much work to put in.
    pub effort: Nullable<Effort>,
    /// Advisor model.
    pub advisor: Nullable<String>,
    /// The extra-effort mode is on.
    pub ultracode: Option<bool>,
    /// The extra-effort mode was asked for.
    #[wire(rename = "ultracodeRequested")]
    pub ultracode_requested: Option<bool>,
    /// The extra-effort mode is possible.
    #[wire(rename = "ultracodeAvailable")]
    pub ultracode_available: Option<bool>,
    /// The extra-thinking mode is possible.
    #[wire(rename = "ultrathinkAvailable")]
    pub ultrathink_available: Option<bool>,
    /// File tools may not read outside the folder.
    #[wire(rename = "outsideFileToolReadsBlocked")]
    pub outside_file_tool_reads_blocked: Option<bool>,
    /// File tools may not write outside the folder.
    #[wire(rename = "outsideFileToolWritesBlocked")]
    pub outside_file_tool_writes_blocked: Option<bool>,
    /// Only folders given at launch count as inside.
    #[wire(rename = "outsideBlocksCountLaunchFoldersOnly")]
    pub outside_blocks_count_launch_folders_only: Option<bool>,
    /// The launch environment kept its own files.
    #[wire(rename = "launchEnvLeftOwnFilesInPlace")]
    pub launch_env_left_own_files_in_place: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The settings, merged and by source.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("remote_control_policy_lock_reason",))]
pub struct GetSettingsReply {
    /// All of it merged.
    pub effective: Json,
    /// Settings by source, weakest first.
    pub sources: Vec<SettingsLayer>,
    /// What it came to.
    pub applied: Option<AppliedSettings>,
    /// What went wrong.
    pub errors: Option<Vec<SettingsParseError>>,
    /// Something is not shown.
    pub withheld: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// A settings file that can be written.
    pub enum WritableSettings {
        LocalSettings = "localSettings",
        UserSettings = "userSettings",
    }
}

/// Writes to a settings file.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UpdateSettings {
    /// Where it comes from.
    pub source: WritableSettings,
    /// The settings.
    pub settings: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks for all permission rules.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ListPermissionRules {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// All permission rules.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ListPermissionRulesReply {
    /// Its state.
    pub state: PermissionRules,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks for the models that can be chosen.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ListModels {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The models that can be chosen.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ListModelsReply {
    /// Models.
    pub models: Vec<ModelInfo>,
    /// Fields this build does not know.
    pub extra: Extra,
}
