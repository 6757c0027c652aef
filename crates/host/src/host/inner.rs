//! What actors and clients share: the way to an actor, room for agents, what is told.
//!
//! Owns the methods of [`Inner`]. Invariants: one actor for a session; an actor ends only when nobody is about to tell it
//! something.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use countersign_client::history::Transcripts;
use tokio::sync::{mpsc, oneshot};

use crate::control::approval::Life;
use crate::control::{
    ApprovalId, Cmd, Command, ControlError, Happened, Receipt, Result, SessionId, SessionView,
    State, now,
};
use crate::desk::{self};
use crate::live::{self, Mailbox, Order};
use crate::notify::Event;
use crate::store::sessions::SessionRow;
use crate::store::{Connection, approvals, events, sessions};

use super::view::{approval_view, view};
use super::{Inner, locked};

/// Time until a session that could not begin for want of files tries again.
const FILES_AGAIN: Duration = Duration::from_secs(2);

/// After so long an agent that could not make room is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// So long is waited until sessions go by a rule that was kept or forgotten.
const RULES: Duration = Duration::from_secs(2);

impl Inner {
    /// The way to the actor of a session, which is there from now on.
    pub(super) fn mailbox(self: &Arc<Self>, id: SessionId) -> Mailbox {
        let mut actors = locked(&self.actors);
        let known = actors.get(&id).filter(|mailbox| !mailbox.is_closed());
        match known {
            Some(mailbox) => mailbox.clone(),
            // Nobody reads it.
            None if self.is_closed() => mpsc::channel(1).0,
            None => {
                let mailbox = live::spawn(self, id);
                actors.insert(id, mailbox.clone());
                mailbox
            }
        }
    }

    /// The host ends: no actor begins from now on. Gives the ways to those that are there.
    pub(super) fn end(&self) -> Vec<Mailbox> {
        let mut actors = locked(&self.actors);
        self.is_closed.store(true, Ordering::Release);
        self.care.wake();
        actors.drain().map(|(_, mailbox)| mailbox).collect()
    }

    /// Whether the host ends.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// How a session stands that cannot be stored at the moment; none if it is.
    pub(crate) fn set_unstored(&self, id: SessionId, stands: Option<(State, String)>) {
        let mut unstored = locked(&self.unstored);
        match stands {
            Some(stands) => drop(unstored.insert(id, stands)),
            None => drop(unstored.remove(&id)),
        }
    }

    /// A session as it stands, also where that cannot be stored: a full disk is told as one.
    pub(super) fn as_it_stands(&self, mut view: SessionView) -> SessionView {
        if let Some((state, reason)) = locked(&self.unstored).get(&view.id) {
            view.state.clone_from(state);
            view.reason.clone_from(reason);
        }
        view
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
        drop(self.look_at(id).await);
    }

    /// Has a session looked after. What is given back is told, or ends, when it has asked for what it wants.
    pub(crate) async fn look_at(self: &Arc<Self>, id: SessionId) -> oneshot::Receiver<()> {
        let (done, looked) = oneshot::channel();
        let _ = self.mailbox(id).send(Order::Look { done }).await;
        looked
    }

