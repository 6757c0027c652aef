//! How long a client waits for a host: at rest, and while all its agents stream.
//!
//! Owns which commands are timed. Reads are of one session each; an interrupt is timed to its receipt, and to the session
//! that no longer runs.

use std::time::{Duration, Instant};

use countersign_host::control::{Command, Control as _, SessionId};
use futures_util::future::try_join_all;

use crate::raw::Raw;
use crate::stage::{DEADLINE, Stage};

/// So many reads.
const READS: usize = 200;

/// So many interrupts are timed at most.
const INTERRUPTS: usize = 10;

pub(crate) async fn at_rest(
    stage: &Stage,
    sessions: &[SessionId],
    agents: usize,
) -> anyhow::Result<()> {
    let times = reads(stage, sessions).await?;
    tell(agents, "read, at rest", times)
}

/// All stream, until all are interrupted: the first ones by themselves, the others at once.
pub(crate) async fn while_streaming(
    stage: &Stage,
    sessions: &[SessionId],
    agents: usize,
) -> anyhow::Result<()> {
    let times = reads(stage, sessions).await?;
    tell(agents, "read, all streaming", times)?;
    let (first, others) = sessions.split_at(sessions.len().min(INTERRUPTS));
    let (mut receipts, mut effects) = (Vec::new(), Vec::new());
    for session in first {
        let start = Instant::now();
        interrupt(stage, *session).await?;
        receipts.push(start.elapsed());
        while stage.host()?.session(*session).await?.state.name() == "running" {
            anyhow::ensure!(start.elapsed() < DEADLINE, "an interrupt does nothing");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        effects.push(start.elapsed());
    }
    tell(agents, "interrupt, its receipt", receipts)?;
    tell(agents, "interrupt, the turn is over", effects)?;
    let others = others.iter().map(|session| interrupt(stage, *session));
    try_join_all(others).await.map(drop)
}

async fn interrupt(stage: &Stage, session: SessionId) -> anyhow::Result<()> {
    stage.execute(Command::Interrupt { session }).await
}

async fn reads(stage: &Stage, sessions: &[SessionId]) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for session in sessions.iter().cycle().take(READS) {
        let start = Instant::now();
        stage.host()?.session(*session).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

fn tell(agents: usize, case: &'static str, mut times: Vec<Duration>) -> anyhow::Result<()> {
    times.sort_unstable();
    let at = |percent: usize| {
        let place = (times.len() * percent).div_ceil(100).max(1) - 1;
        times[place].as_secs_f64() * 1000.0
    };
    Raw::new(agents, "latency", case)
        .with("samples", times.len() as f64)
        .with("p50_ms", at(50))
        .with("p99_ms", at(99))
        .with("most_ms", at(100))
        .tell()
}
