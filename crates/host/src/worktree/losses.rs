//! What would be lost with a worktree.
//!
//! Owns the question and its answer in words. Reads only. Invariant: what cannot be told for sure counts as work.

use std::fmt;
use std::path::Path;

use super::been::Been;
use super::git::Call;
use super::look::{Looked, file_up_to};
use super::status::Names;
use super::{Worktree, WorktreeError, Worktrees, slug};

/// Files and folders in git's folder for a worktree that say that something is half done.
const HALF_DONE: [(&str, &str); 8] = [
    ("index.lock", "a git command"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase or a series of patches"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a series of picks"),
    ("BISECT_LOG", "a bisection"),
];

/// So much of git's log of a worktree is read. One that is longer tells nothing.
const LONGEST_LOG: u64 = 64 * 1024 * 1024;

/// Work that is in a worktree and nowhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    /// Changed and not committed.
    pub uncommitted: Names,
    /// New and neither committed nor ignored.
    pub untracked: Names,
    /// Files of which git was told not to see changes.
    pub hidden: Names,
    /// What was stashed on its branch, as git names it.
    pub stashes: Vec<String>,
    /// Commits that no other branch has.
    pub unmerged: Vec<Unmerged>,
    /// What was begun and not ended: `a rebase`.
    pub half_done: Vec<&'static str>,
    /// Its submodules are filled: their commits would go with it.
    pub submodules: bool,
}

/// Commits that no other branch has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmerged {
    /// Where they are: a branch, or a commit without one.
    pub on: String,
    /// How many.
    pub commits: u32,
    /// The branch they were to go to, if the worktree began from one.
    pub into: Option<String>,
    /// Whether another repository has them, on a branch of the same name.
    pub pushed: bool,
}

impl Losses {
    /// Whether nothing would be lost.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = Vec::new();
        for what in &self.half_done {
            said.push(format!("{what} is half done: end it or give it up"));
        }
        if self.uncommitted.count > 0 {
            let Names { count, .. } = self.uncommitted;
            said.push(format!(
                "{count} changed files are not committed ({}): commit them or take the changes back",
                self.uncommitted
            ));
        }
        if self.untracked.count > 0 {
            let Names { count, .. } = self.untracked;
            said.push(format!(
                "{count} new files are not committed ({}): commit, ignore or move them",
                self.untracked
            ));
        }
        if self.hidden.count > 0 {
            let Names { count, .. } = self.hidden;
            said.push(format!(
                "git was told not to look at {count} files ({}), which may hide changes: run `git update-index \
                 --no-assume-unchanged --no-skip-worktree` on them",
                self.hidden
            ));
        }
        for one in &self.unmerged {
            said.push(one.to_string());
        }
        if !self.stashes.is_empty() {
            let stashes = self.stashes.join("; ");
            said.push(format!(
                "work is stashed on its branch ({stashes}): apply or drop it"
            ));
        }
        if self.submodules {
            said.push(
                "its submodules are filled and their commits are nowhere else: push what you need, then run `git \
                 worktree remove --force`"
                    .to_owned(),
            );
        }
        f.write_str(&said.join("; "))
    }
}

impl fmt::Display for Unmerged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { on, commits, .. } = self;
        write!(f, "{commits} commits on {on} are in no other branch")?;
        if self.pushed {
            f.write_str(", though they were pushed")?;
        }
        match &self.into {
            Some(into) => write!(f, ": merge them into {into}"),
            None => f.write_str(": merge them into one"),
        }
    }
}

impl Worktrees {
    /// What would be lost if this worktree were removed.
    ///
    /// # Errors
    /// When it is not there, or git fails.
    pub async fn losses(&self, worktree: &Worktree) -> Result<Losses, WorktreeError> {
        let looked = self.look(worktree).await?;
        self.losses_of(worktree, &looked, &worktree.path).await
    }

    /// What would be lost of a worktree whose files are in this folder.
    pub(super) async fn losses_of(
        &self,
        worktree: &Worktree,
        looked: &Looked,
        files: &Path,
    ) -> Result<Losses, WorktreeError> {
        let changes = self.changes(looked, files).await?;
        Ok(Losses {
            uncommitted: changes.changed,
            untracked: changes.untracked,
            hidden: self.hidden(looked, files).await?,
            stashes: self.stashes(worktree, looked).await?,
            unmerged: self.unmerged(worktree, looked).await?,
            half_done: half_done(&looked.admin),
            submodules: holds_anything(&looked.admin.join("modules")),
        })
    }

    /// Stashes that were made in this worktree. A stash belongs to the repository, and names the branch it was made on.
    pub(super) async fn stashes(
        &self,
        worktree: &Worktree,
        looked: &Looked,
    ) -> Result<Vec<String>, WorktreeError> {
        // Git wants files for it, and looks at none: the worktree's own may be in the trash already.
        let call = self.git.on(&looked.common);
        let call = call.env("GIT_WORK_TREE", &looked.common);
        let said = call.args(["stash", "list", "-z", "--format=%P%n%gs"]);
        let said = said.good().await?;
        let been = match file_up_to(&looked.admin.join("logs/HEAD"), LONGEST_LOG) {
            Some(log) => Been::read(&worktree.branch, &log),
            None => Been::unknown(&worktree.branch),
        };
        Ok(been.stashed(&said.stdout))
    }

