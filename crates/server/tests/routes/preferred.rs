//! Settings that change what the server shows, templates that sessions begin with, the journal as files.

use std::process::Command;

use countersign_api::Scope;
use countersign_api::control::{SessionId, Shelf as _};
use serde_json::{Value, json};

use crate::common::{Served, Stage};

const TALKS: &str = "turn always\n  say \"The word is ${prompt}.\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_of_a_person_masks_what_leaves_at_once_and_no_longer_when_it_is_taken_back() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let id = served.stage.start("kiwi-4711").await;
    served.stage.until(id, "idle").await;
    let path = format!("/sessions/{id}/transcript");
    assert!(client.get(&path).await.text().contains("kiwi-4711"));
    let prefer = |patterns: Value| json!({ "redact": patterns });
    let set = client
        .send("PATCH", "/settings", &prefer(json!(["kiwi-[0-9]+"])))
        .await;
    assert_eq!(set.status, 200, "{}", set.text());
    let masked = client.get(&path).await.text();
    assert!(
        !masked.contains("kiwi-4711") && masked.contains("[masked]"),
        "{masked}"
    );
    let held = client.get("/settings").await.json();
    assert_eq!(held["redact"], json!(["kiwi-[0-9]+"]));
    for bad in [
        "(",
        "",
        "x*",
        "[masked]",
        "(a{1000}){1000}",
        &"x".repeat(513),
    ] {
        let refused = client
            .send("PATCH", "/settings", &prefer(json!([bad])))
            .await;
        assert_eq!(refused.status, 422, "{bad:.20}: {}", refused.text());
    }
    let many = vec!["abcdefgh"; 65];
    assert_eq!(
        client
            .send("PATCH", "/settings", &prefer(json!(many)))
            .await
            .status,
        422
    );
    assert_eq!(
        client.get("/settings").await.json()["redact"],
        json!(["kiwi-[0-9]+"])
    );
    client.send("PATCH", "/settings", &prefer(json!([]))).await;
    assert!(client.get(&path).await.text().contains("kiwi-4711"));
}

