//! Spans of requests at a collector on this machine.
//!
//! A real host and the real server; the collector is a socket that reads what comes and says yes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

use common::{DEADLINE, Served};
use countersign_server::otel::{Collector, Traces};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// Takes one POST, and gives its head and its body.
async fn collect(listener: &TcpListener) -> (String, Value) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.unwrap();
        assert!(read > 0, "it ends before it is whole");
        bytes.extend_from_slice(&part[..read]);
        let Some(end) = common::http::head_end(&bytes) else {
            continue;
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_it = name.eq_ignore_ascii_case("content-length");
            is_it.then(|| value.trim().parse::<usize>().unwrap())
        });
        if bytes.len() - end < length.unwrap() {
            continue;
        }
        let body = serde_json::from_slice(&bytes[end..]).unwrap();
        let yes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(yes).await.unwrap();
        return (head, body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_span_of_a_request_reaches_the_collector_and_holds_nothing_that_the_client_wrote() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let collecting = tokio::spawn(async move { collect(&listener).await });
    let traces = Traces::start(Collector::at(&address).unwrap());
    let own = traces.clone();
    let served = Served::with("turn always\n  say \"Yes.\"\n", |app| {
        app.traces = Some(own)
    })
    .await;
    let client = served.client();
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let asked = client
        .get_with(
            "/sessions?other=a-word-of-the-client",
            &[("traceparent", &parent)],
        )
        .await;
    assert_eq!(asked.status, 200, "{}", asked.text());
    let start = json!({"cwd": served.stage.project(), "prompt": "go"});
    let begun = client.send("POST", "/sessions", &start).await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    traces.flush().await;
    let (head, body) = tokio::time::timeout(DEADLINE, collecting)
        .await
        .unwrap()
        .unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
    let said = body.to_string();
    assert!(!said.contains("a-word-of-the-client"), "{said}");
    let told = &body["resourceSpans"][0];
    assert_eq!(
        told["resource"]["attributes"][0]["value"]["stringValue"],
        "countersign"
    );
    let spans = told["scopeSpans"][0]["spans"].as_array().unwrap();
    let named = |name: &str| {
        let found = spans.iter().find(|span| span["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {said}"))
    };
    let list = named("GET /api/v1/sessions");
    assert_eq!(
        (&list["traceId"], &list["parentSpanId"]),
        (&json!(TRACE), &json!("b7ad6b7169203331"))
    );
    let attributes = list["attributes"].as_array().unwrap();
    let status = json!({"key": "http.response.status_code", "value": {"intValue": "200"}});
    let caller = json!({"key": "countersign.caller", "value": {"stringValue": "tester"}});
    assert!(
        attributes.contains(&status) && attributes.contains(&caller),
        "{list}"
    );
    let (post, host) = (named("POST /api/v1/sessions"), named("execute"));
    assert_eq!(
        (&host["traceId"], &host["parentSpanId"]),
        (&post["traceId"], &post["spanId"])
    );
    assert_ne!(
        post["traceId"], TRACE,
        "a request without a trace begins one"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_costs_no_request_anything() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1/traces", closed.local_addr().unwrap());
    drop(closed);
    let traces = Traces::start(Collector::at(&address).unwrap());
    let own = traces.clone();
    let served = Served::with("turn always\n  say \"Yes.\"\n", |app| {
        app.traces = Some(own)
    })
    .await;
    let client = served.client();
    for _ in 0..20 {
        assert_eq!(client.get("/sessions").await.status, 200);
    }
    traces.flush().await;
    assert_eq!(client.get("/sessions").await.status, 200);
}
