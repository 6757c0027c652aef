//! A session is taken up: what is stored of it, who is there, what an earlier host left.
//!
//! Owns recovery, as far as one session is concerned. Idempotent: it may be stopped anywhere and run again. Invariants: a
//! session whose keeper does not answer is never started beside; what was meant for an agent that has ended waits for the
//! next one.

use std::sync::Arc;
use std::time::Duration;

use countersign_client::options::Version;
use countersign_keeper::attach::{self, AttachError, Credentials};
use countersign_keeper::protocol::{Role, Standing};
use countersign_keeper::{Found, RecoverError};

use super::{Actor, Agent, Book, Held, Projection};
use crate::approval::Family;
use crate::control::approval::Life;
use crate::control::{ControlError, Result, SessionId, State, now};
use crate::desk::{self, Starting};
use crate::host::Inner;
use crate::plan::Tracker;
use crate::session::{Begin, Core, Input};
use crate::store::sessions::SessionRow;
use crate::store::{Connection, Durability, approvals, outbox, queue, sessions};

use super::begin::{Begun, outbox_of};

/// For a keeper that is there to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// For a keeper whose agent ends to go.
const GOING: Duration = Duration::from_secs(3);

/// What is known of a session and is stored with the cursor.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
struct Kept {
    core: Core,
    family: Family,
    plans: Tracker,
}

