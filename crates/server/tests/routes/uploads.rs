//! Files for agents: handed over, listed, read by the agent without a question, put away; and names that lead elsewhere.

use countersign_api::control::SessionId;
use serde_json::{Value, json};

use crate::common::http::Answer;
use crate::common::{Client, Served};

/// Follows what it is told.
const FOLLOWS: &str = "turn always\n  follow\n";

const BYTES: &str = "application/octet-stream";

async fn upload(client: &Client, id: SessionId, name: &str, key: &str, bytes: &[u8]) -> Answer {
    let path = format!("/api/v1/sessions/{id}/uploads?name={name}");
    let headers = [("content-type", BYTES), ("idempotency-key", key)];
    client.ask("POST", &path, &headers, bytes).await
}

async fn listed(client: &Client, id: SessionId) -> Vec<String> {
    let all = client.get(&format!("/sessions/{id}/uploads")).await.json();
    let all = all.as_array().unwrap().iter();
    let mut names: Vec<_> = all
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_reads_what_it_was_handed_without_a_question_and_nothing_else_outside() {
    let served = Served::new(FOLLOWS).await;
    let client = served.client();
    let id = served.stage.start("say Hello.").await;
    served.stage.until(id, "idle").await;
    let handed = upload(&client, id, "notes.txt", "k1", b"a handed word").await;
    assert_eq!(handed.status, 201, "{}", handed.text());
    let did = handed.json()["did"].clone();
    assert_eq!(
        (&did["did"], &did["upload"]["bytes"]),
        (&json!("upload"), &json!(13))
    );
    let path = did["upload"]["path"].as_str().unwrap().to_owned();
    let message = json!({"text": format!("read {path}")});
    let sent = client
        .send("POST", &format!("/sessions/{id}/messages"), &message)
        .await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    served.stage.until_said(id, "a handed word").await;
    served.stage.until(id, "idle").await;
    assert_eq!(served.stage.view(id).await.open_approvals, 0);

    let fork = json!({"message": {"text": format!("read {path}")}});
    let forked = client
        .send("POST", &format!("/sessions/{id}/fork"), &fork)
        .await;
    assert_eq!(forked.status, 200, "{}", forked.text());
    let child = forked.json()["did"]["session"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    served.stage.until(child, "idle").await;
    served.stage.until_said(child, "a handed word").await;
    assert_eq!(
        served.stage.view(child).await.open_approvals,
        0,
        "what came from it may, too"
    );

    let other = served.stage.start("say Hello.").await;
    served.stage.until(other, "idle").await;
    let message = json!({"text": format!("read {path}")});
    let sent = client
        .send("POST", &format!("/sessions/{other}/messages"), &message)
        .await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    let asked = served.stage.open_approvals(other, 1).await;
    assert_eq!(
        asked[0].tool, "Read",
        "another session's file is asked about"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_listed_counted_kept_once_and_put_into_the_trash() {
    let served = Served::new(FOLLOWS).await;
    let client = served.client();
    let id = served.stage.start("say Hello.").await;
    served.stage.until(id, "idle").await;
    let first = upload(&client, id, "a.txt", "k1", b"one").await;
    let again = upload(&client, id, "a.txt", "k1", b"one").await;
    assert_eq!(
        first.json(),
        again.json(),
        "the same key gives the same receipt"
    );
    let reused = upload(&client, id, "a.txt", "k1", b"two").await;
    assert_eq!(
        (reused.status, &reused.json()["code"]),
        (409, &json!("key_reused"))
    );
    let second = upload(&client, id, "a.txt", "k2", b"two").await;
    assert_eq!(
        second.json()["did"]["upload"]["name"],
        "a-2.txt",
        "nothing is overwritten"
    );
    assert_eq!(listed(&client, id).await, ["a-2.txt", "a.txt"]);
    let disk = client.get("/disk").await.json();
    let own = disk["sessions"].as_array().unwrap().iter();
    let own = own.filter(|one| one["session"] == id.to_string());
    let uploads: u64 = own.map(|one| one["uploads"].as_u64().unwrap()).sum();
    assert!(uploads > 0, "{disk}");

    let gone = client
        .send(
            "DELETE",
            &format!("/sessions/{id}/uploads/a.txt"),
            &json!({}),
        )
        .await;
    assert_eq!(gone.status, 200, "{}", gone.text());
    assert_eq!(listed(&client, id).await, ["a-2.txt"]);
    let trash = client.get("/disk").await.json()["trash"].clone();
    let origin = trash[0]["origin"].as_str().unwrap();
    assert!(origin.ends_with("a.txt"), "{trash}");
    let again = client
        .send(
            "DELETE",
            &format!("/sessions/{id}/uploads/a.txt"),
            &json!({}),
        )
        .await;
    assert_eq!(again.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_name_of_an_upload_leads_out_of_its_folder() {
    let served = Served::new(FOLLOWS).await;
    let client = served.client();
    let id = served.stage.start("say Hello.").await;
    served.stage.until(id, "idle").await;
    let before = tree(&served);
    for (number, name) in [
        "..%2Fx",
        "%2Fetc%2Fx",
        "..",
        ".hidden",
        "a%2Fb",
        "a%5Cb",
        "a%00b",
        "-rf",
        "%20",
    ]
    .into_iter()
    .enumerate()
    {
        let refused = upload(&client, id, name, &format!("k{number}"), b"x").await;
        assert_eq!(refused.status, 422, "{name}: {}", refused.text());
    }
    for name in ["..%2F..%2Fproject", "..", "%2Fetc%2Fpasswd", ".part-1"] {
        let path = format!("/sessions/{id}/uploads/{name}");
        let refused = client.send("DELETE", &path, &json!({})).await;
        assert_eq!(refused.status, 404, "{name}: {}", refused.text());
    }
    assert_eq!(tree(&served), before, "nothing was made or moved");
}

/// What lies beside the data folder.
fn tree(served: &Served) -> Vec<String> {
    let entries = std::fs::read_dir(served.stage.root()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_bytes_of_a_bounded_length_for_a_session_that_is_there() {
    let served = Served::new(FOLLOWS).await;
    let client = served.client();
    let id = served.stage.start("say Hello.").await;
    served.stage.until(id, "idle").await;
    let path = format!("/api/v1/sessions/{id}/uploads?name=a");
    for kind in [
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/json",
    ] {
        let headers = [("content-type", kind)];
        let refused = client.ask("POST", &path, &headers, b"x").await;
        assert_eq!(refused.status, 415, "{kind}");
    }
    let large = vec![b'x'; (20 << 20) + 1];
    let mut stream = client.connect().await;
    let length = large.len().to_string();
    let headers = [("content-type", BYTES), ("content-length", length.as_str())];
    let request = client.request("POST", &path, &headers, b"");
    tokio::io::AsyncWriteExt::write_all(&mut stream, &request)
        .await
        .unwrap();
    let mut said = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut said)
        .await
        .unwrap();
    assert_eq!(&said, b"HTTP/1.1 413", "it is refused before it is read");
    let three = vec![b'x'; 3 << 20];
    let kept = upload(&client, id, "three", "k", &three).await;
    assert_eq!(
        kept.status,
        201,
        "larger than other bodies: {}",
        kept.text()
    );
    let nobody = upload(&client, SessionId::fresh(), "a", "n", b"x").await;
    assert_eq!(nobody.status, 404);
    let reader = served.client_as("reader", countersign_api::Scope::Read);
    assert_eq!(upload(&reader, id, "b", "r", b"x").await.status, 403);
    let trashed = client
        .send("DELETE", &format!("/sessions/{id}"), &json!({}))
        .await;
    assert_eq!(trashed.status, 200, "{}", trashed.text());
    let late = upload(&client, id, "late", "l", b"x").await;
    assert_eq!(
        (late.status, &late.json()["code"]),
        (409, &json!("not_now"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_rides_in_a_message_and_what_models_do_not_read_is_refused() {
    let script =
        "turn always when \"what is this\"\n  say \"A picture.\"\nturn always\n  say \"Yes?\"\n";
    let served = Served::new(script).await;
    let client = served.client();
    let id = served.stage.start("one").await;
    served.stage.until(id, "idle").await;
    let image = |kind: &str, bytes: usize| {
        let data = "iVBO".repeat(bytes / 3);
        json!({"text": "what is this?", "blocks": [{"type": "image",
            "source": {"type": "base64", "media_type": kind, "data": data}}]})
    };
    let path = format!("/sessions/{id}/messages");
    let sent = client
        .send("POST", &path, &image("image/png", 3 << 20))
        .await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    let svg = client
        .send("POST", &path, &image("image/svg+xml", 30))
        .await;
    assert_eq!(svg.status, 422, "{}", svg.text());
    let result = json!({"text": "x", "blocks": [{"type": "tool_result", "tool_use_id": "x", "content": "y"}]});
    assert_eq!(client.send("POST", &path, &result).await.status, 422);
    // Idle it is already, until the message has gone.
    served.stage.until_said(id, "A picture.").await;
    let page = client
        .get(&format!("/sessions/{id}/transcript"))
        .await
        .json();
    let has_image = |entry: &Value| entry["body"]["is"]["attachments"].as_u64() == Some(1);
    assert!(
        page["items"].as_array().unwrap().iter().any(has_image),
        "{page}"
    );
}
