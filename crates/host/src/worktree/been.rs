//! Branches and commits that a worktree has been at, and the stashes that were made in it.
//!
//! Owns the reading of git's log of a worktree's `HEAD` and of the list of stashes. Pure. Invariant: a stash that may have
//! been made in the worktree counts as its own.

use std::collections::BTreeSet;

/// The words with which the log tells of another branch.
const MOVES: [&str; 2] = ["checkout: moving from ", "Branch: renamed "];

/// The name of no branch in the subject of a stash.
const NO_BRANCH: &str = "(no branch)";

/// Where a worktree has been.
#[derive(Debug)]
pub(super) struct Been {
    branches: BTreeSet<String>,
    /// None if there is no log.
    commits: Option<BTreeSet<String>>,
}

impl Been {
    /// Reads git's log of `HEAD`, for a worktree with this branch of its own.
    pub(super) fn read(own: &str, log: &[u8]) -> Self {
        let mut been = Self::unknown(own);
        let mut commits = BTreeSet::new();
        for line in String::from_utf8_lossy(log).lines() {
            let (head, words) = line.split_once('\t').unwrap_or((line, ""));
            commits.extend(head.split(' ').take(2).map(str::to_owned));
            let moved = MOVES.iter().find_map(|word| words.strip_prefix(word));
            let names = moved.into_iter().flat_map(|names| names.split(" to "));
            let short = |name: &str| name.trim_start_matches("refs/heads/").to_owned();
            been.branches.extend(names.map(short));
        }
        been.commits = Some(commits);
        been
    }

    /// A worktree without a log: it may have been at any commit.
    pub(super) fn unknown(own: &str) -> Self {
        Self {
            branches: BTreeSet::from([own.to_owned()]),
            commits: None,
        }
    }

    /// Subjects of the stashes that were made here. `said` holds for each its parents, a line break, its subject and a NUL.
    pub(super) fn stashed(&self, said: &[u8]) -> Vec<String> {
        let said = String::from_utf8_lossy(said);
        let each = said
            .split('\0')
            .filter_map(|one| one.trim_start_matches('\n').split_once('\n'));
        each.filter(|(parents, subject)| self.is_ours(parents, subject))
            .map(|(_, subject)| subject.to_owned())
            .collect()
    }

    fn is_ours(&self, parents: &str, subject: &str) -> bool {
        let named = ["WIP on ", "On "]
            .iter()
            .find_map(|word| subject.strip_prefix(word));
        let branch = named.and_then(|rest| Some(rest.split_once(": ")?.0));
        match branch {
            Some(branch) if branch != NO_BRANCH => self.branches.contains(branch),
            // `git stash store` has any subject: only its first parent tells where it was made.
            _ => {
                let at = parents.split(' ').next().unwrap_or_default();
                self.commits.as_ref().is_none_or(|been| been.contains(at))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &[u8] = b"00 aa A <a@b> 1 +0000\n\
        aa aa A <a@b> 1 +0000\tcheckout: moving from countersign/a to other\n\
        aa bb A <a@b> 1 +0000\tcommit: more\n\
        bb cc A <a@b> 1 +0000\tcheckout: moving from other to cc\n";

    #[test]
    fn a_stash_belongs_to_the_worktree_that_was_on_its_branch() {
        let been = Been::read("countersign/a", LOG);
        let said = b"aa i\nWIP on countersign/a: 12 x\0aa i\nOn countersign/a: mine\0aa i\nWIP on countersign/ab: 1\0\
            bb i\nOn other: kept\0aa i\nOn main: countersign/a:\0";
        assert_eq!(
            been.stashed(said),
            [
                "WIP on countersign/a: 12 x",
                "On countersign/a: mine",
                "On other: kept"
            ]
        );
    }

    #[test]
    fn a_stash_on_no_branch_belongs_to_whoever_was_at_its_commit() {
        let said =
            b"cc i\nWIP on (no branch): cc x\0dd i\nOn (no branch): elsewhere\0bb i\nby hand\0";
        let been = Been::read("countersign/a", LOG);
        assert_eq!(been.stashed(said), ["WIP on (no branch): cc x", "by hand"]);
        // Without a log nobody can tell: it counts.
        assert_eq!(Been::unknown("countersign/a").stashed(said).len(), 3);
    }
}
