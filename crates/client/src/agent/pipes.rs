//! The agent's stdin and stdout as the session reads and writes them.
//!
//! On Unix these are bare pipes that can be asked for readiness and read without a buffer in between.

use std::io;

use tokio::process::{Child, Command};

/// The end of the agent's stdin that is written.
#[cfg(unix)]
pub(super) type StdinPipe = tokio::net::unix::pipe::Sender;
/// The end of the agent's stdout that is read.
#[cfg(unix)]
pub(super) type StdoutPipe = tokio::net::unix::pipe::Receiver;
/// The end of the agent's stderr that is read.
#[cfg(unix)]
pub(super) type StderrPipe = tokio::net::unix::pipe::Receiver;

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

/// Our ends of the three pipes of a child that is about to be started. Not yet known to the runtime: taken from the child
/// they would be, in the form of its own pipes, and have to be made known twice.
#[cfg(unix)]
pub(super) struct Ends {
    stdin: io::PipeWriter,
    stdout: io::PipeReader,
    stderr: io::PipeReader,
}

#[cfg(unix)]
impl Ends {
    /// Gives a command its three pipes.
    pub(super) fn of(command: &mut Command) -> io::Result<Self> {
        let (theirs, stdin) = io::pipe()?;
        command.stdin(theirs);
        let (stdout, theirs) = io::pipe()?;
        command.stdout(theirs);
        let (stderr, theirs) = io::pipe()?;
        command.stderr(theirs);
        Ok(Self {
            stdin,
            stdout,
            stderr,
        })
    }

    /// The pipes of the child that was started.
    pub(super) fn open(self, _: &mut Child) -> io::Result<(Pipes, StderrPipe)> {
        let pipes = Pipes {
            stdin: StdinPipe::from_owned_fd(self.stdin.into())?,
            stdout: StdoutPipe::from_owned_fd(self.stdout.into())?,
        };
        Ok((pipes, StderrPipe::from_owned_fd(self.stderr.into())?))
    }
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
