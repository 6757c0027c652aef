//! Keepers whose folder was taken away under them.
//!
//! Owns finding them by their command line, where the locks that would prove them are gone with the folder. Knows only what the
//! system tells of processes: on one that does not tell, nobody is found.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use countersign_process::started;

/// A process of a keeper: its pid, and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stray {
    pub(crate) pid: u32,
    pub(crate) started: u64,
}

/// The keeper that was started for the folder `dir`, or its guard if that is all there is.
pub(crate) fn of(dir: &Path) -> Option<Stray> {
    let dir = whole(dir);
    let all: Vec<u32> = pids().filter(|pid| keeps(*pid, &dir)).collect();
    // The guard is the keeper's parent, and ends whatever the keeper leaves.
    let is_kept = |pid: &&u32| parent(**pid).is_some_and(|parent| all.contains(&parent));
    let pid = *all.iter().rfind(is_kept).or(all.last())?;
    Some(Stray {
        pid,
        started: started(pid)?,
    })
}

/// The path by which a keeper was told of its folder, which may not be there any more.
fn whole(dir: &Path) -> PathBuf {
    let known = dir.canonicalize().ok();
    known
        .or_else(|| Some(dir.parent()?.canonicalize().ok()?.join(dir.file_name()?)))
        .unwrap_or_else(|| dir.to_owned())
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = std::process::id();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid| *pid != own)
}

/// Whether this process was told to keep that folder. One that has ended has no command line.
fn keeps(pid: u32, dir: &Path) -> bool {
    let Ok(line) = std::fs::read(format!("/proc/{pid}/cmdline")) else {
        return false;
    };
    let words: Vec<&OsStr> = line
        .split(|byte| *byte == 0)
        .map(OsStr::from_bytes)
        .collect();
    let mut four = words.windows(3);
    four.any(|it| it[0] == "--dir" && it[1] == dir.as_os_str() && it[2] == "--generation")
}

fn parent(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}
