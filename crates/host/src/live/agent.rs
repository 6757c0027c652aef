//! The agent of a session, as long as we are attached to its keeper.
//!
//! Owns the connection and the questions that can be answered. Speaks and listens; decides nothing. Invariant: letting go
//! of it writes nothing to the agent.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use countersign_client::{Handle, Question, Questions};
use countersign_journal::Tail;
use countersign_keeper::attach::{Attachment, Kept, Over};
use tokio::sync::watch;
use tokio::time::Instant;

/// A live agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) generation: u32,
    pub(crate) handle: Handle,
    pub(crate) attachment: Arc<Attachment>,
    /// Questions that can be answered, by their name on the wire.
    pub(crate) asked: HashMap<String, Question>,
    questions: Option<Questions>,
    /// When the last question had come that could come; none as long as more can.
    unheard_since: Option<Instant>,
    tail: watch::Receiver<Tail>,
    paused: watch::Receiver<Option<i32>>,
}

/// A connection whose lines cannot be read any more ends within this by itself, or by us.
const UNHEARD: Duration = Duration::from_secs(2);

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
            unheard_since: None,
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

    /// Why its keeper writes nothing, as it stands now: what was said on the way in may be over. A later change is news.
    pub(crate) fn paused(&mut self) -> Option<i32> {
        *self.paused.borrow_and_update()
    }

    /// Waits for the next thing. May be dropped: nothing is lost.
    pub(crate) async fn news(&mut self) -> News {
        tokio::select! {
            biased;
            question = next(&mut self.questions, &mut self.unheard_since) => match question {
                Some(question) => News::Asks(Box::new(question)),
                // Its keeper lives: whoever attaches anew reads from where this one stopped.
                None => {
                    self.attachment.cut();
                    News::Over(Over::Lost("the agent's lines cannot be read any more".to_owned()))
                }
            },
            Ok(()) = self.tail.changed() => News::Grown,
            Ok(()) = self.paused.changed() => {
                let errno = *self.paused.borrow_and_update();
                News::Paused(errno)
            }
            over = self.attachment.ended() => News::Over(over),
        }
    }

    /// Waits for the next question alone; none if no more can come. May be dropped: nothing is lost.
    pub(crate) async fn question(&mut self) -> Option<Question> {
        next(&mut self.questions, &mut self.unheard_since).await
    }
}

/// The next question. None, a while later, where no more can come: an agent that has ended is told of before that.
async fn next(
    questions: &mut Option<Questions>,
    unheard_since: &mut Option<Instant>,
) -> Option<Question> {
    if let Some(coming) = questions {
        if let Some(question) = coming.next().await {
            return Some(question);
        }
        *questions = None;
    }
    let since = *unheard_since.get_or_insert_with(Instant::now);
    tokio::time::sleep_until(since + UNHEARD).await;
    None
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