    /// Commits of the worktree's branch, and of where it is now, that no other branch has.
    pub(super) async fn unmerged(
        &self,
        worktree: &Worktree,
        looked: &Looked,
    ) -> Result<Vec<Unmerged>, WorktreeError> {
        let branches = self.branches(&looked.common).await?;
        let own = worktree.full_branch();
        let mut tips = Vec::new();
        if branches.contains(&own) {
            tips.push((worktree.branch.clone(), own.clone()));
        }
        let is_branch = |tip: &str| tip.starts_with("refs/");
        match (&looked.on, &looked.head) {
            // Without a branch: nothing but the worktree holds these commits.
            (None, Some(head)) => tips.push((format!("no branch (at {head:.12})"), head.clone())),
            // Another branch was chosen in it. What it began from is no work of this session.
            (Some(on), Some(_)) if *on != own && Some(on) != worktree.base.branch.as_ref() => {
                tips.push((short_name(on), on.clone()));
            }
            _ => {}
        }
        let mut unmerged = Vec::new();
        for (name, tip) in tips {
            let others = others(&branches, worktree, &tip);
            let count = async |against: Vec<&str>| {
                self.count(&looked.common, &tip, worktree, against).await
            };
            let commits = count(others).await?;
            if commits == 0 {
                continue;
            }
            // A branch stays all the same. A commit without one would be gone, whatever other commits bring.
            let is_elsewhere = is_branch(&tip)
                && self
                    .adds_nothing(worktree, &looked.common, &branches, &tip)
                    .await?;
            if is_elsewhere {
                continue;
            }
            let copies = copies(&branches, &tip);
            let pushed = !copies.is_empty() && count(copies).await? == 0;
            unmerged.push(Unmerged {
                on: name,
                commits,
                into: worktree.base.branch.as_deref().map(short_name),
                pushed,
            });
        }
        Ok(unmerged)
    }

    /// Every branch, of this repository and as others were last seen, in full. One that only names another holds nothing.
    pub(super) async fn branches(&self, common: &Path) -> Result<Vec<String>, WorktreeError> {
        let call: Call<'_> = self.git.on(common);
        let said = call
            .args(["for-each-ref", "--format=%(refname) %(symref)"])
            .args(["refs/heads", "refs/remotes"])
            .good()
            .await?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        // A name that is no text is left out: that only makes us more careful.
        let is_text = |name: &&str| !name.contains(char::REPLACEMENT_CHARACTER);
        let own = said.lines().filter_map(|line| line.strip_suffix(' '));
        Ok(own.filter(is_text).map(str::to_owned).collect())
    }

    /// How many commits of `tip`, above the base, are in none of these.
    async fn count(
        &self,
        common: &Path,
        tip: &str,
        worktree: &Worktree,
        against: Vec<&str>,
    ) -> Result<u32, WorktreeError> {
        let mut asked = format!("{tip}\n^{}\n", worktree.base.commit);
        for one in against {
            asked.push_str(&format!("^{one}\n"));
        }
        let call = self.git.on(common).args(["rev-list", "--count", "--stdin"]);
        Ok(call.stdin(asked.into_bytes()).good().await?.count())
    }
}

/// Where merged work may be: branches of people, and the branch the worktree began from.
pub(super) fn others<'a>(branches: &'a [String], worktree: &Worktree, tip: &str) -> Vec<&'a str> {
    let is_base = |name: &str| worktree.base.branch.as_deref() == Some(name);
    branches
        .iter()
        .map(String::as_str)
        .filter(|name| *name != tip && *name != worktree.full_branch())
        .filter(|name| is_base(name) || !is_of_a_session(name))
        .collect()
}

/// A branch of ours, here or as another repository has it.
fn is_of_a_session(name: &str) -> bool {
    let here = name.strip_prefix("refs/heads/");
    let there = name
        .strip_prefix("refs/remotes/")
        .and_then(|name| name.split_once('/'))
        .map(|(_, name)| name);
    here.or(there)
        .is_some_and(|name| name.starts_with(slug::PREFIX))
}

/// The same branch in other repositories.
pub(super) fn copies<'a>(branches: &'a [String], tip: &str) -> Vec<&'a str> {
    let Some(name) = tip.strip_prefix("refs/heads/") else {
        return Vec::new();
    };
    let is_copy = |other: &&str| {
        other
            .strip_prefix("refs/remotes/")
            .and_then(|other| other.split_once('/'))
            .is_some_and(|(_, other)| other == name)
    };
    branches
        .iter()
        .map(String::as_str)
        .filter(is_copy)
        .collect()
}

pub(super) fn short_name(full: &str) -> String {
    full.strip_prefix("refs/heads/")
        .or(full.strip_prefix("refs/remotes/"))
        .unwrap_or(full)
        .to_owned()
}

pub(super) fn half_done(admin: &Path) -> Vec<&'static str> {
    HALF_DONE
        .iter()
        .filter(|(name, _)| admin.join(name).exists())
        .map(|(_, what)| *what)
        .collect()
}

fn holds_anything(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_of_sessions_are_no_place_to_be_merged_into() {
        assert!(is_of_a_session("refs/heads/countersign/a"));
        assert!(is_of_a_session("refs/remotes/origin/countersign/a"));
        assert!(!is_of_a_session("refs/heads/main"));
        assert!(!is_of_a_session("refs/remotes/countersign/main"));
    }

    #[test]
    fn losses_are_told_with_what_to_do() {
        let mut losses = Losses::default();
        assert!(losses.is_nothing());
        losses.untracked.add(b"new\nfile");
        losses.unmerged.push(Unmerged {
            on: "countersign/a".into(),
            commits: 2,
            into: Some("main".into()),
            pushed: true,
        });
        let said = losses.to_string();
        assert!(said.contains(r#""new\nfile""#), "{said}");
        assert!(said.contains("2 commits on countersign/a are in no other branch, though they were pushed: merge them into main"), "{said}");
    }
}
