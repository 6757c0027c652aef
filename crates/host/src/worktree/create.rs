//! Makes a worktree.
//!
//! Owns the order: look at the repository, take a name that is free, make the branch, check the files out, run the setup
//! script. Invariants: a name is taken by making it, so two at once never get the same; what fails leaves nothing behind
//! but what a setup script has made, and what lies in the trash; git removes no file.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::git::{Output, failed};
use super::look::common_of;
use super::repository::{Base, Repository};
use super::setup::{self, SetupFailed};
use super::{Created, Order, Worktree, WorktreeError, Worktrees, slug};

impl Worktrees {
    /// Makes a worktree for a session and runs its setup script in it.
    ///
    /// # Errors
    /// When the folder is in no repository that can have one, the base names nothing, or the setup script fails. What is
    /// left behind then is told.
    pub async fn create(&self, order: Order<'_>) -> Result<Created, WorktreeError> {
        self.git.version().await?;
        let repository = Repository::find(&self.git, order.cwd).await?;
        self.create_in(order, repository).await
    }

    /// As [`create`](Self::create), for a session that goes on from one that has a worktree: from the last commit of that one,
    /// and of no other repository.
    ///
    /// # Errors
    /// As [`create`](Self::create), and when what lies at the place of the other worktree is not that worktree.
    pub async fn create_beside(
        &self,
        order: Order<'_>,
        theirs: &Worktree,
    ) -> Result<Created, WorktreeError> {
        self.git.version().await?;
        self.look(theirs).await?;
        self.check_place(theirs)?;
        let repository = Repository::find(&self.git, order.cwd).await?;
        let is_same = repository.common.canonicalize().ok() == Some(common_of(theirs)?);
        if !is_same || repository.top != theirs.path {
            return Err(WorktreeError::Forgotten {
                path: theirs.path.clone(),
                branch: theirs.branch.clone(),
            });
        }
        self.create_in(order, repository).await
    }

    async fn create_in(
        &self,
        order: Order<'_>,
        repository: Repository,
    ) -> Result<Created, WorktreeError> {
        let folder = self.own_folder(&repository)?;
        let base = repository.base(&self.git, order.new.base.as_deref());
        let base = base.await?;
        let worktree = self.add(&order, &repository, &base, &folder).await?;
        if let Err(error) = make_cwd(&worktree) {
            self.take_back(&worktree, order.now).await;
            return Err(error);
        }
        let notes = notes(&worktree);
        let script = order.new.setup.as_deref().map(str::trim);
        let setup = match script.filter(|script| !script.is_empty()) {
            Some(script) => Some(self.set_up(&order, &worktree, script).await?),
            None => None,
        };
        Ok(Created {
            worktree,
            setup,
            notes,
        })
    }

    /// The folder of all worktrees, without links: git names it so, and what lies in a repository shows.
    fn own_folder(&self, repository: &Repository) -> Result<PathBuf, WorktreeError> {
        let mut make = std::fs::DirBuilder::new();
        let made = make.recursive(true).mode(0o700).create(&self.folder);
        let folder = made.and_then(|()| self.folder.canonicalize());
        let folder = folder.map_err(WorktreeError::io(&self.folder))?;
        // The session may start in a worktree, and the repository be elsewhere.
        let main = repository.common.parent();
        let main = main.filter(|_| repository.common.ends_with(".git"));
        let inside = [
            Some(repository.top.as_path()),
            main,
            Some(&repository.common),
        ];
        match inside
            .into_iter()
            .flatten()
            .find(|top| folder.starts_with(top))
        {
            Some(top) => Err(WorktreeError::InsideRepository {
                place: folder.clone(),
                repo: top.to_owned(),
            }),
            None => Ok(folder),
        }
    }

    /// Takes the first name that is free.
    async fn add(
        &self,
        order: &Order<'_>,
        repository: &Repository,
        base: &Base,
        folder: &Path,
    ) -> Result<Worktree, WorktreeError> {
        let slug = slug::of(order.new.slug.as_deref().unwrap_or(order.name));
        for number in 1..=slug::MOST_NUMBERS {
            let name = slug::numbered(&slug, number);
            let path = folder.join(format!("{}-{name}", slug::short(order.session)));
            match make_folder(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(WorktreeError::io(&path)(error)),
            }
            let worktree = Worktree {
                session: order.session,
                repo: repository.top.clone(),
                git_dir: repository.common.clone(),
                // Without the slash that joining nothing would add.
                cwd: path.join(&repository.below).components().collect(),
                path,
                branch: format!("{}{name}", slug::PREFIX),
                base: base.clone(),
                created: order.now,
            };
            let made = self.try_name(&worktree, order.now).await;
            if !matches!(made, Ok(true)) {
                // Empty: whatever came into it was moved away.
                let _ = std::fs::remove_dir(&worktree.path);
            }
            if made? {
                return Ok(worktree);
            }
        }
        Err(WorktreeError::NoFreeName(slug))
    }

    /// Makes the branch and the files. `false` if the name is taken.
    async fn try_name(&self, worktree: &Worktree, now: u64) -> Result<bool, WorktreeError> {
        let full = worktree.full_branch();
        // The empty old value: it must not be there.
        let made = self
            .git
            .on(&worktree.git_dir)
            .args(["update-ref", "--no-deref", "--create-reflog", "-m"])
            .args(["countersign: a worktree for a session", &full])
            .args([worktree.base.commit.as_str(), ""])
            .run()
            .await?;
        if !made.ok {
            return self.why_not_made(worktree, &made).await;
        }
        let added = self.check_out(worktree).await;
        match added {
            Ok(output) if output.ok => Ok(true),
            Ok(output) if is_used_elsewhere(&output) => {
                self.drop_fresh_branch(worktree).await;
                Ok(false)
            }
            Ok(output) => {
                self.take_back(worktree, now).await;
                Err(failed("worktree add".to_owned(), &output))
            }
            Err(error) => {
                self.take_back(worktree, now).await;
                Err(error)
            }
        }
    }

