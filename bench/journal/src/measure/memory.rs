//! What guard and keeper take: at start, behind many records, behind one very long line, at rest.
//!
//! Owns the course of one such run, for each program that can be a keeper: the binary, and the least that runs the same
//! code. Peaks are the kernel's own marks.

use std::time::Duration;

use super::agent::Order;
use super::raw::Raw;
use super::stage::{Side, Stage};
use super::usage::Memory;
use super::{Place, Size};

/// Longer than whatever a keeper does by itself when it has nothing to do: its sync comes within a second.
const REST: Duration = Duration::from_millis(2500);

pub(crate) fn measure(place: &Place, size: &Size) -> anyhow::Result<()> {
    for (side, place) in place.keepers() {
        eprintln!("memory: {side}");
        let mut stage = Stage::set(Side::Keeper, &place)?;
        rest();
        tell(side, "at start", &stage)?;
        run(&mut stage, size.memory_records, 300)?;
        tell(side, "behind the records", &stage)?;
        rest();
        tell(side, "at rest behind them", &stage)?;
        run(&mut stage, 1, 20_000_000)?;
        tell(side, "behind a line of 20 MB", &stage)?;
        rest();
        tell(side, "at rest behind it", &stage)?;
        stage.end()?;
    }
    Ok(())
}

fn run(stage: &mut Stage, lines: u64, length: usize) -> anyhow::Result<()> {
    stage.order(Order::Flood { lines, length })?;
    stage.follow(lines, &mut |_| ())?;
    stage.done()
}

fn rest() {
    std::thread::sleep(REST);
}

fn tell(side: &'static str, case: &str, stage: &Stage) -> anyhow::Result<()> {
    let [guard, keeper] = stage.memory()?;
    let Memory { rss, pss, own, .. } = guard + keeper;
    Raw::new("memory", case, side)
        .with("rss_kib", rss as f64)
        .with("pss_kib", pss as f64)
        .with("own_kib", own as f64)
        .with("guard_rss_kib", guard.rss as f64)
        .with("guard_own_kib", guard.own as f64)
        .with("keeper_rss_kib", keeper.rss as f64)
        .with("keeper_own_kib", keeper.own as f64)
        .with("keeper_peak_kib", keeper.peak as f64)
        .tell()
}
