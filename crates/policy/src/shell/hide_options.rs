//! Options of programs that have them run something else.
//!
//! Owns a list by program; those of `git` are in [`super::hide_git`]. Invariant: an option is known by every beginning and in every
//! group of letters, and a word that may turn out to be one counts as one.

use super::Word;
use super::reads::cannot_be_option;
use super::wrap::stem;

/// Options that run something, by their beginning. Those of two or three letters count in every group of letters.
const OPTIONS: [(&str, &[&str]); 46] = [
    ("ag", &["--pager"]),
    ("apt", &["-o", "-c", "--option", "--config-file"]),
    ("apt-cache", &["-o", "-c", "--option", "--config-file"]),
    ("apt-get", &["-o", "-c", "--option", "--config-file"]),
    ("bat", &["--pager"]),
    ("batcat", &["--pager"]),
    ("busctl", &["--"]),
    ("cargo", &["--config"]),
    ("ctags", &["--options"]),
    ("curl", &["-K", "--config"]),
    ("delta", &["--pager"]),
    ("diff3", &["--diff-program"]),
    ("ed", &["!"]),
    (
        "emacs",
        &["--eval", "-eval", "--load", "-l", "--batch", "-f"],
    ),
    ("ex", &["-c", "+", "--cmd"]),
    ("fd", &["-x", "-X", "--exec", "--exec-b"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    ("fzf", &["--preview", "--bind"]),
    ("gmake", MAKE),
    (
        "go",
        &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-vettool",
            "--vettool",
        ],
    ),
    ("helm", &["--post-renderer", "--kubeconfig"]),
    ("hg", &["--config"]),
    ("jobs", &["-x"]),
    ("kubectl", &["--kubeconfig"]),
    ("make", MAKE),
    ("man", &["-P", "-H", "--pager", "--html"]),
    ("nvim", &["-c", "+", "--cmd", "-S", "-u"]),
    ("oc", &["--kubeconfig"]),
    (
        "openssl",
        &["-engine", "--engine", "-provider", "--provider", "-config"],
    ),
    ("pnpm", &["--script-shell", "--config."]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("rustc", &["linker=", "-Clinker", "--codegen=linker"]),
    ("scp", &["-S", "-o", "-F"]),
    ("sdiff", &["--diff-program"]),
    ("sftp", &["-S", "-o", "-F", "-b", "-s"]),
    ("sort", &["--compress-p"]),
    ("split", &["--filter"]),
    (
        "svn",
        &["--diff-cmd", "--diff3-cmd", "--editor-cmd", "--config-"],
    ),
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress",
            "--rsh",
            "--rmt",
            "-F",
            "--info-script",
            "--new-volume",
        ],
    ),
    ("tcpdump", &["-z"]),
    ("vi", &["-c", "+", "--cmd", "-S", "-u"]),
    ("vim", &["-c", "+", "--cmd", "-S", "-u"]),
    ("wget", &["-e", "--execute", "--use-askpass", "--config"]),
    ("yarn", &["--use-yarnrc", "--script-shell"]),
    ("zip", &["-TT", "--unzip-command"]),
];

const MAKE: &[&str] = &[
    "--eval",
    "SHELL",
    ".SHELLFLAGS",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MAKE=",
    "MAKE:",
    "-f-",
    "--file=-",
];

/// Compilers of C, and their options by the beginning: programs that are run, code that is loaded, files with more options.
const COMPILERS: [&str; 6] = ["c++", "cc", "clang", "clang++", "g++", "gcc"];
const OF_COMPILERS: [&str; 6] = ["-wrapper", "-fplugin", "-specs", "--specs", "-B", "@"];

/// Options of npm that run something, or name a file that says what to run. npm takes them with one dash as well.
const NPM: [&str; 9] = [
    "script-shell",
    "node-options",
    "git",
    "shell",
    "browser",
    "editor",
    "init-module",
    "userconfig",
    "globalconfig",
];

/// Whether an option tells a program what to run.
pub(super) fn is_told_by_option(name: &str, arguments: &[Word]) -> bool {
    options_of(name).is_some_and(|options| has_option(arguments, options))
        || is_tar(name) && old_tar(arguments)
        || name == "npm" && npm(arguments)
        || COMPILERS.contains(&stem(name)) && compiler(arguments)
        || sets(name, arguments)
}

/// Programs that keep what they run, or where they get it, in settings of the person.
const SETTERS: [&str; 8] = [
    "bundle", "composer", "npm", "pip", "pip3", "pnpm", "poetry", "yarn",
];

/// Whether settings are changed by which the next call may run something else: `npm config set script-shell x`.
fn sets(name: &str, arguments: &[Word]) -> bool {
    let mut operands = arguments.iter().map(Word::shown);
    let mut next = || operands.find(|word| !word.starts_with('-'));
    let (first, second) = (next().unwrap_or_default(), next());
    if name == "go" {
        let is_it = |word: &Word| matches!(word.shown(), "-w" | "--w" | "-u" | "--u");
        return first == "env" && arguments.iter().any(is_it);
    }
    let only_reads = |word: &str| matches!(word, "get" | "list" | "ls" | "debug");
    let is_config = !first.is_empty() && "config".starts_with(first);
    SETTERS.contains(&name)
        && (first == "set" || is_config && second.is_some_and(|word| !only_reads(word)))
}

/// npm takes its options with any number of dashes, also shortened, and up to `--`.
fn npm(arguments: &[Word]) -> bool {
    let is_own = |word: &&Word| word.literal() != Some("--");
    arguments.iter().take_while(is_own).any(|word| {
        let text = word.shown();
        let name = text.trim_start_matches('-');
        let is_option = name.len() < text.len() && name != "global";
        let name = name.split('=').next().unwrap_or(name);
        let name = name.strip_prefix("no-").unwrap_or(name).replace('.', "-");
        let is_shortened = |option: &&str| name.len() > 1 && option.starts_with(&name);
        is_option && NPM.iter().any(is_shortened) || !cannot_be_option(word)
    })
}

fn compiler(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        let is_it = |option: &&str| word.shown().starts_with(option);
        OF_COMPILERS.iter().any(is_it) || !cannot_be_option(word)
    })
}

fn is_tar(name: &str) -> bool {
    matches!(name, "tar" | "gtar" | "bsdtar")
}

/// The options of a program that run something.
fn options_of(name: &str) -> Option<&'static [&'static str]> {
    let known = if is_tar(name) { "tar" } else { stem(name) };
    let row = OPTIONS.iter().find(|(tool, _)| *tool == known);
    row.map(|(_, options)| *options)
}

/// Whether an option is there, also in a group of letters or by a beginning of its long name, or a word may be one.
fn has_option(arguments: &[Word], options: &[&str]) -> bool {
    arguments.iter().any(|word| {
        let text = word.shown();
        let name = text.split('=').next().unwrap_or(text);
        let is_group = text.starts_with('-') && !text.starts_with("--");
        let is_option = options
            .iter()
            .any(|option| match option.strip_prefix("--") {
                Some(_) => text.starts_with(option) || (name.len() > 2 && option.starts_with(name)),
                None if option.len() <= 3 && option.starts_with('-') => {
                    is_group && text.contains(&option[1..])
                }
                None => text.starts_with(option),
            });
        is_option || !cannot_be_option(word)
    })
}

/// The first word of `tar` is a group of letters, with a dash or without.
fn old_tar(arguments: &[Word]) -> bool {
    arguments
        .first()
        .is_some_and(|word| !word.shown().starts_with('-') && word.shown().contains(['I', 'F']))
}
