//! Processes as `/proc` shows them: what belongs to a session, what state it is in, and its end by force.
//!
//! Owns looking and killing. Invariant: only processes that carry the folder of the test in their environment, or
//! descend from one that was started here, are ever signalled. A zombie has ended.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) state: char,
    /// With the pid, what no other process has.
    pub(crate) started: u64,
    pub(crate) command: String,
}

impl Process {
    /// Looks it up; `None` if there is none, or a zombie.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (head, rest) = stat.rsplit_once(") ")?;
        let command = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = rest.split(' ').collect();
        let state = fields.first()?.chars().next()?;
        let one = Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            state,
            started: fields.get(19)?.parse().ok()?,
            command,
        };
        (!matches!(state, 'Z' | 'X')).then_some(one)
    }

    /// Whether it stands still.
    pub(crate) fn is_stopped(pid: u32) -> bool {
        Self::of(pid).is_some_and(|process| process.state == 'T')
    }

    /// Whether this very one still runs.
    pub(crate) fn runs(&self) -> bool {
        Self::of(self.pid).is_some_and(|now| now.started == self.started)
    }
}

/// Every process there is.
fn all() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Process::of).collect()
}

/// What carries the name of this folder in its environment or its command line, but for this process.
pub(crate) fn of_folder(folder: &Path) -> Vec<Process> {
    let mark = folder.as_os_str().as_encoded_bytes();
    let mine = std::process::id();
    let carries = |pid: u32| {
        ["environ", "cmdline"].iter().any(|file| {
            let text = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            memchr::memmem::find(&text, mark).is_some()
        })
    };
    let others = all().into_iter().filter(|process| process.pid != mine);
    others.filter(|process| carries(process.pid)).collect()
}

/// What descends from that process.
pub(crate) fn below(root: u32) -> Vec<Process> {
    let all = all();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for process in all.iter().filter(|process| process.parent == parent) {
            if !found.contains(process) {
                parents.push(process.pid);
                found.push(process.clone());
            }
        }
    }
    found
}

/// Sends a signal to whoever is there.
pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // Gone meanwhile: that is no failure.
        let _ = kill_process(pid, signal);
    }
}

/// `kill -9`. Somebody who has gone already is as good.
pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}
