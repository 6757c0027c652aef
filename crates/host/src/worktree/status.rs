//! What git says of the files in a folder.
//!
//! Owns the form of `git status --porcelain=v2 -z`. Reading it is pure. Invariant: names are bytes, whatever they hold.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::git::Call;
use super::look::Looked;
use super::{WorktreeError, Worktrees};

/// How many names are kept beside the count.
const MOST_NAMED: usize = 20;

/// Names of files: the first ones, and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// How many.
    pub count: usize,
    /// The first of them, below the top of the worktree.
    pub first: Vec<PathBuf>,
}

impl Names {
    pub(super) fn add(&mut self, name: &[u8]) {
        self.count += 1;
        if self.first.len() < MOST_NAMED {
            self.first.push(PathBuf::from(OsStr::from_bytes(name)));
        }
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.first.iter().take(3);
        // Quoted: a name may hold anything.
        let shown: Vec<_> = shown.map(|name| format!("{name:?}")).collect();
        f.write_str(&shown.join(", "))?;
        match self.count - shown.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// What is not committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Files that git knows and that differ, staged or not, with conflicts or not.
    pub(super) changed: Names,
    /// Files that git neither knows nor ignores.
    pub(super) untracked: Names,
}

/// Asks git, in the folder of the call.
pub(super) async fn of(call: Call<'_>, untracked: bool) -> Result<Changes, WorktreeError> {
    let untracked = if untracked { "all" } else { "no" };
    let said = call
        .args(["status", "--porcelain=v2", "-z", "--ignore-submodules=none"])
        .args([format!("--untracked-files={untracked}")])
        .good()
        .await?;
    let mut changes = read(&said.stdout);
    if said.cut {
        // There is more than we read: what is there is enough to be careful.
        changes.changed.count = changes.changed.count.max(1);
    }
    Ok(changes)
}

impl Worktrees {
    /// What is not committed of a worktree whose files are in this folder.
    pub(super) async fn changes(
        &self,
        looked: &Looked,
        files: &Path,
    ) -> Result<Changes, WorktreeError> {
        let call = self.on_files(looked, files).without_filters().await?;
        of(call, true).await
    }

    /// Files that are there and of which git was told not to see changes.
    pub(super) async fn hidden(
        &self,
        looked: &Looked,
        files: &Path,
    ) -> Result<Names, WorktreeError> {
        let call = self.on_files(looked, files);
        let said = call.args(["ls-files", "-v", "-z"]).good().await?;
        let mut hidden = hidden_in(&said.stdout, |name| {
            std::fs::symlink_metadata(files.join(OsStr::from_bytes(name))).is_ok()
        });
        if said.cut {
            hidden.count = hidden.count.max(1);
        }
        Ok(hidden)
    }
}

/// Reads what `git ls-files -v -z` says: small letters stand for `--assume-unchanged`, an S for `--skip-worktree`, as files
/// have that a sparse checkout leaves out.
fn hidden_in(said: &[u8], is_there: impl Fn(&[u8]) -> bool) -> Names {
    let mut hidden = Names::default();
    for part in said.split(|byte| *byte == 0) {
        let (Some(tag), Some(name)) = (part.first(), part.get(2..)) else {
            continue;
        };
        if tag.is_ascii_lowercase() && *tag != b's' || *tag | 0x20 == b's' && is_there(name) {
            hidden.add(name);
        }
    }
    hidden
}

/// Reads what `git status --porcelain=v2 -z` says.
fn read(said: &[u8]) -> Changes {
    let mut changes = Changes::default();
    let mut parts = said.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        // How many words stand before the name.
        let words = match part.first() {
            Some(b'1') => 8,
            Some(b'2') => {
                // The name before a rename follows.
                parts.next();
                9
            }
            Some(b'u') => 10,
            Some(b'?') => {
                changes.untracked.add(part.get(2..).unwrap_or_default());
                continue;
            }
            _ => continue,
        };
        let name = part.splitn(words + 1, |byte| *byte == b' ').nth(words);
        changes.changed.add(name.unwrap_or(part));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_counted_by_its_name() {
        let said = b"# branch.oid 1\0\
            1 .M N... 100644 100644 100644 aa bb a b\nc\"\xff\0\
            2 R. N... 100644 100644 100644 aa bb R100 new\0? old\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both\0\
            ? un tracked\0! ignored\0";
        let changes = read(said);
        let names: Vec<_> = changes
            .changed
            .first
            .iter()
            .map(|name| name.as_os_str().as_bytes())
            .collect();
        assert_eq!(names, [&b"a b\nc\"\xff"[..], b"new", b"both"]);
        assert_eq!(changes.untracked.first, [PathBuf::from("un tracked")]);
        assert_eq!(read(b""), Changes::default());
    }

    #[test]
    fn files_that_git_does_not_look_at_are_told_unless_they_are_left_out() {
        let said = b"H seen\0h assumed\0S skipped\0S left out\0s both\0M unmerged\0";
        let hidden = hidden_in(said, |name| name != b"left out");
        assert_eq!(
            hidden.first,
            ["assumed", "skipped", "both"].map(PathBuf::from)
        );
    }

    #[test]
    fn many_names_are_counted_and_some_are_told() {
        let mut names = Names::default();
        for n in 0..100 {
            names.add(format!("f{n}").as_bytes());
        }
        assert_eq!((names.count, names.first.len()), (100, MOST_NAMED));
        assert_eq!(names.to_string(), r#""f0", "f1", "f2" and 97 more"#);
    }
}
