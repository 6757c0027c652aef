//! The process around the player: stdin, stdout, signals, children.
//!
//! stdin and signals have threads of their own, and stdout is written without a detour. Invariant: a host that does not
//! read, or has gone, never keeps a signal from ending the process unless the scenario says so.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, watch};

use super::args::{Printer, Printing};
use super::engine::{Engine, Launch, Signal};
use super::hands::Hands;
use super::play::{BLOCK, Body, Event, FREELY, NOTHING, PlayError, WAITING, World, drive};
use super::scenario::Scenario;

/// How a process reads and writes, where it is not lines on stdin and stdout.
#[derive(Debug)]
pub(super) struct Voice {
    /// Read in place of stdin.
    pub(super) input: Option<Vec<u8>>,
    /// Makes of the lines what is written.
    pub(super) printer: Option<Printer>,
}

/// Plays a scenario on stdin and stdout; gives back the exit code. Every line read goes to the file `log`, too.
///
/// # Errors
/// When the log or the signals cannot be set up.
pub(super) fn run_stdio(
    scenario: Scenario,
    launch: Launch,
    log: Option<&Path>,
    voice: Voice,
) -> io::Result<u8> {
    let (lines, arrived) = mpsc::channel(WAITING);
    let hands = Hands::new(&launch);
    watch_signals(&scenario, &lines, &hands)?;
    let log = log
        .map(|path| File::options().create(true).append(true).open(path))
        .transpose()?;
    let (gate, reading) = watch::channel(FREELY);
    let events = lines.clone();
    std::thread::spawn(move || read_lines(&events, voice.input, log, &reading));
    let body = Body {
        writer: Some(Stdout(match voice.printer {
            Some(printer) => Box::new(Printing::new(printer, stdout()?)),
            None => stdout()?,
        })),
        world: &mut Process,
        gate,
        hands,
        quick: VecDeque::new(),
        done: lines,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let code = runtime.block_on(drive(Engine::new(scenario, launch), body, arrived));
    // Nobody waits for a deed that is still under way.
    runtime.shutdown_background();
    match code {
        Ok(Some(code)) => Ok(code),
        Ok(None) => die(),
        Err(PlayError::Io(error)) => Err(error),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// The process itself.
struct Process;

impl World for Process {
    fn stderr(&mut self, bytes: &[u8]) {
        // Nobody may be reading it; that is no reason to stop.
        let _ = io::stderr().write_all(bytes);
    }

    fn spawn(&mut self, command: &str, detached: bool) -> Result<(), PlayError> {
        Ok(spawn(command, detached)?)
    }

    fn crash(&mut self) {
        die()
    }
}

/// The stdout of the process, written at once.
struct Stdout(Box<dyn Write>);

impl AsyncWrite for Stdout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.write(bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(close_stdout())
    }
}

fn read_lines(
    events: &mpsc::Sender<Event>,
    input: Option<Vec<u8>>,
    mut log: Option<File>,
    reading: &watch::Receiver<u64>,
) {
    let mut stdin: Box<dyn BufRead> = match input {
        Some(input) => Box::new(io::Cursor::new(input)),
        None => Box::new(BufReader::with_capacity(BLOCK, io::stdin().lock())),
    };
    loop {
        while *reading.borrow() == NOTHING {
            std::thread::park();
        }
        let mut line = Vec::new();
        let end = match stdin.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => true,
            Ok(_) => false,
        };
        let rate = *reading.borrow();
        match rate {
            NOTHING => continue,
            FREELY => {}
            rate => std::thread::sleep(Duration::from_secs_f64(line.len() as f64 / rate as f64)),
        }
        if end {
            let _ = events.blocking_send(Event::Eof);
            return;
        }
        if let Some(log) = &mut log {
            // A log that cannot be written shows in the test that reads it.
            let _ = log.write_all(&line);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if events.blocking_send(Event::Line(line)).is_err() {
            return;
        }
    }
}

fn shell(program: &[&str], command: &str) -> Command {
    let mut shell = Command::new(program[0]);
    shell.args(&program[1..]).arg(command).stdin(Stdio::null());
    shell
}

fn spawn(command: &str, detached: bool) -> io::Result<()> {
    if detached && shell(&["setsid", "sh", "-c"], command).spawn().is_ok() {
        return Ok(());
    }
    // Without `setsid` a process group of its own is as far away as it can get.
    let mut child = shell(&["sh", "-c"], command);
    if detached {
        child.process_group(0);
    }
    child.spawn().map(drop)
}

fn stdout() -> io::Result<Box<dyn Write>> {
    use std::os::fd::AsFd as _;
    // Past the line buffer of `io::stdout`: whole lines come anyway, and half ones must go out at once.
    let own = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Box::new(File::from(own)))
}

fn close_stdout() -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(&nowhere)?)
}

/// Ends without another word.
fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

fn watch_signals(
    scenario: &Scenario,
    events: &mpsc::Sender<Event>,
    hands: &Hands,
) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let inside = runtime.enter();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    drop(inside);
    let own_reaction = [Signal::Terminate, Signal::HangUp].map(|signal| scenario.reacts_to(signal));
    let (events, hands) = (events.clone(), hands.clone());
    std::thread::spawn(move || {
        runtime.block_on(async move {
            loop {
                let signal = tokio::select! {
                    _ = terminate.recv() => Signal::Terminate,
                    _ = interrupt.recv() => Signal::Interrupt,
                    _ = hang_up.recv() => Signal::HangUp,
                };
                match signal {
                    // At once, also when the player hangs in a write nobody reads.
                    Signal::Terminate if !own_reaction[0] => {
                        hands.stop_all();
                        std::process::exit(143)
                    }
                    Signal::HangUp if !own_reaction[1] => {
                        hands.stop_all();
                        std::process::exit(129)
                    }
                    signal => {
                        // A full queue means a busy player; the signal is lost, as an ignored one would be.
                        let _ = events.try_send(Event::Signal(signal));
                    }
                }
            }
        });
    });
    Ok(())
}
