//! The agent's process: how it is started, signalled and reaped.
//!
//! Owns its identity. Invariants: it inherits its three streams and `agent.lock`, and nothing else of ours; nobody can open a
//! stream by its number in `/proc`; it gets exactly the environment that was ordered; it is killed with the keeper; it is
//! signalled only before it is reaped.

use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

use countersign_journal::SpawnedAgent;
use countersign_process::{Marker, be_killed_with_parent, started};
use rustix::fs::Mode;
use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, umask, wait,
};

use crate::spec::Secrets;

/// Number of bytes that may wait in a stream from the agent, about what a pipe holds: what is left there at its end has to find
/// room on a full disk.
const HELD: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) name: SpawnedAgent,
    is_reaped: bool,
}

/// What leads into the agent and out of it.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: File,
    pub(crate) stderr: File,
}

impl Agent {
    /// Starts it. `lock` is the agent's from then on: this process has it no more.
    pub(crate) fn spawn(
        secrets: &Secrets,
        marker: &str,
        mask: Mode,
        lock: File,
    ) -> io::Result<(Self, Pipes)> {
        let (stdin, their_stdin) = stream(Shutdown::Read)?;
        let (stdout, their_stdout) = stream(Shutdown::Write)?;
        let (stderr, their_stderr) = stream(Shutdown::Write)?;
        let mut command = Command::new(&secrets.program);
        command
            .args(&secrets.args)
            .current_dir(&secrets.cwd)
            .env_clear()
            .envs(secrets.env.iter().map(|(name, value)| (name, value)))
            .env(Marker::NAME, marker)
            .stdin(their_stdin)
            .stdout(their_stdout)
            .stderr(their_stderr);
        be_killed_with_parent(&mut command);
        fcntl_setfd(&lock, FdFlags::empty())?;
        let ours = umask(mask);
        let spawned = command.spawn();
        umask(ours);
        // With it our copies of the agent's ends.
        drop((command, lock));
        let pid = spawned?.id();
        let name = SpawnedAgent {
            pid,
            started: started(pid).unwrap_or_default(),
        };
        let pipes = Pipes {
            stdin,
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        ioctl_fionbio(&pipes.stdin, true)?;
        let is_reaped = false;
        Ok((Self { name, is_reaped }, pipes))
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.is_reaped
    }

    /// SIGTERM to its group.
    pub(crate) fn terminate(&self) {
        if let Some(pid) = self.pid() {
            // It may have ended a moment ago; then there is nothing to do. So with SIGKILL.
            let _ = kill_process_group(pid, Signal::TERM);
        }
    }

    /// SIGKILL to it alone.
    pub(crate) fn kill(&self) {
        if let Some(pid) = self.pid() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Its number, which no other process or group can have before it is reaped, and only this process reaps it.
    fn pid(&self) -> Option<Pid> {
        let pid = i32::try_from(self.name.pid).ok().and_then(Pid::from_raw);
        pid.filter(|_| !self.is_reaped)
    }

    /// Reaps whatever has ended: orphans that came to us, and the agent, whose status is returned.
    pub(crate) fn reap(&mut self) -> Option<WaitStatus> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid.as_raw_pid().unsigned_abs() == self.name.pid => {
                    self.is_reaped = true;
                    return Some(status);
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

/// Makes a stream of the agent: our end, which does nothing in this direction, and the agent's. What is written to the agent
/// answers for the person, and what it writes asks the person and takes back. A pipe could be opened for that in `/proc/PID/fd`
/// by every process of the user, a socket cannot. It carries one way only, so nothing can be kept in the other.
fn stream(unused: Shutdown) -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.shutdown(unused)?;
    set_socket_send_buffer_size(&theirs, HELD)?;
    Ok((ours.into(), theirs.into()))
}
