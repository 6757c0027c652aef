//! A session is taken up: what is stored of it, who is there, what an earlier host left.
//!
//! Owns recovery, as far as one session is concerned. Idempotent: it may be stopped anywhere and run again. Invariants: a
//! session whose keeper does not answer is never started beside; what was meant for an agent that has ended waits for the
//! next one.

use std::sync::Arc;
use std::time::Duration;

use countersign_keeper::{Found, RecoverError};

use super::{Actor, Agent, Book, Context, Held, Projection};
use crate::approval::{After, Family};
use crate::control::approval::Life;
use crate::control::{ControlError, Result, SessionId, now};
use crate::host::Inner;
use crate::plan::Tracker;
use crate::session::{Begin, Core, Effect, Input, Timing};
use crate::store::sessions::SessionRow;
use crate::store::{Connection, Durability, approvals, indexed, outbox, queue, sessions};

use super::begin::{Begun, There};

/// For a keeper whose agent ends to go.
const GOING: Duration = Duration::from_secs(3);

/// What is known of a session and is stored with the cursor.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
struct Kept {
    core: Core,
    family: Family,
    plans: Tracker,
    context: Context,
    last: Option<String>,
    /// The decision may be settled long before the turn ends.
    at_end: Option<super::answers::AtEnd>,
}

impl Actor {
    /// Takes up a session as the database and its folder have it.
    pub(super) async fn open(inner: Arc<Inner>, id: SessionId) -> Result<Self> {
        let (mut row, open) = inner
            .store
            .read(move |it| Ok((sessions::get(it, id)?, approvals::unsettled(it, id)?)))
            .await?;
        // It is the host that answers then, and that one has ended.
        row.mode = row.resting_mode();
        let timing = inner.timing();
        let Kept {
            mut core,
            family,
            plans,
            mut context,
            last,
            at_end,
        } = kept_of(&row, timing)?;
        core.set_timing(timing);
        inner.windows.meet(&mut context);
        // Policy never asks without a reason.
        let unjudged = |approval: &&approvals::ApprovalRow| {
            let is_unasked = approval.life == Life::Open && approval.reason.is_empty();
            approval.is_decided_by_rule() || is_unasked
        };
        let held = open.iter();
        let held = held.map(|approval| (approval.request_id.clone(), Held::stored(approval)));
        let book = Book::new(id, row.cursor.generation, held);
        let dir = inner.folders.session(id);
        let expiring = open.iter().filter(|row| row.life == Life::Open);
        let expiries =
            expiring.filter_map(|row| Some(((row.expires?, row.request_id.clone()), ())));
        let expiries = expiries.collect();
        let mut actor = Self {
            projection: Projection::new(&dir, row.cursor, book).with_family(family),
            ahead: crate::pages::Ahead::new(),
            inner,
            id,
            row,
            core,
            desk: None,
            watching: None,
            agent: None,
            begun: None,
            beginning: None,
            read_again: None,
            to_answer: Default::default(),
            at_end,
            behind: Vec::new(),
            undecided: open.iter().filter(unjudged).cloned().collect(),
            effects: Default::default(),
            expiries,
            unsaved: Default::default(),
            plans,
            context,
            last,
            going: Default::default(),
            servers: None,
            children: None,
            more_servers: None,
            has_called: false,
        };
        actor.take_up(&open);
        Ok(actor)
    }

    /// What is to be stored with the cursor.
    pub(super) fn kept(&self) -> serde_json::Value {
        // By reference: what it is made of is not copied.
        serde_json::json!({
            "core": self.core, "family": self.projection.family, "plans": self.plans, "context": self.context,
            "last": self.last, "at_end": self.at_end,
        })
    }

