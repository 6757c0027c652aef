//! Hook inputs around the session, its model, files and folders.

use countersign_wire_derive::Wire;

use crate::open::open_enum;
use crate::{Extra, Nullable, Num};

open_enum! {
    /// How a session began.
    pub enum SessionStartSource {
        Startup = "startup",
        Resume = "resume",
        Clear = "clear",
        Compact = "compact",
        Fork = "fork",
    }
}

/// A session began. Callbacks for it were never seen to fire; command hooks do.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SessionStartInput {
    /// Where it comes from.
    pub source: SessionStartSource,
    /// The model.
    pub model: Option<String>,
    /// Title of the session.
    pub session_title: Option<String>,
    /// Seconds since the model last spoke.
    pub seconds_since_last_response: Option<Num>,
    /// Tokens in the context.
    pub context_tokens: Option<Num>,
    /// The prompt cache has probably run out.
    pub prompt_cache_likely_expired: Option<bool>,
    /// What filling the cache again would cost.
    pub estimated_cache_write_usd: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Why a session ended.
    pub enum SessionEndReason {
        Clear = "clear",
        Resume = "resume",
        Logout = "logout",
        PromptInputExit = "prompt_input_exit",
        OtherWord = "other",
    }
}

/// A session ended. Callbacks for it were never seen to fire; command hooks do.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SessionEndInput {
    /// Why.
    pub reason: SessionEndReason,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Who wants another model.
    pub enum ModelSwitchSource {
        Command = "command",
        Picker = "picker",
        Sdk = "sdk",
    }
}

open_enum! {
    /// How long a prompt-cache entry lives.
    pub enum CacheTtl {
        FiveMinutes = "5m",
        OneHour = "1h",
    }
}

open_enum! {
    /// Where a price comes from.
    pub enum PricingBasis {
        Configured = "configured",
        Catalog = "catalog",
        Default = "default",
    }
}

/// The model is about to change.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PreModelSwitchInput {
    /// Model before.
    pub from_model: String,
    /// Model after.
    pub to_model: String,
    /// Model that was asked for.
    pub requested_model: Nullable<String>,
    /// Where it comes from.
    pub source: ModelSwitchSource,
    /// Tokens in the context.
    pub context_tokens: Num,
    /// The prompt cache is filled.
    pub prompt_cache_warm: bool,
    /// Lifetime of the cache.
    pub cache_ttl: CacheTtl,
    /// What filling the cache again would cost.
    pub estimated_cache_write_usd: Num,
    /// Where the price comes from.
    pub pricing: PricingBasis,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Who changed the model.
    pub enum ModelSwitchedSource {
        Command = "command",
        Picker = "picker",
        Sdk = "sdk",
        Auto = "auto",
        Resume = "resume",
    }
}

/// The model changed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PostModelSwitchInput {
    /// Model before.
    pub from_model: String,
    /// Model after.
    pub to_model: String,
    /// Model that was asked for.
    pub requested_model: Nullable<String>,
    /// Where it comes from.
    pub source: ModelSwitchedSource,
    /// Tokens in the context.
    pub context_tokens: Num,
    /// The prompt cache is filled.
    pub prompt_cache_warm: bool,
    /// Lifetime of the cache.
    pub cache_ttl: CacheTtl,
    /// What filling the cache again would cost.
    pub estimated_cache_write_usd: Num,
    /// Where the price comes from.
    pub pricing: PricingBasis,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What a setup run is for.
    pub enum SetupTrigger {
        Init = "init",
        Maintenance = "maintenance",
    }
}

/// A setup run began.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SetupInput {
    /// What set it off.
    pub trigger: SetupTrigger,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Which configuration changed.
    pub enum ConfigSource {
        UserSettings = "user_settings",
        ProjectSettings = "project_settings",
        LocalSettings = "local_settings",
        PolicySettings = "policy_settings",
        Skills = "skills",
    }
}

/// A configuration file changed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ConfigChangeInput {
    /// Where it comes from.
    pub source: ConfigSource,
    /// Path of the file.
    pub file_path: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A worktree is wanted.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct WorktreeCreateInput {
    /// Its name.
    pub name: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A worktree is to be removed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct WorktreeRemoveInput {
    /// Path of the worktree.
    pub worktree_path: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Whose instructions they are.
    pub enum MemoryType {
        User = "User",
        Project = "Project",
        Local = "Local",
        Managed = "Managed",
    }
}

open_enum! {
    /// Why instructions were loaded.
    pub enum LoadReason {
        SessionStart = "session_start",
        NestedTraversal = "nested_traversal",
        PathGlobMatch = "path_glob_match",
        Include = "include",
        Compact = "compact",
    }
}

/// An instructions file was loaded.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct InstructionsLoadedInput {
    /// Path of the file.
    pub file_path: String,
    /// Whose instructions they are.
    pub memory_type: MemoryType,
    /// Why they were loaded.
    pub load_reason: LoadReason,
    /// Path patterns they apply to.
    pub globs: Option<Vec<String>>,
    /// File that made them load.
    pub trigger_file_path: Option<String>,
    /// File that includes them.
    pub parent_file_path: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The working folder changed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CwdChangedInput {
    /// Folder before.
    pub old_cwd: String,
    /// Folder after.
    pub new_cwd: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What happened to a file.
    pub enum FileEvent {
        Change = "change",
        Add = "add",
        Unlink = "unlink",
    }
}

/// A watched file changed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct FileChangedInput {
    /// Path of the file.
    pub file_path: String,
    /// What happened.
    pub event: FileEvent,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Who added a folder.
    pub enum DirectorySource {
        SlashCommand = "slash_command",
        RegisterRepoRoot = "register_repo_root",
    }
}

/// A folder was added.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct DirectoryAddedInput {
    /// The folder.
    pub directory: String,
    /// Where it comes from.
    pub source: DirectorySource,
    /// Fields this build does not know.
    pub extra: Extra,
}