impl Actor {
    /// Takes up a session as the database and its folder have it.
    pub(super) async fn open(inner: Arc<Inner>, id: SessionId) -> Result<Self> {
        let (mut row, open) = inner
            .store
            .read(move |it| Ok((sessions::get(it, id)?, approvals::unsettled(it, id)?)))
            .await?;
        // It is the host that answers then, and that one has ended.
        row.mode = row.mode.for_next_agent();
        let timing = inner.settings.timing;
        let kept = match row.core.is_null() {
            true => Kept {
                core: Core::new(begin_of(&row), timing, row.created),
                ..Kept::default()
            },
            false => serde_json::from_value(row.core.clone()).map_err(|error| {
                ControlError::invalid(format!("its state is unreadable: {error}"))
            })?,
        };
        let Kept {
            mut core,
            family,
            plans,
        } = kept;
        core.set_timing(timing);
        let by_rule = |approval: &approvals::ApprovalRow| {
            approval.life == Life::Decided && approval.answer.is_none()
        };
        let held = open.iter().map(|approval| {
            let held = Held {
                id: approval.id,
                seq: approval.seq,
                kind: approval.kind,
                tool_use_id: approval.tool_use_id.clone(),
                agent_id: approval
                    .path
                    .last()
                    .and_then(|asker| asker.agent_id.clone()),
                // A rule's decision counts when the journal has it.
                life: match by_rule(approval) {
                    true => Life::Open,
                    false => approval.life.clone(),
                },
                effect: approval.decided.as_ref().map(|decided| decided.effect),
                is_for_person: approval.life == Life::Open,
            };
            (approval.request_id.clone(), held)
        });
        let book = Book::new(id, row.cursor.generation, held);
        let dir = inner.folders.session(id);
        let expiring = open.iter().filter(|row| row.life == Life::Open);
        let expiries =
            expiring.filter_map(|row| Some(((row.expires?, row.request_id.clone()), ())));
        let expiries = expiries.collect();
        let mut actor = Self {
            projection: Projection::new(&dir, row.cursor, book).with_family(family),
            inner,
            id,
            row,
            core,
            desk: None,
            watching: None,
            agent: None,
            begun: None,
            to_answer: Default::default(),
            at_end: None,
            behind: Vec::new(),
            undecided: open.iter().filter(|it| by_rule(it)).cloned().collect(),
            effects: Default::default(),
            expiries,
            unsaved: Default::default(),
            plans,
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
            "core": self.core, "family": self.projection.family, "plans": self.plans,
        })
    }

    /// Looks what is there: an agent to attach to, one that has ended, or none.
    pub(super) async fn come_in(&mut self) {
        let dir = self.inner.folders.session(self.id);
        let looked = tokio::task::spawn_blocking(move || look(&dir)).await;
        self.step(Input::HostBegan);
        let found = match looked {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::warn!(session = %self.id, %error, "a session cannot be recovered");
                return self.unreachable().await;
            }
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "a session cannot be looked at");
                return self.unreachable().await;
            }
        };
        match found {
            Found::Live(_) => {
                crate::points::passed("agent found");
                self.inner.found(self.id);
                self.attach().await;
            }
            Found::Unreachable(_) => self.unreachable().await,
            Found::Ended { .. } | Found::Lost { .. } | Found::Never => {
                self.catch_up().await;
                self.gone().await;
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
                let generation = self.core.generation();
                if generation > newest {
                    // It was about to be started and never was.
                    self.step(Input::Lost { generation });
                }
                self.count_first().await;
                self.step(Input::CaughtUp);
                self.tell_queue().await;
            }
        }
    }

    /// What was spent while no host looked stands before the next message.
    async fn count_first(&mut self) {
        if self.row.setup.budget_usd.is_some() && self.core.generation() > 0 {
            self.count().await;
        }
    }

    /// Nobody answers for the session. Its journal can be read all the same; it is looked again later.
    async fn unreachable(&mut self) {
        self.catch_up().await;
        self.step(Input::Unreachable);
        self.step(Input::CaughtUp);
    }

    /// Whether it is to be looked again who answers.
    pub(super) fn looks_again(&self) -> bool {
        self.agent.is_none() && self.begun.is_none() && self.core.state() == State::Unreachable
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
    pub(super) async fn gone(&mut self) {
        let (session, generation) = (self.id, self.projection.cursor().generation);
        let back = move |it: &Connection| {
            queue::give_back(it, session, generation)?;
            outbox::forget(it, session, generation)
        };
        if let Err(error) = self.inner.store.write(Durability::Full, back).await {
            tracing::warn!(%session, %error, "messages cannot wait again");
        }
        self.servers = None;
        self.projection.rest();
        self.tell_queue().await;
    }

    async fn attach(&mut self) {
        let mut desk = match self.open_desk(self.row.mode).await {
            Ok(desk) => desk,
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "the rules of a session cannot be set up");
                return self.unreachable().await;
            }
        };
        self.remember_plans(&mut desk).await;
        let version: Option<Version> = self.row.version.as_ref().and_then(|it| it.parse().ok());
        let host = &self.inner.settings.agents;
        let Starting {
            claude, watching, ..
        } = desk::attach(&desk, &self.row.setup, host, version, now());
        let (sender, begun) = tokio::sync::oneshot::channel();
        self.begun = Some(begun);
        let (inner, id, token) = (Arc::clone(&self.inner), self.id, self.row.token.clone());
        tokio::spawn(async move {
            let dir = inner.folders.session(id);
            let who = Credentials {
                epoch: inner.epoch,
                token,
                role: Role::Own,
            };
            let boxed = |standing: &Standing| outbox_of(&inner, id, standing);
            let kept = match attach::connect(&dir, &who, PATIENCE, boxed).await {
                Ok(attachment) => {
                    settle_outbox(&inner, id, attachment.standing()).await;
                    crate::points::passed("outbox settled");
                    attach::attach(claude, &dir, attachment, None).await
                }
                Err(error) => Err(error),
            };
            let _ = sender.send(match kept {
                Ok(kept) => Begun::There {
                    kept: Box::new(kept),
                    desk: Box::new(desk),
                    watching,
                    servers: None,
                    amiss: Vec::new(),
                },
                Err(error) => Begun::Nobody {
                    why: error.to_string(),
                    is_refused: matches!(
                        error,
                        AttachError::Refused(_)
                            | AttachError::Foreign { .. }
                            | AttachError::Silent(_)
                            | AttachError::Protocol(_)
                    ),
                },
            });
        });
    }

    /// A start or an attachment came to its end.
    pub(super) async fn begun(&mut self, begun: Option<Begun>) {
        match begun {
            Some(Begun::There {
                kept,
                desk,
                watching,
                servers,
                amiss,
            }) => {
                let paused = kept.attachment.standing().paused;
                let agent = Agent::of(*kept);
                let generation = agent.generation;
                self.servers = servers;
                self.has_called = false;
                self.agent = Some(agent);
                self.desk = Some(*desk);
                self.watching = Some(watching);
                self.unsaved.changed = true;
                self.bring_up_to_date().await;
                for what in amiss {
                    self.inner
                        .trouble(self.id, format!("not as asked for: {what}"));
                }
                self.catch_up().await;
                self.count_first().await;
                self.step(Input::Attached { generation, paused });
                self.step(Input::CaughtUp);
                self.judge_again();
                self.tell_queue().await;
                self.answer_all();
            }
            Some(Begun::Failed {
                generation,
                why,
                fix,
                trap,
            }) => {
                self.catch_up().await;
                self.gone().await;
                self.step(Input::SpawnFailed {
                    generation,
                    why,
                    fix,
                    trap,
                });
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

    /// Waits a moment until a keeper whose agent ends has gone, too.
    async fn keeper_goes(&self) -> bool {
        let until = tokio::time::Instant::now() + GOING;
        loop {
            let dir = self.inner.folders.session(self.id);
            let looked = tokio::task::spawn_blocking(move || countersign_keeper::look(&dir)).await;
            match looked {
                Ok(Ok(Found::Live(_))) if tokio::time::Instant::now() < until => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Ok(Ok(Found::Live(_))) => return false,
                _ => return true,
            }
        }
    }

    /// Somebody went between two looks.
    async fn come_in_again(&mut self) {
        Box::pin(self.come_in()).await;
    }
}

/// How the first agent of a session begins.
fn begin_of(row: &SessionRow) -> Begin {
    match row.origin.as_deref() {
        Some("import") => Begin::Resume,
        _ => Begin::New,
    }
}

/// Looks, and ends what a keeper left that ended without a word.
fn look(dir: &std::path::Path) -> std::result::Result<Found, RecoverError> {
    if !dir.exists() {
        return Ok(Found::Never);
    }
    let found = countersign_keeper::look(dir)?;
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

/// What an earlier host handed in stands in the journal, or waits again.
async fn settle_outbox(inner: &Inner, id: SessionId, standing: &Standing) {
    let (generation, last_n) = (standing.generation, standing.last_n);
    let settle = move |it: &Connection| {
        outbox::settle_up_to(it, id, generation, last_n)?;
        // What it did not get goes again, under new numbers: a message from the queue, a mode because it is looked after
        // anew. An interrupt would hit another turn.
        queue::give_back(it, id, generation)?;
        outbox::forget(it, id, generation)
    };
    if let Err(error) = inner.store.write(Durability::Full, settle).await {
        tracing::warn!(session = %id, %error, "the outbox cannot be settled");
    }
}
