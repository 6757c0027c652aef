//! What a journal says of the run before: how it ended, and which numbers are taken.
//!
//! Owns the fold of the newest segments that a writer and a recovering host need. Reads only; writes nothing. Invariant:
//! no more is read than the newest segment, and earlier ones only as far as it does not say everything itself.

use std::ops::Range;
use std::path::Path;

use crate::error::ReadError;
use crate::event::{Exit, KeeperEvent, SpawnedAgent};
use crate::folder;
use crate::header::Header;
use crate::lines::{Lines, Piece};
use crate::marks;
use crate::note::Note;
use crate::record::{Kind, Record};
use crate::source::Source;

/// What earlier segments say. Questions are not among it: those of an earlier generation are withdrawn.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Carried {
    /// The session; empty for a journal without a segment.
    pub session: String,
    /// The newest generation; 0 for none.
    pub generation: u32,
    /// The newest record; 0 for none.
    pub seq: u64,
    /// When it was written.
    pub at: u64,
    /// The highest number of a host line.
    pub last_n: u64,
    /// The highest epoch of an owner.
    pub epoch: u64,
    /// The boot of the machine in which the newest generation began, if it has begun.
    pub boot_id: Option<String>,
    /// The agent of the newest generation, if it was started.
    pub agent: Option<SpawnedAgent>,
    /// How the newest generation ended, if it says so.
    pub exit: Option<Exit>,
    /// Whether somebody found the newest generation without an end, and said so.
    pub lost: bool,
    /// How many bytes of an unfinished record stand, or stood, behind the newest one.
    pub torn: u64,
}

impl Carried {
    /// Whether the newest generation has an end, or there is none.
    pub fn is_ended(&self) -> bool {
        self.generation == 0 || self.exit.is_some() || self.lost
    }
}

/// What a writer needs of the newest segment to go on behind it, or in it.
pub(crate) struct Newest {
    pub(crate) number: u32,
    pub(crate) header: Header,
    /// Behind the last newline.
    pub(crate) end: u64,
    pub(crate) is_plain: bool,
    /// Whether there is a record of its generation, in it or in an earlier segment.
    pub(crate) has_records: bool,
    /// Of the lines from its last head on.
    pub(crate) marks: Vec<u32>,
}

pub(crate) struct Survey {
    pub(crate) carried: Carried,
    /// The newest segment that has a header.
    pub(crate) newest: Option<Newest>,
    /// One behind it that has none: its writer was stopped at once. Its number is used again.
    pub(crate) stillborn: Option<u32>,
}

/// Reads what the journal in this folder (a session folder or a journal folder) says of the run before.
///
/// # Errors
/// When it cannot be read.
pub fn survey(path: &Path) -> Result<Carried, ReadError> {
    let dir = folder::journal_of(path).map_err(|error| ReadError::io(path, error))?;
    Ok(look(&dir)?.carried)
}

/// Goes through the newest segments.
pub(crate) fn look(dir: &Path) -> Result<Survey, ReadError> {
    let numbers = folder::segments(dir).map_err(|error| ReadError::io(dir, error))?;
    let mut survey = Survey {
        carried: Carried::default(),
        newest: None,
        stillborn: None,
    };
    for number in numbers.into_iter().rev() {
        let Some(sweep) = Sweep::of(dir, number)? else {
            // Only behind all others: a segment is followed by another one only when it has a header.
            if survey.newest.is_some() || survey.stillborn.is_some() {
                return Err(ReadError::headless(dir, number));
            }
            survey.stillborn = Some(number);
            continue;
        };
        let is_everything = sweep.said_everything;
        survey.add(number, sweep);
        if is_everything {
            survey.find_boot(dir, number)?;
            break;
        }
    }
    Ok(survey)
}

impl Survey {
    /// Adds what this segment says and later ones did not.
    fn add(&mut self, number: u32, sweep: Sweep) {
        let earlier = sweep.said;
        let Some(newest) = &mut self.newest else {
            self.carried = earlier;
            self.newest = Some(Newest {
                number,
                end: sweep.lines.offset(),
                is_plain: sweep.lines.is_plain(),
                has_records: sweep.records > 0,
                header: sweep.header,
                marks: sweep.marks,
            });
            return;
        };
        let known = &mut self.carried;
        known.last_n = known.last_n.max(earlier.last_n);
        known.epoch = known.epoch.max(earlier.epoch);
        if known.generation == earlier.generation {
            newest.has_records |= sweep.records > 0;
            known.at = known.at.max(earlier.at);
            known.boot_id = known.boot_id.take().or(earlier.boot_id);
            known.agent = known.agent.take().or(earlier.agent);
            known.exit = known.exit.take().or(earlier.exit);
            known.lost |= earlier.lost;
        }
    }

    /// The boot stands only at the beginning of a generation, perhaps some segments back.
    fn find_boot(&mut self, dir: &Path, from: u32) -> Result<(), ReadError> {
        for number in (1..from).rev() {
            if self.carried.boot_id.is_some() {
                break;
            }
            match first_event(dir, number)? {
                Some((header, event)) if header.generation == self.carried.generation => {
                    if let Some(KeeperEvent::Open { boot_id, .. }) = event {
                        self.carried.boot_id = Some(boot_id);
                    }
                }
                _ => break,
            }
        }
        Ok(())
    }
}

