//! The host on this machine: sessions, their actors, and what clients ask.
//!
//! Owns the data folder while it runs, and the way from a command to the actor of its session. Invariants: one host for a
//! data folder; one actor for a session; a command with a key that was used gives the receipt of then; a host that ends
//! writes no byte to any agent.

mod around;
mod files;
mod inner;
mod look;
mod probe;
mod shelf;
mod view;
mod worktrees;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_keeper::{Graces, KeeperCommand};
use tokio::sync::watch;

use crate::care::Care;
use crate::control::session::Setup;
use crate::control::{
    Cmd, Command, ControlError, Did, Happened, Preferences, Receipt, Result, SessionId, State, now,
};
use crate::desk::{self, HostSettings};
use crate::folders::Folders;
use crate::follow::Levels;
use crate::host_key::HostKey;
use crate::live::{self, Mailbox, Order};
use crate::notify::{BadTarget, Mask, Notifier, Outside, Schedule, Target, Targets};
use crate::pages::Turns;
use crate::room::Room;
use crate::session::Timing;
use crate::space_reserve::SpaceReserve;
use crate::store::{
    Connection, Durability, HostLock, LockError, Store, StoreError, approvals, events, queue,
    receipts, rules, sessions,
};
use crate::trash::{Trash, disk::Measure};
use crate::worktree::Worktrees;

/// How a host is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What agents have in common: the data folder, the CLI, their environment.
    pub agents: HostSettings,
    /// The program that becomes a keeper.
    pub keeper: KeeperCommand,
    /// So many agents live at once.
    pub most_agents: usize,
    /// That holds for this run, whatever a person preferred before.
    pub most_agents_given: bool,
    /// How long is waited for what.
    pub timing: Timing,
    /// How long each step of an agent's end is given.
    pub graces: Graces,
    /// A question that nobody answers is denied after so many microseconds. None: never.
    pub expiry: Option<u64>,
    /// Turns that were cut off by a crash or a reboot go on by themselves.
    pub resumes_cut_off: bool,
    /// Who is told when a session needs somebody, has finished or has failed.
    pub targets: Vec<Target>,
    /// With what links in such a message begin.
    pub link_base: Option<String>,
    /// What is taken out of such a message, beside what looks like a secret, and out of what a search finds.
    pub mask: Mask,
}

impl Settings {
    /// The usual ones.
    pub fn new(data: impl Into<PathBuf>, keeper: KeeperCommand) -> Self {
        Self {
            agents: HostSettings::new(data),
            keeper,
            most_agents: 32,
            most_agents_given: false,
            timing: Timing::default(),
            graces: Graces::default(),
            expiry: None,
            resumes_cut_off: false,
            targets: Vec::new(),
            link_base: None,
            mask: Mask::default(),
        }
    }
}

/// Why a host does not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The data folder.
    #[error("the data folder {} cannot be used ({source}): name one that this user may write to", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The key of the data folder.
    #[error("the key {} cannot be used: {source}", path.display())]
    Key {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing of ours is in it.
    #[error("{} is no data folder: it has neither `host.db` nor `sessions`. Name the one that the host was started with", path.display())]
    NoData {
        /// Which.
        path: PathBuf,
    },
    /// Another host has it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Somebody is to be told in a way that is none.
    #[error(transparent)]
    Target(#[from] BadTarget),
}

/// One at a time for a session.
type Gates = Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>;

fn gate(gates: &Gates, id: SessionId) -> Arc<tokio::sync::Mutex<()>> {
    let mut gates = locked(gates);
    gates.retain(|_, gate| Arc::strong_count(gate) > 1);
    Arc::clone(gates.entry(id).or_default())
}

/// What actors and clients share.
pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) folders: Folders,
    pub(crate) store: Store,
    pub(crate) epoch: u64,
    pub(crate) key: HostKey,
    pub(crate) levels: Arc<Levels>,
    /// What models can read.
    pub(crate) windows: live::Windows,
    actors: Mutex<HashMap<SessionId, Mailbox>>,
    room: Mutex<Room>,
    /// The number of the last event, or so: who waits looks.
    news: watch::Sender<u64>,
    /// One at a time folds the pages of a session.
    pub(crate) pages: Turns,
    /// One at a time makes a session of an id.
    making: Gates,
    /// How sessions stand that cannot be stored at the moment, and why.
    unstored: Mutex<HashMap<SessionId, (State, String)>>,
    /// What people prefer, over what the host was started with.
    preferences: Mutex<Preferences>,
    /// What was measured of the disk.
    measure: Arc<Mutex<Measure>>,
    /// One at a time writes to the shelf.
    shelving: tokio::sync::Mutex<()>,
    /// The host has let go of everything: nothing begins any more.
    is_closed: AtomicBool,
    pub(crate) worktrees: Worktrees,
    pub(crate) reserve: SpaceReserve,
    pub(crate) care: Care,
    notifier: Notifier,
    lock: Mutex<Option<HostLock>>,
}