    async fn why_not_made(
        &self,
        worktree: &Worktree,
        output: &Output,
    ) -> Result<bool, WorktreeError> {
        let prefix = slug::PREFIX.trim_end_matches('/');
        let is_there = async |full: String| {
            let call = self.git.on(&worktree.git_dir);
            let call = call.args(["show-ref", "--verify", "--quiet", full.as_str()]);
            call.run().await.map(|shown| shown.ok)
        };
        if is_there(format!("refs/heads/{prefix}")).await? {
            return Err(WorktreeError::PrefixTaken(prefix.to_owned()));
        }
        let is_in_the_way = output.stderr.contains("exists; cannot create");
        if is_in_the_way || is_there(worktree.full_branch()).await? {
            return Ok(false);
        }
        Err(failed("update-ref".to_owned(), output))
    }

    /// Our own branch, that nobody has had yet.
    async fn drop_fresh_branch(&self, worktree: &Worktree) {
        let full = worktree.full_branch();
        let call = self.git.on(&worktree.git_dir);
        let call = call.args(["update-ref", "--no-deref", "-d"]);
        let call = call.args([&full, &worktree.base.commit]);
        if let Err(error) = call.good().await {
            tracing::warn!(%error, branch = worktree.branch, "a branch that is not needed stays");
        }
    }

    /// Makes the folder of a worktree, and writes its files. A failure leaves what was written: git itself would remove it,
    /// and follow a link that lies at its place by then. Nor is anything written over that is there.
    pub(super) async fn check_out(&self, worktree: &Worktree) -> Result<Output, WorktreeError> {
        let added = self
            .git
            .on(&worktree.git_dir)
            .args(["worktree", "add", "--quiet", "--no-checkout"])
            .args([worktree.path.as_os_str(), worktree.branch.as_ref()])
            .run()
            .await?;
        if !added.ok {
            return Ok(added);
        }
        let looked = self.look(worktree).await?;
        self.on_files(&looked, &worktree.path)
            .may_fetch()
            .args(["read-tree", "-m", "-u", "--no-recurse-submodules", "HEAD"])
            .patience(self.checkout_limit)
            .run()
            .await
    }

    /// Takes back a worktree that could not be made.
    async fn take_back(&self, worktree: &Worktree, now: u64) {
        match self.discard(worktree, now).await {
            Ok(()) => self.drop_fresh_branch(worktree).await,
            Err(error) => tracing::warn!(%error, "a worktree that could not be made stays"),
        }
    }

    async fn set_up(
        &self,
        order: &Order<'_>,
        worktree: &Worktree,
        script: &str,
    ) -> Result<setup::SetupReport, WorktreeError> {
        let admin = self.look(worktree).await?.admin;
        let log = admin.join("countersign-setup.log");
        let env = setup::environment(self.git.env(), order.env, worktree);
        let report = setup::run(script, &worktree.cwd, env, &log, self.setup_limit).await?;
        if report.end.is_good() {
            return Ok(report);
        }
        let kept = self.has_anything(worktree).await.unwrap_or(true);
        if !kept {
            self.take_back(worktree, order.now).await;
        }
        Err(WorktreeError::Setup(Box::new(SetupFailed {
            end: report.end,
            tail: report.tail,
            kept: kept.then(|| worktree.clone()),
        })))
    }

    /// Whether there is more in it than what was checked out.
    async fn has_anything(&self, worktree: &Worktree) -> Result<bool, WorktreeError> {
        let looked = self.look(worktree).await?;
        let changes = self.changes(&looked, &worktree.path).await?;
        let ignored = self
            .on_files(&looked, &worktree.path)
            .args(["ls-files", "--others", "--ignored", "--exclude-standard"])
            .args(["--directory", "-z"])
            .most(1024)
            .good()
            .await?;
        Ok(changes.changed.count + changes.untracked.count > 0
            || !ignored.stdout.is_empty()
            || looked.head.as_deref() != Some(worktree.base.commit.as_str()))
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// No branch of that name, but a worktree whose branch it was.
fn is_used_elsewhere(output: &Output) -> bool {
    output.stderr.contains("already checked out") || output.stderr.contains("already used by")
}

/// The session's folder in the worktree. The base may not have it, or may have a link there.
pub(super) fn make_cwd(worktree: &Worktree) -> Result<(), WorktreeError> {
    let inside = |path: &Path| {
        path.canonicalize()
            .map(|path| path.starts_with(&worktree.path))
    };
    // Nothing is made behind a link: the nearest folder that is there must be inside.
    let there = worktree
        .cwd
        .ancestors()
        .find(|path| std::fs::symlink_metadata(path).is_ok());
    let is_inside = there.is_some_and(|path| inside(path).unwrap_or(false));
    if !is_inside {
        return Err(WorktreeError::LeadsOut(worktree.cwd.clone()));
    }
    std::fs::create_dir_all(&worktree.cwd).map_err(WorktreeError::io(&worktree.cwd))
}

fn notes(worktree: &Worktree) -> Vec<String> {
    let mut notes = Vec::new();
    if worktree.path.join(".gitmodules").exists() {
        notes.push(
            "the repository has submodules, which a new worktree does not fill: put `git submodule update --init` into \
             the setup script if they are needed"
                .to_owned(),
        );
    }
    notes
}
