//! What a host finds in a session's folder, and what it does about a keeper that ended without a word.
//!
//! Owns the four answers and the burial. Reads only what locks and the journal say: a process id alone proves nothing.
//! Idempotent: it may be stopped anywhere and run again.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use countersign_journal::{
    AppendError, Exit, KeeperEvent, Limits, OpenError, ProcessName, ReadError, SyncError, Writer,
    survey,
};
use countersign_process::{Marker, Swept, Tree, started};

use crate::folder::Folder;
pub(crate) use crate::folder::KeeperJson;
use crate::lock;
use crate::socket::is_listened_on;
use crate::spec::Spec;
use crate::stray;

/// How long a keeper may hold its lock with nobody behind its socket. It may be about to bind it, or its guard may be
/// ending what it left.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long what a keeper left is tried to be ended.
const END_WITHIN: Duration = Duration::from_secs(5);

/// What was found in a session's folder.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// No agent was ever started.
    Never,
    /// A keeper answers.
    Live(KeeperJson),
    /// The last agent ended, and it is recorded how.
    Ended {
        /// Which.
        generation: u32,
        /// How.
        exit: Exit,
    },
    /// The last keeper ended without a word: [`bury`] it.
    Lost {
        /// Which.
        generation: u32,
    },
    /// A keeper is there and does not answer: look again, and never start another beside it. None if it has not said
    /// who it is: it is still about to begin, and its log says what keeps it.
    Unreachable(Option<KeeperJson>),
}

/// Why a session could not be recovered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// A keeper has the session.
    #[error("a keeper has this session: attach to it, or end it")]
    Kept,
    /// Something of the agent could not be ended.
    #[error("cannot end what the agent left: {0}; end it by hand and try again")]
    Survivors(String),
    /// A lock or a file of the folder.
    #[error("cannot look into the session's folder: {0}")]
    Io(#[from] io::Error),
    /// The journal cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The journal cannot be synced.
    #[error(transparent)]
    Sync(#[from] SyncError),
}

/// Looks at a session's folder. Waits up to five seconds for a keeper that is there and does not answer.
///
/// # Errors
/// When the folder or its journal cannot be read.
pub fn look(dir: &Path) -> Result<Found, RecoverError> {
    let folder = Folder::new(dir);
    let until = Instant::now() + PATIENCE;
    while lock::is_held(&folder.keeper_lock())? || is_stray(&folder) {
        // One that an earlier keeper left says nothing of whoever has the lock.
        let keeper = folder.read_keeper_json().ok();
        let keeper = keeper.filter(KeeperJson::is_of_the_living);
        match keeper {
            Some(keeper) if is_listened_on(&keeper.socket) => return Ok(Found::Live(keeper)),
            keeper if Instant::now() >= until => return Ok(Found::Unreachable(keeper)),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    if !folder.journal().exists() {
        return Ok(Found::Never);
    }
    let carried = survey(&folder.journal())?;
    let generation = carried.generation;
    Ok(match carried.exit {
        _ if generation == 0 => Found::Never,
        Some(exit) => Found::Ended { generation, exit },
        None => Found::Lost { generation },
    })
}

/// Whether a keeper runs whose lock is not there: its folder was removed, or it is about to take it.
fn is_stray(folder: &Folder) -> bool {
    !folder.keeper_lock().exists() && stray::of(folder.path()).is_some()
}

/// Kills a keeper that holds a session and does not answer; its guard ends everything else. Does nothing to a process that is
/// not proved to be that keeper. True: it was killed.
///
/// # Errors
/// When it is there and cannot be killed.
pub fn kill(dir: &Path) -> Result<bool, RecoverError> {
    let Ok(keeper) = Folder::new(dir).read_keeper_json() else {
        return match stray::of(dir) {
            Some(stray) => kill_process(stray.pid, stray.started),
            None => Ok(false),
        };
    };
    let runs = |pid, started| countersign_process::is_running(pid, started) == Some(true);
    for (pid, started) in [
        (keeper.keeper, keeper.started),
        (keeper.guard, keeper.guard_started),
    ] {
        if started == 0 || !keeper.is_of_the_living() || !runs(pid, started) {
            continue;
        }
        if kill_process(pid, started)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Kills the process of that number and start. False: it has gone.
fn kill_process(pid: u32, started: u64) -> Result<bool, RecoverError> {
    let raw = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let Some(raw) = raw else {
        return Ok(false);
    };
    // Held by a descriptor, so that nobody else can have its number when it is killed.
    let flags = rustix::process::PidfdFlags::empty();
    let held = rustix::process::pidfd_open(raw, flags).map_err(io::Error::from)?;
    let runs = countersign_process::is_running(pid, started) == Some(true);
    if runs {
        rustix::process::pidfd_send_signal(&held, rustix::process::Signal::KILL)
            .map_err(io::Error::from)?;
    }
    Ok(runs)
}

/// Ends what a keeper that ended without a word left behind, and says in the journal that it is lost.
///
/// The agent is known by `agent.lock`: if it is free the agent is dead. If it is held, the process that the journal names
/// is ended, if it is still that one (`boot_id`: another boot has other processes), and whatever carries `marker`; without
/// one, the marker of the order is taken. Returns what was ended. Does nothing if the last generation has an end.
///
/// # Errors
/// [`RecoverError::Kept`] if a keeper has the session; otherwise when something could not be ended or written.
pub fn bury(
    dir: &Path,
    boot_id: &str,
    at: u64,
    marker: Option<&Marker>,
) -> Result<Vec<ProcessName>, RecoverError> {
    let folder = Folder::new(dir);
    let Some(_lock) = lock::take(&folder.keeper_lock())? else {
        return Err(RecoverError::Kept);
    };
    let carried = survey(&folder.journal())?;
    if carried.is_ended() {
        return Ok(Vec::new());
    }
    let stored = Spec::load(&folder, carried.generation).ok();
    let stored = stored.and_then(|spec| Marker::new(spec.marker).ok());
    let is_this_boot = carried.boot_id.as_deref() == Some(boot_id);
    let agent = carried
        .agent
        .filter(|agent| is_this_boot && started(agent.pid) == Some(agent.started));
    let mut killed = Vec::new();
    if let Some(marker) = marker.cloned().or(stored).filter(|_| is_this_boot) {
        // A number that no process has: then only the marker finds anybody.
        let root = agent.map_or(u32::MAX, |agent| agent.pid);
        let Swept { ended, survivors } =
            Tree::new(root, marker).kill_all(Instant::now() + END_WITHIN);
        if !survivors.is_empty() {
            let names: Vec<String> = survivors.iter().map(ToString::to_string).collect();
            return Err(RecoverError::Survivors(names.join(", ")));
        }
        killed.extend(ended.into_iter().map(|one| ProcessName {
            pid: one.pid,
            command: one.command,
        }));
    }
    let Some(_agent_lock) = lock::take(&folder.agent_lock())? else {
        let why = "whoever holds agent.lock".to_owned();
        return Err(RecoverError::Survivors(why));
    };
    let (mut writer, _) = Writer::reopen(&folder.journal(), Limits::default())?;
    let lost = KeeperEvent::Lost {
        killed: killed.clone(),
    };
    writer.push_event(at, &lost);
    writer.head(at);
    writer.commit_from_reserve()?;
    writer.sync()?;
    writer.finish();
    Ok(killed)
}
