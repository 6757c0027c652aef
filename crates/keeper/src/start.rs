//! Starting a keeper, from the host's side. Blocks.
//!
//! Owns the order of it: the folder is there before a process exists, the order goes through a socket, and the answer is
//! the one line of the launcher. Stores nothing itself: only the keeper, which has the lock, knows what may be replaced.
//! Invariant: no other process can read or write what goes there and comes back.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use countersign_process::Marker;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::folder::Folder;
use crate::guard::{Report, Why};
use crate::order::{KeeperCommand, Order};
use crate::spec::Parcel;
use crate::stray;

/// How long a keeper may take until its agent runs. It syncs its journal before, which a busy disk can hold up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much of the log goes into an error.
const LOG_TAIL: usize = 2_000;

/// A keeper that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// Where it listens.
    pub socket: PathBuf,
    /// The pid of its guard.
    pub guard: u32,
    /// Its own.
    pub keeper: u32,
}

/// Why no agent runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another keeper, or an agent, is there.
    #[error("this session is kept already ({0}): attach to it, or recover it")]
    Busy(String),
    /// The generation was used.
    #[error("generation {0} of this session was started before: start the next generation")]
    Generation(u32),
    /// The agent's program could not be started. The generation is used.
    #[error("the agent cannot be started: {0}")]
    Agent(String),
    /// The keeper could not do its work.
    #[error("the keeper cannot start: {0}")]
    Failed(String),
    /// The keeper ended, or said nothing for a minute.
    #[error("the keeper said nothing; its log ends with: {0}")]
    Silent(String),
    /// The folder, or the keeper's program.
    #[error("cannot start a keeper ({what}): {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

fn io_error(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |source| StartError::Io { what, source }
}

/// Starts the agent of `order` under a keeper, and returns when it runs or it is known why not.
///
/// A start that was cut off before the generation stood in the journal leaves it free: it may be tried again, with another
/// order, too.
///
/// # Errors
/// When no agent was started. [`StartError::Silent`] leaves open whether one was: look at the folder.
pub fn start(keeper: &KeeperCommand, order: &Order) -> Result<Started, StartError> {
    let order = &whole(order).map_err(io_error("a folder of the order"))?;
    let folder = Folder::make(&order.dir).map_err(io_error("the session's folder"))?;
    // Its lock would say so, had it not been removed.
    if order.generation > 1 && !folder.keeper_lock().exists() && stray::of(folder.path()).is_some()
    {
        let why = "the folder of its keeper was removed, and the keeper still runs";
        return Err(StartError::Busy(why.to_owned()));
    }
    let parcel = serde_json::to_vec(&Parcel::of(order))
        .map_err(|error| io_error("the order")(error.into()))?;
    let Launched {
        mut launcher,
        mut stdin,
        stdout,
    } = spawn(keeper, &folder, order.generation)?;
    // A keeper that refuses does not read it; it says why.
    let _ = stdin.write_all(&parcel);
    drop(stdin);
    let said = first_line(stdout);
    // The launcher has said all it will, or is stuck and to be ended; nobody else is its parent.
    let _ = launcher.kill();
    let _ = launcher.wait();
    let report = said.map_err(io_error("the keeper's answer"))?;
    match report {
        None => Err(StartError::Silent(log_tail(&folder))),
        Some(Report::Ready {
            socket,
            guard,
            keeper,
        }) => Ok(Started {
            socket,
            guard,
            keeper,
        }),
        Some(Report::Refused { why, text }) => Err(match why {
            Why::Busy => StartError::Busy(text),
            Why::Generation => StartError::Generation(order.generation),
            Why::Agent => StartError::Agent(text),
            Why::Failed => StartError::Failed(text),
        }),
    }
}

/// The order with paths that mean the same in any folder: the keeper leaves this one.
fn whole(order: &Order) -> io::Result<Order> {
    let mut order = order.clone();
    for path in [&mut order.dir, &mut order.run, &mut order.cwd] {
        *path = std::path::absolute(&path)?;
    }
    Ok(order)
}

/// A launcher and our ends of its streams.
struct Launched {
    launcher: Child,
    stdin: UnixStream,
    stdout: UnixStream,
}

fn spawn(keeper: &KeeperCommand, folder: &Folder, generation: u32) -> Result<Launched, StartError> {
    let sockets = || Ok((UnixStream::pair()?, UnixStream::pair()?));
    // A pipe could be opened in `/proc/PID/fd` by every process of the user: the order says what is run, and holds secrets.
    let ((stdin, order), (stdout, answer)) = sockets().map_err(io_error("a socket"))?;
    let log = File::options()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(folder.log())
        .map_err(io_error("the log"))?;
    let temp = std::env::var_os("TMPDIR").map(|value| ("TMPDIR".into(), value));
    // A host that an agent has started for itself: its keepers take that agent's processes for people.
    let around = std::env::var_os(Marker::NAME).map(|value| (Marker::NAME, value));
    let mut command = Command::new(&keeper.program);
    // The keeper and all that it starts have the limit that the host was started with, not the one it gave itself.
    countersign_process::give_back_descriptor_limit(&mut command);
    command
        .args(&keeper.args)
        .arg("--dir")
        .arg(folder.path())
        .arg("--generation")
        .arg(generation.to_string())
        .env_clear()
        .envs(temp.into_iter().chain(keeper.env.iter().cloned()))
        .envs(around)
        .env(Marker::KEEPER, "1")
        .stdin(OwnedFd::from(order))
        .stdout(OwnedFd::from(answer))
        .stderr(log);
    let launcher = command.spawn();
    // With it our copies of the launcher's ends.
    drop(command);
    Ok(Launched {
        launcher: launcher.map_err(io_error("the keeper's program"))?,
        stdin,
        stdout,
    })
}

/// What the launcher says, or None if it ends or stays silent.
fn first_line(mut stdout: UnixStream) -> io::Result<Option<Report>> {
    let until = Instant::now() + PATIENCE;
    let mut line = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).unwrap_or_default();
        let mut fds = [PollFd::new(&stdout, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 4096];
        let read = stdout.read(&mut bytes)?;
        line.extend_from_slice(&bytes[..read]);
        if read == 0 || line.ends_with(b"\n") {
            return Ok(serde_json::from_slice(&line).ok());
        }
    }
}

fn log_tail(folder: &Folder) -> String {
    let log = std::fs::read(folder.log()).unwrap_or_default();
    let from = log.len().saturating_sub(LOG_TAIL);
    String::from_utf8_lossy(&log[from..]).trim().to_owned()
}
