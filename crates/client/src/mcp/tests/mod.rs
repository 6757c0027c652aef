//! The module against the CLI's side of the conversation.

mod outputs;
mod recorded;
mod servers;
mod talk;
mod traffic;

use std::sync::Arc;
use std::time::Duration;

use countersign_wire::Json;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Bridge, Mount};

/// No test waits longer than this for anything.
const DEADLINE: Duration = Duration::from_secs(20);

/// Waits for a future, and not for ever.
async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future)
        .await
        .expect("it did not happen in time")
}

/// A session as the CLI sees it.
struct Session {
    bridge: Arc<Bridge>,
    /// What the server said of its own accord.
    said: mpsc::UnboundedReceiver<Json>,
}

impl Session {
    /// Not connected yet.
    fn fresh(server: impl Into<Mount>) -> Self {
        let (sender, said) = mpsc::unbounded_channel();
        let outgoing = move |message| {
            let _ = sender.send(message);
        };
        let bridge = Arc::new(Bridge::new(&server.into(), Arc::new(outgoing)));
        Self { bridge, said }
    }

    /// After the handshake.
    async fn open(server: impl Into<Mount>) -> Self {
        let session = Self::fresh(server);
        session.connect().await;
        session
    }

    /// The handshake in the CLI's words; gives the answer to `initialize`.
    async fn connect(&self) -> Value {
        let answer = self.send(initialize()).await;
        assert_eq!(self.send(initialized()).await, dummy());
        answer
    }

    /// One message and its answer.
    async fn send(&self, message: Value) -> Value {
        soon(self.bridge.handle(Json::from(message)))
            .await
            .to_value()
            .unwrap()
    }

    /// One call of a tool and the result in the answer.
    async fn call(&self, id: i64, tool: &str, arguments: Value) -> Value {
        let answer = self.send(call(id, tool, arguments)).await;
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(answer["jsonrpc"], "2.0");
        answer["result"].clone()
    }

    /// A call that goes on in a task of its own.
    fn calling(&self, id: i64, tool: &str, arguments: Value) -> tokio::task::JoinHandle<Value> {
        let bridge = self.bridge.clone();
        let message = Json::from(call(id, tool, arguments));
        tokio::spawn(async move { bridge.handle(message).await.to_value().unwrap() })
    }

    /// The next message of the server.
    async fn next(&mut self) -> Value {
        let message = soon(self.said.recv()).await;
        message.expect("the bridge is there").to_value().unwrap()
    }
}

fn initialize() -> Value {
    json!({
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "claude-code", "version": "2.1.325"},
        },
        "jsonrpc": "2.0",
        "id": 0,
    })
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn call(id: i64, tool: &str, arguments: Value) -> Value {
    json!({
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": arguments,
            "_meta": {"claudecode/toolUseId": format!("toolu_{id}"), "progressToken": id},
        },
        "jsonrpc": "2.0",
        "id": id,
    })
}

fn cancel(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}})
}

fn dummy() -> Value {
    json!({"jsonrpc": "2.0", "result": {}, "id": 0})
}

/// The text of a result's only block.
fn text(result: &Value) -> &str {
    assert_eq!(
        result["content"].as_array().map(Vec::len),
        Some(1),
        "{result}"
    );
    result["content"][0]["text"].as_str().unwrap()
}
