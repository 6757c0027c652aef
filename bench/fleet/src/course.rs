//! The course of one host with so many agents.
//!
//! Owns the order: all agents come up, all stream and call at once, all rest, all stream again while commands are timed, all
//! end; and what is sampled in between. Invariant: nothing is told of a fleet of which anything was lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use countersign_host::control::SessionId;

use crate::check;
use crate::probe;
use crate::raw::Raw;
use crate::scene::{Scene, TALK, WORK, message};
use crate::stage::{DEADLINE, LOOK, Stage};
use crate::usage::{self, Counter, Memory};

/// Threads for reads end after so long without work. Sooner than usual, so that a rest need not be long.
const THREADS_LIVE: Duration = Duration::from_secs(1);

/// Longer than whatever a host does by itself when nothing happens: a cursor is stored after two seconds.
const REST: Duration = Duration::from_secs(4);

/// Runs a host with so many agents.
pub(crate) fn host(agents: usize, scene: Scene, data: &Path) -> anyhow::Result<()> {
    countersign_host::few_heaps();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_keep_alive(THREADS_LIVE)
        .build()
        .context("no runtime")?;
    runtime.block_on(run(agents, scene, data))
}

async fn run(agents: usize, scene: Scene, data: &Path) -> anyhow::Result<()> {
    let stage = Stage::set(agents, scene, data).await?;
    let mut course = Course {
        stage,
        agents,
        counter: Counter::default(),
    };
    course.memory("no session", usage::memory("self")?)?;
    let mut sessions = Vec::new();
    for index in 0..agents {
        sessions.push(course.stage.start(message("hello", index)).await?);
    }
    let all_up = course
        .stage
        .until_idle("agents come up", || Ok(true), |_| Ok(()));
    all_up.await?;
    tokio::time::sleep(REST).await;
    course.memory("up, before any work", usage::memory("self")?)?;

    course.work(&sessions).await?;
    tokio::time::sleep(REST).await;
    course.memory("at rest behind it", usage::memory("self")?)?;
    let (keepers, others) = course.stage.others();
    Raw::new(agents, "others", "at rest behind it")
        .with("keepers_pss_kib", keepers.pss as f64)
        .with("agents_pss_kib", others.pss as f64)
        .tell()?;

    probe::at_rest(&course.stage, &sessions, agents).await?;
    course.talk(&sessions, scene).await?;
    let stage = &course.stage;
    check::all(stage, &sessions, scene).await?;
    stage.stop(&sessions).await?;
    check::nobody_was_called(stage, &sessions).await
}

struct Course {
    stage: Stage,
    agents: usize,
    counter: Counter,
}

impl Course {
    fn memory(&self, case: &'static str, memory: Memory) -> anyhow::Result<()> {
        Raw::new(self.agents, "memory", case)
            .with("rss_kib", memory.rss as f64)
            .with("pss_kib", memory.pss as f64)
            .with("anonymous_kib", memory.anonymous as f64)
            .tell()
    }

    /// All agents stream and call at once.
    async fn work(&mut self, sessions: &[SessionId]) -> anyhow::Result<()> {
        let before = self.counter.look()?;
        let stored = self.stage.host()?.written();
        let behind: usize = self.stage.records()?.values().sum();
        self.stage.send_all(sessions, WORK).await?;
        let wanted = self.agents * Scene::CALLS_ALLOWED;
        let (mut most, mut at_once) = (Memory::default(), 0);
        let (stage, counter) = (&self.stage, &mut self.counter);
        let mut sample = |busy: usize| {
            at_once = at_once.max(busy);
            let now = usage::memory("self")?;
            if now.rss > most.rss {
                most = now;
            }
            counter.look().map(drop)
        };
        let all_marks = || Ok(stage.marks()?.len() >= wanted);
        stage
            .until_idle("agents have worked", all_marks, &mut sample)
            .await?;
        let after = self.counter.look()?;
        let now = self.stage.host()?.written();
        self.memory("streaming and calling, the most", most)?;
        let records = self.stage.records()?.values().sum::<usize>() - behind;
        Raw::new(self.agents, "work", "streaming")
            .with("at_once", at_once as f64)
            .with("records", records as f64)
            .with("reads", (after.reads - before.reads) as f64)
            .with("writes", (after.writes - before.writes) as f64)
            .with("sleeps", (after.sleeps - before.sleeps) as f64)
            .with("cpu_us", (after.cpu_us - before.cpu_us) as f64)
            .with("jobs", (now.jobs - stored.jobs) as f64)
            .with(
                "transactions",
                (now.transactions - stored.transactions) as f64,
            )
            .with("synced", (now.synced - stored.synced) as f64)
            .tell()
    }

    /// All agents stream until they are interrupted, and commands are timed meanwhile.
    async fn talk(&mut self, sessions: &[SessionId], scene: Scene) -> anyhow::Result<()> {
        let before = self.stage.records()?;
        self.stage.send_all(sessions, TALK).await?;
        let start = Instant::now();
        // None of them ends by itself: once each has begun, all stream.
        let streams = |now: BTreeMap<_, usize>| {
            let grown = now.iter().map(|(name, lines)| lines - before[name]);
            grown.filter(|lines| *lines > scene.deltas).count()
        };
        while streams(self.stage.records()?) < self.agents {
            anyhow::ensure!(start.elapsed() < DEADLINE, "they never stream all at once");
            tokio::time::sleep(LOOK).await;
        }
        self.memory("all streaming", usage::memory("self")?)?;
        probe::while_streaming(&self.stage, sessions, self.agents).await?;
        let stage = &self.stage;
        let idle = stage.until_idle("agents are interrupted", || Ok(true), |_| Ok(()));
        idle.await
    }
}
