//! What the agent says from here on: its lines, read from the journal as it grows.
//!
//! Owns a reader of the file and the wish to be woken. Keeps on the way what tells how the agent ended. Invariants: every
//! agent line after the start is given once, in order, whole; the end comes after the last line, and only if the journal
//! or the keeper said so.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use countersign_client::EndedBy;
use countersign_client::kept::KeptExit;
use countersign_journal::{Cursor, Exit, KeeperEvent, Kind, Reader, Record, Step};
use tokio::io::{AsyncRead, ReadBuf};

use super::state::{Over, State};

/// So much of stderr is kept to tell how an agent ended.
const STDERR_KEPT: usize = 8 << 10;

/// What is known of the agent's end.
#[derive(Debug, Default)]
pub(super) struct Ending {
    exit: Mutex<Option<KeptExit>>,
    stderr: Mutex<Vec<u8>>,
}

impl Ending {
    pub(super) fn exit(&self) -> Option<KeptExit> {
        let exit = self.exit.lock().unwrap_or_else(PoisonError::into_inner);
        exit.clone()
    }

    /// A line of stderr.
    pub(super) fn heard(&self, line: &[u8]) {
        let mut kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let line = &line[line.len().saturating_sub(STDERR_KEPT)..];
        kept.extend_from_slice(line);
        kept.push(b'\n');
        let too_much = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..too_much);
    }

    fn ended(&self, exit: &Exit) {
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said = String::from_utf8_lossy(&stderr).into_owned();
        if let Some(error) = &exit.error {
            said.push_str(error);
        }
        let ended_by = match exit.step.as_deref() {
            None => None,
            Some("kill" | "descendants") => Some(EndedBy::Kill),
            Some("terminate") => Some(EndedBy::Term),
            Some(_) => Some(EndedBy::Eof),
        };
        let mut known = self.exit.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(KeptExit {
            code: exit.code,
            signal: exit.signal,
            ended_by,
            stderr: said,
            swept: exit.killed.len(),
        });
    }
}

/// The agent's lines from a place in the journal on.
pub(super) struct Lines {
    reader: Reader,
    state: Arc<State>,
    ending: Arc<Ending>,
    /// A line that is not yet given, and how much of it is.
    line: Vec<u8>,
    given: usize,
    /// The journal said that the agent has ended.
    has_ended: bool,
    generation: u32,
}

impl Lines {
    /// From where `reader` stands.
    pub(super) fn new(
        reader: Reader,
        generation: u32,
        state: Arc<State>,
        ending: Arc<Ending>,
    ) -> Self {
        Self {
            generation,
            reader,
            state,
            ending,
            line: Vec::new(),
            given: 0,
            has_ended: false,
        }
    }

    /// Sets how far may be read, and returns the version of that word. What the keeper has not told of may still be
    /// taken back by it; what a dead one left may not.
    fn look(&mut self) -> u64 {
        let level = self.state.level();
        let limit = match level.over {
            None | Some(Over::Superseded) => Some(level.tail),
            Some(_) => None,
        };
        let version = level.version;
        drop(level);
        self.reader.set_limit(limit);
        version
    }

    /// Reads on to the next line of the agent. False: there is none yet.
    fn advance(&mut self) -> io::Result<bool> {
        loop {
            if self.has_ended {
                return Ok(false);
            }
            match self.reader.next().map_err(io::Error::other)? {
                Step::Record(record) => {
                    let (line, ending) = (&mut self.line, &self.ending);
                    let taken = taken(&record, line, ending);
                    if self.reader.generation() != self.generation {
                        // The agent of a later start: not ours.
                        self.line.clear();
                        return Err(broken(&Over::Lost("the agent was started anew".to_owned())));
                    }
                    match taken {
                        Taken::Line => {
                            self.given = 0;
                            return Ok(true);
                        }
                        Taken::End => self.has_ended = true,
                        Taken::Nothing => {}
                    }
                }
                Step::End => return Ok(false),
                _ => {}
            }
        }
    }
}

/// The end of what the last agent of a session said on stderr.
pub(super) fn last_words(dir: &Path) -> Option<String> {
    let mut reader = Reader::open(dir).ok()?;
    let generation = countersign_journal::survey(dir).ok()?.generation;
    reader.seek(Cursor::new(generation, 0)).ok()?;
    let ending = Ending::default();
    loop {
        match reader.next().ok()? {
            Step::Record(record) => drop(taken(&record, &mut Vec::new(), &ending)),
            Step::End => return ending.exit().map(|exit| exit.stderr),
            _ => {}
        }
    }
}

enum Taken {
    Line,
    End,
    Nothing,
}

fn taken(record: &Record<'_>, line: &mut Vec<u8>, ending: &Ending) -> Taken {
    match record.kind {
        Kind::Agent | Kind::AgentPiece => {
            line.clear();
            // A long line is not kept after it was given.
            line.shrink_to(64 << 10);
            line.extend_from_slice(record.payload);
            line.push(b'\n');
            Taken::Line
        }
        Kind::Stderr | Kind::StderrPiece => {
            ending.heard(record.payload);
            Taken::Nothing
        }
        Kind::Keeper => match serde_json::from_slice(record.payload) {
            Ok(KeeperEvent::Exit(exit)) => {
                ending.ended(&exit);
                Taken::End
            }
            Ok(KeeperEvent::Lost { .. }) => Taken::End,
            _ => Taken::Nothing,
        },
        _ => Taken::Nothing,
    }
}

impl AsyncRead for Lines {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = room.filled().len();
        while room.remaining() > 0 {
            if self.given == self.line.len() {
                let version = self.look();
                if !self.advance()? {
                    if room.filled().len() > before || self.has_ended {
                        return Poll::Ready(Ok(()));
                    }
                    let mut level = self.state.level();
                    if level.version != version {
                        continue;
                    }
                    return match &level.over {
                        None => {
                            level.reader = Some(context.waker().clone());
                            Poll::Pending
                        }
                        // Told though it could not be recorded: the disk was broken.
                        Some(Over::Gone(exit)) => {
                            self.ending.ended(exit);
                            Poll::Ready(Ok(()))
                        }
                        Some(over) => Poll::Ready(Err(broken(over))),
                    };
                }
            }
            let rest = &self.line[self.given..];
            let count = rest.len().min(room.remaining());
            room.put_slice(&rest[..count]);
            self.given += count;
        }
        Poll::Ready(Ok(()))
    }
}

fn broken(over: &Over) -> io::Error {
    let told = match over {
        Over::Gone(_) => "the agent has ended".to_owned(),
        Over::Superseded => "another host has taken this agent over".to_owned(),
        Over::Lost(reason) => format!("{reason}; attach again, or look what became of the agent"),
    };
    io::Error::new(io::ErrorKind::ConnectionAborted, told)
}
