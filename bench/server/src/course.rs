//! The course of one part: a server of its own, and what is asked of it.
//!
//! Owns how much is measured. Invariant: each part has a process of its own, so that what one left behind is not another's.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::stage::Stage;
use crate::{approvals, list, records};

/// The parts, in their order.
pub(crate) const PARTS: [&str; 4] = ["records", "approvals", IN_MEMORY, "list"];

/// Approvals again where a sync costs nothing: what is left is not the disk's.
pub(crate) const IN_MEMORY: &str = "memory";

/// Threads for reads live so long without work: longer than a measurement, so that what they did is counted.
const THREADS_LIVE: Duration = Duration::from_secs(600);

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Sides take turns so often.
    pub(crate) rounds: usize,
    /// Lines that come alone, in a round.
    pub(crate) lines: u64,
    /// Lines before them that do not count.
    pub(crate) warm: u64,
    /// Lines of a flood.
    pub(crate) flood: u64,
    /// Approvals in a round.
    pub(crate) calls: u64,
    /// Approvals before them that do not count.
    pub(crate) warm_calls: u64,
    /// Sessions in the list.
    pub(crate) sessions: usize,
    /// Requests of a case in a round.
    pub(crate) requests: usize,
}

impl Size {
    pub(crate) const FULL: Self = Self {
        rounds: 5,
        lines: 1_000,
        warm: 100,
        flood: 200_000,
        calls: 200,
        warm_calls: 20,
        sessions: 1_000,
        requests: 400,
    };
    pub(crate) const QUICK: Self = Self {
        rounds: 2,
        lines: 400,
        warm: 50,
        flood: 50_000,
        calls: 60,
        warm_calls: 10,
        sessions: 100,
        requests: 100,
    };
}

/// Runs one part.
pub(crate) fn server(part: &str, size: &Size, data: &Path) -> anyhow::Result<()> {
    countersign_host::few_heaps();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_keep_alive(THREADS_LIVE)
        .build()
        .context("no runtime")?;
    runtime.block_on(async {
        let stage = Stage::set(data).await?;
        match part {
            "records" => records::measure(&stage, size).await,
            "approvals" => approvals::measure(&stage, size).await,
            IN_MEMORY => approvals::measure_in_memory(&stage, size).await,
            "list" => list::measure(&stage, size).await,
            _ => bail!("{part} is no part: {PARTS:?}"),
        }
    })
}
