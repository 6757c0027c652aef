//! Stands between a keeper and a CLI as the agent, and writes down every line of either direction before it passes it on.
//!
//! Owns two files, `out` (what the CLI wrote) and `in` (what reached its stdin), in the folder that `--log` names. They say
//! what crossed the wire without asking the journal. Invariants: bytes are passed on as they came, a line only after it is
//! in its file; it ends as the CLI ends, and the CLI with it; the CLI has its stderr, and no descriptor above it.
//!
//! `witness --log DIR -- PROGRAM ARG…` runs the CLI. `witness --knock SOCKET HELLO` connects to a keeper's socket, says
//! `HELLO` and prints what comes back: what a shell of the agent could try.

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    unix::main()
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsString;
    use std::fs::File;
    use std::io::{self, BufRead as _, BufReader, Read, Write};
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::Path;
    use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM};
    use signal_hook::iterator::Signals;

    /// How long the CLI's stdout is read on after its end: a child of it may hold the pipe.
    const DRAIN: Duration = Duration::from_millis(300);
    /// Closes what was inherited above stderr, above all the lock that only the agent may hold, and becomes the CLI. The
    /// loop has no redirection of its own: bash keeps what it restores afterwards above stderr, too, and the CLI would be
    /// left without its stderr.
    const BARE: &str = r#"for fd in /proc/self/fd/*; do fd=${fd##*/}; if [ "$fd" -gt 2 ]; then eval "exec $fd>&-"; fi; done; exec "$@""#;

    pub(super) fn main() -> ExitCode {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        let outcome = match arguments.as_slice() {
            [flag, socket, hello] if flag == "--knock" => {
                knock(Path::new(socket), hello.as_encoded_bytes())
            }
            [flag, log, dashes, command @ ..] if flag == "--log" && dashes == "--" => {
                stand_between(Path::new(log), command)
            }
            _ => Err(io::Error::other(
                "witness --log DIR -- PROGRAM ARG… | witness --knock SOCKET HELLO",
            )),
        };
        outcome.unwrap_or_else(|error| {
            let _ = writeln!(io::stderr(), "witness: {error}");
            ExitCode::from(70)
        })
    }

    /// Says hello to a keeper and repeats what it answers.
    fn knock(socket: &Path, hello: &[u8]) -> io::Result<ExitCode> {
        let mut stream = UnixStream::connect(socket)?;
        // Who is turned away at the door cannot say hello any more, but can read why.
        let _ = stream.write_all(&[hello, b"\n"].concat());
        let _ = stream.shutdown(Shutdown::Write);
        let _ = io::copy(&mut stream, &mut io::stdout());
        Ok(ExitCode::SUCCESS)
    }

    fn stand_between(log: &Path, command: &[OsString]) -> io::Result<ExitCode> {
        std::fs::create_dir_all(log)?;
        let file = |name: &str| {
            File::options()
                .create(true)
                .append(true)
                .open(log.join(name))
        };
        let (heard, said, mut starts) = (file("in")?, file("out")?, file("starts")?);
        // One line for each agent that ever ran here: a second one shows.
        writeln!(starts, "{}", std::process::id())?;
        let signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let mut child = start(command)?;
        let pid = rustix::process::Pid::from_child(&child);
        std::thread::spawn(move || forward(signals, pid));
        let stdin = child.stdin.take();
        std::thread::spawn(move || {
            // Dropped at the end: the CLI's stdin is closed when ours is.
            if let Some(stdin) = stdin {
                let _ = pass_on(io::stdin(), stdin, heard);
            }
        });
        let (done, drained) = mpsc::channel();
        let stdout = child.stdout.take();
        std::thread::spawn(move || {
            if let Some(stdout) = stdout {
                let _ = pass_on(stdout, io::stdout(), said);
            }
            let _ = done.send(());
        });
        let status = child.wait()?;
        let _ = drained.recv_timeout(DRAIN);
        end_as(status)
    }

    /// In a group of its own, so that a signal to ours reaches it once; with a death signal, so that it ends with us.
    fn start(command: &[OsString]) -> io::Result<Child> {
        let mut bare = Command::new("/bin/bash");
        bare.args(["-c", BARE, "bare"]).args(command);
        bare.stdin(Stdio::piped()).stdout(Stdio::piped());
        countersign_process::die_with_parent(&mut bare);
        bare.spawn()
    }

    /// Whole lines, each in the file before it goes on; the last piece as it is.
    fn pass_on(from: impl Read, mut to: impl Write, mut log: File) -> io::Result<()> {
        let mut from = BufReader::with_capacity(1 << 16, from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line)? > 0 {
            log.write_all(&line)?;
            to.write_all(&line)?;
            to.flush()?;
            line.clear();
        }
        Ok(())
    }

    fn forward(mut signals: Signals, pid: rustix::process::Pid) {
        for number in signals.forever() {
            let signal = match number {
                SIGINT => rustix::process::Signal::INT,
                SIGHUP => rustix::process::Signal::HUP,
                _ => rustix::process::Signal::TERM,
            };
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// The same code, or the same signal.
    fn end_as(status: ExitStatus) -> io::Result<ExitCode> {
        match status.signal() {
            Some(SIGKILL) => {
                let me = rustix::process::getpid();
                rustix::process::kill_process(me, rustix::process::Signal::KILL)?;
            }
            Some(other) => signal_hook::low_level::emulate_default_handler(other)?,
            None => {}
        }
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(ExitCode::from(code.unwrap_or(1)))
    }
}
