//! Replies over the wire: streamed and whole, in order and by what was asked.

use serde_json::json;

use crate::http::{End, ask, events_in, send, text_in};
use crate::{main_request, serve, side_request};

#[tokio::test]
async fn a_reply_is_streamed_from_message_start_to_message_stop() {
    let server = serve("reply\nsay \"Hello there.\"").await;
    let answer = ask(server.address(), &main_request("hi")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/event-stream; charset=utf-8")
    );
    let (events, end) = answer.events().await;
    assert_eq!(end, End::Whole);
    assert_eq!(text_in(&events), "Hello there.");
    assert_eq!(events.first().unwrap()["type"], "message_start");
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

#[tokio::test]
async fn a_request_without_stream_gets_one_message() {
    let server = serve("reply\nsay \"Hello.\"").await;
    let mut request = main_request("hi");
    request["stream"] = json!(false);
    let message = ask(server.address(), &request).await.json().await;
    assert_eq!(
        message["content"],
        json!([{"type": "text", "text": "Hello."}])
    );
    assert_eq!(message["stop_reason"], "end_turn");
}

#[tokio::test]
async fn an_error_has_its_status_headers_and_shape() {
    let server = serve("reply\nerror 529 \"Overloaded\" retry-after=1 x-should-retry=true").await;
    let answer = ask(server.address(), &main_request("hi")).await;
    assert_eq!(answer.status, 529);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("x-should-retry"), Some("true"));
    let body = answer.json().await;
    assert_eq!(body["type"], "error");
    assert_eq!(
        body["error"],
        json!({"type": "overloaded_error", "message": "Overloaded"})
    );
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
async fn side_calls_are_answered_without_the_script() {
    let server = serve("reply\nsay \"main\"").await;
    let (events, _) = ask(server.address(), &side_request()).await.events().await;
    assert_eq!(text_in(&events), "ok");
    let mut with_schema = side_request();
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    with_schema["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    let (events, _) = ask(server.address(), &with_schema).await.events().await;
    assert_eq!(text_in(&events), r#"{"title":"Rehearsal"}"#);
    let (events, _) = ask(server.address(), &main_request("hi"))
        .await
        .events()
        .await;
    assert_eq!(text_in(&events), "main");
}

#[tokio::test]
async fn many_requests_at_once_each_get_a_reply_of_their_own() {
    let script: String = (0..40)
        .map(|number| format!("reply\nsay \"{number}\"\n"))
        .collect();
    let server = serve(&script).await;
    let asked: Vec<_> = (0..40)
        .map(|_| {
            let address = server.address();
            tokio::spawn(async move {
                text_in(&ask(address, &main_request("hi")).await.events().await.0)
            })
        })
        .collect();
    let mut said = Vec::new();
    for answer in asked {
        said.push(answer.await.unwrap().parse::<u32>().unwrap());
    }
    said.sort_unstable();
    assert_eq!(said, (0..40).collect::<Vec<_>>());
    assert!(server.report().is_clean());
}

#[tokio::test]
async fn the_other_paths_of_the_api_are_served() {
    let server = serve("").await;
    let counted = send(
        server.address(),
        "POST",
        "/v1/messages/count_tokens?beta=true",
        &[b' '; 400],
    )
    .await;
    assert_eq!(counted.json().await, json!({"input_tokens": 100}));
    let models = send(server.address(), "GET", "/v1/models?limit=20", b"")
        .await
        .json()
        .await;
    assert_eq!(models["data"][0]["type"], "model");
    let model = send(server.address(), "GET", "/v1/models/some-model", b"")
        .await
        .json()
        .await;
    assert_eq!(model["id"], "some-model");
    let report = server.report();
    assert_eq!(
        (report.count_tokens_requests, report.models_requests),
        (1, 2)
    );
}

#[tokio::test]
async fn a_tool_input_of_megabytes_arrives_whole() {
    let server =
        serve("reply\ntool Write {\"content\":{\"$repeat\":[\"0123456789\",500000]}}").await;
    let (events, end) = ask(server.address(), &main_request("hi"))
        .await
        .events()
        .await;
    assert_eq!(end, End::Whole);
    let input: String = events
        .iter()
        .filter_map(|event| event["delta"]["partial_json"].as_str())
        .collect();
    assert_eq!(input.len(), 5_000_000 + r#"{"content":""}"#.len());
    assert!(events.len() < 20, "{} events", events.len());
}
