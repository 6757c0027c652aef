//! What does not go together, in the order in which the CLI finds it.
//!
//! Owns that order: of two mistakes on one line, the one that the CLI reports is reported. What only a host's own
//! account or another machine could fulfil is refused here, too. Whether a session to resume exists is not asked here.

use std::path::Path;

use super::combine::{channels, elsewhere, formats, resuming};
use super::files;
use super::input::Prompt;
use super::options::{InputFormat, Options, OutputFormat, Resume};
use super::refusal::Refusal;
use crate::cli::version::Version;

/// What the checks need to know of the surroundings.
pub(in crate::cli) struct World<'a> {
    /// The working directory.
    pub(in crate::cli) cwd: &'a Path,
    /// Whether the user is root.
    pub(in crate::cli) root: bool,
    /// Whether stdout is a terminal.
    pub(in crate::cli) terminal: bool,
    /// The environment.
    pub(in crate::cli) env: &'a dyn Fn(&str) -> Option<String>,
    /// The agents beside those of `--agents`, by name; asked only about one that is wanted.
    pub(in crate::cli) agents: &'a dyn Fn() -> Vec<String>,
    /// Whether a session of this id has a transcript.
    pub(in crate::cli) session_in_use: &'a dyn Fn(&str) -> bool,
}

/// What is looked at before the flags are: settings and their sources, found by a plain search.
pub(super) fn before_flags(
    arguments: &[String],
    version: Version,
    world: &World<'_>,
) -> Result<(), Refusal> {
    let has = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.as_str()));
    // An older version does not know the flag, and says so itself.
    let background = has(&["--bg", "--background"]) && version >= Version::NEWEST;
    if let Some(settings) = value_of(arguments, "--settings").filter(|text| !text.is_empty())
        && !background
    {
        files::settings(world.cwd, settings)?;
    }
    for source in value_of(arguments, "--setting-sources")
        .unwrap_or_default()
        .split(',')
    {
        let source = source.trim();
        if !["", "user", "project", "local"].contains(&source) {
            return Err(Refusal::saying(format!(
                "Error processing --setting-sources: Invalid setting source: {source}. Valid options are: user, project, local"
            )));
        }
    }
    match background {
        true => Err(in_background(has(&["-p", "--print"]), has(&["--desktop"]))),
        false => Ok(()),
    }
}

/// The last value of a flag, however the rest of the line reads.
fn value_of<'a>(arguments: &'a [String], flag: &str) -> Option<&'a str> {
    let line = arguments.iter().position(|word| word == "--");
    let arguments = &arguments[..line.unwrap_or(arguments.len())];
    arguments.iter().enumerate().rev().find_map(|(i, word)| {
        if word == flag {
            return arguments.get(i + 1).map(String::as_str);
        }
        word.strip_prefix(flag)?.strip_prefix('=')
    })
}

fn in_background(print: bool, desktop: bool) -> Refusal {
    Refusal::saying(if desktop {
        "--desktop opens the Claude Desktop app and can't run in the background (`--bg`, `--background`, `--routine`)."
    } else if print {
        "--bg and --print conflict: --print never starts the interactive session that `claude agents` attaches to, so the job would be unattachable. The prompt is the positional — drop --print: `claude --bg '<task>'`."
    } else {
        "the scripted CLI does not play `--bg`: leave it out, and put the process in the background instead"
    })
}

/// Everything else that is checked before a session begins. Fills what flags name.
pub(super) fn session(options: &mut Options, world: &World<'_>) -> Result<(), Refusal> {
    early(options, world)?;
    identity(options, world)?;
    sources(options, world)?;
    formats(options)?;
    if let Some(text) = &options.json_schema {
        options.loaded.json_schema = Some(files::schema(text)?);
    }
    worktree(options, world)?;
    root(options, world)?;
    agent(options, world)?;
    let schema = options.loaded.json_schema.as_ref();
    match schema.and_then(files::schema_complaint) {
        Some(refusal) => Err(refusal),
        None => resuming(options),
    }
}