/// The header of a segment, and what its first record says if it is one of the keeper.
fn first_event(
    dir: &Path,
    number: u32,
) -> Result<Option<(Header, Option<KeeperEvent>)>, ReadError> {
    let fail = |error| ReadError::io(&folder::plain(dir, number), error);
    let Some(source) = Source::of(dir, number).map_err(fail)? else {
        return Ok(None);
    };
    let mut lines = Lines::new(source);
    let Piece::Line(line) = lines.next(usize::MAX).map_err(fail)? else {
        return Ok(None);
    };
    let header =
        Header::parse(lines.bytes(line)).map_err(|why| ReadError::header(dir, number, why))?;
    let event = match lines.next(usize::MAX).map_err(fail)? {
        Piece::Line(line) => Record::parse(lines.bytes(line)).ok().and_then(event_of),
        _ => None,
    };
    Ok(Some((header, event)))
}

fn event_of(record: Record<'_>) -> Option<KeeperEvent> {
    match record.kind {
        Kind::Keeper => serde_json::from_slice(record.payload).ok(),
        _ => None,
    }
}

/// One segment, gone through.
struct Sweep {
    header: Header,
    lines: Lines,
    said: Carried,
    records: u64,
    marks: Vec<u32>,
    /// Whether its first record sums up all segments before it.
    said_everything: bool,
    /// The number in the note right before, whose line is still to come.
    noted: Option<u64>,
}

impl Sweep {
    /// None for a segment without a whole header.
    fn of(dir: &Path, number: u32) -> Result<Option<Self>, ReadError> {
        let fail = |error| ReadError::io(&folder::plain(dir, number), error);
        let Some(source) = Source::of(dir, number).map_err(fail)? else {
            return Ok(None);
        };
        let mut lines = Lines::new(source);
        let Piece::Line(line) = lines.next(usize::MAX).map_err(fail)? else {
            return Ok(None);
        };
        let line = lines.bytes(line);
        let header = Header::parse(line).map_err(|why| ReadError::header(dir, number, why))?;
        let marks = marks::first(&header, line);
        let said = Carried {
            session: header.session.clone(),
            generation: header.generation,
            seq: header.first_seq.saturating_sub(1),
            ..Carried::default()
        };
        let mut sweep = Self {
            header,
            lines,
            said,
            records: 0,
            marks,
            said_everything: false,
            noted: None,
        };
        loop {
            match sweep.lines.next(usize::MAX).map_err(fail)? {
                Piece::Line(line) => sweep.line(line),
                Piece::Long(_) => {}
                Piece::End { behind } => {
                    sweep.said.torn = behind;
                    return Ok(Some(sweep));
                }
            }
        }
    }

    fn line(&mut self, line: Range<usize>) {
        let line = self.lines.bytes(line);
        let mark = marks::of(line);
        self.records += 1;
        // What is no record is `verify`'s to report; it takes no number away.
        let Ok(record) = Record::parse(line) else {
            return self.marks.push(mark);
        };
        self.said.seq = self.said.seq.max(record.seq);
        self.said.at = self.said.at.max(record.at);
        let noted = self.noted.take();
        match record.kind {
            Kind::Note => {
                let note: Option<Note> = serde_json::from_slice(record.payload).ok();
                self.noted = note.and_then(|note| note.n);
            }
            // A note whose line was torn off stands for nothing: the number is free, and the host hands it in again.
            Kind::Host => self.said.last_n = self.said.last_n.max(noted.unwrap_or(0)),
            Kind::Keeper => {
                if let Some(event) = event_of(record) {
                    if matches!(event, KeeperEvent::Head { .. }) {
                        self.marks.clear();
                    }
                    self.hear(event);
                }
            }
            _ => {}
        }
        self.marks.push(mark);
    }

    fn hear(&mut self, event: KeeperEvent) {
        let is_first = self.records == 1;
        let said = &mut self.said;
        match event {
            KeeperEvent::Open {
                boot_id,
                last_n,
                epoch,
                ..
            } => {
                said.boot_id = Some(boot_id);
                said.last_n = said.last_n.max(last_n);
                said.epoch = said.epoch.max(epoch);
                self.said_everything |= is_first;
            }
            KeeperEvent::Carried {
                last_n,
                epoch,
                agent,
                ..
            } => {
                said.last_n = said.last_n.max(last_n);
                said.epoch = said.epoch.max(epoch);
                said.agent = said.agent.take().or(agent);
                self.said_everything |= is_first;
            }
            KeeperEvent::Spawned { pid, started } => {
                said.agent = Some(SpawnedAgent { pid, started });
            }
            KeeperEvent::Attached { epoch } => said.epoch = said.epoch.max(epoch),
            KeeperEvent::Exit(exit) => said.exit = Some(exit),
            KeeperEvent::Lost { .. } => said.lost = true,
            _ => {}
        }
    }
}
