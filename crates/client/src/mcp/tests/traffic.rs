//! Many messages at once: order, cancellation, new connections, the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use super::{Session, call, cancel, dummy, soon, text};
use crate::mcp::connection::MAX_IN_FLIGHT;
use crate::mcp::{Mount, Server, ToolContext};

/// Counts the calls that run, and tells of each start and end.
#[derive(Clone)]
struct Watch {
    running: Arc<AtomicUsize>,
    events: mpsc::UnboundedSender<&'static str>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        let _ = self.events.send("ended");
    }
}

/// A server whose tool `wait` runs until its gate opens, for the gate of its number.
struct Gated {
    mount: Mount,
    gates: Arc<Vec<Semaphore>>,
    running: Arc<AtomicUsize>,
    events: mpsc::UnboundedReceiver<&'static str>,
}

fn gated(gates: usize) -> Gated {
    let (sender, events) = mpsc::unbounded_channel();
    let running = Arc::new(AtomicUsize::new(0));
    let gates: Arc<Vec<_>> = Arc::new((0..gates).map(|_| Semaphore::new(0)).collect());
    let (count, all) = (running.clone(), gates.clone());
    let server = Server::new("gated").tool_with_context(
        "wait",
        "Waits",
        move |gate: usize, context: ToolContext| {
            count.fetch_add(1, Ordering::SeqCst);
            let watch = Watch {
                running: count.clone(),
                events: sender.clone(),
            };
            let all = all.clone();
            async move {
                let _watch = watch;
                let _ = _watch.events.send("started");
                let token = context.cancellation().clone();
                assert!(!token.is_cancelled());
                all[gate].acquire().await.unwrap().forget();
                gate as u64
            }
        },
    );
    Gated {
        mount: server.into(),
        gates,
        running,
        events,
    }
}

impl Gated {
    async fn expect(&mut self, event: &str) {
        assert_eq!(soon(self.events.recv()).await, Some(event));
    }
}

#[tokio::test]
async fn fifty_calls_at_once_are_answered_in_reverse() {
    let mut server = gated(50);
    let session = Session::open(server.mount.clone()).await;
    let calls: Vec<_> = (0..50)
        .map(|n| session.calling(n + 2, "wait", json!({"value": n})))
        .collect();
    for _ in 0..50 {
        server.expect("started").await;
    }
    assert_eq!(server.running.load(Ordering::SeqCst), 50);
    for (n, calling) in calls.into_iter().enumerate().rev() {
        assert!(!calling.is_finished());
        server.gates[n].add_permits(1);
        let answer = soon(calling).await.unwrap();
        assert_eq!(answer["id"], n + 2);
        assert_eq!(text(&answer["result"]), n.to_string());
        server.expect("ended").await;
        assert_eq!(server.running.load(Ordering::SeqCst), n);
    }
}

#[tokio::test]
async fn a_notification_is_answered_while_calls_run() {
    let mut server = gated(1);
    let session = Session::open(server.mount.clone()).await;
    let calling = session.calling(2, "wait", json!({"value": 0}));
    server.expect("started").await;
    for method in [
        "notifications/initialized",
        "notifications/roots/list_changed",
        "notifications/news",
    ] {
        assert_eq!(
            session
                .send(json!({"jsonrpc": "2.0", "method": method}))
                .await,
            dummy()
        );
    }
    assert!(!calling.is_finished());
    calling.abort();
}

#[tokio::test]
async fn a_cancelled_call_ends_the_tool_and_is_answered() {
    let mut server = gated(2);
    let session = Session::open(server.mount.clone()).await;
    let other = session.calling(2, "wait", json!({"value": 1}));
    server.expect("started").await;
    let calling = session.calling(3, "wait", json!({"value": 0}));
    server.expect("started").await;
    assert_eq!(session.send(cancel(3)).await, dummy());
    let answer = soon(calling).await.unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(3), &json!(-32800))
    );
    server.expect("ended").await;
    // The other one is left alone, and one that is over can be cancelled too.
    assert_eq!(session.send(cancel(3)).await, dummy());
    server.gates[1].add_permits(1);
    assert_eq!(text(&soon(other).await.unwrap()["result"]), "1");
}

#[tokio::test]
async fn a_call_nobody_waits_for_ends_the_tool() {
    let mut server = gated(1);
    let session = Session::open(server.mount.clone()).await;
    let calling = session.calling(2, "wait", json!({"value": 0}));
    server.expect("started").await;
    calling.abort();
    server.expect("ended").await;
    // Its id is free again.
    server.gates[0].add_permits(1);
    assert_eq!(
        text(&session.call(2, "wait", json!({"value": 0})).await),
        "0"
    );
}

#[tokio::test]
async fn the_end_of_the_bridge_ends_its_tools() {
    let mut server = gated(1);
    let mut session = Session::open(server.mount.clone()).await;
    let calling = session.calling(2, "wait", json!({"value": 0}));
    server.expect("started").await;
    calling.abort();
    drop(session.bridge);
    server.expect("ended").await;
    // The server's task has given back its end as well.
    assert!(soon(session.said.recv()).await.is_none());
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let mut server = gated(1);
    let session = Session::open(server.mount.clone()).await;
    let calling = session.calling(2, "wait", json!({"value": 0}));
    server.expect("started").await;
    let twin = session.send(call(2, "wait", json!({"value": 0}))).await;
    assert_eq!(
        (&twin["id"], &twin["error"]["code"]),
        (&json!(2), &json!(-32600))
    );
    server.gates[0].add_permits(1);
    assert_eq!(text(&soon(calling).await.unwrap()["result"]), "0");
}

