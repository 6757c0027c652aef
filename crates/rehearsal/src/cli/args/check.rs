//! What does not go together, what cannot be played, and what flags name: settings, servers, agents, prompts.
//!
//! Owns the refusals that need more than one flag, or a look at the surroundings. Reads only what a flag names, and never
//! writes. Whether a session to resume exists is not asked here.

use std::path::Path;

use serde_json::{Map, Value};

use super::options::{Flags, InputFormat, OutputFormat};
use super::piped::Prompt;
use super::scan::Refusal;
use crate::cli::ids::is_uuid;

/// What the checks need to know of the surroundings.
pub(in crate::cli) struct World<'a> {
    pub(in crate::cli) cwd: &'a Path,
    /// Whether the user is root.
    pub(in crate::cli) root: bool,
    /// Whether stdout is a terminal.
    pub(in crate::cli) terminal: bool,
    pub(in crate::cli) env: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a session of this id has a transcript.
    pub(in crate::cli) session_in_use: &'a dyn Fn(&str) -> bool,
}

/// What runs on another machine, or beside this process.
const NOT_PLAYED: [&str; 5] = [
    "--sdk-url",
    "--background",
    "--cloud",
    "--remote",
    "--environment",
];

/// Everything that is checked before a session begins. Puts what files hold in place of their names.
pub(super) fn session(flags: &mut Flags, world: &World<'_>) -> Result<(), Refusal> {
    if let Some(text) = &flags.settings {
        let settings = json_or_file(world.cwd, text, "Settings file", "--settings")?;
        flags.settings = Some(settings.to_string());
    }
    let sources = flags.value("--setting-sources").unwrap_or_default();
    for source in sources.split(',').map(str::trim) {
        if !["", "user", "project", "local"].contains(&source) {
            return Err(Refusal::saying(format!(
                "Error processing --setting-sources: Invalid setting source: {source}. Valid options are: user, project, local"
            )));
        }
    }
    if let Some(flag) = NOT_PLAYED.iter().find(|flag| flags.has(flag)) {
        return Err(Refusal::saying(format!(
            "the scripted CLI does not play `{flag}`: leave it out"
        )));
    }
    if world.terminal && !flags.has("--print") && !flags.has("--init-only") {
        return Err(Refusal::saying(
            "the scripted CLI plays no terminal session. Ask it one thing: claude -p \"your question\". \
             Or talk to it line by line: claude --input-format stream-json --output-format stream-json --verbose | cat",
        ));
    }
    identity(flags, world)?;
    named_files(flags, world.cwd)?;
    together(flags)?;
    root(flags, world)
}

fn read(cwd: &Path, name: &str, what: &str) -> Result<String, Refusal> {
    let path = cwd.join(name);
    std::fs::read_to_string(&path)
        .map_err(|_| Refusal::error(format!("{what} not found: {}", path.display())))
}

/// JSON on the spot, or in the file that is named. A file without any is as good as empty.
fn json_or_file(cwd: &Path, text: &str, what: &str, flag: &str) -> Result<Value, Refusal> {
    if text.trim_start().starts_with('{') {
        let invalid = |_| Refusal::error(format!("Invalid JSON provided to {flag}"));
        return serde_json::from_str(text).map_err(invalid);
    }
    let file = read(cwd, text, what)?;
    Ok(serde_json::from_str(&file).unwrap_or_default())
}

fn named_files(flags: &mut Flags, cwd: &Path) -> Result<(), Refusal> {
    if let Some(text) = &flags.agents {
        let agents: Map<String, Value> = match json_or_file(cwd, text, "--agents file", "--agents")?
        {
            Value::Object(agents) => agents,
            _ => Map::new(),
        };
        let lacks =
            |agent: &Value| !agent["description"].is_string() || !agent["prompt"].is_string();
        if let Some((name, _)) = agents.iter().find(|(_, agent)| lacks(agent)) {
            return Err(Refusal::error(format!(
                "Invalid --agents configuration:\n{name}: needs a description and a prompt"
            )));
        }
        flags.agents = Some(Value::Object(agents).to_string());
    }
    for (flag, which) in [
        ("--system-prompt-file", "System prompt file"),
        ("--append-system-prompt-file", "Append system prompt file"),
    ] {
        if let Some(file) = flags.value(flag) {
            read(cwd, file, which)?;
        }
    }
    let configs = flags.values("--mcp-config");
    for config in configs.filter(|text| !text.is_empty()) {
        let config = json_or_file(cwd, config, "MCP config file", "--mcp-config")?;
        if !config["mcpServers"].is_object() {
            return Err(Refusal::error(
                "Invalid MCP configuration:\nmcpServers: Invalid input: expected record",
            ));
        }
    }
    let schema = flags.value("--json-schema");
    let schema = schema.filter(|text| !text.is_empty());
    match schema.map(serde_json::from_str::<Value>) {
        None | Some(Ok(Value::Object(_))) => Ok(()),
        Some(Ok(_)) => Err(Refusal::error("--json-schema must be a JSON object")),
        Some(Err(why)) => Err(Refusal::error(format!(
            "--json-schema is not valid JSON: {why}"
        ))),
    }
}

