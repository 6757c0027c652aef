//! What can be told of a command from its text: whether it is quiet, only looks, reads files, or rewrites them. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::words::{Simple, split};

/// Commands that say nothing when all goes well.
const QUIET: [&str; 14] = [
    "cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "rm", "rmdir", "touch",
    "unset", "wait",
];

/// Commands that change nothing, whatever their words.
const LOOKING: [&str; 38] = [
    "[", "basename", "cat", "cmp", "cut", "date", "df", "diff", "dirname", "du", "echo", "false",
    "file", "grep", "head", "hostname", "id", "ls", "nl", "printenv", "printf", "ps", "pwd",
    "readlink", "realpath", "rg", "seq", "sleep", "sort", "stat", "tac", "tail", "test", "tr",
    "true", "uname", "wc", "which",
];

/// What git does without changing anything.
const GIT_LOOKING: [&str; 8] = [
    "blame",
    "diff",
    "log",
    "ls-files",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

/// The longest `sleep` that is not refused, in seconds.
const LONGEST_SLEEP: f64 = 25.0;

/// Whether nothing is expected to be printed.
pub(super) fn is_quiet(command: &str) -> bool {
    let simple = split(command);
    !simple.is_empty() && simple.iter().all(|simple| QUIET.contains(&simple.name()))
}

/// Whether the command changes nothing.
pub(in crate::cli::act) fn only_looks(command: &str) -> bool {
    let looks = |simple: &Simple| {
        let plain = !simple.opaque && !simple.redirected;
        let git = simple.name() == "git"
            && simple
                .words
                .get(1)
                .is_some_and(|word| GIT_LOOKING.contains(&word.as_str()));
        plain && (git || LOOKING.contains(&simple.name()))
    };
    let simple = split(command);
    !simple.is_empty() && simple.iter().all(looks)
}

/// What an exit code means that is no failure.
pub(super) fn exit_meaning(command: &str, code: i32) -> Option<&'static str> {
    if code != 1 {
        return None;
    }
    match split(command).last().map(Simple::name)? {
        "grep" | "rg" => Some("No matches found"),
        "diff" => Some("Files differ"),
        "test" | "[" => Some("Condition is false"),
        "find" => Some("Some directories were inaccessible"),
        _ => None,
    }
}

/// Whether the command begins with a pause, and so cannot be moved to the background.
pub(super) fn begins_with_sleep(command: &str) -> bool {
    split(command)
        .first()
        .is_some_and(|simple| simple.name() == "sleep")
}

/// Why a command that only waits is not run.
pub(super) fn long_sleep(command: &str) -> Option<String> {
    let simple = split(command);
    let (first, rest) = simple.split_first()?;
    let [name, time] = first.words.as_slice() else {
        return None;
    };
    let seconds: f64 = time.parse().ok()?;
    if name != "sleep" || seconds < LONGEST_SLEEP {
        return None;
    }
    let rest: Vec<String> = rest.iter().map(|simple| simple.written.join(" ")).collect();
    Some(match rest.is_empty() {
        true => format!("Blocked: standalone sleep {time}."),
        false => format!("Blocked: sleep {time} followed by: {}.", rest.join(" ")),
    })
}

static REWRITES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms = [
        r"\bg?sed\b.*\s(-[A-Za-z]*i|--in-place)",
        r"--(fix|write)\b",
        r"\b(black|isort|rustfmt|swiftformat)\b",
        r"\b(ruff format|go fmt|terraform fmt|dprint fmt|cargo fmt|cargo fix)\b",
        r"\b(npm|yarn|pnpm|bun)( run)? (format|fix|lint:fix)\b",
    ];
    Regex::new(&forms.join("|")).ok()
});

/// Whether files are rewritten by such a command, so that it is worth looking which.
pub(super) fn rewrites_files(command: &str) -> bool {
    REWRITES
        .as_ref()
        .is_some_and(|forms| forms.is_match(command))
}

/// How much of a file a command shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// Its first lines: all of it, if it has no more.
    First(usize),
    Part,
}

