//! What a process does to itself at its start: fork, and let go of what it inherited.
//!
//! Owns calls of the C library that have no safe form elsewhere, and the checks that make them safe: one thread for a
//! fork, only files that came through an exec to be closed. Knows nothing of what the process does then.

use std::io;

/// Which of the two this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forked {
    /// The one that asked.
    Parent {
        /// The new process.
        child: u32,
    },
    /// The new process: same memory, same files, no other thread.
    Child,
}

/// Why there is no second process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// Another thread could hold a lock that nobody would ever release in the child.
    #[error("this process has {0} threads: fork before the first one is started")]
    Threads(usize),
    /// The system cannot tell how many threads there are, or gives no further process.
    #[error("cannot fork: {0}")]
    Io(#[from] io::Error),
}

/// Forks this process if it has one thread.
///
/// # Errors
/// When it has more, or that cannot be found out (systems other than Linux), or a limit is reached.
#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "no library offers a fork that checks for threads"
)]
pub fn fork() -> Result<Forked, ForkError> {
    let threads = threads()?;
    if threads != 1 {
        return Err(ForkError::Threads(threads));
    }
    // SAFETY: what makes `fork` dangerous is another thread that is within a lock, an allocation or a change of
    // shared state at that moment. There is none: this thread has just counted, and only it could start one.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error().into()),
        0 => Ok(Forked::Child),
        child => Ok(Forked::Parent {
            child: child.unsigned_abs(),
        }),
    }
}

#[cfg(target_os = "linux")]
fn threads() -> io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn threads() -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Closes the files that this process was started with, but for stdin, stdout and stderr: whoever started it may have
/// left one open by mistake, and a process that lives long would hold it.
///
/// What this process has opened itself stays, if it is closed on exec, as all is that the standard library opens. On
/// systems other than Linux nothing is closed.
pub fn close_inherited() {
    #[cfg(target_os = "linux")]
    for entry in std::fs::read_dir("/proc/self/fd").into_iter().flatten() {
        let number = entry
            .ok()
            .and_then(|entry| entry.file_name().to_str()?.parse().ok());
        if let Some(number) = number.filter(|number| *number > 2) {
            close_if_inherited(number);
        }
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a file known by its number alone")]
fn close_if_inherited(number: i32) {
    // SAFETY: takes numbers and touches no memory; a number without a file is an error code.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    if flags >= 0 && flags & libc::FD_CLOEXEC == 0 {
        // SAFETY: an owned file of this process would be closed behind its owner's back. There is none with this number:
        // owners open their files closed on exec, and this one is not, so it came through the exec and has no owner.
        unsafe {
            libc::close(number);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_more_threads_does_not_fork() {
        // The harness runs this on a thread of its own.
        let threads = match fork() {
            Err(ForkError::Threads(threads)) => threads,
            other => panic!("{other:?}"),
        };
        assert!(threads >= 2);
    }
}
