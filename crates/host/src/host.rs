//! The host on this machine: sessions, their actors, and what clients ask.
//!
//! Owns the data folder while it runs, and the way from a command to the actor of its session. Invariants: one host for a
//! data folder; one actor for a session; a command with a key that was used gives the receipt of then; a host that ends
//! writes no byte to any agent.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_client::history::Transcripts;
use countersign_keeper::{Graces, KeeperCommand};
use countersign_transcript::pages::{Every, Pages};
use countersign_transcript::{Entry, EntryId, Totals};
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use tokio::sync::{mpsc, oneshot, watch};

use crate::control::{
    Above, ApprovalFilter, ApprovalId, ApprovalView, Cmd, Command, Control, ControlError, Did,
    Followed, Found, Happened, HostEvent, Page, PlanVersion, Queued, Receipt, Result,
    SessionFilter, SessionId, SessionView, Usage, now,
};
use crate::control::approval::Life;
use crate::desk::{self, HostSettings};
use crate::folders::Folders;
use crate::follow::{self, Levels};
use crate::live::{self, Mailbox, Order};
use crate::notify::{BadTarget, Event, Notifier, Outside, Schedule, Target, Targets};
use crate::room::Room;
use crate::session::Timing;
use crate::trash::Trash;
use crate::worktree::Worktrees;
use crate::store::sessions::{Listed, SessionRow};
use crate::store::shelf::StoredShelf;
use crate::store::{
    Connection, Durability, HostLock, LockError, Store, StoreError, approvals, events, plans, queue,
    receipts, search, sessions, usage,
};

/// How a host is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What agents have in common: the data folder, the CLI, their environment.
    pub agents: HostSettings,
    /// The program that becomes a keeper.
    pub keeper: KeeperCommand,
    /// So many agents live at once.
    pub most_agents: usize,
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
}

impl Settings {
    /// The usual ones.
    pub fn new(data: impl Into<PathBuf>, keeper: KeeperCommand) -> Self {
        Self {
            agents: HostSettings::new(data),
            keeper,
            most_agents: 32,
            timing: Timing::default(),
            graces: Graces::default(),
            expiry: None,
            resumes_cut_off: false,
            targets: Vec::new(),
            link_base: None,
        }
    }
}

/// Why a host does not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The data folder.
    #[error("the data folder {}: {source}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
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

/// What actors and clients share.
pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) folders: Folders,
    pub(crate) store: Store,
    pub(crate) epoch: u64,
    pub(crate) levels: Arc<Levels>,
    actors: Mutex<HashMap<SessionId, Mailbox>>,
    room: Mutex<Room>,
    /// The number of the last event, or so: who waits looks.
    news: watch::Sender<u64>,
    /// One at a time folds the pages of a session.
    pages: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
    pub(crate) worktrees: Worktrees,
    notifier: Notifier,
    lock: Mutex<Option<HostLock>>,
}

