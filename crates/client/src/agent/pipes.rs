//! The agent's stdin and stdout as the session reads and writes them.
//!
//! On Unix these are bare pipes that can be asked for readiness and read without a buffer in between.

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

/// Takes the three pipes of a child that was started with all of them.
pub(super) fn take(child: &mut tokio::process::Child) -> std::io::Result<(Pipes, StderrPipe)> {
    let missing = || std::io::Error::other("the child was started without its pipes");
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    #[cfg(unix)]
    let (stdin, stdout, stderr) = (
        StdinPipe::from_owned_fd(stdin.into_owned_fd()?)?,
        StdoutPipe::from_owned_fd(stdout.into_owned_fd()?)?,
        StderrPipe::from_owned_fd(stderr.into_owned_fd()?)?,
    );
    Ok((Pipes { stdin, stdout }, stderr))
}
