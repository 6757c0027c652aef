//! Connections that end early, from either side.

use countersign_rehearsal::model::{Outcome, Server};
use serde_json::json;

use crate::http::{End, LIMIT, ask, events_in, text_in, within};
use crate::{main_request, serve};

fn outcomes(server: &Server) -> Vec<Outcome> {
    server
        .requests()
        .into_iter()
        .map(|request| request.outcome)
        .collect()
}

#[tokio::test]
async fn a_cut_delivers_what_was_said_and_breaks_the_body() {
    let server = serve("reply\nsay \"half of a sent\"\ncut").await;
    let (events, end) = ask(server.address(), &main_request("hi"))
        .await
        .events()
        .await;
    assert_eq!(end, End::Broken);
    assert_eq!(text_in(&events), "half of a sent");
    assert_eq!(events.last().unwrap()["type"], "content_block_delta");
    assert!(
        server
            .wait_until(LIMIT, |server| outcomes(server) == [Outcome::Cut])
            .await
    );
}

#[tokio::test]
async fn a_cut_after_megabytes_still_delivers_all_of_them() {
    let server = serve("reply\nsay repeat 500000 \"0123456789\"\ncut").await;
    let (events, end) = ask(server.address(), &main_request("hi"))
        .await
        .events()
        .await;
    assert_eq!((text_in(&events).len(), end), (5_000_000, End::Broken));
}

#[tokio::test]
async fn a_cut_by_reset_is_a_reset_for_the_client() {
    let server = serve("reply\nsay \"half\"\ncut reset").await;
    let (_, end) = ask(server.address(), &main_request("hi"))
        .await
        .rest()
        .await;
    assert_eq!(end, End::Reset);
}

#[tokio::test]
async fn a_cut_of_a_whole_message_breaks_its_json() {
    let server = serve("reply\nsay \"half of a sent\"\ncut").await;
    let mut request = main_request("hi");
    request["stream"] = json!(false);
    let (body, end) = ask(server.address(), &request).await.rest().await;
    assert_eq!(end, End::Broken);
    assert!(!body.is_empty());
    assert!(serde_json::from_slice::<serde_json::Value>(&body).is_err());
}

#[tokio::test]
async fn after_a_cut_the_next_connection_is_served() {
    let server = serve("reply\ncut\nreply\nsay \"whole\"").await;
    let (_, end) = ask(server.address(), &main_request("hi"))
        .await
        .events()
        .await;
    assert_eq!(end, End::Broken);
    let (events, end) = ask(server.address(), &main_request("hi"))
        .await
        .events()
        .await;
    assert_eq!((text_in(&events).as_str(), end), ("whole", End::Whole));
}

#[tokio::test]
async fn a_client_that_hangs_up_is_noted() {
    for script in [
        "reply\nsay \"now\"\nwait 60m\nsay \"never\"",
        "reply\nsay \"now\"\nwait 60m\nerror 500 \"never\"",
    ] {
        let server = serve(script).await;
        let mut answer = ask(server.address(), &main_request("hi")).await;
        let first = answer.chunk().await.unwrap();
        assert_eq!(events_in(&first)[0]["type"], "message_start");
        assert_eq!(outcomes(&server), [Outcome::Open]);
        drop(answer);
        assert!(
            server
                .wait_until(LIMIT, |server| outcomes(server) == [Outcome::ClientLeft])
                .await
        );
    }
}

#[tokio::test]
async fn a_shutdown_breaks_off_what_is_streaming() {
    let server = serve("reply\nsay \"now\"\nwait 60m\nsay \"never\"").await;
    let mut answer = ask(server.address(), &main_request("hi")).await;
    answer.chunk().await.unwrap();
    let report = within(server.shutdown()).await;
    assert_eq!(report.main_requests, 1);
    assert_eq!(answer.rest().await.1, End::Broken);
}

#[tokio::test]
async fn a_dropped_server_stops_listening() {
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
