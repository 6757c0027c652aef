//! What an actor stores of its session, and what it tells of it.
//!
//! Owns what is not yet stored. Invariant: state, approvals and cursor go in one transaction, so a host that ends at any
//! point finds them in step.

use std::sync::Arc;

use countersign_journal::Cursor;

use crate::control::approval::{Decided, Life};
use crate::control::{ApprovalId, Happened, Mode, State, now};
use crate::store::approvals::ApprovalRow;
use crate::store::{Connection, Durability, StoreError, approvals, events, plans, sessions};

use super::Actor;

/// A cursor alone is stored this often: what lies behind it is read again after a crash.
const CURSOR_EVERY: u64 = 2_000_000;

/// What nobody is asked about is stored this soon: what rules decide and which tool runs, one with the other, and not while
/// the keeper syncs an answer to the same disk. It stands in the journal, and is read again after a crash.
const UNASKED_WITHIN: u64 = 100_000;

/// So much of it waits at most.
const MOST_UNASKED: usize = 64;

/// After a failure it is tried again.
const AGAIN: u64 = 1_000_000;

/// What is not yet stored.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    /// The session stands otherwise.
    pub(super) changed: bool,
    /// It stands as it did, for another reason.
    pub(super) reason: bool,
    /// More records were taken.
    pub(super) cursor: bool,
    pub(super) asked: Vec<ApprovalRow>,
    /// Questions that were stored before and that policy was asked about again.
    pub(super) judged: Vec<ApprovalRow>,
    pub(super) lives: Vec<(ApprovalId, Life, Option<Decided>)>,
    /// One of them was laid before a person.
    pub(super) lives_are_awaited: bool,
    pub(super) plans: Vec<(ApprovalId, u64, String)>,
    /// So many messages wait.
    pub(super) queue: Option<u32>,
    /// The last state that was told, and why; and the mode.
    told: Option<(State, String, Mode)>,
    /// When it is to be stored at the latest.
    at: Option<u64>,
    /// It could not be stored when it was tried last.
    has_failed: bool,
}

impl Unsaved {
    pub(super) fn is_empty(&self) -> bool {
        self.patience().is_none()
    }

    /// How long it may wait. None: there is nothing.
    fn patience(&self) -> Option<u64> {
        if self.is_urgent() {
            return Some(0);
        }
        let unasked = self.asked.len() + self.lives.len();
        match unasked {
            MOST_UNASKED.. => Some(0),
            1.. => Some(UNASKED_WITHIN),
            0 if self.reason => Some(UNASKED_WITHIN),
            0 => self.cursor.then_some(CURSOR_EVERY),
        }
    }

    fn is_urgent(&self) -> bool {
        self.changed
            || self.queue.is_some()
            || self.asked.iter().any(|row| !row.is_decided_by_rule())
            || !self.judged.is_empty()
            || self.lives_are_awaited
            || !self.plans.is_empty()
    }

    /// What rules decided and no row tells of yet.
    pub(super) fn decided_by_rule(&self) -> Vec<ApprovalRow> {
        let rows = self.asked.iter().chain(&self.judged);
        rows.filter(|row| row.is_decided_by_rule())
            .cloned()
            .collect()
    }

    /// When it is to be stored.
    pub(super) fn due(&self) -> Option<u64> {
        self.at
    }
}

impl Actor {
    /// Stores what is to be stored by now.
    pub(super) async fn save(&mut self) {
        let at = now();
        let Some(patience) = self.unsaved.patience() else {
            self.unsaved.at = None;
            return;
        };
        let due = match self.unsaved.at {
            // Not at once again.
            Some(again) if self.unsaved.has_failed => again,
            Some(due) => due.min(at + patience),
            None => at + patience,
        };
        if at < due {
            self.unsaved.at = Some(due);
            return;
        }
        self.store(at).await;
    }

    /// The host ends: rows that wait for others are stored. No agent is given anything meanwhile.
    pub(super) async fn store_rest(&mut self) {
        self.to_answer.clear();
        let unsaved = &self.unsaved;
        if !unsaved.asked.is_empty() || !unsaved.lives.is_empty() {
            self.store(now()).await;
        }
    }

    /// Stores it all.
    pub(super) async fn store(&mut self, at: u64) {
        let stored = self.store_with(at, Durability::Normal, |_| Ok(())).await;
        if let Err(error) = stored {
            tracing::warn!(session = %self.id, %error, "a session cannot be stored");
            let stands = (self.core.state(), self.core.reason());
            self.inner.set_unstored(self.id, Some(stands));
        }
    }

