//! The limit on open files: raised for a process that looks after many agents, given back to what it starts.
//!
//! Owns what the limit was before. Invariant: a child has the limit that its parent was started with, since some programs close, or look at, as
//! many files as they may open.

use std::fs::File;
use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit before it was raised.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Number of files that must be free for a look at other processes.
const FREE_FOR_A_LOOK: usize = 4;

/// Number of files that a daemon has open for itself: its database, its log, what it listens on, its looks at others.
const FILES_OF_DAEMON: u64 = 64;

/// Number of files that a daemon has open for a live agent: three were measured, and one more for a moment.
const FILES_PER_AGENT: u64 = 4;

/// Number of files that a connection with a stream takes: itself and the journal, and one more for a moment.
const FILES_PER_STREAM: u64 = 3;

/// Minimum number of connections at once over each of the two roads, however few files may be open.
const FEWEST_CONNECTIONS: u64 = 16;

/// What the files that a daemon may have open are reserved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorBudget {
    /// Connections at once, over the network and over the socket each.
    pub connections: usize,
    /// Live agents at once.
    pub agents: usize,
}

impl DescriptorBudget {
    /// Shares out `limit` files: half of what the daemon does not need itself goes to connections that stream, the rest to
    /// agents.
    pub fn of(limit: u64) -> Self {
        let rest = limit.saturating_sub(FILES_OF_DAEMON);
        let connections = (rest / 2 / (2 * FILES_PER_STREAM)).max(FEWEST_CONNECTIONS);
        let for_streams = connections.saturating_mul(2 * FILES_PER_STREAM);
        let agents = rest.saturating_sub(for_streams) / FILES_PER_AGENT;
        let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        Self {
            connections: count(connections),
            agents: count(agents),
        }
    }
}

/// Raises the soft limit on open files to the hard one. Returns the limit that is in force now.
///
/// # Errors
/// When the system refuses; the limit is then as before.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let before = getrlimit(Resource::Nofile);
    if before.current == before.maximum {
        return Ok(descriptor_limit());
    }
    let raised = Rlimit {
        current: before.maximum,
        maximum: before.maximum,
    };
    setrlimit(Resource::Nofile, raised)?;
    // Only the first one is that of whoever started us.
    let _ = BEFORE.set(before);
    Ok(descriptor_limit())
}

/// Returns how many files this process may have open.
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Returns whether so many more files can be opened at this moment.
pub fn can_open(count: usize) -> bool {
    let opened: io::Result<Vec<File>> = (0..count).map(|_| File::open("/dev/null")).collect();
    // Another reason is no lack of room.
    opened.is_ok_and(|files| files.len() == count)
}

/// Returns whether other processes can be looked at: what cannot be opened looks as if it was not there.
pub fn can_look() -> bool {
    can_open(FREE_FOR_A_LOOK)
}

/// Has the child of `command` start with the limit that this process was started with.
pub fn give_back_descriptor_limit(command: &mut std::process::Command) {
    if let Some(limit) = limit_of_children() {
        crate::command::set_in_the_child(command, limit);
    }
}

/// Returns the limit for children, if ours was raised.
pub(crate) fn limit_of_children() -> Option<Rlimit> {
    BEFORE.get().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_out_is_never_more_than_may_be_open() {
        let of = |limit: u64| {
            let DescriptorBudget {
                connections,
                agents,
            } = DescriptorBudget::of(limit);
            (connections, agents)
        };
        assert_eq!(of(3), (16, 0));
        assert_eq!(of(256), (16, 24));
        assert_eq!(of(1_024), (80, 120));
        assert_eq!(of(1 << 20), (87_376, 131_064));
        for limit in [256, 1_000, 1_024, 4_096, 65_536] {
            let (connections, agents) = of(limit);
            let (connections, agents) = (connections as u64, agents as u64);
            let sum =
                FILES_OF_DAEMON + 2 * connections * FILES_PER_STREAM + agents * FILES_PER_AGENT;
            assert!(sum <= limit, "{sum} of {limit}");
        }
    }
}