fn early(options: &Options, world: &World<'_>) -> Result<(), Refusal> {
    if options.has("--managed-settings-in-initialize")
        && !(options.await_initialize && options.input_format == InputFormat::StreamJson)
    {
        return Err(Refusal::error(
            "--managed-settings-in-initialize requires --await-initialize and --input-format=stream-json with stdin piped, and cannot be used with --sdk-url or a subcommand.",
        ));
    }
    if let Some(root) = options.value("--project-config-root") {
        if !Path::new(root).is_absolute() {
            return Err(Refusal::error(
                "--project-config-root must be an absolute local path",
            ));
        }
        if !Path::new(root).is_dir() {
            return Err(Refusal::error(
                "--project-config-root is not an existing directory that this user can list",
            ));
        }
    }
    if options.has("--desktop") {
        return Err(Refusal::saying(
            "--desktop opens the Claude Desktop app and can't run non-interactively (`--print`, `--sdk-url`, `--init-only`, or redirected output).",
        ));
    }
    if world.terminal && !options.print && !options.has("--init-only") {
        return Err(Refusal::saying(
            "the scripted CLI plays no terminal session. Ask it one thing: claude -p \"your question\". \
             Or talk to it line by line: claude --input-format stream-json --output-format stream-json --verbose | cat",
        ));
    }
    Ok(())
}

fn identity(options: &mut Options, world: &World<'_>) -> Result<(), Refusal> {
    // Agents are read first, but a session id that cannot be is complained about before what is in them.
    if options.session_id.is_some() && options.resume.is_some() && !options.fork_session {
        return Err(Refusal::error(
            "--session-id can only be used with --continue or --resume if --fork-session is also specified.",
        ));
    }
    if let Some(agents) = &options.agents {
        options.loaded.agents = files::agents(world.cwd, agents)?;
    }
    elsewhere(options)?;
    if options.has("--tmux") && !options.has("--worktree") {
        return Err(Refusal::error("--tmux requires --worktree"));
    }
    if options.has("--watch-artifact") {
        return Err(Refusal::error(
            "--watch-artifact requires an interactive session (not print mode, --sdk-url, --init-only, or redirected output)",
        ));
    }
    if let Some(id) = &options.session_id {
        if !is_uuid(id) {
            return Err(Refusal::error("Invalid session ID. Must be a valid UUID."));
        }
        if options.resume.is_none() && (world.session_in_use)(id) {
            return Err(Refusal::error(format!(
                "Session ID {id} is already in use."
            )));
        }
    }
    if options.has("--file") && (world.env)("CLAUDE_CODE_SESSION_ACCESS_TOKEN").is_none() {
        return Err(Refusal::error(
            "Session token required for file downloads. CLAUDE_CODE_SESSION_ACCESS_TOKEN must be set.",
        ));
    }
    Ok(())
}

fn sources(options: &mut Options, world: &World<'_>) -> Result<(), Refusal> {
    let cwd = world.cwd;
    let loaded = &mut options.loaded;
    if let Some(settings) = &options.settings {
        let (settings, warning) = files::settings(cwd, settings)?;
        loaded.settings = settings;
        options.warnings.extend(warning);
    }
    loaded.system_prompt = match &options.system_prompt_file {
        Some(file) => Some(files::prompt(cwd, file, "System prompt")?),
        None => options.system_prompt.clone(),
    };
    loaded.append_system_prompt = match &options.append_system_prompt_file {
        Some(file) => Some(files::prompt(cwd, file, "Append system prompt")?),
        None => options.append_system_prompt.clone(),
    };
    let for_agents = options.value("--append-subagent-system-prompt-file");
    if for_agents.is_some() && options.has("--append-subagent-system-prompt") {
        return Err(Refusal::error(
            "Cannot use both --append-subagent-system-prompt and --append-subagent-system-prompt-file. Please use only one.",
        ));
    }
    if let Some(file) = for_agents {
        files::prompt(cwd, file, "Append subagent system prompt")?;
    }
    if options.restricted && wants_bypass(options) {
        return Err(Refusal::error(
            "bypassPermissions not supported in restricted mode",
        ));
    }
    options.loaded.mcp_servers = files::mcp_servers(cwd, &options.mcp_config)?;
    channels(options)?;
    for beta in options.betas.iter().filter(|beta| *beta != BETA) {
        options.warnings.push(format!(
            "Warning: Beta header '{beta}' is not allowed. Only the following betas are supported: {BETA}"
        ));
    }
    Ok(())
}

const BETA: &str = "context-1m-2025-08-07";

