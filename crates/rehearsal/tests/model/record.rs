//! What the server remembers of a run, and how much of it.

use countersign_rehearsal::model::{Kept, Kind, Outcome};
use serde_json::json;

use crate::http::{ask, send};
use crate::{main_request, said, serve, side_request};

#[tokio::test]
async fn a_request_after_the_last_reply_fails_loudly_and_is_reported() {
    let server = serve("reply\nsay \"only\"").await;
    said(&server, &main_request("one")).await;
    assert!(server.report().is_clean());
    let answer = ask(server.address(), &main_request("two")).await;
    let retry = answer.header("x-should-retry").map(str::to_owned);
    assert_eq!((answer.status, retry.as_deref()), (400, Some("false")));
    let error = answer.json().await["error"].take();
    assert_eq!(error["type"], "invalid_request_error");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("the script is at its end"), "{message}");
    let report = server.report();
    assert!(!report.is_clean());
    let numbers: Vec<u64> = report.unexpected.iter().map(|other| other.number).collect();
    assert_eq!(numbers, [2]);
}

#[tokio::test]
async fn the_report_says_what_was_used_and_what_is_left() {
    let script = "reply\nsay \"1\"\nreply 3 times\nsay \"2\"\nreply always when \"x\"\nsay \"3\"";
    let server = serve(script).await;
    for text in ["a", "b", "x", "x"] {
        said(&server, &main_request(text)).await;
    }
    said(&server, &side_request()).await;
    let report = server.report();
    let told = serde_json::to_value(&report).unwrap();
    let replies = json!([
        {"line": 1, "used": 1, "left": 0},
        {"line": 3, "used": 1, "left": 2},
        {"line": 5, "used": 2, "left": null},
    ]);
    assert_eq!(told["replies"], replies);
    let counts = [&told["main_requests"], &told["side_requests"]];
    assert_eq!((counts, report.replies_left()), ([&json!(4), &json!(1)], 2));
}

#[tokio::test]
async fn requests_are_kept_with_their_bodies_but_without_the_key() {
    let server = serve("reply\nsay \"1\"").await;
    let body = main_request("hi");
    said(&server, &body).await;
    let request = server.requests().remove(0);
    assert_eq!((request.kind, request.status), (Kind::Main, 200));
    let outcome = (request.reply_line, request.outcome);
    assert_eq!(outcome, (Some(1), Outcome::Answered));
    assert_eq!(request.path, "/v1/messages?beta=true");
    assert_eq!(request.body, Kept::Json(body));
    let headers = [("user-agent".to_owned(), "test".to_owned())];
    assert_eq!(request.headers, headers);
}

#[tokio::test]
async fn other_paths_get_a_harmless_404_and_are_listed() {
    let server = serve("").await;
    let answer = send(server.address(), "POST", "/api/event_logging/batch", b"{}").await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json().await["error"]["type"], "not_found_error");
    assert_eq!(send(server.address(), "HEAD", "/", b"").await.status, 404);
    let report = server.report();
    let listed = ["POST /api/event_logging/batch", "HEAD /"];
    assert_eq!(report.elsewhere, listed);
    assert!(report.unexpected.is_empty());
}

#[tokio::test]
async fn a_body_that_is_no_json_is_refused_and_uses_no_reply() {
    let server = serve("reply\nsay \"1\"").await;
    let answer = send(server.address(), "POST", "/v1/messages", b"{\"model\":").await;
    assert_eq!(answer.status, 400);
    let error = answer.json().await["error"].take();
    assert!(error["message"].as_str().unwrap().contains("not JSON"));
    let kept = server.requests().remove(0).body;
    assert_eq!(kept, Kept::Text("{\"model\":".to_owned()));
    let report = server.report();
    assert_eq!((report.unexpected.len(), report.replies_left()), (1, 1));
}
