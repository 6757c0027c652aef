//! Whether a worktree is what it was: its folder, git's record of it, its repository.
//!
//! Owns the one check before anything is asked of a worktree. Reads only. Invariants: a folder that is not this worktree any
//! more is never taken for it; what a file in it says of its repository counts only if that repository says the same, since
//! an agent writes there.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::git::Call;
use super::{Worktree, WorktreeError, Worktrees};

/// So much of a file is read that holds one path.
const LONGEST_LINE: u64 = 16 * 1024;

/// A worktree that is there.
#[derive(Debug, Clone)]
pub(super) struct Looked {
    /// Git's own folder for it.
    pub(super) admin: PathBuf,
    /// The repository's inner folder.
    pub(super) common: PathBuf,
    /// The commit it is at; none on a branch without one.
    pub(super) head: Option<String>,
    /// The branch it is on, in full; none if it is on none.
    pub(super) on: Option<String>,
}

impl Worktrees {
    /// Checks by files alone, without a process, that what lies at the place of a worktree is this worktree.
    ///
    /// # Errors
    /// When it is gone, another folder, or one of another repository.
    pub fn check_place(&self, worktree: &Worktree) -> Result<(), WorktreeError> {
        admin_of(worktree).map(drop)?;
        // The folder in it that the session works in may be a link by now.
        let real = |path: &Path| path.canonicalize().map_err(WorktreeError::io(path));
        let (whole, cwd) = (real(&worktree.path)?, real(&worktree.cwd)?);
        if cwd.starts_with(whole) {
            Ok(())
        } else {
            Err(WorktreeError::LeadsOut(worktree.cwd.clone()))
        }
    }

    pub(super) async fn look(&self, worktree: &Worktree) -> Result<Looked, WorktreeError> {
        let admin = admin_of(worktree)?;
        self.look_at(worktree, admin).await
    }

    /// Looks at git's record of a worktree, whose folder may be elsewhere.
    pub(super) async fn look_at(
        &self,
        worktree: &Worktree,
        admin: PathBuf,
    ) -> Result<Looked, WorktreeError> {
        let common = common_of(worktree)?;
        let ask = async |what: &[&str]| {
            let call = self.git.on(&admin).args(["rev-parse"]).args(what);
            call.run().await
        };
        let said = ask(&["--path-format=absolute", "--git-common-dir"]).await?;
        let is_ours =
            said.ok && Path::new(&said.line()).canonicalize().ok() == Some(common.clone());
        if !is_ours {
            return Err(forgotten(worktree));
        }
        let head = ask(&["--verify", "--quiet", "HEAD^{commit}"]).await?;
        let on = self
            .git
            .on(&admin)
            .args(["symbolic-ref", "--quiet", "HEAD"]);
        let on = on.run().await?;
        Ok(Looked {
            admin,
            common,
            head: head.ok.then(|| head.text()),
            on: on.ok.then(|| on.text()),
        })
    }

    /// A call on the files of a worktree, wherever they are, with git's record of it: its file `.git` is not asked.
    pub(super) fn on_files(&self, looked: &Looked, files: &Path) -> Call<'_> {
        let call = self.git.at(files).env("GIT_DIR", &looked.admin);
        call.env("GIT_WORK_TREE", files)
    }
}

/// The inner folder of a worktree's repository, without links.
pub(super) fn common_of(worktree: &Worktree) -> Result<PathBuf, WorktreeError> {
    let real = worktree.git_dir.canonicalize().ok();
    real.filter(|real| real.is_dir())
        .ok_or_else(|| WorktreeError::RepositoryGone {
            path: worktree.path.clone(),
            repo: worktree.repo.clone(),
        })
}

/// Git's own folder for a worktree: its file `.git` names it, it lies in the worktree's own repository, and names the
/// worktree in turn.
fn admin_of(worktree: &Worktree) -> Result<PathBuf, WorktreeError> {
    let path = &worktree.path;
    if !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        return Err(WorktreeError::FolderGone {
            path: path.clone(),
            branch: worktree.branch.clone(),
        });
    }
    let all = common_of(worktree)?.join("worktrees");
    pointed_at(path)
        .and_then(|admin| admin.canonicalize().ok())
        .filter(|admin| admin.parent() == Some(&all) && is_named_by(admin, path))
        .ok_or_else(|| forgotten(worktree))
}

/// Git's own folder for the worktree at this path, whatever lies there now.
pub(super) fn record_of(common: &Path, path: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(common.join("worktrees")).ok()?;
    let mut all = entries.flatten().map(|entry| entry.path());
    all.find(|admin| {
        let is_folder = std::fs::symlink_metadata(admin).is_ok_and(|found| found.is_dir());
        is_folder && is_named_by(admin, path)
    })
}

/// Whether git's folder for a worktree says that the worktree is at this path.
fn is_named_by(admin: &Path, path: &Path) -> bool {
    let Some(said) = line_of(&admin.join("gitdir")) else {
        return false;
    };
    let said = admin.join(said);
    let is_same = |folder: &Path| {
        let real = |path: &Path| path.canonicalize().ok();
        folder == path || real(folder).is_some_and(|folder| real(path) == Some(folder))
    };
    said.file_name() == Some(".git".as_ref()) && said.parent().is_some_and(is_same)
}

fn forgotten(worktree: &Worktree) -> WorktreeError {
    WorktreeError::Forgotten {
        path: worktree.path.clone(),
        branch: worktree.branch.clone(),
    }
}

/// Where the file `.git` of a worktree says that git's folder for it is.
pub(super) fn pointed_at(files: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    let said = line_of(&files.join(".git"))?;
    let said = said.as_bytes().strip_prefix(b"gitdir: ")?;
    Some(files.join(OsString::from_vec(said.to_vec())))
}

/// What a file of one line holds.
pub(super) fn line_of(path: &Path) -> Option<OsString> {
    let mut said = file_up_to(path, LONGEST_LINE)?;
    if said.last() == Some(&b'\n') {
        said.pop();
    }
    Some(OsString::from_vec(said))
}

/// Reads a file that is no longer than this. Waits for nothing and follows no link, whatever lies there.
pub(super) fn file_up_to(path: &Path, longest: u64) -> Option<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = std::fs::File::options()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
        .ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || found.len() > longest {
        return None;
    }
    let mut said = Vec::new();
    file.take(longest).read_to_end(&mut said).ok()?;
    Some(said)
}
