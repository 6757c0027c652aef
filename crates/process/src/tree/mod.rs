//! Everything that belongs to one agent: found, signalled, ended.
//!
//! Owns the order of ending (stop everybody, look again, kill, look again). Who belongs is decided in `belong`,
//! what the system says of its processes is read in `proc` or `ps`. Invariants: bounded by its deadline; never
//! signals this process, nor one whose start time is not the one that was listed.

mod agents;
mod belong;
mod connection;
mod descendants;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(any(all(unix, not(target_os = "linux")), all(unix, test)))]
mod ps;

#[cfg(target_os = "linux")]
use proc as system;
#[cfg(all(unix, not(target_os = "linux")))]
use ps as system;

#[cfg(not(unix))]
mod nothing;
#[cfg(not(unix))]
use nothing as system;

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

pub use agents::is_from_agent;
pub use connection::{Holder, holder_of};
#[cfg(unix)]
pub use descendants::{become_subreaper, end_descendants};
pub use descendants::{descendants_of, descends_from, is_running, signal, started};

use crate::Marker;
use belong::Root;

/// How often everybody is stopped and looked for again before the killing starts. A tree that forks faster
/// than that is met by the passes after it.
const FREEZING_PASSES: usize = 8;

/// How long the killed are waited for before they are looked for again.
const BETWEEN_PASSES: Duration = Duration::from_millis(100);

/// What can be sent to a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGSTOP.
    Stop,
    /// SIGCONT.
    Continue,
    /// SIGKILL.
    Kill,
}

/// A process, as people name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The name of its program; Linux cuts it at 15 bytes.
    pub command: String,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.command, self.pid)
    }
}

/// Whether a process has a file open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Yes,
    No,
    /// Not that it shows, but it has a file behind which others may be open that are listed nowhere.
    Unlisted,
    /// It does not let this user see its files.
    Hidden,
}

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// What was running and is not any more.
    pub ended: Vec<Process>,
    /// What still runs: of another user, or held by the kernel.
    pub survivors: Vec<Process>,
}

/// One process as the system lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    pid: u32,
    parent: u32,
    group: u32,
    session: u32,
    /// When it started, in a unit of the system's; only compared.
    started: u64,
    /// It has ended and waits to be reaped.
    ended: bool,
    command: String,
}

/// What became of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Sent,
    /// The process is gone, or another has its number.
    Gone,
    /// We may not signal it.
    Refused,
}

/// An agent's process and all that comes from it: its descendants, whoever carries its marker, and the
/// process groups and sessions that any of these lead.
///
/// The marker finds those that left: a shell in a session of its own whose parent is dead. Found by neither is
/// a process that was orphaned *and* started with an environment of its own *and* leads its own session.
///
/// On Unix systems other than Linux there is no marker and no guard finer than a second against a number used
/// again: only descendants and groups are found, by `ps`, in some ten milliseconds. On Windows nobody is found.
#[derive(Debug, Clone)]
pub struct Tree {
    root: Root,
    marker: Marker,
}

impl Tree {
    /// The tree of a child. To be made before the child is reaped, while its number is surely its own.
    pub fn new(root: u32, marker: Marker) -> Tree {
        let started = system::look(root).map(|entry| entry.started);
        let root = Root { pid: root, started };
        Tree { root, marker }
    }

    /// Who belongs to the tree and runs, without this process.
    pub fn members(&self) -> Vec<Process> {
        self.living().into_iter().map(Process::from).collect()
    }

    /// Sends `signal` to the tree's root alone. `false` if it is gone or not ours.
    pub fn signal_root(&self, signal: Signal) -> bool {
        self.root
            .started
            .is_some_and(|started| deliver(self.root.pid, started, signal) == Delivery::Sent)
    }

    /// Sends `signal` to each member once, and says to whom it was sent.
    pub fn signal_all(&self, signal: Signal) -> Vec<Process> {
        let mut members = self.living();
        members.retain(|one| deliver(one.pid, one.started, signal) == Delivery::Sent);
        members.into_iter().map(Process::from).collect()
    }

    /// Ends every member, until a look finds nobody or `deadline` has passed; tries once even if it has.
    ///
    /// Everybody is stopped first: a stopped process starts no others and does not see its parent die. The
    /// root, if it is our child, is ended when it is a zombie; to reap it stays the caller's.
    pub fn kill_all(&self, deadline: Instant) -> Swept {
        // The root alone, stopped before the first look, needs no second one.
        let root_stopped = self.signal_root(Signal::Stop);
        let mut seen = BTreeMap::new();
        let mut freezing = 0;
        loop {
            let found = self.living();
            let mut anybody_new = false;
            for one in &found {
                if seen.insert((one.pid, one.started), one.clone()).is_none() {
                    deliver(one.pid, one.started, Signal::Stop);
                    anybody_new |= !(root_stopped && self.root.is(one));
                }
            }
            if anybody_new && freezing < FREEZING_PASSES && Instant::now() < deadline {
                freezing += 1;
                continue;
            }
            let mut all_refuse = true;
            for one in &found {
                all_refuse &= deliver(one.pid, one.started, Signal::Kill) == Delivery::Refused;
            }
            if found.is_empty() || all_refuse {
                return swept(seen, found);
            }
            let alive = still_there(found, deadline.min(Instant::now() + BETWEEN_PASSES));
            if Instant::now() >= deadline {
                return swept(seen, alive);
            }
        }
    }

    fn living(&self) -> Vec<Entry> {
        // Without a list of processes there is nobody we may touch but the root.
        let Ok(all) = system::list() else {
            return system::look(self.root.pid)
                .filter(|entry| self.root.is(entry) && !entry.ended)
                .into_iter()
                .collect();
        };
        belong::members(all, self.root, std::process::id(), |pid| {
            system::bears(pid, &self.marker)
        })
    }
}

/// Sends a signal to the process with that number and start time, and to no other.
fn deliver(pid: u32, started: u64, signal: Signal) -> Delivery {
    system::deliver(pid, signal, || {
        system::look(pid).is_some_and(|now| now.started == started && !now.ended)
    })
}

/// Waits until each of them has ended. Returns who has not by `deadline`.
fn still_there(mut alive: Vec<Entry>, deadline: Instant) -> Vec<Entry> {
    let mut pause = Duration::from_micros(200);
    loop {
        alive.retain(|one| {
            system::look(one.pid).is_some_and(|now| now.started == one.started && !now.ended)
        });
        if alive.is_empty() || Instant::now() >= deadline {
            return alive;
        }
        // The end of a process that is not our child can only be asked for.
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn swept(mut seen: BTreeMap<(u32, u64), Entry>, survivors: Vec<Entry>) -> Swept {
    for one in &survivors {
        seen.remove(&(one.pid, one.started));
    }
    Swept {
        ended: seen.into_values().map(Process::from).collect(),
        survivors: survivors.into_iter().map(Process::from).collect(),
    }
}

impl From<Entry> for Process {
    fn from(entry: Entry) -> Self {
        Process {
            pid: entry.pid,
            command: entry.command,
        }
    }
}
