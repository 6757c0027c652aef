//! Reads a journal from any place, while it is written.
//!
//! Owns the way through the segments and generations. Writes nothing but the derived index. Invariants: only whole
//! records are given out, each once and in order; a segment is left only when the next one has its header, because from
//! then on nothing is appended to it; memory does not grow with the journal.

mod index;
mod range;
mod seek;
mod upcoming;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::folder;
use crate::header::BadHeader;
use crate::lines::{BUFFER, Lines, Piece};
use crate::record::{BadRecord, Kind, MOST_AROUND, Record};
use crate::tail::Tail;
use upcoming::Upcoming;

pub use range::read_range;

/// What comes next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<'a> {
    /// A record.
    Record(Record<'a>),
    /// A record that is larger than is taken inline: [`read_range`] gets its bytes.
    Large(Large),
    /// The place that was asked for, or reached, is gone: a power loss or a full disk took it. It goes on behind `to`.
    Rewound {
        /// The last record before the gap.
        to: Cursor,
    },
    /// Something that is no record. It is passed over.
    Damaged(Damaged),
    /// Nothing more for now. Ask again when the journal has grown.
    End,
}

/// A record without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Large {
    /// Its number.
    pub seq: u64,
    /// When it was written: microseconds of Unix time.
    pub at: u64,
    /// What it holds.
    pub kind: Kind,
    /// How long the payload is.
    pub len: u64,
    /// BLAKE3 of the payload.
    pub digest: [u8; 32],
}

