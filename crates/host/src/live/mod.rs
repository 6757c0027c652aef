//! One session, while somebody looks after it: an actor with a mailbox.
//!
//! Owns the thin shell around the pure core: what comes in (records, questions, wishes, time) is told to the core, and
//! what the core wants is done. One actor for a session, so nothing about a session happens twice at once. Invariants: a
//! person's wish is on the disk before it is acknowledged; the journal is read in order, and what follows from it is
//! stored with the cursor; an actor that ends writes nothing to any agent.

mod agent;
mod alike;
mod answers;
mod begin;
mod book;
mod come;
mod context;
mod cycle;
mod decide;
mod going;
mod greeting;
mod last;
mod messages;
mod mode;
mod plans;
mod probe;
mod project;
mod reach;
mod save;
mod wait;
mod wishes;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use countersign_client::Error as ClientError;
use countersign_keeper::attach::Over;
use countersign_keeper::protocol::EndPlan;
use tokio::sync::{mpsc, oneshot};

use crate::control::{Cmd, Command, MessageId, Receipt, Result, SessionId, State, now};
use crate::desk::{Desk, Watching};
use crate::host::Inner;
use crate::session::{Core, Effect, Input};
use crate::store::sessions::SessionRow;

pub(crate) use agent::Agent;
use agent::News;
use answers::ToAnswer;
use begin::Begun;
pub(crate) use book::{Book, Held, Move};
pub(crate) use context::{Context, Windows};
use messages::Unsent;
pub(crate) use probe::Asking;
pub(crate) use project::Projection;
pub(crate) use save::Work;
use wait::{awaited, news, sleep};
pub(crate) use wishes::LONGEST_NAME;

/// So many orders wait for an actor; who gives one more waits.
const MAILBOX: usize = 64;

/// Without anything to do for so long, an actor without an agent ends.
const REST: Duration = Duration::from_secs(5);

/// How soon is looked again whether a keeper answers.
const LOOK_AGAIN: u64 = 2_000_000;

/// What an actor is told.
#[derive(Debug)]
pub(crate) enum Order {
    /// A client wants something.
    Do {
        cmd: Cmd,
        command: Box<Command>,
        reply: oneshot::Sender<Result<Receipt>>,
    },
    /// There is room for its agent.
    Admitted,
    /// Others wait for room.
    MakeRoom,
    /// Look after the session: there is something to do. Whoever waits for it hears when all that follows is done.
    Look { done: oneshot::Sender<()> },
    /// Rules have changed somewhere. Whoever waits for it hears when this session goes by them.
    Rules { done: Option<oneshot::Sender<()>> },
    /// Preferences have changed.
    Tuned,
    /// Somebody asks the agent something.
    Ask(Asking),
    /// The host ends: let go.
    End,
}

/// The way to an actor.
pub(crate) type Mailbox = mpsc::Sender<Order>;

/// One session and whoever looks after it.
pub(crate) struct Actor {
    pub(crate) inner: Arc<Inner>,
    pub(crate) id: SessionId,
    pub(crate) row: SessionRow,
    pub(crate) core: Core,
    pub(crate) projection: Projection,
    pub(crate) ahead: crate::pages::Ahead,
    pub(crate) desk: Option<Desk>,
    pub(crate) watching: Option<Watching>,
    pub(crate) agent: Option<Agent>,
    /// A start or an attachment that is under way.
    pub(crate) begun: Option<oneshot::Receiver<Begun>>,
    /// Answers that are decided and not given, by the name of their question.
    pub(crate) to_answer: HashMap<String, ToAnswer>,
    /// Whoever starts or attaches.
    pub(crate) beginning: Option<tokio::task::AbortHandle>,
    /// The journal could not be read, and is tried again then.
    pub(crate) read_again: Option<u64>,
    /// What is to be done when the turn ends that a decision has ended.
    pub(crate) at_end: Option<answers::AtEnd>,
    /// What follows behind answers that are not handed in yet, by the name of their question.
    pub(crate) behind: Vec<(String, crate::approval::After)>,
    /// What policy had no say on yet, or what it said before an earlier host ended and the journal does not know.
    pub(crate) undecided: Vec<crate::store::approvals::ApprovalRow>,
    /// What the core wants and is not yet done.
    pub(crate) effects: VecDeque<Effect>,
    /// Open approvals that expire, by when.
    pub(crate) expiries: BTreeMap<(u64, String), ()>,
    /// What follows from records and is not yet stored.
    pub(crate) unsaved: save::Unsaved,
    /// The plan files of its agents.
    pub(crate) plans: crate::plan::Tracker,
    /// How full its context is.
    pub(crate) context: Context,
    /// What its agent said last, in a masked line.
    pub(crate) last: Option<String>,
    /// Messages that were written and do not stand in the journal yet, and the last ones that do.
    pub(crate) going: going::Going,
    /// Processes that were below the agent before it ran anything: its MCP servers.
    pub(crate) servers: Option<Vec<u32>>,
    /// What came of a look at the processes below the agent.
    pub(crate) children: Option<oneshot::Receiver<u32>>,
    /// What ran below it when its first turn began: servers come up late.
    pub(crate) more_servers: Option<oneshot::Receiver<Vec<u32>>>,
    /// It has called a tool: what runs below it may be anything from now on.
    pub(crate) has_called: bool,
}

