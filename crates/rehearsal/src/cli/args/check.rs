//! What does not go together, and what cannot be played.
//!
//! Owns the refusals that need more than one flag, or a look at the surroundings. Whether a session to resume exists is
//! not asked here.

use std::path::Path;

use super::files;
use super::input::Prompt;
use super::options::{InputFormat, Options, OutputFormat, Resume};
use super::refusal::Refusal;

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

/// What runs on another machine, or beside this process.
const NOT_PLAYED: [&str; 7] = [
    "--sdk-url",
    "--background",
    "--cloud",
    "--remote",
    "--environment",
    "--attach-serve",
    "--desktop",
];

/// The agents that are always there.
const AGENTS: [&str; 5] = [
    "claude",
    "Explore",
    "general-purpose",
    "Plan",
    "statusline-setup",
];

/// Everything that is checked before a session begins. Fills what flags name.
pub(super) fn session(options: &mut Options, world: &World<'_>) -> Result<(), Refusal> {
    if let Some(settings) = &options.flags.settings {
        let (settings, warning) = files::settings(world.cwd, settings)?;
        options.settings = settings;
        options.warnings.extend(warning);
    }
    let sources_named = options.flags.setting_sources.as_deref().unwrap_or_default();
    for source in sources_named.split(',') {
        if !["", "user", "project", "local"].contains(&source) {
            return Err(Refusal::saying(format!(
                "Error processing --setting-sources: Invalid setting source: {source}. Valid options are: user, project, local"
            )));
        }
    }
    if let Some(flag) = NOT_PLAYED.iter().find(|flag| options.has(flag)) {
        return Err(Refusal::saying(format!(
            "the scripted CLI does not play `{flag}`: leave it out"
        )));
    }
    if world.terminal && !options.print && !options.has("--init-only") {
        return Err(Refusal::saying(
            "the scripted CLI plays no terminal session. Ask it one thing: claude -p \"your question\". \
             Or talk to it line by line: claude --input-format stream-json --output-format stream-json --verbose | cat",
        ));
    }
    identity(options, world)?;
    sources(options, world)?;
    together(options)?;
    root(options, world)?;
    agent(options, world)
}

fn identity(options: &Options, world: &World<'_>) -> Result<(), Refusal> {
    let Some(id) = &options.flags.session else {
        return Ok(());
    };
    if options.resume.is_some() && !options.flags.fork {
        return Err(Refusal::error(
            "--session-id can only be used with --continue or --resume if --fork-session is also specified.",
        ));
    }
    if !is_uuid(id) {
        return Err(Refusal::error("Invalid session ID. Must be a valid UUID."));
    }
    match options.resume.is_none() && (world.session_in_use)(id) {
        true => Err(Refusal::error(format!(
            "Session ID {id} is already in use."
        ))),
        false => Ok(()),
    }
}

fn sources(options: &mut Options, world: &World<'_>) -> Result<(), Refusal> {
    let cwd = world.cwd;
    if let Some(agents) = &options.flags.agents {
        options.agents = files::agents(cwd, agents)?;
    }
    for (flag, which) in [
        ("--system-prompt-file", "System prompt"),
        ("--append-system-prompt-file", "Append system prompt"),
    ] {
        if let Some(file) = options.value(flag) {
            files::prompt(cwd, file, which)?;
        }
    }
    files::mcp_servers(cwd, &options.flags.mcp_config)?;
    match options
        .value("--json-schema")
        .filter(|text| !text.is_empty())
    {
        Some(text) => files::schema(text).map(drop),
        None => Ok(()),
    }
}

/// Flags that need other flags.
fn together(options: &Options) -> Result<(), Refusal> {
    let reads_lines = options.input_format == InputFormat::StreamJson;
    let writes_lines = options.output_format == OutputFormat::StreamJson;
    let named = matches!(options.resume, Some(Resume::Named(_)));
    let wrong = [
        (
            reads_lines && !writes_lines,
            "--input-format=stream-json requires output-format=stream-json.",
        ),
        (
            options.flags.replay && !(reads_lines && writes_lines),
            "--replay-user-messages requires both --input-format=stream-json and --output-format=stream-json.",
        ),
        (
            options.flags.partial && !writes_lines,
            "--include-partial-messages requires --print and --output-format=stream-json.",
        ),
        (
            options.flags.resume_at.is_some() && !named,
            "--resume-session-at requires --resume",
        ),
        (
            options.has("--resume-drops-turn") && options.flags.resume_at.is_none(),
            "--resume-drops-turn requires --resume-session-at",
        ),
    ];
    match wrong.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, text)) => Err(Refusal::error(text)),
        None => Ok(()),
    }
}

fn root(options: &Options, world: &World<'_>) -> Result<(), Refusal> {
    let is_set = |name| (world.env)(name).as_deref() == Some("1");
    let fenced = is_set("IS_SANDBOX") || is_set("CLAUDE_CODE_BUBBLEWRAP");
    let wanted = match &options.flags.mode {
        Some(mode) => mode == "bypassPermissions",
        None => options.settings["permissions"]["defaultMode"] == "bypassPermissions",
    };
    match (wanted || options.flags.bypass_allowed) && world.root && !fenced {
        false => Ok(()),
        true => Err(Refusal::saying(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
        )),
    }
}

fn agent(options: &Options, world: &World<'_>) -> Result<(), Refusal> {
    // A session that is resumed brings its own.
    let agent = options.value("--agent").filter(|name| !name.is_empty());
    let Some(wanted) = agent.filter(|_| options.resume.is_none()) else {
        return Ok(());
    };
    let found = (world.agents)();
    let mut known: Vec<&str> = AGENTS.to_vec();
    known.extend(found.iter().map(String::as_str));
    known.extend(options.agents.keys().map(String::as_str));
    if known.contains(&wanted) {
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
            _ if self.output_format == OutputFormat::StreamJson && !self.verbose => {
                "When using --print, --output-format=stream-json requires --verbose"
            }
            _ => return Ok(()),
        };
        Err(Refusal::error(wrong))
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
