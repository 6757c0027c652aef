//! Whether merging a branch would change nothing.
//!
//! Owns the repository beside the person's in which that is tried: it has their objects, and neither their settings nor
//! their attributes. Invariants: nothing is written to the person's repository, and no merge driver of it runs, since an
//! agent may have written it there.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::git::Call;
use super::losses::copies;
use super::remove::blocking;
use super::{Worktree, WorktreeError, Worktrees};

/// A repository without branches, settings or objects of its own. Removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    /// `length` is that of a commit's name, by which the kind of its hash shows.
    fn new(folder: &Path, length: usize) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let name = format!("merge-{}", uuid::Uuid::new_v4().simple());
        let scratch = Self(folder.join(name));
        fs::DirBuilder::new().mode(0o700).create(&scratch.0)?;
        for below in ["objects", "refs"] {
            fs::create_dir(scratch.0.join(below))?;
        }
        fs::write(scratch.0.join("HEAD"), "ref: refs/heads/none\n")?;
        let config = match length {
            64 => {
                "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
            }
            _ => "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
        };
        fs::write(scratch.0.join("config"), config)?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Worktrees {
    /// Whether merging the branch `tip` into what the worktree began from would change nothing, here or as another
    /// repository has it: its changes are there in other commits, as after a squash.
    pub(super) async fn adds_nothing(
        &self,
        worktree: &Worktree,
        common: &Path,
        branches: &[String],
        tip: &str,
    ) -> Result<bool, WorktreeError> {
        let Some(base) = worktree.base.branch.as_deref() else {
            return Ok(false);
        };
        let Some(tip) = self.object(common, tip).await? else {
            return Ok(false);
        };
        let here = branches
            .iter()
            .map(String::as_str)
            .filter(|one| *one == base);
        let (folder, length) = (self.trash.folder().to_owned(), tip.len());
        let scratch = blocking(common, move || Scratch::new(&folder, length)).await?;
        let scratch = scratch.map_err(WorktreeError::io(self.trash.folder()))?;
        for into in here.chain(copies(branches, base)) {
            let (commit, tree) = (format!("{into}^{{commit}}"), format!("{into}^{{tree}}"));
            let commit = self.object(common, &commit).await?;
            let tree = self.object(common, &tree).await?;
            let (Some(commit), Some(tree)) = (commit, tree) else {
                continue;
            };
            let call: Call<'_> = self.git.on(&scratch.0);
            let call = call.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternate(common));
            let call = call.args(["-c", "core.attributesFile=/dev/null"]);
            let merged = call.args(["merge-tree", "--write-tree", &commit, &tip]);
            // A conflict, or a git that cannot say: then it is work.
            let merged = merged.run().await?;
            if merged.ok && merged.text() == tree {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The full name of an object.
    async fn object(&self, common: &Path, name: &str) -> Result<Option<String>, WorktreeError> {
        let call = self.git.on(common);
        let call = call.args(["rev-parse", "--verify", "--quiet", name]);
        let found = call.run().await?;
        Ok(found.ok.then(|| found.text()))
    }
}

/// The repository's objects, quoted: the list is split at colons.
fn alternate(common: &Path) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut quoted = vec![b'"'];
    for byte in common.join("objects").as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted.push(b'"');
    std::ffi::OsString::from_vec(quoted)
}
