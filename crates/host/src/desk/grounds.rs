//! Where a session works, and what lies around it.
//!
//! Owns [`HostSettings`], what all sessions of a host share, and [`Grounds`], what one session is judged by: its folders,
//! its home, the files its rules come from, and what is ours and closed to it. Invariant: nothing of the data folder but
//! the session's own worktree is open to an agent, whatever rules say.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use countersign_policy::source::{PlansFolder, Sources, plans_folder};
use countersign_policy::{Disk as _, Place, RealDisk};

use super::environment;
use super::error::DeskError;
use super::kept::is_below;
use super::versions::Versions;
use crate::approval::DIALOG_KINDS;
use crate::control::session::Setup;

/// What the agents of a host have in common.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// The data folder.
    pub data: PathBuf,
    /// Where worktrees of sessions lie: the part of the data folder that agents work in.
    pub worktrees: PathBuf,
    /// The command that runs the CLI: a path, or a program with its first arguments. Empty: `claude` is searched for.
    pub claude: Vec<String>,
    /// Variables of every agent, over those it inherits.
    pub env: Vec<(OsString, OsString)>,
    /// Agents inherit the host's environment, but for what is ours.
    pub inherits: bool,
    /// The kinds of dialogs that can be shown, as agents are told. Usually all that an approval can hold.
    pub dialog_kinds: Vec<String>,
    /// The versions of the CLIs that were asked.
    pub versions: Versions,
}

impl HostSettings {
    /// The usual ones: `claude` is searched for, and the environment is inherited.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        let data = data.into();
        Self {
            worktrees: data.join("worktrees"),
            data,
            claude: Vec::new(),
            env: Vec::new(),
            inherits: true,
            dialog_kinds: DIALOG_KINDS.iter().map(|&kind| kind.to_owned()).collect(),
            versions: Versions::default(),
        }
    }
}

/// Where one session works, and what is closed to it.
#[derive(Debug, Clone)]
pub struct Grounds {
    pub(super) sources: Sources,
    /// Folders that were added at the start, whole.
    pub(super) add_dirs: Vec<PathBuf>,
    /// What no rule opens.
    pub(super) own: Vec<PathBuf>,
    /// Where the CLI keeps plans.
    pub(super) plans: Option<PlansFolder>,
    /// Where files lie that people handed to this session, and to those it came from. Counts as inside; the CLI is not told,
    /// since it asks about every call anyway.
    pub(super) uploads: Vec<PathBuf>,
    /// Where the folders that count as inside led when the agent began.
    led_to: Vec<(PathBuf, Option<PathBuf>)>,
}

/// What the data folder holds beside the worktrees, or will.
const PRIVATE: [&str; 10] = [
    "sessions",
    "run",
    "trash",
    "host.db",
    "host.db-wal",
    "host.db-shm",
    "host.db-journal",
    "host.lock",
    "host.key",
    "seal.key",
];

/// Folders of secrets in a home, for a person whose agent has another one.
const SECRETS: [&str; 5] = [".ssh", ".gnupg", ".aws", ".kube", ".docker"];

impl Grounds {
    /// For a session in `cwd`; `copy_of` is the repository that `cwd` is a worktree of.
    ///
    /// # Errors
    /// When a folder is no whole path, or is one of ours.
    pub fn of(
        setup: &Setup,
        cwd: &Path,
        copy_of: Option<&Path>,
        host: &HostSettings,
    ) -> Result<Self, DeskError> {
        if !cwd.is_absolute() {
            return Err(DeskError::NotWhole(cwd.to_owned()));
        }
        let theirs = |name: &str| environment::variable_of_agent(name, setup, host);
        let mut sources = Sources::of_environment(theirs, cwd);
        // Our own settings are ours, whatever a session sets.
        let ours = |name: &str| environment::variable_of_host(name, host);
        let of_host = Sources::of_environment(ours, cwd);
        sources.own = of_host.own;
        sources.copy_of = copy_of.map(Path::to_owned);
        let mut own = closed(cwd, host);
        own.extend(sources.own.clone());
        if of_host.home != sources.home {
            let homes = of_host.home.iter();
            own.extend(homes.flat_map(|home| SECRETS.map(|name| home.join(name))));
        }
        let add_dirs: Vec<PathBuf> = setup.add_dirs.iter().map(|dir| cwd.join(dir)).collect();
        let mut grounds = Self {
            plans: None,
            sources,
            add_dirs,
            own,
            uploads: Vec::new(),
            led_to: Vec::new(),
        };
        grounds.note_where_they_lead();
        let added = grounds.add_dirs.iter().map(PathBuf::as_path);
        grounds.must_be_open(std::iter::once(cwd).chain(added))?;
        grounds.find_plans();
        Ok(grounds)
    }