fn identity(flags: &Flags, world: &World<'_>) -> Result<(), Refusal> {
    let Some(id) = &flags.session else {
        return Ok(());
    };
    let resumes = flags.has("--resume") || flags.has("--continue");
    if resumes && !flags.has("--fork-session") {
        return Err(Refusal::error(
            "--session-id can only be used with --continue or --resume if --fork-session is also specified.",
        ));
    }
    if !is_uuid(id) {
        return Err(Refusal::error("Invalid session ID. Must be a valid UUID."));
    }
    match !resumes && (world.session_in_use)(id) {
        true => Err(Refusal::error(format!(
            "Session ID {id} is already in use."
        ))),
        false => Ok(()),
    }
}

/// Flags that need other flags.
fn together(flags: &Flags) -> Result<(), Refusal> {
    let reads_lines = flags.input_format == InputFormat::StreamJson;
    let writes_lines = flags.output_format == OutputFormat::StreamJson;
    let cuts = flags.has("--resume-session-at");
    let wrong = [
        (
            reads_lines && !writes_lines,
            "--input-format=stream-json requires output-format=stream-json.",
        ),
        (
            flags.has("--replay-user-messages") && !(reads_lines && writes_lines),
            "--replay-user-messages requires both --input-format=stream-json and --output-format=stream-json.",
        ),
        (
            flags.partial && !writes_lines,
            "--include-partial-messages requires --print and --output-format=stream-json.",
        ),
        (
            cuts && !flags.has("--resume"),
            "--resume-session-at requires --resume",
        ),
        (
            flags.has("--resume-drops-turn") && !cuts,
            "--resume-drops-turn requires --resume-session-at",
        ),
    ];
    match wrong.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, text)) => Err(Refusal::error(text)),
        None => Ok(()),
    }
}

fn root(flags: &Flags, world: &World<'_>) -> Result<(), Refusal> {
    let is_set = |name| (world.env)(name).as_deref() == Some("1");
    let fenced = is_set("IS_SANDBOX") || is_set("CLAUDE_CODE_BUBBLEWRAP");
    let settings = flags.settings.as_deref().unwrap_or_default();
    let settings: Value = serde_json::from_str(settings).unwrap_or_default();
    let mode = flags.mode.as_deref();
    let mode = mode.or(settings["permissions"]["defaultMode"].as_str());
    let wanted = flags.bypass_allowed || mode == Some("bypassPermissions");
    match wanted && world.root && !fenced {
        false => Ok(()),
        true => Err(Refusal::saying(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
        )),
    }
}

impl Flags {
    /// Makes the last checks, when the prompt is whole and the session to resume, if any, was found.
    ///
    /// # Errors
    /// When there is nothing to answer, or `--output-format=stream-json` stands without `--verbose`.
    pub(in crate::cli) fn check_prompt(
        &self,
        prompt: &Prompt,
        resumed: bool,
    ) -> Result<(), Refusal> {
        let reads_text = self.input_format == InputFormat::Text && !self.has("--init-only");
        let wrong = match prompt {
            Prompt::Missing if reads_text && resumed => {
                "No deferred tool marker found in the resumed session. Provide a prompt to continue the conversation."
            }
            Prompt::Missing if reads_text => {
                "Input must be provided either through stdin or as a prompt argument when using --print"
            }
            Prompt::Blank if reads_text => {
                "Input contained only whitespace. Provide a prompt with text through stdin or as a prompt argument when using --print"
            }
            _ if self.output_format == OutputFormat::StreamJson && !self.has("--verbose") => {
                "When using --print, --output-format=stream-json requires --verbose"
            }
            _ => return Ok(()),
        };
        Err(Refusal::error(wrong))
    }

    /// What is said when no session fits `--resume`; without it, or with `--continue`, a new one begins.
    pub(in crate::cli) fn nothing_to_resume(&self) -> Option<Refusal> {
        if !self.has("--resume") {
            return None;
        }
        if let Some(id) = self.resume.as_ref().filter(|id| is_uuid(id)) {
            let text = format!("No conversation found with session ID: {id}");
            return Some(Refusal::saying(text));
        }
        let which = self.resume.as_ref().map(|title| {
            format!(
                ". Provided value \"{title}\" is not a UUID and does not match any session title."
            )
        });
        Some(Refusal::error(format!(
            "--resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>{}",
            which.unwrap_or_default()
        )))
    }
}
