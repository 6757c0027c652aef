//! One running agent process: wait for it, end it, leave nothing of it.
//!
//! Owns the child, its tree and its stderr. Which rung of the ending comes when is `ladder`'s. Invariant: when
//! this is dropped, the child is gone and so is everything that came from it.

use std::time::Duration;

use countersign_process::{Signal, Swept, Tree};
use tokio::process::Child;
use tokio::time::Instant;

use super::exit::Exit;
use super::mask::Secrets;
use super::pipes::Pipes;
use super::spawn::{self, SpawnError, SpawnSpec};
use super::stderr::{Drain, StderrTail};

/// How long stderr may stay open after the exit. What the process itself said is there by then; who still
/// holds it is somebody it started.
const STDERR_AFTER_EXIT: Duration = Duration::from_millis(200);

/// How long a sweep tries. Some milliseconds are usual; a hundred at once on a busy machine take seconds.
const SWEEP: Duration = Duration::from_secs(20);

/// How long a drop may take at worst, if the kernel holds a process. Some milliseconds are usual.
const DROP: Duration = Duration::from_secs(1);

/// A running agent. Dropping it kills it and everything that came from it, before the drop returns.
#[derive(Debug)]
pub(crate) struct AgentProcess {
    child: Child,
    pid: u32,
    tree: Tree,
    stderr: Drain,
    /// How and when it ended; known once it is reaped.
    ended: Option<(Exit, Instant)>,
    /// A sweep after the exit found or left nobody.
    clean: bool,
}

impl AgentProcess {
    /// Starts an agent. Takes about as long as the system needs to start a process, and waits for it.
    pub(crate) fn spawn(mut spec: SpawnSpec) -> Result<(AgentProcess, Pipes), SpawnError> {
        let (mut child, ends) = spawn::start(&spec)?;
        // A child that was not waited for has its number.
        let pid = child.id().unwrap_or_default();
        let tree = Tree::new(pid, spec.marker.clone());
        let secrets = Secrets::of_env(spec.env.iter().map(|(name, value)| (&**name, &**value)));
        let opened = ends.open(&mut child);
        let (pipes, stderr) = opened.map_err(|source| {
            tree.kill_all((Instant::now() + DROP).into_std());
            SpawnError::Other {
                program: spec.program.clone(),
                source,
            }
        })?;
        let process = AgentProcess {
            child,
            pid,
            tree,
            stderr: Drain::start(stderr, StderrTail::new(secrets), spec.on_stderr.take()),
            ended: None,
            clean: false,
        };
        Ok((process, pipes))
    }

    /// The number of the agent's process, also after its end.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// How it ended, if that is known already.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.ended.map(|(exit, _)| exit)
    }

    /// Whether the process has ended; looks, and does not wait.
    pub(crate) fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            let exit = match self.child.try_wait() {
                Ok(None) => return false,
                Ok(Some(status)) => Exit::from(status),
                Err(_) => Exit::default(),
            };
            self.ended = Some((exit, Instant::now()));
        }
        true
    }

    /// Waits for the end of the process, then up to 200 ms for the rest of its stderr. May be dropped and
    /// called again at any time.
    pub(crate) async fn wait(&mut self) -> Exit {
        let (exit, at) = match self.ended {
            Some(ended) => ended,
            None => {
                // It fails only when somebody else has reaped the child, so it has ended in either case.
                let exit = self.child.wait().await.map(Exit::from).unwrap_or_default();
                *self.ended.insert((exit, Instant::now()))
            }
        };
        let _ = tokio::time::timeout_at(at + STDERR_AFTER_EXIT, self.stderr.closed()).await;
        exit
    }

    /// Asks the process to end: SIGTERM. Where there are no signals, ends it.
    pub(crate) fn terminate(&mut self) {
        self.signal(Signal::Terminate);
    }

    /// Ends the process itself: SIGKILL. What it started is [`AgentProcess::sweep`]'s.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::Kill);
    }

    fn signal(&mut self, signal: Signal) {
        if self.ended.is_some() {
            return;
        }
        // A tree that cannot see the child (no /proc, no signals) cannot reach it; killing goes without.
        let sent = self.tree.signal_root(signal);
        if !sent && (signal == Signal::Kill || cfg!(not(unix))) {
            let _ = self.child.start_kill();
        }
    }

    /// Ends everything that came from the agent and still runs, the agent itself too, and says what that was.
    pub(crate) async fn sweep(&mut self) -> Swept {
        let tree = self.tree.clone();
        let deadline = (Instant::now() + SWEEP).into_std();
        let sweeping = tokio::task::spawn_blocking(move || tree.kill_all(deadline));
        let swept = match sweeping.await {
            Ok(swept) => swept,
            // The runtime ends and takes no more work: then here.
            Err(_) => self.tree.kill_all(deadline),
        };
        self.clean = self.ended.is_some() && swept.survivors.is_empty();
        swept
    }

    /// The end of what was said on stderr, secrets masked.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.masked()
    }

    /// Kills and reaps, whatever it takes up to the bound.
    fn end_now(&mut self) {
        let deadline = Instant::now() + DROP;
        if !self.clean {
            self.tree.kill_all(deadline.into_std());
        }
        if self.ended.is_some() {
            return;
        }
        let _ = self.child.start_kill();
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            // A killed process takes this long at most; the kernel frees its memory first.
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.end_now();
    }
}
