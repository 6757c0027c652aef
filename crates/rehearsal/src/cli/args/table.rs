//! Every flag of the main command, as one table: how it is written, what it takes, since when it exists.
//!
//! Owns the list and the lookup; how an argument list is cut up is `scan`'s matter, what a value means is `value`'s.
//! Invariant: `usage` is written as the CLI itself writes it, since its errors quote it.

use super::super::version::Version;

/// One flag.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Flag {
    /// `-r, --resume [value]`: the spellings, and what follows.
    pub(super) usage: &'static str,
    /// A line for `--help`; empty for a flag that the help does not list.
    pub(super) help: &'static str,
    /// The words it takes; empty if any.
    pub(super) choices: &'static [&'static str],
    since: Version,
}

/// How many values follow a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arity {
    /// A switch.
    None,
    /// Exactly one.
    One,
    /// One, unless the next argument is a flag.
    Optional,
    /// One and more, up to the next flag.
    Many,
}

impl Flag {
    /// How it is spelled: one or two ways.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &'static str> {
        let words = self.usage.split([' ', ',']);
        words.filter(|word| word.starts_with('-'))
    }

    /// The spelling by which it is known here: the last.
    pub(super) fn name(&self) -> &'static str {
        self.spellings().last().unwrap_or(self.usage)
    }

    pub(super) fn arity(&self) -> Arity {
        if self.usage.ends_with("...>") {
            Arity::Many
        } else if self.usage.ends_with('>') {
            Arity::One
        } else if self.usage.ends_with(']') {
            Arity::Optional
        } else {
            Arity::None
        }
    }

    pub(super) fn is_shown(&self) -> bool {
        !self.help.is_empty()
    }

    const fn takes(mut self, choices: &'static [&'static str]) -> Self {
        self.choices = choices;
        self
    }

    const fn since(mut self, patch: u32) -> Self {
        self.since = Version::new(2, 1, patch);
        self
    }
}

const fn shown(usage: &'static str, help: &'static str) -> Flag {
    Flag {
        usage,
        help,
        choices: &[],
        since: Version::new(0, 0, 0),
    }
}

const fn hidden(usage: &'static str) -> Flag {
    shown(usage, "")
}

/// New in 2.1.325; hidden from the help.
const fn recent(usage: &'static str) -> Flag {
    hidden(usage).since(325)
}

/// New in 2.1.325.
const fn latest(usage: &'static str, help: &'static str) -> Flag {
    shown(usage, help).since(325)
}

/// The flags that a version knows.
pub(super) fn known(version: Version) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(move |flag| flag.since <= version)
}

/// The flag that is spelled so.
pub(super) fn find(spelling: &str, version: Version) -> Option<&'static Flag> {
    known(version).find(|flag| flag.spellings().any(|known| known == spelling))
}

/// The words of `--permission-mode`. `default` is taken, too, but not said.
pub(super) const MODES: &[&str] = &[
    "acceptEdits",
    "auto",
    "bypassPermissions",
    "manual",
    "dontAsk",
    "plan",
];

const FORMATS: &[&str] = &["text", "json", "stream-json"];
const SWITCH: &[&str] = &["on", "off"];

/// The commands beside the main one.
pub(super) const COMMANDS: &[&str] = &[
    "agents",
    "attach",
    "auth",
    "auto-mode",
    "daemon",
    "doctor",
    "gateway",
    "import",
    "install",
    "kill",
    "logs",
    "mcp",
    "plugin",
    "plugins",
    "project",
    "purge",
    "rc",
    "remote-control",
    "respawn",
    "rm",
    "setup-token",
    "stop",
    "ultrareview",
    "update",
    "upgrade",
];

