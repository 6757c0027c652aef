//! A small host over the keeper transport: recovers its sessions, says its messages, answers questions, may die anywhere.
//!
//! Owns the order of a host's own writes: a line is in the outbox before it is put, a decision on the disk before it is
//! answered. Everything it does can be done again by the next host, since numbers and question ids say what was done.
//! It tells what happens as one JSON object a line on stdout.

mod conversation;
mod file;
mod launch;
pub(crate) mod orders;
mod session;
mod story;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::Notify;

use file::{State, die};
use orders::{Leave, Orders, Step};

/// What tells one build from another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Build {
    pub(crate) name: &'static str,
    pub(crate) notes_more: bool,
}

/// Why a session is not looked after any more.
type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Another host holds the folder.
const HELD: u8 = 75;
/// An agent or its keeper went first.
const OVER: u8 = 3;

struct Host {
    build: Build,
    orders: Orders,
    state: State,
    epoch: u64,
    open: AtomicUsize,
    held: Notify,
}

fn tell(event: &str, mut more: Value) {
    more["event"] = json!(event);
    // The suite may have stopped reading; that is no reason to stop.
    let _ = writeln!(std::io::stdout(), "{more}");
}

pub(crate) fn main(build: Build) -> ExitCode {
    let orders = std::env::args_os().nth(1).unwrap_or_default();
    let orders = std::fs::read(&orders).expect("the file of the orders");
    let orders: Orders = serde_json::from_slice(&orders).expect("orders");
    let Some(state) = State::take(&orders.state, orders.past_the_lock) else {
        tell("already running", json!({}));
        return ExitCode::from(HELD);
    };
    let epoch = state.next_epoch();
    tell("started", json!({"build": build.name, "epoch": epoch}));
    let host = Arc::new(Host {
        build,
        orders,
        state,
        epoch,
        open: AtomicUsize::new(0),
        held: Notify::new(),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(run(host))
}

/// Whatever ends this lets go of every session: by returning, by a panic, by a signal.
async fn run(host: Arc<Host>) -> ExitCode {
    let sessions: Vec<_> = (0..host.orders.sessions.len())
        .map(|index| tokio::spawn(session::look_after(Arc::clone(&host), index)))
        .collect();
    let all = async {
        let mut code = ExitCode::SUCCESS;
        for session in sessions {
            match session.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tell("over", json!({"why": error.to_string()}));
                    code = ExitCode::from(OVER);
                }
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
        code
    };
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .expect("a signal handler");
    tokio::select! {
        code = all => code,
        _ = term.recv() => ExitCode::SUCCESS,
        () = host.enough_open() => match host.orders.leave {
            Leave::PanicAt(_) => panic!("as ordered"),
            _ => ExitCode::SUCCESS,
        },
    }
}

impl Host {
    /// Waits until so many questions are open that it is time to go.
    async fn enough_open(&self) {
        let (Leave::PanicAt(enough) | Leave::ReturnAt(enough)) = self.orders.leave else {
            return std::future::pending().await;
        };
        while self.open.load(Ordering::SeqCst) < enough {
            self.held.notified().await;
        }
    }

    fn reached(&self, step: Step) {
        if self.orders.die == Some(step) {
            die();
        }
    }
}
