//! From the command to the keeper: a launcher that reports and leaves, a guard that waits, and below it the keeper.
//!
//! Owns the two forks and what each process lets go of. The guard does nothing but wait; when the keeper ends, however,
//! it ends whatever is left below it. Both hold `keeper.lock`, one open file: while either lives, it is taken.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_process::{
    Forked, become_subreaper, close_inherited, end_descendants, fork, return_code, return_memory,
};
use rustix::fs::Mode;
use rustix::process::{WaitOptions, umask, wait};
use serde::{Deserialize, Serialize};
use signal_hook::consts::SIGCHLD;

use crate::folder::Folder;
use crate::habits::Habits;
use crate::{keep, lock};

/// The lock is held, or the generation was there: nothing was done, and a second try does not help.
const TAKEN: u8 = 75;

/// How long a guard tries to end what the keeper left. What it may not end by then, nobody of this user can.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the launcher tells the host, one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The agent runs.
    Ready {
        socket: PathBuf,
        guard: u32,
        keeper: u32,
    },
    /// No agent was started.
    Refused { why: Why, text: String },
}

/// Why no agent was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// Another keeper, or an agent, is there.
    Busy,
    /// The generation was used.
    Generation,
    /// The agent's program could not be started.
    Agent,
    /// Anything else.
    Failed,
}

impl Report {
    fn code(&self) -> ExitCode {
        match self {
            Self::Ready { .. } => ExitCode::SUCCESS,
            Self::Refused {
                why: Why::Busy | Why::Generation,
                ..
            } => ExitCode::from(TAKEN),
            Self::Refused { .. } => ExitCode::FAILURE,
        }
    }
}

/// The way to the launcher. It waits until somebody has reported, or all who could have gone.
#[derive(Debug)]
pub(crate) struct Reporter(UnixStream);

impl Reporter {
    pub(crate) fn report(mut self, report: &Report) {
        let mut line = serde_json::to_vec(report).unwrap_or_default();
        line.push(b'\n');
        // A launcher that was killed is no reason to end: a host finds this keeper by its folder.
        let _ = self.0.write_all(&line);
    }

    pub(crate) fn refuse(self, why: Why, text: impl Into<String>) -> ExitCode {
        let text = text.into();
        let report = Report::Refused { why, text };
        self.report(&report);
        report.code()
    }
}

/// Becomes a keeper: `countersign keeper --dir DIR --generation G`, with the order on stdin.
///
/// To be called first thing in `main`, before there are threads. Returns in three processes, and each is to end with
/// the code: the launcher when the agent runs (0) or why it does not is told (75 if the lock is held or the generation
/// was there, else 1); the keeper and its guard when all is over.
pub fn main(dir: &Path, generation: u32, habits: Habits) -> ExitCode {
    launch(dir, generation, habits).unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "keeper: {error}");
        ExitCode::FAILURE
    })
}

fn launch(dir: &Path, generation: u32, habits: Habits) -> io::Result<ExitCode> {
    close_inherited();
    let folder = Folder::new(dir.canonicalize()?);
    // What comes by it says where the keeper is: no other process can open a socket.
    let (told, tell) = UnixStream::pair()?;
    match fork().map_err(io::Error::other)? {
        Forked::Parent { .. } => {
            drop(tell);
            relay(told)
        }
        Forked::Child => {
            drop(told);
            Ok(guard(&folder, generation, habits, Reporter(tell)))
        }
    }
}

/// Passes the report on. No report at all means that guard and keeper died; their log says why.
fn relay(told: UnixStream) -> io::Result<ExitCode> {
    let mut line = String::new();
    BufReader::new(told).read_line(&mut line)?;
    let Ok(report) = serde_json::from_str::<Report>(&line) else {
        return Ok(ExitCode::FAILURE);
    };
    io::stdout().write_all(line.as_bytes())?;
    Ok(report.code())
}

fn guard(folder: &Folder, generation: u32, habits: Habits, reporter: Reporter) -> ExitCode {
    let umask = match detach() {
        Ok(umask) => umask,
        Err(error) => return reporter.refuse(Why::Failed, format!("cannot detach: {error}")),
    };
    if folder.is_on_network() {
        let text = "the folder is on another machine, whose locks prove nothing: use a local one";
        return reporter.refuse(Why::Failed, text);
    }
    if generation == 0 {
        return reporter.refuse(Why::Failed, "generations count from 1: start number 1");
    }
    let lock = match lock::take(&folder.keeper_lock()) {
        Ok(Some(lock)) => lock,
        Ok(None) => return reporter.refuse(Why::Busy, "another keeper has this session"),
        Err(error) => return reporter.refuse(Why::Failed, format!("keeper.lock: {error}")),
    };
    if let Err(error) = folder.forget_keeper_json() {
        return reporter.refuse(Why::Failed, format!("an earlier keeper.json: {error}"));
    }
    let start = keep::Start {
        folder: folder.clone(),
        generation,
        guard: habits.guard.then(std::process::id),
        habits,
        umask,
        lock,
    };
    if start.guard.is_none() {
        return keep::run(start, reporter);
    }
    match fork() {
        Err(error) => reporter.refuse(Why::Failed, error.to_string()),
        Ok(Forked::Child) => keep::run(start, reporter),
        Ok(Forked::Parent { child }) => {
            drop(reporter);
            watch(child)
        }
    }
}

/// Leaves the host's terminal, group, folder, stdout and what it ignores. Returns the mask of file modes that the agent is to have.
fn detach() -> io::Result<Mode> {
    rustix::process::setsid()?;
    become_subreaper()?;
    // Ignored, which is inherited, it would let `wait` return only when all children have ended. The handler does nothing.
    signal_hook::flag::register(SIGCHLD, Arc::default())?;
    rustix::process::chdir("/")?;
    rustix::stdio::dup2_stdout(null()?)?;
    Ok(umask(Mode::RWXG | Mode::RWXO))
}

pub(crate) fn null() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/null")
}

/// Waits for the end of the keeper, then ends what is left.
fn watch(keeper: u32) -> ExitCode {
    // The secrets in it are not for this process.
    let _ = null().map(rustix::stdio::dup2_stdin);
    // It waits as long as the agent lives, and there is one for each agent.
    return_memory();
    return_code();
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, _))) if pid.as_raw_pid().unsigned_abs() == keeper => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    let swept = end_descendants(Instant::now() + PATIENCE);
    for one in &swept.ended {
        let _ = writeln!(
            io::stderr(),
            "guard: the keeper ended and left {one}: ended"
        );
    }
    for one in &swept.survivors {
        let _ = writeln!(io::stderr(), "guard: cannot end {one}");
    }
    ExitCode::SUCCESS
}