/// Starts looking after a session.
pub(crate) fn spawn(inner: &Arc<Inner>, id: SessionId) -> Mailbox {
    let (mailbox, orders) = mpsc::channel(MAILBOX);
    let inner = Arc::clone(inner);
    tokio::spawn(async move {
        match Actor::open(Arc::clone(&inner), id).await {
            Ok(actor) => actor.run(orders).await,
            Err(error) => {
                tracing::warn!(%id, %error, "a session cannot be looked after");
                inner.forget(id);
                turn_away(orders, &error).await;
            }
        }
    });
    mailbox
}

async fn turn_away(mut orders: mpsc::Receiver<Order>, error: &crate::control::ControlError) {
    orders.close();
    while let Some(order) = orders.recv().await {
        if let Order::Do { reply, .. } = order {
            let _ = reply.send(Err(error.clone()));
        }
    }
}

impl Actor {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let was_cut_off = self.core.is_cut_off();
        self.come_in().await;
        if !self.core.has_agent() {
            // Kept for the agent that might have been there.
            self.inner.give_up_room(self.id);
        }
        // Only what ended while no host was there: an agent that dies again and again is not told to go on for ever.
        if self.inner.preferences().resumes_cut_off && self.core.is_cut_off() && !was_cut_off {
            self.resume_cut_off().await;
        }
        let mut has_ticked = false;
        loop {
            self.settle().await;
            let wake = self.wake_in();
            // An agent that never stops talking does not keep time from passing.
            let is_due = wake.is_some_and(|wake| wake.is_zero());
            if is_due && !std::mem::replace(&mut has_ticked, true) {
                self.tick().await;
                continue;
            }
            has_ticked = false;
            let rests = self.may_rest();
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    None | Some(Order::End) => break,
                    Some(order) => self.order(order).await,
                },
                begun = awaited(&mut self.begun) => self.begun(begun).await,
                others = awaited(&mut self.children) => {
                    let others = others.unwrap_or(u32::MAX);
                    self.step(Input::Children { others });
                    if others > 0 {
                        self.inner.stays_for_now(self.id);
                    }
                }
                servers = awaited(&mut self.more_servers) => self.found_servers(servers).await,
                news = news(&mut self.agent) => self.news(news).await,
                () = sleep(wake) => self.tick().await,
                () = sleep(rests.then_some(REST)) => if self.inner.lets_rest(self.id, &orders) {
                    break;
                },
            }
        }
        self.store_rest().await;
        // A start that is under way ends with us: the next host finds what came of it.
        if let Some(task) = &self.beginning {
            task.abort();
        }
        // Before the mailbox: who waits for its end finds nothing of us at work.
        drop(self);
    }

    async fn order(&mut self, order: Order) {
        match order {
            Order::Do {
                cmd,
                command,
                reply,
            } => self.wish(cmd, *command, reply).await,
            Order::Admitted => self.let_in(),
            Order::MakeRoom => {
                self.step(Input::MakeRoom);
                if !self.core.may_sleep() {
                    self.inner.stays(self.id);
                }
            }
            Order::Look { done } => drop(done.send(())),
            Order::End => {}
            Order::Rules { done } => {
                self.reload_rules().await;
                let _ = done.map(|done| done.send(()));
            }
            Order::Tuned => self.core.set_timing(self.inner.timing()),
            Order::Ask(asking) => self.ask(asking).await,
        }
    }

    async fn news(&mut self, news: News) {
        match news {
            News::Grown => self.catch_up().await,
            News::Asks(question) => {
                if let Some(agent) = &mut self.agent {
                    agent.asks(*question);
                }
                // Mostly it was read and decided before it could be answered.
                self.answer_all();
                self.catch_up().await;
                self.answer_all();
            }
            News::Paused(errno) => self.step(match errno {
                Some(_) => Input::DiskPaused,
                None => Input::DiskResumed,
            }),
            News::Over(over) => self.over(over).await,
        }
    }

    /// The connection to the agent is over.
    async fn over(&mut self, over: Over) {
        let Some(agent) = self.agent.take() else {
            return;
        };
        let generation = agent.generation;
        drop(agent);
        self.inner.levels.set(self.id, None);
        self.catch_up().await;
        match over {
            Over::Gone(exit) => {
                self.inner.care.due(self.id);
                self.gone(generation).await;
                self.plans_without_agent().await;
                self.step(Input::Gone {
                    generation,
                    exit,
                    stderr: String::new(),
                });
            }
            // Another host is at work: this one is out of date, and writes nothing more about it.
            Over::Superseded => self.step(Input::Unreachable),
            Over::Lost(why) => {
                tracing::warn!(session = %self.id, why, "a keeper was lost");
                match self.core.generation() > generation {
                    // The journal told of its end before, and the next one is ordered.
                    true => self.gone(generation).await,
                    false => self.come_in().await,
                }
            }
        }
    }

    /// Tells the core.
    pub(crate) fn step(&mut self, input: Input) {
        let effects = self.core.step(now(), input);
        self.effects.extend(effects);
    }

    async fn tick(&mut self) {
        self.expire().await;
        if self.read_again.is_some_and(|at| at <= now()) {
            self.catch_up().await;
        }
        if self.looks_again() {
            self.come_in().await;
        }
        self.end_hands_off();
        self.step(Input::Tick);
    }

    /// Does what the core wants, until it wants nothing more.
    async fn settle(&mut self) {
        loop {
            self.follow_up().await;
            while let Some(effect) = self.effects.pop_front() {
                self.do_it(effect).await;
            }
            // Behind messages that its agent gave back unread.
            self.after_crash().await;
            self.save().await;
            if self.effects.is_empty() {
                return;
            }
        }
    }

    async fn do_it(&mut self, effect: Effect) {
        match effect {
            Effect::AskForRoom { since } => {
                if self.inner.ask_for_room(self.id, since) {
                    self.let_in();
                }
            }
            Effect::GiveUpRoom => self.inner.give_up_room(self.id),
            Effect::Spawn { generation, begin } => self.begin(generation, begin).await,
            Effect::Send { message } => self.send(message).await,
            Effect::PutBack {
                message,
                is_given_back,
            } => self.put_back(message, is_given_back).await,
            Effect::Interrupt { cancel_queued } => self.interrupt(cancel_queued).await,
            Effect::End { plan, why } => self.end(plan, &why),
            Effect::KillKeeper => self.kill(),
            Effect::LookAtChildren => self.look_at_children(),
            Effect::GoOn { since } => self.go_on(since).await,
            Effect::Tell { mode, model } => self.tell(mode, model).await,
            Effect::TurnEnded { ok, .. } => self.turn_ended(ok).await,
            Effect::LetGo { what, id } => {
                tracing::warn!(session = %self.id, ?what, id, "too many to count: the oldest is let go of");
            }
            Effect::Changed => self.unsaved.changed = true,
        }
    }

    async fn interrupt(&mut self, cancel_queued: bool) {
        let Some(agent) = &self.agent else {
            return;
        };
        let handle = agent.handle.clone();
        let session = self.id;
        agent::say(async move {
            let done = match cancel_queued {
                true => handle.interrupt_all().await,
                false => handle.interrupt().await,
            };
            let done = match done {
                // An older one runs what it has not read; the turn ends all the same.
                Err(ClientError::Unsupported { .. }) => handle.interrupt().await,
                done => done,
            };
            if let Err(error) = done {
                tracing::warn!(%session, %error, "an interrupt did not get through");
            }
        })
        .await;
    }

    fn end(&mut self, plan: EndPlan, why: &str) {
        match &self.agent {
            Some(agent) => {
                if let Err(error) = agent.attachment.end(plan, why) {
                    tracing::warn!(session = %self.id, %error, "an agent cannot be ended");
                }
            }
            None if plan == EndPlan::Kill => self.kill(),
            None => {}
        }
    }

    /// Counts what runs below the agent, its MCP servers left out.
    fn look_at_children(&mut self) {
        let Some(agent) = &self.agent else {
            return;
        };
        let (sender, receiver) = oneshot::channel();
        let attachment = Arc::clone(&agent.attachment);
        let servers = self.servers.clone();
        tokio::spawn(async move {
            let others = match (attachment.status().await, servers) {
                (Ok(standing), Some(servers)) => {
                    let known = |pid: u32| servers.contains(&pid);
                    let children = standing.children.iter();
                    children.filter(|child| !known(child.pid)).count() as u32
                }
                // What cannot be told apart keeps the agent awake.
                (Ok(standing), None) => standing.children.len() as u32,
                (Err(_), _) => u32::MAX,
            };
            let _ = sender.send(others);
        });
        self.children = Some(receiver);
    }

    /// A turn begins: what runs below the agent before it has called anything are its servers.
    pub(crate) fn look_for_servers(&mut self) {
        let Some(agent) = self.agent.as_ref().filter(|_| self.servers.is_some()) else {
            return;
        };
        if self.has_called || self.more_servers.is_some() {
            return;
        }
        let (sender, receiver) = oneshot::channel();
        let attachment = Arc::clone(&agent.attachment);
        tokio::spawn(async move {
            if let Ok(standing) = attachment.status().await {
                let _ = sender.send(standing.children.iter().map(|child| child.pid).collect());
            }
        });
        self.more_servers = Some(receiver);
    }

    async fn found_servers(&mut self, found: Option<Vec<u32>>) {
        // What was said until then tells whether it has called something meanwhile.
        self.catch_up().await;
        if let (Some(found), Some(servers), false) = (found, &mut self.servers, self.has_called) {
            servers.extend(found);
        }
    }

    async fn send(&mut self, message: MessageId) {
        // Nobody sees a session that is idle and has nothing to do while a message goes.
        self.unsaved.changed = true;
        self.save().await;
        match self.write_message(message).await {
            Ok(()) => {}
            Err(Unsent::Closed) => self.step(Input::Closed { message }),
            Err(Unsent::Refused(error)) => {
                tracing::warn!(session = %self.id, %message, error, "a message did not go");
                self.step(Input::NotSent { message });
            }
        }
        self.tell_queue().await;
    }

    /// Until there is something to do by itself.
    fn wake_in(&self) -> Option<Duration> {
        let expiry = self.expiries.keys().next().map(|(at, _)| *at);
        let unsaved = self.unsaved.due();
        let look = self.looks_again().then(|| now() + LOOK_AGAIN);
        let at = [
            self.core.wake_at(),
            expiry,
            unsaved,
            look,
            self.read_again,
            self.hands_off_until(),
        ];
        let at = at.into_iter().flatten().min()?;
        Some(Duration::from_micros(at.saturating_sub(now())))
    }

    /// Whether nothing can come but orders.
    fn may_rest(&self) -> bool {
        let is_off = matches!(
            self.core.state(),
            State::Idle { asleep: true, .. }
                | State::Stopped
                | State::Failed { .. }
                | State::NotSignedIn { .. }
        );
        is_off
            && self.agent.is_none()
            && self.begun.is_none()
            && self.core.wake_at().is_none()
            && self.expiries.is_empty()
            && self.read_again.is_none()
            && self.unsaved.is_empty()
    }
}
