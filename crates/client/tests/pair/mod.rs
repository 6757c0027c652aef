//! A hand-driven far end: the test says what the CLI says, and reads what the host writes.

#![allow(dead_code, reason = "each suite uses its part of it")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::Future;
use std::time::Duration;

use countersign_client::{Claude, Event, Events, Notice, Peer, Session};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// How long anything may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// Waits for something that must happen.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, what)
        .await
        .expect("it happens in time")
}

/// The CLI's side of the connection.
pub(crate) struct Far {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl Far {
    pub(crate) fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
        }
    }

    /// The CLI says a line.
    pub(crate) async fn say(&mut self, line: &Value) {
        let line = format!("{line}\n");
        soon(self.writer.write_all(line.as_bytes())).await.unwrap();
    }

    /// The next line of the host.
    pub(crate) async fn hear(&mut self) -> Value {
        let line = soon(self.lines.next_line()).await.unwrap();
        let line = line.expect("the host still speaks");
        assert!(line.is_ascii(), "only ASCII goes to the CLI: {line}");
        serde_json::from_str(&line).unwrap()
    }

    /// The end of what the host says; the next line if it is not the end.
    pub(crate) async fn end(&mut self) -> Option<String> {
        soon(self.lines.next_line()).await.unwrap()
    }

    /// The CLI asks.
    pub(crate) async fn ask(&mut self, id: &str, request: Value) {
        self.say(&json!({"type": "control_request", "request_id": id, "request": request}))
            .await;
    }

    /// The CLI asks whether a tool may run.
    pub(crate) async fn ask_tool(&mut self, id: &str, tool: &str, input: Value) {
        self.ask(id, can_use_tool(tool, input)).await;
    }

    /// The CLI takes a question back.
    pub(crate) async fn cancel(&mut self, id: &str) {
        self.say(&json!({"type": "control_cancel_request", "request_id": id}))
            .await;
    }

    /// The whole of the next answer, which must be to `id`.
    pub(crate) async fn answer(&mut self, id: &str) -> Value {
        let line = self.hear().await;
        assert_eq!(line["type"], "control_response", "{line}");
        assert_eq!(line["response"]["request_id"], id, "{line}");
        line["response"].clone()
    }

    /// The body of the next answer, which must be a success and to `id`.
    pub(crate) async fn reply(&mut self, id: &str) -> Value {
        let answer = self.answer(id).await;
        assert_eq!(answer["subtype"], "success", "{answer}");
        answer["response"].clone()
    }

    /// The CLI answers the next request of the host with success. What was asked comes back.
    pub(crate) async fn accept(&mut self, response: Value) -> Value {
        let line = self.hear().await;
        assert_eq!(line["type"], "control_request", "{line}");
        self.say(&json!({"type": "control_response", "response":
            {"subtype": "success", "request_id": line["request_id"], "response": response}}))
            .await;
        line["request"].clone()
    }
}

pub(crate) fn can_use_tool(tool: &str, input: Value) -> Value {
    json!({"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": "toolu_1"})
}

/// What a CLI of `version` says to the greeting.
pub(crate) fn greeting(version: &str) -> Value {
    json!({"commands": [], "output_style": "default", "available_output_styles": [], "models": [],
        "account": {}, "claude_code_version": version})
}

/// A session with a CLI of `version`, and what it was greeted with.
pub(crate) async fn greeted(claude: Claude, version: &str) -> (Session, Far, Value) {
    let (peer, stream) = Peer::pair();
    let mut far = Far::new(stream);
    let (session, initialize) =
        tokio::join!(claude.connect_over(peer), far.accept(greeting(version)));
    let session = session.unwrap();
    assert_eq!(session.version().unwrap().to_string(), version);
    (session, far, initialize)
}

/// A session with a CLI of the newest measured version.
pub(crate) async fn session(claude: Claude) -> (Session, Far) {
    let (session, far, _) = greeted(claude, "2.1.325").await;
    (session, far)
}

/// The next notice.
pub(crate) async fn notice(events: &mut Events) -> Notice {
    loop {
        if let Event::Notice(notice) = soon(events.next()).await.expect("the session goes on") {
            return notice;
        }
    }
}
