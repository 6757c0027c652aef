//! How a child is to be started so that it ends with us and is not hit by what is meant for us.
//!
//! Owns what is done in a child between fork and exec. Starts nothing itself.

use std::process::Command;

#[cfg(target_os = "linux")]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Makes the child of `command` a process group of its own and, on Linux, has the kernel send it SIGTERM when
/// the thread that starts it ends.
///
/// Start it through [`lasting::run`](crate::lasting::run), or that thread's end is the child's end. The group
/// keeps a Ctrl-C in the host's terminal from the child.
///
/// The signal reaches the child alone, not what the child started, and the kernel drops it when the child
/// executes a set-user-id program. On other Unix systems the child gets its group but no signal; on Windows
/// this does nothing. There a child outlives a host that is killed, unless it notices its closed stdin.
pub fn die_with_parent(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(target_os = "linux")]
    ask_for_death_signal(command, rustix::process::Signal::TERM);
    #[cfg(not(unix))]
    let _ = command;
}

/// As [`die_with_parent`], but with SIGKILL: for a child that must not act for a moment after its parent.
pub fn be_killed_with_parent(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(target_os = "linux")]
    ask_for_death_signal(command, rustix::process::Signal::KILL);
    #[cfg(not(unix))]
    let _ = command;
}

/// Has the kernel send this process SIGTERM when `parent` ends.
///
/// # Errors
/// When `parent` has ended before that, or the system has no such signal.
#[cfg(target_os = "linux")]
pub fn hear_of_parents_death(parent: u32) -> std::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    let now = rustix::process::getppid().map(|pid| pid.as_raw_pid().unsigned_abs());
    if now == Some(parent) {
        Ok(())
    } else {
        Err(rustix::io::Errno::SRCH.into())
    }
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the request must be made in the child, between fork and exec"
)]
fn ask_for_death_signal(command: &mut Command, signal: rustix::process::Signal) {
    use std::os::unix::process::CommandExt as _;

    let parent = rustix::process::getpid();
    let files = crate::descriptors::limit_of_children();
    let queues = limit_of_agents();
    let in_the_child = move || {
        if let Some(limit) = files {
            setrlimit(Resource::Nofile, limit)?;
        }
        if let Some(limit) = queues {
            setrlimit(Resource::Msgqueue, limit)?;
        }
        rustix::process::set_parent_process_death_signal(Some(signal))?;
        // A parent that died before the request was made sends nothing any more. The child then has another
        // parent. None means one outside our namespace of process ids, of which nothing can be said.
        match rustix::process::getppid() {
            Some(now) if now != parent => Err(rustix::io::Errno::SRCH.into()),
            _ => Ok(()),
        }
    };
    // SAFETY: between fork and exec only async-signal-safe work is allowed, since another thread of the parent
    // may have held any lock at the time of the fork. The closure makes at most four system calls, takes no lock,
    // allocates nothing (its captures are numbers, its errors are bare codes) and cannot panic.
    unsafe {
        command.pre_exec(in_the_child);
    }
}

/// The limit by which what an agent starts is known: one less than this process has, of bytes in POSIX message queues, which
/// hardly any program uses. It is inherited, and only a process with the rights of root can raise it again, so it stays where a
/// process clears its environment, leaves its parents and outlives its keeper. None if it cannot be lower.
#[cfg(target_os = "linux")]
fn limit_of_agents() -> Option<Rlimit> {
    let now = getrlimit(Resource::Msgqueue);
    let maximum = now.maximum.unwrap_or(u64::MAX).checked_sub(1)?;
    let current = now.current.unwrap_or(u64::MAX).min(maximum);
    Some(Rlimit {
        current: Some(current),
        maximum: Some(maximum),
    })
}

/// Sets the limit on open files in the child.
#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "the limit must be set in the child, between fork and exec"
)]
pub(crate) fn set_in_the_child(command: &mut Command, limit: rustix::process::Rlimit) {
    use std::os::unix::process::CommandExt as _;

    let in_the_child = move || {
        rustix::process::setrlimit(rustix::process::Resource::Nofile, limit)?;
        Ok(())
    };
    // SAFETY: as above: one system call, no lock, no allocation, no panic.
    unsafe {
        command.pre_exec(in_the_child);
    }
}
