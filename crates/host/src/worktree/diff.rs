//! The difference of a worktree to its base, as text.
//!
//! Owns the options of `git diff` that make it the same on every machine, the index beside git's own by which new files
//! show, and the bound on its size. Invariant: nothing of the worktree or its index is changed by looking.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::git::Call;
use super::look::Looked;
use super::{Worktree, WorktreeError, Worktrees};

/// The longest difference, in bytes.
pub const MOST_DIFF: usize = 4 * 1024 * 1024;

/// How many new files are shown. A folder of build output that nobody ignores has more.
const MOST_NEW: usize = 2_000;

/// Whatever the person's settings are.
const ALWAYS: [&str; 13] = [
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--find-renames",
    "--unified=3",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=none",
    "--output-indicator-new=+",
];

impl Worktrees {
    /// The difference to the base: what was committed, what was not, and new files that are not ignored. Binary files are
    /// named. One that is too long is cut, and says so in its last lines. Bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    /// When the worktree is not there, or git fails.
    pub async fn diff(&self, worktree: &Worktree) -> Result<String, WorktreeError> {
        self.diff_up_to(worktree, MOST_DIFF).await
    }

    /// As [`diff`](Self::diff), with another bound.
    ///
    /// # Errors
    /// As for [`diff`](Self::diff).
    pub async fn diff_up_to(
        &self,
        worktree: &Worktree,
        most: usize,
    ) -> Result<String, WorktreeError> {
        let looked = self.look(worktree).await?;
        let index = Index::with_new_files(self, worktree, &looked).await?;
        let said = index.diff(worktree, &["--patch"]).await?;
        let said = said.most(most).good().await?;
        let mut text = whole_lines(&said.stdout, said.cut);
        if said.cut {
            let names = index.diff(worktree, &["--name-only", "-z"]).await?;
            let names = names.good().await?;
            let files = names.stdout.iter().filter(|byte| **byte == 0).count();
            let _ = writeln!(
                text,
                "# cut: the difference is longer than {most} bytes and is about {files} files in all; see the rest with \
                 `git diff {:.12}` in {}",
                worktree.base.commit,
                worktree.path.display()
            );
        }
        for note in &index.notes {
            let _ = writeln!(text, "# {note}");
        }
        Ok(text)
    }
}

fn whole_lines(said: &[u8], cut: bool) -> String {
    let end = if cut {
        memchr::memrchr(b'\n', said).map_or(0, |at| at + 1)
    } else {
        said.len()
    };
    String::from_utf8_lossy(&said[..end]).into_owned()
}

/// Copies an index with its time. By that git tells which files may have changed in the same moment as they were noted, and
/// looks into these; in a newer copy such a change would never show.
async fn copy(own: &Path, to: &Path) -> std::io::Result<()> {
    // Before it is copied: with too early a time git looks into more files, with too late a time into too few.
    let written = tokio::fs::metadata(own).await?.modified()?;
    tokio::fs::copy(own, to).await?;
    let copy = tokio::fs::File::options().write(true).open(to).await?;
    copy.into_std().await.set_modified(written)
}

/// A copy of a worktree's index that also knows its new files. Removed when dropped.
pub(super) struct Index<'a> {
    worktrees: &'a Worktrees,
    looked: &'a Looked,
    file: PathBuf,
    /// What does not show, in sentences.
    pub(super) notes: Vec<String>,
}

impl<'a> Index<'a> {
    pub(super) async fn with_new_files(
        worktrees: &'a Worktrees,
        worktree: &Worktree,
        looked: &'a Looked,
    ) -> Result<Self, WorktreeError> {
        let name = format!("countersign-index-{}", uuid::Uuid::new_v4().simple());
        let mut index = Self {
            worktrees,
            looked,
            file: looked.admin.join(name),
            notes: Vec::new(),
        };
        let own = looked.admin.join("index");
        // Nothing else is read, least of all what would never end.
        if std::fs::symlink_metadata(&own).is_ok_and(|found| found.is_file()) {
            copy(&own, &index.file)
                .await
                .map_err(WorktreeError::io(&own))?;
        }
        let new = worktrees
            .on_files(looked, &worktree.path)
            .args(["ls-files", "--others", "--exclude-standard", "-z"])
            .good()
            .await?;
        let names = index.names_to_add(&new.stdout);
        if !names.is_empty() {
            // Only that they are there: nothing is written to the repository.
            let added = index
                .call(worktree)
                .args(["add", "--intent-to-add", "--force"])
                .args(["--pathspec-from-file=-", "--pathspec-file-nul"])
                .env("GIT_LITERAL_PATHSPECS", "1")
                .stdin(names)
                .run()
                .await?;
            if !added.ok {
                let why = added.stderr.lines().next().unwrap_or_default();
                let note = format!("some new files are not shown: {why}");
                index.notes.push(note);
            }
        }
        Ok(index)
    }

    /// A difference by this index.
    pub(super) async fn diff(
        &self,
        worktree: &Worktree,
        how: &[&str],
    ) -> Result<Call<'a>, WorktreeError> {
        let base = worktree.base.commit.as_str();
        let call = self.call(worktree).without_filters().await?;
        Ok(call.args(ALWAYS).args(how).args([base, "--"]))
    }

    fn call(&self, worktree: &Worktree) -> Call<'a> {
        let call = self.worktrees.on_files(self.looked, &worktree.path);
        call.env("GIT_INDEX_FILE", &self.file)
    }

    /// The new files that can be shown. The others are noted.
    fn names_to_add(&mut self, said: &[u8]) -> Vec<u8> {
        let (mut names, mut count, mut left) = (Vec::new(), 0, 0);
        for name in said
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
        {
            if name.ends_with(b"/") {
                let shown = Path::new(OsStr::from_bytes(name));
                let note = format!("{shown:?} is a repository of its own and is not shown");
                self.notes.push(note);
            } else if count == MOST_NEW {
                left += 1;
            } else {
                count += 1;
                names.extend_from_slice(name);
                names.push(0);
            }
        }
        if left > 0 {
            let note = format!("{left} more new files are not shown: ignore what is built");
            self.notes.push(note);
        }
        names
    }
}

impl Drop for Index<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
        let mut lock = self.file.clone().into_os_string();
        lock.push(".lock");
        let _ = std::fs::remove_file(lock);
    }
}
