//! Replies over the wire: streamed and whole, in order and by what was asked.

use serde_json::json;

use crate::http::{End, ask, events_in, send, text_in};
use crate::{main_request, said, serve, side_request};

#[tokio::test]
async fn an_error_has_its_status_headers_and_shape() {
    let server = serve("reply\nerror 529 \"Overloaded\" retry-after=1 x-should-retry=true").await;
    let answer = ask(server.address(), &main_request("hi")).await;
    assert_eq!(answer.status, 529);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("x-should-retry"), Some("true"));
    let error = json!({"type": "overloaded_error", "message": "Overloaded"});
    assert_eq!(answer.json().await["error"], error);
}

#[tokio::test]
async fn what_comes_before_a_pause_arrives_before_it() {
    let server = serve("reply\nsay \"now\"\nwait 60m\nsay \"never\"").await;
    let mut answer = ask(server.address(), &main_request("hi")).await;
    let mut body = Vec::new();
    while text_in(&events_in(&body)) != "now" {
        body.extend(answer.chunk().await.unwrap());
    }
}

#[tokio::test]
async fn side_calls_are_answered_without_the_replies() {
    let server = serve("reply\nsay \"main\"").await;
    assert_eq!(said(&server, &side_request()).await, "ok");
    let mut with_schema = side_request();
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    with_schema["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    let title = r#"{"title":"Rehearsal"}"#;
    assert_eq!(said(&server, &with_schema).await, title);
    assert_eq!(said(&server, &main_request("hi")).await, "main");
    let server = serve("side \"fine\"").await;
    assert_eq!(said(&server, &side_request()).await, "fine");
}

#[tokio::test]
async fn many_requests_at_once_each_get_a_reply_of_their_own() {
    let replies = (0..40).map(|number| format!("reply\nsay \"{number}\"\n"));
    let server = serve(&replies.collect::<String>()).await;
    let request = main_request("hi");
    let asked = (0..40).map(|_| said(&server, &request));
    let said = futures_util::future::join_all(asked).await;
    let mut said: Vec<u32> = said.iter().map(|text| text.parse().unwrap()).collect();
    said.sort_unstable();
    assert_eq!(said, (0..40).collect::<Vec<_>>());
    assert!(server.report().is_clean());
}

#[tokio::test]
async fn the_other_paths_of_the_api_are_served() {
    let server = serve("").await;
    let path = "/v1/messages/count_tokens?beta=true";
    let counted = send(server.address(), "POST", path, &[b' '; 400]).await;
    assert_eq!(counted.json().await, json!({"input_tokens": 100}));
    let get = async |path| send(server.address(), "GET", path, b"").await.json().await;
    assert_eq!(get("/v1/models?limit=20").await["data"][0]["type"], "model");
    assert_eq!(get("/v1/models/some-model").await["id"], "some-model");
    let report = server.report();
    let counts = (report.count_tokens_requests, report.models_requests);
    assert_eq!(counts, (1, 2));
}

#[tokio::test]
async fn a_tool_input_of_megabytes_arrives_whole() {
    let script = "reply\ntool Write {\"content\":{\"$repeat\":[\"0123456789\",500000]}}";
    let server = serve(script).await;
    let (events, end) = ask(server.address(), &main_request("hi"))
        .await
        .events()
        .await;
    assert_eq!(end, End::Whole);
    let pieces = events.iter();
    let pieces = pieces.filter_map(|event| event["delta"]["partial_json"].as_str());
    let input: String = pieces.collect();
    assert_eq!(input.len(), 5_000_000 + r#"{"content":""}"#.len());
    assert!(events.len() < 20, "{} events", events.len());
}
