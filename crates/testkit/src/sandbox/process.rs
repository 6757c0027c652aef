//! One running CLI: its start in a sandbox, its three streams, its end.
//!
//! Owns the process and the order of ending it (close stdin, wait, SIGTERM, wait, SIGKILL, then what it
//! left running). Knows lines, not what they mean.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Sandbox, SandboxError, leftovers};
use crate::fetch::Installed;

/// How long a CLI may take on each rung of its ending.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// After its stdin was closed, to end by itself.
    pub after_close: Duration,
    /// After SIGTERM.
    pub after_term: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            after_close: Duration::from_secs(5),
            after_term: Duration::from_secs(3),
        }
    }
}

/// How long the outputs of an ended CLI may stay open.
const AFTER_EXIT: Duration = Duration::from_secs(3);

/// The flags without which nothing here works.
const BASE_FLAGS: [&str; 7] = [
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
];

/// How a CLI is to be started.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// Where the scripted model listens.
    pub base_url: String,
    /// Flags beside the base flags.
    pub flags: Vec<String>,
    /// Variables beside the sandbox's own.
    pub env: Vec<(String, String)>,
}

/// Which of the CLI's outputs a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CliStream {
    /// The wire.
    Stdout,
    /// Everything else it says.
    Stderr,
}

/// How a CLI ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// How many processes it left running; they are gone now.
    pub leftovers: usize,
}

/// A running CLI. Killed when dropped.
#[derive(Debug)]
pub struct Cli {
    child: Child,
    stdin: Option<ChildStdin>,
    readers: Vec<JoinHandle<()>>,
    home: PathBuf,
}

impl Sandbox {
    /// Starts the CLI. Each line of its outputs, without the newline, goes to `sink`.
    pub fn start<S>(
        &self,
        installed: &Installed,
        launch: &Launch,
        sink: S,
    ) -> Result<Cli, SandboxError>
    where
        S: Fn(CliStream, Vec<u8>) + Clone + Send + 'static,
    {
        let command = self.command(installed)?;
        let (program, arguments) = command.split_first().ok_or_else(|| SandboxError::Start {
            program: installed.dir.clone(),
            source: std::io::ErrorKind::NotFound.into(),
        })?;
        let mut child = Command::new(program)
            .args(arguments)
            .args(BASE_FLAGS)
            .args(&launch.flags)
            .env_clear()
            .envs(self.environment(installed, launch)?)
            .current_dir(self.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| SandboxError::Start {
                program: program.into(),
                source,
            })?;
        let readers = vec![
            read_lines(child.stdout.take(), CliStream::Stdout, sink.clone()),
            read_lines(child.stderr.take(), CliStream::Stderr, sink),
        ];
        Ok(Cli {
            stdin: child.stdin.take(),
            child,
            readers,
            home: self.home(),
        })
    }
}

impl Cli {
    /// Writes one line. `false` if the CLI no longer reads.
    pub async fn write_line(&mut self, line: &str) -> bool {
        let Some(stdin) = &mut self.stdin else {
            return false;
        };
        let framed = format!("{line}\n");
        stdin.write_all(framed.as_bytes()).await.is_ok() && stdin.flush().await.is_ok()
    }

    /// Closes the CLI's stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits until the CLI has ended by itself and all it said has been read.
    pub async fn exited(&mut self) -> std::io::Result<Ended> {
        let status = self.child.wait().await?;
        Ok(self.after_exit(status).await)
    }

    /// Ends the CLI, gently first: close stdin, wait, SIGTERM, wait, SIGKILL.
    pub async fn end(&mut self, patience: Patience) -> std::io::Result<Ended> {
        self.close_stdin();
        if let Ok(status) = timeout(patience.after_close, self.child.wait()).await {
            return Ok(self.after_exit(status?).await);
        }
        if let Some(pid) = self.pid() {
            // It may have ended in this very moment; the wait below tells.
            let _ = kill_process(pid, Signal::TERM);
        }
        let status = match timeout(patience.after_term, self.child.wait()).await {
            Ok(status) => status?,
            Err(_) => {
                self.child.start_kill()?;
                self.child.wait().await?
            }
        };
        Ok(self.after_exit(status).await)
    }

    fn pid(&self) -> Option<Pid> {
        self.child
            .id()
            .and_then(|id| Pid::from_raw(id.try_into().ok()?))
    }

    async fn after_exit(&mut self, status: ExitStatus) -> Ended {
        // A leftover may hold the CLI's pipes open: it goes first, then the readers see the end.
        let leftovers = leftovers::end_all(&self.home);
        while let Some(reader) = self.readers.last_mut() {
            let _ = timeout(AFTER_EXIT, reader).await;
            self.readers.pop();
        }
        Ended { status, leftovers }
    }
}

fn read_lines<R, S>(pipe: Option<R>, stream: CliStream, sink: S) -> JoinHandle<()>
where
    R: AsyncRead + Unpin + Send + 'static,
    S: Fn(CliStream, Vec<u8>) + Send + 'static,
{
    tokio::spawn(async move {
        let Some(pipe) = pipe else { return };
        let mut reader = BufReader::with_capacity(1 << 16, pipe);
        loop {
            let mut line = Vec::new();
            match reader.read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    if line.ends_with(b"\n") {
                        line.pop();
                    }
                    sink(stream, line);
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use tokio::sync::mpsc;

    use super::*;
    use crate::sandbox::RunAs;

    const SHORT: Patience = Patience {
        after_close: Duration::from_millis(200),
        after_term: Duration::from_millis(200),
    };

    /// Starts a shell in the CLI's place, waits until it says that it is ready, and ends it.
    async fn ended(script: &str) -> Ended {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let command = ["/bin/sh", "-c", script].map(Into::into).to_vec();
        let installed = Installed {
            pinned: crate::fetch::newest(),
            dir: sandbox.root().to_owned(),
            command,
        };
        let launch = Launch {
            base_url: "http://127.0.0.1:9".into(),
            ..Launch::default()
        };
        let (sender, mut lines) = mpsc::unbounded_channel();
        let sink = move |_, line| drop(sender.send(line));
        let mut cli = sandbox.start(&installed, &launch, sink).unwrap();
        let ready = timeout(Duration::from_secs(10), lines.recv())
            .await
            .unwrap();
        assert_eq!(ready.as_deref(), Some(&b"ready"[..]));
        cli.end(SHORT).await.unwrap()
    }

    #[tokio::test]
    async fn closing_stdin_is_enough_for_one_that_reads() {
        let ended = ended("echo ready; cat > /dev/null; exit 7").await;
        assert_eq!((ended.status.code(), ended.leftovers), (Some(7), 0));
    }

    #[tokio::test]
    async fn one_that_does_not_read_gets_sigterm() {
        let ended = ended("echo ready; exec sleep 300").await;
        assert_eq!(ended.status.signal(), Some(15));
    }

    #[tokio::test]
    async fn one_that_ignores_sigterm_is_killed() {
        let ended = ended("trap '' TERM; echo ready; while :; do sleep 1; done").await;
        assert_eq!(ended.status.signal(), Some(9));
    }

    #[tokio::test]
    async fn what_left_the_session_is_counted_and_ended() {
        let ended = ended("setsid sleep 300 < /dev/null & echo ready; cat > /dev/null").await;
        assert_eq!((ended.status.code(), ended.leftovers), (Some(0), 1));
    }
}
