//! The thin shell around the pure core: clock, randomness, connections, children.
//!
//! Owns the task that runs jobs. Invariants: telling never waits; one job under way a target, whatever the others do; a job
//! whose code breaks is given up like any other; when it is closed, what could not be told by then is counted.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_process::Marker;
use tokio::sync::Notify;
use tokio::task::{Id, JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

use super::delivery::Delivery;
use super::event::Event;
use super::job::{Job, Outcome};
use super::payload;
use super::post::{self, HttpLimits, Way};
use super::program::{self, ProgramLimits, Run};
use super::target::{BadTarget, Shape, Target, To};
use super::targets::{Said, Targets};
use crate::control::{ApprovalId, now};

/// The clock is looked at this often at least: it may have been set.
const LONGEST_SLEEP: u64 = 60_000_000;

/// What the shell is given of the world.
#[derive(Clone)]
pub struct Outside {
    /// With what links begin: the address under which people open this host.
    pub link_base: Option<String>,
    /// How long a POST may take.
    pub http: HttpLimits,
    /// How long a program may run.
    pub program: ProgramLimits,
    /// The variables of the host. A program sees few of them.
    pub env: Vec<(OsString, OsString)>,
    /// Root certificates that count beside the machine's, as DER.
    pub roots: Vec<Vec<u8>>,
}

impl Outside {
    /// With the variables of this process, and the usual limits.
    pub fn of_process(link_base: Option<String>) -> Self {
        Self {
            link_base,
            http: HttpLimits::default(),
            program: ProgramLimits::default(),
            env: std::env::vars_os().collect(),
            roots: Vec::new(),
        }
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of the environment are secrets more often than not.
        f.debug_struct("Outside")
            .field("link_base", &self.link_base)
            .field("http", &self.http)
            .field("program", &self.program)
            .field("env", &self.env.len())
            .field("roots", &self.roots.len())
            .finish()
    }
}

type OnSaid = Box<dyn Fn(Said) + Send + Sync>;

struct Shared {
    targets: Mutex<Targets>,
    /// There is something to look at.
    wake: Notify,
    closing: Mutex<Option<Instant>>,
    outside: Outside,
    way: Way,
    on_said: OnSaid,
}

impl Shared {
    fn targets(&self) -> MutexGuard<'_, Targets> {
        // The queues are whole between any two of their operations.
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closing(&self) -> Option<Instant> {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, said: Said) {
        match &said {
            Said::Merged { so_far, .. } if !so_far.is_power_of_two() => return,
            _ => tracing::warn!("{said}"),
        }
        (self.on_said)(said);
    }
}

/// What could not be told before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Jobs that were not delivered.
    pub jobs: usize,
}

/// Tells targets what happens.
pub struct Notifier {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl fmt::Debug for Notifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifier")
            .field("open", &self.shared.targets().open())
            .finish_non_exhaustive()
    }
}

impl Notifier {
    /// Begins, within a tokio runtime. `on_said` is told what a person should know: jobs that were given up, and, at 1, 2,
    /// 4, 8, … of them, events that were merged. It must not block, and must not tell it to this notifier again.
    pub fn start(
        targets: Targets,
        outside: Outside,
        on_said: impl Fn(Said) + Send + Sync + 'static,
    ) -> Self {
        let way = Way {
            limits: outside.http,
            #[cfg(feature = "tls")]
            tls: Arc::new(super::tls::Tls::new(outside.roots.clone())),
        };
        let shared = Arc::new(Shared {
            targets: Mutex::new(targets),
            wake: Notify::new(),
            closing: Mutex::new(None),
            outside,
            way,
            on_said: Box::new(on_said),
        });
        let task = tokio::spawn(run(Arc::clone(&shared)));
        Self { shared, task }
    }

    /// Something happened. Never waits.
    pub fn tell(&self, event: &Event) {
        let said = self.shared.targets().on(event, now());
        said.into_iter().for_each(|said| self.shared.say(said));
        self.shared.wake.notify_one();
    }

    /// Tells one target of an event, whatever it wants to know. False if there is no such target.
    pub fn test(&self, target: &str) -> bool {
        let now = now();
        let said = self.shared.targets().on_one(target, &Event::test(now), now);
        let is_there = said.is_some();
        let said = said.into_iter().flatten();
        said.for_each(|said| self.shared.say(said));
        self.shared.wake.notify_one();
        is_there
    }

