//! Connections that end early, from either side.

use countersign_rehearsal::model::{Outcome, Server};
use serde_json::json;

use crate::http::{End, LIMIT, ask, events_in, text_in, within};
use crate::{main_request, said, serve};

/// Waits until the requests ended in this way.
async fn until(server: &Server, outcome: Outcome) {
    let ended = |server: &Server| {
        let requests = server.requests();
        requests.iter().all(|request| request.outcome == outcome)
    };
    assert!(server.wait_until(LIMIT, ended).await, "{outcome:?}");
}

#[tokio::test]
async fn a_cut_delivers_what_was_said_and_breaks_the_body() {
    let server = serve("reply\nsay \"half of a sent\"\ncut").await;
    let answer = ask(server.address(), &main_request("hi")).await;
    let (events, end) = answer.events().await;
    assert_eq!(
        (text_in(&events).as_str(), end),
        ("half of a sent", End::Broken)
    );
    assert_eq!(events.last().unwrap()["type"], "content_block_delta");
    until(&server, Outcome::Cut).await;

    let server = serve("reply\nsay repeat 500000 \"0123456789\"\ncut").await;
    let answer = ask(server.address(), &main_request("hi")).await;
    let (events, end) = answer.events().await;
    assert_eq!((text_in(&events).len(), end), (5_000_000, End::Broken));
}

#[tokio::test]
async fn a_cut_may_be_a_reset_and_the_next_connection_is_served() {
    let server = serve("reply\nsay \"half\"\ncut reset\nreply\nsay \"whole\"").await;
    let answer = ask(server.address(), &main_request("hi")).await;
    assert_eq!(answer.rest().await.1, End::Reset);
    assert_eq!(said(&server, &main_request("hi")).await, "whole");
}

#[tokio::test]
async fn a_cut_of_a_whole_message_breaks_its_json() {
    let server = serve("reply\nsay \"half of a sent\"\ncut").await;
    let mut request = main_request("hi");
    request["stream"] = json!(false);
    let (body, end) = ask(server.address(), &request).await.rest().await;
    assert_eq!((end, body.is_empty()), (End::Broken, false));
    assert!(serde_json::from_slice::<serde_json::Value>(&body).is_err());
}

#[tokio::test]
async fn a_client_that_hangs_up_is_noted() {
    let server = serve("reply\nsay \"now\"\nwait 60m\nsay \"never\"").await;
    let mut answer = ask(server.address(), &main_request("hi")).await;
    let first = answer.chunk().await.unwrap();
    assert_eq!(events_in(&first)[0]["type"], "message_start");
    until(&server, Outcome::Open).await;
    drop(answer);
    until(&server, Outcome::ClientLeft).await;
}

#[tokio::test]
async fn a_shutdown_breaks_off_what_is_streaming_and_a_drop_stops_listening() {
    let server = serve("reply\nsay \"now\"\nwait 60m\nsay \"never\"").await;
    let mut answer = ask(server.address(), &main_request("hi")).await;
    answer.chunk().await.unwrap();
    let report = within(server.shutdown()).await;
    assert_eq!(report.main_requests, 1);
    assert_eq!(answer.rest().await.1, End::Broken);

    let server = serve("").await;
    let address = server.address();
    drop(server);
    within(async {
        while tokio::net::TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