    /// Looks what is there: an agent to attach to, one that has ended, or none.
    pub(super) async fn come_in(&mut self) {
        self.step(Input::HostBegan);
        let found = match self.look().await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "a session cannot be recovered");
                return self.unreachable().await;
            }
        };
        match found {
            Found::Live(keeper) => {
                crate::points::passed("agent found");
                self.inner.found(self.id);
                self.attach(keeper.generation).await;
            }
            Found::Unreachable(_) => self.unreachable().await,
            Found::Ended { .. } | Found::Lost { .. } | Found::Never => {
                self.inner.care.due(self.id);
                self.catch_up().await;
                self.gone(self.projection.cursor().generation).await;
                self.plans_without_agent().await;
                let newest = match found {
                    Found::Ended { generation, exit } => {
                        let stderr = String::new();
                        self.step(Input::Gone {
                            generation,
                            exit,
                            stderr,
                        });
                        generation
                    }
                    Found::Lost { generation } => {
                        self.step(Input::Lost { generation });
                        generation
                    }
                    _ => 0,
                };
                // Another start may be ordered by now, behind the one that has ended: the core knows, and lets it be.
                let generation = self.core.generation();
                if generation > newest {
                    self.step(Input::NeverBegan { generation });
                }
                self.count_first().await;
                self.step(Input::CaughtUp);
                self.tell_queue().await;
            }
        }
    }

    /// Looks who is there, and ends what a keeper left that ended without a word.
    async fn look(&mut self) -> std::result::Result<Found, RecoverError> {
        let dir = self.inner.folders.session(self.id);
        let has_started = self.core.generation() > 0;
        let looked = blocking(move || look(&dir, has_started)).await?;
        if let Found::Lost { .. } = looked {
            // Before anything is appended: records that a loss of power took are missed only as long as their numbers are.
            self.catch_up().await;
            let dir = self.inner.folders.session(self.id);
            return blocking(move || bury(&dir, looked)).await;
        }
        Ok(looked)
    }

    /// What was spent while no host looked stands before the next message. A session whose counts were wrong is counted again.
    async fn count_first(&mut self) {
        if self.core.generation() == 0 {
            return;
        }
        let id = self.id;
        let is_counted = self.inner.store.read(move |it| indexed::get(it, id));
        let is_counted = is_counted.await.is_ok_and(|found| found.is_some());
        if self.row.setup.budget_usd.is_some() || !is_counted {
            self.count().await;
        }
    }

    /// Nobody answers for the session. Its journal can be read all the same; it is looked again later.
    pub(super) async fn unreachable(&mut self) {
        self.catch_up().await;
        self.step(Input::Unreachable);
        self.step(Input::CaughtUp);
    }

    /// Whether it is to be looked again who answers: an agent is meant to be there, and nobody of us is at it.
    pub(super) fn looks_again(&self) -> bool {
        self.agent.is_none() && self.begun.is_none() && self.core.has_agent()
    }

    /// Ends a keeper that does not answer. What it leaves is found by the next look.
    pub(super) fn kill(&mut self) {
        let dir = self.inner.folders.session(self.id);
        let session = self.id;
        tokio::task::spawn_blocking(move || match countersign_keeper::kill(&dir) {
            Ok(true) => {}
            Ok(false) => tracing::warn!(%session, "there is no keeper that could be killed"),
            Err(error) => tracing::warn!(%session, %error, "a keeper cannot be killed"),
        });
    }

    /// Everything that was meant for an agent that has ended waits for the next one.
    pub(super) async fn gone(&mut self, generation: u32) {
        let session = self.id;
        let back = move |it: &Connection| {
            queue::give_back(it, session, generation)?;
            outbox::forget(it, session, generation)
        };
        if let Err(error) = self.inner.store.write(Durability::Full, back).await {
            tracing::warn!(%session, %error, "messages cannot wait again");
        }
        self.servers = None;
        // What was to be done when a turn of that agent ends is not done at the end of another's.
        let ends = |effect: &Effect| matches!(effect, Effect::TurnEnded { .. });
        if !self.effects.iter().any(ends) {
            let is_other = |after: &After| !matches!(after, After::OnceIdle { .. });
            self.behind.retain(|(_, after)| is_other(after));
            self.at_end = None;
        }
        self.projection.rest();
        self.tell_queue().await;
    }

    /// A start or an attachment came to its end.
    pub(super) async fn begun(&mut self, begun: Option<Begun>) {
        match begun {
            Some(Begun::There(there)) => self.there(*there).await,
            Some(Begun::Failed {
                generation,
                why,
                fix,
                trap,
                is_silent,
            }) => {
                let failed = Input::SpawnFailed {
                    generation,
                    why,
                    fix,
                    trap,
                };
                self.start_failed(generation, failed, is_silent).await;
            }
            Some(Begun::Nobody { why, is_refused }) => {
                tracing::info!(session = %self.id, why, "nobody to attach to");
                match is_refused || !self.keeper_goes().await {
                    // Not asked again at once.
                    true => self.unreachable().await,
                    false => self.come_in_again().await,
                }
            }
            None => self.come_in_again().await,
        }
    }

    /// An agent is there.
    async fn there(&mut self, there: There) {
        let There {
            kept,
            desk,
            watching,
            servers,
            amiss,
            version,
        } = there;
        let told = version.map(|version| version.to_string());
        self.row.version = told.or(self.row.version.take());
        let mut agent = Agent::of(kept);
        let paused = agent.paused();
        let generation = agent.generation;
        self.servers = servers;
        self.has_called = false;
        self.agent = Some(agent);
        self.desk = Some(desk);
        self.watching = Some(watching);
        self.keep_greeting();
        self.unsaved.changed = true;
        self.bring_up_to_date().await;
        for what in amiss {
            self.inner
                .trouble(self.id, format!("not as asked for: {what}"));
        }
        self.catch_up().await;
        self.take_up_again().await;
        self.count_first().await;
        self.step(Input::Attached { generation, paused });
        self.step(Input::CaughtUp);
        self.judge_again();
        self.tell_queue().await;
        self.answer_all();
    }

    /// A start came to nothing.
    async fn start_failed(&mut self, generation: u32, failed: Input, is_silent: bool) {
        if self.is_another_there(generation).await {
            return self.come_in_again().await;
        }
        let has_gone = self.keeper_goes().await;
        if !has_gone && !self.ends_what_came(generation).await {
            return self.unreachable().await;
        }
        // That it was killed then is no reason: what it was killed for is told first.
        if has_gone && !is_silent {
            self.catch_up().await;
        }
        self.step(failed);
        self.catch_up().await;
        self.gone(self.projection.cursor().generation).await;
    }

    /// The keeper of another start has the session: one that goes, or one whose host ended before it came up.
    async fn is_another_there(&self, generation: u32) -> bool {
        let dir = self.inner.folders.session(self.id);
        match blocking(move || look(&dir, true)).await {
            Ok(Found::Live(keeper)) => keeper.generation != generation,
            Ok(Found::Unreachable(_)) => true,
            _ => false,
        }
    }

    /// A start that failed may have left an agent that nobody speaks to: it has got no message, and no other is started
    /// beside it. False: it cannot be ended.
    async fn ends_what_came(&self, generation: u32) -> bool {
        let dir = self.inner.folders.session(self.id);
        let killed = blocking(move || match look(&dir, true)? {
            Found::Live(keeper) if keeper.generation == generation => {
                countersign_keeper::kill(&dir)
            }
            _ => Ok(false),
        });
        if let Err(error) = killed.await {
            tracing::warn!(session = %self.id, %error, "an agent that did not come up cannot be ended");
        }
        let has_gone = self.keeper_goes().await;
        let dir = self.inner.folders.session(self.id);
        let buried = blocking(move || bury(&dir, look(&dir, true)?)).await;
        has_gone && buried.is_ok_and(|found| !is_kept(&found))
    }

    /// Waits a moment until a keeper whose agent ends has gone, too.
    async fn keeper_goes(&self) -> bool {
        let until = tokio::time::Instant::now() + GOING;
        loop {
            let dir = self.inner.folders.session(self.id);
            let looked = blocking(move || look(&dir, true)).await;
            if !looked.is_ok_and(|found| is_kept(&found)) {
                return true;
            }
            if tokio::time::Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Somebody went between two looks.
    async fn come_in_again(&mut self) {
        Box::pin(self.come_in()).await;
    }
}

/// What is known of a session.
fn kept_of(row: &SessionRow, timing: Timing) -> Result<Kept> {
    if row.core.is_null() {
        return Ok(Kept {
            core: Core::new(begin_of(row), timing, row.created),
            ..Kept::default()
        });
    }
    serde_json::from_value(row.core.clone())
        .map_err(|error| ControlError::invalid(format!("its state is unreadable: {error}")))
}

/// How the first agent of a session begins.
fn begin_of(row: &SessionRow) -> Begin {
    match row.origin.as_deref() {
        Some("import") => Begin::Resume,
        _ => Begin::New,
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    look: impl FnOnce() -> std::result::Result<T, RecoverError> + Send + 'static,
) -> std::result::Result<T, RecoverError> {
    let looked = tokio::task::spawn_blocking(look).await;
    looked.unwrap_or_else(|error| Err(std::io::Error::other(error).into()))
}

/// What is in a folder; one that an agent was started in may have been removed under it.
fn look(dir: &std::path::Path, has_started: bool) -> std::result::Result<Found, RecoverError> {
    match has_started || dir.exists() {
        true => countersign_keeper::look(dir),
        false => Ok(Found::Never),
    }
}

/// Whether a keeper holds the session.
fn is_kept(found: &Found) -> bool {
    matches!(found, Found::Live(_) | Found::Unreachable(_))
}

/// Ends what a keeper left that ended without a word.
fn bury(dir: &std::path::Path, found: Found) -> std::result::Result<Found, RecoverError> {
    if let Found::Lost { .. } = found {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        match countersign_keeper::bury(dir, boot.trim(), now(), None) {
            Ok(_) => {}
            // One came meanwhile.
            Err(RecoverError::Kept) => return countersign_keeper::look(dir),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}
