//! Followers of a session: each reads the journal at its own pace.
//!
//! Owns the level, how far a session's journal may be read, and the stream of records from a cursor on. Invariants: only
//! the level is told, never a record, so a slow follower costs a batch and no one else's time; what a keeper may
//! still take back is not given out.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use countersign_journal::{Cursor, ReadError, Reader, Step, Tail};
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use tokio::sync::watch;

use crate::control::{ControlError, Followed, Result, SessionId};
use crate::pull::{self, Pulled, Source};

/// So many records are read at once, and wait for a follower that does not read.
const WAITING: usize = 256;

/// So many bytes are read at once, and one record more.
const AT_ONCE: usize = 32 << 10;

/// How far a journal may be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Level {
    /// Up to here; to its end where no keeper writes it.
    pub(crate) tail: Option<Tail>,
    version: u64,
}

/// The levels of all sessions that somebody watches.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    all: Mutex<HashMap<SessionId, watch::Sender<Level>>>,
    /// Records by which levels have risen since the host began.
    records: AtomicU64,
}

impl Levels {
    /// The level of a session, as it changes.
    pub(crate) fn watch(&self, session: SessionId) -> watch::Receiver<Level> {
        let mut levels = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        // Those whom nobody watches any more and whose journal is at rest.
        levels.retain(|_, level| level.receiver_count() > 0 || level.borrow().tail.is_some());
        levels.entry(session).or_default().subscribe()
    }

    /// The journal of a session has grown, or its keeper has come or gone.
    pub(crate) fn set(&self, session: SessionId, tail: Option<Tail>) {
        let mut levels = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let level = levels.entry(session).or_default();
        if tail.is_none() && level.receiver_count() == 0 {
            levels.remove(&session);
            return;
        }
        level.send_modify(|level| {
            // The first level of a journal is what was there already.
            if let (Some(before), Some(now)) = (&level.tail, &tail) {
                let more = now.seq.saturating_sub(before.seq);
                self.records.fetch_add(more, Ordering::Relaxed);
            }
            level.tail = tail;
            level.version += 1;
        });
    }
}

impl Levels {
    /// Records that were written since the host began.
    pub(crate) fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }
}

/// A cursor in its text form, `generation-seq`.
pub(crate) fn cursor(text: &str) -> Result<Cursor> {
    text.parse()
        .map_err(|_| ControlError::invalid(format!("`{text}` is no cursor: `generation-seq`")))
}

/// The records of a session behind `after`, then new ones as they come.
pub(crate) fn follow(
    dir: PathBuf,
    after: Option<Cursor>,
    max_inline: usize,
    levels: watch::Receiver<Level>,
) -> BoxStream<'static, Result<Followed>> {
    Box::pin(Pulled::new(Follower {
        dir,
        after: after.unwrap_or(Cursor::START),
        max_inline,
        levels,
        reader: None,
        was_told: false,
        is_idle: false,
    }))
}

struct Follower {
    dir: PathBuf,
    after: Cursor,
    max_inline: usize,
    levels: watch::Receiver<Level>,
    reader: Option<Reader>,
    /// It was said that history ends.
    was_told: bool,
    /// There was nothing more when it last looked.
    is_idle: bool,
}

/// What one look at the file gave.
struct Batch {
    items: Vec<Followed>,
    is_end: bool,
    cursor: Cursor,
}

impl Source for Follower {
    type Item = Result<Followed>;

    fn next(mut self) -> BoxFuture<'static, (Option<Self>, Vec<Self::Item>)> {
        Box::pin(async move {
            if self.is_idle && self.levels.changed().await.is_err() {
                return (None, Vec::new());
            }
            let level = self.levels.borrow_and_update().clone();
            let looked = pull::look(move || {
                let batch = self.look(&level);
                (self, batch)
            });
            match looked.await {
                Some((mut follower, Ok(batch))) => {
                    let items = follower.told(batch);
                    (Some(follower), items)
                }
                Some((_, Err(error))) => {
                    let why = format!("the journal cannot be read: {error}");
                    let told = ControlError::Unavailable {
                        why,
                        retry_ms: 1_000,
                    };
                    (None, vec![Err(told)])
                }
                None => (None, Vec::new()),
            }
        })
    }
}

impl Follower {
    /// What is told of a look.
    fn told(&mut self, batch: Batch) -> Vec<Result<Followed>> {
        let mut items: Vec<_> = batch.items.into_iter().map(Ok).collect();
        self.is_idle = batch.is_end;
        if batch.is_end && !std::mem::replace(&mut self.was_told, true) {
            let cursor = batch.cursor.to_string();
            items.push(Ok(Followed::CaughtUp { cursor }));
        }
        items
    }

    fn look(&mut self, level: &Level) -> std::result::Result<Batch, ReadError> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            // There is no journal before the first agent.
            None if !self.dir.join("journal").exists() => {
                return Ok(Batch {
                    items: Vec::new(),
                    is_end: true,
                    cursor: self.after,
                });
            }
            none => {
                let mut reader = Reader::open(&self.dir)?.with_max_inline(self.max_inline);
                reader.seek(self.after)?;
                none.insert(reader)
            }
        };
        reader.set_limit(level.tail);
        let mut items = Vec::new();
        let mut bytes = 0;
        while bytes < AT_ONCE && items.len() < WAITING {
            let (generation, step) = reader.next_of()?;
            let found = match step {
                Step::Record(record) => {
                    bytes += record.payload.len();
                    Found::Record(
                        record.seq,
                        record.at,
                        char::from(record.kind.letter()),
                        record.payload.to_vec(),
                    )
                }
                Step::Large(large) => Found::Large(
                    large.seq,
                    large.at,
                    char::from(large.kind.letter()),
                    large.len,
                ),
                Step::Rewound { to } => Found::Rewound(to),
                Step::End => {
                    return Ok(Batch {
                        items,
                        is_end: true,
                        cursor: reader.cursor(),
                    });
                }
                // `verify` tells of damage.
                _ => continue,
            };
            items.push(found.named(generation));
        }
        Ok(Batch {
            items,
            is_end: false,
            cursor: reader.cursor(),
        })
    }
}

/// What was read, before its generation is known.
enum Found {
    Record(u64, u64, char, Vec<u8>),
    Large(u64, u64, char, u64),
    Rewound(Cursor),
}

impl Found {
    fn named(self, generation: u32) -> Followed {
        let cursor = |seq| Cursor::new(generation, seq).to_string();
        match self {
            Self::Record(seq, at, kind, payload) => Followed::Record {
                cursor: cursor(seq),
                at,
                kind,
                payload,
            },
            Self::Large(seq, at, kind, len) => Followed::Large {
                cursor: cursor(seq),
                at,
                kind,
                len,
            },
            Self::Rewound(to) => Followed::Rewound { to: to.to_string() },
        }
    }
}
