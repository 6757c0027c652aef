//! A small host over the keeper transport: recovers its sessions, says its messages, answers questions, may die anywhere.
//!
//! Owns the order of a host's own writes: a line is in the outbox before it is put, a decision on the disk before it is
//! answered. Everything it does can be done again by the next host, since numbers and question ids say what was done.
//! It tells what happens as one JSON object a line on stdout.

mod file;
mod launch;
pub(crate) mod orders;
mod story;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use countersign_client::{Claude, Decision, Events, Handle, Prompt, Question, Questions};
use countersign_keeper::attach::{self, AttachError, Credentials, Kept, Outbox, PutOutcome};
use countersign_keeper::protocol::{EndPlan, Ref, Role};
use serde_json::{Value, json};
use tokio::sync::Notify;

use file::{Lines, State, die};
use orders::{Decide, Leave, Message, Orders, SessionOrders, Step};
use story::Story;

/// What tells one build from another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Build {
    pub(crate) name: &'static str,
    pub(crate) notes_more: bool,
}

/// Why a session is not looked after any more.
type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Another host holds the folder.
const HELD: u8 = 75;
/// An agent or its keeper went first.
const OVER: u8 = 3;
/// For a keeper that is there to answer; then it is looked again what is there.
const ANSWER: Duration = Duration::from_millis(300);
/// For a session to be taken over: a keeper whose socket was taken away needs a while to bind a new one.
const PATIENCE: Duration = Duration::from_secs(20);

struct Host {
    build: Build,
    orders: Orders,
    state: State,
    epoch: u64,
    open: AtomicUsize,
    held: Notify,
}

fn tell(event: &str, mut more: Value) {
    more["event"] = json!(event);
    // The suite may have stopped reading; that is no reason to stop.
    let _ = writeln!(std::io::stdout(), "{more}");
}

