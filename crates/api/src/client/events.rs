//! A stream that goes on when its connection breaks.
//!
//! Owns [`Events`]. Invariants: it goes on behind the last event that was given out, so none is lost and none comes twice;
//! a server that stays away ends it with an error after a number of tries.

use std::collections::VecDeque;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::Incoming;
use tokio::time::{sleep, timeout};

use super::Client;
use super::error::ClientError;
use super::exchange::Ask;
use super::query::Target;
use super::sse::{Event, Parser, TooLong};
use crate::Code;

/// The server sends a heartbeat every fifteen seconds: with none for so long, the connection is dead.
const SILENCE: Duration = Duration::from_secs(50);

/// The wait before the stream is asked for again, where the server names none.
const WAIT: Duration = Duration::from_secs(1);

/// So many tries in a row may fail.
const TRIES: u32 = 10;

/// The event by which a server says why it ends the stream.
const PROBLEM: &str = "problem";

/// How much of a refusal is read.
const REFUSAL: usize = 1 << 20;

/// Events of a server, as they come.
pub struct Events {
    client: Client,
    target: Target,
    /// What `Last-Event-ID` says when the stream is asked for again.
    last: Option<String>,
    open: Option<(Incoming, Parser)>,
    wait: Duration,
    failures: u32,
    ready: VecDeque<Event>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events")
            .field("target", &self.target)
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl Events {
    /// Asks for the stream.
    pub(super) async fn open(client: &Client, target: Target) -> Result<Self, ClientError> {
        let mut events = Self {
            client: client.clone(),
            target,
            last: None,
            open: None,
            wait: WAIT,
            failures: 0,
            ready: VecDeque::new(),
        };
        match events.connect().await {
            // Whoever follows has heard of the server before: it will be back.
            Err(error) if may_pass(&error) => events.failures = 1,
            other => other?,
        }
        Ok(events)
    }

    /// The next event. Waits for it, over any number of connections. Nothing is lost if it is not waited for to its end.
    ///
    /// # Errors
    /// When the server says no, and when it stays away.
    pub async fn next(&mut self) -> Result<Event, ClientError> {
        loop {
            let read = match self.ready.pop_front() {
                Some(event) if event.name == PROBLEM => Err(self.problem(&event)),
                Some(event) => {
                    if event.id.is_some() {
                        self.last.clone_from(&event.id);
                    }
                    return Ok(event);
                }
                None if self.open.is_some() => self.read().await,
                None => self.connect().await,
            };
            if let Err(error) = read {
                self.open = None;
                self.failures += 1;
                if !may_pass(&error) || self.failures > TRIES {
                    return Err(error);
                }
                sleep(self.wait).await;
            }
        }
    }

    /// Why the server ended the stream. One that cannot go on says so each time it is asked.
    fn problem(&self, event: &Event) -> ClientError {
        self.client.refused(StatusCode::OK, event.data.as_bytes())
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let ask = Ask {
            stream: Some(self.last.clone()),
            ..Ask::read(self.target.clone())
        };
        let opened = timeout(SILENCE, self.client.open(&ask)).await;
        let response = opened.unwrap_or_else(|_| Err(self.client.lost("no answer")))?;
        let status = response.status();
        if status != StatusCode::OK {
            let body = http_body_util::Limited::new(response.into_body(), REFUSAL);
            let read = timeout(SILENCE, body.collect()).await;
            let bytes = match read {
                Ok(Ok(body)) => body.to_bytes(),
                _ => return Err(self.client.lost("no answer")),
            };
            return Err(self.client.refused(status, &bytes));
        }
        self.open = Some((response.into_body(), Parser::default()));
        Ok(())
    }

    async fn read(&mut self) -> Result<(), ClientError> {
        let Some((body, parser)) = &mut self.open else {
            return Ok(());
        };
        let frame = match timeout(SILENCE, body.frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => return Err(self.client.lost(error)),
            Ok(None) => return Err(self.client.lost("the stream ended")),
            Err(_) => return Err(self.client.lost("not even a heartbeat came")),
        };
        let Ok(piece) = frame.into_data() else {
            return Ok(());
        };
        match parser.take(&piece) {
            Ok(events) => {
                if let Some(wait) = parser.retry_ms {
                    self.wait = Duration::from_millis(wait.min(30_000));
                }
                if events.iter().any(|event| event.name != PROBLEM) {
                    self.failures = 0;
                }
                self.ready.extend(events);
                Ok(())
            }
            Err(TooLong) => Err(self
                .client
                .strange(StatusCode::OK, "an event that is longer than may be")),
        }
    }
}

/// Whether a server that is there again would answer.
fn may_pass(error: &ClientError) -> bool {
    match error {
        ClientError::Lost { .. } | ClientError::NotThere { .. } => true,
        // It is about to end, or has just begun.
        ClientError::Refused(problem) => problem.code == Code::Unavailable,
        _ => false,
    }
}
