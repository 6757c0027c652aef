//! Calls of `git` that only read.
//!
//! Owns the table of subcommands. Options of `git` may be shortened, so a dangerous one is refused by every beginning.

use super::Word;
use super::reads::cannot_be_option;

/// Read whatever they are given, but for the options below.
const READING: [&str; 26] = [
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "cherry",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "range-diff",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "whatchanged",
];

/// Options that write or run, in any of the above.
const REFUSED: [&str; 12] = [
    "output",
    "ext-diff",
    "textconv",
    "filters",
    "upload-pack",
    "receive-pack",
    "exec",
    "open-files-in-pager",
    "show-signature",
    "paginate",
    "batch-command",
    "parseopt",
];

/// Whether a call only reads.
pub(super) fn only_reads(arguments: &[Word]) -> bool {
    let mut rest = arguments;
    while let [first, after @ ..] = rest {
        match first.literal() {
            Some("--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs") => {
                rest = after
            }
            _ => break,
        }
    }
    let Some((subcommand, rest)) = rest.split_first() else {
        return false;
    };
    let texts: Vec<&str> = rest.iter().map(Word::shown).collect();
    match subcommand.literal() {
        Some("--version" | "version") => rest.is_empty(),
        Some("grep") => all_calm(rest) && !has_letter(rest, 'O'),
        Some(name) if READING.contains(&name) => all_calm(rest),
        Some("branch") => listing(
            rest,
            &[
                "-a",
                "-r",
                "-v",
                "-vv",
                "-av",
                "-avv",
                "--all",
                "--remotes",
                "--show-current",
                "--no-color",
            ],
        ),
        Some("tag") => listing(rest, &["-n"]),
        Some("remote") => only(&texts, &["-v", "--verbose"]),
        Some("reflog") => only(&texts, &["show"]),
        Some("worktree" | "stash" | "notes") => match &texts[..] {
            ["list"] => true,
            ["list" | "show", ..] => all_calm(rest),
            _ => false,
        },
        Some("config") => match &texts[..] {
            ["--list" | "-l" | "list"] => true,
            ["--get" | "--get-all" | "--get-regexp" | "get", name] => {
                !name.starts_with('-') && all_calm(rest)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Flags that list; names only where it is told to list, because otherwise they are made.
fn listing(words: &[Word], flags: &[&str]) -> bool {
    let lists = words
        .iter()
        .any(|word| matches!(word.literal(), Some("-l" | "--list")));
    words.iter().all(|word| {
        let text = word.shown();
        match text.starts_with('-') {
            true => {
                matches!(text, "-l" | "--list")
                    || text.starts_with("--sort=")
                    || flags.contains(&text)
            }
            false => lists && cannot_be_option(word),
        }
    })
}

fn only(texts: &[&str], allowed: &[&str]) -> bool {
    texts.iter().all(|text| allowed.contains(text))
}

/// Whether a group of letters has this one.
fn has_letter(words: &[Word], letter: char) -> bool {
    words.iter().any(|word| {
        let text = word.shown();
        text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
    })
}

/// Whether no word is, or may become, an option that writes or runs.
fn all_calm(words: &[Word]) -> bool {
    for word in words {
        if word.literal() == Some("--") {
            return true;
        }
        if !cannot_be_option(word) {
            return false;
        }
        let text = word.shown();
        if let Some(name) = text
            .strip_prefix("--")
            .and_then(|long| long.split('=').next())
        {
            let is_refused = REFUSED
                .iter()
                .any(|refused| refused.starts_with(name) || name.starts_with(refused));
            if is_refused {
                return false;
            }
        } else if text == "-o"
            || text.starts_with("-u")
                && text.len() > 3
                && !text[2..].chars().all(|c| c.is_ascii_digit())
        {
            return false;
        }
    }
    true
}
