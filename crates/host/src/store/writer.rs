//! The one thread that writes.
//!
//! Owns the writing connection and the queue in front of it. Whatever waits goes as one transaction, each job in a
//! savepoint of its own, so that a hundred decisions at once cost one sync and not a hundred. Nothing waits for others to
//! come. Invariants: jobs run in the order they were handed in; who is told that a job is done, finds it on the disk (as
//! far as it asked for that); a job that fails or panics takes only itself back; a sync that failed is the end.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::StoreError;

/// How many jobs may wait. Who comes then waits for room.
const ROOM: usize = 1024;

/// How many jobs are one transaction at most.
const MOST: usize = 256;

/// After so long no further job joins a transaction: the first one waits for its sync.
const LONGEST: Duration = Duration::from_millis(20);

/// What a job is to survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The end of this process. For what a journal can give again.
    Normal,
    /// A loss of power. For what a person entrusts to us.
    Full,
}

/// How much was written since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Jobs that ran, well or not.
    pub jobs: u64,
    /// Transactions that were committed.
    pub transactions: u64,
    /// Those of them that were synced.
    pub synced: u64,
    /// Jobs that wait now.
    pub waiting: u64,
}

/// Tells whoever waits, once it is known whether the transaction is committed.
type Tell = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// What a job left behind.
pub(super) struct Ran {
    /// Why it failed, if it did.
    error: Option<StoreError>,
    tell: Tell,
}

/// Something to be written, and who waits for it.
pub(super) trait Work: Send {
    /// Does it.
    fn run(self: Box<Self>, connection: &Connection) -> Ran;
    /// It is not going to be done.
    fn refuse(self: Box<Self>, error: StoreError);
}

/// A closure, and where its result goes. One that panics is dropped, and so is where its result would have gone.
pub(super) struct Task<T, J, R> {
    job: J,
    reply: R,
    gives: PhantomData<fn() -> T>,
}

impl<T, J, R> Task<T, J, R>
where
    T: Send + 'static,
    J: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    R: FnOnce(Result<T, StoreError>) + Send + 'static,
{
    pub(super) fn boxed(job: J, reply: R) -> Box<dyn Work> {
        Box::new(Self {
            job,
            reply,
            gives: PhantomData,
        })
    }
}

impl<T, J, R> Work for Task<T, J, R>
where
    T: Send + 'static,
    J: FnOnce(&Connection) -> Result<T, StoreError> + Send,
    R: FnOnce(Result<T, StoreError>) + Send + 'static,
{
    fn run(self: Box<Self>, connection: &Connection) -> Ran {
        let Self { job, reply, .. } = *self;
        let done = job(connection);
        Ran {
            error: done.as_ref().err().cloned(),
            tell: Box::new(move |committed| {
                reply(done.and_then(|value| committed.map(|()| value)))
            }),
        }
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        (self.reply)(Err(error));
    }
}

pub(super) struct Job {
    pub(super) how: Durability,
    pub(super) work: Box<dyn Work>,
    /// Its room in the queue. None: a thread stands behind it and waits.
    pub(super) room: Option<OwnedSemaphorePermit>,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    is_closed: bool,
}

#[derive(Default)]
struct Tally {
    jobs: AtomicU64,
    transactions: AtomicU64,
    synced: AtomicU64,
}

struct Shared {
    waiting: Mutex<Waiting>,
    came: Condvar,
    room: Arc<Semaphore>,
    tally: Tally,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to the thread.
pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    id: ThreadId,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            came: Condvar::new(),
            room: Arc::new(Semaphore::new(ROOM)),
            tally: Tally::default(),
        });
        let desk = Desk {
            connection,
            shared: Arc::clone(&shared),
            how: None,
            failed: None,
        };
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                let _end = AtEnd(Arc::clone(&desk.shared));
                desk.work();
            })
            .map_err(|error| StoreError::io("no thread for the database", error))?;
        Ok(Self {
            id: thread.thread().id(),
            shared,
            thread: Some(thread),
        })
    }

    /// Room for one job.
    pub(super) async fn room(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let room = Arc::clone(&self.shared.room).acquire_owned().await;
        room.map_err(|_| StoreError::Closed)
    }

    /// Room for one job, if there is some now.
    pub(super) fn room_now(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.shared.room).try_acquire_owned().ok()
    }

    pub(super) fn push(&self, job: Job) -> Result<(), StoreError> {
        let mut waiting = self.shared.waiting();
        if waiting.is_closed {
            return Err(StoreError::Closed);
        }
        waiting.jobs.push_back(job);
        drop(waiting);
        self.shared.came.notify_one();
        Ok(())
    }

    /// Whether this is the writing thread, which cannot wait for itself.
    pub(super) fn is_here(&self) -> bool {
        std::thread::current().id() == self.id
    }

    pub(super) fn counts(&self) -> Counts {
        let tally = &self.shared.tally;
        Counts {
            jobs: tally.jobs.load(Ordering::Relaxed),
            transactions: tally.transactions.load(Ordering::Relaxed),
            synced: tally.synced.load(Ordering::Relaxed),
            waiting: self.shared.waiting().jobs.len() as u64,
        }
    }
}