    /// Stores it all together with a deed, or nothing. Nothing else moves the cursor of the row, so that one which is stored
    /// for another reason never says that records were taken whose consequences are not stored.
    pub(super) async fn store_with<T: Send + 'static>(
        &mut self,
        at: u64,
        how: Durability,
        deed: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let before = (self.row.cursor, self.row.core.clone());
        let had_failed = self.unsaved.has_failed;
        let (work, told) = self.take_unsaved();
        let (kept, is_news) = (work.clone(), work.state.is_some());
        let job = move |it: &Connection| Ok((deed(it)?, work.store(it, at)?));
        let inner = Arc::clone(&self.inner);
        match self.answering(inner.store.write(how, job)).await {
            Ok((done, has_events)) => {
                if kept.asked.iter().any(|row| row.life == Life::Open) {
                    crate::points::passed("question stored");
                }
                crate::points::passed("projection stored");
                self.unsaved.told = Some(told);
                if had_failed {
                    self.inner.set_unstored(self.id, None);
                }
                if has_events {
                    self.inner.happened();
                }
                if is_news {
                    self.inner.stands(self.id);
                }
                self.inner.notify(kept);
                Ok(done)
            }
            Err(error) => {
                (self.row.cursor, self.row.core) = before;
                // A wish that is refused says nothing about the disk.
                let again = (!error.is_refusal()).then_some(at + AGAIN);
                self.unsaved.put_back(kept, again);
                self.unsaved.has_failed |= had_failed;
                Err(error)
            }
        }
    }

    /// Brings the row up to date and takes out what is to be stored with it; and how the session is told to stand.
    fn take_unsaved(&mut self) -> (Work, (State, String, Mode)) {
        let kept = self.kept();
        let core = &self.core;
        let row = &mut self.row;
        row.core = kept;
        row.cursor = self.projection.cursor();
        row.state = core.state();
        if !core.has_agent() {
            row.mode = row.resting_mode();
        }
        row.reason = core.reason();
        row.since = core.since();
        row.cut_off = core.is_cut_off();
        row.queue_held = core.queue_held();
        row.generation = row.generation.max(core.generation());
        // One that cannot be reached may run.
        let may_run = matches!(row.state, State::Unreachable);
        row.live = self.agent.is_some() || self.begun.is_some() || may_run;
        let told = (row.state.clone(), row.reason.clone(), row.mode);
        let is_news = self.unsaved.told.as_ref() != Some(&told);
        let state = is_news.then(|| Happened::Session {
            state: told.0.name().to_owned(),
            reason: told.1.clone(),
        });
        let was = self.unsaved.told.as_ref().map(|(state, ..)| state.clone());
        let work = Work {
            row: row.clone(),
            asked: std::mem::take(&mut self.unsaved.asked),
            judged: std::mem::take(&mut self.unsaved.judged),
            lives: std::mem::take(&mut self.unsaved.lives),
            plans: std::mem::take(&mut self.unsaved.plans),
            queue: self.unsaved.queue.take(),
            state,
            was: was.filter(|_| is_news),
        };
        self.unsaved.changed = false;
        self.unsaved.reason = false;
        self.unsaved.lives_are_awaited = false;
        self.unsaved.cursor = false;
        self.unsaved.at = None;
        self.unsaved.has_failed = false;
        (work, told)
    }
}

impl Unsaved {
    /// The records behind this one are gone: nothing of what they asked is stored.
    pub(super) fn cut(&mut self, to: Cursor) {
        let is_left = |row: &ApprovalRow| Cursor::new(row.generation, row.seq) <= to;
        let gone = self.asked.iter().filter(|row| !is_left(row));
        let gone: Vec<ApprovalId> = gone.map(|row| row.id).collect();
        self.asked.retain(is_left);
        self.judged.retain(is_left);
        self.plans.retain(|(id, ..)| !gone.contains(id));
    }

    fn put_back(&mut self, work: Work, again: Option<u64>) {
        let mut asked = work.asked;
        asked.append(&mut self.asked);
        self.asked = asked;
        self.judged.extend(work.judged);
        let mut lives = work.lives;
        lives.append(&mut self.lives);
        self.lives = lives;
        self.plans.extend(work.plans);
        self.queue = self.queue.or(work.queue);
        self.changed = true;
        self.at = again;
        self.has_failed = again.is_some();
    }
}

/// One store of a session.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) row: sessions::SessionRow,
    pub(crate) asked: Vec<ApprovalRow>,
    judged: Vec<ApprovalRow>,
    pub(crate) lives: Vec<(ApprovalId, Life, Option<Decided>)>,
    plans: Vec<(ApprovalId, u64, String)>,
    queue: Option<u32>,
    state: Option<Happened>,
    /// The state before, if it is another one now.
    pub(crate) was: Option<State>,
}

impl Work {
    /// True: there are events.
    fn store(&self, it: &Connection, at: u64) -> Result<bool, StoreError> {
        let session = self.row.id;
        let mut happened = Vec::new();
        for row in &self.asked {
            if approvals::insert(it, row)? {
                happened.push(Happened::Approval {
                    approval: row.id,
                    life: row.life.name().to_owned(),
                });
            }
        }
        for row in &self.judged {
            // What a person decided before this could be stored stays decided.
            if approvals::get(it, row.id)?.answer.is_some() {
                continue;
            }
            approvals::save(it, row)?;
            happened.push(Happened::Approval {
                approval: row.id,
                life: row.life.name().to_owned(),
            });
        }
        for (id, life, decided) in &self.lives {
            // One whose record a loss of power took has no row any more: it keeps nothing else from being stored.
            let Some(mut row) = approvals::find(it, *id)? else {
                continue;
            };
            row.life = life.clone();
            // A person's decision is stored when it is made; a rule's with its record.
            row.decided = row.decided.take().or_else(|| decided.clone());
            approvals::save(it, &row)?;
            happened.push(Happened::Approval {
                approval: *id,
                life: life.name().to_owned(),
            });
        }
        for (approval, at, text) in &self.plans {
            plans::add(it, session, Some(*approval), *at, "agent", text)?;
        }
        if let Some(waiting) = self.queue {
            happened.push(Happened::Queue { waiting });
        }
        happened.extend(self.state.clone());
        sessions::save(it, &self.row)?;
        for what in &happened {
            events::add(it, at, Some(session), what)?;
        }
        Ok(!happened.is_empty())
    }
}
