//! A host of the fault suite as a process: its orders, its sessions, the ways in which it goes.
//!
//! Owns what the suite plays around the host in `host/`, which knows nothing of it but its seam. It tells what happens as
//! one JSON object a line on stdout.

mod onlooker;
mod orders;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::host::store::Store;
use crate::host::{Failed, Host, task};
use onlooker::{Onlooker, Open};
use orders::{Leave, Orders};

/// What tells one build from another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Build {
    pub(crate) name: &'static str,
    pub(crate) notes_more: bool,
}

/// Another host holds the folder.
const HELD: u8 = 75;
/// An agent or its keeper went first.
const OVER: u8 = 3;

fn tell(event: &str, mut more: Value) {
    more["event"] = json!(event);
    // The suite may have stopped reading; that is no reason to stop.
    let _ = writeln!(std::io::stdout(), "{more}");
}

pub(crate) fn main(build: Build) -> ExitCode {
    let orders = std::env::args_os().nth(1).unwrap_or_default();
    let orders = std::fs::read(&orders).expect("the file of the orders");
    let orders: Orders = serde_json::from_slice(&orders).expect("orders");
    let Some(store) = Store::take(&orders.state, orders.past_the_lock) else {
        tell("already running", json!({}));
        return ExitCode::from(HELD);
    };
    tell("started", json!({"build": build.name}));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(run(build, Arc::new(orders), Arc::new(store)))
}

/// Whatever ends this lets go of every session: by returning, by a panic, by a signal.
async fn run(build: Build, orders: Arc<Orders>, store: Arc<Store>) -> ExitCode {
    let open = Arc::new(Open::default());
    let look_after = |index| {
        let onlooker = Onlooker {
            build,
            orders: Arc::clone(&orders),
            index,
            open: Arc::clone(&open),
            heard: Mutex::new(None),
        };
        let host = Host {
            task: Arc::new(orders.sessions[index].clone()),
            keeper: orders.keeper_command(),
            store: Arc::clone(&store),
            seam: Arc::new(onlooker),
        };
        tokio::spawn(look_after(host, index, orders.leave))
    };
    let sessions: Vec<_> = (0..orders.sessions.len()).map(look_after).collect();
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
    let enough_open = async {
        match orders.leave {
            Leave::PanicAt(enough) | Leave::ReturnAt(enough) => open.reach(enough).await,
            _ => std::future::pending().await,
        }
    };
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .expect("a signal handler");
    tokio::select! {
        code = all => code,
        _ = term.recv() => ExitCode::SUCCESS,
        () = enough_open => match orders.leave {
            Leave::PanicAt(_) => panic!("as ordered"),
            _ => ExitCode::SUCCESS,
        },
    }
}

/// The work on one session. At its end the agent is let go of, and lives on, unless it is told otherwise.
async fn look_after(host: Host, index: usize, leave: Leave) -> Result<(), Failed> {
    let mut post = host.come_in().await?;
    post.say_all().await?;
    tell("done", json!({"session": index}));
    match leave {
        Leave::Never => loop {
            post.listen().await?;
        },
        Leave::EndWhenDone => {
            let over = format!("{:?}", post.end().await?);
            tell("ended", json!({"session": index, "how": over}));
            Ok(())
        }
        _ => Ok(()),
    }
}
