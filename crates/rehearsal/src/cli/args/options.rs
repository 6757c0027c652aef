//! What a command line asks for, value by value.
//!
//! [`Options::parse`] is pure: it knows the flags and nothing else. [`Options::read`] also makes every check that the CLI
//! makes before a session begins, and reads the files that flags name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::check::{self, World};
use super::refusal::Refusal;
use super::scan::{self, Scanned};
use super::value;
use super::{model, number};
use crate::cli::version::Version;

/// How input comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::cli) enum InputFormat {
    /// One prompt, from the command line and from stdin up to its end.
    #[default]
    Text,
    /// A message a line.
    StreamJson,
}

/// How output is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::cli) enum OutputFormat {
    /// The answer alone.
    #[default]
    Text,
    /// The result, or with `--verbose` all messages, as one JSON value.
    Json,
    /// A message a line.
    StreamJson,
}

/// Which session to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Resume {
    /// The newest of this folder.
    Newest,
    /// One by its id or title; nothing if `--resume` stands alone.
    Named(Option<String>),
}

/// Everything a command line asks for. Absent flags leave the default.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::cli) struct Options {
    pub(in crate::cli) print: bool,
    pub(in crate::cli) prompt: Option<String>,
    pub(in crate::cli) input_format: InputFormat,
    pub(in crate::cli) output_format: OutputFormat,
    pub(in crate::cli) verbose: bool,
    pub(in crate::cli) replay: bool,
    pub(in crate::cli) partial: bool,
    pub(in crate::cli) hook_events: bool,
    pub(in crate::cli) forward_subagent_text: bool,
    pub(in crate::cli) prompt_suggestions: bool,
    pub(in crate::cli) await_initialize: bool,

    /// As it is written on the wire: `default`, not `manual`.
    pub(in crate::cli) permission_mode: Option<String>,
    /// Whether the session may switch to bypassPermissions.
    pub(in crate::cli) bypass_allowed: bool,
    pub(in crate::cli) permission_prompt_tool: Option<String>,
    /// Nobody is asked: what would be is refused.
    pub(in crate::cli) asks_nobody: bool,
    pub(in crate::cli) allowed_tools: Vec<String>,
    pub(in crate::cli) disallowed_tools: Vec<String>,
    /// The built-in tools to offer; None for the usual ones.
    pub(in crate::cli) tools: Option<Vec<String>>,
    pub(in crate::cli) add_dirs: Vec<String>,
    pub(in crate::cli) restricted: bool,
    pub(in crate::cli) bare: bool,
    pub(in crate::cli) safe_mode: bool,
    pub(in crate::cli) disable_slash_commands: bool,

    /// As the flag has it: a file or JSON.
    pub(in crate::cli) settings: Option<String>,
    /// Which settings files count; None for all.
    pub(in crate::cli) setting_sources: Option<Vec<String>>,
    pub(in crate::cli) mcp_config: Vec<String>,
    pub(in crate::cli) strict_mcp_config: bool,
    /// As the flag has it: a file or JSON.
    pub(in crate::cli) agents: Option<String>,
    pub(in crate::cli) agent: Option<String>,
    pub(in crate::cli) plugin_dirs: Vec<String>,

    /// The full name, where an alias was given.
    pub(in crate::cli) model: Option<String>,
    pub(in crate::cli) fallback_models: Vec<String>,
    pub(in crate::cli) effort: Option<String>,
    pub(in crate::cli) thinking: Option<String>,
    pub(in crate::cli) max_thinking_tokens: Option<f64>,
    pub(in crate::cli) betas: Vec<String>,
    pub(in crate::cli) system_prompt: Option<String>,
    pub(in crate::cli) system_prompt_file: Option<String>,
    pub(in crate::cli) append_system_prompt: Option<String>,
    pub(in crate::cli) append_system_prompt_file: Option<String>,
    /// None for no limit. A fraction is a limit, too.
    pub(in crate::cli) max_turns: Option<f64>,
    pub(in crate::cli) max_budget_usd: Option<f64>,
    /// As the flag has it.
    pub(in crate::cli) json_schema: Option<String>,

    pub(in crate::cli) session_id: Option<String>,
    pub(in crate::cli) resume: Option<Resume>,
    pub(in crate::cli) fork_session: bool,
    pub(in crate::cli) resume_session_at: Option<String>,
    pub(in crate::cli) resume_drops_turn: Option<String>,
    pub(in crate::cli) no_session_persistence: bool,
    pub(in crate::cli) name: Option<String>,

    /// Every flag that was given, by the last of its spellings: the values in order, none for a switch.
    pub(in crate::cli) given: BTreeMap<&'static str, Vec<String>>,
    /// What flags named, read. Filled by [`Options::read`].
    pub(in crate::cli) loaded: Loaded,
    /// What is said on stderr before the session begins, a line each.
    pub(in crate::cli) warnings: Vec<String>,
}

