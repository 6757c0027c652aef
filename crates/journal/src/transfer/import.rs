//! Into a journal.
//!
//! Owns what a line becomes: a record of a generation of its own, which has an end, too, so that nobody takes it for one
//! that runs. Invariant: what was imported verifies like what was written here.

use std::io::BufRead;
use std::path::Path;

use countersign_wire::recording::{self, Direction};

use super::TransferError;
use crate::event::{Exit, KeeperEvent};
use crate::record::Kind;
use crate::survey;
use crate::writer::{Limits, Writer};

/// So much is staged before it is written.
const BATCH: u64 = 256 << 10;

/// What is said of the end where nothing is known of it.
const UNKNOWN_END: &str = "imported; how it ended is not known";

/// What was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// The generations: from this one,
    pub first: u32,
    /// to this one.
    pub last: u32,
    /// How many lines there were.
    pub lines: u64,
}

/// Takes plain CLI lines into the journal folder `dir` as one more generation, all at the time `at` (microseconds of
/// Unix time).
///
/// # Errors
/// When the lines cannot be read or the journal cannot be written.
pub fn import_ndjson(
    dir: &Path,
    session: &str,
    at: u64,
    lines: &mut dyn BufRead,
) -> Result<Imported, TransferError> {
    let mut intake = Intake::begin(dir, session, at, &[])?;
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return intake.end(at, unknown_end());
        }
        let is_whole = line.pop_if(|last| *last == b'\n').is_some();
        let kind = if is_whole {
            Kind::Agent
        } else {
            Kind::AgentPiece
        };
        intake.line(at, kind, &line)?;
    }
}

/// Takes a recording into the journal folder `dir`, each run of the CLI as a generation. Its times count from `at`
/// (microseconds of Unix time).
///
/// # Errors
/// When the recording cannot be read or the journal cannot be written. What stands before a bad line is imported.
pub fn import_recording(
    dir: &Path,
    session: &str,
    at: u64,
    recording: &mut dyn BufRead,
) -> Result<Imported, TransferError> {
    let mut line = Vec::new();
    recording.read_until(b'\n', &mut line)?;
    let header = recording::header(line.trim_ascii_end()).ok_or(TransferError::NoRecording)?;
    if header.recording != recording::FORMAT {
        return Err(TransferError::Version(header.recording));
    }
    let mut runs = Runs {
        dir,
        session,
        began: at,
        now: at,
        running: None,
        earlier: None,
    };
    for number in 2.. {
        line.clear();
        if recording.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if let Err(error) = runs.entry(number, line.trim_ascii_end()) {
            // What came before is a generation with an end, like any other.
            runs.finish()?;
            return Err(error);
        }
    }
    match runs.finish()? {
        Some(imported) => Ok(imported),
        None => Intake::begin(dir, session, at, &[])?.end(at, unknown_end()),
    }
}

/// The runs of a recording, one after the other.
struct Runs<'a> {
    dir: &'a Path,
    session: &'a str,
    began: u64,
    now: u64,
    running: Option<Intake>,
    earlier: Option<Imported>,
}

impl Runs<'_> {
    fn entry(&mut self, number: u64, line: &[u8]) -> Result<(), TransferError> {
        let entry = recording::entry(line);
        let entry = entry.map_err(|why| TransferError::Entry { line: number, why })?;
        if entry.line.contains(&b'\n') {
            return Err(TransferError::Newline { line: number });
        }
        let since = entry.at.saturating_mul(1_000);
        self.now = self.began.saturating_add(since);
        let text = String::from_utf8_lossy(&entry.line);
        let kind = match entry.direction {
            Direction::Out => Kind::Agent,
            Direction::In => Kind::Host,
            Direction::Err => Kind::Stderr,
            Direction::Run => {
                self.end(unknown_end())?;
                return self.run(&text.split_whitespace().collect::<Vec<_>>());
            }
            Direction::End => return self.end(end_of(&text)),
            _ => return Ok(()),
        };
        if self.running.is_none() {
            self.run(&[])?;
        }
        match &mut self.running {
            Some(intake) => intake.line(self.now, kind, &entry.line),
            None => Ok(()),
        }
    }

    fn run(&mut self, flags: &[&str]) -> Result<(), TransferError> {
        self.running = Some(Intake::begin(self.dir, self.session, self.now, flags)?);
        Ok(())
    }

    fn end(&mut self, exit: Exit) -> Result<(), TransferError> {
        if let Some(running) = self.running.take() {
            let mut imported = running.end(self.now, exit)?;
            if let Some(earlier) = self.earlier {
                imported.first = earlier.first;
                imported.lines += earlier.lines;
            }
            self.earlier = Some(imported);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Option<Imported>, TransferError> {
        self.end(unknown_end())?;
        Ok(self.earlier)
    }
}

fn unknown_end() -> Exit {
    Exit {
        error: Some(UNKNOWN_END.to_owned()),
        ..Exit::default()
    }
}

/// The end of a run, as [`super::export_recording`] writes it.
fn end_of(text: &str) -> Exit {
    let signal = text.strip_prefix("signal ");
    match (text.parse(), signal.map(str::parse)) {
        (Ok(code), _) => Exit {
            code: Some(code),
            ..Exit::default()
        },
        (_, Some(Ok(signal))) => Exit {
            signal: Some(signal),
            ..Exit::default()
        },
        _ => Exit {
            error: Some(text.to_owned()),
            ..Exit::default()
        },
    }
}

/// A generation that is taken in.
struct Intake {
    writer: Writer,
    lines: u64,
    last_n: u64,
    epoch: u64,
}

impl Intake {
    fn begin(dir: &Path, session: &str, at: u64, flags: &[&str]) -> Result<Self, TransferError> {
        let generation = survey::look(dir)?.carried.generation + 1;
        let (mut writer, carried) = Writer::open(dir, session, generation, Limits::default())?;
        let argv = ["claude"].iter().chain(flags);
        let open = KeeperEvent::Open {
            generation,
            boot_id: String::new(),
            build: "import".to_owned(),
            proto: 0,
            argv: argv.map(|word| (*word).to_owned()).collect(),
            cwd: String::new(),
            env: Vec::new(),
            last_n: carried.last_n,
            epoch: carried.epoch,
        };
        writer.push_event(at, &open);
        Ok(Self {
            writer,
            lines: 0,
            last_n: carried.last_n,
            epoch: carried.epoch,
        })
    }

    fn line(&mut self, at: u64, kind: Kind, line: &[u8]) -> Result<(), TransferError> {
        self.writer.push(at, kind, line);
        self.lines += 1;
        if self.writer.staged() >= BATCH {
            self.writer.commit()?;
            if self.writer.should_roll() {
                let carried = KeeperEvent::Carried {
                    last_n: self.last_n,
                    epoch: self.epoch,
                    open: Vec::new(),
                    agent: None,
                };
                self.writer.roll(at, &carried)?;
            }
        }
        Ok(())
    }

    fn end(mut self, at: u64, exit: Exit) -> Result<Imported, TransferError> {
        self.writer.push_event(at, &KeeperEvent::Exit(exit));
        self.writer.head(at);
        self.writer.commit()?;
        self.writer.sync()?;
        let generation = self.writer.generation();
        self.writer.finish();
        Ok(Imported {
            first: generation,
            last: generation,
            lines: self.lines,
        })
    }
}