const ASKS: &str = "turn\n  tool Bash {\"command\":\"touch needs_you\",\"description\":\"needs_you\"}\n  say \"done\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn no_pattern_and_no_secret_hides_what_a_question_is_answered_by() {
    let served = Served::new(ASKS).await;
    let client = served.client();
    let patterns = json!([
        "[0-9a-f]{32}",
        "[A-Z0-9]{20}",
        "[0-9]{2,}",
        "[a-z_]{4,}",
        "[0-9]+-[0-9]+"
    ]);
    let patterns = json!({ "redact": patterns });
    let set = client.send("PATCH", "/settings", &patterns).await;
    assert_eq!(set.status, 200, "{}", set.text());
    let body = json!({"prompt": "go", "cwd": served.stage.project(), "name": "needs_you",
        "env": {"DB_PASSWORD": "needs_you"}});
    let begun = client.send("POST", "/sessions", &body).await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    let id: SessionId = serde_json::from_value(begun.json()["did"]["session"].clone()).unwrap();
    let open = served.stage.open_approvals(id, 1).await.remove(0);
    let view = client.get(&format!("/sessions/{id}")).await.json();
    assert_eq!(
        (&view["id"], &view["state"], &view["name"]),
        (&json!(id), &json!("needs_you"), &json!("[masked]"))
    );
    let listed = client.get("/approvals").await;
    let asked = listed.json()["items"][0].clone();
    assert_eq!(asked["asked"], open.asked, "{asked}");
    assert_eq!(asked["digest"], open.digest.as_str());
    assert!(!asked["input"].to_string().contains("needs_you"), "{asked}");
    let path = format!("/approvals/{}/decision", asked["id"].as_str().unwrap());
    let body = json!({"decision": "allow", "saw": asked["digest"]});
    let decided = client.send("POST", &path, &body).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    assert_eq!(decided.json()["did"]["approvals"], json!([open.id]));
    served.stage.until(id, "idle").await;
    let told = client.get(&format!("/sessions/{id}/transcript")).await;
    let told: countersign_api::control::Above<Value> = serde_json::from_slice(&told.body).unwrap();
    let is_entry = |entry: &Value| entry["id"] != "[masked]" && entry["at"].is_u64();
    assert!(told.items.iter().all(is_entry), "{:?}", told.items);
    let all = json!(told.items).to_string();
    assert!(
        !all.contains("touch") && !all.contains("needs_you"),
        "{all}"
    );
    let table = client.get("/decisions/export?format=csv").await.text();
    assert!(table.contains(&open.id.to_string()), "{table}");
    assert!(!table.contains("touch"), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_are_shown_below_the_roots_that_a_person_names() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let root = served.stage.root().join("roots");
    std::fs::create_dir_all(root.join("inner")).unwrap();
    let ask = format!("/folders?path={}", root.display());
    assert_eq!(client.get(&ask).await.status, 404, "outside of the home");
    let roots = json!({ "browse_roots": [root] });
    let set = client.send("PATCH", "/settings", &roots).await;
    assert_eq!(set.status, 200, "{}", set.text());
    let seen = client.get(&ask).await.json();
    assert_eq!(seen["folders"][0]["name"], "inner", "{seen}");
    let home = served.stage.root().join("home");
    let closed = client
        .get(&format!("/folders?path={}", home.display()))
        .await;
    assert_eq!(closed.status, 404, "the home is no root any more");
    for bad in ["relative", "/no/such/folder"] {
        let refused = json!({ "browse_roots": [bad] });
        let refused = client.send("PATCH", "/settings", &refused).await;
        assert_eq!(refused.status, 422, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ended_long_ago_is_proposed_and_stays_where_it_is() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let id = served.stage.start("one").await;
    served.stage.until(id, "idle").await;
    let disk = client.get("/disk").await.json();
    assert_eq!(disk["proposed"], json!([]), "nothing without a preference");
    for bad in [json!(0), json!(4_000)] {
        let refused = client
            .send("PATCH", "/settings", &json!({"retention_days": bad}))
            .await;
        assert_eq!(refused.status, 422, "{}", refused.text());
    }
    let set = client
        .send("PATCH", "/settings", &json!({"retention_days": 30}))
        .await;
    assert_eq!(set.status, 200, "{}", set.text());
    let disk = client.get("/disk").await.json();
    assert_eq!(disk["proposed"], json!([]), "it is new");
    let listed = client.get("/sessions").await.json();
    assert_eq!(listed["items"][0]["id"], id.to_string(), "and there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_of_agents_on_the_command_line_holds_and_is_said() {
    let stage = Stage::with(TALKS, |settings| {
        settings.most_agents = 3;
        settings.most_agents_given = true;
    });
    let mut served = Served::over(stage.await, |_| {}).await;
    let client = served.client();
    let held = client.get("/settings").await.json();
    assert_eq!(
        (&held["max_agents"], &held["given"]),
        (&json!(3), &json!(["max_agents"]))
    );
    let set = client
        .send("PATCH", "/settings", &json!({"max_agents": 9}))
        .await;
    assert_eq!(set.status, 200, "{}", set.text());
    assert_eq!(client.get("/settings").await.json()["max_agents"], 3);
    served.stop().await;
    served.stage.settings.most_agents_given = false;
    served.stage.restart().await;
    let held = served.stage.host().preferences().await.unwrap();
    assert_eq!((held.max_agents, held.given.len()), (9, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_as_a_template_says_and_the_body_counts() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let project = served.stage.project();
    let template = json!({"cwd": project, "prompt": "tidy up", "name": "Tidy", "mode": {"mode": "plan"},
        "budget_usd": 2.5});
    let put = client.send("PUT", "/templates/tidy", &template).await;
    assert_eq!(put.status, 200, "{}", put.text());
    let begun = client
        .send("POST", "/sessions", &json!({"template": "tidy"}))
        .await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    let id = begun.json()["did"]["session"].as_str().unwrap().to_owned();
    let view = client.get(&format!("/sessions/{id}")).await.json();
    assert_eq!(
        (&view["name"], &view["mode"]["mode"]),
        (&json!("Tidy"), &json!("plan"))
    );
    served
        .stage
        .until_said(id.parse().unwrap(), "The word is tidy up.")
        .await;
    let own = json!({"template": "tidy", "prompt": "sweep", "name": "Mine", "mode": "ask"});
    let begun = client.send("POST", "/sessions", &own).await;
    let id = begun.json()["did"]["session"].as_str().unwrap().to_owned();
    let view = client.get(&format!("/sessions/{id}")).await.json();
    assert_eq!(
        (&view["name"], &view["mode"]["mode"]),
        (&json!("Mine"), &json!("ask"))
    );
    served
        .stage
        .until_said(id.parse().unwrap(), "The word is sweep.")
        .await;
    let none = client
        .send("POST", "/sessions", &json!({"template": "none"}))
        .await;
    assert_eq!(
        (none.status, &none.json()["code"]),
        (404, &json!("not_found"))
    );
    let nowhere = client
        .send("POST", "/sessions", &json!({"prompt": "x"}))
        .await;
    assert_eq!(nowhere.status, 422, "{}", nowhere.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_leaves_as_its_files_and_only_where_that_is_meant() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let id = served.stage.start("one").await;
    served.stage.until(id, "idle").await;
    let path = format!("/sessions/{id}/export?format=journal");
    let masked = client.get(&path).await;
    assert_eq!(
        masked.status,
        422,
        "it says that nothing is masked: {}",
        masked.text()
    );
    let reader = served.client_as("reader", Scope::Read);
    assert_eq!(
        reader.get(&format!("{path}&redact=false")).await.status,
        403
    );
    let taken = client.get(&format!("{path}&redact=false")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    assert_eq!(taken.header("content-type"), Some("application/x-tar"));
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("it.tar"), &taken.body).unwrap();
    let unpacked = Command::new("tar")
        .args(["-xf", "it.tar"])
        .current_dir(place.path())
        .output()
        .unwrap();
    assert!(unpacked.status.success(), "{unpacked:?}");
    let segment = format!("sessions/{id}/journal/000001.j");
    let here = std::fs::read(served.stage.settings.agents.data.join(segment)).unwrap();
    let there = std::fs::read(place.path().join(format!("{id}/journal/000001.j"))).unwrap();
    assert!(
        !there.is_empty() && here.starts_with(&there),
        "byte for byte"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_of_a_template_run_and_every_call_is_still_asked() {
    let served = Served::new(ASKS).await;
    let client = served.client();
    let allows = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let group = |command: String| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let template = json!({
        "cwd": served.stage.project(), "prompt": "go", "effort": "high", "max_turns": 9, "max_thinking_tokens": 2048,
        "hooks": {"PreToolUse": group(format!("echo '{allows}'")), "PostToolUse": group("touch hooked".to_owned())},
        "agents": {"reviewer": {"description": "Reviews", "prompt": "Review.", "tools": ["Read"]}},
    });
    let put = client.send("PUT", "/templates/hooked", &template).await;
    assert_eq!(put.status, 200, "{}", put.text());
    let begin = json!({"template": "hooked"});
    for scope in [Scope::Read, Scope::Answer] {
        let narrow = served.client_as(&format!("{scope:?}"), scope);
        let refused = narrow.send("POST", "/sessions", &begin).await;
        assert_eq!(refused.status, 403, "{}", refused.text());
    }
    let begun = client.send("POST", "/sessions", &begin).await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    let id: SessionId = begun.json()["did"]["session"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let asked = served.stage.open_approvals(id, 1).await;
    assert!(!served.stage.project().join("needs_you").exists());
    let path = format!("/approvals/{}/decision", asked[0].id);
    let body = json!({"decision": "allow", "saw": asked[0].digest});
    let answer = client.send("POST", &path, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    served.stage.until(id, "idle").await;
    assert!(served.stage.project().join("needs_you").exists());
    assert!(
        served.stage.project().join("hooked").exists(),
        "the hook did not run"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_session_may_bring_is_refused_where_it_is_named() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let command = json!([{"hooks": [{"type": "command", "command": "true"}]}]);
    for (body, says) in [
        (
            json!({"hooks": {"PermissionRequest": command}}),
            "a person's",
        ),
        (json!({"hooks": {"Stop": "x"}}), "settings.json"),
        (
            json!({"agents": {"x": {"description": "d", "prompt": "p", "permissionMode": "bypassPermissions"}}}),
            "permissionMode",
        ),
        (json!({"effort": "huge"}), "xhigh"),
        (json!({"max_turns": 0}), "at least 1"),
        (json!({"model": "opsu"}), "Known: "),
    ] {
        let mut body = body;
        body["cwd"] = json!(served.stage.project());
        let refused = client.send("POST", "/sessions", &body).await;
        assert_eq!(refused.status, 422, "{body}: {}", refused.text());
        assert!(refused.text().contains(says), "{body}: {}", refused.text());
        if body.get("model").is_none() {
            let kept = client.send("PUT", "/templates/x", &body).await;
            assert_eq!(kept.status, 422, "{body}: {}", kept.text());
        }
    }
    assert_eq!(client.get("/sessions").await.json()["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_template_says_of_the_agent_reaches_it_unless_the_body_says_else() {
    let served = Served::new(TALKS).await;
    let client = served.client();
    let template = json!({
        "cwd": served.stage.project(), "prompt": "go", "effort": "high", "max_turns": 9, "max_thinking_tokens": 2048,
        "agents": {"looker": {"description": "Looks", "prompt": "Look around."}},
    });
    let put = client.send("PUT", "/templates/daily", &template).await;
    assert_eq!(put.status, 200, "{}", put.text());
    for (body, turns) in [
        (json!({"template": "daily"}), "9"),
        (json!({"template": "daily", "max_turns": 4}), "4"),
    ] {
        let begun = client.send("POST", "/sessions", &body).await;
        assert_eq!(begun.status, 201, "{}", begun.text());
        let id: SessionId = begun.json()["did"]["session"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        served.stage.until(id, "idle").await;
        let told = client.get(&format!("/sessions/{id}/transcript")).await;
        let told = told.json();
        let entries = told["items"].as_array().unwrap();
        let started = entries.iter().find(|one| one["body"]["kind"] == "started");
        let argv = started.unwrap()["body"]["is"]["argv"].as_array().unwrap();
        let value = |flag: &str| {
            let at = argv.iter().position(|word| word == flag)?;
            argv.get(at + 1)?.as_str()
        };
        assert_eq!(
            ["--effort", "--max-turns", "--max-thinking-tokens"].map(value),
            [Some("high"), Some(turns), Some("2048")],
            "{argv:?}"
        );
        // Whichever way a version takes its sub-agents.
        let journal = client.get(&format!("/sessions/{id}/export")).await.text();
        assert!(journal.contains("Look around."), "{journal}");
    }
}
