//! Linux: what `/proc` says of processes, and signals by a handle that no other process can inherit.
//!
//! Whatever cannot be read is a process that is gone or not ours, and is passed over.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal as Number, kill_process, pidfd_open, pidfd_send_signal,
};

use super::{Delivery, Entry, Holds, Signal};
use crate::Marker;

/// Every process of the system that is no thread of the kernel.
pub(super) fn list() -> io::Result<Vec<Entry>> {
    let numbers = std::fs::read_dir("/proc")?
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|pid| try_look(pid).transpose())
        .collect()
}

/// One process.
pub(super) fn look(pid: u32) -> Option<Entry> {
    try_look(pid).ok().flatten()
}

/// One process, if there is one.
///
/// # Errors
/// If this process can open no more files. What holds of nobody then must not be taken for an answer.
pub(super) fn try_look(pid: u32) -> io::Result<Option<Entry>> {
    let line = stat(pid)?;
    Ok(line.and_then(|line| parse(&line)))
}

fn stat(pid: u32) -> io::Result<Option<Vec<u8>>> {
    let mut line = [0; 1024];
    let read = File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut line));
    Ok(seen(read)?.and_then(|read| Some(line.get(..read)?.to_vec())))
}

/// Whether a process stands still because of a signal or a debugger.
pub(super) fn is_stopped(pid: u32) -> io::Result<bool> {
    let line = stat(pid)?.unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let state = line.rsplit_once(") ").map(|(_, rest)| rest);
    Ok(state.is_some_and(|rest| rest.starts_with(['T', 't'])))
}

/// What was read, or None if it cannot be: the process is gone, or hides it.
fn seen<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if is_shortage(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Whether an error says nothing of what was looked at.
fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = Errno::from_io_error(error);
    matches!(code, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM))
}

/// Reads a line of `/proc/<pid>/stat`: number, name in brackets, then fields by position.
fn parse(line: &[u8]) -> Option<Entry> {
    const KERNEL_THREAD: u64 = 0x0020_0000;
    let line = String::from_utf8_lossy(line);
    let (pid, rest) = line.split_once(" (")?;
    // The name may hold brackets itself; the fields after it do not.
    let (command, rest) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let small = |at: usize| u32::try_from(number(at)?).ok();
    if number(6)? & KERNEL_THREAD != 0 {
        return None;
    }
    // A first thread that has ended while others run looks like an ended process but for their number.
    let ended = matches!(*fields.first()?, "Z" | "X" | "x") && number(17)? <= 1;
    Some(Entry {
        pid: pid.parse().ok()?,
        parent: small(1)?,
        group: small(2)?,
        session: small(3)?,
        started: number(19)?,
        ended,
        command: command.to_owned(),
    })
}

/// Whether that process was started with the marker.
pub(super) fn bears(pid: u32, marker: &Marker) -> bool {
    environ(pid).is_some_and(|environ| marker.is_in(&environ))
}

/// The variables that a process was started with, each ended by NUL. None if they cannot be read.
pub(super) fn environ(pid: u32) -> Option<Vec<u8>> {
    try_environ(pid).ok().flatten()
}

