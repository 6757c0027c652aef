//! One session of a test host: taken over, spoken to, answered, let go.
//!
//! Owns the work on one session. Whatever was handed in by an earlier host and not settled is handed in again before
//! anything else: the keeper knows what it has.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use countersign_client::{
    Claude, Decision, Error, Events, Handle, Json, PermissionQuestion, Prompt, Question, Questions,
};
use countersign_keeper::attach::{
    self, AttachError, Attachment, Credentials, Kept, Outbox, PutOutcome,
};
use countersign_keeper::protocol::{EndPlan, Ref, Role, Standing};
use serde_json::json;

use super::file::Lines;
use super::orders::{Decide, Leave, Message, SessionOrders, Step};
use super::story::{self, Story};
use super::{Failed, Host, tell};

/// For a keeper that is there to answer; then it is looked again what is there.
const ANSWER: Duration = Duration::from_millis(300);
/// For a session to be taken over: a keeper whose socket was taken away needs a while to bind a new one.
const PATIENCE: Duration = Duration::from_secs(20);

/// From its recovery to the end of its messages.
pub(crate) async fn look_after(host: Arc<Host>, index: usize) -> Result<(), Failed> {
    let (kept, started) = come_in(&host, &host.orders.sessions[index]).await?;
    let mut post = Post::of(Arc::clone(&host), index, kept)?;
    post.tell_standing(started);
    post.say_all().await?;
    tell("done", json!({"session": index}));
    post.leave().await
}

/// Starts an agent if none is there, and takes the session over. Somebody may go between two looks.
async fn come_in(
    host: &Arc<Host>,
    orders: &SessionOrders,
) -> Result<(Kept, Option<&'static str>), Failed> {
    let patience = Instant::now() + PATIENCE;
    let mut started = None;
    loop {
        let begun = tokio::task::block_in_place(|| story::recover(&host.orders, orders))?;
        started = begun.or(started);
        match take_over(host, orders).await {
            Err(error) if is_worth_another_look(&error) && Instant::now() < patience => {}
            done => return Ok((done?, started)),
        }
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
        let outbox = |standing: &Standing| -> Box<dyn Outbox> {
            let (generation, last) = (standing.generation, standing.last_n);
            Box::new(Stored {
                host: Arc::clone(host),
                lines: host.state.lines(&orders.id, generation, last),
            })
        };
        let attachment = attach::connect(&orders.dir, &who, ANSWER, outbox).await?;
        let generation = attachment.standing().generation;
        let unsettled = host.state.unsettled(&orders.id, generation);
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

/// Whether nobody answered, or whoever did was gone before we were in, or the agent did not find its conversation, or could
/// not begin it: then the next one is told another way.
fn is_worth_another_look(error: &AttachError) -> bool {
    matches!(
        error,
        AttachError::Socket(_)
            | AttachError::Silent(_)
            | AttachError::Over(_)
            | AttachError::Ended { .. }
            | AttachError::Lost
            | AttachError::Client(Error::NoSuchSession { .. } | Error::SessionIdInUse { .. })
    )
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

/// A session that was taken over.
struct Post {
    host: Arc<Host>,
    index: usize,
    handle: Handle,
    events: Events,
    questions: Questions,
    attachment: Arc<Attachment>,
    story: Story,
    /// Questions that stay open.
    held: Vec<PermissionQuestion>,
}

impl Post {
    fn of(host: Arc<Host>, index: usize, kept: Kept) -> Result<Self, Failed> {
        let orders = &host.orders.sessions[index];
        let standing = kept.attachment.standing();
        let (generation, tail) = (standing.generation, standing.tail.seq);
        let mut story = Story::read(&orders.dir, generation, tail)?;
        story.write_down(&host.state.heard(&orders.id, generation, tail))?;
        Ok(Self {
            host,
            index,
            handle: kept.session.handle,
            events: kept.session.events,
            questions: kept.session.questions,
            attachment: kept.attachment,
            story,
            held: Vec::new(),
        })
    }

    fn tell_standing(&self, started: Option<&str>) {
        let standing = self.attachment.standing();
        let open = standing.open.iter();
        let open: Vec<&str> = open.map(|open| open.request_id.as_str()).collect();
        let about = json!({
            "session": self.index, "generation": standing.generation, "build": standing.build,
            "epoch": self.host.epoch, "open": open, "started": started,
        });
        tell("attached", about);
    }

    /// Every message, each when the one before is done, whoever sent it.
    async fn say_all(&mut self) -> Result<(), Failed> {
        let messages = self.host.orders.sessions[self.index].messages.clone();
        for message in messages {
            self.say(&message).await?;
            if !self.story.is_done(&message.uuid) {
                // The agent had it already, and runs no turn for it: it goes on with another one.
                let on = Message {
                    uuid: story::successor(&message.uuid),
                    text: "go on".to_owned(),
                };
                self.say(&on).await?;
            }
        }
        Ok(())
    }

    /// Sends a message unless this agent has got it, and waits until nothing more comes for it.
    async fn say(&mut self, message: &Message) -> Result<(), Failed> {
        let (uuid, story) = (&message.uuid, &mut self.story);
        if !story.is_done(uuid) && story.was_not_said(uuid) {
            let prompt = Prompt::new().text(&message.text).uuid(uuid);
            // Not waited for: the end of the turn is read off what is heard.
            drop(self.handle.send(prompt).await?);
            story.said(uuid);
        }
        while !self.story.is_over_with(uuid) {
            self.listen().await?;
        }
        Ok(())
    }

    /// One event, or one question.
    async fn listen(&mut self) -> Result<(), Failed> {
        tokio::select! {
            event = self.events.next() => self.story.hear(event),
            question = self.questions.next() => {
                if let Some(Question::Permission(question)) = question {
                    self.take(question);
                }
                Ok(())
            }
        }
    }

    fn take(&mut self, mut question: PermissionQuestion) {
        let host = &self.host;
        let id = question.responder().request_id().to_owned();
        tell("question", json!({"session": self.index, "id": id}));
        host.reached(Step::Asked);
        let allows = match host.orders.decide {
            Decide::Allow => true,
            Decide::Deny => false,
            Decide::Hold => {
                self.held.push(question);
                host.open.fetch_add(1, Ordering::SeqCst);
                return host.held.notify_one();
            }
        };
        let allows = host.state.decide(&id, allows);
        tell("decided", json!({"session": self.index, "id": id}));
        host.reached(Step::Decided);
        let mut note = json!({"by": "rule", "why": "the suite", "client": host.build.name});
        if host.build.notes_more {
            note["mood"] = json!({"of": "later builds"});
        }
        question.note(Json::of(&note).expect("a note"));
        // Withdrawn meanwhile: then there is nothing to answer.
        let _ = question.answer(match allows {
            true => Decision::allow(),
            false => Decision::deny("The suite says no."),
        });
    }

    /// Lets go of the agent, which lives on, unless it is told otherwise.
    async fn leave(mut self) -> Result<(), Failed> {
        match self.host.orders.leave {
            Leave::Never => loop {
                self.listen().await?;
            },
            Leave::EndWhenDone => {
                self.attachment.end(EndPlan::Gentle, "all is done")?;
                let over = format!("{:?}", self.attachment.ended().await);
                tell("ended", json!({"session": self.index, "how": over}));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
