//! What a session's journal holds, read through the seam as any follower reads it.
//!
//! Owns [`Heard`]: the records up to the end of history. Judges nothing.

use std::pin::Pin;
use std::time::Duration;

use countersign_host::control::{Control, Followed, Mode, SessionId};
use futures_core::Stream;
use serde_json::Value;

use crate::stage::{DEADLINE, Stage};

/// The next thing of a stream, soon.
pub(crate) async fn next<S: Stream + Unpin>(stream: &mut S) -> S::Item {
    let next = std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
    let next = tokio::time::timeout(DEADLINE, next).await;
    next.expect("the next one comes soon")
        .expect("there is a next one")
}

/// Whether a stream is quiet for a moment.
pub(crate) async fn is_quiet<S: Stream + Unpin>(stream: &mut S, moment: Duration) -> bool {
    let next = std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
    tokio::time::timeout(moment, next).await.is_err()
}

/// One record.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) generation: u32,
    pub(crate) kind: char,
    pub(crate) said: Value,
}

/// The records of a session.
#[derive(Debug)]
pub(crate) struct Heard(pub(crate) Vec<Line>);

impl Heard {
    /// Everything up to now.
    pub(crate) async fn of(stage: &Stage, id: SessionId) -> Self {
        let mut records = stage.host().follow(id, None, 1 << 20).await.unwrap();
        let mut lines = Vec::new();
        loop {
            match next(&mut records).await.unwrap() {
                Followed::Record {
                    cursor,
                    kind,
                    payload,
                    ..
                } => lines.push(Line {
                    generation: cursor.split('-').next().unwrap().parse().unwrap(),
                    kind,
                    said: serde_json::from_slice(&payload).unwrap_or_default(),
                }),
                Followed::CaughtUp { .. } => return Self(lines),
                other => panic!("{other:?}"),
            }
        }
    }

    /// The lines with which turns began, of this agent.
    pub(crate) fn inits(&self, generation: u32) -> Vec<&Value> {
        let of = self.0.iter().filter(|line| line.generation == generation);
        let inits = of.filter(|line| line.said["subtype"] == "init");
        inits.map(|line| &line.said).collect()
    }

    /// What an agent last answered to a request of this kind.
    pub(crate) fn answer(&self, generation: u32, subtype: &str) -> Option<&Value> {
        let of = || self.0.iter().filter(|line| line.generation == generation);
        let mut asked = of().filter(|line| line.said["request"]["subtype"] == subtype);
        let id = asked.next_back()?.said["request_id"].as_str()?;
        let answer = of().find(|line| line.said["response"]["request_id"] == id)?;
        Some(&answer.said["response"]["response"])
    }

    /// The texts of the messages that went to the agent, in order.
    pub(crate) fn sent(&self) -> Vec<String> {
        let sent = self
            .0
            .iter()
            .filter(|line| line.kind == 'h' && line.said["type"] == "user");
        sent.map(|line| text_of(&line.said["message"]["content"]))
            .collect()
    }
}

/// The text of a message's content.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

/// The name that the CLI has for a mode.
pub(crate) fn of_cli(mode: Mode) -> String {
    mode.of_cli().as_str().to_owned()
}