    /// Notes where folders lead that were added since.
    pub(super) fn note_where_they_lead(&mut self) {
        let folders = std::iter::once(&self.sources.cwd).chain(&self.add_dirs);
        let is_new = |folder: &&PathBuf| self.led_to.iter().all(|(known, _)| known != *folder);
        let new = folders.filter(is_new);
        let new: Vec<_> = new
            .map(|folder| (folder.clone(), RealDisk.real(folder)))
            .collect();
        self.led_to.extend(new);
    }

    /// What `before` noted of the same folders holds on.
    pub(super) fn led_as(&mut self, before: &Self) {
        for (folder, real) in &mut self.led_to {
            let known = before.led_to.iter().find(|(known, _)| known == folder);
            if let Some((_, then)) = known {
                real.clone_from(then);
            }
        }
        if let (Some(plans), Some(then)) = (&mut self.plans, &before.plans)
            && plans.path == then.path
        {
            plans.real.clone_from(&then.real);
        }
    }

    /// A folder that leads to another one by now, as when a link was put in its place.
    pub(super) fn leads_elsewhere(&self) -> Option<&Path> {
        let elsewhere =
            |(folder, real): &&(PathBuf, Option<PathBuf>)| RealDisk.real(folder) != *real;
        self.led_to
            .iter()
            .find(elsewhere)
            .map(|(folder, _)| folder.as_path())
    }

    /// Looks up where plans stand. A setting opens nothing that is ours, either.
    pub(super) fn find_plans(&mut self) {
        let found = plans_folder(&self.sources, &RealDisk);
        let is_open = |plans: &PlansFolder| self.must_be_open([&*plans.path]).is_ok();
        self.plans = found.filter(is_open);
    }

    /// Files that people hand to this session lie in these folders.
    #[must_use]
    pub fn with_uploads(self, uploads: Vec<PathBuf>) -> Self {
        Self { uploads, ..self }
    }

    /// Whether an agent may work in these folders.
    ///
    /// # Errors
    /// When one of them is ours.
    pub fn must_be_open<'a>(
        &self,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), DeskError> {
        let ours = self.own.iter().map(|own| RealDisk.real(own));
        let ours: Vec<PathBuf> = ours.flatten().collect();
        let is_ours = |folder: &&Path| ours.iter().any(|own| is_below(folder, own));
        match folders.into_iter().find(is_ours) {
            Some(folder) => Err(DeskError::Ours(folder.to_owned())),
            None => Ok(()),
        }
    }

    /// The folder that the session works in.
    pub fn cwd(&self) -> &Path {
        &self.sources.cwd
    }

    /// The folder by which rules for a repository know it: the real one, or the one it is a copy of.
    pub fn repository(&self) -> PathBuf {
        let known_as = self.sources.copy_of.as_ref().unwrap_or(&self.sources.cwd);
        RealDisk.real(known_as).unwrap_or_else(|| known_as.clone())
    }

    /// Where the CLI keeps the plans of this session, as far as it is known.
    pub fn plans(&self) -> Option<&Path> {
        self.plans.as_ref().map(|plans| &*plans.path)
    }

    pub(super) fn place<'a>(&'a self, add_dirs: &'a [PathBuf]) -> Place<'a> {
        Place {
            cwd: &self.sources.cwd,
            add_dirs,
            home: self.sources.home.as_deref(),
            own: &self.own,
            disk: &RealDisk,
        }
    }
}

/// What of the data folder is closed to a session in `cwd`: all of it, or all beside the worktrees.
pub(super) fn closed(cwd: &Path, host: &HostSettings) -> Vec<PathBuf> {
    let worktrees = RealDisk.real(&host.worktrees);
    let works_there = worktrees.is_some_and(|real| is_below(cwd, &real));
    if !works_there {
        return vec![host.data.clone()];
    }
    let mut names: BTreeSet<OsString> = PRIVATE.into_iter().map(OsString::from).collect();
    let entries = std::fs::read_dir(&host.data).into_iter().flatten();
    names.extend(entries.flatten().map(|entry| entry.file_name()));
    let others = names.into_iter().map(|name| host.data.join(name));
    others.filter(|path| *path != host.worktrees).collect()
}
