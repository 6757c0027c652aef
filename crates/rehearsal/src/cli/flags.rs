//! What the engine needs of a command line. `args` reads and refuses; nothing is parsed here.

use serde_json::Value;

use super::args::{Options, Refusal, Resume};
use super::version::Version;

/// What the flags ask for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Flags {
    pub(super) replay: bool,
    pub(super) partial: bool,
    pub(super) bypass_allowed: bool,
    pub(super) session: Option<String>,
    /// `--resume`: an id or a title.
    pub(super) resume: Option<String>,
    pub(super) resume_at: Option<String>,
    /// The prompt that the cut is said to drop first.
    pub(super) resume_drops: Option<String>,
    pub(super) resume_latest: bool,
    pub(super) fork: bool,
    /// `--no-session-persistence` leaves nothing behind.
    pub(super) keeps_nothing: bool,
    pub(super) name: Option<String>,
    pub(super) model: Option<String>,
    pub(super) mode: Option<String>,
    /// `--permission-prompt-tool stdio`.
    pub(super) asks_host: bool,
    /// `--permission-prompts none`.
    pub(super) asks_nobody: bool,
    pub(super) allowed: Vec<String>,
    pub(super) disallowed: Vec<String>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) add_dirs: Vec<String>,
    pub(super) settings: Option<String>,
    pub(super) managed_settings: Option<String>,
    pub(super) setting_sources: Option<String>,
    pub(super) agents: Option<String>,
    /// `--mcp-config`: files, or JSON.
    pub(super) mcp_config: Vec<String>,
    pub(super) max_turns: Option<f64>,
    pub(super) max_budget: Option<f64>,
    pub(super) schema: Option<Value>,
    pub(super) forwards_agent_text: bool,
    /// `--session-mirror`: the transcript is told on stdout, too.
    pub(super) mirrors: bool,
    /// `--include-hook-events`.
    pub(super) shows_hooks: bool,
    pub(super) awaits_initialize: bool,
}

impl Flags {
    /// The arguments after the name of the program, as far as they can be understood alone.
    ///
    /// # Errors
    /// What the CLI of this version refuses.
    pub(super) fn read(arguments: &[String], version: Version) -> Result<Self, Refusal> {
        Options::parse(arguments, version).map(|options| Self::of(&options))
    }

    pub(super) fn of(options: &Options) -> Self {
        let schema = options.json_schema.as_deref();
        Self {
            replay: options.replay,
            partial: options.partial,
            bypass_allowed: options.bypass_allowed,
            session: options.session_id.clone(),
            resume: match &options.resume {
                Some(Resume::Named(named)) => named.clone(),
                _ => None,
            },
            resume_at: options.resume_session_at.clone(),
            resume_drops: options.resume_drops_turn.clone(),
            resume_latest: options.resume == Some(Resume::Newest),
            fork: options.fork_session,
            keeps_nothing: options.no_session_persistence,
            name: options.name.clone(),
            model: options.model.clone(),
            mode: options.permission_mode.clone(),
            asks_host: options.permission_prompt_tool.as_deref() == Some("stdio"),
            asks_nobody: options.asks_nobody,
            allowed: options.allowed_tools.clone(),
            disallowed: options.disallowed_tools.clone(),
            tools: options.tools.clone(),
            add_dirs: options.add_dirs.clone(),
            settings: options.settings.clone(),
            managed_settings: options.value("--managed-settings").map(str::to_owned),
            setting_sources: options
                .setting_sources
                .as_ref()
                .map(|names| names.join(",")),
            agents: options.agents.clone(),
            mcp_config: options.mcp_config.clone(),
            // Zero and less are no limit, as the CLI takes it.
            max_turns: options.max_turns.filter(|most| *most > 0.0),
            max_budget: options.max_budget_usd,
            schema: schema.and_then(|text| serde_json::from_str(text).ok()),
            forwards_agent_text: options.forward_subagent_text,
            mirrors: options.has("--session-mirror"),
            shows_hooks: options.hook_events,
            awaits_initialize: options.await_initialize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Flags, Refusal> {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Flags::read(&arguments, Version::NEWEST)
    }

    #[test]
    fn what_the_flags_say_reaches_the_engine() {
        let flags =
            read("--model=opus --permission-mode manual --allowedTools Read Write,Edit").unwrap();
        assert_eq!(flags.mode.as_deref(), Some("default"));
        assert_eq!(flags.allowed, ["Read", "Write", "Edit"]);
        assert!(flags.model.unwrap().starts_with("claude-opus"));
    }

    #[test]
    fn short_flags_in_one_word_count_too() {
        assert!(read("-pc").unwrap().resume_latest);
        assert_eq!(
            read("-r a --fork-session").unwrap().resume.as_deref(),
            Some("a")
        );
    }

    #[test]
    fn a_flag_nobody_knows_is_refused() {
        let refusal = read("--no-such-flag").unwrap_err();
        assert!(
            refusal.stderr.contains("--no-such-flag"),
            "{}",
            refusal.stderr
        );
    }
}
