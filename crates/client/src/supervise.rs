//! Watches over one connection from its start to its end.
//!
//! Owns the process, where there is one, and the order of ending it: interrupt, result, close stdin, SIGTERM, SIGKILL,
//! then what it left running. Invariants: whatever ends first (the process, its stdout, the last handle), the session is
//! finished once, after the last line was handed over; a grandchild that holds the pipes open delays that by a moment
//! only; dropped half-way, the process and what came from it are killed.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use countersign_wire::control::Interrupt;
use tempfile::TempPath;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::agent::{self, AgentProcess, Ended, Graces, Rung, Running};
use crate::closed::{Closed, EndedBy};
use crate::kept::Road;
use crate::peer::Shared;
use crate::peer::driver::{self, Source};

/// How long stdout may stay open after the exit. What the CLI itself said is in the pipe by then; who still holds it is
/// somebody it started.
const STDOUT_AFTER_EXIT: Duration = Duration::from_millis(500);

/// How long the exit may come after the end of stdout. The kernel closes the files of a dying process before its exit can
/// be seen; without this moment an agent that died would be taken for one that we ended.
const EXIT_AFTER_STDOUT: Duration = Duration::from_secs(1);

/// The wish to end, with the graces to grant.
pub(crate) type EndWish = watch::Receiver<Option<Graces>>;

type Reader = JoinHandle<Option<io::Error>>;

/// Aborts the reader when the watch ends.
struct ReaderGuard(Reader);

impl Drop for ReaderGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whose process the agent is.
pub(crate) enum Owner {
    /// A child of ours: it ends with the session.
    Us(Box<AgentProcess>),
    /// Another process keeps it: it outlives the session.
    Keeper(Arc<dyn Road>),
    /// There is none, or none that we know of.
    Nobody,
}

/// Runs the connection to its end. The files that the agent reads go when it has gone.
///
/// Its state is there as long as the session, so what happens once, at the end, is kept apart.
pub(crate) async fn supervise(
    shared: Arc<Shared>,
    source: Source,
    owner: Owner,
    graces: Graces,
    wish: EndWish,
    files: Vec<TempPath>,
) {
    let reading = Arc::clone(&shared);
    let reader = tokio::spawn(async move { driver::read(&reading, source).await });
    let mut reader = ReaderGuard(reader);
    let finish = FinishOnDrop(&shared);
    let closed = match owner {
        Owner::Us(process) => watch_process(&shared, &mut reader, process, &graces, wish).await,
        Owner::Nobody => watch_stream(&shared, &mut reader, &graces, wish).await,
        Owner::Keeper(road) => watch_kept(&shared, &mut reader, &*road, wish).await,
    };
    drop(reader);
    shared.finish(closed);
    drop(finish);
    drop(files);
}

/// When the runtime ends and takes this task with it, whoever waits elsewhere still learns it.
struct FinishOnDrop<'a>(&'a Shared);

impl Drop for FinishOnDrop<'_> {
    fn drop(&mut self) {
        self.0.finish(Closed {
            transport: Some("the runtime of the session ended".to_owned()),
            ..Closed::default()
        });
    }
}

async fn watch_process(
    shared: &Arc<Shared>,
    reader: &mut ReaderGuard,
    mut process: Box<AgentProcess>,
    graces: &Graces,
    mut wish: EndWish,
) -> Closed {
    let asked = tokio::select! {
        _ = process.wait() => None,
        wanted = wanted(&mut wish, shared) => Some(wanted.unwrap_or(*graces)),
        // A CLI that closed its stdout says no more: it is over, or has to be.
        _ = &mut reader.0 => match timeout(EXIT_AFTER_STDOUT, process.wait()).await {
            Ok(_) => None,
            Err(_) => Some(Graces { interrupt: Duration::ZERO, result: Duration::ZERO, ..*graces }),
        },
    };
    let mut ended_by = None;
    let mut swept = 0;
    if let Some(graces) = asked {
        let ended = Box::pin(end_process(shared, &mut process, graces, &mut wish)).await;
        swept += ended.swept.ended.len();
        ended_by = match ended.rung {
            Rung::StdinClosed => Some(EndedBy::Eof),
            Rung::Terminated => Some(EndedBy::Term),
            Rung::Killed | Rung::Stuck => Some(EndedBy::Kill),
            _ => None,
        };
    }
    let exit = process.exit().unwrap_or_default();
    if !reader.0.is_finished() {
        let _ = timeout(STDOUT_AFTER_EXIT, &mut reader.0).await;
    }
    swept += process.sweep().await.ended.len();
    Closed {
        code: exit.code,
        signal: exit.signal,
        ended_by,
        stderr: process.stderr(),
        errors: shared.known().take_errors(),
        swept,
        transport: None,
    }
}

/// Brings the process to its end, step by step. Who asks again, with less patience, is heard.
async fn end_process(
    shared: &Arc<Shared>,
    process: &mut AgentProcess,
    mut graces: Graces,
    wish: &mut EndWish,
) -> Ended {
    let was_quiet = tokio::select! {
        was_quiet = settle(shared, &graces) => was_quiet,
        _ = process.wait() => true,
        hurried = another(wish) => {
            graces = hurried;
            false
        }
    };
    // Up to 2.1.197 a closed stdin turns the denials of hooks into permissions.
    let is_killed_first = !was_quiet && fails_open(shared);
    if is_killed_first {
        process.kill();
    }
    loop {
        let outbox = Arc::clone(shared.outbox());
        let mut running = Running {
            process: &mut *process,
            close: move || outbox.close(),
            background: shared.known().has_background_work(),
        };
        tokio::select! {
            mut ended = agent::end(&mut running, &graces) => {
                if is_killed_first {
                    ended.rung = Rung::Killed;
                }
                return ended;
            }
            hurried = another(wish) => graces = hurried,
        }
    }
}

