//! The scripted model over real TCP: what a client sees, and what the server says it was asked.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: a failed step is a failed test"
)]

mod answers;
mod cuts;
mod http;
mod record;
mod start;

use countersign_rehearsal::model::{Options, Script, Server};
use serde_json::{Value, json};

async fn serve(script: &str) -> Server {
    Server::start(Script::parse(script).unwrap(), Options::default())
        .await
        .unwrap()
}

/// What the server says to a request.
async fn said(server: &Server, request: &Value) -> String {
    let answer = http::ask(server.address(), request).await;
    http::text_in(&answer.events().await.0)
}

/// A request as the CLI makes it for a turn.
fn main_request(text: &str) -> Value {
    json!({"model": "m", "stream": true, "tools": [{"name": "T"}], "messages": [{"role": "user", "content": text}]})
}

/// A request as the CLI makes it for itself.
fn side_request() -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "a title, please"}]})
}