/// What flags named, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::cli) struct Loaded {
    /// Of `--settings`; null if there are none.
    pub(in crate::cli) settings: Value,
    /// Of `--mcp-config`, by name; later ones win.
    pub(in crate::cli) mcp_servers: Map<String, Value>,
    /// Of `--agents`, by name.
    pub(in crate::cli) agents: Map<String, Value>,
    pub(in crate::cli) json_schema: Option<Value>,
    pub(in crate::cli) system_prompt: Option<String>,
    pub(in crate::cli) append_system_prompt: Option<String>,
}

impl Options {
    /// What the arguments after the program's name mean, as far as they can be understood alone.
    ///
    /// # Errors
    /// For a flag nobody knows, a value that is missing or wrong, another command, `--version` and `--help`.
    pub(in crate::cli) fn parse(arguments: &[String], version: Version) -> Result<Self, Refusal> {
        scan::scan(arguments, version).map(|scanned| Self::of(&scanned, version))
    }

    /// The same, and everything that is checked before a session begins; files that flags name are read.
    ///
    /// # Errors
    /// Beside those of [`Options::parse`]: what does not go together, what cannot be read, what is not played.
    pub(in crate::cli) fn read(
        arguments: &[String],
        version: Version,
        world: &World<'_>,
    ) -> Result<Self, Refusal> {
        check::before_flags(arguments, version, world)?;
        let mut options = Self::parse(arguments, version)?;
        check::session(&mut options, world)?;
        Ok(options)
    }

    /// Whether the flag was given, by the last of its spellings.
    pub(in crate::cli) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The last value of the flag, by the last of its spellings.
    pub(in crate::cli) fn value(&self, name: &str) -> Option<&str> {
        self.given.get(name)?.last().map(String::as_str)
    }

    fn of(scanned: &Scanned, version: Version) -> Self {
        let mut options = Self {
            print: scanned.has("--print"),
            prompt: scanned.operands.first().cloned(),
            verbose: scanned.has("--verbose"),
            replay: scanned.has("--replay-user-messages"),
            partial: scanned.has("--include-partial-messages"),
            hook_events: scanned.has("--include-hook-events"),
            forward_subagent_text: scanned.has("--forward-subagent-text"),
            prompt_suggestions: suggests(scanned),
            await_initialize: scanned.has("--await-initialize"),
            warnings: scanned.warnings.clone(),
            ..Self::default()
        };
        if scanned.last("--input-format") == Some("stream-json") {
            options.input_format = InputFormat::StreamJson;
        }
        options.output_format = match scanned.last("--output-format") {
            Some("stream-json") => OutputFormat::StreamJson,
            Some("json") => OutputFormat::Json,
            _ => OutputFormat::Text,
        };
        options.set_permissions(scanned);
        options.set_sources(scanned);
        options.set_model(scanned, version);
        options.set_session(scanned);
        for (name, value) in scanned.given() {
            let values = options.given.entry(name).or_default();
            values.extend(value.map(str::to_owned));
        }
        options
    }

