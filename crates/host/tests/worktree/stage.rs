//! A repository, a data folder and a home, all in one temp folder.
//!
//! Owns the environment of the tests: git sees the `PATH` and nothing else of the caller's. Checks nothing itself.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use countersign_host::control::SessionId;
use countersign_host::control::session::NewWorktree;
use countersign_host::trash::Trash;
use countersign_host::worktree::{Created, Order, Worktree, WorktreeError, Worktrees};
use tempfile::TempDir;

/// A moment.
pub(crate) const NOW: u64 = 1_800_000_000_000_000;

pub(crate) struct Stage {
    /// Without links, as git names it.
    pub(crate) root: PathBuf,
    pub(crate) repo: PathBuf,
    pub(crate) worktrees: Worktrees,
    pub(crate) trash: Trash,
    _folder: TempDir,
}

impl Stage {
    /// With a repository that has one commit on `main`.
    pub(crate) fn new() -> Self {
        let stage = Self::without_commit();
        stage.write("readme", "one\n");
        stage.write("sub/inner", "inner\n");
        stage.write(".gitignore", "target/\n*.log\n");
        stage.commit("first");
        stage
    }

    pub(crate) fn without_commit() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let home = root.join("home");
        std::fs::create_dir(&home).unwrap();
        let config = "[user]\nname = A Person\nemail = person@example.org\n[init]\ndefaultBranch = main\n[protocol \"file\"]\nallow = always\n[core]\nautocrlf = false\n";
        std::fs::write(home.join(".gitconfig"), config).unwrap();
        let trash = Trash::at(root.join("data/trash"));
        let worktrees = Worktrees::new(
            root.join("data/worktrees"),
            trash.clone(),
            with_traps(&root),
        );
        let repo = root.join("repo");
        std::fs::create_dir(&repo).unwrap();
        let stage = Self {
            repo,
            worktrees,
            trash,
            root,
            _folder: folder,
        };
        stage.git(&["init", "--quiet"]);
        stage
    }

    /// The environment of git in this stage.
    pub(crate) fn env(&self) -> Vec<(OsString, OsString)> {
        env_in(&self.root)
    }

    /// Runs git in the repository.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        self.git_in(&self.repo, args)
    }

    /// Runs git in a folder. It must end well.
    pub(crate) fn git_in<S: AsRef<OsStr>>(&self, dir: &Path, args: &[S]) -> String {
        let (ok, said) = self.try_git_in(dir, args);
        assert!(ok, "{said}");
        said
    }

    pub(crate) fn try_git_in<S: AsRef<OsStr>>(&self, dir: &Path, args: &[S]) -> (bool, String) {
        let output = Command::new("git")
            .args(args)
            .current_dir(dir)
            .env_clear()
            .envs(self.env())
            .output()
            .unwrap();
        let mut said = String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned();
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        (output.status.success(), said)
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, name: &str, text: &str) {
        write(&self.repo.join(name), text);
    }

    /// Commits everything in the repository.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.commit_in(&self.repo, message)
    }

    pub(crate) fn commit_in(&self, dir: &Path, message: &str) -> String {
        self.git_in(dir, &["add", "--all"]);
        self.git_in(dir, &["commit", "--quiet", "-m", message]);
        self.git_in(dir, &["rev-parse", "HEAD"])
    }

    pub(crate) fn has_branch(&self, name: &str) -> bool {
        let full = format!("refs/heads/{name}");
        let asked = self.try_git_in(&self.repo, &["show-ref", "--verify", "--quiet", &full]);
        asked.0
    }

    /// A worktree for a session of this number, from the top of the repository.
    pub(crate) async fn make(&self, number: u128, new: NewWorktree) -> Created {
        let made = self.try_make(number, &self.repo, &new).await;
        made.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) async fn try_make(
        &self,
        number: u128,
        cwd: &Path,
        new: &NewWorktree,
    ) -> Result<Created, WorktreeError> {
        let env = BTreeMap::from([("OF_THE_SESSION".to_owned(), "yes".to_owned())]);
        let order = Order {
            session: session(number),
            cwd,
            new,
            name: "Fix the login",
            env: &env,
            now: NOW,
        };
        self.worktrees.create(order).await
    }

    /// A plain worktree.
    pub(crate) async fn plain(&self) -> Worktree {
        self.make(1, NewWorktree::default()).await.worktree
    }

    /// Why a worktree is not removed. It must still be there.
    pub(crate) async fn stays(&self, worktree: &Worktree) -> WorktreeError {
        let error = self.worktrees.remove(worktree, NOW + 1).await.unwrap_err();
        assert!(worktree.path.join(".git").exists(), "{error}");
        assert!(self.trash.list().unwrap().entries.is_empty(), "{error}");
        error
    }

    /// The folders in the data folder of worktrees.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.worktrees.folder()) else {
            return Vec::new();
        };
        let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }
}

fn env_in(root: &Path) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    vec![
        ("PATH".into(), path),
        ("HOME".into(), root.join("home").into()),
    ]
}

/// The environment that the code under test is given: with variables that would lead git astray.
fn with_traps(root: &Path) -> Vec<(OsString, OsString)> {
    let mut env = env_in(root);
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        env.push((name.into(), root.join("astray").into()));
    }
    env
}

pub(crate) fn session(number: u128) -> SessionId {
    SessionId::new(NOW, number)
}

pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub(crate) fn from_base(base: &str) -> NewWorktree {
    NewWorktree {
        base: Some(base.to_owned()),
        ..NewWorktree::default()
    }
}

pub(crate) fn with_setup(script: &str) -> NewWorktree {
    NewWorktree {
        setup: Some(script.to_owned()),
        ..NewWorktree::default()
    }
}
