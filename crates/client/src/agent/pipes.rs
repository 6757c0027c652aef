//! The agent's streams as the session reads and writes them.
//!
//! On Unix these are bare sockets that can be asked for readiness and read without a buffer in between. Invariant: nobody can
//! open one by its number in `/proc`, as every process of the user could a pipe: what is written to the agent answers for the
//! person, and what it writes asks the person and takes back.

use std::io;
#[cfg(unix)]
use std::{net::Shutdown, os::fd::OwnedFd, os::unix::net::UnixStream};

use tokio::process::{Child, Command};

/// The end of the agent's stdin that is written.
#[cfg(unix)]
pub(super) type StdinPipe = tokio::net::UnixStream;
/// The end of the agent's stdout that is read.
#[cfg(unix)]
pub(super) type StdoutPipe = tokio::net::UnixStream;
/// The end of the agent's stderr that is read.
#[cfg(unix)]
pub(super) type StderrPipe = tokio::net::UnixStream;

/// The end of the agent's stdin that is written.
#[cfg(not(unix))]
pub type StdinPipe = tokio::process::ChildStdin;
/// The end of the agent's stdout that is read.
#[cfg(not(unix))]
pub type StdoutPipe = tokio::process::ChildStdout;
/// The end of the agent's stderr that is read.
#[cfg(not(unix))]
pub(super) type StderrPipe = tokio::process::ChildStderr;

/// The two pipes of the wire. Dropping `stdin` closes it, which asks the agent to end.
#[derive(Debug)]
pub(crate) struct Pipes {
    /// To the agent.
    pub stdin: StdinPipe,
    /// From the agent.
    pub stdout: StdoutPipe,
}

/// Our ends of the three streams of a child that is about to be started, not yet known to the runtime.
#[cfg(unix)]
pub(super) struct Ends {
    stdin: UnixStream,
    stdout: UnixStream,
    stderr: UnixStream,
}

#[cfg(unix)]
impl Ends {
    /// Gives a command its three streams.
    pub(super) fn of(command: &mut Command) -> io::Result<Self> {
        let (stdin, theirs) = stream(Shutdown::Read)?;
        command.stdin(theirs);
        let (stdout, theirs) = stream(Shutdown::Write)?;
        command.stdout(theirs);
        let (stderr, theirs) = stream(Shutdown::Write)?;
        command.stderr(theirs);
        Ok(Self {
            stdin,
            stdout,
            stderr,
        })
    }

    /// The streams of the child that was started.
    pub(super) fn open(self, _: &mut Child) -> io::Result<(Pipes, StderrPipe)> {
        let pipes = Pipes {
            stdin: StdinPipe::from_std(self.stdin)?,
            stdout: StdoutPipe::from_std(self.stdout)?,
        };
        Ok((pipes, StderrPipe::from_std(self.stderr)?))
    }
}

/// Makes a stream of the agent: our end, which does nothing in this direction, and the agent's, which waits as a pipe does.
#[cfg(unix)]
fn stream(unused: Shutdown) -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.shutdown(unused)?;
    ours.set_nonblocking(true)?;
    Ok((ours, theirs.into()))
}

/// The pipes stay with the child until they are taken from it.
#[cfg(not(unix))]
pub(super) struct Ends;

#[cfg(not(unix))]
impl Ends {
    /// Gives a command its three pipes.
    pub(super) fn of(command: &mut Command) -> io::Result<Self> {
        use std::process::Stdio;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(Self)
    }

    /// The pipes of the child that was started.
    pub(super) fn open(self, child: &mut Child) -> io::Result<(Pipes, StderrPipe)> {
        let missing = || io::Error::other("the child was started without its pipes");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        Ok((Pipes { stdin, stdout }, stderr))
    }
}