pub(crate) fn main(build: Build) -> ExitCode {
    let orders = std::env::args_os().nth(1).unwrap_or_default();
    let orders = std::fs::read(&orders).expect("the file of the orders");
    let orders: Orders = serde_json::from_slice(&orders).expect("orders");
    let Some(state) = State::take(&orders.state, orders.past_the_lock) else {
        tell("already running", json!({}));
        return ExitCode::from(HELD);
    };
    let epoch = state.next_epoch();
    tell("started", json!({"build": build.name, "epoch": epoch}));
    let host = Arc::new(Host {
        build,
        orders,
        state,
        epoch,
        open: AtomicUsize::new(0),
        held: Notify::new(),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(run(host))
}

/// Whatever ends this lets go of every session: by returning, by a panic, by a signal.
async fn run(host: Arc<Host>) -> ExitCode {
    let sessions: Vec<_> = (0..host.orders.sessions.len())
        .map(|index| tokio::spawn(look_after(Arc::clone(&host), index)))
        .collect();
    let all = async {
        let mut code = ExitCode::SUCCESS;
        for session in sessions {
            match session.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tell("over", json!({"why": error.to_string()}));
                    code = ExitCode::from(OVER);
                }
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
        code
    };
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .expect("a signal handler");
    tokio::select! {
        code = all => code,
        _ = term.recv() => ExitCode::SUCCESS,
        () = host.enough_open() => match host.orders.leave {
            Leave::PanicAt(_) => panic!("as ordered"),
            _ => ExitCode::SUCCESS,
        },
    }
}

impl Host {
    /// Waits until so many questions are open that it is time to go.
    async fn enough_open(&self) {
        let (Leave::PanicAt(enough) | Leave::ReturnAt(enough)) = self.orders.leave else {
            return std::future::pending().await;
        };
        while self.open.load(Ordering::SeqCst) < enough {
            self.held.notified().await;
        }
    }

    fn reached(&self, step: Step) {
        if self.orders.die == Some(step) {
            die();
        }
    }
}

/// The numbers and the lines of one session, on the disk before they go.
struct Stored {
    host: Arc<Host>,
    lines: Lines,
}

impl Outbox for Stored {
    fn enter(&self, line: &[u8]) -> std::io::Result<u64> {
        self.lines.enter(line)
    }

    fn settled(&self, what: &Ref, outcome: &PutOutcome) {
        let how = match outcome {
            PutOutcome::Written { .. } => "written",
            PutOutcome::Before { .. } => "before",
            PutOutcome::Refused(_) => "refused",
        };
        match what {
            Ref::N(n) => self.lines.settle(*n),
            Ref::Answer(id) => {
                tell("answered", json!({"id": id, "how": how}));
                if how == "written" {
                    self.host.reached(Step::Written);
                }
            }
        }
    }
}

/// One session, from its recovery to the end of its messages.
async fn look_after(host: Arc<Host>, index: usize) -> Result<(), Failed> {
    let orders = &host.orders.sessions[index];
    let patience = Instant::now() + PATIENCE;
    let mut started = None;
    let kept = loop {
        let begun = tokio::task::block_in_place(|| story::recover(&host.orders, orders))?;
        started = begun.or(started);
        match take_over(&host, orders).await {
            Err(error) if is_worth_another_look(&error) && Instant::now() < patience => {}
            done => break done?,
        }
    };
    let standing = kept.attachment.standing().clone();
    let ids: Vec<&String> = standing.open.iter().map(|open| &open.request_id).collect();
    let about = json!({
        "session": index, "generation": standing.generation, "build": standing.build,
        "epoch": host.epoch, "open": ids, "started": started,
    });
    tell("attached", about);
    let mut story = Story::read(&orders.dir, standing.generation, standing.tail.seq)?;
    story.write_down(
        &host
            .state
            .heard(&orders.id, standing.generation, standing.tail.seq),
    )?;
    let attachment = Arc::clone(&kept.attachment);
    let (handle, mut events, mut questions) = apart(kept);
    let mut desk = Desk::default();
    for message in &orders.messages {
        // Said again to an agent that has it: it runs no turn for it, and goes on with the next one.
        let again = Message {
            uuid: story::successor(&message.uuid),
            text: "go on".to_owned(),
        };
        for message in [message, &again] {
            say(&handle, &mut story, message).await?;
            while !story.is_over_with(&message.uuid) {
                tokio::select! {
                    event = events.next() => story.hear(event)?,
                    question = questions.next() => desk.take(&host, index, question),
                }
            }
            if story.is_done(&message.uuid) {
                break;
            }
        }
    }
    tell("done", json!({"session": index}));
    match host.orders.leave {
        Leave::Never => {
            hear_on(
                &host,
                index,
                &mut story,
                &mut events,
                &mut questions,
                &mut desk,
            )
            .await
        }
        Leave::EndWhenDone => {
            attachment.end(EndPlan::Gentle, "all is done")?;
            let over = attachment.ended().await;
            tell(
                "ended",
                json!({"session": index, "how": format!("{over:?}")}),
            );
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Connects, hands in again what an earlier host may not have, and builds the session.
async fn take_over(host: &Arc<Host>, orders: &SessionOrders) -> Result<Kept, AttachError> {
    let mut epoch = host.epoch;
    loop {
        let who = Credentials {
            epoch,
            token: orders.token.clone(),
            role: Role::Own,
        };
        let outbox = |standing: &countersign_keeper::protocol::Standing| -> Box<dyn Outbox> {
            let lines = host
                .state
                .lines(&orders.id, standing.generation, standing.last_n);
            let host = Arc::clone(host);
            Box::new(Stored { host, lines })
        };
        let attachment = attach::connect(&orders.dir, &who, ANSWER, outbox).await?;
        let unsettled = {
            let generation = attachment.standing().generation;
            host.state.unsettled(&orders.id, generation)
        };
        for (n, line) in &unsettled {
            let outcome = attachment.put(*n, line, None).await?;
            tell("again", json!({"n": n, "how": format!("{outcome:?}")}));
        }
        if unsettled.is_empty() {
            let claude = Claude::new().questions();
            return attach::attach(claude, &orders.dir, attachment, None).await;
        }
        // The session is built on how things stand after that.
        epoch = host.state.next_epoch();
    }
}

/// Whether nobody answered, or whoever did was gone before we were in, or the agent did not find its conversation: then
/// the next one begins it.
fn is_worth_another_look(error: &AttachError) -> bool {
    matches!(
        error,
        AttachError::Socket(_)
            | AttachError::Silent(_)
            | AttachError::Over(_)
            | AttachError::Client(countersign_client::Error::NoSuchSession { .. })
    )
}

fn apart(kept: Kept) -> (Handle, Events, Questions) {
    let session = kept.session;
    (session.handle, session.events, session.questions)
}

/// Sends a message unless this agent has got it.
async fn say(handle: &Handle, story: &mut Story, message: &Message) -> Result<(), Failed> {
    if !story.is_done(&message.uuid) && story.was_not_said(&message.uuid) {
        let prompt = Prompt::new().text(&message.text).uuid(&message.uuid);
        // Not waited for: the end of the turn is read off the journal, whoever sent the message.
        drop(handle.send(prompt).await?);
        story.said(&message.uuid);
    }
    Ok(())
}

async fn hear_on(
    host: &Host,
    index: usize,
    story: &mut Story,
    events: &mut Events,
    questions: &mut Questions,
    desk: &mut Desk,
) -> Result<(), Failed> {
    loop {
        tokio::select! {
            event = events.next() => story.hear(event)?,
            question = questions.next() => desk.take(host, index, question),
        }
    }
}

/// The questions that are held.
#[derive(Default)]
struct Desk {
    held: Vec<Question>,
}

impl Desk {
    fn take(&mut self, host: &Host, index: usize, question: Option<Question>) {
        let Some(Question::Permission(mut question)) = question else {
            return;
        };
        let id = question.responder().request_id().to_owned();
        tell("question", json!({"session": index, "id": id}));
        host.reached(Step::Asked);
        let allows = match host.orders.decide {
            Decide::Allow => true,
            Decide::Deny => false,
            Decide::Hold => {
                self.held.push(Question::Permission(question));
                host.open.fetch_add(1, Ordering::SeqCst);
                host.held.notify_one();
                return;
            }
        };
        let allows = host.state.decide(&id, allows);
        tell("decided", json!({"session": index, "id": id}));
        host.reached(Step::Decided);
        let mut note = json!({"by": "rule", "why": "the suite", "client": host.build.name});
        if host.build.notes_more {
            note["mood"] = json!({"of": "later builds"});
        }
        question.note(countersign_client::Json::of(&note).expect("a note"));
        let decision = match allows {
            true => Decision::allow(),
            false => Decision::deny("The suite says no."),
        };
        // Withdrawn meanwhile: then there is nothing to answer.
        let _ = question.answer(decision);
    }
}
