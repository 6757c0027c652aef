//! The setup script of a worktree.
//!
//! Owns its process, its time, its output and whatever it leaves running. Knows nothing of git. Invariants: it ends within
//! its limit, and nothing it started outlives it: a server that a session needs belongs into the session; its output is
//! always read, and kept up to a bound.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use countersign_process::{Marker, Tree};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::timeout;

use super::git::spawn;
use super::{Worktree, WorktreeError};

/// How much of the output is written to the log.
const MOST_LOGGED: usize = 4 * 1024 * 1024;

/// How much of the end of the output is told.
const TAIL: usize = 8 * 1024;

/// How long what a script left running may take to die, and its output to end.
const SWEEP: Duration = Duration::from_secs(5);

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupEnd {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was ended after this time.
    TimedOut(Duration),
}

impl SetupEnd {
    /// Whether it did what it was to do.
    pub fn is_good(self) -> bool {
        self == Self::Code(0)
    }

    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or(0)),
        }
    }
}

impl fmt::Display for SetupEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut(after) => write!(f, "did not end within {after:?} and was ended"),
        }
    }
}

/// What a script did.
#[derive(Debug, Clone)]
pub struct SetupReport {
    /// How it ended.
    pub end: SetupEnd,
    /// The end of its output, stdout and stderr as they came.
    pub tail: String,
    /// Where its output is, up to a bound, if a new file could be made there. It goes with the worktree.
    pub log: PathBuf,
    /// How long it took.
    pub took: Duration,
    /// What it had left running, and was ended: names of programs.
    pub ended: Vec<String>,
}

/// A script that did not do what it was to do.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the setup script {end}, so the session did not start; {}\n{tail}", next(.kept))]
pub struct SetupFailed {
    /// How it ended.
    pub end: SetupEnd,
    /// The end of its output.
    pub tail: String,
    /// The worktree, if it holds more than what was checked out.
    pub kept: Option<Worktree>,
}

fn next(kept: &Option<Worktree>) -> String {
    match kept {
        Some(kept) => format!(
            "what it made is kept in {} on {}: correct the script and start again",
            kept.path.display(),
            kept.branch
        ),
        None => {
            "nothing was left behind but what lies in the trash: correct the script and start again"
                .to_owned()
        }
    }
}

/// What a script sees: what git sees, the session's own variables, and where it is.
pub(super) fn environment(
    given: &[(OsString, OsString)],
    session: &BTreeMap<String, String>,
    worktree: &Worktree,
) -> Vec<(OsString, OsString)> {
    let mut env: BTreeMap<OsString, OsString> = given.iter().cloned().collect();
    let own = session.iter();
    env.extend(own.map(|(name, value)| (name.into(), value.into())));
    env.extend([
        (
            "COUNTERSIGN_REPOSITORY".into(),
            worktree.repo.clone().into_os_string(),
        ),
        (
            "COUNTERSIGN_WORKTREE".into(),
            worktree.path.clone().into_os_string(),
        ),
        ("COUNTERSIGN_BRANCH".into(), worktree.branch.clone().into()),
    ]);
    env.into_iter().collect()
}

/// Runs a script with `sh -c` in `cwd`.
pub(super) async fn run(
    script: &str,
    cwd: &Path,
    env: Vec<(OsString, OsString)>,
    log: &Path,
    limit: Duration,
) -> Result<SetupReport, WorktreeError> {
    let began = Instant::now();
    let marker = Marker::of(uuid::Uuid::new_v4().as_u128());
    let failed = |source| WorktreeError::io(cwd)(source);
    let (sender, output) = pipe::pipe().map_err(failed)?;
    let both = sender.into_blocking_fd().and_then(|out| {
        let err = out.try_clone()?;
        Ok((out, err))
    });
    let (out, err) = both.map_err(WorktreeError::io(cwd))?;
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .current_dir(cwd)
        .env_clear()
        .envs(env)
        .env(Marker::NAME, marker.value())
        .stdin(Stdio::null())
        .stdout(Stdio::from(out))
        .stderr(Stdio::from(err));
    let mut child = spawn(command).map_err(WorktreeError::io(cwd))?;
    let tree = Sweep(Some(Tree::new(child.id().unwrap_or(0), marker)));
    let listener = Listener(tokio::spawn(listen(output, log.to_owned())));
    let end = match timeout(limit, child.wait()).await {
        Ok(status) => SetupEnd::of(status.map_err(WorktreeError::io(cwd))?),
        Err(_) => SetupEnd::TimedOut(limit),
    };
    let ended = tree.now().await;
    let _ = child.wait().await;
    Ok(SetupReport {
        end,
        tail: listener.tail().await,
        log: log.to_owned(),
        took: began.elapsed(),
        ended,
    })
}

/// Ends everything that came from a script, also if nobody waits for it any more.
struct Sweep(Option<Tree>);

impl Sweep {
    /// The names of the programs that were still running.
    async fn now(mut self) -> Vec<String> {
        let Some(tree) = self.0.take() else {
            return Vec::new();
        };
        let sweep = move || tree.kill_all(Instant::now() + SWEEP);
        let swept = tokio::task::spawn_blocking(sweep).await.unwrap_or_default();
        swept.ended.into_iter().map(|one| one.command).collect()
    }
}

impl Drop for Sweep {
    fn drop(&mut self) {
        if let Some(tree) = self.0.take() {
            // Without a runtime to wait on: the session's start was given up.
            std::thread::spawn(move || tree.kill_all(Instant::now() + SWEEP));
        }
    }
}

struct Listener(tokio::task::JoinHandle<io::Result<String>>);

impl Listener {
    /// The end of the output. Whoever still holds the pipe was not ours to end.
    async fn tail(mut self) -> String {
        match timeout(SWEEP, &mut self.0).await {
            Ok(Ok(Ok(tail))) => tail,
            Ok(_) => "(its output could not be kept)".to_owned(),
            Err(_) => {
                self.0.abort();
                "(its output did not end)".to_owned()
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads to the end. Writes the beginning to the log, and keeps the end.
async fn listen(mut from: pipe::Receiver, log: PathBuf) -> io::Result<String> {
    // A new file, and behind no link: others write in that folder, too.
    let file = File::options()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
        .open(log)
        .await;
    let mut file = file
        .inspect_err(|error| tracing::warn!(%error, "the output of a setup script is not kept"))
        .ok();
    let mut room = MOST_LOGGED;
    let mut tail = Vec::new();
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let len = from.read(&mut chunk).await?;
        if len == 0 {
            break;
        }
        let logged = len.min(room);
        if let Some(file) = file.as_mut().filter(|_| logged > 0) {
            room -= logged;
            // A full disk is told where it matters; here it must not stop the reading.
            let _ = file.write_all(&chunk[..logged]).await;
        }
        tail.extend_from_slice(&chunk[..len]);
        let beyond = tail.len().saturating_sub(TAIL);
        tail.drain(..beyond);
    }
    if let Some(file) = &mut file {
        let _ = file.flush().await;
    }
    Ok(String::from_utf8_lossy(&tail).trim_end().to_owned())
}
