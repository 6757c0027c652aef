//! What a command did to a repository: commits and merges by what git printed, changed files by looking twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ignore::WalkBuilder;
use regex::Regex;
use serde_json::{Value, json};

use super::words::{Simple, split};
use crate::cli::act::lines::patch;

/// Files that are looked at, and bytes of each; beyond, changes are not told.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 200_000;
/// Changed files that are shown with their lines.
const MOST_SHOWN: usize = 50;

static COMMIT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^\[(\S+)(?: \(root-commit\))? ([0-9a-f]{7,})\]").ok());

/// `gitOperation`: what git did, told by the command and what it printed.
pub(super) fn operation(command: &str, printed: &str) -> Option<Value> {
    split(command)
        .iter()
        .find_map(|simple| of_simple(simple, printed))
}

fn of_simple(simple: &Simple, printed: &str) -> Option<Value> {
    let [git, verb, rest @ ..] = simple.words.as_slice() else {
        return None;
    };
    if git != "git" {
        return None;
    }
    let named = rest.iter().find(|word| !word.starts_with('-'));
    let branch = |action: &str| Some(json!({"branch": {"ref": named?, "action": action}}));
    match verb.as_str() {
        "commit" | "cherry-pick" => {
            let found = COMMIT.as_ref()?.captures(printed)?;
            let kind = match verb.as_str() {
                "cherry-pick" => "cherry-picked",
                _ if rest.iter().any(|word| word == "--amend") => "amended",
                _ => "committed",
            };
            Some(json!({"commit": {"sha": &found[2], "kind": kind, "branch": &found[1]}}))
        }
        "merge"
            if ["Fast-forward", "Merge made by"]
                .iter()
                .any(|text| printed.contains(text)) =>
        {
            branch("merged")
        }
        "rebase" if printed.contains("Successfully rebased") => branch("rebased"),
        _ => None,
    }
}

/// The files of a repository at one moment.
#[derive(Debug)]
pub(super) struct Tree {
    files: BTreeMap<PathBuf, String>,
}

impl Tree {
    /// Looks at the repository the folder is in; nothing if it is too large for that.
    pub(super) fn look(cwd: &Path) -> Option<Self> {
        let root = cwd
            .ancestors()
            .find(|folder| folder.join(".git").exists())?;
        let mut walk = WalkBuilder::new(root);
        walk.hidden(false).git_global(false);
        walk.filter_entry(|entry| entry.file_name() != ".git");
        let mut files = BTreeMap::new();
        for entry in walk.build().flatten() {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            if files.len() >= MOST_FILES {
                return None;
            }
            let small = entry
                .metadata()
                .is_ok_and(|found| found.len() <= MOST_BYTES);
            let text = small
                .then(|| std::fs::read_to_string(entry.path()).ok())
                .flatten();
            if let Some(text) = text {
                files.insert(entry.into_path(), text);
            }
        }
        Some(Self { files })
    }

    /// `bashEditDiff`: what is different now.
    pub(super) fn changes_to(&self, now: &Tree) -> Option<Value> {
        let mut paths: Vec<&PathBuf> = self.files.keys().chain(now.files.keys()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.retain(|path| self.files.get(*path) != now.files.get(*path));
        if paths.is_empty() {
            return None;
        }
        let shown = paths.iter().take(MOST_SHOWN).map(|path| {
            let (old, new) = (self.files.get(*path), now.files.get(*path));
            let text = |file: Option<&String>| file.cloned().unwrap_or_default();
            let mut entry = json!({
                "filePath": path.to_string_lossy(),
                "hunks": patch(&text(old), &text(new)),
            });
            if old.is_none() {
                entry["created"] = true.into();
            }
            if new.is_none() {
                entry["deleted"] = true.into();
            }
            entry
        });
        Some(json!({
            "files": shown.collect::<Vec<_>>(),
            "moreFiles": paths.len().saturating_sub(MOST_SHOWN),
            "changedFiles": paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_did_is_told_by_what_it_printed() {
        let done = |command: &str, printed: &str| operation(command, printed).unwrap_or_default();
        let commit = |kind: &str, branch: &str| json!({"commit": {"sha": "3fb4362", "kind": kind, "branch": branch}});
        let printed = "[main 3fb4362] second one\n 4 files changed";
        assert_eq!(
            done("git add -A && git commit -m 'x'", printed),
            commit("committed", "main")
        );
        assert_eq!(
            done("git commit --amend", printed),
            commit("amended", "main")
        );
        let first = "[work (root-commit) 3fb4362] first";
        assert_eq!(done("git commit -m a", first), commit("committed", "work"));
        let merged = json!({"branch": {"ref": "side", "action": "merged"}});
        assert_eq!(
            done("git merge side -m x", "Updating a..b\nFast-forward\n"),
            merged
        );
        assert_eq!(done("git merge side", "Already up to date."), Value::Null);
        assert_eq!(done("echo '[main 3fb4362]'", printed), Value::Null);
    }
}
