//! Secrets on their way out: one that an agent's tool prints, one that a session was given, one that a person's own pattern
//! knows. Each way out is a test of its own.
//!
//! Owns [`Told`]: a session whose agent has said all three. Invariant of all: none of them is in what leaves, and what
//! stands around them is.

use std::sync::Arc;

use countersign_api::Scope;
use countersign_host::control::{ApprovalView, Decide, SessionId};
use countersign_host::notify::Mask;
use countersign_server::Redactor;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::common::{Client, Served, Stage};
use super::paths::repository;

/// What the session was given under the name of a secret. Nothing gives it away by its looks.
const GIVEN: &str = "plain-looking-value-9";

/// What only the person's own pattern knows.
const CASE: &str = "CASE-4711";

/// The part of the key that must not be seen.
const PART: &str = "Abc123Def456Ghi789";

/// Looks like one. Put together here, so that no file looks as if it held a key.
fn key() -> String {
    ["sk", "-ant-", "api03-", PART].concat()
}

/// The agent prints what it has, asks to use it, is refused, and says all of it.
fn scenario() -> String {
    let key = key();
    format!(
        r#"
turn
  tool Bash {{"command":"cat words; printenv TEAM_PASSWORD","description":"Look"}}
  tool Bash {{"command":"use -u me:{GIVEN} -k {key} {CASE}","description":"Use {key}"}}
  stream "The cormorant has {key}, {GIVEN} and {CASE}."
turn always
  wait forever
"#
    )
}

struct Told {
    served: Served,
    client: Client,
    id: SessionId,
    refused: ApprovalView,
}

impl Told {
    async fn new() -> Self {
        Self::before(|_| async {}).await
    }

    /// `prepare` does something before the session begins.
    async fn before<F: Future<Output = ()>>(prepare: impl FnOnce(Client) -> F) -> Self {
        let redactor = Arc::new(Redactor::new(["CASE-[0-9]+"]).unwrap());
        let mask = Arc::clone(&redactor);
        let stage = Stage::with(&scenario(), move |settings| {
            settings.mask = Mask::new(move |text| mask.line(text).into_owned());
        })
        .await;
        repository(&stage);
        let served = Served::over(stage, |app| app.redactor = redactor).await;
        let client = served.client();
        prepare(client.clone()).await;
        let body = json!({
            "prompt": format!("Take {} and {CASE}.", key()),
            "name": format!("about {} and {GIVEN}", key()),
            "cwd": served.stage.project(),
            "env": {"TEAM_PASSWORD": GIVEN},
            "worktree": {"slug": "leaks"},
        });
        let made = client.send("POST", "/sessions", &body).await;
        assert_eq!(made.status, 201, "{}", made.text());
        let id: SessionId = serde_json::from_value(made.json()["did"]["session"].clone()).unwrap();
        let cwd = served.stage.view(id).await.cwd;
        std::fs::write(cwd.join("words"), format!("here: {} and {CASE}\n", key())).unwrap();
        std::fs::write(cwd.join("file"), format!("two {} {GIVEN}\n", key())).unwrap();
        let first = served.stage.open_approvals(id, 1).await.remove(0);
        served.stage.decide(&first, Decide::allow()).await;
        served.stage.until_life(&first, "settled").await;
        let refused = served.stage.open_approvals(id, 1).await.remove(0);
        let no = Decide::deny(format!("not {} nor {GIVEN}", key()));
        served.stage.decide(&refused, no).await;
        served.stage.until(id, "idle").await;
        let told = Self {
            served,
            client,
            id,
            refused,
        };
        told.is_in_the_journal();
        told
    }

    /// All of it was said: a mask has something to hide.
    fn is_in_the_journal(&self) {
        let story = self.served.stage.story(self.id);
        for secret in [PART, GIVEN, CASE] {
            assert!(story.contains(secret), "{story}");
        }
    }

    async fn text(&self, path: &str) -> String {
        let answer = self.client.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.text()
    }

    /// What is at this path tells of the session, and none of its secrets.
    async fn keeps(&self, path: &str) -> String {
        let text = self.text(path).await;
        hides(&text, path);
        assert!(text.contains("[masked]"), "{path}: {text}");
        text
    }
}

