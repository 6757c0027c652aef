//! The server: the thin shell that carries script and requests over HTTP on loopback.
//!
//! Owns the socket, the shared state and the life of the run; every decision is taken by the pure parts. Invariant:
//! it listens on loopback only, and holds no more of what it was sent than `record` says.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use super::Vars;
use super::handle;
use super::link::{CuttableListener, Link};
use super::record::{self, Log, Outcome, Report, Request};
use super::script::{Script, UnknownVariable};

/// Request bodies read and parsed at once; more wait their turn.
const MAX_BODIES_READ: usize = 8;
/// A conversation with a few images or a 5 MB tool result is tens of megabytes; the API's own limit is 32.
pub(super) const MAX_BODY_BYTES: usize = 128 * 1024 * 1024;
/// How long a shutdown waits for open connections.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// How a server is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// A loopback address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Values for `${name}` in the script.
    pub vars: Vars,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            vars: Vars::new(),
        }
    }
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    #[error(
        "{0} is not a loopback address; the scripted model takes any key and speaks no TLS, so it listens on this machine only: use 127.0.0.1:0 or [::1]:0"
    )]
    NotLoopback(SocketAddr),
    #[error("could not listen on {address}; choose another port, or 0 for a free one")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
    #[error(transparent)]
    UnknownVariable(#[from] UnknownVariable),
}

/// A running scripted model. Dropping it stops it without waiting.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start(script: Script, options: Options) -> Result<Self, StartError> {
        if !options.listen.ip().to_canonical().is_loopback() {
            return Err(StartError::NotLoopback(options.listen));
        }
        script.check(&options.vars)?;
        let failed = |source| StartError::Listen {
            address: options.listen,
            source,
        };
        let listener = TcpListener::bind(options.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopping) = watch::channel(false);
        let shared = Arc::new(Shared::new(script, &options, stopping.clone()));
        let app = Router::new()
            .fallback(handle::handle)
            .with_state(Arc::clone(&shared));
        let serve = axum::serve(
            CuttableListener(listener),
            app.into_make_service_with_connect_info::<Link>(),
        )
        .with_graceful_shutdown(async move {
            let mut stopping = stopping;
            // An error means the server was dropped: that is a stop as well.
            let _ = stopping.wait_for(|stop| *stop).await;
        });
        let task = tokio::spawn(async move {
            // `axum::serve` handles accept errors itself and never returns one.
            let _ = serve.await;
        });
        Ok(Self {
            address,
            shared,
            stop,
            task,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What `ANTHROPIC_BASE_URL` is set to.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything asked so far, as far as it is kept.
    pub fn requests(&self) -> Vec<Request> {
        let snapshot = self.shared.lock().log.snapshot();
        snapshot.into_iter().map(record::with_body).collect()
    }

    pub fn report(&self) -> Report {
        self.shared.report()
    }

    /// Waits until what was asked satisfies `wanted`; `false` if `limit` passes first.
    #[must_use = "`false` means that it never came to it"]
    pub async fn wait_until(&self, limit: Duration, wanted: impl Fn(&Self) -> bool) -> bool {
        let mut changes = self.shared.changes.subscribe();
        let waiting = async {
            loop {
                changes.mark_unchanged();
                if wanted(self) {
                    return true;
                }
                if changes.changed().await.is_err() {
                    return false;
                }
            }
        };
        tokio::time::timeout(limit, waiting).await.unwrap_or(false)
    }

    /// Stops listening, drops what is still streaming, and says what was used.
    pub async fn shutdown(mut self) -> Report {
        self.stop.send_replace(true);
        if tokio::time::timeout(SHUTDOWN_GRACE, &mut self.task)
            .await
            .is_err()
        {
            self.task.abort();
        }
        self.report()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

/// Serves the script until `shutdown` is done. Prints nothing: `on_ready` is told the base URL.
pub async fn serve_until(
    script: Script,
    options: Options,
    shutdown: impl Future<Output = ()>,
    on_ready: impl FnOnce(&str),
) -> Result<Report, StartError> {
    let server = Server::start(script, options).await?;
    on_ready(&server.base_url());
    shutdown.await;
    Ok(server.shutdown().await)
}

/// What all requests share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) script: Script,
    pub(super) started: Instant,
    pub(super) permits: Semaphore,
    pub(super) stopping: watch::Receiver<bool>,
    run: Mutex<Run>,
    changes: watch::Sender<()>,
}

/// What changes from request to request.
#[derive(Debug)]
pub(super) struct Run {
    /// How often each reply was used.
    pub(super) used: Vec<u32>,
    /// The given values, and those taken from requests.
    pub(super) vars: Vars,
    pub(super) log: Log,
}

impl Shared {
    fn new(script: Script, options: &Options, stopping: watch::Receiver<bool>) -> Self {
        let run = Run {
            used: vec![0; script.replies()],
            vars: options.vars.clone(),
            log: Log::default(),
        };
        Self {
            script,
            started: Instant::now(),
            permits: Semaphore::new(MAX_BODIES_READ),
            stopping,
            run: Mutex::new(run),
            changes: watch::Sender::new(()),
        }
    }

    /// A panic elsewhere leaves counts at worst one short: the report is still the best there is.
    fn lock(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the run and wakes who waits for it.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut Run) -> T) -> T {
        let result = change(&mut self.lock());
        self.changes.send_replace(());
        result
    }

    pub(super) fn ended(&self, number: u64, outcome: Outcome) {
        self.update(|run| run.log.ended(number, outcome));
    }

    fn report(&self) -> Report {
        let run = self.lock();
        run.log.report(&self.script, &run.used)
    }
}
