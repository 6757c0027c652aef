//! How what we know of worktrees, what git knows of them and what lies on the disk stand to each other.
//!
//! Owns [`Standing`] and the reading of `git worktree list`. Reads only.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::git::Git;
use super::{Worktree, WorktreeError, Worktrees};

/// How a worktree stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// Its folder and git's record of it are there.
    There {
        /// A person locked it, with these words or none.
        locked: Option<String>,
    },
    /// Git has it at another place.
    Moved {
        /// Where.
        to: PathBuf,
    },
    /// Git has it there, but no folder is.
    FolderGone,
    /// Its folder is there, but git does not know it.
    Forgotten,
    /// Neither is there: it was removed.
    Removed,
    /// Its repository is not where it was.
    RepositoryGone,
    /// A folder among ours that no session has.
    Stray,
}

/// A worktree and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Where it is, or was.
    pub path: PathBuf,
    /// The one that a session has; none for a stray one.
    pub worktree: Option<Worktree>,
    /// How it stands.
    pub standing: Standing,
}

/// One worktree, as git lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) path: PathBuf,
    /// In full; none if it is on none.
    pub(super) branch: Option<String>,
    pub(super) locked: Option<String>,
}

impl Worktrees {
    /// Holds what sessions have against what git and the disk have. Strays come last.
    ///
    /// # Errors
    /// When git is missing or fails on a repository that is there.
    pub async fn list(&self, known: &[Worktree]) -> Result<Vec<Listed>, WorktreeError> {
        let mut seen: Vec<(PathBuf, Vec<Record>)> = Vec::new();
        let mut listed = Vec::new();
        for worktree in known {
            let standing = match self.repository_of(worktree).await? {
                None => Standing::RepositoryGone,
                Some(common) => {
                    let known = seen.iter().position(|(path, _)| *path == common);
                    let at = match known {
                        Some(at) => at,
                        None => {
                            let records = self.records(&common).await?;
                            seen.push((common, records));
                            seen.len() - 1
                        }
                    };
                    standing(worktree, &seen[at].1)
                }
            };
            listed.push(Listed {
                path: worktree.path.clone(),
                worktree: Some(worktree.clone()),
                standing,
            });
        }
        listed.extend(self.strays(known)?);
        Ok(listed)
    }

    /// The inner folder of a worktree's repository: where it was, or where the worktree says that it is now.
    pub(super) async fn repository_of(
        &self,
        worktree: &Worktree,
    ) -> Result<Option<PathBuf>, WorktreeError> {
        match self.look(worktree).await {
            Ok(looked) => Ok(Some(looked.common)),
            Err(WorktreeError::RepositoryGone { .. }) => Ok(None),
            Err(WorktreeError::FolderGone { .. } | WorktreeError::Forgotten { .. }) => {
                let is_there = worktree.git_dir.is_dir();
                Ok(is_there.then(|| worktree.git_dir.clone()))
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn records(&self, common: &Path) -> Result<Vec<Record>, WorktreeError> {
        let with_nul = Git::lists_with_nul(self.git.version().await?);
        let call = self.git.on(common);
        let call = call.args(["worktree", "list", "--porcelain"]);
        let said = call.args(with_nul.then_some("-z")).good().await?;
        Ok(read(&said.stdout, if with_nul { 0 } else { b'\n' }))
    }

    fn strays(&self, known: &[Worktree]) -> Result<Vec<Listed>, WorktreeError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(WorktreeError::io(&self.folder))?,
        };
        let mut strays = Vec::new();
        for entry in entries {
            let entry = entry.map_err(WorktreeError::io(&self.folder))?;
            let name = entry.file_name();
            let is_known = known
                .iter()
                .any(|worktree| worktree.path.file_name() == Some(&name));
            if !is_known {
                strays.push(Listed {
                    path: entry.path(),
                    worktree: None,
                    standing: Standing::Stray,
                });
            }
        }
        strays.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(strays)
    }
}

fn standing(worktree: &Worktree, records: &[Record]) -> Standing {
    let is_there = std::fs::symlink_metadata(&worktree.path).is_ok_and(|found| found.is_dir());
    let here = records.iter().find(|record| record.path == worktree.path);
    if let Some(record) = here {
        return if is_there {
            let locked = record.locked.clone();
            Standing::There { locked }
        } else {
            Standing::FolderGone
        };
    }
    let full = worktree.full_branch();
    let elsewhere = |record: &&Record| record.branch.as_ref() == Some(&full);
    match records.iter().find(elsewhere) {
        Some(record) if !is_there => Standing::Moved {
            to: record.path.clone(),
        },
        _ if is_there => Standing::Forgotten,
        _ => Standing::Removed,
    }
}

/// Reads `git worktree list --porcelain`, with lines that end so.
fn read(said: &[u8], end: u8) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for line in said.split(|byte| *byte == end) {
        let (word, rest) = match line.iter().position(|byte| *byte == b' ') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let text = || String::from_utf8_lossy(rest).into_owned();
        match (word, records.last_mut()) {
            (b"worktree", _) => records.push(Record {
                path: PathBuf::from(OsStr::from_bytes(rest)),
                ..Record::default()
            }),
            (b"branch", Some(record)) => record.branch = Some(text()),
            (b"locked", Some(record)) => record.locked = Some(text()),
            _ => {}
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_with_names_of_any_kind() {
        let said = b"worktree /a\nb\0HEAD 12\0branch refs/heads/main\0\0worktree /c\xff\0HEAD 12\0detached\0locked a b\0\0";
        let records = read(said, 0);
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].path, Path::new("/a\nb"));
        assert_eq!(records[0].branch.as_deref(), Some("refs/heads/main"));
        assert_eq!(records[1].path.as_os_str().as_bytes(), b"/c\xff");
        assert_eq!(records[1].locked.as_deref(), Some("a b"));
        assert_eq!(records[1].branch, None);
    }
}
