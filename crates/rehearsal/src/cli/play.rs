//! The shell around the engine: host lines in, what it writes out, deeds and a clock, over any async pipe.
//!
//! Inside a test the clock is the runtime's; `stdio` makes a process of it, with what a process alone can do behind
//! [`World`].

use std::collections::VecDeque;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::engine::{Deed, Engine, Input, Launch, Outcome, Output, Signal};
use super::hands::Hands;
use super::scenario::Scenario;

/// Host lines that wait to be played.
pub(super) const WAITING: usize = 1024;
pub(super) const BLOCK: usize = 64 * 1024;
/// Bytes a second that are read from the host.
pub(super) const FREELY: u64 = u64::MAX;
pub(super) const NOTHING: u64 = 0;
/// Bytes of stderr that are kept.
const STDERR: usize = 1024 * 1024;

/// How a played scenario ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The exit code; None for a crash.
    pub code: Option<u8>,
    /// What it said on stderr, as far as 1 MiB goes.
    pub stderr: String,
}

/// Why a scenario could not be played inside a process.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// It starts a child, which would write to the test's own stdout.
    #[error("`spawn {0:?}` needs a process of its own; play this scenario with the scripted CLI")]
    NeedsProcess(String),
    /// A child, or stdout.
    #[error("the scripted CLI cannot go on: {0}")]
    Io(#[from] std::io::Error),
}

/// What surrounds an engine beside the two pipes.
pub(super) trait World: Send {
    fn stderr(&mut self, bytes: &[u8]);
    /// Starts a shell command that inherits stdout and stderr.
    fn spawn(&mut self, command: &str, detached: bool) -> Result<(), PlayError>;
    /// Dies, if there is a process that can.
    fn crash(&mut self) {}
}

/// A test: what is said on stderr is kept.
#[derive(Default)]
struct Inside {
    stderr: Vec<u8>,
}

impl World for Inside {
    fn stderr(&mut self, bytes: &[u8]) {
        let room = STDERR - self.stderr.len();
        self.stderr
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn spawn(&mut self, command: &str, _: bool) -> Result<(), PlayError> {
        Err(PlayError::NeedsProcess(command.to_owned()))
    }
}

/// Plays a scenario over a pipe until it ends: `reader` is its stdin, `writer` its stdout.
///
/// # Errors
/// When the scenario does something that only a process can do.
pub async fn play<R, W>(scenario: Scenario, reader: R, writer: W) -> Result<Ended, PlayError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let launch = Launch {
        cwd: "/project".to_owned(),
        pid: 4242,
        ..Launch::default()
    };
    play_with(scenario, launch, reader, writer).await
}

/// The same with arguments, a working directory and a seed.
///
/// # Errors
/// When the scenario does something that only a process can do.
pub async fn play_with<R, W>(
    scenario: Scenario,
    launch: Launch,
    reader: R,
    writer: W,
) -> Result<Ended, PlayError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (lines, arrived) = mpsc::channel(WAITING);
    let (gate, reading) = watch::channel(FREELY);
    let mut inside = Inside::default();
    let body = Body {
        writer: Some(writer),
        world: &mut inside,
        gate,
        hands: Hands::new(&launch),
        quick: VecDeque::new(),
        done: lines.clone(),
    };
    let engine = Engine::new(scenario, launch);
    // The host is read also while it does not read, as the CLI does.
    let pump = async {
        pump(reader, lines, reading).await;
        std::future::pending::<()>().await;
    };
    let code = tokio::select! {
        biased;
        code = drive(engine, body, arrived) => code?,
        () = pump => unreachable!("the pump never ends"),
    };
    let stderr = String::from_utf8_lossy(&inside.stderr).into_owned();
    Ok(Ended { code, stderr })
}

/// What happens to an engine.
pub(super) enum Event {
    Line(Vec<u8>),
    Eof,
    Signal(Signal),
    Done(u64, Box<Outcome>),
}