/// Something that is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged {
    /// The number of the segment.
    pub segment: u32,
    /// Where in its plain bytes.
    pub offset: u64,
    /// How long it is.
    pub len: u64,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// It is no record.
    #[error("no record: {0}")]
    Record(#[from] BadRecord),
    /// It should be the header of the segment.
    #[error("no header: {0}")]
    Header(#[from] BadHeader),
    /// It has no end, and yet there is a later segment.
    #[error("the end of the segment is torn")]
    Torn,
}

/// The segment that is read.
struct Current {
    number: u32,
    lines: Lines,
    generation: u32,
    /// Whether the folder was searched for a segment behind a missing one.
    looked_far: bool,
}

/// Where segments come from.
#[derive(Debug, Clone)]
enum Place {
    Folder(PathBuf),
    File(PathBuf),
}

/// Reads a journal. There may be any number of them.
pub struct Reader {
    place: Place,
    session: String,
    current: Option<Current>,
    /// The next segment, once it has begun.
    next: Option<Upcoming>,
    cursor: Cursor,
    rewound: Option<Cursor>,
    damaged: VecDeque<Damaged>,
    max_inline: usize,
    limit: Option<Tail>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("place", &self.place)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}

/// [`Step`] without what is borrowed.
enum Found {
    /// What stands before its payload, and where that is in the buffer.
    Record {
        seq: u64,
        at: u64,
        kind: Kind,
        payload: Range<usize>,
    },
    Large(Large),
    Rewound(Cursor),
    Damaged(Damaged),
    End,
}

impl Reader {
    /// Opens a session folder, a journal folder or one segment, at its beginning. A folder may still be empty.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let fail = |error| ReadError::io(path, error);
        let place = if path.is_file() {
            Place::File(path.to_owned())
        } else if path.is_dir() || path.file_name().is_some_and(|name| name == "journal") {
            Place::Folder(folder::journal_of(path).map_err(fail)?)
        } else {
            return Err(fail(io::ErrorKind::NotFound.into()));
        };
        let mut reader = Self {
            place,
            session: String::new(),
            current: None,
            next: None,
            cursor: Cursor::START,
            rewound: None,
            damaged: VecDeque::new(),
            max_inline: usize::MAX,
            limit: None,
        };
        reader.begin()?;
        Ok(reader)
    }

    /// Larger payloads come as [`Step::Large`].
    pub fn with_max_inline(mut self, bytes: usize) -> Self {
        self.max_inline = bytes;
        self
    }

    /// Reads no further than a writer has said. Without a limit a reader may see records that a writer takes back again
    /// because the disk was full in the middle of them; it says so ([`Step::Rewound`]).
    pub fn set_limit(&mut self, tail: Option<Tail>) {
        self.limit = tail;
    }

    /// After the last record that was given out.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The generation that is read; 0 before the first.
    pub fn generation(&self) -> u32 {
        self.current
            .as_ref()
            .map_or(0, |current| current.generation)
    }

    /// The session; empty as long as there is no segment.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// What comes next.
    ///
    /// # Errors
    /// When it cannot be read, or was written by a later build.
    #[expect(
        clippy::should_implement_trait,
        reason = "a step borrows from the reader"
    )]
    pub fn next(&mut self) -> Result<Step<'_>, ReadError> {
        self.next_of().map(|(_, step)| step)
    }

    /// What comes next, and the generation it belongs to.
    ///
    /// # Errors
    /// As [`Reader::next`].
    pub fn next_of(&mut self) -> Result<(u32, Step<'_>), ReadError> {
        let found = self.find()?;
        let step = match found {
            Found::Record {
                seq,
                at,
                kind,
                payload,
            } => match &self.current {
                Some(current) => Step::Record(Record {
                    seq,
                    at,
                    kind,
                    payload: current.lines.bytes(payload),
                }),
                None => Step::End,
            },
            Found::Large(large) => Step::Large(large),
            Found::Rewound(to) => Step::Rewound { to },
            Found::Damaged(damaged) => Step::Damaged(damaged),
            Found::End => Step::End,
        };
        Ok((self.generation(), step))
    }

    fn find(&mut self) -> Result<Found, ReadError> {
        loop {
            if let Some(to) = self.rewound.take() {
                return Ok(Found::Rewound(to));
            }
            if let Some(damaged) = self.damaged.pop_front() {
                return Ok(Found::Damaged(damaged));
            }
            if self.is_at_limit() {
                if let Some(current) = &mut self.current {
                    current.lines.rest();
                }
                return Ok(Found::End);
            }
            if self.current.is_none() && !self.begin()? {
                return Ok(Found::End);
            }
            let most = self.max_inline.saturating_add(MOST_AROUND);
            let Some(current) = &mut self.current else {
                return Ok(Found::End);
            };
            let number = current.number;
            let offset = current.lines.offset();
            let bound = self.limit.filter(|limit| limit.seg == number);
            let bound = current.lines.set_bound(bound.map(|limit| limit.off));
            let piece = bound.and_then(|()| current.lines.next(most));
            match piece.map_err(|error| self.fail(number, error))? {
                Piece::Line(line) => return Ok(self.take(line, offset)),
                Piece::Long(begin) => {
                    let behind = begin.len() as u64;
                    if let Some(found) = self.skim(begin)? {
                        return Ok(found);
                    }
                    if !self.leave(behind)? {
                        return Ok(Found::End);
                    }
                }
                Piece::End { behind } => {
                    if !self.leave(behind)? {
                        return Ok(Found::End);
                    }
                }
            }
        }
    }

    fn is_at_limit(&self) -> bool {
        let (Some(limit), Some(current)) = (self.limit, &self.current) else {
            return false;
        };
        (current.number, current.lines.offset()) >= (limit.seg, limit.off)
    }

    /// A whole line is a record, or it is damaged.
    fn take(&mut self, line: Range<usize>, offset: u64) -> Found {
        let Some(current) = &self.current else {
            return Found::End;
        };
        match Record::parse(current.lines.bytes(line.clone())) {
            Ok(record) => {
                self.cursor = Cursor::new(current.generation, record.seq);
                if record.payload.len() <= self.max_inline {
                    return Found::Record {
                        seq: record.seq,
                        at: record.at,
                        kind: record.kind,
                        payload: line.end - record.payload.len()..line.end,
                    };
                }
                Found::Large(Large {
                    seq: record.seq,
                    at: record.at,
                    kind: record.kind,
                    len: record.payload.len() as u64,
                    digest: blake3::hash(record.payload).into(),
                })
            }
            Err(bad) => Found::Damaged(Damaged {
                segment: current.number,
                offset,
                len: line.len() as u64,
                flaw: bad.into(),
            }),
        }
    }

    /// Passes over a record that is too large. None if it is not complete yet.
    fn skim(&mut self, begin: Range<usize>) -> Result<Option<Found>, ReadError> {
        let Some(current) = &mut self.current else {
            return Ok(None);
        };
        let number = current.number;
        let offset = current.lines.offset();
        let (around, parsed) = around(current.lines.bytes(begin));
        let mut hasher = blake3::Hasher::new();
        let mut seen = 0;
        let skimmed = current.lines.skim(|bytes| {
            let skip = around.saturating_sub(seen).min(bytes.len());
            seen += bytes.len();
            hasher.update(&bytes[skip..]);
        });
        let Some(len) = skimmed.map_err(|error| self.fail(number, error))? else {
            return Ok(None);
        };
        Ok(Some(match parsed {
            Ok((seq, at, kind)) => {
                self.cursor = Cursor::new(self.generation(), seq);
                Found::Large(Large {
                    seq,
                    at,
                    kind,
                    len: len - around as u64,
                    digest: hasher.finalize().into(),
                })
            }
            Err(bad) => Found::Damaged(Damaged {
                segment: number,
                offset,
                len,
                flaw: bad.into(),
            }),
        }))
    }

    fn fail(&self, number: u32, error: io::Error) -> ReadError {
        match &self.place {
            Place::Folder(dir) => ReadError::io(&folder::plain(dir, number), error),
            Place::File(path) => ReadError::io(path, error),
        }
    }
}

/// How long it is before the payload, and what stands there, from the beginning of a long line.
fn around(begin: &[u8]) -> (usize, Result<(u64, u64, Kind), BadRecord>) {
    let begin = &begin[..begin.len().min(BUFFER)];
    match Record::parse(begin) {
        Ok(record) => {
            let around = begin.len() - record.payload.len();
            (around, Ok((record.seq, record.at, record.kind)))
        }
        Err(bad) => (0, Err(bad)),
    }
}
