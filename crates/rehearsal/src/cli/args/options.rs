//! What a command line asks for, value by value.
//!
//! [`Options::parse`] is pure: it knows the flags and nothing else. [`Options::read`] also makes every check that the CLI
//! makes before a session begins, and reads the files that flags name. [`Flags`] is what of it the engine needs.

use serde_json::{Map, Value};

use super::check::{self, World};
use super::model;
use super::scan::{self, Refusal, Scanned};
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

/// What the flags ask of the engine. Absent ones leave the default.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::cli) struct Flags {
    pub(in crate::cli) replay: bool,
    pub(in crate::cli) partial: bool,
    /// Whether the session may switch to bypassPermissions.
    pub(in crate::cli) bypass_allowed: bool,
    pub(in crate::cli) session: Option<String>,
    /// `--resume`: an id or a title.
    pub(in crate::cli) resume: Option<String>,
    pub(in crate::cli) resume_at: Option<String>,
    /// The prompt of the turn that `resume_at` drops.
    pub(in crate::cli) resume_drops: Option<String>,
    pub(in crate::cli) resume_latest: bool,
    pub(in crate::cli) fork: bool,
    /// `--no-session-persistence` leaves nothing behind.
    pub(in crate::cli) keeps_nothing: bool,
    pub(in crate::cli) name: Option<String>,
    /// The full name, where an alias was given.
    pub(in crate::cli) model: Option<String>,
    /// As it is written on the wire: `default`, not `manual`.
    pub(in crate::cli) mode: Option<String>,
    /// `--permission-prompt-tool stdio`.
    pub(in crate::cli) asks_host: bool,
    pub(in crate::cli) allowed: Vec<String>,
    pub(in crate::cli) disallowed: Vec<String>,
    /// The built-in tools to offer; None for the usual ones.
    pub(in crate::cli) tools: Option<Vec<String>>,
    pub(in crate::cli) add_dirs: Vec<String>,
    /// As the flag has it: a file or JSON.
    pub(in crate::cli) settings: Option<String>,
    pub(in crate::cli) managed_settings: Option<String>,
    /// Which settings files count; None for all.
    pub(in crate::cli) setting_sources: Option<String>,
    /// As the flag has it: a file or JSON.
    pub(in crate::cli) agents: Option<String>,
    /// `--mcp-config`: files, or JSON.
    pub(in crate::cli) mcp_config: Vec<String>,
    /// `--plugin-dir`, and `--plugin-dir-no-mcp`.
    pub(in crate::cli) plugin_dirs: Vec<String>,
    /// None for no limit. A fraction is a limit, too.
    pub(in crate::cli) max_turns: Option<f64>,
    pub(in crate::cli) max_budget: Option<f64>,
    pub(in crate::cli) schema: Option<Value>,
    pub(in crate::cli) forwards_agent_text: bool,
    /// `--session-mirror`: the transcript is told on stdout, too.
    pub(in crate::cli) mirrors: bool,
    /// `--include-hook-events`.
    pub(in crate::cli) shows_hooks: bool,
    pub(in crate::cli) awaits_initialize: bool,
}

/// Everything a command line asks for.
#[derive(Debug, Default)]
pub(in crate::cli) struct Options {
    pub(in crate::cli) flags: Flags,
    pub(in crate::cli) print: bool,
    pub(in crate::cli) prompt: Option<String>,
    pub(in crate::cli) input_format: InputFormat,
    pub(in crate::cli) output_format: OutputFormat,
    pub(in crate::cli) verbose: bool,
    pub(in crate::cli) resume: Option<Resume>,
    /// Of `--settings`, read; null if there are none.
    pub(in crate::cli) settings: Value,
    /// Of `--agents`, by name, read.
    pub(in crate::cli) agents: Map<String, Value>,
    /// What is said on stderr before the session begins, a line each.
    pub(in crate::cli) warnings: Vec<String>,
    pub(super) scanned: Scanned,
}

impl Flags {
    /// What the arguments after the name of the program ask of the engine, as far as they can be understood alone.
    ///
    /// # Errors
    /// What the CLI of this version refuses.
    pub(in crate::cli) fn read(arguments: &[String], version: Version) -> Result<Self, Refusal> {
        Options::parse(arguments, version).map(|options| options.flags)
    }

