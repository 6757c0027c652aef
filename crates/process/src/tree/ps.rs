//! Unix systems other than Linux: what `ps` says of processes.
//!
//! Weaker than `/proc`: the environment of others is not read, so there is no marker; a process is told from
//! another with its number by its start in whole seconds; and each look starts a program.

use std::io;
use std::process::{Command, Stdio};

use super::Entry;

/// Number, parent, group, state, start (five words), name.
const COLUMNS: &str = "pid=,ppid=,pgid=,stat=,lstart=,comm=";

/// Every process of the system.
pub(super) fn list() -> io::Result<Vec<Entry>> {
    ask(&["-axo", COLUMNS])
}

/// One process.
pub(super) fn look(pid: u32) -> Option<Entry> {
    let found = ask(&["-o", COLUMNS, "-p", &pid.to_string()]).ok()?;
    found.into_iter().find(|entry| entry.pid == pid)
}

/// The same. Whether this process could look is not told apart.
#[cfg(not(target_os = "linux"))]
pub(super) fn try_look(pid: u32) -> io::Result<Option<Entry>> {
    Ok(look(pid))
}

fn ask(arguments: &[&str]) -> io::Result<Vec<Entry>> {
    let output = Command::new("ps")
        .args(arguments)
        .env("LC_ALL", "C")
        .env("TZ", "UTC0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace();
    let mut number = || words.next()?.parse().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    let state = words.next()?;
    let _weekday = words.next()?;
    let started = seconds(words.next()?, words.next()?, words.next()?, words.next()?)?;
    let command = words.collect::<Vec<_>>().join(" ");
    let name = command.rsplit('/').next().unwrap_or_default().to_owned();
    Some(Entry {
        pid,
        parent,
        group,
        // Not asked for: the column means other things on other systems.
        session: group,
        started,
        ended: state.starts_with('Z'),
        command: name,
    })
}

/// A number that grows with time; not every day has its own length in it.
fn seconds(month: &str, day: &str, clock: &str, year: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = MONTHS.find(month)? as u64 / 3;
    let days = (year.parse::<u64>().ok()? * 12 + month) * 32 + day.parse::<u64>().ok()?;
    let mut clock = clock.split(':').map(str::parse::<u64>);
    let mut part = || clock.next()?.ok();
    Some(((days * 24 + part()?) * 60 + part()?) * 60 + part()?)
}

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{
    arguments, bears, deliver, environ, has_socket, is_stopped, limit, own_limit, tables,
    try_environ, uid,
};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use rustix::process::{Pid, Signal as Number, kill_process};

    use crate::Marker;
    use crate::tree::{Delivery, Signal};

    /// Nobody's environment can be read here.
    pub(in crate::tree) fn bears(_: u32, _: &Marker) -> bool {
        false
    }

    /// Nor that of one alone.
    pub(in crate::tree) fn environ(_: u32) -> Option<Vec<u8>> {
        None
    }

    /// Nor which connections there are.
    pub(in crate::tree) fn tables() -> std::io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Nor whose they are.
    pub(in crate::tree) fn has_socket(_: u32, _: u64) -> std::io::Result<crate::tree::Holds> {
        Ok(crate::tree::Holds::Hidden)
    }

    pub(in crate::tree) fn uid(_: u32) -> std::io::Result<Option<u32>> {
        Ok(None)
    }

    pub(in crate::tree) fn arguments(_: u32) -> std::io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    pub(in crate::tree) fn try_environ(_: u32) -> std::io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    pub(in crate::tree) fn limit(_: u32) -> std::io::Result<Option<u64>> {
        Ok(None)
    }

    pub(in crate::tree) fn limit_of_anyone(_: u32) -> std::io::Result<Option<u64>> {
        Ok(None)
    }

    pub(in crate::tree) fn own_limit() -> Option<u64> {
        None
    }

    pub(in crate::tree) fn is_stopped(_: u32) -> std::io::Result<bool> {
        Ok(false)
    }

    /// Signals that process if `same` still says that it is the one meant.
    pub(in crate::tree) fn deliver(
        pid: u32,
        signal: Signal,
        same: impl FnOnce() -> bool,
    ) -> Delivery {
        let number = match signal {
            Signal::Interrupt => Number::INT,
            Signal::Terminate => Number::TERM,
            Signal::Stop => Number::STOP,
            Signal::Continue => Number::CONT,
            Signal::Kill => Number::KILL,
        };
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Delivery::Gone;
        };
        if !same() {
            return Delivery::Gone;
        }
        match kill_process(pid, number) {
            Ok(()) => Delivery::Sent,
            Err(rustix::io::Errno::SRCH) => Delivery::Gone,
            Err(_) => Delivery::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_and_later_starts_are_greater() {
        let line = |start| format!("  71    12    70 Ss+  {start} /usr/lib/a b/claude");
        let entry = parse(&line("Sun Nov  1 12:59:34 2026")).unwrap();
        assert_eq!((entry.pid, entry.parent, entry.group), (71, 12, 70));
        assert_eq!((entry.command.as_str(), entry.ended), ("claude", false));
        let later = [
            "Sun Nov  1 12:59:35 2026",
            "Mon Nov  2 00:00:00 2026",
            "Tue Dec  1 00:00:00 2026",
        ];
        let mut before = entry.started;
        for start in later {
            let started = parse(&line(start)).unwrap().started;
            assert!(started > before, "{start}");
            before = started;
        }
        assert_eq!(parse("PID PPID"), None);
    }

    #[test]
    fn a_child_is_listed_under_us_and_looks_the_same_alone() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let listed = list()
            .unwrap()
            .into_iter()
            .find(|one| one.pid == child.id())
            .unwrap();
        assert_eq!(listed.parent, std::process::id());
        assert_eq!(look(child.id()).unwrap().started, listed.started);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(look(child.id()), None);
    }
}