#[tokio::test]
async fn one_call_too_many_is_refused_by_number() {
    let mut server = gated(1);
    let session = Session::open(server.mount.clone()).await;
    let ids = 2..2 + i64::try_from(MAX_IN_FLIGHT).unwrap();
    let calls: Vec<_> = ids
        .map(|id| session.calling(id, "wait", json!({"value": 0})))
        .collect();
    for _ in &calls {
        server.expect("started").await;
    }
    let refused = session.send(call(1, "wait", json!({"value": 0}))).await;
    assert_eq!(refused["error"]["code"], -32603);
    assert_eq!(
        refused["error"]["message"],
        "1024 requests wait for an answer already"
    );
    server.gates[0].add_permits(MAX_IN_FLIGHT);
    for calling in calls {
        assert_eq!(text(&soon(calling).await.unwrap()["result"]), "0");
    }
}

#[tokio::test]
async fn one_definition_serves_two_sessions_at_once() {
    let mut server = gated(2);
    let first = Session::open(server.mount.clone()).await;
    let second = Session::open(server.mount.clone()).await;
    let waiting = first.calling(2, "wait", json!({"value": 0}));
    server.expect("started").await;
    server.gates[1].add_permits(1);
    // The same id, and the other session's call is not touched.
    assert_eq!(
        text(&second.call(2, "wait", json!({"value": 1})).await),
        "1"
    );
    assert_eq!(second.send(cancel(2)).await, dummy());
    drop(second);
    server.gates[0].add_permits(1);
    assert_eq!(text(&soon(waiting).await.unwrap()["result"]), "0");
}

#[tokio::test]
async fn initialize_on_a_live_server_makes_a_new_instance_and_keeps_the_calls_of_the_old() {
    let made = Arc::new(AtomicUsize::new(0));
    let mut server = gated(1);
    let (count, mount) = (made.clone(), server.mount.clone());
    let counted = Mount::new("gated", move || {
        count.fetch_add(1, Ordering::SeqCst);
        mount.make()
    });
    let session = Session::open(counted).await;
    let calling = session.calling(2, "wait", json!({"value": 0}));
    server.expect("started").await;
    let again = session.connect().await;
    assert_eq!(again["result"]["serverInfo"]["name"], "gated");
    assert_eq!(made.load(Ordering::SeqCst), 2);
    server.gates[0].add_permits(1);
    assert_eq!(text(&soon(calling).await.unwrap()["result"]), "0");
    // The new connection counts its ids from the start.
    server.gates[0].add_permits(1);
    assert_eq!(
        text(&session.call(2, "wait", json!({"value": 0})).await),
        "0"
    );
}

#[tokio::test]
async fn a_call_of_the_connection_before_can_be_cancelled() {
    let mut server = gated(1);
    let session = Session::open(server.mount.clone()).await;
    let calling = session.calling(9, "wait", json!({"value": 0}));
    server.expect("started").await;
    session.connect().await;
    assert_eq!(session.send(cancel(9)).await, dummy());
    assert_eq!(soon(calling).await.unwrap()["error"]["code"], -32800);
    server.expect("ended").await;
}

#[tokio::test]
async fn an_answer_reaches_the_connection_that_asked() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Answer {
        word: String,
    }
    let asker = Server::new("asker").tool_with_context(
        "ask",
        "Asks",
        |_: (), context: ToolContext| async move {
            let answer = context.elicit::<Answer>("A word?").await?;
            Ok(match answer {
                crate::mcp::Elicited::Accepted(answer) => answer.word,
                _ => String::new(),
            })
        },
    );
    let mut session = Session::open(asker).await;
    let old = session.calling(2, "ask", json!({}));
    let old_question = session.next().await;
    session.connect().await;
    let new = session.calling(2, "ask", json!({}));
    let new_question = session.next().await;
    assert_ne!(old_question["id"], new_question["id"]);
    for (question, word) in [(&new_question, "new"), (&old_question, "old")] {
        let result = json!({"action": "accept", "content": {"word": word}});
        let answer: Value = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        assert_eq!(session.send(answer).await, dummy());
    }
    assert_eq!(text(&soon(new).await.unwrap()["result"]), "new");
    assert_eq!(text(&soon(old).await.unwrap()["result"]), "old");
}

#[tokio::test]
async fn calls_without_a_handshake_are_served_after_a_manifest_spared_it() {
    let server = gated(1);
    server.gates[0].add_permits(2);
    let session = Session::fresh(server.mount.clone());
    let first = session.calling(5, "wait", json!({"value": 0}));
    let second = session.calling(6, "wait", json!({"value": 0}));
    for calling in [first, second] {
        assert_eq!(text(&soon(calling).await.unwrap()["result"]), "0");
    }
}
