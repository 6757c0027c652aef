//! The smallest host over the keeper transport: it comes to a session, says its messages, answers questions, lets go.
//!
//! Owns the order of a host's writes: a line is in the outbox before it is put, a decision on the disk before it is
//! answered. So it may be killed anywhere, and the next host does the rest, which it reads off the journal (`story.rs`).
//! Of whoever looks on, decides, and may end it at a named point, it knows `seam.rs` alone.

pub(crate) mod conversation;
pub(crate) mod seam;
pub(crate) mod store;
mod story;
pub(crate) mod task;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_client::{Claude, Decision, Error, PermissionQuestion, Prompt, Question};
use countersign_keeper::attach::{self, AttachError, Credentials, Kept, Over};
use countersign_keeper::protocol::{EndPlan, Role, Standing};
use countersign_keeper::{Found, KeeperCommand, RecoverError, StartError};

use conversation::Begin;
use seam::{At, Seam};
use store::Store;
use story::Story;
use task::{Message, Task};

/// Why a session is not looked after any more.
pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;

/// For a keeper that is there to answer; then it is looked again what is there.
const ANSWER: Duration = Duration::from_millis(300);
/// For a session to be taken over: a keeper whose socket was taken away needs a while to bind a new one.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a host has for the work on one session.
pub(crate) struct Host {
    pub(crate) task: Arc<Task>,
    pub(crate) keeper: KeeperCommand,
    pub(crate) store: Arc<Store>,
    pub(crate) seam: Arc<dyn Seam>,
}

impl Host {
    /// Starts an agent if none is there, and takes the session over. Somebody may go between two looks.
    pub(crate) async fn come_in(self) -> Result<Post, Failed> {
        let patience = Instant::now() + PATIENCE;
        let mut started = None;
        let kept = loop {
            started = tokio::task::block_in_place(|| self.start_if_gone())?.or(started);
            match self.take_over().await {
                Err(error) if is_worth_another_look(&error) && Instant::now() < patience => {}
                done => break done?,
            }
        };
        let standing = kept.attachment.standing();
        let story = Story::read(&self.task.dir, standing.generation, standing.tail.seq)?;
        self.seam.at(At::Attached(standing, started));
        Ok(Post {
            host: self,
            kept,
            story,
            held: Vec::new(),
        })
    }