    fn of(scanned: &Scanned) -> Self {
        let filled = |name: &str| scanned.text(name).filter(|text| !text.is_empty());
        let skips = scanned.has("--dangerously-skip-permissions");
        let mode = match scanned.last("--permission-mode") {
            _ if skips => Some("bypassPermissions"),
            // How `default` is written on the command line.
            Some("manual") => Some("default"),
            mode => mode,
        };
        let tools = scanned.has("--tools").then(|| scanned.rules("--tools"));
        let schema = filled("--json-schema");
        Self {
            replay: scanned.has("--replay-user-messages"),
            partial: scanned.has("--include-partial-messages"),
            bypass_allowed: skips
                || mode == Some("bypassPermissions")
                || scanned.has("--allow-dangerously-skip-permissions"),
            session: filled("--session-id"),
            resume: scanned.text("--resume"),
            resume_at: scanned.text("--resume-session-at"),
            resume_drops: scanned.text("--resume-drops-turn"),
            resume_latest: scanned.has("--continue") && !scanned.has("--resume"),
            fork: scanned.has("--fork-session"),
            keeps_nothing: scanned.has("--no-session-persistence"),
            name: filled("--name"),
            model: scanned.last("--model").and_then(model::resolve),
            mode: mode.map(str::to_owned),
            asks_host: scanned.last("--permission-prompt-tool") == Some("stdio"),
            allowed: scanned.rules("--allowed-tools"),
            disallowed: scanned.rules("--disallowed-tools"),
            tools: tools.filter(|tools| tools.len() != 1 || tools[0] != "default"),
            add_dirs: scanned.list("--add-dir"),
            settings: filled("--settings"),
            managed_settings: scanned.text("--managed-settings"),
            setting_sources: scanned.text("--setting-sources"),
            agents: filled("--agents"),
            mcp_config: scanned.list("--mcp-config"),
            plugin_dirs: ["--plugin-dir", "--plugin-dir-no-mcp"]
                .iter()
                .flat_map(|flag| scanned.list(flag))
                .collect(),
            // Zero and less are no limit, as the CLI takes it.
            max_turns: scanned
                .last("--max-turns")
                .and_then(scan::number)
                .filter(|most| *most > 0.0),
            max_budget: scanned.last("--max-budget-usd").and_then(scan::number),
            schema: schema.and_then(|text| serde_json::from_str(&text).ok()),
            forwards_agent_text: scanned.has("--forward-subagent-text"),
            mirrors: scanned.has("--session-mirror"),
            shows_hooks: scanned.has("--include-hook-events"),
            awaits_initialize: scanned.has("--await-initialize"),
        }
    }
}

impl Options {
    /// What the arguments after the program's name mean, as far as they can be understood alone.
    ///
    /// # Errors
    /// For a flag nobody knows, a value that is missing or wrong, another command, `--version` and `--help`.
    pub(in crate::cli) fn parse(arguments: &[String], version: Version) -> Result<Self, Refusal> {
        let scanned = scan::scan(arguments, version)?;
        Ok(Self {
            flags: Flags::of(&scanned),
            print: scanned.has("--print"),
            prompt: scanned.operands.first().cloned(),
            verbose: scanned.has("--verbose"),
            input_format: match scanned.last("--input-format") {
                Some("stream-json") => InputFormat::StreamJson,
                _ => InputFormat::Text,
            },
            output_format: match scanned.last("--output-format") {
                Some("stream-json") => OutputFormat::StreamJson,
                Some("json") => OutputFormat::Json,
                _ => OutputFormat::Text,
            },
            resume: if scanned.has("--resume") {
                Some(Resume::Named(scanned.text("--resume")))
            } else {
                scanned.has("--continue").then_some(Resume::Newest)
            },
            scanned,
            ..Self::default()
        })
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
        let mut options = Self::parse(arguments, version)?;
        check::session(&mut options, world)?;
        Ok(options)
    }

    /// Whether the flag was given, by the last of its spellings.
    pub(in crate::cli) fn has(&self, name: &str) -> bool {
        self.scanned.has(name)
    }

    /// The last value of the flag, by the last of its spellings.
    pub(in crate::cli) fn value(&self, name: &str) -> Option<&str> {
        self.scanned.last(name)
    }
}