const FLAGS: &[Flag] = &[
    shown(
        "--add-dir <directories...>",
        "More folders that tools may touch",
    ),
    shown("--agent <agent>", "The agent that leads the session"),
    shown(
        "--agents <json-or-file>",
        "Agents as a JSON object, or the file that holds one",
    ),
    shown(
        "--allow-dangerously-skip-permissions",
        "Lets the session switch to bypassPermissions later",
    ),
    shown(
        "--allowedTools, --allowed-tools <tools...>",
        "Rules for calls that need no approval, by commas or blanks",
    ),
    shown(
        "--append-system-prompt <prompt>",
        "Is put after the usual system prompt",
    ),
    latest(
        "--autocompact <auto|tokens>",
        "When to compact: auto, or 100k to 1M tokens",
    ),
    latest(
        "--ax-screen-reader",
        "Plain output for screen readers (interactive)",
    ),
    latest(
        "--bg, --background",
        "Starts a background session (not played)",
    ),
    latest("--bare", "Without hooks, plugins and memory; few tools"),
    shown("--betas <betas...>", "Beta headers for the API"),
    latest("--brief", "Offers the tool SendUserMessage"),
    shown("--chrome", "With the browser integration"),
    latest(
        "--cloud [description|session_id|url]",
        "A cloud session (not played)",
    ),
    shown(
        "-c, --continue",
        "Goes on with the newest session of this folder",
    ),
    shown(
        "--dangerously-skip-permissions",
        "Asks about nothing: mode bypassPermissions",
    ),
    shown(
        "-d, --debug [filter]",
        "Debug messages, of some categories if named",
    ),
    hidden("-d2e, --debug-to-stderr"),
    shown("--debug-file <path>", "Where debug messages go").since(62),
    latest("--desktop", "Opens the desktop app (not played)"),
    shown("--disable-slash-commands", "Without skills and commands"),
    shown(
        "--disallowedTools, --disallowed-tools <tools...>",
        "Rules for calls that are refused, by commas or blanks",
    ),
    shown("--effort <level>", "low, medium, high, xhigh or max").since(62),
    latest(
        "--environment <environment_id>",
        "A cloud session on an environment of one's own (not played)",
    ),
    latest(
        "--exclude-dynamic-system-prompt-sections",
        "Moves what depends on the machine into the first message",
    ),
    shown(
        "--fallback-model <model>",
        "Models to try when the first is overloaded, by commas",
    ),
    shown(
        "--file <specs...>",
        "Files to download at the start (not played)",
    )
    .since(62),
    shown(
        "--fork-session",
        "With --resume or --continue: under a new session id",
    ),
    latest("--forward-subagent-text", "Passes on what sub-agents say"),
    shown(
        "--from-pr [value]",
        "Resumes the session of a pull request (interactive)",
    )
    .since(62),
    shown("--ide", "Connects to an IDE (interactive)"),
    latest(
        "--include-hook-events",
        "Reports every hook in the output stream",
    ),
    shown(
        "--include-partial-messages",
        "Writes messages as they come, piece by piece",
    ),
    shown("--input-format <format>", "How input comes (with --print)")
        .takes(&["text", "stream-json"]),
    shown(
        "--json-schema <schema>",
        "The answer must follow this JSON schema",
    ),
    shown("--max-budget-usd <amount>", "The most a session may cost"),
    shown("--mcp-config <configs...>", "MCP servers, as files or JSON"),
    shown(
        "--model <model>",
        "The model: an alias such as opus, or a full name",
    ),
    latest("-n, --name <name>", "A name for the session"),
    shown("--no-chrome", "Without the browser integration"),
    shown(
        "--no-session-persistence",
        "Leaves no transcript (with --print)",
    ),
    shown(
        "--output-format <format>",
        "How output is written (with --print)",
    )
    .takes(FORMATS),
    shown(
        "--permission-mode <mode>",
        "What is asked about and what is not",
    )
    .takes(MODES),
    latest(
        "--permission-prompts <target>",
        "Who is asked: the host, or nobody",
    )
    .takes(&["host", "none"]),
    shown("--plugin-dir <path>", "A plugin's folder; may be repeated"),
    latest("--plugin-url <url>", "A plugin's archive; may be repeated"),
    shown(
        "-p, --print",
        "Answers and ends; the mode that is played here",
    ),
    latest("--prompt-suggestions [value]", "Suggests what to ask next")
        .takes(&["true", "false", "1", "0", "yes", "no", "on", "off"]),
    latest(
        "--remote-control [name]",
        "With remote control (not played)",
    ),
    latest(
        "--remote-control-session-name-prefix <prefix>",
        "What names of such sessions begin with",
    ),
    shown(
        "--replay-user-messages",
        "Writes user messages back as they are taken",
    ),
    latest(
        "--restricted",
        "Without tools that run code, without settings files",
    ),
    shown(
        "-r, --resume [value]",
        "Goes on with a session, by id or title",
    ),
    latest("--safe-mode", "Without any customisation"),
    shown("--session-id <uuid>", "The id of the session"),
    shown(
        "--setting-sources <sources>",
        "Which settings files count: user, project, local",
    ),
    shown(
        "--settings <file-or-json>",
        "More settings, as a file or JSON",
    ),
    shown(
        "--strict-mcp-config",
        "Only the MCP servers of --mcp-config",
    ),
    shown("--system-prompt <prompt>", "The system prompt"),
    latest(
        "--system-prompt-snapshot <on|off>",
        "Whether a session keeps its first system prompt",
    )
    .takes(SWITCH),
    shown(
        "--teleport [session]",
        "Takes over a cloud session (not played)",
    ),
    shown("--tmux", "In a tmux session, with --worktree").since(62),
    shown(
        "--tools <tools...>",
        "The built-in tools to offer; \"\" for none, default for all",
    ),
    shown(
        "--verbose",
        "All messages; --output-format=stream-json needs it",
    ),
    shown(VERSION, "Prints the version"),
    shown("-w, --worktree [name]", "In a new git worktree").since(62),
    // Known, and in no help.
    recent("--advisor <model>"),
    hidden("--agent-color <color>").since(62),
    hidden("--agent-id <id>").since(62),
    hidden("--agent-name <name>").since(62),
    hidden("--agent-type <type>").since(62),
    recent("--agents-view-if-allowed"),
    recent("--allow-other-models"),
    recent("--append-subagent-system-prompt <prompt>"),
    recent("--append-subagent-system-prompt-file <file>"),
    hidden("--append-system-prompt-file <file>"),
    recent("--attach-serve <session_id>"),
    recent("--await-claim"),
    recent("--await-initialize"),
    recent("--channels <servers...>"),
    recent("--client-data-url <url>"),
    recent("--correlation-id <id>"),
    recent("--dangerously-load-development-channels <servers...>"),
    recent("--deep-link-cwd-b64 <b64>"),
    recent("--deep-link-last-fetch <ms>"),
    recent("--deep-link-origin"),
    recent("--deep-link-repo <slug>"),
    hidden("--enable-auth-status"),
    recent("--enable-auto-mode"),
    recent("--fast-mode <on|off>"),
    recent("--forward-home-settings <true|false>").takes(&["true", "false", "1", "0"]),
    recent("--host-auth-is-org-sign-in"),
    recent("--include-unsupported-models"),
    recent("--inherit-permission-mode <mode>").takes(MODES),
    hidden("--init").since(62),
    hidden("--init-only").since(62),
    recent("--lead-verify-key <time.key>"),
    hidden("--maintenance").since(62),
    recent("--managed-settings <json>"),
    recent("--managed-settings-in-initialize"),
    hidden("--max-thinking-tokens <tokens>"),
    hidden("--max-turns <turns>"),
    recent("--messaging-socket-path <path>"),
    recent("--on-branch <branch>"),
    hidden("--parent-session-id <id>").since(62),
    hidden("--permission-prompt-tool <tool>"),
    recent("--plan-mode-instructions <instructions>"),
    hidden("--plan-mode-required").since(62),
    recent("--plugin-dir-no-mcp <path>"),
    recent("--pool <pool_id>"),
    recent("--prefill <text>"),
    recent("--prefill-b64 <b64>"),
    recent("--proactivity <level>").takes(&["ask", "default", "proactive"]),
    recent("--project-config-root <dir>"),
    recent("--rc [name]"),
    recent("--ref <ref>"),
    hidden("--remote [description|session_id|url]"),
    recent("--reply-on-resume"),
    recent("--resume-drops-turn <message id>"),
    hidden("--resume-session-at <message id>"),
    hidden("--rewind-files <user-message-id>"),
    recent("--runner-declares <names>"),
    hidden("--sdk-url <url>"),
    recent("--session-began-as-copy <value>"),
    recent("--session-mirror"),
    hidden("--system-prompt-file <file>"),
    recent("--task-budget <tokens>"),
    hidden("--team-name <name>").since(62),
    hidden("--teammate-mode <mode>")
        .since(62)
        .takes(&["auto", "tmux", "iterm2", "in-process"]),
    hidden("--thinking <mode>")
        .takes(&["enabled", "adaptive", "disabled"])
        .since(62),
    recent("--thinking-display <display>").takes(&["summarized", "omitted", "highlights"]),
    recent("--watch-artifact <artifact>"),
    recent("--watch-artifact-no-autoreact <artifact>"),
    recent("--workload <tag>"),
];

/// The flag that prints the version wherever it stands.
pub(super) const VERSION: &str = "-v, --version";
