//! Agents of a session: started, attached to, found again.
//!
//! Owns the shell around a start. Invariants: what is about to be started stands in the database before it is; a session
//! whose keeper cannot be reached is never started beside; a message goes to an agent only after what was asked for is in
//! force.

use std::sync::Arc;

use countersign_client::Error as ClientError;
use countersign_client::options::Version;
use countersign_journal::Kind;
use countersign_keeper::attach::{self, AttachError, Kept as KeptAgent, Launch};
use countersign_keeper::protocol::Standing;

use super::Actor;
use crate::control::{ControlError, Mode, Result, SessionId, now};
use crate::desk::{self, Conversation, Desk, Grounds, KeptRule, Starting, Watching};
use crate::host::Inner;
use crate::make;
use crate::money;
use crate::session::{Begin, Input};
use crate::store::outbox::StoredOutbox;
use crate::store::sessions::SessionRow;
use crate::store::{Durability, rules, sessions};

/// What came of a start or an attachment.
pub(crate) enum Begun {
    /// An agent is there.
    There(Box<There>),
    /// It did not come up.
    Failed {
        generation: u32,
        why: String,
        fix: Option<String>,
        trap: Option<Begin>,
        /// It said nothing and was ended for that.
        is_silent: bool,
    },
    /// Nobody is there to attach to: look again.
    Nobody {
        why: String,
        /// Somebody is, and does not want us.
        is_refused: bool,
    },
}

/// An agent, and what belongs to it.
pub(crate) struct There {
    pub(super) kept: KeptAgent,
    pub(super) desk: Desk,
    pub(super) watching: Watching,
    /// What ran below it before it got a message, if this host started it.
    pub(super) servers: Option<Vec<u32>>,
    /// What is not as it was asked for, in words.
    pub(super) amiss: Vec<String>,
    /// What `--version` said, if this host started it. A CLI before 2.0 does not tell it in its lines.
    pub(super) version: Option<Version>,
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
        ..SessionRow::new(id, old.cwd.clone(), setup, at)
    }
}

impl Actor {
    pub(super) async fn open_desk(&self, mode: Mode) -> Result<Desk> {
        let copy_of = self.inner.copy_of(&self.row);
        let grounds = Grounds::of(
            &self.row.setup,
            &self.row.cwd,
            copy_of.as_deref(),
            &self.inner.settings.agents,
        )?;
        let grounds = grounds.with_uploads(self.inner.upload_folders(&self.row).await?);
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
        Ok(crate::shelf::kept_rules(rows, &repository))
    }

    /// What was decided since the desk was opened holds for it, too.
    pub(super) async fn bring_up_to_date(&mut self) {
        // Before it is compared: what is over would be given anew.
        self.end_hands_off();
        let at = now();
        let (mode, dirs) = (self.row.mode, self.row.setup.add_dirs.clone());
        let is_at_once = self.at_end.is_none();
        if let Some(desk) = &mut self.desk {
            desk.add_dirs(dirs);
            if desk.mode(at) != mode {
                desk.set_mode(mode, at);
                // Not every version says that it has entered or left plan mode.
                if is_at_once {
                    desk.planning(mode == Mode::Plan);
                }
            }
        }
        self.note_mode(None);
        self.reload_rules().await;
    }

    /// What a person chose while it came up, or while an earlier host was about to tell it, is told to it before anything
    /// else.
    pub(super) async fn tell(&mut self, mode: bool, model: bool) {
        if mode {
            self.set_cli_mode(self.row.mode, None).await;
        }
        if model {
            self.set_model(self.row.setup.model.clone()).await;
        }
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

    /// There is room for an agent: it begins, or waits on where too few files can be opened for it.
    pub(super) fn let_in(&mut self) {
        match make::check_descriptors(self.inner.agents_beside(Some(self.id))) {
            Ok(()) => self.step(Input::Admitted),
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "no agent is begun");
                self.step(Input::NoFiles);
                self.inner.let_in_later(self.id);
            }
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
        self.check_worktree()?;
        let conversation = self.conversation(begin).await?;
        // The state that is stored with the start knows all that was read so far.
        self.store(now()).await;
        let mode = match generation {
            // Chosen at the start, for this very agent.
            1 => self.row.mode,
            _ => self.row.mode.for_next_agent(),
        };
        self.row.mode = mode;
        self.row.generation = generation;
        // An earlier build drew one for all agents of a session. From now on nobody has it.
        self.row.token.clear();
        self.row.live = true;
        self.row.core = self.kept();
        self.row.state = self.core.state();
        let row = self.row.clone();
        self.inner
            .store
            .write(Durability::Full, move |it| sessions::save(it, &row))
            .await?;
        crate::points::passed("start stored");
        let mut desk = self.open_desk(mode).await?;
        self.remember_plans(&mut desk).await;
        let (sender, begun) = tokio::sync::oneshot::channel();
        self.begun = Some(begun);
        let inner = Arc::clone(&self.inner);
        let row = self.row.clone();
        let starting = tokio::spawn(async move {
            let begun = start(&inner, row, desk, &conversation, generation).await;
            let _ = sender.send(begun);
        });
        self.beginning = Some(starting.abort_handle());
        Ok(())
    }

