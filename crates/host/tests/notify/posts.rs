//! What arrives: the request, its signature, its body.

use countersign_host::notify::{Kind, Secret, Shape, Target, To, sign};
use serde_json::json;

use crate::server::{Act, Received, Server};
use crate::stage::{SECRET, Stage, event, failed, finished, webhook};

fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_secs()
}

/// A receiver's own check, with the time it may have taken to get here.
fn verify(received: &Received) -> Result<(), sign::BadSignature> {
    let header = received.header(sign::HEADER).unwrap();
    sign::verify(SECRET.as_bytes(), header, &received.body, now(), 120)
}

#[tokio::test]
async fn a_post_is_signed_and_says_what_happened() {
    let server = Server::start([]).await;
    let stage = Stage::new(vec![webhook("one", &server.url())]);
    stage.notifier.tell(&failed(3, 9_000_000));
    let one = server.wait_for(1).await.remove(0);
    assert_eq!(one.first, "POST /hook?key=value HTTP/1.1");
    assert_eq!(
        one.header("host"),
        Some(format!("127.0.0.1:{}", server.port()).as_str())
    );
    assert_eq!(one.header("content-type"), Some("application/json"));
    assert_eq!(one.header("countersign-event"), Some("failed"));
    assert_eq!(one.header("countersign-attempt"), Some("1"));
    assert_eq!(verify(&one), Ok(()));
    let body = one.json();
    assert_eq!(one.header("countersign-id"), body["id"].as_str());
    assert_eq!(body["event"], "failed");
    assert_eq!(body["at"], 9_000_000);
    let id = body["session"]["id"].as_str().unwrap();
    assert_eq!(
        body["session"],
        json!({"id": id, "name": "session 3", "state": "failed", "reason": "because", "cost_usd": 0.25})
    );
    assert_eq!(body["link"], format!("https://cs.example.com/s/{id}"));
    assert!(!body.to_string().contains("the whole of stderr"));
    let mut changed = one.clone();
    changed.body[5] ^= 1;
    assert_eq!(verify(&changed), Err(sign::BadSignature::Wrong));
    stage.quiet().await;
    assert_eq!(stage.said(), []);
}

#[tokio::test]
async fn each_try_has_the_same_id_and_body_and_a_signature_of_its_own() {
    let acts = [Act::Status(500), Act::Close, Act::Status(429)];
    let server = Server::start(acts).await;
    let stage = Stage::new(vec![webhook("one", &server.url())]);
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    let all = server.received();
    assert_eq!(all.len(), 4);
    for (number, one) in (1..).zip(&all) {
        assert_eq!(
            one.header("countersign-id"),
            all[0].header("countersign-id")
        );
        assert_eq!(
            one.header("countersign-attempt"),
            Some(number.to_string().as_str())
        );
        assert_eq!(one.body, all[0].body);
        assert_eq!(verify(one), Ok(()));
    }
    assert_eq!(stage.said(), []);
}

fn chat(name: &str, url: &str, shape: Shape) -> Target {
    let mut target = webhook(name, url);
    if let To::Webhook {
        shape: own,
        secret,
        headers,
        ..
    } = &mut target.to
    {
        (*own, *secret) = (shape, None);
        headers.insert(
            "Authorization".to_owned(),
            Secret::new("Bearer of the test"),
        );
    }
    target
}

#[tokio::test]
async fn a_chat_gets_one_line_and_its_header() {
    let server = Server::start([]).await;
    let targets = vec![
        chat("one", &server.url(), Shape::Text),
        chat("two", &server.url(), Shape::Content),
    ];
    let stage = Stage::new(targets);
    let event = finished(1, 5);
    stage.notifier.tell(&event);
    let id = event.session.unwrap().id;
    let text = format!("session 1 has finished https://cs.example.com/s/{id}");
    let mut bodies: Vec<_> = server
        .wait_for(2)
        .await
        .iter()
        .map(Received::json)
        .collect();
    bodies.sort_by_key(ToString::to_string);
    let quiet = json!({"content": text, "allowed_mentions": {"parse": []}});
    assert_eq!(bodies, [quiet, json!({"text": text})]);
    for one in server.received() {
        assert_eq!(one.header("authorization"), Some("Bearer of the test"));
        assert_eq!(one.header(sign::HEADER), None);
    }
}

#[tokio::test]
async fn only_what_a_target_wants_is_told_and_a_test_always() {
    let server = Server::start([]).await;
    let mut target = webhook("one", &server.url());
    target.on = vec![Kind::Stopped];
    let stage = Stage::new(vec![target]);
    stage.notifier.tell(&failed(1, 1));
    let stopped = countersign_host::control::session::State::Stopped;
    stage.notifier.tell(&event(1, stopped, 2));
    assert!(stage.notifier.test("one"));
    assert!(!stage.notifier.test("nobody"));
    stage.quiet().await;
    let told: Vec<_> = server
        .received()
        .iter()
        .map(|one| one.json()["event"].clone())
        .collect();
    assert_eq!(told, ["stopped", "test"]);
}
