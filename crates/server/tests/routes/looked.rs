//! What agents are asked, files and folders, the disk, a session as a file.

use countersign_host::control::SessionId;
use serde_json::{Value, json};

use crate::common::Served;

const TALKS: &str = "turn always\n  say \"Talked.\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_asked_while_it_is_there_and_what_is_known_is_known_after() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let id = served.stage.start("one").await;
    served.stage.until(id, "idle").await;
    let at = |what: &str| format!("/sessions/{id}/{what}");
    let commands = client.get(&at("commands")).await.json();
    assert!(
        !commands["items"].as_array().unwrap().is_empty(),
        "{commands}"
    );
    assert_eq!(client.get(&at("context")).await.json()["is_live"], true);
    assert_eq!(client.get(&at("mcp")).await.json(), json!([]));
    assert_eq!(client.get(&at("tasks")).await.json(), json!([]));
    assert!(client.get("/models").await.json()["at"].is_u64());
    let unknown = client
        .send("POST", &at("mcp/nobody/explode"), &json!({}))
        .await;
    assert_eq!(unknown.status, 404, "{}", unknown.text());
    let stopped = client.send("POST", &at("stop"), &json!({})).await;
    assert_eq!(stopped.status, 200, "{}", stopped.text());
    served.stage.until(id, "stopped").await;
    let gone = client.get(&at("mcp")).await;
    assert_eq!(
        (gone.status, &gone.json()["code"]),
        (409, &json!("not_now"))
    );
    assert_eq!(client.get(&at("context")).await.json()["is_live"], false);
    let nobody = format!("/sessions/{}/commands", SessionId::fresh());
    assert_eq!(client.get(&nobody).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_folders_disk_and_conversations_are_looked_at_within_bounds() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    std::fs::write(served.stage.project().join("notes.md"), "").unwrap();
    std::fs::create_dir(served.stage.project().join("inner")).unwrap();
    let id = served.stage.start("one").await;
    served.stage.until(id, "idle").await;
    let found = client
        .get(&format!("/sessions/{id}/files?q=note"))
        .await
        .json();
    assert_eq!(found["paths"], json!(["notes.md"]));
    let project = served.stage.project();
    let recent = client.get("/folders/recent").await.json();
    assert_eq!(recent[0]["path"], json!(project));
    let path = format!("/folders?path={}", project.display());
    let seen = client.get(&path).await.json();
    assert_eq!(seen["folders"][0]["name"], "inner", "{seen}");
    assert_eq!(client.get("/folders?path=/etc").await.status, 404);
    let disk = client.get("/disk").await.json();
    assert_eq!(disk["sessions"][0]["session"], json!(id));
    let offered = client.get("/import?programmatic=true").await;
    assert_eq!(offered.status, 200, "{}", offered.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_exported_whole_with_secrets_masked_unless_they_are_wanted() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let secret = "a-value-that-nobody-knows";
    served.app.redactor.learn([secret.to_owned()]);
    let id = served.stage.start(&format!("say {secret}")).await;
    served.stage.until(id, "idle").await;
    let masked = client.get(&format!("/sessions/{id}/export")).await;
    assert_eq!(masked.status, 200);
    assert!(!masked.text().contains(secret));
    let bare = client
        .get(&format!("/sessions/{id}/export?redact=false"))
        .await
        .text();
    assert!(bare.contains(secret));
    let lines: Vec<Value> = bare
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), masked.text().lines().count());
    assert!(
        lines
            .iter()
            .any(|line| line["line"]["type"] == "assistant" && line["from"] == "agent")
    );
    assert!(
        lines
            .windows(2)
            .all(|two| two[0]["cursor"] != two[1]["cursor"])
    );
}
