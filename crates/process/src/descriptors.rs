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
