//! How streams begin, are kept alive and end.

use std::io::Write as _;
use std::time::Duration;

use countersign_api::control::SessionId;
use countersign_server::{Limits, Streams};
use flate2::write::GzDecoder;

use crate::common::{DEADLINE, Served};

const TALK: &str = "turn always\n  say \"Yes.\"\n";

async fn played(served: &Served) -> SessionId {
    let id = served.stage.start("one").await;
    served.stage.until_said(id, "Yes.").await;
    served.stage.until(id, "idle").await;
    id
}

fn all(id: SessionId) -> [String; 3] {
    [
        format!("/sessions/{id}/events"),
        format!("/sessions/{id}/transcript/stream"),
        "/events".to_owned(),
    ]
}

async fn until_open(served: &Served, count: usize) {
    let waiting = async {
        while served.app.streams.open() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(DEADLINE, waiting).await;
    waited.unwrap_or_else(|_| panic!("{} are open, not {count}", served.app.streams.open()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_says_so_and_ends_every_stream_cleanly() {
    let mut served = Served::new(TALK).await;
    let client = served.client();
    let id = played(&served).await;
    let mut streams = Vec::new();
    for path in all(id) {
        let mut stream = client.events(&path).await;
        stream.until("caught-up").await;
        streams.push(stream);
    }
    served.tell_to_stop();
    for stream in &mut streams {
        stream.until("closing").await;
        assert_eq!(stream.next().await, None);
        assert!(stream.is_clean_end(), "it was not cut off");
    }
    served.stop().await;
    assert_eq!(served.app.streams.open(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_never_reads_does_not_keep_the_server_from_ending() {
    let mut served = Served::new("turn\n  flood 400 40000\n  say \"Yes.\"\n").await;
    let client = served.client();
    let id = played(&served).await;
    let mut silent = Vec::new();
    for _ in 0..3 {
        let path = format!("{}/sessions/{id}/events", countersign_api::BASE);
        let mut stream = client.connect().await;
        let request = client.request("GET", &path, &[], b"");
        tokio::io::AsyncWriteExt::write_all(&mut stream, &request)
            .await
            .unwrap();
        silent.push(stream);
    }
    until_open(&served, 3).await;
    served.stop().await;
    assert_eq!(served.app.streams.open(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_can_be_ended_before_the_server_and_none_begins_after() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let id = played(&served).await;
    let mut stream = client.events(&all(id)[0]).await;
    served.app.streams.close();
    stream.until("closing").await;
    assert_eq!(stream.next().await, None);
    let refused = client.get(&all(id)[0]).await;
    assert_eq!(
        (refused.status, refused.json()["code"].as_str()),
        (503, Some("unavailable"))
    );
    assert!(refused.header("retry-after").is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_keep_a_quiet_stream_alive() {
    let limits = Limits {
        heartbeat: Duration::from_millis(20),
        ..Limits::default()
    };
    let served = Served::with(TALK, |app| app.streams = Streams::new(limits)).await;
    let client = served.client();
    let id = played(&served).await;
    for path in all(id) {
        let mut stream = client.events(&path).await;
        stream.until_heartbeats(3).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_with_too_many_streams_is_refused_until_one_is_gone() {
    let limits = Limits {
        each: 2,
        ..Limits::default()
    };
    let served = Served::with(TALK, |app| app.streams = Streams::new(limits)).await;
    let client = served.client();
    let id = played(&served).await;
    let path = &all(id)[0];
    let first = client.events(path).await;
    let _second = client.events("/events").await;
    let refused = client.get(path).await;
    assert_eq!(
        (refused.status, refused.json()["code"].as_str()),
        (429, Some("too_many"))
    );
    assert_eq!(refused.header("retry-after"), Some("5"));
    let other = served.client_as("other", countersign_api::Scope::Read);
    let other = other.events(path).await;
    // A place is free again as soon as a reader is gone.
    drop((first, other));
    until_open(&served, 1).await;
    client.events(path).await.until("caught-up").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compression_holds_no_event_back() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let id = played(&served).await;
    let headers = [("accept-encoding", "br, gzip")];
    let mut stream = client.events_with(&all(id)[0], &headers).await;
    assert_eq!(stream.header("content-encoding"), Some("gzip"));
    let mut decoder = GzDecoder::new(Vec::new());
    // The stream goes on, and yet everything up to now can be read.
    while !String::from_utf8_lossy(decoder.get_ref()).contains("event: caught-up") {
        let bytes = stream.raw().await;
        assert!(!bytes.is_empty());
        decoder.write_all(&bytes).unwrap();
        decoder.flush().unwrap();
    }
    served.app.streams.close();
    let plain = client.get("/sessions").await;
    assert!(plain.status == 200, "only streams have ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_whose_token_is_revoked_hears_no_more() {
    let limits = Limits {
        heartbeat: Duration::from_millis(20),
        ..Limits::default()
    };
    let served = Served::with(TALK, |app| app.streams = Streams::new(limits)).await;
    let client = served.client_as("guest", countersign_api::Scope::Read);
    let id = played(&served).await;
    let mut streams = Vec::new();
    for path in all(id) {
        let mut stream = client.events(&path).await;
        stream.until("caught-up").await;
        streams.push(stream);
    }
    let tokens = served.app.auth.list(crate::common::now());
    let guest = tokens.iter().find(|token| token.name == "guest").unwrap();
    served.app.auth.revoke(&guest.id).unwrap();
    for stream in &mut streams {
        let last = stream.until("problem").await;
        assert_eq!(last.json()["code"], "not_signed_in");
        assert_eq!(stream.next().await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_only_what_is_there_gets_an_end() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let id = played(&served).await;
    for path in all(id) {
        let mut stream = client.events(&format!("{path}?follow=false")).await;
        stream.until("caught-up").await;
        assert_eq!(stream.next().await, None);
        assert!(stream.is_clean_end());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_signs_out_is_told_no_more_and_another_page_goes_on() {
    let limits = Limits {
        heartbeat: DEADLINE,
        ..Limits::default()
    };
    let served = Served::with(TALK, |app| app.streams = Streams::new(limits)).await;
    let token = served.token("page", countersign_api::Scope::Full);
    let stranger = served.stranger();
    let mut cookies = Vec::new();
    for _ in 0..2 {
        let body = serde_json::json!({ "token": token });
        let signed = stranger.send("POST", "/login", &body).await;
        assert_eq!(signed.status, 200, "{}", signed.text());
        let line = signed.header("set-cookie").unwrap().to_owned();
        cookies.push(line.split(';').next().unwrap().to_owned());
    }
    let mut streams = Vec::new();
    for cookie in &cookies {
        let mut stream = stranger.events_with("/events", &[("cookie", cookie)]).await;
        stream.until("caught-up").await;
        streams.push(stream);
    }
    let origin = format!("http://{}", served.address);
    let headers = [("cookie", cookies[0].as_str()), ("origin", origin.as_str())];
    let out = stranger.ask("POST", "/api/v1/logout", &headers, b"").await;
    assert_eq!(out.status, 204, "{}", out.text());
    let ended = streams[0].until("problem").await;
    assert_eq!(ended.json()["code"], "not_signed_in");
    assert_eq!(streams[0].next().await, None);
    until_open(&served, 1).await;
    served.stage.start("one").await;
    streams[1].until("session").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_revoked_ends_its_streams_at_once() {
    let limits = Limits {
        heartbeat: DEADLINE,
        ..Limits::default()
    };
    let served = Served::with(TALK, |app| app.streams = Streams::new(limits)).await;
    let client = served.client();
    let mut stream = client.events("/events").await;
    stream.until("caught-up").await;
    let tokens = served.app.auth.list(0);
    let own = tokens.iter().find(|token| token.name == "tester").unwrap();
    served.app.auth.revoke(&own.id).unwrap();
    let ended = stream.until("problem").await;
    assert_eq!(ended.json()["code"], "not_signed_in");
    assert_eq!(stream.next().await, None);
}
