//! Where rules are asked from: the folder, the environment, the files that were named.
//!
//! Owns the way from the command line to rules and a [`Place`]. The one part of these commands that looks at the
//! environment.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_policy::check;
use countersign_policy::rule::FileKind;
use countersign_policy::source::{self, Loaded, Read, Sources};
use countersign_policy::{Place, Profile, RealDisk};
use jiff::Timestamp;

use super::shown;

/// A folder and what the environment says about it.
pub(super) struct Here {
    pub(super) sources: Sources,
    pub(super) now: Timestamp,
    own: Vec<PathBuf>,
}

impl Here {
    pub(super) fn at(dir: Option<&Path>) -> anyhow::Result<Self> {
        let dir = dir.unwrap_or(Path::new("."));
        let cwd = std::fs::canonicalize(dir).with_context(|| {
            format!(
                "cannot work in {}: give -C a folder that is there",
                dir.display()
            )
        })?;
        let sources = Sources::of_environment(|name| std::env::var_os(name), cwd);
        Ok(Self {
            own: sources.own.iter().cloned().collect(),
            sources,
            now: Timestamp::now(),
        })
    }

    /// Where calls would run.
    pub(super) fn place<'a>(&'a self, cwd: &'a Path, add_dirs: &'a [PathBuf]) -> Place<'a> {
        Place {
            cwd,
            add_dirs,
            home: self.sources.home.as_deref(),
            own: &self.own,
            disk: &RealDisk,
        }
    }

    /// All that files say for an agent here.
    pub(super) fn load(&self) -> Loaded {
        source::load(&self.sources, &RealDisk, self.now)
    }

    /// One file, whose kind is told by its name.
    pub(super) fn read(&self, file: &Path) -> anyhow::Result<(FileKind, Read)> {
        let whole = std::path::absolute(file)?;
        let known = self
            .sources
            .files()
            .into_iter()
            .find(|(_, path, _)| *path == whole);
        let (kind, base) = match known {
            Some((kind, _, base)) => (kind, base),
            None => (told_by_name(file), self.sources.cwd.clone()),
        };
        let read = source::read_file(file, kind, &base);
        let read =
            read.with_context(|| format!("{} is not there: name a file of rules", file.display()))?;
        Ok((kind, read))
    }

    /// The named files taken together, if all of them can be used: nothing lost, every example true.
    pub(super) fn usable(&self, files: &[PathBuf]) -> anyhow::Result<Read> {
        let mut together = Read::default();
        for file in files {
            let (_, read) = self.read(file)?;
            together.rules.extend(read.rules);
            together.examples.extend(read.examples);
            together.problems.extend(read.problems);
            let folders = read.add_dirs.iter();
            together
                .add_dirs
                .extend(folders.map(|folder| self.sources.whole(folder)));
            together.profile = read.profile.or(together.profile);
        }
        let place = self.place(&self.sources.cwd, &together.add_dirs);
        let broken = check::examples(&together.examples, &place, self.now);
        together.problems.extend(broken);
        match together.is_safe() {
            true => Ok(together),
            false => Err(shown::unusable(&together.problems)),
        }
    }
}

/// Rules a person names are taken as their own: nothing in them is withheld.
fn told_by_name(file: &Path) -> FileKind {
    match is_ours(file) {
        true => FileKind::Own,
        false => FileKind::Project,
    }
}

fn is_ours(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "toml")
}

/// The first name that tells no kind of file, as an error.
pub(super) fn misnamed(files: &[PathBuf]) -> Option<String> {
    let is_settings = |file: &Path| {
        file.extension()
            .is_some_and(|extension| extension == "json")
    };
    let odd = files
        .iter()
        .find(|file| !is_ours(file) && !is_settings(file))?;
    Some(format!(
        "{} is neither *.toml (rules of ours) nor *.json (settings of Claude Code), so it is not known how to read it",
        odd.display()
    ))
}

/// What a person calls the profiles; hands-off for the moment of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ProfileName {
    /// Reading inside the folder is allowed, everything else is asked
    Careful,
    /// Editing inside the folder is allowed, too
    Edits,
    /// Everything is allowed but what rules deny or ask, protected paths and questions
    HandsOff,
}

impl ProfileName {
    pub(super) fn at(self, now: Timestamp) -> Profile {
        match self {
            ProfileName::Careful => Profile::Careful,
            ProfileName::Edits => Profile::Edits,
            ProfileName::HandsOff => Profile::HandsOff {
                until: now
                    .saturating_add(jiff::SignedDuration::from_hours(1))
                    .unwrap_or(now),
            },
        }
    }
}
