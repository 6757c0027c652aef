//! What the server remembers of a run, and how much of it.

use countersign_rehearsal::model::{KeepLimits, Kept, Kind, Options, Outcome, Script, Server};

use crate::http::{ask, send};
use crate::{main_request, serve, side_request};

#[tokio::test]
async fn a_request_after_the_last_reply_fails_loudly_and_is_reported() {
    let server = serve("reply\nsay \"only\"").await;
    ask(server.address(), &main_request("one"))
        .await
        .events()
        .await;
    assert!(server.report().is_clean());
    let answer = ask(server.address(), &main_request("two")).await;
    assert_eq!(
        (answer.status, answer.header("x-should-retry")),
        (400, Some("false"))
    );
    let body = answer.json().await;
    assert_eq!(body["error"]["type"], "invalid_request_error");
    assert!(
        body["error"]["message"]
            .as_str()
            .unwrap()
            .contains("the script is at its end"),
        "{body}"
    );
    let report = server.report();
    assert!(!report.is_clean());
    assert_eq!(
        (report.unexpected.len(), report.unexpected[0].number),
        (1, 2)
    );
}

#[tokio::test]
async fn the_report_says_what_was_used_and_what_is_left() {
    let server =
        serve("reply\nsay \"1\"\nreply 3 times\nsay \"2\"\nreply always when \"x\"\nsay \"3\"")
            .await;
    for text in ["a", "b", "x", "x"] {
        ask(server.address(), &main_request(text))
            .await
            .events()
            .await;
    }
    ask(server.address(), &side_request()).await.events().await;
    let report = server.report();
    let replies: Vec<_> = report
        .replies
        .iter()
        .map(|reply| (reply.line, reply.used, reply.left))
        .collect();
    assert_eq!(replies, [(1, 1, Some(0)), (3, 1, Some(2)), (5, 2, None)]);
    assert_eq!(
        (
            report.main_requests,
            report.side_requests,
            report.replies_left()
        ),
        (4, 1, 2)
    );
    assert!(!report.is_clean());
}

#[tokio::test]
async fn requests_are_kept_with_their_bodies_but_without_the_key() {
    let server = serve("reply\nsay \"1\"").await;
    let body = main_request("hi");
    ask(server.address(), &body).await.events().await;
    let requests = server.requests();
    let request = &requests[0];
    assert_eq!(
        (request.number, request.kind, request.status),
        (1, Kind::Main, 200)
    );
    assert_eq!(
        (request.reply_line, request.outcome),
        (Some(1), Outcome::Answered)
    );
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/v1/messages?beta=true")
    );
    assert_eq!(request.body, Kept::Json(body));
    assert_eq!(
        request.headers,
        [("user-agent".to_owned(), "test".to_owned())]
    );
}

#[tokio::test]
async fn other_paths_get_a_harmless_404_and_are_listed() {
    let server = serve("").await;
    let answer = send(server.address(), "POST", "/api/event_logging/batch", b"{}").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (404, Some("application/json"))
    );
    assert_eq!(answer.json().await["error"]["type"], "not_found_error");
    assert_eq!(send(server.address(), "HEAD", "/", b"").await.status, 404);
    let report = server.report();
    assert_eq!(
        report.elsewhere,
        ["POST /api/event_logging/batch", "HEAD /"]
    );
    assert!(report.unexpected.is_empty());
}

#[tokio::test]
async fn a_body_that_is_no_json_is_refused_and_kept_as_text() {
    let server = serve("reply\nsay \"1\"").await;
    let answer = send(server.address(), "POST", "/v1/messages", b"{\"model\":").await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.json().await["error"]["message"]
            .as_str()
            .unwrap()
            .contains("not JSON")
    );
    assert_eq!(
        server.requests()[0].body,
        Kept::Text("{\"model\":".to_owned())
    );
    assert_eq!(server.report().replies_left(), 1);
}

#[tokio::test]
async fn a_body_over_the_limit_gets_413_and_uses_no_reply() {
    let options = Options {
        max_body_bytes: 1000,
        ..Options::default()
    };
    let server = Server::start(Script::parse("reply\nsay \"1\"").unwrap(), options)
        .await
        .unwrap();
    let answer = ask(server.address(), &main_request(&"x".repeat(2000))).await;
    assert_eq!(answer.status, 413);
    assert_eq!(answer.json().await["error"]["type"], "request_too_large");
    let request = server.requests().remove(0);
    assert_eq!((request.status, request.outcome), (413, Outcome::Answered));
    let report = server.report();
    assert_eq!((report.unexpected.len(), report.replies_left()), (1, 1));
}

#[tokio::test]
async fn old_requests_are_let_go_and_counted() {
    let keep = KeepLimits {
        requests: 3,
        body_bytes: 250,
    };
    let options = Options {
        keep,
        ..Options::default()
    };
    let server = Server::start(Script::parse("reply always\nsay \"1\"").unwrap(), options)
        .await
        .unwrap();
    for number in 0..5 {
        ask(server.address(), &main_request(&format!("number {number}")))
            .await
            .events()
            .await;
    }
    let requests = server.requests();
    assert_eq!(
        requests
            .iter()
            .map(|request| request.number)
            .collect::<Vec<_>>(),
        [3, 4, 5]
    );
    assert!(
        matches!(requests[0].body, Kept::Dropped { bytes } if bytes > 50),
        "{:?}",
        requests[0].body
    );
    assert_eq!(requests[2].body, Kept::Json(main_request("number 4")));
    let report = server.report();
    assert_eq!((report.main_requests, report.dropped_requests), (5, 2));
}
