//! Whether a session has come to rest, and how everything stands then.
//!
//! Owns the question when a host has nothing left to do: everything was said, every message it was told of stands in the
//! journal with the end of a turn behind it, nothing waits, and the session says that it is idle.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use countersign_host::Host;
use countersign_host::control::{
    ApprovalFilter, Control as _, Followed, SessionId, SessionView, State,
};
use serde_json::{Value, json};

use crate::orders::Orders;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// A message that the CLI knew before has no turn: then so long without anything is rest, too.
const QUIET: Duration = Duration::from_secs(8);

/// What was heard on the wire so far.
#[derive(Debug, Default)]
struct Heard {
    messages: BTreeSet<String>,
    /// A message was written, and no turn has ended since.
    in_turn: bool,
}

/// Waits for it.
pub(crate) async fn until_at_rest(host: &Host, orders: &Orders, is_said: &AtomicBool) {
    let heard = std::sync::Arc::new(Mutex::new(Heard::default()));
    let mut following = None;
    let mut idle_since: Option<Instant> = None;
    loop {
        tokio::time::sleep(LOOK).await;
        if following.is_none() {
            following = follow(host, orders.session, std::sync::Arc::clone(&heard)).await;
        }
        let Ok(view) = host.session(orders.session).await else {
            continue;
        };
        let is_idle = is_said.load(Ordering::SeqCst)
            && matches!(view.state, State::Idle { .. })
            && view.queued == 0
            && view.open_approvals == 0;
        if !is_idle {
            idle_since = None;
            continue;
        }
        let since = *idle_since.get_or_insert_with(Instant::now);
        let heard = heard
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_over = !heard.in_turn && orders.awaited.iter().all(|it| heard.messages.contains(it));
        if is_over || since.elapsed() > QUIET {
            return;
        }
    }
}

/// Waits until everything was said and the session has no agent, and says so.
pub(crate) async fn until_off(host: &Host, session: SessionId, is_said: &AtomicBool) {
    let is_off = |view: &SessionView| {
        let is_off = matches!(
            view.state,
            State::Failed { .. } | State::Stopped | State::Idle { asleep: true, .. }
        );
        is_off && view.generation > 0 && is_said.load(Ordering::SeqCst)
    };
    until(host, session, is_off).await;
}

/// Waits until the agent cannot be reached.
pub(crate) async fn until_out_of_reach(host: &Host, session: SessionId) {
    until(host, session, |view| view.state == State::Unreachable).await;
}

async fn until(host: &Host, session: SessionId, holds: impl Fn(&SessionView) -> bool) {
    loop {
        let view = host.session(session).await;
        if view.is_ok_and(|view| holds(&view)) {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn follow(
    host: &Host,
    session: SessionId,
    heard: std::sync::Arc<Mutex<Heard>>,
) -> Option<tokio::task::JoinHandle<()>> {
    let start = countersign_journal::Cursor::START.to_string();
    let mut records = host.follow(session, Some(start), 1 << 20).await.ok()?;
    Some(tokio::spawn(async move {
        loop {
            let next = std::future::poll_fn(|context| records.as_mut().poll_next(context));
            let Some(Ok(followed)) = next.await else {
                return;
            };
            let Followed::Record { kind, payload, .. } = followed else {
                continue;
            };
            let line: Value = serde_json::from_slice(&payload).unwrap_or_default();
            let mut heard = heard
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            match (kind, line["type"].as_str()) {
                ('h', Some("user")) => {
                    heard.in_turn = true;
                    heard
                        .messages
                        .extend(line["uuid"].as_str().map(str::to_owned));
                }
                ('a', Some("result")) => heard.in_turn = false,
                _ => {}
            }
        }
    }))
}

/// How everything stands, through the seam.
pub(crate) async fn report(host: &Host, session: SessionId) -> Value {
    let mut approvals = Vec::new();
    let mut after = None;
    loop {
        let filter = ApprovalFilter {
            session: Some(session),
            after: after.take(),
            ..ApprovalFilter::default()
        };
        match host.approvals(filter).await {
            Ok(page) => {
                approvals.extend(page.items);
                after = page.next;
            }
            Err(error) => return json!({"error": error.to_string()}),
        }
        if after.is_none() {
            break;
        }
    }
    let view = host.session(session).await;
    let queue = host.queue(session).await;
    json!({
        "session": view.ok(), "queue": queue.unwrap_or_default(), "approvals": approvals,
    })
}
