//! What a `git` takes away: work that is not committed, branches, the history of others.
//!
//! Owns the table of subcommands. What the reflog still has (a rebase, an amended commit, a soft reset) is not in it.

use super::Words;
use crate::shell::GIT_VALUED;

const DISCARDS: &str = "discards uncommitted changes";
const REWRITES: &str = "rewrites the history of a remote repository";
const UNBRANCHES: &str = "deletes a branch, merged or not";
const FORGETS: &str = "deletes what git could restore";

pub(super) fn harm(words: &Words<'_>) -> Option<&'static str> {
    let (subcommand, rest) = subcommand(&words.rest)?;
    let inner = Words {
        program: subcommand,
        rest: rest.to_vec(),
    };
    let is_forced = inner.has(&["--force"]) || inner.has_letter('f');
    let first = rest.first().copied();
    match subcommand {
        "push" => push(&inner),
        "reset" => inner.has(&["--hard"]).then_some(DISCARDS),
        "clean" => {
            let only_shows = inner.has(&["--dry-run"]) || inner.has_letter('n');
            (is_forced && !only_shows).then_some("deletes untracked files")
        }
        "checkout" => {
            let names_files = rest.contains(&"--") || matches!(rest, ["."]);
            (is_forced || names_files).then_some(DISCARDS)
        }
        "switch" => (is_forced || inner.has(&["--discard-changes"])).then_some(DISCARDS),
        "restore" => {
            let only_index = (inner.has(&["--staged"]) || inner.has_letter('S'))
                && !(inner.has(&["--worktree"]) || inner.has_letter('W'));
            (!only_index).then_some(DISCARDS)
        }
        "rm" => (is_forced && !inner.has(&["--cached"])).then_some("removes files"),
        "branch" => {
            let deletes = inner.has(&["--delete"]) || inner.has_letter('d');
            (inner.has_letter('D') || is_forced && deletes).then_some(UNBRANCHES)
        }
        "worktree" => (first == Some("remove") && is_forced).then_some(DISCARDS),
        "stash" => matches!(first, Some("drop" | "clear")).then_some("deletes stashed changes"),
        "reflog" => matches!(first, Some("expire" | "delete")).then_some(FORGETS),
        "gc" => inner
            .has(&["--prune=now", "--prune=all"])
            .then_some(FORGETS),
        "filter-branch" | "filter-repo" => Some("rewrites the whole history"),
        "update-ref" => inner.has_letter('d').then_some(UNBRANCHES),
        _ => None,
    }
}

fn push(inner: &Words<'_>) -> Option<&'static str> {
    let forces = inner.has_long("--force")
        || inner.has_long("--force-with-lease")
        || inner.has_long("--mirror")
        || inner.has_letter('f')
        || inner.rest.iter().any(|word| word.starts_with('+'));
    let removes = inner.has_long("--delete")
        || inner.has_long("--prune")
        || inner.has_letter('d')
        || inner.rest.iter().any(|word| word.starts_with(':'));
    let only_shows = inner.has(&["--dry-run"]) || inner.has_letter('n');
    match (only_shows, forces, removes) {
        (true, ..) | (_, false, false) => None,
        (_, true, _) => Some(REWRITES),
        (_, _, true) => Some("removes a branch of a remote repository"),
    }
}

/// The subcommand and what follows it.
fn subcommand<'a, 'b>(rest: &'b [&'a str]) -> Option<(&'a str, &'b [&'a str])> {
    let mut at = 0;
    while rest.get(at)?.starts_with('-') {
        at += match GIT_VALUED.contains(&rest[at]) {
            true => 2,
            false => 1,
        };
    }
    Some((rest[at], &rest[at + 1..]))
}
