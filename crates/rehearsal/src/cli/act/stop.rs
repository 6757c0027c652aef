//! A way to end a running command from another thread: raised once, it ends all that was started under it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Cheap to clone; all clones are the same one.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Stop {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    raised: bool,
    /// Process groups that run now.
    groups: Vec<u32>,
}

impl Stop {
    /// Ends what runs, and whatever is started later.
    pub(in crate::cli) fn raise(&self) {
        let mut inner = self.inner();
        inner.raised = true;
        for group in &inner.groups {
            end_group(*group);
        }
    }

    pub(in crate::cli) fn is_raised(&self) -> bool {
        self.inner().raised
    }

    /// A command has started: its group is ended when the stop is raised, at once if it is already.
    pub(super) fn add(&self, group: u32) {
        let mut inner = self.inner();
        inner.groups.push(group);
        if inner.raised {
            end_group(group);
        }
    }

    /// A command has ended; its number may soon be another's.
    pub(super) fn remove(&self, group: u32) {
        self.inner().groups.retain(|known| *known != group);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a process group for good. One that is gone already is no error.
#[cfg(unix)]
pub(super) fn end_group(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(group).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Ends a process and what it started.
#[cfg(not(unix))]
pub(super) fn end_group(group: u32) {
    let group = group.to_string();
    let _ = std::process::Command::new("taskkill")
        .args(["/T", "/F", "/PID", &group])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
}
