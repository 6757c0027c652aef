//! Rules, the record of decisions, webhooks, settings, templates, drafts: written, read back, refused.

use countersign_api::Scope;
use countersign_host::control::Decide;
use serde_json::{Value, json};

use crate::common::Served;

/// One question in each turn.
const ASKS: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_is_made_changed_explained_and_taken_back() {
    let served = Served::new(ASKS).await;
    let client = served.client();
    let rule = json!({"effect": "deny", "rule": "Bash(make:*)", "scope": "always", "note": "slow"});
    let made = client.send("POST", "/rules", &rule).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["did"]["value"]["rule"].as_u64().unwrap();
    let cwd = served.stage.project();
    let ask = json!({"cwd": cwd, "tool": "Bash", "input": {"command": "make all"}});
    let said = client.send("POST", "/rules/explain", &ask).await.json();
    assert_eq!(
        (&said["effect"], &said["why"]),
        (&json!("deny"), &json!("rule"))
    );
    let changed = client
        .send(
            "PATCH",
            &format!("/rules/{id}"),
            &json!({"effect": "allow"}),
        )
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let said = client.send("POST", "/rules/explain", &ask).await.json();
    assert_eq!(said["effect"], "allow", "{said}");
    let all = client.get("/rules").await.json();
    assert_eq!(
        (&all[0]["by"], &all[0]["note"]),
        (&json!("tester"), &json!("slow"))
    );
    let gone = client
        .send("DELETE", &format!("/rules/{id}"), &json!({}))
        .await;
    assert_eq!(gone.status, 200, "{}", gone.text());
    let again = client
        .send("DELETE", &format!("/rules/{id}"), &json!({}))
        .await;
    assert_eq!(
        (again.status, &again.json()["code"]),
        (404, &json!("not_found"))
    );
    let misspelt = json!({"effect": "deny", "rule": "Bash", "scope": "always", "expire": 5});
    assert_eq!(client.send("POST", "/rules", &misspelt).await.status, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_look_or_answer_keeps_nothing() {
    let served = Served::new(ASKS).await;
    let rule = json!({"effect": "allow", "rule": "Bash", "scope": "always"});
    for scope in [Scope::Read, Scope::Answer] {
        let client = served.client_as(scope.name(), scope);
        for (method, path, body) in [
            ("POST", "/rules", &rule),
            ("PATCH", "/settings", &json!({"max_agents": 2})),
            ("PUT", "/webhooks/x", &json!({})),
            ("PUT", "/templates/x", &json!({})),
        ] {
            let answer = client.send(method, path, body).await;
            assert_eq!(answer.status, 403, "{scope} {method} {path}");
        }
        assert_eq!(client.get("/folders").await.status, 403);
        assert_eq!(client.get("/rules").await.json(), json!([]));
    }
    assert_eq!(served.stranger().get("/decisions").await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_are_listed_filtered_and_exported() {
    let served = Served::new(ASKS).await;
    let client = served.client();
    let id = served.stage.start("one").await;
    let open = served.stage.open_approvals(id, 1).await;
    served
        .stage
        .decide(&open[0], Decide::deny("=not \"today\""))
        .await;
    served.stage.until(id, "idle").await;
    let page = client.get("/decisions?effect=deny&tool=Bash").await.json();
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
    assert_eq!(page["items"][0]["input"]["command"], "echo one >> ran.log");
    let none = client.get("/decisions?effect=allow").await.json();
    assert_eq!(none["items"], json!([]));
    assert_eq!(client.get("/decisions?effect=maybe").await.status, 400);
    let file = client.get("/decisions/export").await;
    let line: Value = serde_json::from_str(file.text().trim()).unwrap();
    assert_eq!(line["id"], page["items"][0]["id"]);
    let table = client.get("/decisions/export?format=csv").await;
    assert!(
        table
            .header("content-type")
            .unwrap()
            .starts_with("text/csv")
    );
    let text = table.text();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().nth(1).unwrap().contains("\"deny\""), "{text}");
}

/// A plan in each turn, and a call that nobody is asked about.
const PLANS: &str = r##"
turn always
  tool Read {"file_path":"readme.md"}
  ask ExitPlanMode {"plan":"# A plan\n"} gives "ok"
  say "Yes?"
"##;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_decisions_tells_a_plan_sent_back_from_a_denial_and_the_mode_from_a_rule() {
    let served = Served::new(PLANS).await;
    let client = served.client();
    std::fs::write(served.stage.project().join("readme.md"), "hello").unwrap();
    let id = served.stage.start("one").await;
    let open = served.stage.open_approvals(id, 1).await;
    served
        .stage
        .decide(&open[0], Decide::deny("Shorter."))
        .await;
    served.stage.until(id, "idle").await;
    let denied = client.get("/decisions?effect=deny").await.json();
    assert_eq!(denied["items"], json!([]));
    let listed = client.get("/decisions?tool=ExitPlanMode").await.json();
    assert_eq!(listed["items"][0]["decided"]["way"], "keep-planning");

    let file = client.get("/decisions/export").await;
    let lines = file.text();
    let said: Vec<Value> = lines
        .lines()
        .map(|line| {
            let one: Value = serde_json::from_str(line).unwrap();
            json!([one["tool"], one["decided"]["effect"], one["decided"]["by"]])
        })
        .collect();
    let expected = [
        json!(["ExitPlanMode", "keep-planning", "the suite"]),
        json!(["Read", "allow", "mode"]),
    ];
    assert_eq!(said, expected, "newest first");
    let table = client.get("/decisions/export?format=csv").await.text();
    let row = |line: usize| table.lines().nth(line).unwrap().to_owned();
    let plan = r#""ExitPlanMode","keep-planning","the suite""#;
    assert!(row(1).contains(plan), "{table}");
    assert!(row(2).contains(r#""Read","allow","mode""#), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_hide_their_secrets_and_settings_are_in_force_when_answered() {
    let served = Served::new(ASKS).await;
    let client = served.client();
    let secret = "words that only this test knows";
    let to =
        json!({"kind": "webhook", "url": "http://127.0.0.1:9/a-secret-path", "secret": secret});
    let put = client
        .send("PUT", "/webhooks/hook", &json!({"to": to}))
        .await;
    assert_eq!(put.status, 200, "{}", put.text());
    let all = client.get("/webhooks").await;
    assert!(
        !all.text().contains("a-secret-path") && !all.text().contains(secret),
        "{}",
        all.text()
    );
    assert_eq!(all.json()[0]["is_signed"], true);
    let bad = json!({"to": {"kind": "webhook", "url": "ftp://x/a-secret-path", "secret": secret}});
    let bad = client.send("PUT", "/webhooks/other", &bad).await;
    assert_eq!(bad.status, 422);
    assert!(!bad.text().contains("a-secret-path"), "{}", bad.text());
    assert_eq!(
        client
            .send("POST", "/webhooks/none/test", &json!({}))
            .await
            .status,
        404
    );

    let changed = client
        .send(
            "PATCH",
            "/settings",
            &json!({"max_agents": 7, "expiry": null}),
        )
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let held = client.get("/settings").await.json();
    assert_eq!(
        (&held["max_agents"], &held["expiry"]),
        (&json!(7), &Value::Null)
    );
    assert_eq!(
        client
            .send("PATCH", "/settings", &json!({"max_agents": 0}))
            .await
            .status,
        422
    );
    assert_eq!(
        client
            .send("PATCH", "/settings", &json!({"other": 0}))
            .await
            .status,
        422
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_and_comments_are_kept_and_read_back() {
    let served = Served::new(ASKS).await;
    let client = served.client();
    let template = json!({"prompt": "tidy up", "mode": {"mode": "plan"}});
    let put = client.send("PUT", "/templates/tidy", &template).await;
    assert_eq!(put.status, 200, "{}", put.text());
    let one = client.get("/templates/tidy").await.json();
    assert_eq!(one["template"]["prompt"], "tidy up");
    assert_eq!(client.get("/templates/none").await.status, 404);
    let with_secret = json!({"env": {"KEY": "value"}});
    assert_eq!(
        client
            .send("PUT", "/templates/x", &with_secret)
            .await
            .status,
        422
    );

    let id = served.stage.start("one").await;
    let open = served.stage.open_approvals(id, 1).await;
    let path = format!("/plans/{}/comments", open[0].id);
    assert_eq!(client.get(&path).await.json()["comments"], json!([]));
    let comments = json!([{"line": 2, "text": "why?"}]);
    let put = client.send("PUT", &path, &comments).await;
    assert_eq!(put.status, 200, "{}", put.text());
    assert_eq!(client.get(&path).await.json()["comments"], comments);
}