/// What waits is still written; then the database is closed.
impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.waiting().is_closed = true;
        self.shared.came.notify_one();
        // A job may hold the last handle.
        let thread = self.thread.take().filter(|_| !self.is_here());
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writer of the database panicked");
        }
    }
}

/// However the thread ends: nobody is left waiting for it.
struct AtEnd(Arc<Shared>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        waiting.is_closed = true;
        let jobs = std::mem::take(&mut waiting.jobs);
        drop(waiting);
        for job in jobs {
            job.work.refuse(StoreError::Closed);
        }
        self.0.room.close();
    }
}

/// The thread's own side.
struct Desk {
    connection: Connection,
    shared: Arc<Shared>,
    /// How the connection commits now.
    how: Option<Durability>,
    /// Why nothing is written any more.
    failed: Option<StoreError>,
}

impl Desk {
    fn work(mut self) {
        let mut taken = VecDeque::new();
        while self.take(&mut taken) {
            self.write(&mut taken);
        }
    }

    /// Everything that waits, up to a number; waits for the first. False: it is over.
    fn take(&self, taken: &mut VecDeque<Job>) -> bool {
        let mut waiting = self.shared.waiting();
        while taken.is_empty() && waiting.jobs.is_empty() {
            if waiting.is_closed {
                return false;
            }
            let came = self.shared.came.wait(waiting);
            waiting = came.unwrap_or_else(PoisonError::into_inner);
        }
        let many = waiting.jobs.len().min(MOST.saturating_sub(taken.len()));
        taken.extend(waiting.jobs.drain(..many));
        true
    }

    /// One transaction of what was taken. What is left when it has run for long stays for the next.
    fn write(&mut self, taken: &mut VecDeque<Job>) {
        let how = taken.iter().map(|job| job.how).max();
        if let Err(error) = self.begin(how.unwrap_or(Durability::Full)) {
            for job in taken.drain(..) {
                job.work.refuse(error.clone());
            }
            return;
        }
        let start = Instant::now();
        let (mut told, mut lost) = (Vec::new(), None);
        while let Some(job) = taken.pop_front() {
            let (tell, error) = self.run(job);
            told.extend(tell);
            if self.connection.is_autocommit() {
                // SQLite took everything back by itself, as it may when there is no room. Nobody was told otherwise yet.
                lost = Some(error.unwrap_or_else(ended_by_job));
                break;
            }
            if start.elapsed() > LONGEST {
                break;
            }
        }
        let committed = match lost {
            Some(error) => Err(error),
            None => self.commit(),
        };
        if let Err(error) = &committed
            && error.is_fatal()
        {
            tracing::error!(%error, "nothing more is written");
            self.failed = Some(error.clone());
        }
        for tell in told {
            tell(committed.clone());
        }
    }

    fn begin(&mut self, how: Durability) -> Result<(), StoreError> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        if self.how != Some(how) {
            let level = match how {
                Durability::Normal => "PRAGMA synchronous = NORMAL",
                Durability::Full => "PRAGMA synchronous = FULL",
            };
            self.connection.execute_batch(level)?;
            self.how = Some(how);
        }
        self.say("BEGIN IMMEDIATE")
    }

    /// One job in a savepoint. None: it panicked, and whoever waits for it sees that nobody answers.
    fn run(&self, job: Job) -> (Option<Tell>, Option<StoreError>) {
        self.shared.tally.jobs.fetch_add(1, Ordering::Relaxed);
        let Job { work, room, .. } = job;
        drop(room);
        if let Err(error) = self.say("SAVEPOINT job") {
            let refused = error.clone();
            return (Some(Box::new(move |_| work.refuse(refused))), Some(error));
        }
        let ran = catch_unwind(AssertUnwindSafe(|| work.run(&self.connection)));
        let (tell, error) = match ran {
            Ok(ran) => (Some(ran.tell), ran.error),
            Err(_) => (None, Some(StoreError::Panicked)),
        };
        // Without a transaction there is no savepoint either.
        if !self.connection.is_autocommit() {
            let ended = match error {
                Some(_) => self
                    .say("ROLLBACK TO job")
                    .and_then(|()| self.say("RELEASE job")),
                None => self.say("RELEASE job"),
            };
            if let Err(error) = ended {
                tracing::warn!(%error, "a job could not be ended on its own");
                let _ = self.say("ROLLBACK");
                return (tell, Some(error));
            }
        }
        (tell, error)
    }

    fn commit(&self) -> Result<(), StoreError> {
        if let Err(error) = self.say("COMMIT") {
            if !self.connection.is_autocommit() {
                let _ = self.say("ROLLBACK");
            }
            return Err(error);
        }
        let tally = &self.shared.tally;
        tally.transactions.fetch_add(1, Ordering::Relaxed);
        if self.how == Some(Durability::Full) {
            tally.synced.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn say(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

fn ended_by_job() -> StoreError {
    StoreError::Invalid("a job ended the transaction it ran in: it may only write".to_owned())
}
