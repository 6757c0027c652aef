//! The shell that plays a scenario inside a test: over any async pipe, on the runtime's clock, without a process.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::engine::{Engine, Input, Launch, Output};
use super::scenario::Scenario;

/// Host lines that wait to be played.
const WAITING: usize = 1024;
const BLOCK: usize = 64 * 1024;
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
    let (gate, reading) = watch::channel(true);
    let engine = Engine::new(scenario, launch);
    // The host is read also while it does not read, as the CLI does.
    let pump = async {
        pump(reader, lines, reading).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        ended = drive(engine, writer, arrived, gate) => ended,
        () = pump => unreachable!("the pump never ends"),
    }
}

enum Event {
    Line(Vec<u8>),
    Eof,
}

async fn pump<R: AsyncRead + Unpin>(
    reader: R,
    lines: mpsc::Sender<Event>,
    mut reading: watch::Receiver<bool>,
) {
    let mut reader = BufReader::with_capacity(BLOCK, reader);
    let mut line = Vec::new();
    loop {
        let read = tokio::select! {
            biased;
            _ = reading.wait_for(|reading| !reading) => return,
            read = reader.read_until(b'\n', &mut line) => read,
        };
        if !matches!(read, Ok(1..)) {
            let _ = lines.send(Event::Eof).await;
            return;
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
    writer: W,
    mut arrived: mpsc::Receiver<Event>,
    gate: watch::Sender<bool>,
) -> Result<Ended, PlayError> {
    let started = Instant::now();
    let mut hands = Hands {
        writer: Some(writer),
        stderr: Vec::new(),
        gate,
    };
    let mut at_end = false;
    let mut outputs = engine.step(Duration::ZERO, Input::Start);
    loop {
        let wake = match hands.carry_out(outputs).await? {
            Next::End(code) => {
                if let Some(mut writer) = hands.writer.take() {
                    let _ = writer.shutdown().await;
                }
                let stderr = String::from_utf8_lossy(&hands.stderr).into_owned();
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
            event = arrived.recv(), if !at_end => Some(event),
            () = timer => None,
        };
        let now = started.elapsed();
        outputs = match event {
            Some(Some(Event::Line(line))) => engine.step(now, Input::Line(&line)),
            Some(Some(Event::Eof)) => engine.step(now, Input::Eof),
            // The reader was stopped; only timers are left.
            Some(None) => {
                at_end = true;
                engine.step(now, Input::Timer)
            }
            None => engine.step(now.max(wake.unwrap_or_default()), Input::Timer),
        };
    }
}

enum Next {
    End(Option<u8>),
    Wait(Option<Duration>),
}

struct Hands<W> {
    writer: Option<W>,
    stderr: Vec<u8>,
    gate: watch::Sender<bool>,
}

impl<W: AsyncWrite + Unpin> Hands<W> {
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
                Output::Spawn { command, .. } => return Err(PlayError::NeedsProcess(command)),
                Output::StopReading => {
                    let _ = self.gate.send(false);
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
