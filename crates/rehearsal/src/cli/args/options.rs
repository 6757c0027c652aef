//! What a command line asks for, value by value.
//!
//! [`Flags::parse`] is pure: it knows the flags and nothing else. [`Flags::checked`] also makes every check that the CLI
//! makes before a session begins, and reads the files that flags name.

use serde_json::Value;

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

/// What a command line asks for. Absent flags leave the default.
#[derive(Debug, Default)]
pub(in crate::cli) struct Flags {
    pub(in crate::cli) prompt: Option<String>,
    pub(in crate::cli) input_format: InputFormat,
    pub(in crate::cli) output_format: OutputFormat,
    pub(in crate::cli) partial: bool,
    /// Whether the session may switch to bypassPermissions.
    pub(in crate::cli) bypass_allowed: bool,
    pub(in crate::cli) session: Option<String>,
    /// `--resume`: an id or a title.
    pub(in crate::cli) resume: Option<String>,
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
    /// As the flag has it, a file or JSON; JSON alone after [`Flags::checked`].
    pub(in crate::cli) settings: Option<String>,
    /// The same.
    pub(in crate::cli) agents: Option<String>,
    /// None for no limit. A fraction is a limit, too.
    pub(in crate::cli) max_turns: Option<f64>,
    pub(in crate::cli) max_budget: Option<f64>,
    pub(in crate::cli) schema: Option<Value>,
    pub(in crate::cli) forwards_agent_text: bool,
    scanned: Scanned,
}

impl Flags {
    /// What the arguments after the program's name mean, as far as they can be understood alone.
    ///
    /// # Errors
    /// For a flag nobody knows, a value that is missing or wrong, another command, `--version` and `--help`.
    pub(in crate::cli) fn parse(arguments: &[String], version: Version) -> Result<Self, Refusal> {
        let scanned = scan::scan(arguments, version)?;
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
        Ok(Self {
            prompt: scanned.operands.first().cloned(),
            input_format: match scanned.last("--input-format") {
                Some("stream-json") => InputFormat::StreamJson,
                _ => InputFormat::Text,
            },
            output_format: match scanned.last("--output-format") {
                Some("stream-json") => OutputFormat::StreamJson,
                Some("json") => OutputFormat::Json,
                _ => OutputFormat::Text,
            },
            partial: scanned.has("--include-partial-messages"),
            bypass_allowed: mode == Some("bypassPermissions")
                || scanned.has("--allow-dangerously-skip-permissions"),
            session: filled("--session-id"),
            resume: scanned.text("--resume"),
            model: scanned.last("--model").and_then(model::resolve),
            mode: mode.map(str::to_owned),
            asks_host: scanned.last("--permission-prompt-tool") == Some("stdio"),
            allowed: scanned.rules("--allowed-tools"),
            disallowed: scanned.rules("--disallowed-tools"),
            tools: tools.filter(|tools| tools.len() != 1 || tools[0] != "default"),
            settings: filled("--settings"),
            agents: filled("--agents"),
            // Zero and less are no limit, as the CLI takes it.
            max_turns: scanned
                .last("--max-turns")
                .and_then(scan::number)
                .filter(|most| *most > 0.0),
            max_budget: scanned.last("--max-budget-usd").and_then(scan::number),
            schema: schema.and_then(|text| serde_json::from_str(&text).ok()),
            forwards_agent_text: scanned.has("--forward-subagent-text"),
            scanned,
        })
    }

    /// The same, and everything that is checked before a session begins; what flags name is read.
    ///
    /// # Errors
    /// What does not go together, what cannot be read, what is not played.
    pub(in crate::cli) fn checked(mut self, world: &World<'_>) -> Result<Self, Refusal> {
        check::session(&mut self, world)?;
        Ok(self)
    }

    /// Whether the flag was given, by the last of its spellings.
    pub(in crate::cli) fn has(&self, name: &str) -> bool {
        self.scanned.has(name)
    }

    /// The last value of the flag, by the last of its spellings.
    pub(in crate::cli) fn value(&self, name: &str) -> Option<&str> {
        self.scanned.last(name)
    }

    /// Every value of the flag, by the last of its spellings.
    pub(in crate::cli) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.scanned.all(name)
    }
}
