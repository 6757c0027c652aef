//! What cannot be checked before it runs, in the CLI's words.
//!
//! Owns the reasons and the commands that are a reason by their name or flags.

use super::Command;

/// Why a command line was not taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) reason: String,
}

impl Stop {
    pub(super) fn new(reason: &str) -> Self {
        Stop {
            reason: reason.to_owned(),
        }
    }
}

pub(super) const PARSE_ERROR: &str = "Parse error";
pub(super) const OPAQUE: &str = "This command can't be checked before it runs";
pub(super) const NESTED: &str = "A nested command in this command can't be checked before it runs";
pub(super) const QUOTED: &str = "Quoted text in this command can't be checked before it runs";
pub(super) const VARIABLE: &str = "A variable in this command can't be checked before it runs";
pub(super) const VARIABLE_SET: &str =
    "A variable set in this command can't be checked before it runs";
pub(super) const BRACED_VARIABLE: &str =
    "A variable in braces in this command can't be checked before it runs";
pub(super) const ASSIGNMENTS: &str =
    "Variable assignments in this command can't be checked before it runs";
pub(super) const VALUES: &str = "A list of values in this command can't be checked before it runs";
pub(super) const ESCAPE_CODES: &str =
    "Text with escape codes in this command can't be checked before it runs";
pub(super) const BRACE_EXPANSION: &str = "Brace expansion";
pub(super) const BRACE_PATTERN: &str =
    "A brace pattern in this command can't be checked before it runs";
pub(super) const PROCESS: &str =
    "A command used as a file in this command can't be checked before it runs";
pub(super) const ESCAPED_SPACE: &str = "Contains backslash-escaped whitespace";
pub(super) const UNICODE_SPACE: &str = "Contains Unicode whitespace";
pub(super) const HIDDEN_COMMENT: &str =
    "Newline followed by # inside a quoted argument can hide arguments from path validation";
pub(super) const HEREDOC: &str = "Heredoc with unquoted delimiter undergoes shell expansion";
pub(super) const HEREDOC_PIPE: &str = "A pipeline in this command can't be checked before it runs";
pub(super) const HEREDOC_REDIRECT: &str =
    "A file redirect in this command can't be checked before it runs";
pub(super) const REDIRECT_SHAPE: &str = "Unrecognized redirect shape";
pub(super) const REDIRECT_TARGET: &str =
    "Redirect target concatenation contains $/` — unanalyzable gap or substitution";
pub(super) const WORD_SPLITTING: &str =
    "IFS assignment changes word-splitting — cannot model statically";
pub(super) const GROUP: &str =
    "A group in braces or double parentheses in this command can't be checked before it runs";
pub(super) const CASE: &str = "A case statement in this command can't be checked before it runs";
pub(super) const FUNCTION: &str =
    "A function definition in this command can't be checked before it runs";
pub(super) const SELECT: &str = "select statement reads stdin into $REPLY; cannot statically model";
pub(super) const LOOP_INPUT: &str =
    "A while or until loop in this command can't be checked before it runs";

const EVALUATES: [&str; 16] = [
    "eval",
    "exec",
    "source",
    ".",
    "trap",
    "alias",
    "let",
    "hash",
    "coproc",
    "enable",
    "complete",
    "bind",
    "mapfile",
    "readarray",
    "nocorrect",
    "compopt",
];
const ZSH: [&str; 14] = [
    "shopt", "zmodload", "emulate", "sysopen", "sysread", "syswrite", "sysseek", "zpty", "ztcp",
    "zsocket", "autoload", "zformat", "zstyle", "zcompile",
];
const STARTS: [&str; 10] = [
    "watch", "strace", "ltrace", "setsid", "script", "unshare", "flock", "ionice", "taskset",
    "chrt",
];
const FIND_ACTS: [&str; 9] = [
    "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls",
];
const JQ_FLAGS: [&str; 7] = [
    "-f",
    "--from-file",
    "-L",
    "--library-path",
    "--slurpfile",
    "--rawfile",
    "--argfile",
];

/// Why this command cannot be checked, if its name or flags say so.
pub(super) fn by_name(command: &Command) -> Option<String> {
    let name = command.name();
    let has = |flags: &[&str]| {
        let flag = |arg: &super::Word| arg.text.split('=').next().unwrap_or("").to_owned();
        command
            .args()
            .iter()
            .map(flag)
            .find(|flag| flags.contains(&flag.as_str()))
    };
    if EVALUATES.contains(&name) {
        return Some(format!("'{name}' evaluates arguments as shell code"));
    }
    if ZSH.contains(&name) {
        return Some(format!("Zsh builtin '{name}' can bypass security checks"));
    }
    if STARTS.contains(&name) {
        return Some(format!(
            "What '{name}' starts can't be checked before it runs"
        ));
    }
    match name {
        "find" => has(&FIND_ACTS).map(|flag| {
            format!("find with '{flag}' executes commands or modifies files — no rule that means find as a whole lets it run \
                 without a question")
        }),
        "jq" => has(&JQ_FLAGS)
            .map(|_| "jq command contains dangerous flags that could execute code or read arbitrary files".to_owned()),
        "cd" => (command.args().len() > 1 && !command.args()[0].text.starts_with('-'))
            .then(|| "cd with two or more directory arguments".to_owned()),
        "timeout" => {
            let first = command.args().first()?;
            first.text.starts_with('-').then(|| command.args().len() < 3).filter(|short| *short)?;
            Some(format!("'timeout {}' can't be checked before it runs", first.text))
        }
        _ => {
            let mut args = command.args().iter();
            args.any(|arg| arg.text.starts_with("/proc/") && arg.text.ends_with("/environ"))
                .then(|| "Accesses /proc/*/environ which may expose secrets".to_owned())
        }
    }
}
