//! Followers of a session's transcript.
//!
//! Owns the fold of each follower and what it is told. A follower begins at the checkpoint in front of its cursor, so to go on
//! costs a page and not the session. Invariants: all that one record changes is told at once; what a keeper may still take
//! back is not told.

use std::path::PathBuf;

use countersign_journal::{Cursor, Reader, Step};
use countersign_transcript::Fold;
use futures_core::future::BoxFuture;
use tokio::sync::watch;

use crate::control::{Result, SessionId, Told};
use crate::follow::Level;
use crate::host::Inner;
use crate::pages::{self, PagesError, Turns};
use crate::pull::{self, Source};
use crate::store::Store;

/// So many bytes of records are folded at once.
const AT_ONCE: usize = 32 << 10;

/// One who follows a transcript.
pub(crate) struct Teller {
    session: SessionId,
    dir: PathBuf,
    store: Store,
    turns: Turns,
    levels: watch::Receiver<Level>,
    /// Behind this record to begin with.
    after: Cursor,
    at: Option<At>,
    /// It was said that history ends.
    was_told: bool,
    /// Totals changed since they were told.
    is_counted: bool,
    /// There was nothing more when it last looked.
    is_idle: bool,
}

/// Where it is.
struct At {
    reader: Reader,
    fold: Fold,
}

impl Teller {
    pub(crate) fn new(inner: &Inner, session: SessionId, after: Option<Cursor>) -> Self {
        Self {
            session,
            dir: inner.folders.session(session),
            store: inner.store.clone(),
            turns: inner.pages.clone(),
            levels: inner.levels.watch(session),
            after: after.unwrap_or(Cursor::START),
            at: None,
            was_told: false,
            is_counted: true,
            is_idle: false,
        }
    }

    /// The fold behind a record. The checkpoints of the journal are made as far as it goes.
    fn fold(&self, level: &Level, behind: Cursor) -> std::result::Result<Fold, PagesError> {
        if behind == Cursor::START {
            return Ok(Fold::new());
        }
        let turn = self.turns.take_blocking(self.session);
        let (pages, mut reader) =
            pages::open(&self.store, &self.dir, self.session, level.tail, &turn)?;
        Ok(pages.fold_behind(&mut reader, behind)?)
    }

    /// Folds what there is more. Whether that was all.
    fn look(
        &mut self,
        level: &Level,
        told: &mut Vec<Told>,
    ) -> std::result::Result<bool, PagesError> {
        let mut at = match self.at.take() {
            Some(at) => at,
            // There is no journal before the first agent.
            None if !self.dir.join("journal").exists() => {
                self.say_totals(&Fold::new(), told);
                return Ok(true);
            }
            None => {
                let fold = self.fold(level, self.after)?;
                let mut reader = Reader::open(&self.dir)?;
                reader.seek(self.after)?;
                At { reader, fold }
            }
        };
        at.reader.set_limit(level.tail);
        let mut bytes = 0;
        let is_end = loop {
            if bytes >= AT_ONCE {
                break false;
            }
            let (generation, step) = at.reader.next_of()?;
            match step {
                Step::Record(record) => {
                    bytes += record.payload.len();
                    let changes = at.fold.step(generation, &record);
                    self.is_counted |= changes.totals;
                    if !changes.entries.is_empty() {
                        told.push(Told::Changes(Box::new(changes)));
                    }
                }
                Step::Rewound { to } => {
                    at.fold = self.fold(level, to)?;
                    self.is_counted = true;
                    told.push(Told::Rewound { to: to.to_string() });
                }
                Step::End => break true,
                // `verify` tells of damage; nothing is too large without a limit.
                _ => {}
            }
        };
        if is_end {
            self.say_totals(&at.fold, told);
        }
        self.after = at.reader.cursor();
        self.at = Some(at);
        Ok(is_end)
    }

    fn say_totals(&mut self, fold: &Fold, told: &mut Vec<Told>) {
        if std::mem::replace(&mut self.is_counted, false) {
            told.push(Told::Totals(Box::new(fold.totals().clone())));
        }
    }
}

impl Source for Teller {
    type Item = Result<Told>;

    fn next(mut self) -> BoxFuture<'static, (Option<Self>, Vec<Self::Item>)> {
        Box::pin(async move {
            if self.is_idle && self.levels.changed().await.is_err() {
                return (None, Vec::new());
            }
            let level = self.levels.borrow_and_update().clone();
            let looked = pull::look(move || {
                let mut told = Vec::new();
                let is_end = self.look(&level, &mut told);
                (self, told, is_end)
            });
            let Some((mut teller, told, is_end)) = looked.await else {
                return (None, Vec::new());
            };
            let mut items: Vec<_> = told.into_iter().map(Ok).collect();
            match is_end {
                Ok(is_end) => {
                    teller.is_idle = is_end;
                    if is_end && !std::mem::replace(&mut teller.was_told, true) {
                        let cursor = teller.after.to_string();
                        items.push(Ok(Told::CaughtUp { cursor }));
                    }
                    (Some(teller), items)
                }
                Err(error) => {
                    items.push(Err(error.into()));
                    (None, items)
                }
            }
        })
    }
}
