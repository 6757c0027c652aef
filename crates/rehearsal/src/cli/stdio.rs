//! The shell that makes a process of a scenario: stdin, stdout, signals, children, a clock.
//!
//! Blocking threads and no runtime on the way to the first line, so that it starts in a few milliseconds. Invariant: a
//! host that does not read, or has gone, never keeps a signal from ending the process unless the scenario says so.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use super::args::{Printer, Printing};
use super::engine::{Deed, Engine, Input, Launch, Outcome, Output, Signal};
use super::hands::Hands;
use super::scenario::Scenario;

/// Host lines that wait to be played.
const WAITING: usize = 1024;
/// Bytes a second that are read from stdin.
const FREELY: u64 = u64::MAX;
const NOTHING: u64 = 0;
/// Bytes of a fill in one write.
const BLOCK: usize = 64 * 1024;

enum Event {
    Line(Vec<u8>),
    Eof,
    Signal(Signal),
    Done(u64, Box<Outcome>),
}

/// Plays a scenario on stdin and stdout; gives back the exit code. Every line read goes to the file `log`, too.
///
/// # Errors
/// When the log or the signals cannot be set up.
pub fn run_stdio(scenario: Scenario, launch: Launch, log: Option<&Path>) -> io::Result<u8> {
    run_stdio_as(scenario, launch, log, Voice::default())
}

/// How a process reads and writes, where it is not lines on stdin and stdout.
#[derive(Debug, Default)]
pub(super) struct Voice {
    /// Read in place of stdin.
    pub(super) input: Option<Vec<u8>>,
    /// Makes of the lines what is written.
    pub(super) printer: Option<Printer>,
}