/// Waits for a later wish.
async fn another(wish: &mut EndWish) -> Graces {
    loop {
        if wish.changed().await.is_err() {
            return std::future::pending().await;
        }
        if let Some(graces) = *wish.borrow_and_update() {
            return graces;
        }
    }
}

/// A connection without a process of ours.
async fn watch_stream(
    shared: &Arc<Shared>,
    reader: &mut ReaderGuard,
    graces: &Graces,
    mut wish: EndWish,
) -> Closed {
    let broken = tokio::select! {
        broken = &mut reader.0 => broken.ok().flatten(),
        wanted = wanted(&mut wish, shared) => {
            let graces = wanted.unwrap_or(*graces);
            Box::pin(settle(shared, &graces)).await;
            shared.outbox().close();
            match timeout(graces.close, &mut reader.0).await {
                Ok(broken) => broken.ok().flatten(),
                Err(_) => None,
            }
        }
    };
    Closed {
        errors: shared.known().take_errors(),
        transport: broken.map(|error| error.to_string()),
        ..Closed::default()
    }
}

/// An agent that another process keeps. Letting go of it is no reason to end it.
async fn watch_kept(
    shared: &Arc<Shared>,
    reader: &mut ReaderGuard,
    road: &dyn Road,
    mut wish: EndWish,
) -> Closed {
    let broken = tokio::select! {
        broken = &mut reader.0 => broken.ok().flatten(),
        wanted = wanted(&mut wish, shared) => {
            let Some(graces) = wanted else {
                return Closed {
                    transport: Some("the session was let go of; its agent is kept".to_owned()),
                    ..Closed::default()
                };
            };
            road.end(graces);
            loop {
                tokio::select! {
                    broken = &mut reader.0 => break broken.ok().flatten(),
                    hurried = another(&mut wish) => road.end(hurried),
                }
            }
        }
    };
    let exit = road.exit();
    let has_ended = exit.is_some();
    let exit = exit.unwrap_or_default();
    let silence = || "the connection to the keeper ended; the agent may still run".to_owned();
    let transport = broken.map(|error| error.to_string());
    Closed {
        code: exit.code,
        signal: exit.signal,
        ended_by: exit.ended_by,
        stderr: exit.stderr,
        errors: shared.known().take_errors(),
        swept: exit.swept,
        transport: transport.or_else(|| (!has_ended).then(silence)),
    }
}

/// Waits until somebody wants the end: by asking for it, with graces of its own, or by letting go of the last handle.
async fn wanted(wish: &mut EndWish, shared: &Shared) -> Option<Graces> {
    let asked = async {
        loop {
            if let Some(graces) = *wish.borrow_and_update() {
                return graces;
            }
            if wish.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    };
    tokio::select! {
        graces = asked => Some(graces),
        () = shared.abandoned() => None,
    }
}

/// Ends what runs before stdin is closed. False: something still runs, or would.
///
/// Older CLIs keep their queue over an interrupt, so a queued message becomes the next turn to interrupt.
async fn settle(shared: &Arc<Shared>, graces: &Graces) -> bool {
    if !is_busy(shared) {
        return true;
    }
    if graces.interrupt.is_zero() {
        return false;
    }
    let drops_queue = shared.known().capabilities().interrupt_cancels_queued();
    let until = Instant::now() + graces.interrupt + graces.result;
    loop {
        let interrupt = Interrupt {
            cancel_queued: drops_queue.then_some(true),
            ..Interrupt::default()
        };
        let (was_in_turn, results) = {
            let known = shared.known();
            (known.is_in_turn(), known.results())
        };
        shared.turns().interrupted();
        let asking = shared.ask("interrupt", interrupt.into(), graces.interrupt);
        if asking.await.is_err() {
            return false;
        }
        // By now the queued one may run already: that is not the turn that was interrupted.
        let over = shared.until(|shared| {
            let known = shared.known();
            !was_in_turn || !known.is_in_turn() || known.results() > results
        });
        if timeout_at(until, over).await.is_err() {
            return false;
        }
        // What is queued starts in a moment, or was dropped.
        let moved = shared.until(|shared| shared.known().is_in_turn() || !is_busy(shared));
        match timeout_at(until, moved).await {
            Ok(Ok(())) if !is_busy(shared) => return true,
            Ok(Ok(())) if Instant::now() < until => {}
            Ok(Err(_)) => return true,
            _ => return false,
        }
    }
}

/// Whether something runs, is queued or is asked; and where a closed stdin would let calls pass that a hook denies,
/// whether something would start a turn by itself.
fn is_busy(shared: &Shared) -> bool {
    shared.known().is_in_turn()
        || shared.turns().open() > 0
        || shared.questions().count() > 0
        || (fails_open(shared) && shared.known().has_background_work())
}

fn fails_open(shared: &Shared) -> bool {
    shared.has_hooks()
        && shared
            .known()
            .capabilities()
            .hook_fails_open_on_stdin_close()
}
