//! From the journal to what is known of a session: a batch of records at a time.
//!
//! Owns the reader of one session and everything that is derived from its records while they come: facts for the core,
//! moves of approvals, the family of sub-agents, the plan files. Writes nothing; the actor stores what a batch gives, with
//! the cursor behind it. Invariants: records are taken in their order and once; what a keeper may still take back is not
//! read; memory does not grow with the journal.

use std::path::{Path, PathBuf};

use countersign_journal::{Cursor, Kind, ReadError, Reader, Step, Tail};

use super::book::{Book, Move};
use crate::approval::Family;
use crate::control::approval::Life;
use crate::session::{Fact, facts};

/// So many records, or bytes, are one batch.
const RECORDS: usize = 512;
const BYTES: usize = 512 << 10;

/// What a batch of records gave, in order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) facts: Vec<Fact>,
    pub(crate) moves: Vec<Move>,
    /// How many records there were.
    pub(crate) records: usize,
    /// When the last one was written that agent or host said.
    pub(crate) at: Option<u64>,
    /// There may be more.
    pub(crate) has_more: bool,
    /// Records that were taken are gone: everything behind this one is to be read again.
    pub(crate) rewound: Option<Cursor>,
}

/// The journal of one session, as far as it was taken.
#[derive(Debug)]
pub(crate) struct Projection {
    dir: PathBuf,
    cursor: Cursor,
    reader: Option<Reader>,
    pub(crate) book: Book,
    pub(crate) family: Family,
}

impl Projection {
    pub(crate) fn new(dir: &Path, cursor: Cursor, book: Book) -> Self {
        Self {
            dir: dir.to_owned(),
            cursor,
            reader: None,
            book,
            family: Family::default(),
        }
    }

    /// With what was known of sub-agents before.
    pub(crate) fn with_family(mut self, family: Family) -> Self {
        self.family = family;
        self
    }

    /// The last record that was taken.
    pub(crate) fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Lets go of the file: an agent that sleeps costs no buffer.
    pub(crate) fn rest(&mut self) {
        self.reader = None;
    }

    /// Takes what is there, up to the tail; a part of it, if it is much. `heard` gets every line of the agent.
    pub(crate) fn take(
        &mut self,
        tail: Option<Tail>,
        mut heard: impl FnMut(&[u8]),
    ) -> Result<Batch, ReadError> {
        let mut batch = Batch::default();
        let Self {
            dir,
            cursor,
            reader,
            book,
            family,
        } = self;
        let reader = match reader {
            Some(reader) => reader,
            None if !dir.join("journal").exists() => return Ok(batch),
            none => {
                let mut opened = Reader::open(dir)?;
                opened.seek(*cursor)?;
                none.insert(opened)
            }
        };
        reader.set_limit(tail);
        let mut bytes = 0;
        let mut has_failed = false;
        while batch.records < RECORDS && bytes < BYTES {
            let (generation, step) = match reader.next_of() {
                Ok(next) => next,
                // What was read before it counts: it is behind the cursor. What is wrong is told at the next try.
                Err(_) if batch.records > 0 => {
                    has_failed = true;
                    break;
                }
                Err(error) => return Err(error),
            };
            match step {
                Step::Record(record) => {
                    bytes += record.payload.len();
                    batch.records += 1;
                    // A host that comes and goes is written down by the keeper, and is nothing that the session does.
                    if !matches!(record.kind, Kind::Keeper | Kind::Note) {
                        batch.at = Some(record.at);
                    }
                    if record.kind == Kind::Agent {
                        family.note(record.payload);
                        heard(record.payload);
                    }
                    let moves = book.take(generation, &record);
                    if record.kind == Kind::Agent {
                        batch.facts.extend(closed(&moves));
                    }
                    batch.facts.extend(facts(&record));
                    batch.moves.extend(moves);
                    *cursor = Cursor::new(generation, record.seq);
                }
                Step::Rewound { to } => {
                    *cursor = to;
                    book.cut(to);
                    batch.rewound = Some(to);
                    return Ok(batch);
                }
                Step::End => return Ok(batch),
                // `verify` tells of damage.
                _ => {}
            }
        }
        if has_failed {
            self.rest();
        }
        batch.has_more = true;
        Ok(batch)
    }
}

/// The questions that are over by what the agent said, whatever it was: a call that came back had no need of an answer. They
/// come before what the line says itself, which may ask again under the same name.
fn closed(moves: &[Move]) -> impl Iterator<Item = Fact> {
    moves.iter().filter_map(|step| match step {
        Move::Life {
            request_id,
            life: Life::Settled { .. } | Life::Withdrawn { .. },
            ..
        } => Some(Fact::withdrawn(request_id)),
        Move::Life { .. } | Move::Asked(_) => None,
    })
}