    /// Checks that a session with a worktree would work there: what lies at its place counts as inside.
    fn check_worktree(&self) -> Result<()> {
        match make::worktree_of(&self.row) {
            Ok(worktree) => Ok(self.inner.worktrees.check_place(&worktree)?),
            Err(_) => Ok(()),
        }
    }

    /// Which conversation an agent is for. A new one gets its id here, before anything is started.
    async fn conversation(&mut self, begin: Begin) -> Result<Conversation> {
        let fresh = || uuid::Uuid::new_v4().hyphenated().to_string();
        let is_fork = self.row.origin.as_deref() == Some("fork");
        Ok(match begin {
            // As long as it has none of its own: one that failed is begun again as a fork.
            Begin::New | Begin::NewSameId | Begin::NewOtherId if is_fork => {
                let parent = self.row.parent;
                let parent = parent.ok_or_else(|| ControlError::invalid("a fork of nothing"))?;
                let from = self
                    .inner
                    .store
                    .read(move |it| sessions::get(it, parent))
                    .await?;
                let from = from.conversation.ok_or_else(|| {
                    ControlError::not_now("there is no conversation yet that could be forked")
                })?;
                if begin == Begin::NewOtherId {
                    self.row.conversation = None;
                }
                let id = self.row.conversation.get_or_insert_with(fresh).clone();
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
}

pub(super) fn outbox_of(
    inner: &Inner,
    id: SessionId,
    standing: &Standing,
) -> Box<dyn attach::Outbox> {
    let (generation, last_n) = (standing.generation, standing.last_n);
    Box::new(StoredOutbox::new(
        inner.store.clone(),
        id,
        generation,
        last_n,
    ))
}

async fn start(
    inner: &Arc<Inner>,
    row: SessionRow,
    desk: Desk,
    conversation: &Conversation,
    generation: u32,
) -> Begun {
    let failed = |why: String, trap, is_silent| Begun::Failed {
        generation,
        why,
        fix: None,
        trap,
        is_silent,
    };
    let host = &inner.settings.agents;
    let mut setup = row.setup.clone();
    // The CLI counts what one agent spends: what those before it have spent is taken off.
    setup.budget_usd = setup
        .budget_usd
        .map(|budget| money::budget::backstop(budget, row.cost_usd) / 2.0);
    let starting = desk::start(&desk, &setup, conversation, host, now()).await;
    let Starting {
        claude,
        watching,
        wanted,
        version,
    } = match starting {
        Ok(starting) => starting,
        Err(error) => return failed(error.to_string(), None, false),
    };
    let launch = launch(inner, &row, generation, watching.has_hook());
    let keeper = inner.settings.keeper.clone();
    let boxed = |standing: &Standing| outbox_of(inner, row.id, standing);
    let kept = match attach::launch(claude, keeper, &launch, boxed).await {
        Ok(kept) => kept,
        Err(error) => {
            let trap = trap_of(&error, &launch.dir, generation);
            let is_silent = matches!(
                error,
                AttachError::Client(ClientError::HandshakeTimedOut { .. })
            );
            return failed(error.to_string(), trap, is_silent);
        }
    };
    crate::points::passed("agent launched");
    let mut amiss = match desk::put_in_force(&kept.session.handle, &wanted).await {
        Ok(found) => found.unmet.iter().map(ToString::to_string).collect(),
        Err(error) => return failed(error.to_string(), None, false),
    };
    Vec::extend(&mut amiss, desk.findings());
    let standing = kept.attachment.status().await.ok();
    let servers = standing.map(|it| it.children.iter().map(|child| child.pid).collect());
    Begun::There(Box::new(There {
        kept,
        desk,
        watching,
        servers,
        amiss,
        version,
    }))
}

fn launch(inner: &Inner, row: &SessionRow, generation: u32, has_hooks: bool) -> Launch {
    Launch {
        session: row.id.to_string(),
        generation,
        dir: inner.folders.session(row.id),
        run: inner.folders.run(),
        token: inner.key.token(row.id, generation),
        epoch: inner.epoch,
        graces: inner.settings.graces,
        has_hooks,
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
    reader
        .seek(countersign_journal::Cursor::new(generation, 0))
        .ok()?;
    loop {
        match reader.next_of().ok()? {
            (of, countersign_journal::Step::Record(record)) if of == generation => {
                let says =
                    |words: &str| memchr::memmem::find(record.payload, words.as_bytes()).is_some();
                let is_heard =
                    matches!(record.kind, Kind::Agent | Kind::Stderr | Kind::StderrPiece);
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
