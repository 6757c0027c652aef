//! Agents of a session: started, attached to, found again.
//!
//! Owns the shell around a start. Invariants: what is about to be started stands in the database before it is; a session
//! whose keeper cannot be reached is never started beside; a message goes to an agent only after what was asked for is in
//! force.

use std::sync::Arc;
use std::time::Duration;

use countersign_client::Error as ClientError;
use countersign_journal::Kind;
use countersign_client::options::Version;
use countersign_keeper::attach::{self, AttachError, Credentials, Kept as KeptAgent, Launch};
use countersign_keeper::protocol::{Role, Standing};
use countersign_keeper::{Found, RecoverError};

use super::{Actor, Agent, Book, Held, Projection};
use crate::approval::Family;
use crate::control::approval::Life;
use crate::control::{ControlError, Mode, Result, SessionId, State, now};
use crate::desk::{self, Conversation, Desk, Grounds, KeptRule, Reach, Starting, Watching};
use crate::host::Inner;
use crate::plan::Tracker;
use crate::session::{Begin, Core, Input};
use crate::store::outbox::StoredOutbox;
use crate::store::sessions::SessionRow;
use crate::store::{Connection, Durability, approvals, outbox, queue, rules, sessions};

/// For a keeper that is there to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known of a session and is stored with the cursor.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
struct Kept {
    core: Core,
    family: Family,
    plans: Tracker,
}

/// What came of a start or an attachment.
pub(crate) enum Begun {
    /// An agent is there.
    There {
        kept: Box<KeptAgent>,
        desk: Box<Desk>,
        watching: Watching,
        /// This host started it.
        is_new: bool,
        /// What is not as it was asked for, in words.
        amiss: Vec<String>,
    },
    /// It did not come up.
    Failed {
        generation: u32,
        why: String,
        fix: Option<String>,
        trap: Option<Begin>,
    },
    /// Nobody is there to attach to: look again.
    Nobody(String),
}

/// A session that goes on from another one in a fresh conversation.
pub(super) fn cleared(old: &SessionRow, id: SessionId, mode: Mode, at: u64) -> SessionRow {
    let mut setup = old.setup.clone();
    setup.mode = mode;
    SessionRow {
        name: old.name.clone(),
        parent: Some(old.id),
        origin: Some("clear-context".to_owned()),
        worktree: old.worktree.clone(),
        token: fresh_token(),
        ..SessionRow::new(id, old.cwd.clone(), setup, at)
    }
}

/// A secret that nobody guesses.
pub(crate) fn fresh_token() -> String {
    let half = || uuid::Uuid::new_v4().simple().to_string();
    half() + &half()
}