/// A host on this machine. Dropped, it lets go of every agent; they live on.
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
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
    pub async fn open(settings: Settings) -> Result<Self, HostError> {
        let path = settings.agents.data.clone();
        let folders = Folders::open(&path).map_err(|source| HostError::Folder { path, source })?;
        let opened = tokio::task::spawn_blocking({
            let root = folders.root().to_owned();
            move || {
                let mut lock = HostLock::take(&root)?;
                let (store, epoch) = Store::take(&mut lock)?;
                Ok::<_, HostError>((lock, store, epoch))
            }
        });
        let (lock, store, epoch) = opened.await.unwrap_or(Err(StoreError::Closed.into()))?;
        let room = Mutex::new(Room::new(settings.most_agents));
        let worktrees = Worktrees::new(
            folders.worktrees(),
            Trash::at(folders.trash()),
            desk::environment_of_host(&settings.agents),
        );
        let targets = Targets::new(settings.targets.clone(), Schedule::default())?;
        let outside = Outside::of_process(settings.link_base.clone());
        let notifier = Notifier::start(targets, outside, |said| {
            tracing::warn!(?said, "somebody could not be told");
        });
        let last = store.read(events::last).await?;
        let host = Self {
            inner: Arc::new(Inner {
                settings,
                folders,
                store,
                epoch,
                levels: Arc::default(),
                actors: Mutex::default(),
                room,
                news: watch::Sender::new(last),
                pages: Mutex::default(),
                worktrees,
                notifier,
                lock: Mutex::new(Some(lock)),
            }),
        };
        crate::recover::recover(&host.inner).await?;
        Ok(host)
    }

    /// The number of this host: higher than that of every one before.
    pub fn epoch(&self) -> u64 {
        self.inner.epoch
    }

    /// Lets go of every agent, and of the data folder. Nothing is written to any agent.
    pub async fn close(self) {
        let actors: Vec<Mailbox> = locked(&self.inner.actors).drain().map(|(_, it)| it).collect();
        let waiting = actors.iter().map(|mailbox| mailbox.downgrade());
        let waiting: Vec<_> = waiting.collect();
        for mailbox in &actors {
            let _ = mailbox.send(Order::End).await;
        }
        drop(actors);
        // The folder is another host's only when nobody looks after a session any more.
        for mailbox in waiting {
            while let Some(mailbox) = mailbox.upgrade() {
                mailbox.closed().await;
            }
        }
        locked(&self.inner.lock).take();
    }

    async fn execute(&self, cmd: Cmd, command: Command) -> Result<Receipt> {
        if cmd.key.is_empty() || cmd.key.len() > Cmd::LONGEST_KEY {
            return Err(ControlError::invalid("a key has 1 to 128 letters"));
        }
        let digest = receipts::digest(&cmd, &command)?;
        let key = cmd.key.clone();
        let before = self.inner.store.read(move |it| receipts::find(it, &key, &digest));
        if let Some(receipt) = before.await? {
            return Ok(receipt);
        }
        if cmd.deadline.is_some_and(|deadline| deadline < now()) {
            return Err(ControlError::TooLate);
        }
        let session = match &command {
            Command::Start(_) | Command::Fork { .. } | Command::Import { .. } => {
                return self.make(cmd, command).await;
            }
            Command::Decide { approval, .. } | Command::DecideAlike { approval, .. } => {
                let id = *approval;
                let row = self.inner.store.read(move |it| approvals::get(it, id)).await?;
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
    async fn make(&self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let made = crate::make::prepare(&self.inner, &command).await?;
        let digest = receipts::digest(&cmd, &command)?;
        let (key, by, at) = (cmd.key.clone(), cmd.principal.clone(), now());
        let id = made.row.id;
        let job = move |it: &Connection| {
            receipts::once(it, &key, &digest, at, |it| {
                if sessions::find(it, id)?.is_some() {
                    return Err(StoreError::Invalid(format!(
                        "there is a session {id} already: choose another id"
                    )));
                }
                sessions::insert(it, &made.row)?;
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
        Ok(receipt)
    }

    async fn transcript_page(
        &self,
        id: SessionId,
        before: Option<EntryId>,
        most: usize,
    ) -> Result<Above<Entry>> {
        let gate = {
            let mut pages = locked(&self.inner.pages);
            pages.retain(|_, gate| Arc::strong_count(gate) > 1);
            Arc::clone(pages.entry(id).or_default())
        };
        let _one = gate.lock().await;
        self.inner.store.read(move |it| sessions::get(it, id).map(drop)).await?;
        let dir = self.inner.folders.session(id);
        let store = self.inner.store.clone();
        let level = self.inner.levels.watch(id).borrow().clone();
        let read = tokio::task::spawn_blocking(move || {
            if !dir.join("journal").exists() {
                return Ok(Above {
                    items: Vec::new(),
                    more: false,
                    cursor: countersign_journal::Cursor::START.to_string(),
                });
            }
            let failed = |error: &dyn std::fmt::Display| ControlError::Unavailable {
                why: format!("the transcript cannot be read: {error}"),
                retry_ms: 1_000,
            };
            let mut reader =
                countersign_journal::Reader::open(&dir).map_err(|error| failed(&error))?;
            reader.set_limit(level.tail);
            let shelf = StoredShelf::new(store, id);
            let mut pages =
                Pages::open(shelf, Every::default()).map_err(|error| failed(&error))?;
            pages.catch_up(&mut reader).map_err(|error| failed(&error))?;
            let page = match before {
                Some(before) => pages.before(&mut reader, before, most),
                None => pages.newest(&mut reader, most),
            };
            let page = page.map_err(|error| failed(&error))?;
            Ok(Above {
                more: page.older.is_some(),
                items: page.entries,
                cursor: pages.cursor().to_string(),
            })
        });
        read.await.unwrap_or_else(|error| {
            Err(ControlError::Unknown {
                why: error.to_string(),
            })
        })
    }
}

impl Inner {
    /// The way to the actor of a session, which is there from now on.
    fn mailbox(self: &Arc<Self>, id: SessionId) -> Mailbox {
        let mut actors = locked(&self.actors);
        let known = actors.get(&id).filter(|mailbox| !mailbox.is_closed());
        match known {
            Some(mailbox) => mailbox.clone(),
            None => {
                let mailbox = live::spawn(self, id);
                actors.insert(id, mailbox.clone());
                mailbox
            }
        }
    }

    /// An actor that cannot begin is not kept.
    pub(crate) fn forget(&self, id: SessionId) {
        locked(&self.actors).remove(&id);
    }

    /// Whether an actor may end: nobody is about to tell it something.
    pub(crate) fn lets_rest(&self, id: SessionId, orders: &mpsc::Receiver<Order>) -> bool {
        let mut actors = locked(&self.actors);
        let is_free = match actors.get(&id) {
            Some(mailbox) => mailbox.strong_count() == 1 && orders.is_empty(),
            None => true,
        };
        if is_free {
            actors.remove(&id);
        }
        is_free
    }

    /// Has a session looked after.
    pub(crate) async fn look_after(self: &Arc<Self>, id: SessionId) {
        let _ = self.mailbox(id).send(Order::Look).await;
    }

    async fn tell(self: &Arc<Self>, id: SessionId, cmd: Cmd, command: Command) -> Result<Receipt> {
        let (reply, receipt) = oneshot::channel();
        let order = Order::Do {
            cmd,
            command: Box::new(command),
            reply,
        };
        let lost = || ControlError::Unknown {
            why: "whoever looks after the session has ended".to_owned(),
        };
        let mailbox = self.mailbox(id);
        mailbox.send(order).await.map_err(|_| lost())?;
        drop(mailbox);
        receipt.await.map_err(|_| lost())?
    }

    fn post(self: &Arc<Self>, id: SessionId, order: Order) {
        let mailbox = self.mailbox(id);
        tokio::spawn(async move {
            let _ = mailbox.send(order).await;
        });
    }

    /// Asks for room. If there is none, the agent that has been idle for longest is asked to sleep.
    pub(crate) fn ask_for_room(self: &Arc<Self>, id: SessionId) -> bool {
        let is_in = locked(&self.room).ask(id);
        if !is_in {
            let inner = Arc::clone(self);
            tokio::spawn(async move {
                let idle = inner.store.read(sessions::longest_idle).await;
                match idle {
                    Ok(Some(idle)) => inner.post(idle, Order::MakeRoom),
                    Ok(None) => {}
                    Err(error) => tracing::warn!(%error, "nobody can be asked to make room"),
                }
            });
        }
        is_in
    }

    /// A rule was made that other sessions must know of.
    pub(crate) fn rules_changed(self: &Arc<Self>, by: SessionId, reaches_others: bool) {
        if !reaches_others {
            return;
        }
        let others: Vec<SessionId> = locked(&self.actors).keys().copied().collect();
        for other in others.into_iter().filter(|other| *other != by) {
            self.post(other, Order::Rules);
        }
        self.event(by, Happened::Rules);
    }

    pub(crate) fn give_up_room(self: &Arc<Self>, id: SessionId) {
        let let_in = locked(&self.room).leave(id);
        for next in let_in {
            self.post(next, Order::Admitted);
        }
    }

    /// The agent of a session is there already.
    pub(crate) fn found(&self, id: SessionId) {
        locked(&self.room).found(id);
    }

    /// Something was written that clients want to hear of.
    pub(crate) fn happened(&self) {
        self.news.send_modify(|news| *news += 1);
    }

    /// Something went wrong that a person should know.
    pub(crate) fn trouble(&self, session: SessionId, text: String) {
        tracing::warn!(%session, text, "trouble");
        self.event(session, Happened::Trouble { text });
    }

    pub(crate) fn turn_ended(&self, session: SessionId, ok: bool, cost_usd: f64) {
        self.event(session, Happened::Turn { ok, cost_usd });
    }

    fn event(&self, session: SessionId, what: Happened) {
        let news = self.news.clone();
        self.store.post(move |it| {
            events::add(it, now(), Some(session), &what)?;
            news.send_modify(|news| *news += 1);
            Ok(())
        });
    }

    /// What an actor stored, for whoever is to be told outside of this machine.
    pub(crate) fn notify(self: &Arc<Self>, work: live::Work) {
        if self.settings.targets.is_empty() {
            return;
        }
        let is_open = |row: &&approvals::ApprovalRow| row.life == Life::Open;
        let asked: Vec<ApprovalId> = work.asked.iter().filter(is_open).map(|row| row.id).collect();
        if asked.is_empty() && work.was.is_none() {
            return;
        }
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            let id = work.row.id;
            let found = inner.store.read(move |it| {
                let session = view(sessions::listed(it, id)?);
                let views = asked.into_iter().map(|id| approval_view(it, approvals::get(it, id)?));
                Ok((session, views.collect::<std::result::Result<Vec<_>, _>>()?))
            });
            let (session, approvals) = match found.await {
                Ok(found) => found,
                Err(error) => return tracing::warn!(%error, "nobody can be told"),
            };
            for approval in &approvals {
                inner.notifier.tell(&Event::asked(&session, approval));
            }
            if let Some(event) = work.was.and_then(|was| Event::turned(&was, &session)) {
                inner.notifier.tell(&event);
            }
        });
    }

    /// The person's own transcripts of the CLI.
    pub(crate) fn transcripts(&self) -> Result<Transcripts> {
        let variable = |name: &str| desk::variable_of_host(name, &self.settings.agents);
        Transcripts::of_environment(variable)
            .map_err(|error| ControlError::not_now(error.to_string()))
    }

    /// The repository that a session's folder is a worktree of.
    pub(crate) fn copy_of(&self, row: &SessionRow) -> Option<PathBuf> {
        let worktree = crate::make::worktree_of(row).ok()?;
        Some(worktree.repo)
    }
}

/// A session as a client sees it.
fn view(listed: Listed) -> SessionView {
    let Listed {
        row,
        open_approvals,
        queued,
    } = listed;
    SessionView {
        id: row.id,
        name: row.name,
        cwd: row.cwd,
        state: row.state,
        reason: row.reason,
        since: row.since,
        cut_off: row.cut_off,
        mode: row.mode,
        model: row.model,
        version: row.version,
        conversation: row.conversation,
        generation: row.generation,
        open_approvals,
        queued,
        queue_held: row.queue_held,
        cost_usd: row.cost_usd,
        budget_usd: row.setup.budget_usd,
        created: row.created,
        last_activity: row.last_activity,
        parent: row.parent,
        origin: row.origin,
        archived: row.archived,
        trashed: row.trashed,
        branch: row
            .worktree
            .as_ref()
            .and_then(|worktree| worktree["branch"].as_str().map(str::to_owned)),
    }
}

/// An approval as a client sees it.
fn approval_view(
    it: &Connection,
    row: approvals::ApprovalRow,
) -> std::result::Result<ApprovalView, StoreError> {
    let session = sessions::get(it, row.session)?;
    let is_live = session.live && session.generation == row.generation;
    Ok(ApprovalView {
        id: row.id,
        session: row.session,
        session_name: session.name,
        kind: row.kind,
        needs_restart: !is_live && row.life == Life::Open,
        life: row.life,
        asked: row.asked,
        record: countersign_journal::Cursor::new(row.generation, row.seq).to_string(),
        request_id: row.request_id,
        tool_use_id: row.tool_use_id,
        tool: row.tool,
        input: row.input,
        digest: row.digest,
        path: row.path,
        reason: row.reason,
        remark: row.remark,
        offers: row.offers,
        expires: row.expires,
        decided: row.decided,
    })
}

impl Control for Host {
    fn execute(&self, cmd: Cmd, command: Command) -> BoxFuture<'_, Result<Receipt>> {
        Box::pin(self.execute(cmd, command))
    }

    fn sessions(&self, filter: SessionFilter) -> BoxFuture<'_, Result<Page<SessionView>>> {
        Box::pin(async move {
            let page = self.inner.store.read(move |it| sessions::list(it, &filter));
            let page = page.await?;
            Ok(Page {
                items: page.items.into_iter().map(view).collect(),
                next: page.next,
            })
        })
    }

    fn session(&self, id: SessionId) -> BoxFuture<'_, Result<SessionView>> {
        Box::pin(async move {
            let listed = self.inner.store.read(move |it| sessions::listed(it, id)).await?;
            Ok(view(listed))
        })
    }

    fn queue(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<Queued>>> {
        Box::pin(async move {
            let rows = self.inner.store.read(move |it| {
                sessions::get(it, id)?;
                queue::list(it, id)
            });
            Ok(rows.await?.iter().map(queue::QueuedRow::view).collect())
        })
    }

    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Page<ApprovalView>>> {
        Box::pin(async move {
            let page = self.inner.store.read(move |it| {
                let page = approvals::list(it, &filter)?;
                let views = page.items.into_iter().map(|row| approval_view(it, row));
                Ok(Page {
                    items: views.collect::<std::result::Result<_, _>>()?,
                    next: page.next,
                })
            });
            Ok(page.await?)
        })
    }

    fn approval(&self, id: ApprovalId) -> BoxFuture<'_, Result<ApprovalView>> {
        Box::pin(async move {
            let row = self
                .inner
                .store
                .read(move |it| approval_view(it, approvals::get(it, id)?));
            Ok(row.await?)
        })
    }

    fn plans(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<PlanVersion>>> {
        Box::pin(async move {
            let rows = self.inner.store.read(move |it| {
                sessions::get(it, id)?;
                plans::list(it, id)
            });
            let mut versions: Vec<PlanVersion> = Vec::new();
            for row in rows.await? {
                let last = versions.last().map(|last| last.text.clone());
                versions.push(PlanVersion {
                    approval: row.approval,
                    number: row.number,
                    at: row.at,
                    by: row.by,
                    changes: last.map_or_else(String::new, |last| {
                        crate::plan::compare(&last, &row.text)
                    }),
                    text: row.text,
                });
            }
            Ok(versions)
        })
    }

    fn transcript(
        &self,
        id: SessionId,
        before: Option<EntryId>,
        most: usize,
    ) -> BoxFuture<'_, Result<Above<Entry>>> {
        Box::pin(self.transcript_page(id, before, most))
    }

    fn totals(&self, id: SessionId) -> BoxFuture<'_, Result<Totals>> {
        Box::pin(async move {
            Ok(self.inner.store.read(move |it| usage::totals(it, id)).await?)
        })
    }

    fn follow(
        &self,
        id: SessionId,
        after: Option<String>,
        max_inline: usize,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<Followed>>>> {
        Box::pin(async move {
            self.inner.store.read(move |it| sessions::get(it, id).map(drop)).await?;
            let after = after.as_deref().map(follow::cursor).transpose()?;
            let dir = self.inner.folders.session(id);
            let levels = self.inner.levels.watch(id);
            Ok(follow::follow(dir, after, max_inline, levels))
        })
    }

    fn read(
        &self,
        id: SessionId,
        cursor: String,
        range: std::ops::Range<u64>,
    ) -> BoxFuture<'_, Result<Vec<u8>>> {
        Box::pin(async move {
            let at = follow::cursor(&cursor)?;
            let dir = self.inner.folders.session(id);
            let read = tokio::task::spawn_blocking(move || {
                countersign_journal::read_range(&dir, at, range)
            });
            match read.await {
                Ok(Ok(bytes)) => Ok(bytes),
                Ok(Err(_)) => Err(ControlError::not_found("record", cursor)),
                Err(error) => Err(ControlError::Unknown {
                    why: error.to_string(),
                }),
            }
        })
    }

    fn events(&self, after: Option<u64>) -> BoxFuture<'_, Result<BoxStream<'static, HostEvent>>> {
        Box::pin(async move {
            let news = self.inner.news.subscribe();
            let last = match after {
                Some(after) => after,
                None => self.inner.store.read(events::last).await?,
            };
            Ok(crate::events::follow(self.inner.store.clone(), last, news))
        })
    }

    fn search(&self, words: String, most: usize) -> BoxFuture<'_, Result<Vec<Found>>> {
        Box::pin(async move {
            let found = self
                .inner
                .store
                .read(move |it| search::search(it, &words, most, None));
            Ok(found.await?.items)
        })
    }

    fn usage(&self, since: u64) -> BoxFuture<'_, Result<Usage>> {
        Box::pin(async move {
            let day = crate::money::day(since);
            Ok(self.inner.store.read(move |it| usage::since(it, &day)).await?)
        })
    }

    fn diff(&self, id: SessionId) -> BoxFuture<'_, Result<String>> {
        Box::pin(async move {
            let row = self.inner.store.read(move |it| sessions::get(it, id)).await?;
            crate::make::diff(&self.inner, &row).await
        })
    }
}