/// No secret is in this text.
#[track_caller]
fn hides(text: &str, what: &str) {
    for secret in [PART, GIVEN, CASE] {
        assert!(!text.contains(secret), "{what}: {secret} in {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_the_lists_and_views_of_the_api() {
    let told = Told::new().await;
    let id = told.id;
    for path in [
        "/sessions".to_owned(),
        format!("/sessions/{id}"),
        format!("/sessions/{id}/transcript"),
        "/approvals".to_owned(),
        format!("/approvals/{}", told.refused.id),
        "/decisions".to_owned(),
    ] {
        told.keeps(&path).await;
    }
    let (path, body) = (
        format!("/sessions/{id}"),
        json!({"name": format!("now {GIVEN}")}),
    );
    let receipt = told.client.send("PATCH", &path, &body).await;
    hides(&receipt.text(), "a receipt");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_the_export_of_a_session() {
    let told = Told::new().await;
    let text = told.keeps(&format!("/sessions/{}/export", told.id)).await;
    assert!(text.contains("cormorant"), "{text}");
    let line: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert!(line["line"].is_object(), "{line}");
    // The journal itself cannot be masked, so it does not leave by accident, nor to who may only read.
    let path = format!("/sessions/{}/export?format=journal", told.id);
    let refused = told.client.get(&path).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    hides(&refused.text(), &path);
    let reader = told.served.client_as("reader", Scope::Read);
    for form in ["format=journal", "redact=false"] {
        let path = format!("/sessions/{}/export?redact=false&{form}", told.id);
        assert_eq!(reader.get(&path).await.status, 403, "{form}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_the_export_of_decisions_in_any_form() {
    let told = Told::new().await;
    let lines = told.keeps("/decisions/export").await;
    for line in lines.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
    let table = told.keeps("/decisions/export?format=csv").await;
    assert!(table.contains("printenv"), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_a_search_nor_is_one_found_by_its_letters() {
    let told = Told::new().await;
    let until = std::time::Instant::now() + super::common::DEADLINE;
    // Words are indexed after the turn.
    let found = loop {
        let found = told.text("/search?q=cormorant").await;
        if found != "[]" {
            break found;
        }
        assert!(std::time::Instant::now() < until, "nothing is found");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    hides(&found, "a search");
    assert!(found.contains("cormorant"), "{found}");
    for letters in [
        "Abc",
        "Abc123",
        "Abc123Def456Ghi789",
        "api03",
        "plain-look",
        "4711",
        "CASE-4",
    ] {
        let found = told.text(&format!("/search?q={letters}")).await;
        hides(&found, letters);
        assert_eq!(found, "[]", "{letters}");
    }
    // Decisions are searched, too.
    let decided = told.text("/decisions?text=printenv").await;
    assert!(decided.contains("printenv"), "{decided}");
    hides(&decided, "decisions");
    for letters in ["Abc123", "plain-look", "CASE-47"] {
        let found = told.text(&format!("/decisions?text={letters}")).await;
        let found: Value = serde_json::from_str(&found).unwrap();
        assert_eq!(found["items"], json!([]), "{letters}");
        let path = format!("/decisions/export?text={letters}");
        assert_eq!(told.text(&path).await, "", "{letters}");
    }
    // Both a word and a part of a secret.
    assert_eq!(told.text("/search?q=cormorant%20Abc123").await, "[]");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_a_stream() {
    let told = Told::new().await;
    let id = told.id;
    for path in [
        format!("/sessions/{id}/events?follow=false"),
        format!("/sessions/{id}/transcript/stream?follow=false"),
        "/events?after=0&follow=false".to_owned(),
    ] {
        let text = told.text(&path).await;
        hides(&text, &path);
        assert!(text.contains("caught-up"), "{path}: {text}");
    }
    let text = told
        .text(&format!("/sessions/{id}/events?follow=false&max_inline=10"))
        .await;
    hides(&text, "stubs");
    // What was too long to come along is fetched by itself, and in parts.
    let cursors: Vec<&str> = text
        .lines()
        .filter_map(|line| {
            line.strip_prefix("id: ")
                .or_else(|| line.strip_prefix("id:"))
        })
        .collect();
    assert!(cursors.len() > 5, "{text}");
    for cursor in cursors {
        let path = format!("/sessions/{id}/records/{}", cursor.trim());
        let whole = told.client.get(&path).await;
        hides(&whole.text(), &path);
        let half = format!("bytes=0-{}", whole.body.len() / 2);
        let half = told.client.get_with(&path, &[("range", &half)]).await;
        hides(&half.text(), &path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_half_of_a_secret_leaves_where_a_long_text_is_cut() {
    let secret = "quokka-zebra-gnu-9";
    // As much as an entry shows of a text.
    let shown = 16 << 10;
    let says = [4, 11, 17].map(|seen| {
        let filling = "word ".repeat(shown);
        let filling = &filling[..shown - seen - 1];
        format!("  say \"{filling} {secret} and more\"\n")
    });
    let served = Served::new(&format!("turn\n{}", says.concat())).await;
    let client = served.client();
    let body = json!({"prompt": "go", "cwd": served.stage.project(), "env": {"API_TOKEN": secret}});
    let made = client.send("POST", "/sessions", &body).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["did"]["session"].as_str().unwrap().to_owned();
    served.stage.until(id.parse().unwrap(), "idle").await;
    for path in [
        format!("/api/v1/sessions/{id}/transcript"),
        format!("/plain/sessions/{id}"),
    ] {
        let text = client.ask("GET", &path, &[], b"").await.text();
        assert!(text.contains("word word"), "{path}: {text}");
        let half = text
            .find("quok")
            .map(|at| &text[at.saturating_sub(20)..at + 4]);
        assert_eq!(half, None, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_the_difference_of_a_worktree() {
    let told = Told::new().await;
    let text = told.keeps(&format!("/sessions/{}/diff", told.id)).await;
    assert!(text.contains("+two sk-ant-[masked] [masked]"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_the_plain_page() {
    let told = Told::new().await;
    let paths = ["/plain".to_owned(), format!("/plain/sessions/{}", told.id)];
    for path in paths {
        let page = told.client.ask("GET", &path, &[], b"").await;
        assert_eq!(page.status, 200, "{path}");
        hides(&page.text(), &path);
        assert!(page.text().contains("[masked]"), "{path}: {}", page.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_a_problem() {
    let told = Told::new().await;
    let id = told.id;
    // The second decision is told the first, which has a secret in its words; other problems quote what was sent.
    let decide = json!({"saw": told.refused.digest, "decision": "allow"});
    let key = key();
    let tries = [
        (
            "POST",
            format!("/approvals/{}/decision", told.refused.id),
            decide,
        ),
        (
            "POST",
            "/sessions".to_owned(),
            json!({"cwd": format!("/{GIVEN}/{key}")}),
        ),
        (
            "PUT",
            format!("/sessions/{id}/mode"),
            json!({"mode": GIVEN}),
        ),
        (
            "POST",
            "/rules".to_owned(),
            json!({"effect": "allow", "scope": "always", "rule": format!("Bash({GIVEN} {key}")}),
        ),
        ("GET", format!("/sessions/{id}/records/{GIVEN}"), json!({})),
        (
            "GET",
            format!("/sessions/{id}/transcript?before={GIVEN}"),
            json!({}),
        ),
        ("GET", format!("/templates/{GIVEN}"), json!({})),
        ("POST", format!("/webhooks/{CASE}/test"), json!({})),
    ];
    for (method, path, body) in tries {
        let answer = told.client.send(method, &path, &body).await;
        assert!(
            (400..500).contains(&answer.status),
            "{path}: {}",
            answer.text()
        );
        hides(&answer.text(), &path);
    }
    let page = format!("/plain/approvals/{}", told.refused.id);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = format!(
        "saw={}&key=k&decision={GIVEN}",
        told.refused.digest.as_str()
    );
    let page = told.client.ask("POST", &page, &form, body.as_bytes()).await;
    assert_eq!(page.status, 422, "{}", page.text());
    hides(&page.text(), "a problem as a page");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_the_figures() {
    let told = Told::new().await;
    let figures = told.client.ask("GET", "/metrics", &[], b"").await;
    assert_eq!(figures.status, 200);
    hides(&figures.text(), "figures");
    // Nor the name or the folder of a session: labels are ours.
    let folder = told.served.stage.project();
    assert!(!figures.text().contains(folder.to_str().unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_leaves_by_a_webhook() {
    let receiver = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", receiver.local_addr().unwrap());
    let heard = tokio::spawn(async move {
        let mut all = String::new();
        while !all.contains("finished") {
            let (mut stream, _) = receiver.accept().await.unwrap();
            let mut bytes = vec![0; 64 << 10];
            let mut length = 0;
            // A request is whole with its closing brace.
            while !bytes[..length].ends_with(b"}") {
                let read = stream.read(&mut bytes[length..]).await.unwrap();
                assert!(read > 0, "{}", String::from_utf8_lossy(&bytes[..length]));
                length += read;
            }
            all += &String::from_utf8_lossy(&bytes[..length]);
            let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
            stream.write_all(answer).await.unwrap();
        }
        all
    });
    let told = Told::before(|client| async move {
        let to = json!({"to": {"kind": "webhook", "url": url, "secret": "a secret of the hook"}});
        let put = client.send("PUT", "/webhooks/hook", &to).await;
        assert_eq!(put.status, 200, "{}", put.text());
    });
    told.await;
    let heard = tokio::time::timeout(super::common::DEADLINE, heard);
    let all = heard.await.expect("the hook hears it").unwrap();
    assert!(
        all.contains("needs_you") && all.contains("[masked]"),
        "{all}"
    );
    hides(&all, "a webhook");
}
