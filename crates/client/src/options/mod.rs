//! What a run is to be: options, and what becomes of them on the command line, in the environment and in `initialize`.
//!
//! Owns [`Options`] and its groups. Pure but for a few looks at the file system; `launch` puts the parts
//! together and nothing here starts a process, except [`probe_version`]. Invariant: an unset option sends nothing, so
//! the CLI's own default holds.

mod argv;
mod capability;
mod env;
mod error;
mod lint;
mod locate;
pub(crate) mod setters;
mod settings;
mod values;
mod version;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use countersign_wire::Json;
use countersign_wire::control::{AgentDefinition, PluginConfig};
use countersign_wire::mcp::McpServerConfig;
use countersign_wire::vocab::{Effort, PermissionMode};

pub(crate) use argv::{Arg, Draft};
pub use capability::{
    Capabilities, DropReason, DroppedUpdate, IdleSignal, Outcome, StdinKind, Support, turn_outcome,
};
pub(crate) use env::EnvChange;
use env::EnvOptions;
pub use env::{ChildEnv, MARKER};
pub use error::OptionError;
pub use lint::Warning;
pub(crate) use lint::{Scene as LintScene, warnings};
pub use locate::{Cli, INSTALL, LocateError, Located, Surroundings};
pub(crate) use setters::option_setters;
use settings::SettingsOptions;
pub(crate) use values::Hidden;
pub use values::{
    PermissionPrompts, Prompt, SettingSource, Settings, Skills, Thinking, ThinkingDisplay, Tools,
};
pub use version::{NoVersion, OLDEST_SUPPORTED, ProbeError, Version, probe_version};

/// Everything that can be said of a run before it starts. Set by the chainable methods.
///
/// `Debug` shows neither values of variables nor settings, server configurations or prompts.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    pub(crate) cli: Cli,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: EnvOptions,
    pub(crate) model: ModelOptions,
    pub(crate) prompt: PromptOptions,
    pub(crate) permission: PermissionOptions,
    pub(crate) session: SessionOptions,
    pub(crate) stream: StreamOptions,
    pub(crate) extension: ExtensionOptions,
    pub(crate) settings: SettingsOptions,
    pub(crate) extra_args: Vec<(String, Hidden<Option<OsString>>)>,
}

/// Model, thinking, limits.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelOptions {
    pub(crate) model: Option<String>,
    pub(crate) fallback: Vec<String>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) thinking_display: Option<ThinkingDisplay>,
    pub(crate) effort: Option<Effort>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) max_budget_usd: Option<f64>,
    pub(crate) task_budget: Option<u64>,
    pub(crate) betas: Vec<String>,
    pub(crate) json_schema: Option<Json>,
}

/// What the model is told beside the prompt.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptOptions {
    pub(crate) system: Option<Prompt>,
    pub(crate) append: Option<Prompt>,
    pub(crate) exclude_dynamic_sections: bool,
    pub(crate) snapshot: Option<bool>,
    pub(crate) plan_mode_instructions: Option<String>,
}

/// Who may do what.
#[derive(Debug, Clone, Default)]
pub(crate) struct PermissionOptions {
    pub(crate) mode: Option<PermissionMode>,
    pub(crate) prompt_tool: Option<String>,
    pub(crate) prompts: Option<PermissionPrompts>,
    pub(crate) allow_skip: bool,
    pub(crate) skip: bool,
    pub(crate) allowed: Vec<String>,
    pub(crate) disallowed: Vec<String>,
    pub(crate) tools: Option<Tools>,
    pub(crate) tool_aliases: BTreeMap<String, String>,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) bare: bool,
    pub(crate) safe_mode: bool,
    pub(crate) restricted: bool,
    pub(crate) auto_mode_during_plan: bool,
}

/// Which conversation it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionOptions {
    pub(crate) continue_latest: bool,
    pub(crate) resume: Option<String>,
    pub(crate) fork: bool,
    pub(crate) resume_at: Option<String>,
    pub(crate) resume_drops_turn: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) no_persistence: bool,
    pub(crate) mirror: bool,
    pub(crate) name: Option<String>,
    pub(crate) title: Option<String>,
}

/// What the CLI reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamOptions {
    pub(crate) partial_messages: bool,
    pub(crate) hook_events: bool,
    pub(crate) no_replay: bool,
    pub(crate) auth_status: bool,
    pub(crate) forward_subagent_text: bool,
    pub(crate) prompt_suggestions: bool,
    pub(crate) progress_summaries: bool,
    pub(crate) per_task_stop: bool,
    pub(crate) dialog_kinds: Vec<String>,
    pub(crate) await_initialize: bool,
    pub(crate) debug: bool,
    pub(crate) debug_file: Option<PathBuf>,
    pub(crate) workload: Option<String>,
}

/// What is added to the CLI: agents, servers, plugins, skills.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExtensionOptions {
    pub(crate) agent: Option<String>,
    pub(crate) agents: BTreeMap<String, Hidden<AgentDefinition>>,
    pub(crate) mcp_servers: BTreeMap<String, Hidden<McpServerConfig>>,
    pub(crate) mcp_files: Vec<PathBuf>,
    pub(crate) strict_mcp: bool,
    pub(crate) plugins: Vec<PluginConfig>,
    pub(crate) plugins_in_initialize: bool,
    pub(crate) skills: Option<Skills>,
    pub(crate) no_slash_commands: bool,
    pub(crate) channels: Vec<String>,
}

/// What the rest of the host brings to a run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Needs {
    /// A handler or a stream of questions answers permission requests.
    pub answers_permissions: bool,
    /// Hooks are registered.
    pub hooks: bool,
    /// Names of the MCP servers in this process.
    pub sdk_servers: Vec<String>,
    /// Value of the variable [`MARKER`], by which descendants are found.
    pub marker: Option<OsString>,
}

impl Options {
    /// Options that leave everything to the CLI.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn options_mut(&mut self) -> &mut Self {
        self
    }

    /// Whether something set here depends on the version of the CLI, so that asking for it first is worth its time.
    pub fn needs_version(&self) -> bool {
        let oldest = Capabilities::of(None);
        let needs = Needs::default();
        // Options that are wrong anyway fail later, with their own error.
        Draft::of(self, &needs, &oldest).is_ok_and(|draft| {
            draft
                .args
                .iter()
                .any(|arg| oldest.flag_supported(&arg.flag) == Support::Unmeasured)
        })
    }
}

option_setters!(Options);
