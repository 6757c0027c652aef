//! Which variables may be set without changing what commands mean.
//!
//! Owns a short list; every other name is an obstacle. `PATH` is the plain case, but `GIT_SSH`, `PAGER`, `LD_PRELOAD`,
//! `NODE_OPTIONS` and many more run something too, so the list says what is fine, not what is dangerous.

use super::Word;

/// Set to anything, these change how something looks or how fast it goes, not what runs.
const FINE: [&str; 26] = [
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBUG_COLORS",
    "DO_NOT_TRACK",
    "FORCE_COLOR",
    "GOARCH",
    "GOMAXPROCS",
    "GOOS",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PROPTEST_CASES",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RAYON_NUM_THREADS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "RUST_TEST_THREADS",
    "TERM",
    "TZ",
];

/// Names in small letters that mean something to zsh or to programs.
const NOT_FINE: [&str; 30] = [
    "aliases",
    "argv",
    "cdpath",
    "commands",
    "dirstack",
    "env",
    "fignore",
    "fpath",
    "functions",
    "galiases",
    "histchars",
    "history",
    "jobstates",
    "mailpath",
    "manpath",
    "module_path",
    "modules",
    "nameddirs",
    "options",
    "parameters",
    "path",
    "pipestatus",
    "prompt",
    "psvar",
    "saliases",
    "signals",
    "status",
    "userdirs",
    "watch",
    "zsh_eval_context",
];

/// Where a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// No further than the shell, unless the shell was started with the variable.
    Shell,
    /// Into the environment of commands. Programs read names in small letters, too: `npm_config_script_shell`.
    Environment,
}

/// Why a command may mean something else once this variable is set.
pub(super) fn obstacle(name: &str, reach: Reach) -> Option<String> {
    let is_plain = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.chars().any(|c| c.is_ascii_lowercase())
        && !name.ends_with("_proxy")
        && !is_of_package_manager(name)
        && !NOT_FINE.contains(&name);
    let is_fine = FINE.contains(&name) || name.starts_with("LC_");
    let is_harmless = is_fine || (is_plain && reach == Reach::Shell);
    (!is_harmless).then(|| format!("`{name}` is set for it, which may change what it runs"))
}

/// The same for a value. A text that holds a command is run where a variable is calculated with.
pub(super) fn obstacle_of(name: &str, value: &Word, reach: Reach) -> Option<String> {
    obstacle(name, reach).or_else(|| {
        let is_odd = name.starts_with("LC_") || name.starts_with("LANG");
        let text = value.shown();
        (is_odd && text.contains('/')).then(|| format!("`{name}` is set to a path"))
    })
}

/// Whether npm, pnpm or yarn read it. They do not mind how it is written, and set such variables for what they run, so that a
/// shell may have them from its start.
fn is_of_package_manager(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["npm_", "pnpm_", "yarn_"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Variables whose value bash or zsh calculates when it is set; a calculation may run a command.
const CALCULATED: [&str; 28] = [
    "ARGC",
    "BAUD",
    "COLUMNS",
    "EGID",
    "EPOCHSECONDS",
    "ERRNO",
    "EUID",
    "FUNCNEST",
    "GID",
    "HISTCMD",
    "HISTFILESIZE",
    "HISTSIZE",
    "KEYTIMEOUT",
    "LINENO",
    "LINES",
    "LISTMAX",
    "LOGCHECK",
    "MAILCHECK",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SAVEHIST",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "TMOUT",
    "TTYIDLE",
    "UID",
];

/// Why setting this variable may itself run a command.
pub(super) fn calculates(name: &str, value: &Word) -> Option<String> {
    let is_calculated = CALCULATED.contains(&name) || name.starts_with("TRY_BLOCK_");
    let is_number = value
        .literal()
        .is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()));
    (is_calculated && !is_number)
        .then(|| format!("`{name}` is calculated when it is set, which may run a command"))
}

/// Names, and beginnings and ends of names, of variables whose value is run, or says where to find what is run.
const RUN: [&str; 16] = [
    "PATH",
    "path",
    "fpath",
    "ENV",
    "BASH_ENV",
    "PS0",
    "PS4",
    "SHELL",
    "VISUAL",
    "BROWSER",
    "SHELLOPTS",
    "BASHOPTS",
    "MAKEFLAGS",
    "CC",
    "CXX",
    "EDITOR",
];
const RUN_BEGINNINGS: [&str; 9] = [
    "LD_", "DYLD_", "GIT_", "PYTHON", "PERL5", "RUBY", "NODE_", "RUSTC", "CARGO_",
];
const RUN_ENDS: [&str; 10] = [
    "PAGER", "EDITOR", "_COMMAND", "_CMD", "_WRAPPER", "_OPTIONS", "OPTS", "ASKPASS", "OPEN",
    "CLOSE",
];

/// Why a denied command may hide in the value of this variable.
pub(super) fn hides(name: &str) -> Option<String> {
    let is_run = RUN.contains(&name)
        || is_of_package_manager(name)
        || RUN_BEGINNINGS.iter().any(|part| name.starts_with(part))
        || RUN_ENDS.iter().any(|part| name.ends_with(part));
    (is_run && !FINE.contains(&name))
        .then(|| format!("`{name}` is set for it, which may say what is run"))
}