    /// What became of the last try at a target, if there was one.
    pub fn last(&self, target: &str) -> Option<Delivery> {
        self.shared.targets().last(target).cloned()
    }

    /// These are told from now on, and nobody else.
    ///
    /// # Errors
    /// What is wrong with one of them; then nothing changes.
    pub fn set_targets(&self, targets: Vec<Target>) -> Result<(), BadTarget> {
        self.shared.targets().replace(targets)?;
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Whether nobody is told anything.
    pub fn is_idle(&self) -> bool {
        self.shared.targets().is_empty()
    }

    /// A question is settled: whoever has not been told of it need not be.
    pub fn settled(&self, approval: ApprovalId) {
        self.shared.targets().settled(approval);
    }

    /// How many jobs wait or are under way.
    pub fn open(&self) -> usize {
        self.shared.targets().open()
    }

    /// Ends it. What can be told at once is told, up to that time; nothing is tried again later.
    pub async fn close(mut self, within: Duration) -> Left {
        let deadline = Instant::now() + within;
        *self
            .shared
            .closing
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(deadline);
        self.shared.wake.notify_one();
        // The task ends by itself at the deadline; it breaks only by a fault of ours.
        let _ = (&mut self.task).await;
        let left = Left { jobs: self.open() };
        if left.jobs > 0 {
            tracing::warn!("{} events were not told before the host ended", left.jobs);
        }
        left
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(shared: Arc<Shared>) {
    let mut tasks = JoinSet::new();
    let mut jobs: HashMap<Id, Job> = HashMap::new();
    loop {
        let due = shared.targets().due(now());
        for job in due {
            let target = shared.targets().target(&job).cloned();
            let Some(target) = target else { continue };
            let trying = attempt(Arc::clone(&shared), target, job.clone());
            jobs.insert(tasks.spawn(trying).id(), job);
        }
        let closing = shared.closing();
        let is_over = closing.is_some_and(|deadline| deadline <= Instant::now());
        if is_over || (closing.is_some() && tasks.is_empty()) {
            break;
        }
        let wake = closing.unwrap_or_else(|| wake_at(&shared));
        tokio::select! {
            () = shared.wake.notified() => {}
            () = sleep_until(wake) => {}
            Some(ended) = tasks.join_next_with_id(), if !tasks.is_empty() => {
                let (id, outcome) = match ended {
                    Ok(ended) => ended,
                    Err(error) => {
                        let why = format!("telling it broke: {error}");
                        (error.id(), Outcome::Hopeless { why })
                    }
                };
                if let Some(job) = jobs.remove(&id) {
                    let said = shared.targets().tried(&job, now(), &outcome, jitter());
                    said.into_iter().for_each(|said| shared.say(said));
                }
            }
        }
    }
    tasks.shutdown().await;
}

fn wake_at(shared: &Shared) -> Instant {
    let wait = shared
        .targets()
        .wake_at()
        .map_or(LONGEST_SLEEP, |at| at.saturating_sub(now()));
    Instant::now() + Duration::from_micros(wait.min(LONGEST_SLEEP))
}

/// From 0 to 1.
fn jitter() -> f64 {
    let (bits, _) = uuid::Uuid::new_v4().as_u64_pair();
    (bits >> 32) as f64 / f64::from(u32::MAX)
}

async fn attempt(shared: Arc<Shared>, target: Target, job: Job) -> Outcome {
    let base = shared.outside.link_base.as_deref();
    match &target.to {
        To::Webhook { shape, .. } => {
            let body = payload::body(&job, *shape, base);
            post::post(&target, &job, body, now() / 1_000_000, &shared.way).await
        }
        To::Program { argv, cwd, env } => {
            let run = Run {
                argv,
                cwd: cwd.as_deref(),
                env: program::environment(&shared.outside.env, env),
                marker: Marker::of(uuid::Uuid::new_v4().as_u128()),
                limits: shared.outside.program,
            };
            run.run(payload::body(&job, Shape::Full, base)).await
        }
    }
}