async fn pump<R: AsyncRead + Unpin>(
    reader: R,
    lines: mpsc::Sender<Event>,
    mut reading: watch::Receiver<u64>,
) {
    let mut reader = BufReader::with_capacity(BLOCK, reader);
    let mut line = Vec::new();
    loop {
        let read = tokio::select! {
            biased;
            _ = reading.wait_for(|rate| *rate == NOTHING) => return,
            read = reader.read_until(b'\n', &mut line) => read,
        };
        if !matches!(read, Ok(1..)) {
            let _ = lines.send(Event::Eof).await;
            return;
        }
        let rate = *reading.borrow();
        if rate != FREELY && rate != NOTHING {
            let pause = line.len() as f64 / rate as f64;
            tokio::time::sleep(Duration::from_secs_f64(pause)).await;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if lines
            .send(Event::Line(std::mem::take(&mut line)))
            .await
            .is_err()
        {
            return;
        }
    }
}

/// Plays to the end; gives back the exit code, or None for a crash.
pub(super) async fn drive<W: AsyncWrite + Unpin>(
    mut engine: Engine,
    mut body: Body<'_, W>,
    mut arrived: mpsc::Receiver<Event>,
) -> Result<Option<u8>, PlayError> {
    let started = Instant::now();
    let mut outputs = engine.step(Duration::ZERO, Input::Start);
    loop {
        let wake = match body.carry_out(outputs).await? {
            Next::End(code) => {
                body.hands.stop_all();
                body.close().await;
                return Ok(code);
            }
            Next::Wait(wake) => wake,
        };
        let timer = async {
            match wake {
                Some(wake) => tokio::time::sleep_until(started + wake).await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            biased;
            event = std::future::ready(body.quick.pop_front()), if !body.quick.is_empty() => event,
            // `done` is kept here, so the channel does not end.
            event = arrived.recv() => event,
            () = timer => None,
        };
        let now = started.elapsed();
        outputs = match event {
            Some(Event::Line(line)) => engine.step(now, Input::Line(&line)),
            Some(Event::Eof) => engine.step(now, Input::Eof),
            Some(Event::Signal(signal)) => engine.step(now, Input::Signal(signal)),
            Some(Event::Done(serial, outcome)) => {
                let outcome = &outcome;
                engine.step(now, Input::Done { serial, outcome })
            }
            None => engine.step(now.max(wake.unwrap_or_default()), Input::Timer),
        };
    }
}

enum Next {
    End(Option<u8>),
    Wait(Option<Duration>),
}

/// What carries out what an engine asks for.
pub(super) struct Body<'a, W> {
    pub(super) writer: Option<W>,
    pub(super) world: &'a mut dyn World,
    pub(super) gate: watch::Sender<u64>,
    pub(super) hands: Hands,
    pub(super) done: mpsc::Sender<Event>,
    /// What was done at once.
    pub(super) quick: VecDeque<Event>,
}

impl<W: AsyncWrite + Unpin> Body<'_, W> {
    /// What is over in no time is done here, in order; for the rest there is a thread, and the player goes on.
    fn set_about(&mut self, serial: u64, deed: Deed) {
        let stop = self.hands.begin(serial);
        if Hands::is_quick(&deed) {
            let outcome = self.hands.perform(serial, &deed, &stop);
            let done = outcome.map(|outcome| Event::Done(serial, Box::new(outcome)));
            self.quick.extend(done);
            return;
        }
        let (hands, done) = (self.hands.clone(), self.done.clone());
        tokio::task::spawn_blocking(move || {
            if let Some(outcome) = hands.perform(serial, &deed, &stop) {
                // An error: the play has ended, and nobody waits.
                let _ = done.blocking_send(Event::Done(serial, Box::new(outcome)));
            }
        });
    }

    async fn carry_out(&mut self, outputs: Vec<Output>) -> Result<Next, PlayError> {
        let mut wake = None;
        for output in outputs {
            match output {
                Output::Write(bytes) => self.write(&bytes).await,
                Output::Fill { byte, count } => {
                    let block = vec![byte; BLOCK];
                    let mut left = count;
                    while left > 0 {
                        let now = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
                        self.write(&block[..now]).await;
                        left -= now as u64;
                    }
                }
                Output::Stderr(bytes) => self.world.stderr(&bytes),
                Output::WakeAt(at) => wake = Some(at),
                Output::Do { serial, deed } => self.set_about(serial, deed),
                Output::Abort { serial } => self.hands.stop(serial),
                Output::Spawn { command, detached } => self.world.spawn(&command, detached)?,
                Output::StopReading => {
                    let _ = self.gate.send(NOTHING);
                }
                Output::ReadSlowly(bytes) => {
                    let _ = self.gate.send(bytes.max(1));
                }
                Output::CloseStdout => self.close().await,
                Output::Exit(code) => return Ok(Next::End(Some(code))),
                Output::Crash => {
                    self.world.crash();
                    return Ok(Next::End(None));
                }
            }
        }
        Ok(Next::Wait(wake))
    }

    async fn close(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            let _ = writer.shutdown().await;
        }
    }

    /// A host that closed its end loses what is written; the CLI goes on.
    async fn write(&mut self, bytes: &[u8]) {
        if let Some(writer) = &mut self.writer {
            let written = async {
                writer.write_all(bytes).await?;
                writer.flush().await
            };
            if written.await.is_err() {
                self.writer = None;
            }
        }
    }
}
