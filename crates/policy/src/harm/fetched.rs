//! What was fetched and is run in the same breath: `curl … | sh`.
//!
//! Owns which programs fetch, which run what they are handed, and how the two are known to belong together: the runner
//! comes behind and reads what nobody sees, or it names the file that was fetched.

use super::Words;
use crate::shell::Simple;

const RUNS: &str = "runs what it fetched";

const FETCHERS: [&str; 8] = [
    "curl", "wget", "fetch", "http", "https", "xh", "aria2c", "curlie",
];

const SHELLS: [&str; 12] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "eval", "source", ".", "iex",
];

/// Interpreters that are handed a program far less often than data.
const INTERPRETERS: [&str; 8] = [
    "python", "python3", "node", "perl", "ruby", "php", "deno", "bun",
];

pub(super) fn harm(simple: &Simple, before: &[Simple]) -> Option<&'static str> {
    let words = Words::of(simple);
    let fetchers: Vec<Words<'_>> = before
        .iter()
        .filter_map(Words::of)
        .filter(|words| FETCHERS.contains(&words.program))
        .collect();
    if fetchers.is_empty() {
        return None;
    }
    let Some(words) = words else {
        // `$(curl …)` is the command itself.
        return simple.words[0]
            .shown()
            .starts_with(['$', '`'])
            .then_some(RUNS);
    };
    let is_shell = SHELLS.contains(&words.program);
    let runs_unseen = match is_shell {
        true => simple.hides.is_some(),
        false if INTERPRETERS.contains(&words.program) => {
            let mut rest = words.rest.iter();
            words.rest.is_empty() || rest.any(|word| *word == "-" || word.starts_with("<("))
        }
        false => false,
    };
    let files = match is_shell || INTERPRETERS.contains(&words.program) {
        true => words.rest.clone(),
        false => vec![first_word(simple)],
    };
    let runs_file = || {
        let mut files = files.iter().map(|file| last(file));
        files.any(|file| fetchers.iter().any(|fetcher| names(fetcher, file)))
    };
    (runs_unseen || runs_file()).then_some(RUNS)
}

/// The program with its folder: `./install.sh` is a file, `install` is found elsewhere.
fn first_word(simple: &Simple) -> &str {
    let first = simple.words[0].shown();
    match first.contains('/') {
        true => first,
        false => "",
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether one of the words of a fetcher is this file, or an address that ends with it.
fn names(fetcher: &Words<'_>, file: &str) -> bool {
    let is_name = file.len() > 1 && !file.starts_with('-');
    is_name && fetcher.rest.iter().any(|word| last(word) == file)
}
