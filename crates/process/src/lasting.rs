//! A thread that lasts as long as the process, to start children from.
//!
//! The kernel's parent-death signal is tied to the *thread* that forked, not to its process: it is sent when
//! that thread ends, however well its process lives on. Runtimes end their threads as they like: a worker when
//! the runtime is dropped, a blocking thread after seconds of idleness. So whoever uses
//! [`die_with_parent`](crate::die_with_parent) starts the child on this thread, which is started with the first
//! child and never ends; or on the first thread of the process, whose end is that of the process. Owns the thread that
//! lasts and nothing else.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

/// The thread's name, as debuggers and `top -H` show it.
const NAME: &str = "countersign-spawn";

/// How many may queue before the next caller waits for a place. Each of them waits for its answer anyway.
const QUEUE: usize = 16;

type Job = Box<dyn FnOnce() + Send>;

/// Why a closure gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LastingError {
    /// The thread could not be started.
    #[error(
        "cannot start the thread that starts agents: the limit of threads or memory is reached"
    )]
    NoThread(#[source] std::io::Error),
    /// The closure panicked; the thread goes on.
    #[error("what ran on the thread that starts agents panicked: {0}")]
    Panicked(String),
}

struct Worker {
    /// The process that has the thread. A fork copies this value but not the thread.
    process: u32,
    jobs: SyncSender<Job>,
}

static WORKER: Mutex<Option<Worker>> = Mutex::new(None);

/// Runs `work` on the lasting thread and waits for its result. Meant for work of a millisecond, such as a
/// spawn: one runs after the other. Called from the lasting thread itself, or from the first thread of the process, it
/// runs `work` right there.
pub fn run<T, W>(work: W) -> Result<T, LastingError>
where
    T: Send + 'static,
    W: FnOnce() -> T + Send + 'static,
{
    if is_first() || std::thread::current().name() == Some(NAME) {
        return guarded(work);
    }
    let (answer, answered) = sync_channel(1);
    let job: Job = Box::new(move || {
        // Whoever asked waits below, so the answer is always taken.
        let _ = answer.send(guarded(work));
    });
    // Both fail only if the thread is gone, and it ends with the process.
    let gone = || LastingError::Panicked("the thread is gone".to_owned());
    jobs()?.send(job).map_err(|_| gone())?;
    answered.recv().unwrap_or_else(|_| Err(gone()))
}

/// Whether this is the thread that the process began with: it has the number of the process.
#[cfg(target_os = "linux")]
fn is_first() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// Where there is no death signal, nothing hangs on a thread; one way for all of them is enough.
#[cfg(not(target_os = "linux"))]
fn is_first() -> bool {
    false
}

fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, LastingError> {
    // Nothing of the closure is seen again after a panic, so nothing broken is.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| LastingError::Panicked(said(&*payload)))
}

fn said(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

fn jobs() -> Result<SyncSender<Job>, LastingError> {
    let mut worker = WORKER.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some(running) = worker.as_ref().filter(|worker| worker.process == process) {
        return Ok(running.jobs.clone());
    }
    let (jobs, queue) = sync_channel::<Job>(QUEUE);
    std::thread::Builder::new()
        .name(NAME.to_owned())
        .spawn(move || queue.into_iter().for_each(|job| job()))
        .map_err(LastingError::NoThread)?;
    *worker = Some(Worker {
        process,
        jobs: jobs.clone(),
    });
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> std::thread::ThreadId {
        std::thread::current().id()
    }

    #[test]
    fn every_caller_gets_the_same_thread_and_its_own_answer() {
        let first = run(here).unwrap();
        assert_ne!(first, here());
        let callers: Vec<_> = (0..50)
            .map(|n| std::thread::spawn(move || run(move || (n, here())).unwrap()))
            .collect();
        for (n, caller) in callers.into_iter().enumerate() {
            assert_eq!(caller.join().unwrap(), (n, first));
        }
    }

    #[test]
    fn a_thread_that_ends_is_not_taken_for_the_first_one() {
        let answer = std::thread::spawn(|| (is_first(), here(), run(here).unwrap()));
        let (is_first, asked, ran) = answer.join().unwrap();
        assert!(!is_first && asked != ran);
    }

    #[test]
    fn a_panic_is_an_error_and_the_thread_goes_on() {
        let before = run(here).unwrap();
        let failed = run(|| -> u8 { panic!("no luck with {}", 7) });
        assert!(failed.unwrap_err().to_string().ends_with("no luck with 7"));
        assert_eq!(run(here).unwrap(), before);
    }

    #[test]
    fn a_call_from_the_thread_itself_does_not_wait_for_itself() {
        assert_eq!(run(|| run(|| 5).unwrap()).unwrap(), 5);
    }
}