/// The files whose lines the command prints as they are.
pub(super) fn shown_files(command: &str) -> Vec<(String, Extent)> {
    let shown = |simple: &Simple| {
        if simple.piped || simple.redirected || simple.opaque {
            return None;
        }
        let (flags, files): (Vec<&String>, Vec<&String>) = simple.words[1..]
            .iter()
            .partition(|word| word.starts_with('-'));
        let (extent, files) = match simple.name() {
            "cat" | "nl" => (Extent::Whole, files),
            "head" => first_lines(&flags, files),
            "tail" => (Extent::Part, files),
            "sed" if flags.iter().any(|flag| *flag == "-n") => {
                (Extent::Part, files[1.min(files.len())..].to_vec())
            }
            "grep" => (Extent::Part, files[1.min(files.len())..].to_vec()),
            _ => return None,
        };
        match files.as_slice() {
            [file] => Some(((*file).clone(), extent)),
            _ => None,
        }
    };
    split(command).iter().filter_map(shown).collect()
}

fn first_lines<'a>(flags: &[&String], mut files: Vec<&'a String>) -> (Extent, Vec<&'a String>) {
    let mut count = 10;
    for flag in flags {
        let number = flag.trim_start_matches("-n").trim_start_matches('-');
        match number.parse() {
            Ok(lines) => count = lines,
            // `-n 5`: the number stands among the files.
            Err(_) if *flag == "-n" && !files.is_empty() => {
                count = files.remove(0).parse().unwrap_or(count);
            }
            Err(_) => return (Extent::Part, files),
        }
    }
    (Extent::First(count), files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_rewrite_files_are_told_by_their_words() {
        let rewriting = [
            "sed -i s/a/b/ x",
            "sed -Ei s/a/b/ x",
            "sed --in-place s/a/b/ x",
            "find . -exec sed -i s/a/b/ {} +",
            "npx prettier --write .",
            "eslint . --fix",
            "poetry run black .",
            "cargo fmt --all",
            "npm run lint:fix",
            "yarn format",
            "go fmt ./...",
        ];
        let others = [
            "sed -n 1p x",
            "perl -pi -e s/a/b/ x",
            "prettier .",
            "gofmt -w .",
            "ruff check .",
            "cargo build",
            "npm run build",
            "deno fmt",
            "make fmt",
            "cp a b",
            "git checkout .",
        ];
        for command in rewriting {
            assert!(rewrites_files(command), "{command}");
        }
        for command in others {
            assert!(!rewrites_files(command), "{command}");
        }
    }

    #[test]
    fn the_files_a_command_shows_are_known() {
        let whole = |file: &str| vec![(file.to_owned(), Extent::Whole)];
        assert_eq!(shown_files("cat a.txt"), whole("a.txt"));
        assert_eq!(shown_files("cd x; cat -n 'a b'; echo"), whole("a b"));
        assert_eq!(shown_files("cat a b"), []);
        assert_eq!(shown_files("cat a | head"), []);
        assert_eq!(shown_files("cat < a"), []);
        assert_eq!(
            shown_files("head -5 a"),
            [("a".to_owned(), Extent::First(5))]
        );
        assert_eq!(
            shown_files("head -n 3 a"),
            [("a".to_owned(), Extent::First(3))]
        );
        assert_eq!(
            shown_files("sed -n 1,2p a"),
            [("a".to_owned(), Extent::Part)]
        );
        assert_eq!(shown_files("grep x a"), [("a".to_owned(), Extent::Part)]);
    }

    #[test]
    fn a_long_pause_is_refused_with_what_follows_it() {
        assert_eq!(long_sleep("sleep 24"), None);
        assert_eq!(long_sleep("sleep 45s"), None);
        assert_eq!(long_sleep("echo; sleep 60"), None);
        let told = long_sleep("sleep 100; cat 'a b' > x").unwrap();
        assert_eq!(told, "Blocked: sleep 100 followed by: cat 'a b'.");
        assert_eq!(
            long_sleep("sleep 30 # c").unwrap(),
            "Blocked: standalone sleep 30."
        );
    }
}
