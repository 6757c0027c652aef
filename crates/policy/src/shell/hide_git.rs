//! Options and subcommands of `git` that run a command.
//!
//! Owns where the subcommand stands and what each subcommand runs. Options of `git` may be shortened and grouped, so a
//! dangerous one is known by every beginning and in every group. Invariant: a word that is not known, where it could be such an
//! option, counts as one.

use super::reads::cannot_be_option;
use super::{Word, reads_git};

/// Long options that run something, in whichever subcommand has them.
const LONG: [&str; 10] = [
    "--config-env",
    "--exec-path",
    "--ext-diff",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--open-files-in-pager",
    "--extcmd",
    "--tool",
    "--template",
];

/// Letters of a subcommand that run something, and those that take the rest of their group as a value.
const LETTERS: [(&str, &str, &str); 4] = [
    ("clone", "cu", "bjo"),
    ("grep", "O", "efABCm"),
    ("ls-remote", "u", "o"),
    ("rebase", "x", "sXCS"),
];

/// Subcommands with an option that runs something, so that no word of theirs may be one that is not known.
const TELLING: [&str; 13] = [
    "archive",
    "bisect",
    "clone",
    "fetch",
    "fetch-pack",
    "grep",
    "hook",
    "ls-remote",
    "pull",
    "push",
    "rebase",
    "send-pack",
    "submodule",
];

/// Subcommands that run what they are set up or told to run.
const RUNNING: [&str; 8] = [
    "difftool",
    "filter-branch",
    "for-each-repo",
    "instaweb",
    "mergetool",
    "remote-ext",
    "send-email",
    "web--browse",
];

/// Why a denied command may hide in a call of `git`.
pub(super) fn why(arguments: &[Word]) -> Option<String> {
    let risk = || Some("`git` is told what to run by an option".to_owned());
    let at = subcommand(arguments);
    let (global, rest) = arguments.split_at(at);
    let is_known = |word: &Word| word.literal().is_some();
    if !global.iter().chain(rest.first()).all(is_known) {
        return Some("a word of `git` is known only when it runs".to_owned());
    }
    let sets = |word: &Word| {
        let text = word.shown();
        text == "-c" || text.starts_with("--config-env") || text.starts_with("--exec-path")
    };
    // An address may be a command.
    let is_command = |word: &Word| word.shown().contains("ext::");
    if global.iter().any(sets) || arguments.iter().any(is_command) {
        return risk();
    }
    let (name, words) = rest.split_first()?;
    let name = name.shown();
    let has = |wanted: &str| words.iter().any(|word| word.shown() == wanted);
    let runs = match name {
        "bisect" | "hook" => has("run"),
        "submodule" => has("foreach"),
        // What is set may be run by the next `git`.
        "config" => !reads_git::only_reads(rest),
        name => RUNNING.contains(&name),
    };
    if runs || words.iter().any(|word| is_option(name, word.shown())) {
        return risk();
    }
    let may_be_option = TELLING.contains(&name) && !before_end(words).iter().all(cannot_be_option);
    may_be_option.then(|| "a word of `git` may be an option that runs something".to_owned())
}

/// Options of `git` itself, in front of the subcommand, whose value is the next word.
pub(crate) const VALUED: [&str; 8] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
    "--super-prefix",
    "--attr-source",
];

/// Where the subcommand stands.
pub(super) fn subcommand(arguments: &[Word]) -> usize {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match word.shown() {
            text if VALUED.contains(&text) => at += 2,
            text if text.starts_with('-') => at += 1,
            _ => break,
        }
    }
    at.min(arguments.len())
}

fn is_option(subcommand: &str, text: &str) -> bool {
    if text.starts_with("--") {
        let name = text.split('=').next().unwrap_or(text);
        return LONG.iter().any(|option| {
            name.len() > 2 && (option.starts_with(name) || name.starts_with(option))
        });
    }
    let Some(group) = text.strip_prefix('-') else {
        return false;
    };
    let row = LETTERS.iter().find(|(name, ..)| *name == subcommand);
    row.is_some_and(|(_, run, valued)| {
        let mut own = group.chars().take_while(|letter| !valued.contains(*letter));
        own.any(|letter| run.contains(letter))
    })
}

/// The words that may be options. A `--` right behind an option may be its value.
fn before_end(words: &[Word]) -> &[Word] {
    let is_end = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        words[*at].literal() == Some("--")
            && before.is_none_or(|before| !before.shown().starts_with('-'))
    };
    let end = (0..words.len()).find(is_end).unwrap_or(words.len());
    &words[..end]
}
