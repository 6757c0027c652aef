//! What a process uses: memory and time on a processor, and the clock that all processes share.
//!
//! Owns the reading of `/proc`. Invariant: a figure that cannot be read is an error, never a zero.

use std::time::Duration;

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of a clock that is the same in every process of the machine.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // Never negative: it counts from the start of the machine.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Memory of one process, or of several together, in KiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Pages in memory, shared ones counted whole.
    pub(crate) rss: u64,
    /// Shared pages divided by how many share them.
    pub(crate) pss: u64,
    /// Pages that are its own.
    pub(crate) own: u64,
    /// The most `rss` ever was.
    pub(crate) peak: u64,
}

impl std::ops::Add for Memory {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            rss: self.rss + other.rss,
            pss: self.pss + other.pss,
            own: self.own + other.own,
            peak: self.peak + other.peak,
        }
    }
}

pub(crate) fn memory(pid: u32) -> anyhow::Result<Memory> {
    let rollup = read(pid, "smaps_rollup")?;
    let status = read(pid, "status")?;
    let of = |text: &str, name: &str| {
        field(text, name).with_context(|| format!("process {pid} has no {name}"))
    };
    Ok(Memory {
        rss: of(&rollup, "Rss:")?,
        pss: of(&rollup, "Pss:")?,
        own: of(&rollup, "Private_Clean:")? + of(&rollup, "Private_Dirty:")?,
        peak: of(&status, "VmHWM:")?,
    })
}

/// Time on a processor so far, of the first thread: a keeper has no other.
pub(crate) fn cpu(pid: u32) -> anyhow::Result<Duration> {
    let text = read(pid, "schedstat")?;
    let nanos = text
        .split(' ')
        .next()
        .and_then(|word| word.trim().parse().ok());
    let nanos = nanos.with_context(|| format!("process {pid}: no time in {text:?}"))?;
    Ok(Duration::from_nanos(nanos))
}

/// Time on a processor of this process, all its threads.
pub(crate) fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn read(pid: u32, name: &str) -> anyhow::Result<String> {
    let path = format!("/proc/{pid}/{name}");
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_touched_is_seen() {
        let before = memory(std::process::id()).unwrap();
        let touched = std::hint::black_box(vec![1_u8; 32 << 20]);
        let after = memory(std::process::id()).unwrap();
        assert!(after.rss > before.rss + 30_000, "{before:?} {after:?}");
        assert!(after.peak >= after.rss && after.own <= after.rss);
        drop(touched);
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "SwapPss: 1 kB\nPss:        72 kB\nPss_Dirty: 3 kB\n";
        assert_eq!(field(text, "Pss:"), Some(72));
        assert_eq!(field(text, "Rss:"), None);
    }
}
