//! The course of one host with so many agents.
//!
//! Owns the order: all agents come up, all stream and call at once, all rest, all stream again while commands are timed, all
//! end; and what is sampled in between. Invariant: nothing is told of a fleet of which anything was lost.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use crate::check;
use crate::probe;
use crate::raw::Raw;
use crate::scene::{Scene, TALK, WORK, message};
use crate::stage::Stage;
use crate::usage::{self, Counter, Memory};

/// Longer than whatever a host does by itself when nothing happens: threads for reads end after 10 s.
const REST: Duration = Duration::from_secs(12);

/// Runs a host with so many agents.
pub(crate) fn host(agents: usize, scene: Scene, data: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
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
    let talk = |index| message(TALK, index);
    for (index, session) in sessions.iter().enumerate() {
        course.stage.send(*session, talk(index)).await?;
    }
    let interrupted = probe::while_streaming(&course.stage, &sessions, agents).await?;
    let stage = &course.stage;
    stage
        .until_idle("agents have talked", || Ok(true), |_| Ok(()))
        .await?;
    check::all(stage, &sessions, scene, &interrupted).await?;
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
    async fn work(
        &mut self,
        sessions: &[countersign_host::control::SessionId],
    ) -> anyhow::Result<()> {
        let before = self.counter.look()?;
        let stored = self.stage.host()?.written();
        let behind = self.stage.records()?;
        for (index, session) in sessions.iter().enumerate() {
            self.stage.send(*session, message(WORK, index)).await?;
        }
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
        self.memory("streaming, the most", most)?;
        let records = self.stage.records()? - behind;
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
}