    fn set_permissions(&mut self, scanned: &Scanned) {
        let skips = scanned.has("--dangerously-skip-permissions");
        let mode = scanned
            .last("--permission-mode")
            .or(scanned.last("--inherit-permission-mode"));
        let mode = if skips {
            Some("bypassPermissions")
        } else {
            mode
        };
        // `manual` is how `default` is written on the command line.
        let mode = mode.map(|mode| if mode == "manual" { "default" } else { mode });
        self.permission_mode = mode.map(str::to_owned);
        self.bypass_allowed = skips
            || mode == Some("bypassPermissions")
            || scanned.has("--allow-dangerously-skip-permissions");
        self.permission_prompt_tool = scanned.text("--permission-prompt-tool");
        self.asks_nobody = scanned.last("--permission-prompts") == Some("none");
        self.allowed_tools = value::tools(scanned.all("--allowed-tools"));
        self.disallowed_tools = value::tools(scanned.all("--disallowed-tools"));
        let tools = scanned
            .has("--tools")
            .then(|| value::tools(scanned.all("--tools")));
        self.tools = tools.filter(|tools| tools.len() != 1 || tools[0] != "default");
        self.add_dirs = scanned.list("--add-dir");
        self.restricted = scanned.has("--restricted");
        self.bare = scanned.has("--bare");
        self.safe_mode = scanned.has("--safe-mode");
        self.disable_slash_commands = scanned.has("--disable-slash-commands");
    }

    fn set_sources(&mut self, scanned: &Scanned) {
        let filled = |name: &str| scanned.text(name).filter(|text| !text.is_empty());
        self.settings = filled("--settings");
        self.setting_sources = scanned.last("--setting-sources").map(|sources| {
            let sources = sources.split(',').map(str::trim);
            let named = sources.filter(|source| !source.is_empty());
            named.map(str::to_owned).collect()
        });
        self.mcp_config = scanned.list("--mcp-config");
        self.strict_mcp_config = scanned.has("--strict-mcp-config");
        self.agents = filled("--agents");
        self.agent = filled("--agent");
        self.plugin_dirs = scanned.list("--plugin-dir");
        self.plugin_dirs.extend(scanned.list("--plugin-dir-no-mcp"));
    }

    fn set_model(&mut self, scanned: &Scanned, version: Version) {
        let resolve = |name| model::resolve(name, version);
        self.model = scanned.last("--model").and_then(resolve);
        let fallbacks = scanned
            .last("--fallback-model")
            .unwrap_or_default()
            .split(',');
        self.fallback_models = fallbacks.filter_map(resolve).collect();
        let effort = scanned.last("--effort").map(value::effort);
        self.effort = effort.and_then(Result::ok);
        self.thinking = scanned.text("--thinking");
        self.max_thinking_tokens = scanned.last("--max-thinking-tokens").and_then(number::read);
        self.betas = scanned.list("--betas");
        self.system_prompt = scanned.text("--system-prompt");
        self.system_prompt_file = scanned.text("--system-prompt-file");
        self.append_system_prompt = scanned.text("--append-system-prompt");
        self.append_system_prompt_file = scanned.text("--append-system-prompt-file");
        let turns = scanned.last("--max-turns").and_then(number::read);
        self.max_turns = turns.filter(|turns| *turns != 0.0);
        self.max_budget_usd = scanned.last("--max-budget-usd").and_then(value::budget);
        self.json_schema = scanned
            .text("--json-schema")
            .filter(|text| !text.is_empty());
    }

    fn set_session(&mut self, scanned: &Scanned) {
        self.session_id = scanned.text("--session-id").filter(|id| !id.is_empty());
        self.resume = if scanned.has("--resume") {
            Some(Resume::Named(scanned.text("--resume")))
        } else {
            scanned.has("--continue").then_some(Resume::Newest)
        };
        self.fork_session = scanned.has("--fork-session");
        self.resume_session_at = scanned.text("--resume-session-at");
        self.resume_drops_turn = scanned.text("--resume-drops-turn");
        self.no_session_persistence = scanned.has("--no-session-persistence");
        self.name = scanned.text("--name").filter(|name| !name.is_empty());
    }
}

fn suggests(scanned: &Scanned) -> bool {
    let value = scanned.last("--prompt-suggestions").unwrap_or("true");
    scanned.has("--prompt-suggestions") && value::switch(value) != Some(false)
}
