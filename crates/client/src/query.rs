//! One run: a prompt, its events, its result.
//!
//! Owns [`Query`] (what to run) and [`Run`] (the running of it). Invariants: stdin stays open as long as the agent may
//! ask; the run is over when the result came and nothing goes on in the background, not at the first `result`; dropping
//! a run ends its agent.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
#[cfg(feature = "mcp")]
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::claude::Claude;
use crate::closed::Closed;
use crate::error::{Error, Result};
use crate::input::Prompt;
use crate::options::{Options, option_setters};
use crate::peer::audience::{Event, Events};
use crate::peer::batch::Kind;
use crate::session::Handle;
use crate::turn::{Turn, TurnResult};

/// A prompt for one run, with the defaults of [`Claude::new`].
///
/// ```no_run
/// # async fn example() -> countersign_client::Result<()> {
/// let text = countersign_client::query("What is 2 + 2?").text().await?;
/// # Ok(())
/// # }
/// ```
pub fn query(prompt: impl Into<Prompt>) -> Query {
    Claude::new().query(prompt)
}

/// A run that has not begun. Await it for the stream of its events, or use [`Query::text`], [`Query::json`],
/// [`Query::finish`].
#[derive(Debug, Clone)]
#[must_use = "a query does nothing until it is awaited"]
pub struct Query {
    claude: Claude,
    prompt: Prompt,
}

option_setters!(Query);

impl Query {
    pub(crate) fn new(claude: Claude, prompt: Prompt) -> Self {
        Self { claude, prompt }
    }

    pub(crate) fn options_mut(&mut self) -> &mut Options {
        self.claude.options_mut()
    }

    /// Changes the builder below: handlers, hooks, tools, bounds.
    pub fn with(mut self, change: impl FnOnce(Claude) -> Claude) -> Self {
        self.claude = change(self.claude);
        self
    }

    /// Starts the agent and sends the prompt.
    ///
    /// # Errors
    /// As [`Claude::connect`].
    pub async fn start(self) -> Result<Run> {
        let ceiling = self.claude.bounds.background_ceiling;
        let session = self.claude.connect().await?;
        let (handle, events) = session.split();
        let turn = handle.send(self.prompt).await?;
        let (tell, outcome) = oneshot::channel();
        tokio::spawn(see_through(handle.clone(), turn, ceiling, tell));
        Ok(Run {
            events,
            outcome: Some(outcome),
            handle,
            has_result: false,
        })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`Query::start`], and when the agent ends without a result. A turn that failed is an outcome; see
    /// [`TurnResult::ok`].
    pub async fn finish(self) -> Result<Outcome> {
        self.start().await?.finish().await
    }

    /// Runs to the end and gives the final text.
    ///
    /// # Errors
    /// As [`Query::finish`], and when the turn did not succeed.
    pub async fn text(self) -> Result<String> {
        let outcome = self.finish().await?;
        Ok(outcome.result.ok()?.text().to_owned())
    }

    /// Runs to the end and gives the answer as `T`, whose schema the model is held to.
    ///
    /// # Errors
    /// As [`Query::text`], and when the answer is no `T`.
    #[cfg(feature = "mcp")]
    pub async fn json<T: DeserializeOwned + schemars::JsonSchema>(mut self) -> Result<T> {
        // The CLI knows draft 7 alone, and does not start with a schema that names a later one. Older ones silently
        // leave out a schema with a `format` they do not know: 2.0.75 such as `uint32`, 2.1.62 any.
        let mut no_formats = schemars::transform::RestrictFormats::default();
        no_formats.infer_from_meta_schema = false;
        let schema = schemars::generate::SchemaSettings::draft07()
            .with_transform(no_formats)
            .into_generator()
            .into_root_schema_for::<T>();
        let schema = countersign_wire::Json::of(&schema)?;
        self = self.json_schema(schema);
        let outcome = self.finish().await?;
        outcome.result.ok()?.structured()
    }
}

impl IntoFuture for Query {
    type Output = Result<Run>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Run>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

/// How a run ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The result of the prompt.
    pub result: TurnResult,
    /// How the agent ended.
    pub closed: Arc<Closed>,
}

/// Waits for the result, then for what goes on in the background, then ends the agent.
async fn see_through(
    handle: Handle,
    turn: Turn,
    ceiling: Duration,
    tell: oneshot::Sender<Result<Outcome>>,
) {
    let mut tell = tell;
    let outcome = async {
        let result = turn.await;
        if result.is_ok() && tokio::time::timeout(ceiling, handle.idle()).await.is_err() {
            tracing::warn!("background work did not end in time; the run is ended");
        }
        let closed = handle.close().await;
        Ok(Outcome {
            result: result?,
            closed,
        })
    };
    tokio::select! {
        outcome = outcome => {
            let _ = tell.send(outcome);
        }
        // Nobody waits for it any more: letting go of the handle ends the agent.
        () = tell.closed() => {}
    }
}

/// A running query: a stream of its events, over when its result came and nothing goes on any more.
#[derive(Debug)]
#[must_use = "dropping a run ends it"]
pub struct Run {
    events: Events,
    outcome: Option<oneshot::Receiver<Result<Outcome>>>,
    handle: Handle,
    has_result: bool,
}

impl Run {
    /// The next event, an error if the agent ended without a result, `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// To interrupt it, or to send more.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Passes over the events that are left and gives the outcome.
    ///
    /// # Errors
    /// When the agent ended without a result.
    pub async fn finish(mut self) -> Result<Outcome> {
        match self.outcome.take() {
            Some(outcome) => outcome
                .await
                .unwrap_or_else(|_| Err(Error::Closed(Arc::default()))),
            None => Err(Error::Closed(self.handle.closed().await)),
        }
    }
}

impl Stream for Run {
    type Item = Result<Event>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Event>>> {
        match std::task::ready!(self.events.poll_event(context)) {
            // Whatever its exit code says: without a result it did not do what was asked.
            Some(Event::Closed(closed)) => match self.has_result {
                false => Poll::Ready(Some(Err(Error::Closed(closed)))),
                true => Poll::Ready(None),
            },
            Some(Event::Message(frame)) => {
                self.has_result |= frame.kind() == Kind::Result;
                Poll::Ready(Some(Ok(Event::Message(frame))))
            }
            event => Poll::Ready(event.map(Ok)),
        }
    }
}
