//! Playing a rendered reply into a response body, in time.
//!
//! Owns the pauses, the cut and the note of how the answer ended. One event at a time: nothing is buffered here, so
//! a slow client slows the reply down instead of filling memory.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::watch;

use super::link::Link;
use super::record::Outcome;
use super::render::Emit;
use super::server::Shared;

/// Notes how an answer ended; if nobody says, the client left.
pub(super) struct Ending {
    shared: Arc<Shared>,
    number: u64,
    outcome: Outcome,
}

impl Ending {
    pub(super) fn new(shared: Arc<Shared>, number: u64) -> Self {
        Self {
            shared,
            number,
            outcome: Outcome::ClientLeft,
        }
    }

    pub(super) fn is(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.shared.ended(self.number, self.outcome);
    }
}

/// A body that sends the events as the script times them.
pub(super) fn body(
    emits: Vec<Emit>,
    link: Link,
    stopping: watch::Receiver<bool>,
    ending: Ending,
) -> Body {
    let player = Player {
        emits: emits.into(),
        link,
        stopping,
        ending,
    };
    Body::from_stream(stream::unfold(player, |mut player| async move {
        let chunk = player.next().await?;
        Some((Ok::<_, Infallible>(chunk), player))
    }))
}

struct Player {
    emits: VecDeque<Emit>,
    link: Link,
    stopping: watch::Receiver<bool>,
    ending: Ending,
}

impl Player {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.emits.pop_front() {
                Some(Emit::Bytes(bytes)) => return Some(bytes),
                Some(Emit::Pause(time)) => {
                    if pause(time, &mut self.stopping).await.is_err() {
                        self.ending.is(Outcome::ServerStopped);
                        self.drop_connection(false).await;
                    }
                }
                Some(Emit::Cut { reset }) => {
                    self.ending.is(Outcome::Cut);
                    self.drop_connection(reset).await;
                }
                None => {
                    self.ending.is(Outcome::Answered);
                    return None;
                }
            }
        }
    }

    /// Never comes back: the connection is dropped at its next flush, and this body with it.
    async fn drop_connection(&self, reset: bool) {
        self.link.cut(reset);
        std::future::pending().await
    }
}

/// The server stopped before the time was over.
pub(super) struct Stopped;

pub(super) async fn pause(
    time: Duration,
    stopping: &mut watch::Receiver<bool>,
) -> Result<(), Stopped> {
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        _ = stopping.wait_for(|stop| *stop) => Err(Stopped),
    }
}
