//! How a child is to be started so that it ends with us and is not hit by what is meant for us.
//!
//! Owns the one unsafe call of the project. Starts nothing itself.

use std::process::Command;

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
    ask_for_death_signal(command);
    #[cfg(not(unix))]
    let _ = command;
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the request must be made in the child, between fork and exec"
)]
fn ask_for_death_signal(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    let parent = rustix::process::getpid();
    let in_the_child = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
        // A parent that died before the request was made sends nothing any more. The child then has another
        // parent. None means one outside our namespace of process ids, of which nothing can be said.
        match rustix::process::getppid() {
            Some(now) if now != parent => Err(rustix::io::Errno::SRCH.into()),
            _ => Ok(()),
        }
    };
    // SAFETY: between fork and exec only async-signal-safe work is allowed, since another thread of the parent
    // may have held any lock at the time of the fork. The closure makes two system calls, takes no lock,
    // allocates nothing (its captures are a number, its errors are bare codes) and cannot panic.
    unsafe {
        command.pre_exec(in_the_child);
    }
}
