//! How a worktree stands to its base, in numbers.
//!
//! Owns [`Summary`] and the reading of `git diff --numstat -z`. Reads only.

use super::diff::Index;
use super::losses::short_name;
use super::status::Names;
use super::{Unmerged, Worktree, WorktreeError, Worktrees};

/// A worktree in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The branch it is on; none if it is on none.
    pub on: Option<String>,
    /// Files that differ from the base: committed, uncommitted and new ones.
    pub files: Names,
    /// Lines that are new. Binary files have none.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
    /// How many of the files are binary.
    pub binary: usize,
    /// Commits since the base.
    pub ahead: u32,
    /// Commits that the branch it began from has got meanwhile.
    pub behind: u32,
    /// That branch.
    pub behind_of: Option<String>,
    /// Changed and not committed.
    pub uncommitted: Names,
    /// New and neither committed nor ignored.
    pub untracked: Names,
    /// Commits that no other branch has, and where they were to go.
    pub unmerged: Vec<Unmerged>,
}

impl Worktrees {
    /// How a worktree stands to its base.
    ///
    /// # Errors
    /// When it is not there, or git fails.
    pub async fn summary(&self, worktree: &Worktree) -> Result<Summary, WorktreeError> {
        let looked = self.look(worktree).await?;
        let changes = self.changes(&looked, &worktree.path).await?;
        let index = Index::with_new_files(self, worktree, &looked).await?;
        let numbers = index.diff(worktree, &["--numstat", "-z"]).await?;
        let numbers = numbers.good().await?.stdout;
        let mut summary = Summary {
            on: looked.on.as_deref().map(short_name),
            uncommitted: changes.changed,
            untracked: changes.untracked,
            unmerged: self.unmerged(worktree, &looked).await?,
            ..Summary::default()
        };
        read(&numbers, &mut summary);
        let Some(head) = &looked.head else {
            return Ok(summary);
        };
        let count = async |range: String| {
            let call = self.git.on(&looked.admin);
            call.args(["rev-list", "--count", &range]).run().await
        };
        let since = count(format!("{}..{head}", worktree.base.commit)).await?;
        summary.ahead = since.count();
        if let Some(branch) = &worktree.base.branch {
            // The branch may be gone; then nothing is said of it.
            let meanwhile = count(format!("{head}..{branch}")).await?;
            if meanwhile.ok {
                summary.behind = meanwhile.count();
                summary.behind_of = Some(short_name(branch));
            }
        }
        Ok(summary)
    }
}

/// Adds up `added TAB removed TAB name NUL`, or for a rename `… TAB NUL old NUL new NUL`.
fn read(said: &[u8], into: &mut Summary) {
    let mut parts = said.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        let mut words = part.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(removed), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let name = if name.is_empty() {
            parts.next();
            parts.next().unwrap_or_default()
        } else {
            name
        };
        into.files.add(name);
        match (number(added), number(removed)) {
            (Some(added), Some(removed)) => {
                into.added += added;
                into.removed += removed;
            }
            _ => into.binary += 1,
        }
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_added_up_over_renames_and_binary_files() {
        let mut summary = Summary::default();
        read(
            b"3\t1\ta\tb\n\0-\t-\tpicture\x000\t2\t\0old\0new\0",
            &mut summary,
        );
        assert_eq!((summary.added, summary.removed, summary.binary), (3, 3, 1));
        let names = ["a\tb\n", "picture", "new"].map(std::path::PathBuf::from);
        assert_eq!(summary.files.first, names);
    }
}