/// The same.
///
/// # Errors
/// If this process can open no more files.
pub(super) fn try_environ(pid: u32) -> io::Result<Option<Vec<u8>>> {
    let until = Instant::now() + EXEC;
    loop {
        let Some(environ) = seen(std::fs::read(format!("/proc/{pid}/environ")))? else {
            return Ok(None);
        };
        if !(environ.is_empty() && is_in_exec(pid) && Instant::now() < until) {
            return Ok(Some(environ));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// The hard limit of bytes in message queues of a process of this user; `u64::MAX` if there is none. Everybody may read it, also
/// of a process that hides.
pub(super) fn limit(pid: u32) -> io::Result<Option<u64>> {
    match is_ours(pid)? {
        true => limit_of_anyone(pid),
        false => Ok(None),
    }
}

/// The same, also of another user's process.
pub(super) fn limit_of_anyone(pid: u32) -> io::Result<Option<u64>> {
    let limits = seen(std::fs::read_to_string(format!("/proc/{pid}/limits")))?;
    Ok(limits.as_deref().and_then(read_limit))
}

/// The hard limit in a file as `/proc/<pid>/limits` is one.
fn read_limit(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max msgqueue size"))?;
    match line.split_ascii_whitespace().nth(1)? {
        "unlimited" => Some(u64::MAX),
        hard => hard.parse().ok(),
    }
}

/// That limit of this process.
pub(super) fn own_limit() -> Option<u64> {
    limit(std::process::id()).ok().flatten()
}

/// The tables of all connections.
///
/// # Errors
/// If none can be read.
pub(super) fn tables() -> io::Result<Vec<String>> {
    let four = std::fs::read_to_string("/proc/net/tcp")?;
    // A system without IPv6 has no second table.
    let six = match std::fs::read_to_string("/proc/net/tcp6") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        other => Some(other?),
    };
    Ok([Some(four), six].into_iter().flatten().collect())
}

/// The arguments that a process of this user shows, each ended by NUL, also where it hides its environment. None for another
/// user's process: what that user's agents do is not this user's affair.
pub(super) fn arguments(pid: u32) -> io::Result<Option<Vec<u8>>> {
    match is_ours(pid)? {
        true => seen(std::fs::read(format!("/proc/{pid}/cmdline"))),
        false => Ok(None),
    }
}

fn is_ours(pid: u32) -> io::Result<bool> {
    Ok(uid(pid)? == Some(rustix::process::getuid().as_raw()))
}

/// Whether a process has this socket open, in any of its threads, which may have files of their own.
///
/// # Errors
/// If this process can open no more files, so that it cannot look.
pub(super) fn has_socket(pid: u32, socket: u64) -> io::Result<Holds> {
    let mut holds = Holds::No;
    let name = format!("socket:[{socket}]");
    let folder = format!("/proc/{pid}/task");
    let threads = match std::fs::read_dir(&folder) {
        Ok(threads) => threads,
        Err(error) => return unseen(error),
    };
    for thread in threads {
        let files = match thread.and_then(|thread| std::fs::read_dir(thread.path().join("fd"))) {
            Ok(files) => files,
            Err(error) => match unseen(error)? {
                Holds::No => continue,
                other => return Ok(other),
            },
        };
        for file in files.flatten() {
            let link = std::fs::read_link(file.path()).unwrap_or_default();
            if link.as_os_str() == name.as_str() {
                return Ok(Holds::Yes);
            }
            if can_hold_unseen(&link, &file.path())? {
                holds = Holds::Unlisted;
            }
        }
    }
    Ok(holds)
}

/// Whether behind this open file there may be others that are not listed: a ring keeps those that were registered with it, and
/// a socket those that wait in it to be received.
fn can_hold_unseen(link: &Path, file: &Path) -> io::Result<bool> {
    let link = link.as_os_str().as_encoded_bytes();
    if link == b"anon_inode:[io_uring]" {
        return Ok(true);
    }
    let info = match (
        link.starts_with(b"socket:"),
        file.parent(),
        file.file_name(),
    ) {
        (true, Some(folder), Some(number)) => folder.with_file_name("fdinfo").join(number),
        _ => return Ok(false),
    };
    let info = seen(std::fs::read_to_string(info))?.unwrap_or_default();
    let waiting = info.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    Ok(waiting.is_some_and(|count| count.trim() != "0"))
}

/// What it means that the files of a process cannot be listed.
fn unseen(error: io::Error) -> io::Result<Holds> {
    use rustix::io::Errno;
    match Errno::from_io_error(&error) {
        _ if is_shortage(&error) => Err(error),
        Some(Errno::NOENT | Errno::SRCH) => Ok(Holds::No),
        _ => Ok(Holds::Hidden),
    }
}

/// Whose process it is. Its folder belongs to the system if it hides, its status does not lie.
pub(super) fn uid(pid: u32) -> io::Result<Option<u32>> {
    let status = seen(std::fs::read_to_string(format!("/proc/{pid}/status")))?;
    Ok(status.as_deref().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    }))
}

