//! Approvals: from the CLI's question to the answer on its stdin.
//!
//! Owns the measurement, by rule and by a client over HTTP that allows at once, beside a disk that is only synced. The agent
//! itself takes the time. Invariant: sides take turns within a round.

use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::agent::Order;
use crate::clients::Decisions;
use crate::course::Size;
use crate::floor;
use crate::helper::Helper;
use crate::raw::Raw;
use crate::samples::Samples;
use crate::stage::{BY_PERSON, BY_RULE, Stage};
use crate::usage;

/// Long enough for everybody to have gone to sleep again.
const PAUSE: Duration = Duration::from_millis(4);

pub(crate) async fn measure(stage: &Stage, size: &Size) -> anyhow::Result<()> {
    let mut sync = Samples::default();
    for round in 1..=size.rounds {
        eprintln!("approvals: round {round} of {}", size.rounds);
        sync.add(floor::sync(stage.root(), size.calls as usize, PAUSE)?);
        by_rule(stage, size).await?;
        by_client(stage, size).await?;
    }
    Raw::new("approval", "a block of 4 KiB, synced")
        .took(&sync)
        .tell()
}

/// By rule alone, in a folder that is memory.
pub(crate) async fn measure_in_memory(stage: &Stage, size: &Size) -> anyhow::Result<()> {
    for round in 1..=size.rounds {
        eprintln!("approvals in memory: round {round} of {}", size.rounds);
        ask(stage, size, "by rule, on a disk that is memory", BY_RULE).await?;
    }
    Ok(())
}

async fn by_rule(stage: &Stage, size: &Size) -> anyhow::Result<()> {
    ask(stage, size, "by rule", BY_RULE).await
}

async fn by_client(stage: &Stage, size: &Size) -> anyhow::Result<()> {
    let mut args = stage.door();
    let calls = size.calls + size.warm_calls;
    args.push(calls.to_string());
    let mut decider = Helper::start("decider", &args)?;
    ask(stage, size, "by a client over HTTP", BY_PERSON).await?;
    let found: Decisions = decider.found()?;
    decider.end()?;
    ensure!(
        found.decisions.len() as u64 == calls,
        "not all were decided by it"
    );
    let warm = size.warm_calls as usize;
    let looks = found.looks.without_first(warm);
    let decisions = found.decisions.without_first(warm);
    Raw::new("approval", "of it: the client looks")
        .took(&looks)
        .tell()?;
    Raw::new("approval", "of it: the client's decision is stored")
        .took(&decisions)
        .tell()
}

async fn ask(stage: &Stage, size: &Size, case: &str, command: &str) -> anyhow::Result<()> {
    let session = stage.start().await?;
    let keeper = stage.keeper()?;
    let own = std::process::id();
    let calls = size.calls + size.warm_calls;
    let file = stage.root().canonicalize()?.join("took.json");
    let order = Order::Ask {
        calls,
        pause: PAUSE,
        command: command.to_owned(),
        file: file.clone(),
    };
    let before = (
        usage::done(own)?,
        usage::done(keeper)?,
        stage.host()?.written(),
    );
    stage.order(session, &order).await?;
    while !file.exists() {
        stage.alive(session).await?;
    }
    let (server, keeper) = (
        usage::done(own)? - before.0,
        usage::done(keeper)? - before.1,
    );
    let written = stage.host()?.written();
    stage.until(session, "idle").await?;
    let took = std::fs::read(&file).context("the agent did not finish")?;
    std::fs::remove_file(&file)?;
    let took: Samples = serde_json::from_slice(&took).context("the agent did not finish")?;
    ensure!(
        took.len() as u64 == calls,
        "{} answers of {calls}",
        took.len()
    );
    stage.stop(session).await?;
    Raw::new("approval", case)
        .with("asked", calls as f64)
        .took(&took.without_first(size.warm_calls as usize))
        .did("server", server)
        .did("keeper", keeper)
        .with(
            "transactions",
            (written.transactions - before.2.transactions) as f64,
        )
        .with("synced", (written.synced - before.2.synced) as f64)
        .tell()
}
