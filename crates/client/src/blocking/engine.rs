//! The runtime below a blocking session: one thread of its own, on which everything async happens.
//!
//! Owns [`Engine`]. The caller's thread waits, the engine's thread works. Invariants: waiting inside an async runtime is
//! an error, never a panic; when the last holder lets go, the agent is ended before the call returns.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread, ThreadId};

use tokio::runtime::{Builder, Handle as RuntimeHandle, Runtime};
use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::peer::Shared;

/// Why a blocking call cannot wait.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockingError {
    /// The thread belongs to an async runtime, which would stand still.
    #[error(
        "a blocking call inside an async runtime would stop it: use the async API there, or a thread of its own"
    )]
    InRuntime,
    /// The runtime below could not be started.
    #[error("the runtime below the blocking API does not start: {0}")]
    NoRuntime(std::io::Error),
}

/// The thread and the runtime that drive one session.
pub(super) struct Engine {
    runtime: RuntimeHandle,
    /// Lets the thread end, once the agent of this session has.
    stop: Option<oneshot::Sender<Option<Arc<Shared>>>>,
    thread: Option<JoinHandle<()>>,
    thread_id: ThreadId,
    /// The session that is driven, once there is one.
    session: Mutex<Option<Arc<Shared>>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("thread", &self.thread_id)
            .finish_non_exhaustive()
    }
}

impl Engine {
    pub(super) fn start() -> Result<Arc<Self>> {
        if RuntimeHandle::try_current().is_ok() {
            return Err(BlockingError::InRuntime.into());
        }
        let build = Builder::new_current_thread().enable_all().build();
        let runtime = build.map_err(BlockingError::NoRuntime)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("countersign".to_owned())
            .spawn(move || drive(runtime, stopped))
            .map_err(BlockingError::NoRuntime)?;
        let thread_id = thread.thread().id();
        Ok(Arc::new(Self {
            runtime: handle,
            stop: Some(stop),
            thread: Some(thread),
            thread_id,
            session: Mutex::default(),
        }))
    }

    /// The session to see to its end.
    pub(super) fn drives(&self, session: &Arc<Shared>) {
        let mut slot = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(Arc::clone(session));
    }

    /// Runs a future on the engine's thread and waits for it. The agent is started this way: on Linux a child may be
    /// tied to the life of the thread that started it.
    pub(super) fn run<T, F>(&self, future: F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let running = self.runtime.spawn(future);
        match self.wait(running)? {
            Ok(result) => result,
            Err(_) => Err(Error::Closed(Arc::default())),
        }
    }

    /// Waits for a future on the caller's thread, with the engine's timers.
    pub(super) fn wait<F: Future>(&self, future: F) -> Result<F::Output> {
        if let Ok(current) = RuntimeHandle::try_current() {
            // Plain handlers run on threads that belong to the engine and may wait.
            let is_own = current.id() == self.runtime.id();
            if !is_own || thread::current().id() == self.thread_id {
                return Err(BlockingError::InRuntime.into());
            }
        }
        let _timers = self.runtime.enter();
        Ok(park_on(future))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let session = session.clone();
        // Not left to the last handle: a handle of the async kind may be held by this very thread.
        if let Some(session) = &session {
            session.abandon();
        }
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(session);
        }
        // A callback may hold the last handle: its own thread cannot wait for itself.
        let is_inside = RuntimeHandle::try_current().is_ok();
        if let Some(thread) = self.thread.take().filter(|_| !is_inside) {
            let _ = thread.join();
        }
    }
}

/// The engine's thread: works until it is let go and the agent has ended.
fn drive(runtime: Runtime, stopped: oneshot::Receiver<Option<Arc<Shared>>>) {
    runtime.block_on(async {
        if let Ok(Some(session)) = stopped.await {
            session.ended().await;
        }
    });
    // Plain handlers that never come back must not hold the program.
    runtime.shutdown_background();
}

/// Wakes the thread that waits.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn park_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            // Unparked too early, it is polled once more; that is all.
            Poll::Pending => thread::park(),
        }
    }
}