/// How long a process is given that is in the middle of an exec. On a busy machine it may not run for a while.
const EXEC: Duration = Duration::from_millis(50);

/// In the middle of an exec a process has neither environment nor arguments. Without an environment only, it was started
/// with none.
fn is_in_exec(pid: u32) -> bool {
    let has_no_arguments =
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|arguments| arguments.is_empty());
    has_no_arguments && look(pid).is_some_and(|entry| !entry.ended)
}

/// Signals that process if `same` still says that it is the one meant.
///
/// The handle is opened first and `same` asked after: if it is the right process now, it was when the handle
/// was opened, and the handle stays with it. Kernels before 5.3 have no handles; there the moment between
/// question and signal remains.
pub(super) fn deliver(pid: u32, signal: Signal, same: impl FnOnce() -> bool) -> Delivery {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Delivery::Gone;
    };
    let handle = pidfd_open(pid, PidfdFlags::empty());
    if handle
        .as_ref()
        .is_err_and(|error| *error == rustix::io::Errno::SRCH)
        || !same()
    {
        return Delivery::Gone;
    }
    let sent = match &handle {
        Ok(handle) => pidfd_send_signal(handle, number(signal)),
        Err(_) => kill_process(pid, number(signal)),
    };
    match sent {
        Ok(()) => Delivery::Sent,
        Err(rustix::io::Errno::SRCH) => Delivery::Gone,
        Err(_) => Delivery::Refused,
    }
}

fn number(signal: Signal) -> Number {
    match signal {
        Signal::Interrupt => Number::INT,
        Signal::Terminate => Number::TERM,
        Signal::Stop => Number::STOP,
        Signal::Continue => Number::CONT,
        Signal::Kill => Number::KILL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "71 (a) (b c) S 12 71 70 0 -1 4194560 112 0 0 0 0 0 0 0 20 0 1 0 4711 3133440 \
                        409 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n";

    #[test]
    fn a_name_with_brackets_and_spaces_shifts_nothing() {
        let entry = parse(LINE.as_bytes()).unwrap();
        assert_eq!(entry.command, "a) (b c");
        let numbers = (entry.pid, entry.parent, entry.group, entry.session);
        assert_eq!(numbers, (71, 12, 71, 70));
        assert_eq!((entry.started, entry.ended), (4711, false));
    }

    #[test]
    fn a_zombie_has_ended_unless_other_threads_of_it_run() {
        let zombie = LINE.replace(") S 12", ") Z 12");
        assert!(parse(zombie.as_bytes()).unwrap().ended);
        let threads = zombie.replace(" 20 0 1 0 4711", " 20 0 3 0 4711");
        assert!(!parse(threads.as_bytes()).unwrap().ended);
    }

    #[test]
    fn a_cut_line_and_a_kernel_thread_are_passed_over() {
        assert_eq!(parse(&LINE.as_bytes()[..60]), None);
        assert_eq!(parse(b""), None);
        assert_eq!(parse(LINE.replace("4194560", "69238880").as_bytes()), None);
    }

    #[test]
    fn the_hard_limit_is_read() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max msgqueue size         100                  819199               bytes     \n";
        assert_eq!(read_limit(limits), Some(819_199));
        let none = limits.replace("819199", "unlimited");
        assert_eq!(read_limit(&none), Some(u64::MAX));
        assert_eq!(read_limit("Max cpu time  1 2 seconds"), None);
    }

    #[test]
    fn a_signal_is_not_sent_to_a_process_that_is_not_the_same() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        assert_eq!(deliver(child.id(), Signal::Kill, || false), Delivery::Gone);
        // It lives on, and ends by itself when its input does.
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        assert_eq!(deliver(child.id(), Signal::Kill, || true), Delivery::Gone);
    }
}
