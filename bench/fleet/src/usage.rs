//! What processes use: memory, time, system calls, how often a thread slept.
//!
//! Owns the reading of `/proc`. Invariant: a figure that cannot be read is an error, never a zero.

use std::collections::BTreeMap;

use anyhow::Context as _;

/// Memory of one process, in KiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Pages in memory, shared ones counted whole.
    pub(crate) rss: u64,
    /// Shared pages divided by how many share them.
    pub(crate) pss: u64,
    /// Pages that are of no file: heap, stacks.
    pub(crate) anonymous: u64,
}

/// Memory of the process with this number; `self` for this one.
pub(crate) fn memory(pid: &str) -> anyhow::Result<Memory> {
    let rollup = read(&format!("/proc/{pid}/smaps_rollup"))?;
    let of = |name: &str| {
        field(&rollup, name).with_context(|| format!("process {pid} has no {name} in its memory"))
    };
    Ok(Memory {
        rss: of("Rss:")?,
        pss: of("Pss:")?,
        anonymous: of("Anonymous:")?,
    })
}

/// What this process has done so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    /// Calls that read a file or a pipe.
    pub(crate) reads: u64,
    /// Calls that wrote one.
    pub(crate) writes: u64,
    /// How often a thread went to sleep by itself: it was woken as often.
    pub(crate) sleeps: u64,
    /// On a processor, in microseconds.
    pub(crate) cpu_us: u64,
}

/// Counts over all threads, those that have ended included if they were seen.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    sleeps: BTreeMap<String, u64>,
}

impl Counter {
    /// What this process has done by now. To be asked often: a thread that comes and goes in between is not seen.
    pub(crate) fn look(&mut self) -> anyhow::Result<Done> {
        let mut threads = 0;
        for entry in std::fs::read_dir("/proc/self/task").context("no threads")? {
            let entry = entry.context("no thread")?;
            // One that has just ended.
            let Ok(status) = std::fs::read_to_string(entry.path().join("status")) else {
                continue;
            };
            let Some(slept) = field(&status, "voluntary_ctxt_switches:") else {
                continue;
            };
            threads += 1;
            let name = entry.file_name().to_string_lossy().into_owned();
            let known = self.sleeps.entry(name).or_default();
            *known = slept.max(*known);
        }
        anyhow::ensure!(threads > 0, "no thread says how often it slept");
        let io = read("/proc/self/io")?;
        let of = |name: &str| field(&io, name).with_context(|| format!("no {name} in {io:?}"));
        Ok(Done {
            reads: of("syscr:")?,
            writes: of("syscw:")?,
            sleeps: self.sleeps.values().sum(),
            cpu_us: cpu_us(),
        })
    }
}

fn cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // Never negative: it counts from the start of the process.
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000
}

fn read(path: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_touched_is_seen() {
        let before = memory("self").unwrap();
        let touched = std::hint::black_box(vec![1_u8; 32 << 20]);
        let after = memory("self").unwrap();
        assert!(
            after.anonymous > before.anonymous + 30_000,
            "{before:?} {after:?}"
        );
        assert!(after.rss >= after.anonymous);
        drop(touched);
    }

    #[test]
    fn a_thread_that_sleeps_is_counted() {
        let mut counter = Counter::default();
        let before = counter.look().unwrap();
        let thread = std::thread::spawn(|| {
            for _ in 0..20 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            std::thread::park();
        });
        let wanted = before.sleeps + 20;
        let start = std::time::Instant::now();
        let after = loop {
            let after = counter.look().unwrap();
            if after.sleeps >= wanted || start.elapsed().as_secs() > 20 {
                break after;
            }
        };
        thread.thread().unpark();
        thread.join().unwrap();
        assert!(after.sleeps >= wanted, "{before:?} {after:?}");
        assert!(after.reads > before.reads && after.cpu_us > before.cpu_us);
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "SwapPss: 1 kB\nPss:        72 kB\nPss_Dirty: 3 kB\n";
        assert_eq!(field(text, "Pss:"), Some(72));
        assert_eq!(field(text, "Rss:"), None);
    }
}