fn worktree(options: &Options, world: &World<'_>) -> Result<(), Refusal> {
    let in_repository = || {
        world
            .cwd
            .ancestors()
            .any(|folder| folder.join(".git").exists())
    };
    if !options.has("--worktree") || in_repository() {
        return Ok(());
    }
    let cwd = world.cwd.display();
    Err(Refusal::error(format!(
        "Can only use --worktree in a git repository, but {cwd} is not a git repository. Configure a WorktreeCreate hook to use --worktree with other VCS systems."
    )))
}

fn wants_bypass(options: &Options) -> bool {
    match &options.permission_mode {
        Some(mode) => mode == "bypassPermissions",
        None => options.loaded.settings["permissions"]["defaultMode"] == "bypassPermissions",
    }
}

fn root(options: &Options, world: &World<'_>) -> Result<(), Refusal> {
    let is_set = |name| (world.env)(name).as_deref() == Some("1");
    let fenced = is_set("IS_SANDBOX") || is_set("CLAUDE_CODE_BUBBLEWRAP");
    let asked = wants_bypass(options) || options.bypass_allowed;
    match asked && world.root && !fenced {
        false => Ok(()),
        true => Err(Refusal::saying(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
        )),
    }
}

/// The agents that are always there.
const AGENTS: [&str; 5] = [
    "claude",
    "Explore",
    "general-purpose",
    "Plan",
    "statusline-setup",
];

fn agent(options: &Options, world: &World<'_>) -> Result<(), Refusal> {
    let Some(wanted) = &options.agent else {
        return Ok(());
    };
    // A session that is resumed brings its own.
    if options.resume.is_some() {
        return Ok(());
    }
    let found = (world.agents)();
    let mut known: Vec<&str> = AGENTS.to_vec();
    known.extend(found.iter().map(String::as_str));
    known.extend(options.loaded.agents.keys().map(String::as_str));
    if known.contains(&wanted.as_str()) {
        return Ok(());
    }
    known.sort_by_key(|name| name.to_lowercase());
    known.dedup();
    let known = known.join(", ");
    Err(Refusal::saying(format!(
        "--agent '{wanted}' not found. Available agents: {known}"
    )))
}

impl Options {
    /// The last checks, when the prompt is whole and the session to resume, if any, was found.
    ///
    /// # Errors
    /// When there is nothing to answer, or `--output-format=stream-json` stands without `--verbose`.
    pub(in crate::cli) fn check_prompt(
        &self,
        prompt: &Prompt,
        resumed: bool,
    ) -> Result<(), Refusal> {
        let reads_text = self.input_format == InputFormat::Text;
        if reads_text && !self.has("--init-only") {
            match prompt {
                Prompt::Missing if resumed => {
                    return Err(Refusal::error(
                        "No deferred tool marker found in the resumed session. Either the session was not deferred, the marker is stale (tool already ran), or it exceeds the tail-scan window. Provide a prompt to continue the conversation.",
                    ));
                }
                Prompt::Missing => {
                    return Err(Refusal::error(
                        "Input must be provided either through stdin or as a prompt argument when using --print",
                    ));
                }
                Prompt::Blank => {
                    return Err(Refusal::error(
                        "Input contained only whitespace. Provide a prompt with text through stdin or as a prompt argument when using --print",
                    ));
                }
                Prompt::Given(_) => {}
            }
        }
        if self.output_format == OutputFormat::StreamJson && !self.verbose {
            return Err(Refusal::error(
                "When using --print, --output-format=stream-json requires --verbose",
            ));
        }
        Ok(())
    }

    /// What is said when no session fits `--resume`; without it, or with `--continue`, a new one begins.
    pub(in crate::cli) fn nothing_to_resume(&self) -> Option<Refusal> {
        let Some(Resume::Named(value)) = &self.resume else {
            return None;
        };
        let which = match value {
            Some(id) if is_uuid(id) => {
                return Some(Refusal::saying(format!(
                    "No conversation found with session ID: {id}"
                )));
            }
            Some(title) => format!(
                ". Provided value \"{title}\" is not a UUID and does not match any session title."
            ),
            None => String::new(),
        };
        Some(Refusal::error(format!(
            "--resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>{which}"
        )))
    }
}

/// Whether the text has the form of a UUID, of whatever version.
pub(in crate::cli) fn is_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let fits = |(i, byte): (usize, &u8)| match i {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    bytes.len() == 36 && bytes.iter().enumerate().all(fits)
}