/// A host on this machine, and a way to it that can be cloned. It ends by [`Host::close`], which waits until it has let go of
/// everything, or soon after the last clone is dropped; agents live on either way.
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
    /// Goes with the last handle. Actors hold what they share, and would keep it and each other for ever.
    _letting_go: Arc<LettingGo>,
}

/// Lets go of every actor when it goes.
struct LettingGo(Arc<Inner>);

impl Drop for LettingGo {
    fn drop(&mut self) {
        drop(self.0.end());
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("data", &self.inner.folders.root())
            .field("epoch", &self.inner.epoch)
            .finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    /// Takes the data folder over, attaches to every agent that runs, and recovers what an earlier host left.
    ///
    /// # Errors
    /// When another host has the folder, or the database cannot be used.
    pub async fn open(mut settings: Settings) -> Result<Self, HostError> {
        let path = settings.agents.data.clone();
        // On a full disk the host begins all the same, in the room that is kept for that: agents must be shown and ended.
        SpaceReserve::of(&path).release_if_full();
        let folders = Folders::open(&path).map_err(|source| HostError::Folder { path, source })?;
        settings.agents.data = folders.root().to_owned();
        settings.agents.worktrees = folders.worktrees();
        let opened = tokio::task::spawn_blocking({
            let (root, path) = (folders.root().to_owned(), folders.host_key());
            move || {
                let mut lock = HostLock::take(&root)?;
                let key = HostKey::load_or_create(&path);
                let key = key.map_err(|source| HostError::Key { path, source })?;
                let (store, epoch) = Store::take(&mut lock)?;
                Ok::<_, HostError>((lock, store, epoch, key))
            }
        });
        let (lock, store, epoch, key) = opened.await.unwrap_or(Err(StoreError::Closed.into()))?;
        let start = settings.clone();
        let preferred = store.read(move |it| shelf::preferred(it, &start));
        let (preferences, targets) = preferred.await?;
        // An agent that asked while no host was there is told of as soon as it is attached to.
        let rows = store.read(sessions::all).await?;
        let setups: Vec<Setup> = rows.into_iter().map(|row| row.setup).collect();
        settings.mask.learn(&setups, &preferences.redact);
        let room = Mutex::new(Room::new(preferences.max_agents));
        let worktrees = Worktrees::new(
            folders.worktrees(),
            Trash::at(folders.trash()),
            desk::environment_of_host(&settings.agents),
        );
        let targets = Targets::new(targets, Schedule::default())?;
        let outside = Outside::of_process(settings.link_base.clone());
        let reserve = SpaceReserve::of(folders.root());
        reserve.keep();
        let notifier = Notifier::start(targets, outside, |said| {
            tracing::warn!(?said, "somebody could not be told");
        });
        let last = store.read(events::last).await?;
        let inner = Arc::new(Inner {
            settings,
            folders,
            store,
            epoch,
            key,
            levels: Arc::default(),
            windows: live::Windows::default(),
            actors: Mutex::default(),
            is_closed: AtomicBool::new(false),
            room,
            news: watch::Sender::new(last),
            pages: Turns::default(),
            making: Gates::default(),
            unstored: Mutex::default(),
            preferences: Mutex::new(preferences),
            measure: Arc::default(),
            shelving: tokio::sync::Mutex::default(),
            worktrees,
            reserve,
            care: Care::default(),
            notifier,
            lock: Mutex::new(Some(lock)),
        });
        let host = Self {
            _letting_go: Arc::new(LettingGo(Arc::clone(&inner))),
            inner,
        };
        crate::recover::recover(&host.inner).await?;
        Care::begin(&host.inner);
        Ok(host)
    }

    /// The number of this host: higher than that of every one before.
    pub fn epoch(&self) -> u64 {
        self.inner.epoch
    }

    /// How much was written to the database since this host began.
    pub fn written(&self) -> crate::store::Counts {
        self.inner.store.counts()
    }

    /// Lets go of every agent, and of the data folder. Nothing is written to any agent, and other clones take no command
    /// from then on.
    pub async fn close(self) {
        let actors = self.inner.end();
        for mailbox in &actors {
            let _ = mailbox.send(Order::End).await;
        }
        // The folder is another host's only when nobody looks after a session any more.
        for mailbox in actors {
            mailbox.closed().await;
        }
        self.inner.care.end().await;
        locked(&self.inner.lock).take();
    }

    fn is_open(&self) -> Result<()> {
        match self.inner.is_closed() {
            false => Ok(()),
            true => Err(ControlError::Unavailable {
                why: "this host is closed: open the data folder again".to_owned(),
                retry_ms: 1_000,
            }),
        }
    }

    /// Executes a command. What grants nothing and ends something finds the room that is kept for a full disk: stored as ever, so decided once.
    async fn execute_with_room(&self, cmd: Cmd, command: Command) -> Result<Receipt> {
        if !command.may_use_reserve() {
            return self.execute(cmd, command).await;
        }
        match self.execute(cmd.clone(), command.clone()).await {
            Err(ControlError::NoSpace) if self.inner.reserve.release() => {
                self.execute(cmd, command).await
            }
            done => done,
        }
    }

    async fn execute(&self, cmd: Cmd, command: Command) -> Result<Receipt> {
        self.is_open()?;
        if cmd.key.is_empty() || cmd.key.len() > Cmd::LONGEST_KEY {
            return Err(ControlError::invalid("a key has 1 to 128 letters"));
        }
        let digest = receipts::digest(&cmd, &command)?;
        let key = cmd.key.clone();
        let before = self
            .inner
            .store
            .read(move |it| receipts::find(it, &key, &digest));
        if let Some(receipt) = before.await? {
            if let Command::Keep(_) = command {
                // Stored is not yet in force: whoever sees to that holds this.
                drop(self.inner.shelving.lock().await);
            }
            return Ok(receipt);
        }
        if cmd.deadline.is_some_and(|deadline| deadline < now()) {
            return Err(ControlError::TooLate);
        }
        let session = match &command {
            Command::Start(new) => return self.make(new.id, cmd, command).await,
            Command::Fork { id, .. } | Command::Import { id, .. } => {
                return self.make(*id, cmd, command).await;
            }
            Command::Keep(_) => return self.keep(cmd, command).await,
            Command::RemoveWorktree { session } => {
                return self.remove_worktree(*session, cmd, command).await;
            }
            Command::Restore { session } => {
                self.bring_worktree_back(*session).await?;
                *session
            }
            Command::Decide { approval, .. } | Command::DecideAlike { approval, .. } => {
                let id = *approval;
                let row = self
                    .inner
                    .store
                    .read(move |it| approvals::get(it, id))
                    .await?;
                row.session
            }
            command => command
                .session()
                .ok_or_else(|| ControlError::invalid("the command names no session"))?,
        };
        self.inner
            .store
            .read(move |it| sessions::get(it, session).map(drop))
            .await?;
        self.inner.tell(session, cmd, command).await
    }

    /// Makes a session, stored whole with its first message and the receipt, and has it looked after.
    async fn make(&self, id: SessionId, cmd: Cmd, command: Command) -> Result<Receipt> {
        let digest = receipts::digest(&cmd, &command)?;
        let gate = gate(&self.inner.making, id);
        let _one = gate.lock().await;
        // What comes twice leaves no second worktree.
        let (key, same) = (cmd.key.clone(), digest.clone());
        let before = self.inner.store.read(move |it| {
            let before = receipts::find(it, &key, &same)?;
            if before.is_none() {
                is_free(it, id)?;
            }
            Ok(before)
        });
        if let Some(receipt) = before.await? {
            return Ok(receipt);
        }
        let made = crate::make::prepare(&self.inner, &command).await?;
        // A setup script takes its time, and the folder may be another host's by now.
        self.is_open()?;
        let (key, by, at) = (cmd.key.clone(), cmd.principal.clone(), now());
        let job = move |it: &Connection| {
            receipts::once(it, &key, &digest, at, |it| {
                is_free(it, id)?;
                sessions::insert(it, &made.row)?;
                if let Some(parent) = made.rules_of {
                    rules::inherit(it, parent, id)?;
                }
                if let Some(message) = &made.message {
                    queue::push(it, id, message, at, &by)?;
                }
                let what = Happened::Session {
                    state: made.row.state.name().to_owned(),
                    reason: made.row.reason.clone(),
                };
                events::add(it, at, Some(id), &what)?;
                Ok(Did::Session { session: id })
            })
        };
        let receipt = self.inner.store.write(Durability::Full, job).await?;
        crate::points::passed("session stored");
        self.inner.happened();
        self.inner.look_after(id).await;
        if let Command::Import { .. } = command
            && let Err(error) = crate::earlier::index(&self.inner, id).await
        {
            tracing::warn!(session = %id, %error, "what was imported cannot be searched yet");
        }
        Ok(receipt)
    }
}

/// Whether no session has this id.
fn is_free(it: &Connection, id: SessionId) -> Result<(), StoreError> {
    match sessions::find(it, id)? {
        None => Ok(()),
        Some(_) => Err(StoreError::Invalid(format!(
            "there is a session {id} already: choose another id"
        ))),
    }
}
