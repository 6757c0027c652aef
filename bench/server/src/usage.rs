//! What processes do: time on a processor, system calls, how often a thread slept; and the clock that all of them share.
//!
//! Owns the reading of `/proc`. Invariant: a figure that cannot be read is an error, never a zero. A thread that has ended is
//! not counted, so threads of the server are made to live longer than a measurement.

use std::ops::Sub;

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of a clock that is the same in every process of the machine.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // Never negative: it counts from the start of the machine.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What a process has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Calls that read a file, a pipe or a counter of wake-ups.
    pub(crate) reads: u64,
    /// Calls that wrote one, or to a connection.
    pub(crate) writes: u64,
    /// How often a thread went to sleep by itself: it was woken as often.
    pub(crate) sleeps: u64,
    /// How often a thread was put aside for another.
    pub(crate) preempted: u64,
    /// On a processor, in microseconds.
    pub(crate) cpu_us: u64,
}

impl Sub for Done {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            writes: self.writes.saturating_sub(before.writes),
            sleeps: self.sleeps.saturating_sub(before.sleeps),
            preempted: self.preempted.saturating_sub(before.preempted),
            cpu_us: self.cpu_us.saturating_sub(before.cpu_us),
        }
    }
}

/// What the process with this number has done, all its threads.
pub(crate) fn done(pid: u32) -> anyhow::Result<Done> {
    let mut done = Done::default();
    let tasks = format!("/proc/{pid}/task");
    let mut nanos = 0;
    for entry in std::fs::read_dir(&tasks).with_context(|| format!("cannot read {tasks}"))? {
        let folder = entry.context("no thread")?.path();
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        // One that has just ended.
        let (Ok(status), Ok(times)) = (read("status"), read("schedstat")) else {
            continue;
        };
        let of = |name: &str| field(&status, name).with_context(|| format!("no {name} in {tasks}"));
        done.sleeps += of("voluntary_ctxt_switches:")?;
        done.preempted += of("nonvoluntary_ctxt_switches:")?;
        let time = times
            .split(' ')
            .next()
            .and_then(|word| word.parse::<u64>().ok());
        nanos += time.with_context(|| format!("no time in {times:?}"))?;
    }
    let path = format!("/proc/{pid}/io");
    let io = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let of = |name: &str| field(&io, name).with_context(|| format!("no {name} in {path}"));
    (done.reads, done.writes) = (of("syscr:")?, of("syscw:")?);
    done.cpu_us = nanos / 1000;
    Ok(done)
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_does_is_counted() {
        let before = done(std::process::id()).unwrap();
        let thread = std::thread::spawn(|| {
            for _ in 0..20 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            std::thread::park();
        });
        let start = std::time::Instant::now();
        let more = loop {
            let more = done(std::process::id()).unwrap() - before;
            if more.sleeps >= 20 || start.elapsed().as_secs() > 20 {
                break more;
            }
        };
        thread.thread().unpark();
        thread.join().unwrap();
        assert!(more.sleeps >= 20, "{more:?}");
        assert!(more.reads > 0 && more.cpu_us > 0, "{more:?}");
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "nonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t3\n";
        assert_eq!(field(text, "voluntary_ctxt_switches:"), Some(3));
        assert_eq!(field(text, "ctxt_switches:"), None);
    }
}