    /// Starts the next agent if none is there. Returns the flag by which it is told of its conversation, if it did.
    fn start_if_gone(&self) -> Result<Option<&'static str>, Failed> {
        let (generation, begin) = match countersign_keeper::look(&self.task.dir)? {
            // One that cannot be reached binds a new socket, or ends; none is started beside it.
            Found::Live(_) | Found::Unreachable(_) => return Ok(None),
            Found::Never => (1, Begin::new(&self.task.id)),
            Found::Ended { generation, .. } => self.after(generation)?,
            Found::Lost { generation } => {
                self.bury()?;
                self.after(generation)?
            }
        };
        let order = self.task.order(generation, &begin)?;
        match countersign_keeper::start(&self.keeper, &order) {
            // An earlier host's start comes through only now.
            Err(StartError::Busy(_) | StartError::Generation(_)) => Ok(None),
            done => Ok(done.map(|_| Some(begin.flag))?),
        }
    }

    /// The generation after that one, and what it is told of its conversation.
    fn after(&self, generation: u32) -> Result<(u32, Begin), Failed> {
        let last = Story::read(&self.task.dir, generation, u64::MAX)?;
        Ok((generation + 1, last.next_conversation(&self.task.id)))
    }

    /// Ends what a keeper left that ended without a word.
    fn bury(&self) -> Result<(), Failed> {
        let marker = self.task.marker()?;
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros();
        match countersign_keeper::bury(&self.task.dir, boot.trim(), now as u64, Some(&marker)) {
            // A keeper came meanwhile: it is looked again.
            Ok(_) | Err(RecoverError::Kept) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Connects, hands in again what an earlier host may not have, and builds the session.
    async fn take_over(&self) -> Result<Kept, AttachError> {
        let Self { task, store, .. } = self;
        loop {
            let who = Credentials {
                epoch: store.next_epoch(),
                token: task.token.clone(),
                role: Role::Own,
            };
            let outbox = |standing: &Standing| store.outbox(&task.id, standing, &self.seam);
            let attachment = attach::connect(&task.dir, &who, ANSWER, outbox).await?;
            let unsettled = store.unsettled(&task.id, attachment.standing().generation);
            for (n, line) in &unsettled {
                // The keeper knows whether it has it.
                let outcome = attachment.put(*n, line, None).await?;
                self.seam.at(At::HandedInAgain(*n, &outcome));
            }
            if unsettled.is_empty() {
                let claude = Claude::new().questions();
                return attach::attach(claude, &task.dir, attachment, None).await;
            }
            // The session is built on how things stand after that.
        }
    }
}

/// Whether nobody answered, or whoever did was gone before we were in, or the agent did not find its conversation, or
/// could not begin it: then the next one is told another way.
fn is_worth_another_look(error: &AttachError) -> bool {
    matches!(
        error,
        AttachError::Socket(_)
            | AttachError::Silent(_)
            | AttachError::Over(_)
            | AttachError::Ended { .. }
            | AttachError::Lost
            | AttachError::File { .. }
            | AttachError::Client(Error::NoSuchSession { .. } | Error::SessionIdInUse { .. })
    )
}

/// A session that was taken over. Dropped, it lets go of the agent, which lives on.
pub(crate) struct Post {
    host: Host,
    kept: Kept,
    story: Story,
    /// Questions that stay open.
    held: Vec<PermissionQuestion>,
}

impl Post {
    /// Every message, each when the one before is done, whoever sent it.
    pub(crate) async fn say_all(&mut self) -> Result<(), Failed> {
        let task = Arc::clone(&self.host.task);
        for message in &task.messages {
            self.say(message).await?;
            if !self.story.is_done(&message.uuid) {
                // The agent had it already, and runs no turn for it: it goes on with another one.
                self.say(&story::successor(message)).await?;
            }
        }
        Ok(())
    }

    /// Sends a message unless this agent has got it, and waits until nothing more comes for it.
    async fn say(&mut self, message: &Message) -> Result<(), Failed> {
        if self.story.is_to_be_said(&message.uuid) {
            let prompt = Prompt::new().text(&message.text).uuid(&message.uuid);
            // Not waited for: the end of the turn is read off what is heard.
            drop(self.kept.session.send(prompt).await?);
            self.story.said(&message.uuid);
        }
        while !self.story.is_over_with(&message.uuid) {
            self.listen().await?;
        }
        Ok(())
    }

    /// One event, or one question.
    pub(crate) async fn listen(&mut self) -> Result<(), Failed> {
        let session = &mut self.kept.session;
        tokio::select! {
            event = session.events.next() => {
                if let Some(frame) = story::frame_of(event)? {
                    self.host.seam.at(At::Heard(frame.line()));
                    self.story.take(frame.line());
                }
            }
            Some(Question::Permission(question)) = session.questions.next() => {
                self.answer(question);
            }
        }
        Ok(())
    }

    /// The decision is on the disk before the agent hears of it; if an earlier host made one, it is that.
    fn answer(&mut self, mut question: PermissionQuestion) {
        let Host { store, seam, .. } = &self.host;
        let id = question.responder().request_id().to_owned();
        seam.at(At::Asked(&id));
        let Some((allows, note)) = seam.decide() else {
            self.held.push(question);
            return seam.at(At::Held);
        };
        let allows = store.decide(&id, allows);
        seam.at(At::Decided(&id));
        question.note(note);
        // Withdrawn meanwhile: then there is nothing to answer.
        let _ = question.answer(match allows {
            true => Decision::allow(),
            false => Decision::deny("The suite says no."),
        });
    }

    /// Has the agent ended.
    pub(crate) async fn end(self) -> Result<Over, Failed> {
        self.kept.attachment.end(EndPlan::Gentle, "all is done")?;
        Ok(self.kept.attachment.ended().await)
    }
}