/// The same with another voice.
pub(super) fn run_stdio_as(
    scenario: Scenario,
    launch: Launch,
    log: Option<&Path>,
    voice: Voice,
) -> io::Result<u8> {
    let started = Instant::now();
    let (events, arrived) = mpsc::sync_channel(WAITING);
    let hands = Hands::new(&launch);
    watch_signals(&scenario, &events, &hands)?;
    let log = log
        .map(|path| File::options().create(true).append(true).open(path))
        .transpose()?;
    let reading = Arc::new(AtomicU64::new(FREELY));
    let gate = Arc::clone(&reading);
    let lines = events.clone();
    std::thread::spawn(move || read_lines(&lines, voice.input, log, &gate));

    let mut engine = Engine::new(scenario, launch);
    let mut body = Body {
        stdout: Some(match voice.printer {
            Some(printer) => Box::new(Printing::new(printer, stdout()?)),
            None => stdout()?,
        }),
        reading,
        hands,
        events,
        done: VecDeque::new(),
    };
    let mut outputs = engine.step(started.elapsed(), Input::Start);
    loop {
        let wake = match body.carry_out(outputs)? {
            Next::Exit(code) => {
                body.hands.stop_all();
                return Ok(code);
            }
            Next::Wait(wake) => wake,
        };
        let event = match wake {
            _ if !body.done.is_empty() => body.done.pop_front().ok_or(RecvTimeoutError::Timeout),
            Some(wake) => arrived.recv_timeout(wake.saturating_sub(started.elapsed())),
            // `events` is kept here, so the channel does not end.
            None => arrived.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let now = started.elapsed();
        outputs = match &event {
            Ok(Event::Line(line)) => engine.step(now, Input::Line(line)),
            Ok(Event::Eof) => engine.step(now, Input::Eof),
            Ok(Event::Signal(signal)) => engine.step(now, Input::Signal(*signal)),
            Ok(Event::Done(serial, outcome)) => engine.step(
                now,
                Input::Done {
                    serial: *serial,
                    outcome,
                },
            ),
            Err(_) => engine.step(now.max(wake.unwrap_or_default()), Input::Timer),
        };
    }
}

enum Next {
    Exit(u8),
    Wait(Option<Duration>),
}

/// The process around the engine.
struct Body {
    stdout: Option<Box<dyn Write>>,
    reading: Arc<AtomicU64>,
    hands: Hands,
    events: SyncSender<Event>,
    /// What was done at once.
    done: VecDeque<Event>,
}

impl Body {
    fn carry_out(&mut self, outputs: Vec<Output>) -> io::Result<Next> {
        let mut wake = None;
        for output in outputs {
            match output {
                Output::Write(bytes) => self.write(&bytes),
                Output::Fill { byte, count } => self.fill(byte, count),
                Output::Stderr(bytes) => {
                    // Nobody may be reading it; that is no reason to stop.
                    let _ = io::stderr().write_all(&bytes);
                }
                Output::WakeAt(at) => wake = Some(at),
                Output::Spawn { command, detached } => spawn(&command, detached)?,
                Output::Do { serial, deed } => self.set_about(serial, deed),
                Output::Abort { serial } => self.hands.stop(serial),
                Output::StopReading => self.reading.store(NOTHING, Ordering::Release),
                Output::ReadSlowly(bytes) => self.reading.store(bytes.max(1), Ordering::Release),
                Output::CloseStdout => {
                    self.stdout = None;
                    close_stdout()?;
                }
                Output::Exit(code) => return Ok(Next::Exit(code)),
                Output::Crash => die(),
            }
        }
        Ok(Next::Wait(wake))
    }

    /// What is over in no time is done here, in order; for the rest there is a thread, and the player goes on.
    fn set_about(&mut self, serial: u64, deed: Deed) {
        let stop = self.hands.begin(serial);
        if Hands::is_quick(&deed) {
            let done = &mut self.done;
            self.hands.perform(serial, &deed, &stop, &mut |outcome| {
                done.push_back(Event::Done(serial, Box::new(outcome)));
            });
            return;
        }
        let (hands, events) = (self.hands.clone(), self.events.clone());
        std::thread::spawn(move || {
            hands.perform(serial, &deed, &stop, &mut |outcome| {
                // An error: the player has ended, and nobody waits.
                let _ = events.send(Event::Done(serial, Box::new(outcome)));
            });
        });
    }

    /// A host that closed its end loses what is written; the CLI goes on.
    fn write(&mut self, bytes: &[u8]) {
        if let Some(stdout) = &mut self.stdout
            && stdout
                .write_all(bytes)
                .and_then(|()| stdout.flush())
                .is_err()
        {
            self.stdout = None;
        }
    }

    fn fill(&mut self, byte: u8, count: u64) {
        let block = vec![byte; BLOCK];
        let mut left = count;
        while left > 0 {
            let now = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
            self.write(&block[..now]);
            left -= now as u64;
        }
    }
}

fn read_lines(
    events: &SyncSender<Event>,
    input: Option<Vec<u8>>,
    mut log: Option<File>,
    reading: &AtomicU64,
) {
    let mut stdin: Box<dyn BufRead> = match input {
        Some(input) => Box::new(io::Cursor::new(input)),
        None => Box::new(BufReader::with_capacity(BLOCK, io::stdin().lock())),
    };
    loop {
        while reading.load(Ordering::Acquire) == NOTHING {
            std::thread::park();
        }
        let mut line = Vec::new();
        let end = match stdin.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => true,
            Ok(_) => false,
        };
        match reading.load(Ordering::Acquire) {
            NOTHING => continue,
            FREELY => {}
            rate => std::thread::sleep(Duration::from_secs_f64(line.len() as f64 / rate as f64)),
        }
        if end {
            let _ = events.send(Event::Eof);
            return;
        }
        if let Some(log) = &mut log {
            // A log that cannot be written shows in the test that reads it.
            let _ = log.write_all(&line);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if events.send(Event::Line(line)).is_err() {
            return;
        }
    }
}

fn shell(command: &str) -> Command {
    #[cfg(windows)]
    let (program, flag) = ("cmd", "/C");
    #[cfg(not(windows))]
    let (program, flag) = ("sh", "-c");
    let mut shell = Command::new(program);
    shell.arg(flag).arg(command).stdin(Stdio::null());
    shell
}

fn spawn(command: &str, detached: bool) -> io::Result<()> {
    if detached {
        let mut own_session = Command::new("setsid");
        own_session.args(["sh", "-c", command]).stdin(Stdio::null());
        if own_session.spawn().is_ok() {
            return Ok(());
        }
    }
    // Without `setsid` a process group of its own is as far away as it can get.
    let mut child = shell(command);
    #[cfg(unix)]
    if detached {
        use std::os::unix::process::CommandExt as _;
        child.process_group(0);
    }
    child.spawn().map(drop)
}

#[cfg(unix)]
fn stdout() -> io::Result<Box<dyn Write>> {
    use std::os::fd::AsFd as _;
    // Past the line buffer of `io::stdout`: whole lines come anyway, and half ones must go out at once.
    let own = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Box::new(File::from(own)))
}

#[cfg(not(unix))]
fn stdout() -> io::Result<Box<dyn Write>> {
    Ok(Box::new(io::stdout()))
}

#[cfg(unix)]
fn close_stdout() -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(&nowhere)?)
}

#[cfg(not(unix))]
fn close_stdout() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "`close stdout` needs a Unix",
    ))
}

/// Ends without another word.
fn die() -> ! {
    #[cfg(unix)]
    {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    std::process::abort()
}

#[cfg(unix)]
fn watch_signals(scenario: &Scenario, events: &SyncSender<Event>, hands: &Hands) -> io::Result<()> {
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

#[cfg(not(unix))]
fn watch_signals(_: &Scenario, _: &SyncSender<Event>, _: &Hands) -> io::Result<()> {
    Ok(())
}
