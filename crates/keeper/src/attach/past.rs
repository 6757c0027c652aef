//! What crossed before this host came, as far as the next one must know.
//!
//! Owns the reading of one generation from its start to the record where we came in: whether the agent was greeted, which
//! of our requests have no reply, and the lines of its open questions. Reads the journal, changes nothing. Invariant:
//! memory does not grow with the journal, only with what is open.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use countersign_client::kept::{Greeted, PastLine, Unanswered};
use countersign_journal::{Cursor, KeeperEvent, Kind, OpenQuestion, Reader, Record, Step};
use memchr::memmem;
use serde::Deserialize;

use super::error::AttachError;
use super::lines::Ending;

/// What one generation has behind it.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) greeted: Greeted,
    pub(super) unanswered: Vec<Unanswered>,
    pub(super) may_bypass: bool,
}

#[derive(Deserialize)]
struct Request {
    request_id: String,
    request: Subtype,
}

#[derive(Deserialize)]
struct Subtype {
    subtype: String,
}

#[derive(Deserialize)]
struct Response {
    response: Answered,
}

#[derive(Deserialize)]
struct Answered {
    request_id: String,
}

/// The records of one generation, up to and including `last`.
struct Generation {
    reader: Reader,
    generation: u32,
    last: u64,
    is_over: bool,
}

impl Generation {
    fn open(dir: &Path, generation: u32, last: u64) -> Result<Self, AttachError> {
        let mut reader = Reader::open(dir).map_err(unreadable)?;
        // Before its first record: the end of the one before.
        let before = Cursor::new(generation, 0);
        reader.seek(before).map_err(unreadable)?;
        Ok(Self {
            reader,
            generation,
            last,
            is_over: false,
        })
    }

    /// The next record, given to `take`. None: that was the last one.
    fn next<T>(
        &mut self,
        mut take: impl FnMut(&Record<'_>) -> Option<T>,
    ) -> Result<Option<T>, AttachError> {
        while !self.is_over {
            let step = self.reader.next().map_err(unreadable)?;
            let Step::Record(record) = step else {
                self.is_over = matches!(step, Step::End);
                continue;
            };
            self.is_over = record.seq >= self.last;
            let taken = take(&record);
            // Known only after the step: a segment tells its generation when it is entered.
            let is_ours = self.reader.generation() == self.generation;
            if self.reader.generation() > self.generation {
                self.is_over = true;
            } else if is_ours && taken.is_some() {
                return Ok(taken);
            }
        }
        Ok(None)
    }
}

fn unreadable(error: impl std::fmt::Display) -> AttachError {
    AttachError::Journal(error.to_string())
}

impl Past {
    /// Reads what lies behind.
    ///
    /// What was said on stderr goes to `ending`: it may tell how the agent ends.
    pub(super) fn read(
        dir: &Path,
        generation: u32,
        last: u64,
        ending: &Ending,
    ) -> Result<Self, AttachError> {
        let mut past = Self {
            greeted: Greeted::Never,
            unanswered: Vec::new(),
            may_bypass: false,
        };
        let mut asked = Asked::default();
        let mut records = Generation::open(dir, generation, last)?;
        while records
            .next(|record| {
                asked.take(record);
                if matches!(record.kind, Kind::Stderr | Kind::StderrPiece) {
                    ending.heard(record.payload);
                }
                if let Some(may_bypass) = may_bypass(record) {
                    past.may_bypass = may_bypass;
                }
                Some(())
            })?
            .is_some()
        {}
        past.greeted = asked.greeted;
        past.unanswered = asked.open.into_values().collect();
        Ok(past)
    }
}

/// Our requests, as they are asked and answered.
#[derive(Default)]
struct Asked {
    open: BTreeMap<String, Unanswered>,
    greeting: Option<String>,
    greeted: Greeted,
}

impl Asked {
    fn take(&mut self, record: &Record<'_>) {
        let line = record.payload;
        match record.kind {
            Kind::Host if has(line, b"\"control_request\"") => {
                let Ok(request) = serde_json::from_slice::<Request>(line) else {
                    return;
                };
                let subtype = request.request.subtype;
                if subtype == "initialize" {
                    self.greeting = Some(request.request_id.clone());
                    self.greeted = Greeted::Asked(request.request_id.clone());
                }
                let request = Unanswered {
                    request_id: request.request_id,
                    subtype,
                };
                self.open.insert(request.request_id.clone(), request);
            }
            Kind::Agent if has(line, b"\"control_response\"") => {
                let Ok(response) = serde_json::from_slice::<Response>(line) else {
                    return;
                };
                let id = response.response.request_id;
                self.open.remove(&id);
                if self.greeting.as_ref() == Some(&id) {
                    self.greeted = Greeted::Replied(line.to_vec());
                }
            }
            _ => {}
        }
    }
}

fn has(line: &[u8], word: &[u8]) -> bool {
    memmem::find(line, word).is_some()
}

/// Whether the agent was started so that the bypass mode can be entered.
fn may_bypass(record: &Record<'_>) -> Option<bool> {
    if record.kind != Kind::Keeper {
        return None;
    }
    let Ok(KeeperEvent::Open { argv, .. }) = serde_json::from_slice(record.payload) else {
        return None;
    };
    let has = |flag: &str| argv.iter().any(|arg| arg == flag);
    let is_bypass = argv
        .windows(2)
        .any(|pair| pair[0] == "--permission-mode" && pair[1] == "bypassPermissions");
    Some(
        has("--dangerously-skip-permissions")
            || has("--allow-dangerously-skip-permissions")
            || is_bypass,
    )
}

/// The lines of the questions that are open.
pub(super) fn questions(
    dir: &Path,
    generation: u32,
    open: &[OpenQuestion],
) -> Result<Vec<Vec<u8>>, AttachError> {
    let mut reader = Reader::open(dir).map_err(unreadable)?;
    let mut lines = Vec::with_capacity(open.len());
    for question in open {
        let before = Cursor::new(generation, question.seq.saturating_sub(1));
        reader.seek(before).map_err(unreadable)?;
        match reader.next().map_err(unreadable)? {
            Step::Record(record) if record.seq == question.seq => {
                lines.push(record.payload.to_vec());
            }
            _ => {
                let told = format!("record {} is not where it should be", question.seq);
                return Err(AttachError::Journal(told));
            }
        }
    }
    Ok(lines)
}

/// Every line of the generation, both ways, up to `last`.
pub(super) struct PastLines(Option<Generation>);

impl PastLines {
    pub(super) fn open(dir: PathBuf, generation: u32, last: u64) -> Result<Self, AttachError> {
        Generation::open(&dir, generation, last).map(|generation| Self(Some(generation)))
    }
}

impl Iterator for PastLines {
    type Item = io::Result<PastLine>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.0.as_mut()?.next(|record| match record.kind {
            Kind::Agent => Some(PastLine::FromAgent(record.payload.to_vec())),
            Kind::Host => Some(PastLine::ToAgent(record.payload.to_vec())),
            _ => None,
        });
        match found {
            Ok(Some(line)) => Some(Ok(line)),
            Ok(None) => None,
            Err(error) => {
                // Nothing behind it can be trusted.
                self.0 = None;
                Some(Err(io::Error::other(error)))
            }
        }
    }
}
