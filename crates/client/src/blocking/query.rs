//! One run: a prompt, its events, its result.

use std::sync::Arc;

#[cfg(feature = "mcp")]
use serde::de::DeserializeOwned;

use super::engine::Engine;
use super::session::Handle;
use crate::claude::Claude;
use crate::error::Result;
use crate::input::Prompt;
use crate::options::{Options, option_setters};
use crate::peer::audience::Event;
use crate::query::Outcome;

/// A prompt for one run, with the defaults of [`Claude::new`].
pub fn query(prompt: impl Into<Prompt>) -> Query {
    Query::of(Claude::new(), prompt)
}

/// A run that has not begun.
#[derive(Debug, Clone)]
#[must_use = "a query does nothing until it is run"]
pub struct Query {
    query: crate::Query,
}

option_setters!(Query);

impl Query {
    /// A prompt for one run of this agent.
    pub fn of(claude: Claude, prompt: impl Into<Prompt>) -> Self {
        Self {
            query: claude.query(prompt),
        }
    }

    pub(crate) fn options_mut(&mut self) -> &mut Options {
        self.query.options_mut()
    }

    /// Changes the builder below: handlers, hooks, tools, bounds.
    pub fn with(mut self, change: impl FnOnce(Claude) -> Claude) -> Self {
        self.query = self.query.with(change);
        self
    }

    /// Starts the agent and sends the prompt. What comes back is an iterator of the events.
    ///
    /// # Errors
    /// As [`Claude::connect`].
    pub fn start(self) -> Result<Run> {
        let engine = Engine::start()?;
        let run = engine.run(self.query.start())?;
        engine.drives(run.handle().shared());
        Ok(Run { run, engine })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`crate::Query::finish`].
    pub fn finish(self) -> Result<Outcome> {
        self.start()?.finish()
    }

    /// Runs to the end and gives the final text.
    ///
    /// # Errors
    /// As [`crate::Query::text`].
    pub fn text(self) -> Result<String> {
        Ok(self.finish()?.result.ok()?.text().to_owned())
    }

    /// Runs to the end and gives the answer as `T`, whose schema the model is held to.
    ///
    /// # Errors
    /// As [`crate::Query::json`].
    #[cfg(feature = "mcp")]
    pub fn json<T>(self) -> Result<T>
    where
        T: DeserializeOwned + schemars::JsonSchema + Send + 'static,
    {
        let engine = Engine::start()?;
        engine.run(self.query.json())
    }
}

/// A running query: an iterator of its events, over when its result came and nothing goes on any more.
#[derive(Debug)]
#[must_use = "dropping a run ends it"]
pub struct Run {
    // Dropped before the engine, which then sees the agent to its end.
    run: crate::Run,
    engine: Arc<Engine>,
}

impl Run {
    /// To interrupt it, or to send more.
    pub fn handle(&self) -> Handle {
        Handle::new(self.run.handle().clone(), Arc::clone(&self.engine))
    }

    /// Passes over the events that are left and gives the outcome.
    ///
    /// # Errors
    /// When the agent ended without a result.
    pub fn finish(self) -> Result<Outcome> {
        let Self { run, engine } = self;
        engine.wait(run.finish())?
    }
}

impl Iterator for Run {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Result<Event>> {
        match self.engine.wait(self.run.next()) {
            Ok(event) => event,
            Err(error) => Some(Err(error)),
        }
    }
}
