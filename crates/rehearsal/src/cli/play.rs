//! The shell that plays a scenario inside a test: over any async pipe, on the runtime's clock, without a process.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::engine::{Deed, Engine, Input, Launch, Outcome, Output};
use super::hands;
use super::scenario::Scenario;

/// Host lines that wait to be played.
const WAITING: usize = 1024;
const BLOCK: usize = 64 * 1024;
/// Bytes a second that are read from the host.
const FREELY: u64 = u64::MAX;
const NOTHING: u64 = 0;
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
    let body = Body {
        writer: Some(writer),
        stderr: Vec::new(),
        gate,
        hands: hands::Hands::new(&launch),
        quick: VecDeque::new(),
        done: lines.clone(),
    };
    let engine = Engine::new(scenario, launch);
    // The host is read also while it does not read, as the CLI does.
    let pump = async {
        pump(reader, lines, reading).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        ended = drive(engine, body, arrived) => ended,
        () = pump => unreachable!("the pump never ends"),
    }
}

enum Event {
    Line(Vec<u8>),
    Eof,
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

async fn drive<W: AsyncWrite + Unpin>(
    mut engine: Engine,
    mut body: Body<W>,
    mut arrived: mpsc::Receiver<Event>,
) -> Result<Ended, PlayError> {
    let started = Instant::now();
    let mut outputs = engine.step(Duration::ZERO, Input::Start);
    loop {
        let wake = match body.carry_out(outputs).await? {
            Next::End(code) => {
                if let Some(mut writer) = body.writer.take() {
                    let _ = writer.shutdown().await;
                }
                let stderr = String::from_utf8_lossy(&body.stderr).into_owned();
                return Ok(Ended { code, stderr });
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

struct Body<W> {
    writer: Option<W>,
    stderr: Vec<u8>,
    gate: watch::Sender<u64>,
    hands: hands::Hands,
    done: mpsc::Sender<Event>,
    /// What was done at once.
    quick: VecDeque<Event>,
}

impl<W: AsyncWrite + Unpin> Body<W> {
    fn set_about(&mut self, serial: u64, deed: Deed) {
        let stop = self.hands.begin(serial);
        if hands::Hands::is_quick(&deed) {
            let quick = &mut self.quick;
            self.hands.perform(serial, &deed, &stop, &mut |outcome| {
                quick.push_back(Event::Done(serial, Box::new(outcome)));
            });
            return;
        }
        let (hands, done) = (self.hands.clone(), self.done.clone());
        tokio::task::spawn_blocking(move || {
            hands.perform(serial, &deed, &stop, &mut |outcome| {
                // An error: the play has ended, and nobody waits.
                let _ = done.blocking_send(Event::Done(serial, Box::new(outcome)));
            });
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
                Output::Stderr(bytes) => {
                    let room = STDERR - self.stderr.len();
                    self.stderr
                        .extend_from_slice(&bytes[..bytes.len().min(room)]);
                }
                Output::WakeAt(at) => wake = Some(at),
                Output::Do { serial, deed } => self.set_about(serial, deed),
                Output::Abort { serial } => self.hands.stop(serial),
                Output::Spawn { command, .. } => return Err(PlayError::NeedsProcess(command)),
                Output::StopReading => {
                    let _ = self.gate.send(NOTHING);
                }
                Output::ReadSlowly(bytes) => {
                    let _ = self.gate.send(bytes.max(1));
                }
                Output::CloseStdout => {
                    if let Some(mut writer) = self.writer.take() {
                        let _ = writer.shutdown().await;
                    }
                }
                Output::Exit(code) => return Ok(Next::End(Some(code))),
                Output::Crash => return Ok(Next::End(None)),
            }
        }
        Ok(Next::Wait(wake))
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
