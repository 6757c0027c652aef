//! What is masked on the way out and comes back: a secret is not overwritten by its mask, nor told by a tag.

use countersign_api::Scope;
use serde_json::{Value, json};

use super::common::{Client, Served};
use super::server::Server;
use super::talk::Request;

/// Nothing of it stands in a file as it is.
const SECRET: &str = "Zk81-Qw72-Pp03";

fn scenario() -> String {
    let input =
        json!({"file_path": "${cwd}/.env.local", "content": format!("NAME=x\nAPI_KEY={SECRET}\n")});
    let ask = json!({"questions": [{"question": format!("Use token={SECRET} for this?"), "header": "Token",
        "multiSelect": false, "options": [{"label": "Yes", "description": "-"}, {"label": "No", "description": "-"}]}]});
    format!("turn\n  tool Write {input}\n  tool AskUserQuestion {ask}\n  say \"Done.\"\n")
}

/// The only open question, as a client sees it.
async fn asked(served: &Served, client: &Client) -> Value {
    let sessions = client.get("/sessions").await.json();
    let id = serde_json::from_value(sessions["items"][0]["id"].clone()).unwrap();
    let open = served.stage.open_approvals(id, 1).await.remove(0);
    let seen = client.get(&format!("/approvals/{}", open.id)).await;
    assert!(!seen.text().contains(SECRET), "{}", seen.text());
    seen.json()
}

#[tokio::test]
async fn a_changed_input_and_an_answer_keep_what_was_masked_in_them() {
    let served = Served::new(&scenario()).await;
    let client = served.client();
    let id = served.stage.start("Go").await;
    let seen = asked(&served, &client).await;
    let path = format!("/approvals/{}/decision", seen["id"].as_str().unwrap());
    let shown = seen["input"]["content"].as_str().unwrap();
    assert!(shown.contains("API_KEY=[masked]"), "{shown}");
    let with = |content: String| {
        let mut input = seen["input"].clone();
        input["content"] = content.into();
        json!({"decision": "allow", "saw": seen["digest"], "updated_input": input})
    };
    let unclear = with(shown.replace("API_KEY", "OTHER"));
    let refused = client.send("POST", &path, &unclear).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(
        refused.text().contains("nothing was sent"),
        "{}",
        refused.text()
    );
    let changed = with(shown.replace("NAME=x", "NAME=y"));
    let done = client.send("POST", &path, &changed).await;
    assert_eq!(done.status, 200, "{}", done.text());

    let question = asked(&served, &client).await;
    let written = std::fs::read_to_string(served.stage.project().join(".env.local")).unwrap();
    assert_eq!(written, format!("NAME=y\nAPI_KEY={SECRET}\n"));
    let text = question["input"]["questions"][0]["question"]
        .as_str()
        .unwrap();
    assert!(text.contains("[masked]"), "{text}");
    let path = format!("/approvals/{}/decision", question["id"].as_str().unwrap());
    let yes = json!({"decision": "answer", "saw": question["digest"], "answers": {text: "Yes"}});
    let done = client.send("POST", &path, &yes).await;
    assert_eq!(done.status, 200, "{}", done.text());
    served.stage.until_said(id, "Done.").await;
    an_edit_is_shown_as_it_was_sent(&client, &seen).await;
}

/// Wherever the decision on this question appears, it shows the input that ran, and no secret of it.
async fn an_edit_is_shown_as_it_was_sent(client: &Client, seen: &Value) {
    let id = seen["id"].as_str().unwrap();
    let session = seen["session"].as_str().unwrap();
    let sent = "NAME=y\nAPI_KEY=[masked]\n";
    let one = client.get(&format!("/approvals/{id}")).await.json();
    assert_eq!(one["edited_input"]["content"], sent);
    let found = client.get("/decisions?text=NAME%3Dy").await.json();
    let found = found["items"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["edited_input"]["content"], sent);
    assert_eq!(found[0]["input"], seen["input"]);
    let edits = found.iter().filter(|one| one.get("edited_input").is_some());
    assert_eq!(edits.count(), 1, "an answer is no edit");
    for path in [
        "/decisions".to_owned(),
        "/decisions/export?format=csv".to_owned(),
        "/decisions/export?format=ndjson".to_owned(),
        format!("/sessions/{session}/transcript"),
    ] {
        let told = client.get(&path).await;
        let text = told.text();
        assert!(text.contains("NAME=y"), "{path}: {text}");
        assert!(!text.contains(SECRET), "{path}: {text}");
    }
    // The page without scripts shows what ran, and what was asked for one click away.
    let path = format!("/plain/sessions/{session}");
    let page = client.ask("GET", &path, &[], b"").await.text();
    let (shown, asked) = page.split_once("What the agent asked for").unwrap();
    assert!(
        shown.contains("NAME=y") && shown.contains("edited"),
        "{page}"
    );
    assert!(
        !shown.contains("NAME=x") && asked.contains("NAME=x"),
        "{page}"
    );
    assert!(!page.contains(SECRET), "{page}");
}

#[tokio::test]
async fn a_tag_is_that_of_what_leaves_and_tells_nothing_of_what_is_masked() {
    let served = Served::new(&scenario()).await;
    let client = served.client_as("looks", Scope::Read);
    served.stage.start("Go").await;
    let seen = asked(&served, &client).await;
    let path = format!("/approvals/{}", seen["id"].as_str().unwrap());
    let whole = client.get(&path).await;
    let tag = whole.header("etag").unwrap().to_owned();
    let of_body = format!("\"{}\"", &blake3::hash(&whole.body).to_hex()[..32]);
    assert_eq!(tag, of_body);
    let again = client.get_with(&path, &[("If-None-Match", &tag)]).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let other = client.get_with(&path, &[("If-None-Match", "\"0\"")]).await;
    assert_eq!(other.body, whole.body);
}

#[tokio::test]
async fn pictures_of_another_page_are_no_wrong_tries() {
    let server = Server::start().await;
    for place in 0..40 {
        let wrong = Request::get(&format!("/login?code=wrong{place}"))
            .header("Sec-Fetch-Site", "cross-site")
            .header("Sec-Fetch-Mode", "no-cors")
            .header("Sec-Fetch-Dest", "image");
        assert_eq!(server.ask(wrong).await.status, 403);
    }
    let own = Request::get("/login?code=wrong")
        .header("Sec-Fetch-Site", "none")
        .header("Sec-Fetch-Mode", "navigate")
        .header("Sec-Fetch-Dest", "document");
    assert_eq!(server.ask(own).await.status, 401);
}

#[tokio::test]
async fn who_may_only_look_sees_no_folder_and_no_conversation_that_is_none_of_ours() {
    let served = Served::new("turn always\n  say \"Done.\"\n").await;
    let (narrow, owner) = (served.client_as("looks", Scope::Read), served.client());
    let explain =
        json!({"cwd": served.stage.project(), "tool": "Bash", "input": {"command": "ls"}});
    for (client, status) in [(&narrow, 403), (&owner, 200)] {
        assert_eq!(client.get("/import").await.status, status);
        let told = client.send("POST", "/rules/explain", &explain).await;
        assert_eq!(told.status, status, "{}", told.text());
    }
}
