//! The command line of the CLI, as far as the engine depends on it. Every other flag is accepted and ignored.

use serde_json::Value;

/// What the flags ask for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Flags {
    pub(super) version: bool,
    pub(super) replay: bool,
    pub(super) partial: bool,
    pub(super) bypass_allowed: bool,
    pub(super) session: Option<String>,
    /// `--resume`: an id or a title.
    pub(super) resume: Option<String>,
    pub(super) resume_at: Option<String>,
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
    pub(super) max_turns: Option<u64>,
    pub(super) max_budget: Option<f64>,
    pub(super) schema: Option<Value>,
    pub(super) forwards_agent_text: bool,
    /// `--session-mirror`: the transcript is told on stdout, too.
    pub(super) mirrors: bool,
    /// `--include-hook-events`.
    pub(super) shows_hooks: bool,
    pub(super) awaits_initialize: bool,
}

/// How many values a flag takes.
enum Takes {
    Nothing,
    One,
    Many,
    Perhaps,
}

fn takes(name: &str) -> Takes {
    match name {
        "--allowedTools" | "--allowed-tools" | "--disallowedTools" | "--disallowed-tools"
        | "--tools" | "--add-dir" | "--mcp-config" | "--betas" => Takes::Many,
        "--resume" | "-r" => Takes::Perhaps,
        "--session-id"
        | "--model"
        | "--permission-mode"
        | "--max-turns"
        | "--max-budget-usd"
        | "--json-schema"
        | "--resume-session-at"
        | "--settings"
        | "--managed-settings"
        | "--setting-sources"
        | "--agents"
        | "--name"
        | "--permission-prompt-tool"
        | "--permission-prompts"
        | "--input-format"
        | "--output-format"
        | "--system-prompt"
        | "--append-system-prompt"
        | "--fallback-model"
        | "--effort"
        | "--thinking" => Takes::One,
        _ => Takes::Nothing,
    }
}

impl Flags {
    /// Reads the arguments after the name of the program.
    pub(super) fn read<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let mut flags = Self::default();
        let mut arguments = arguments.into_iter().peekable();
        while let Some(argument) = arguments.next() {
            let (name, inline) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument, None),
            };
            let mut values: Vec<String> = inline.into_iter().collect();
            match takes(name) {
                Takes::One if values.is_empty() => {
                    values.extend(arguments.next().map(str::to_owned))
                }
                Takes::Perhaps if values.is_empty() => {
                    let next = arguments.next_if(|next| !next.starts_with('-'));
                    values.extend(next.map(str::to_owned));
                }
                Takes::Many => {
                    while let Some(next) = arguments.next_if(|next| !next.starts_with('-')) {
                        values.push(next.to_owned());
                    }
                }
                _ => {}
            }
            flags.take(name, values);
        }
        flags
    }

    fn take(&mut self, name: &str, values: Vec<String>) {
        let value = values.first().cloned();
        match name {
            "--version" | "-v" => self.version = true,
            "--replay-user-messages" => self.replay = true,
            "--include-partial-messages" => self.partial = true,
            "--dangerously-skip-permissions" => {
                self.bypass_allowed = true;
                self.mode = Some("bypassPermissions".to_owned());
            }
            "--allow-dangerously-skip-permissions" => self.bypass_allowed = true,
            "--fork-session" => self.fork = true,
            "--session-id" => self.session = value,
            "--resume" | "-r" => self.resume = value,
            "--resume-session-at" => self.resume_at = value,
            "--continue" | "-c" => self.resume_latest = true,
            "--no-session-persistence" => self.keeps_nothing = true,
            "--name" => self.name = value,
            "--session-mirror" => self.mirrors = true,
            "--include-hook-events" => self.shows_hooks = true,
            "--forward-subagent-text" => self.forwards_agent_text = true,
            "--await-initialize" => self.awaits_initialize = true,
            "--max-turns" => {
                let turns = value.and_then(|value| value.parse().ok());
                // Nothing is no limit.
                self.max_turns = turns.filter(|turns| *turns != 0);
            }
            "--max-budget-usd" => self.max_budget = value.and_then(|value| value.parse().ok()),
            "--json-schema" => {
                self.schema = value.and_then(|value| serde_json::from_str(&value).ok());
            }
            "--model" => self.model = value,
            // `manual` is how `default` is written on the command line.
            "--permission-mode" if value.as_deref() == Some("manual") => {
                self.mode = Some("default".to_owned());
            }
            "--permission-mode" => self.mode = value,
            "--permission-prompt-tool" => self.asks_host = value.as_deref() == Some("stdio"),
            "--permission-prompts" => self.asks_nobody = value.as_deref() == Some("none"),
            "--allowedTools" | "--allowed-tools" => self.allowed.extend(rules(&values)),
            "--disallowedTools" | "--disallowed-tools" => self.disallowed.extend(rules(&values)),
            "--tools" => self.tools = Some(rules(&values)),
            "--add-dir" => self.add_dirs.extend(values),
            "--settings" => self.settings = value,
            "--managed-settings" => self.managed_settings = value,
            "--setting-sources" => self.setting_sources = value,
            "--agents" => self.agents = value,
            "--mcp-config" => self.mcp_config.extend(values),
            _ => {}
        }
    }
}

/// Rules with commas or blanks between them, which inside of brackets belong to the rule.
fn rules(values: &[String]) -> Vec<String> {
    let mut rules = Vec::new();
    for value in values {
        let (mut rule, mut depth) = (String::new(), 0u32);
        for c in value.chars() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && (c == ',' || c.is_whitespace()) {
                rules.push(std::mem::take(&mut rule));
            } else {
                rule.push(c);
            }
        }
        rules.push(rule);
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_after_a_blank_or_an_equals_sign() {
        let flags = Flags::read([
            "--model=opus",
            "--permission-mode",
            "plan",
            "--unheard-of",
            "x",
        ]);
        assert_eq!(flags.model.as_deref(), Some("opus"));
        assert_eq!(flags.mode.as_deref(), Some("plan"));
        assert!(!flags.replay);
    }

    #[test]
    fn rules_are_split_at_commas_and_blanks_outside_of_brackets() {
        let flags = Flags::read([
            "--allowedTools",
            "Bash(git log:*), Read",
            "Write,Edit",
            "--verbose",
        ]);
        assert_eq!(flags.allowed, ["Bash(git log:*)", "Read", "Write", "Edit"]);
        assert_eq!(Flags::read(["--tools", ""]).tools, Some(Vec::new()));
    }

    #[test]
    fn resume_may_stand_alone() {
        let flags = Flags::read(["--resume", "--fork-session"]);
        assert!(flags.fork && flags.resume.is_none());
        assert_eq!(Flags::read(["-r", "a"]).resume.as_deref(), Some("a"));
    }
}
