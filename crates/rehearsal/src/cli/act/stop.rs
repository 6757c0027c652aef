//! A way to end a running command from another thread: raised once, it ends all that was started under it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

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

/// Ends one process for good. One that is gone already is no error.
pub(in crate::cli) fn end_process(number: u32) {
    if let Some(process) = pid(number) {
        let _ = kill_process(process, Signal::KILL);
    }
}

/// Ends a process group for good.
pub(super) fn end_group(group: u32) {
    if let Some(group) = pid(group) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}
