//! The repository a session starts in, and the commit it begins from.
//!
//! Owns what is asked of git before anything is made. Reads only. Invariant: whatever is no plain repository with a commit
//! is told as what it is.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::WorktreeError;
use super::git::{Git, Output, failed};
use super::status::{self, Changes};

/// What a worktree begins from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// As it was asked for; `HEAD` without that.
    pub named: String,
    /// The commit it was then.
    pub commit: String,
    /// The branch it was, in full (`refs/heads/…`, `refs/remotes/…`), if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// A repository with its files checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder of its files.
    pub(super) top: PathBuf,
    /// Its inner folder, shared by all of its worktrees.
    pub(super) common: PathBuf,
    /// The folder that was asked for, below the top.
    pub(super) below: PathBuf,
}

/// Returns the folder of the repository that `cwd` lies in: for a linked worktree that of the repository itself. Reads
/// git's files alone, and starts no process.
pub fn folder_of(cwd: &Path) -> Option<PathBuf> {
    let top = cwd.ancestors().find(|dir| dir.join(".git").exists())?;
    let Ok(text) = std::fs::read_to_string(top.join(".git")) else {
        return Some(top.to_owned());
    };
    // `gitdir: …/.git/worktrees/NAME`
    let admin = text
        .strip_prefix("gitdir: ")
        .map(|path| top.join(path.trim_end()));
    let main = admin.as_deref().and_then(|admin| {
        let all = admin.parent().filter(|all| all.ends_with("worktrees"))?;
        all.parent().filter(|git| git.ends_with(".git"))?.parent()
    });
    Some(main.unwrap_or(top).to_owned())
}

impl Repository {
    /// The one that `cwd` is in.
    pub(super) async fn find(git: &Git, cwd: &Path) -> Result<Self, WorktreeError> {
        let ask = async |what: &str| {
            let call = git
                .at(cwd)
                .args(["rev-parse", "--path-format=absolute", what]);
            call.run().await
        };
        let bare = ask("--is-bare-repository").await?;
        if !bare.ok {
            return Err(not_found(cwd, &bare));
        }
        if bare.text() == "true" {
            return Err(WorktreeError::NoWorkingTree(cwd.to_owned()));
        }
        let top = ask("--show-toplevel").await?;
        if !top.ok {
            return Err(WorktreeError::NoWorkingTree(cwd.to_owned()));
        }
        let top = PathBuf::from(top.line());
        let above = ask("--show-superproject-working-tree").await?.line();
        if !above.is_empty() {
            return Err(WorktreeError::Submodule {
                path: top,
                of: above.into(),
            });
        }
        let (common, below) = (ask("--git-common-dir").await?, ask("--show-prefix").await?);
        Ok(Self {
            top,
            common: common.line().into(),
            below: without_slash(Path::new(&below.line())),
        })
    }

    /// The commit that a base means.
    pub(super) async fn base(&self, git: &Git, named: Option<&str>) -> Result<Base, WorktreeError> {
        let wanted = named.unwrap_or("HEAD");
        let Some(commit) = self.commit(git, wanted).await? else {
            let is_head = wanted == "HEAD" || wanted == "@";
            return Err(if is_head {
                WorktreeError::Unborn(self.top.clone())
            } else {
                WorktreeError::NoSuchBase(wanted.to_owned())
            });
        };
        if named.is_none() {
            self.must_be_clean(git).await?;
        }
        let full = git
            .at(&self.top)
            .args(["rev-parse", "--symbolic-full-name", "--verify", "--quiet"])
            .args([wanted])
            .run()
            .await?;
        let full = full.text();
        let is_branch = full.starts_with("refs/heads/") || full.starts_with("refs/remotes/");
        Ok(Base {
            named: wanted.to_owned(),
            commit,
            branch: is_branch.then_some(full),
        })
    }

    async fn commit(&self, git: &Git, wanted: &str) -> Result<Option<String>, WorktreeError> {
        // Nothing that git could take for an option, or that cannot be an argument.
        if wanted.is_empty() || wanted.starts_with('-') || wanted.contains(['\0', '\n']) {
            return Ok(None);
        }
        let found = git
            .at(&self.top)
            .args(["rev-parse", "--verify", "--quiet"])
            .args([format!("{wanted}^{{commit}}")])
            .run()
            .await?;
        Ok(found.ok.then(|| found.text()))
    }

    /// Nobody named a base, so the files as they are were meant. A worktree would not have what is not committed.
    async fn must_be_clean(&self, git: &Git) -> Result<(), WorktreeError> {
        let changes: Changes = status::of(git.at(&self.top), false).await?;
        match changes.changed.count {
            0 => Ok(()),
            changed => Err(WorktreeError::DirtyBase {
                repo: self.top.clone(),
                changed,
            }),
        }
    }
}

fn not_found(cwd: &Path, output: &Output) -> WorktreeError {
    if output.stderr.contains("not a git repository") {
        return WorktreeError::NotARepository(cwd.to_owned());
    }
    // A repository of another user, a broken config: git says what to do.
    failed("rev-parse".to_owned(), output)
}

fn without_slash(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let bytes = bytes.strip_suffix(b"/").unwrap_or(bytes);
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}
