//! The agent of a session, as long as we are attached to its keeper.
//!
//! Owns the connection and the questions that can be answered. Speaks and listens; decides nothing. Invariant: letting go
//! of it writes nothing to the agent.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use countersign_client::{Handle, Question, Questions};
use countersign_journal::Tail;
use countersign_keeper::attach::{Attachment, Kept, Over};
use tokio::sync::watch;

/// A live agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) generation: u32,
    pub(crate) handle: Handle,
    pub(crate) attachment: Arc<Attachment>,
    /// Questions that can be answered, by their name on the wire.
    pub(crate) asked: HashMap<String, Question>,
    questions: Option<Questions>,
    tail: watch::Receiver<Tail>,
    paused: watch::Receiver<Option<i32>>,
}

/// What comes from an agent.
#[derive(Debug)]
pub(crate) enum News {
    /// The journal has grown.
    Grown,
    /// It asks.
    Asks(Box<Question>),
    /// The disk is full, or is no longer.
    Paused(Option<i32>),
    /// It is over.
    Over(Over),
}

/// Has a request written now, in its place among everything that is said to the agent: its first step is made here. What
/// comes of it is waited for elsewhere, so that a CLI that does not answer holds up nobody.
pub(crate) async fn say(asking: impl Future<Output = ()> + Send + 'static) {
    let mut asking = Box::pin(asking);
    let step = poll_fn(|context| Poll::Ready(asking.as_mut().poll(context)));
    if step.await.is_pending() {
        tokio::spawn(asking);
    }
}

impl Agent {
    pub(crate) fn of(kept: Kept) -> Self {
        let standing = kept.attachment.standing();
        // Replies to requests of an earlier host: given up by name when dropped, and logged by the client.
        drop(kept.earlier);
        Self {
            generation: standing.generation,
            handle: kept.session.handle,
            asked: HashMap::new(),
            questions: Some(kept.session.questions),
            tail: kept.attachment.tail(),
            paused: kept.attachment.paused(),
            attachment: kept.attachment,
        }
    }

    /// A question came that can be answered. What the CLI no longer wants to know is let go of.
    pub(crate) fn asks(&mut self, question: Question) {
        self.asked
            .retain(|_, question| !question.responder().interest().is_withdrawn());
        match question {
            // Nobody here knows what it is about, and the CLI would wait for ever.
            Question::Other(other) => other.into_responder().refuse(),
            question => {
                let name = question.responder().request_id().to_owned();
                self.asked.insert(name, question);
            }
        }
    }

    /// Takes the questions that are there already.
    pub(crate) fn hear(&mut self) {
        while let Some(question) = self.questions.as_mut().and_then(Questions::try_next) {
            self.asks(question);
        }
    }

    /// How far the journal may be read.
    pub(crate) fn tail(&self) -> Tail {
        *self.tail.borrow()
    }

    /// Waits for the next thing. May be dropped: nothing is lost.
    pub(crate) async fn news(&mut self) -> News {
        tokio::select! {
            biased;
            question = next(&mut self.questions) => News::Asks(Box::new(question)),
            Ok(()) = self.tail.changed() => News::Grown,
            Ok(()) = self.paused.changed() => {
                let errno = *self.paused.borrow_and_update();
                News::Paused(errno)
            }
            over = self.attachment.ended() => News::Over(over),
        }
    }

    /// Waits for the next question alone. May be dropped: nothing is lost.
    pub(crate) async fn question(&mut self) -> Question {
        next(&mut self.questions).await
    }
}

/// The next question; where no more can come, none does.
async fn next(questions: &mut Option<Questions>) -> Question {
    if let Some(coming) = questions {
        if let Some(question) = coming.next().await {
            return question;
        }
        *questions = None;
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[tokio::test]
    async fn what_is_said_is_written_before_whatever_is_said_next() {
        let written: Arc<Mutex<Vec<u32>>> = Arc::default();
        let (answered, answer) = tokio::sync::oneshot::channel::<()>();
        let (done, is_done) = tokio::sync::oneshot::channel::<()>();
        let log = Arc::clone(&written);
        say(async move {
            log.lock().unwrap().push(1);
            let _ = answer.await;
            let _ = done.send(());
        })
        .await;
        assert_eq!(*written.lock().unwrap(), [1], "nothing was waited for");
        let log = Arc::clone(&written);
        say(async move { log.lock().unwrap().push(2) }).await;
        assert_eq!(*written.lock().unwrap(), [1, 2]);
        answered.send(()).unwrap();
        is_done.await.unwrap();
    }
}