    pub(super) async fn tell(
        self: &Arc<Self>,
        id: SessionId,
        cmd: Cmd,
        command: Command,
    ) -> Result<Receipt> {
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

    pub(super) fn post(self: &Arc<Self>, id: SessionId, order: Order) {
        let mailbox = self.mailbox(id);
        // At once if there is room, so that it is heard before whatever is told later.
        let order = match mailbox.try_send(order) {
            Err(mpsc::error::TrySendError::Full(order)) => order,
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => return,
        };
        tokio::spawn(async move {
            let _ = mailbox.send(order).await;
        });
    }

    /// Asks for room. If there is none, the agent that has been idle for longest is asked to sleep.
    pub(crate) fn ask_for_room(self: &Arc<Self>, id: SessionId, since: u64) -> bool {
        let is_in = locked(&self.room).ask(id, since);
        if !is_in {
            self.make_room();
        }
        is_in
    }

    /// Number of live agents but for that of `session`.
    pub(crate) fn agents_beside(&self, session: Option<SessionId>) -> usize {
        locked(&self.room).others(session)
    }

    /// A session has room and too few files to begin: it is let in again in a while.
    pub(crate) fn let_in_later(self: &Arc<Self>, id: SessionId) {
        let host = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(FILES_AGAIN).await;
            if let Some(inner) = host.upgrade() {
                inner.post(id, Order::Admitted);
            }
        });
    }

    /// A session stands otherwise, as the database says: it may be able to make room, or no longer.
    pub(crate) fn stands(self: &Arc<Self>, id: SessionId) {
        let mut room = locked(&self.room);
        room.goes_on(id);
        if room.is_waited_for() {
            drop(room);
            self.make_room();
        }
    }

    /// A session was asked to make room and cannot.
    pub(crate) fn stays(self: &Arc<Self>, id: SessionId) {
        locked(&self.room).stays(id);
        self.make_room();
    }

    /// What runs below its agent keeps a session awake. Nothing tells when that ends, so it is asked again in a while.
    pub(crate) fn stays_for_now(self: &Arc<Self>, id: SessionId) {
        self.stays(id);
        let host = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(ASK_AGAIN).await;
            if let Some(inner) = host.upgrade() {
                inner.stands(id);
            }
        });
    }

    /// Asks those who have been idle for longest, as many as wait.
    fn make_room(self: &Arc<Self>) {
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            let idle = match inner.store.read(sessions::idle).await {
                Ok(idle) => idle,
                Err(error) => return tracing::warn!(%error, "nobody can be asked to make room"),
            };
            let asked = locked(&inner.room).whom_to_ask(&idle);
            for one in asked {
                inner.post(one, Order::MakeRoom);
            }
        });
    }

    /// A rule was made that other sessions must know of.
    pub(crate) fn rules_changed(self: &Arc<Self>, by: SessionId, reaches_others: bool) {
        if !reaches_others {
            return;
        }
        let others: Vec<SessionId> = locked(&self.actors).keys().copied().collect();
        for other in others.into_iter().filter(|other| *other != by) {
            self.post(other, Order::Rules { done: None });
        }
        self.event(by, Happened::Rules);
    }

    /// Everybody who looks after a session takes the rules up as they are stored. One that is busy is not waited for for long,
    /// and takes them up next. Not for actors: two that wait for each other would wait in vain.
    pub(super) async fn rules_in_force(self: &Arc<Self>) {
        let all: Vec<SessionId> = locked(&self.actors).keys().copied().collect();
        let told: Vec<_> = all
            .into_iter()
            .map(|one| {
                let (done, taken) = oneshot::channel();
                self.post(one, Order::Rules { done: Some(done) });
                taken
            })
            .collect();
        let taken = async {
            for one in told {
                // One that ends needs no rules.
                let _ = one.await;
            }
        };
        if tokio::time::timeout(RULES, taken).await.is_err() {
            tracing::warn!("a session is busy, and goes by the new rules a moment later");
        }
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

    pub(super) fn event(&self, session: SessionId, what: Happened) {
        let news = self.news.clone();
        let add = move |it: &Connection| events::add(it, now(), Some(session), &what).map(drop);
        // Who is told before it is committed looks, finds nothing, and waits for the next.
        let told = move || news.send_modify(|news| *news += 1);
        self.store.post_and(add, told);
    }

    /// What an actor stored, for whoever is to be told outside of this machine.
    pub(crate) fn notify(self: &Arc<Self>, work: live::Work) {
        if self.notifier.is_idle() {
            return;
        }
        for (approval, life, _) in &work.lives {
            if *life != Life::Open {
                self.notifier.settled(*approval);
            }
        }
        let is_open = |row: &&approvals::ApprovalRow| row.life == Life::Open;
        let asked: Vec<ApprovalId> = work
            .asked
            .iter()
            .filter(is_open)
            .map(|row| row.id)
            .collect();
        if asked.is_empty() && work.was.is_none() {
            return;
        }
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            let id = work.row.id;
            let found = inner.store.read(move |it| {
                let session = view(sessions::listed(it, id)?);
                let views = asked
                    .into_iter()
                    .map(|id| approval_view(it, approvals::get(it, id)?));
                Ok((session, views.collect::<std::result::Result<Vec<_>, _>>()?))
            });
            let (mut session, mut approvals) = match found.await {
                Ok(found) => found,
                Err(error) => return tracing::warn!(%error, "nobody can be told"),
            };
            let mask = &inner.settings.mask;
            mask.session(&mut session);
            approvals.iter_mut().for_each(|one| mask.question(one));
            // Decided meanwhile: nobody is needed any more.
            for approval in approvals.iter().filter(|one| one.life == Life::Open) {
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
