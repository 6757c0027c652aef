//! The rules that stand in files, read again when one of them changes.
//!
//! Owns the look at the files before each ruling, which costs a few `stat`s, and what holds when one cannot be read.
//! Invariants: a change is seen before the next ruling; what forbids or asks in a file that can no longer be read holds
//! on as it was.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use countersign_policy::source::{self, Loaded, Sources};
use countersign_policy::{Effect, RealDisk, Rule, check};
use jiff::Timestamp;

/// The files as they were when they were read.
#[derive(Debug)]
pub(super) struct Files {
    stamps: Vec<Stamp>,
    pub(super) loaded: Loaded,
    /// What forbade or asked the last time that everything could be read.
    restricting: Vec<Rule>,
}

/// By what a change of a file is told.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stamp {
    Nothing,
    File {
        modified: Option<SystemTime>,
        len: u64,
        /// The inode and when it was last touched, where there are such: a change in the same moment shows here.
        inode: (u64, i64, i64),
    },
    Unreadable(io::ErrorKind),
}

impl Stamp {
    fn of(path: &Path) -> Self {
        match std::fs::metadata(path) {
            Ok(meta) => Self::File {
                modified: meta.modified().ok(),
                len: meta.len(),
                inode: inode(&meta),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Nothing,
            Err(error) => Self::Unreadable(error.kind()),
        }
    }
}

#[cfg(unix)]
fn inode(meta: &std::fs::Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (meta.ino(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}

impl Files {
    /// Reads them.
    pub(super) fn read(sources: &Sources, now: Timestamp) -> Self {
        // Looked at before they are read: what changes meanwhile is seen the next time.
        let stamps = stamps(sources);
        let loaded = source::load(sources, &RealDisk, now);
        let restricting = match loaded.is_safe() {
            true => restricting(&loaded.rules),
            false => Vec::new(),
        };
        Self {
            stamps,
            loaded,
            restricting,
        }
    }

    /// Reads them again if one has changed. True if so.
    pub(super) fn refresh(&mut self, sources: &Sources, now: Timestamp) -> bool {
        if self.stamps == stamps(sources) {
            return false;
        }
        let mut read = Self::read(sources, now);
        if !read.loaded.is_safe() {
            read.restricting = std::mem::take(&mut self.restricting);
        }
        *self = read;
        true
    }

    /// Every rule that counts.
    pub(super) fn rules(&self) -> Vec<Rule> {
        let mut rules = self.loaded.rules.clone();
        if !self.loaded.is_safe() {
            rules.extend(self.restricting.iter().cloned());
        }
        rules
    }

    /// What is wrong with rules that can be read all the same.
    pub(super) fn findings(&self) -> Vec<String> {
        let findings = check::unknown_tools(&self.loaded.rules);
        findings.iter().map(ToString::to_string).collect()
    }

    /// What could not be read and may have forbidden something.
    pub(super) fn unreadable(&self) -> Vec<String> {
        let problems = self.loaded.problems.iter();
        let stopping = problems.filter(|problem| problem.stops);
        stopping.map(ToString::to_string).collect()
    }
}

fn restricting(rules: &[Rule]) -> Vec<Rule> {
    let restricts = |rule: &&Rule| rule.effect != Effect::Allow;
    rules.iter().filter(restricts).cloned().collect()
}

fn stamps(sources: &Sources) -> Vec<Stamp> {
    let files = sources.files().into_iter().map(|(_, path, _)| path);
    let files: Vec<PathBuf> = files
        .chain(sources.trust_file())
        .chain([sources.cwd.join(".mcp.json")])
        .collect();
    files.iter().map(|path| Stamp::of(path)).collect()
}
