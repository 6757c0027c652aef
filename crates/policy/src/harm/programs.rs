//! Programs that take away, and with which of their words they do.
//!
//! Owns the table. What only asks for help, lists, or tries without doing is not meant.

use super::Words;

const REMOVES: &str = "removes files";
const FORMATS: &str = "overwrites a disk";
const RIGHTS: &str = "changes the rights of whole folders";
const ENDS: &str = "ends processes without letting them finish";
const ELSEWHERE: &str = "removes what runs or is kept elsewhere";

/// Words behind a program that take away something it looks after.
const SUBCOMMANDS: [(&str, &[&str], &str); 19] = [
    ("aws", &["s3", "rm"], ELSEWHERE),
    ("aws", &["s3", "rb"], ELSEWHERE),
    ("docker", &["system", "prune"], ELSEWHERE),
    ("docker", &["volume", "prune"], ELSEWHERE),
    ("docker", &["volume", "rm"], ELSEWHERE),
    ("gh", &["release", "delete"], ELSEWHERE),
    ("gh", &["repo", "delete"], ELSEWHERE),
    ("gsutil", &["rm"], ELSEWHERE),
    ("helm", &["uninstall"], ELSEWHERE),
    ("kubectl", &["delete"], ELSEWHERE),
    ("npm", &["unpublish"], ELSEWHERE),
    ("oc", &["delete"], ELSEWHERE),
    ("podman", &["system", "prune"], ELSEWHERE),
    ("podman", &["volume", "prune"], ELSEWHERE),
    ("podman", &["volume", "rm"], ELSEWHERE),
    ("pulumi", &["destroy"], ELSEWHERE),
    ("systemctl", &["poweroff"], "stops the machine"),
    ("systemctl", &["reboot"], "stops the machine"),
    ("terraform", &["destroy"], ELSEWHERE),
];

pub(super) fn harm(words: &Words<'_>) -> Option<&'static str> {
    if words.has(&["--help", "--version"]) {
        return None;
    }
    let is_recursive = words.has(&["--recursive"]) || words.has_letter('R');
    match words.program {
        "rm" | "unlink" => Some(REMOVES),
        "shred" => Some("overwrites files"),
        "truncate" => Some("cuts off what is in files"),
        "find" | "gfind" => words.has(&["-delete"]).then_some(REMOVES),
        "rsync" => {
            let tries = words.has(&["--dry-run"]) || words.has_letter('n');
            let deletes = |word: &str| word == "--del" || word.starts_with("--delete");
            let deletes = words.before_end().any(deletes);
            (deletes && !tries).then_some(REMOVES)
        }
        "chmod" | "chown" | "chgrp" => is_recursive.then_some(RIGHTS),
        "setfacl" => is_recursive.then_some(RIGHTS),
        "dd" => overwritten(words).then_some("overwrites a file or a disk"),
        "wipefs" => (words.has(&["--all"]) || words.has_letter('a')).then_some(FORMATS),
        "mkfs" | "mke2fs" | "mkswap" | "blkdiscard" => Some(FORMATS),
        name if name.starts_with("mkfs.") => Some(FORMATS),
        "kill" | "pkill" | "killall" => is_kill(words).then_some(ENDS),
        "shutdown" | "reboot" | "poweroff" | "halt" => Some("stops the machine"),
        "crontab" => words.has_letter('r').then_some("removes all timed jobs"),
        "dropdb" | "dropuser" => Some(super::sql::DROPS),
        "redis-cli" => {
            let mut lower = words.rest.iter().map(|word| word.to_ascii_lowercase());
            let flushes = |word: String| matches!(word.as_str(), "flushall" | "flushdb");
            lower.any(flushes).then_some(super::sql::DROPS)
        }
        _ => by_subcommand(words),
    }
}

/// `dd` writes only where it is told to.
fn overwritten(words: &Words<'_>) -> bool {
    let mut outputs = words
        .rest
        .iter()
        .filter_map(|word| word.strip_prefix("of="));
    outputs.any(|file| !matches!(file, "/dev/null" | "/dev/stdout" | "-"))
}

/// The one signal that nobody can answer.
fn is_kill(words: &Words<'_>) -> bool {
    let names = ["9", "KILL", "SIGKILL"];
    let is_it = |name: &str| names.contains(&name.to_ascii_uppercase().as_str());
    let by_letters = |word: &str| {
        let value = word.strip_prefix("--signal=");
        let value = value.or_else(|| word.strip_prefix('-'));
        value.is_some_and(|name| is_it(name.strip_prefix('s').unwrap_or(name)))
    };
    let mut pairs = words.rest.windows(2);
    let by_word = |pair: &[&str]| matches!(pair[0], "-s" | "-n" | "--signal") && is_it(pair[1]);
    words.before_end().any(by_letters) || pairs.any(by_word)
}

/// So many words are looked at for a subcommand: the options before it and their values.
const EARLY: usize = 6;

fn by_subcommand(words: &Words<'_>) -> Option<&'static str> {
    let early = &words.rest[..words.rest.len().min(EARLY)];
    let tries = words.before_end().any(|word| word.starts_with("--dry"));
    let row = SUBCOMMANDS.iter().find(|(program, inner, _)| {
        *program == words.program && early.windows(inner.len()).any(|found| found == *inner)
    })?;
    (!tries).then_some(row.2)
}
