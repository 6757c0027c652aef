//! Writes that are done once, and those that only this machine may ask for.

use std::path::Path;

use countersign_server::listen;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::common::http::Answer;
use crate::common::{Client, DEADLINE, Served};

const TALKS: &str = "turn always\n  say \"Yes.\"\n";

async fn create(client: &Client, key: &str, body: &Value) -> Answer {
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", key),
    ];
    client
        .ask(
            "POST",
            "/api/v1/tokens",
            &headers,
            body.to_string().as_bytes(),
        )
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_write_makes_one_token_and_gives_the_same_answer() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let wanted = json!({"name": "ci", "scope": "read"});
    let first = create(&client, "k1", &wanted).await;
    assert_eq!(first.status, 201, "{}", first.text());
    let again = create(&client, "k1", &wanted).await;
    assert_eq!((again.status, again.json()), (201, first.json()));
    let token = again.json()["token"].as_str().unwrap().to_owned();
    let ci = Client::new(served.address, Some(token));
    assert_eq!(ci.get("/me").await.json()["name"], "ci");
    let names = client.get("/tokens").await.json();
    let named = names.as_array().unwrap().iter();
    assert_eq!(named.filter(|one| one["name"] == "ci").count(), 1);
    let other = create(&client, "k1", &json!({"name": "ci2", "scope": "read"})).await;
    assert_eq!(
        (other.status, &other.json()["code"]),
        (409, &json!("key_reused"))
    );
    let taken = create(&client, "k2", &wanted).await;
    assert_eq!(
        taken.status,
        422,
        "another write of the same name: {}",
        taken.text()
    );
}

/// Sends a request over a socket.
async fn over_socket(socket: &Path, method: &str, path: &str, body: &Value) -> (u16, String) {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    let body = body.to_string();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(DEADLINE, stream.read_to_string(&mut answer));
    read.await.expect("an answer comes soon").unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_to_run_is_named_over_the_socket_and_not_by_a_token() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let program = json!({"to": {"kind": "program", "argv": ["/bin/true"]}});
    let refused = client.send("PUT", "/webhooks/run", &program).await;
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (403, &json!("not_allowed"))
    );
    let hint = refused.json()["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("--unix-socket"), "{hint}");
    assert_eq!(client.get("/webhooks").await.json(), json!([]));

    let run = tempfile::tempdir().unwrap();
    let socket = run.path().join("s");
    let listener = listen::unix(&socket).unwrap();
    let router = countersign_server::router(std::sync::Arc::clone(&served.app));
    let local = tokio::spawn(listen::serve_on(
        vec![listener],
        router,
        std::future::pending(),
    ));
    let path = "/api/v1/webhooks/run";
    let (status, said) = over_socket(&socket, "PUT", path, &program).await;
    assert_eq!(status, 200, "{said}");
    local.abort();
    let all = client.get("/webhooks").await.json();
    assert_eq!(
        (&all[0]["kind"], &all[0]["place"]),
        (&json!("program"), &json!("/bin/true"))
    );
    let changed = client
        .send("PUT", "/webhooks/run", &json!({"on": ["failed"]}))
        .await;
    assert_eq!(
        changed.status,
        200,
        "what it is told about is no program: {}",
        changed.text()
    );
    let gone = client.send("DELETE", "/webhooks/run", &json!({})).await;
    assert_eq!(gone.status, 200, "{}", gone.text());
}
