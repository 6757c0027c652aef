//! From the agent's `write` to the follower's having read the line: how long, one line at a time.
//!
//! Owns the samples. Each line carries the time at which it was written, by a clock that both processes share.

use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::agent::{self, Order};
use super::raw::Raw;
use super::stage::{Side, Stage};
use super::usage;
use super::{Place, Size};

/// Long enough for everybody to have gone to sleep again.
const PAUSE: Duration = Duration::from_micros(400);
/// Lines at the beginning that do not count: caches, and the keeper's first pages.
const WARM: u64 = 200;

pub(crate) fn measure(place: &Place, size: &Size) -> anyhow::Result<()> {
    // In parts, so that a neighbour who wakes up does not meet one side alone.
    let parts = size.latency_parts;
    let mut samples: Vec<Vec<u64>> = vec![Vec::new(); Side::ALL.len()];
    for part in 1..=parts {
        eprintln!("latency: part {part} of {parts}");
        for (side, samples) in Side::ALL.into_iter().zip(&mut samples) {
            let mut stage = Stage::set(side, place)?;
            collect(&mut stage, WARM, &mut Vec::new())?;
            collect(&mut stage, size.latency_samples / parts, samples)?;
            stage.end()?;
        }
    }
    for (side, mut samples) in Side::ALL.into_iter().zip(samples) {
        samples.sort_unstable();
        let micros = |part: f64| at(&samples, part) as f64 / 1e3;
        Raw::new("latency", "300 B", side.word())
            .with("samples", samples.len() as f64)
            .with("p50_us", micros(0.5))
            .with("p90_us", micros(0.9))
            .with("p99_us", micros(0.99))
            .with("most_us", micros(1.0))
            .tell()?;
    }
    Ok(())
}

fn collect(stage: &mut Stage, lines: u64, samples: &mut Vec<u64>) -> anyhow::Result<()> {
    let had = samples.len() as u64;
    stage.order(Order::Paced {
        lines,
        length: 300,
        pause: PAUSE,
    })?;
    stage.follow(lines, &mut |line| {
        let now = usage::now();
        if let Some(written) = agent::written_at(line) {
            samples.push(now.saturating_sub(written));
        }
    })?;
    stage.done().context("the agent did not finish")?;
    ensure!(
        samples.len() as u64 == had + lines,
        "a line without its time"
    );
    Ok(())
}

/// The sample below which that part of all lies.
fn at(sorted: &[u64], part: f64) -> u64 {
    let last = sorted.len().saturating_sub(1);
    sorted[(last as f64 * part).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_sample() {
        let sorted: Vec<u64> = (0..=100).collect();
        assert_eq!(
            [0.5, 0.99, 1.0].map(|part| at(&sorted, part)),
            [50, 99, 100]
        );
        assert_eq!(at(&[7], 0.99), 7);
    }
}