impl Actor {
    /// Takes up a session as the database and its folder have it.
    pub(super) async fn open(inner: Arc<Inner>, id: SessionId) -> Result<Self> {
        let (row, open) = inner
            .store
            .read(move |it| Ok((sessions::get(it, id)?, approvals::unsettled(it, id)?)))
            .await?;
        let timing = inner.settings.timing;
        let kept = match row.core.is_null() {
            true => Kept {
                core: Core::new(begin_of(&row), timing, row.created),
                ..Kept::default()
            },
            false => serde_json::from_value(row.core.clone())
                .map_err(|error| ControlError::invalid(format!("its state is unreadable: {error}")))?,
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
                agent_id: approval.path.last().and_then(|asker| asker.agent_id.clone()),
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
        let expiries = expiring.filter_map(|row| Some(((row.expires?, row.request_id.clone()), ())));
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
            undecided: open.iter().filter(|it| by_rule(it)).cloned().collect(),
            effects: Default::default(),
            expiries,
            unsaved: Default::default(),
            plans,
            going: Default::default(),
            servers: None,
            children: None,
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
                match found {
                    Found::Ended { generation, exit } => {
                        let stderr = String::new();
                        self.step(Input::Gone { generation, exit, stderr });
                    }
                    Found::Lost { generation } => self.step(Input::Lost { generation }),
                    // It was about to be started and never was.
                    _ if self.core.generation() > 0 => {
                        let generation = self.core.generation();
                        self.step(Input::Lost { generation });
                    }
                    _ => {}
                }
                self.step(Input::CaughtUp);
                self.tell_queue().await;
            }
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
        let desk = match self.open_desk(self.row.mode).await {
            Ok(desk) => desk,
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "the rules of a session cannot be set up");
                return self.unreachable().await;
            }
        };
        let version: Option<Version> = self.row.version.as_ref().and_then(|it| it.parse().ok());
        let host = &self.inner.settings.agents;
        let Starting { claude, watching, .. } =
            desk::attach(&desk, &self.row.setup, host, version, now());
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
                    is_new: false,
                    amiss: Vec::new(),
                },
                Err(error) => Begun::Nobody(error.to_string()),
            });
        });
    }

    async fn open_desk(&self, mode: Mode) -> Result<Desk> {
        let copy_of = self.inner.copy_of(&self.row);
        let grounds = Grounds::of(
            &self.row.setup,
            &self.row.cwd,
            copy_of.as_deref(),
            &self.inner.settings.agents,
        )?;
        let rules = self.kept_rules(&grounds).await?;
        Ok(Desk::open(grounds, rules, mode, now()))
    }

    async fn kept_rules(&self, grounds: &Grounds) -> Result<Vec<KeptRule>> {
        let repository = grounds.repository();
        let (session, at) = (self.id, now());
        let name = repository.to_str().map(str::to_owned);
        let rows = self
            .inner
            .store
            .read(move |it| rules::holding(it, session, name.as_deref(), at))
            .await?;
        let kept = |row: rules::RuleRow| {
            let rule = row.rule;
            KeptRule {
                effect: match rule.effect {
                    crate::control::approval::Effect::Allow => countersign_policy::Effect::Allow,
                    crate::control::approval::Effect::Deny => countersign_policy::Effect::Deny,
                },
                text: rule.rule,
                reach: match rule.scope {
                    crate::control::approval::Scope::Session => Reach::Session,
                    crate::control::approval::Scope::Repository => {
                        Reach::Repository(rule.repository.map_or(repository.clone(), Into::into))
                    }
                    crate::control::approval::Scope::Always => Reach::Always,
                },
                expires: rule.expires,
                note: None,
            }
        };
        Ok(rows.into_iter().map(kept).collect())
    }

    pub(super) async fn reload_rules(&mut self) {
        let Some(desk) = &self.desk else {
            return;
        };
        let grounds = desk.grounds().clone();
        match self.kept_rules(&grounds).await {
            Ok(rules) => {
                if let Some(desk) = &mut self.desk {
                    desk.set_rules(rules);
                }
            }
            Err(error) => tracing::warn!(session = %self.id, %error, "rules cannot be read"),
        }
    }

    /// Starts an agent.
    pub(super) async fn begin(&mut self, generation: u32, begin: Begin) {
        if let Err(error) = self.try_begin(generation, begin).await {
            self.step(Input::SpawnFailed {
                generation,
                why: error.to_string(),
                fix: None,
                trap: None,
            });
        }
    }

    async fn try_begin(&mut self, generation: u32, begin: Begin) -> Result<()> {
        let conversation = self.conversation(begin).await?;
        let mode = self.row.mode.for_next_agent();
        self.row.mode = mode;
        self.row.generation = generation;
        self.row.live = true;
        self.row.core = self.kept();
        self.row.state = self.core.state();
        let row = self.row.clone();
        self.inner
            .store
            .write(Durability::Full, move |it| sessions::save(it, &row))
            .await?;
        crate::points::passed("start stored");
        let desk = self.open_desk(mode).await?;
        let (sender, begun) = tokio::sync::oneshot::channel();
        self.begun = Some(begun);
        let inner = Arc::clone(&self.inner);
        let row = self.row.clone();
        tokio::spawn(async move {
            let begun = start(&inner, row, desk, &conversation, generation).await;
            let _ = sender.send(begun);
        });
        Ok(())
    }

    /// Which conversation an agent is for. A new one gets its id here, before anything is started.
    async fn conversation(&mut self, begin: Begin) -> Result<Conversation> {
        let fresh = || uuid::Uuid::new_v4().hyphenated().to_string();
        let is_fork = self.row.origin.as_deref() == Some("fork");
        Ok(match begin {
            Begin::New if is_fork && self.row.conversation.is_none() => {
                let parent = self.row.parent;
                let parent = parent.ok_or_else(|| ControlError::invalid("a fork of nothing"))?;
                let from = self.inner.store.read(move |it| sessions::get(it, parent)).await?;
                let from = from.conversation.ok_or_else(|| {
                    ControlError::not_now("there is no conversation yet that could be forked")
                })?;
                let id = fresh();
                self.row.conversation = Some(id.clone());
                Conversation::Fork { from, id }
            }
            Begin::New | Begin::NewSameId => Conversation::New {
                id: self.row.conversation.get_or_insert_with(fresh).clone(),
            },
            Begin::NewOtherId => {
                let id = fresh();
                self.row.conversation = Some(id.clone());
                Conversation::New { id }
            }
            Begin::Resume => match self.row.conversation.clone() {
                Some(id) => Conversation::Resume { id },
                None => Conversation::New {
                    id: self.row.conversation.get_or_insert_with(fresh).clone(),
                },
            },
        })
    }

    /// A start or an attachment came to its end.
    pub(super) async fn begun(&mut self, begun: Option<Begun>) {
        match begun {
            Some(Begun::There {
                kept,
                desk,
                watching,
                is_new,
                amiss,
            }) => {
                let paused = kept.attachment.standing().paused;
                let children = kept.attachment.standing().children.iter();
                let children = children.map(|child| child.pid).collect();
                let agent = Agent::of(*kept);
                let generation = agent.generation;
                self.servers = is_new.then_some(children);
                self.agent = Some(agent);
                self.desk = Some(*desk);
                self.watching = Some(watching);
                self.unsaved.changed = true;
                for what in amiss {
                    self.inner.trouble(self.id, format!("not as asked for: {what}"));
                }
                self.catch_up().await;
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
            Some(Begun::Nobody(why)) => {
                tracing::info!(session = %self.id, why, "nobody to attach to");
                self.come_in_again().await;
            }
            None => self.come_in_again().await,
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

fn outbox_of(inner: &Inner, id: SessionId, standing: &Standing) -> Box<dyn attach::Outbox> {
    let (generation, last_n) = (standing.generation, standing.last_n);
    Box::new(StoredOutbox::new(inner.store.clone(), id, generation, last_n))
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

async fn start(
    inner: &Arc<Inner>,
    row: SessionRow,
    desk: Desk,
    conversation: &Conversation,
    generation: u32,
) -> Begun {
    let failed = |why: String, trap| Begun::Failed {
        generation,
        why,
        fix: None,
        trap,
    };
    let host = &inner.settings.agents;
    let starting = desk::start(&desk, &row.setup, conversation, host, now()).await;
    let starting = match starting {
        Ok(starting) => starting,
        Err(error) => return failed(error.to_string(), None),
    };
    let Starting {
        claude,
        watching,
        wanted,
        ..
    } = starting;
    let launch = Launch {
        session: row.id.to_string(),
        generation,
        dir: inner.folders.session(row.id),
        run: inner.folders.run(),
        token: row.token.clone(),
        epoch: inner.epoch,
        graces: inner.settings.graces,
        has_hooks: watching.has_hook(),
    };
    let keeper = inner.settings.keeper.clone();
    let boxed = |standing: &Standing| outbox_of(inner, row.id, standing);
    let kept = match attach::launch(claude, keeper, &launch, boxed).await {
        Ok(kept) => kept,
        Err(error) => {
            let trap = trap_of(&error, &launch.dir, generation);
            return failed(error.to_string(), trap);
        }
    };
    crate::points::passed("agent launched");
    let amiss = match desk::put_in_force(&kept.session.handle, &wanted).await {
        Ok(found) => found.unmet.iter().map(ToString::to_string).collect(),
        Err(error) => return failed(error.to_string(), None),
    };
    Begun::There {
        kept: Box::new(kept),
        desk: Box::new(desk),
        watching,
        is_new: true,
        amiss,
    }
}

/// How a start that failed would come up. An agent that ends before we are in leaves its reason in the journal only.
fn trap_of(error: &AttachError, dir: &std::path::Path, generation: u32) -> Option<Begin> {
    match error {
        AttachError::Ended { .. } | AttachError::Over(_) => trap_in_journal(dir, generation),
        AttachError::Client(ClientError::NoSuchSession { .. }) => Some(Begin::NewSameId),
        AttachError::Client(ClientError::SessionIdInUse { .. }) => Some(Begin::NewOtherId),
        _ => None,
    }
}

/// What the lines of an agent that did not come up say about it.
fn trap_in_journal(dir: &std::path::Path, generation: u32) -> Option<Begin> {
    let mut reader = countersign_journal::Reader::open(dir).ok()?;
    reader.seek(countersign_journal::Cursor::new(generation, 0)).ok()?;
    loop {
        match reader.next_of().ok()? {
            (of, countersign_journal::Step::Record(record)) if of == generation => {
                let says = |words: &str| {
                    memchr::memmem::find(record.payload, words.as_bytes()).is_some()
                };
                let is_heard = matches!(record.kind, Kind::Agent | Kind::Stderr | Kind::StderrPiece);
                if is_heard && says("No conversation found with session ID") {
                    return Some(Begin::NewSameId);
                }
                if is_heard && says("is already in use") {
                    return Some(Begin::NewOtherId);
                }
            }
            (_, countersign_journal::Step::End) => return None,
            _ => {}
        }
    }
}
