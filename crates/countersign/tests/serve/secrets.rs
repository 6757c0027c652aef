//! Secrets stay in: what a session was given, what looks like one, the token in a log.

use super::api;
use super::crash::begin;
use super::stage::{Stage, until_shown};

#[test]
fn what_leaves_is_masked_and_the_journal_is_as_it_was() {
    let stage = Stage::new();
    let key = ["sk", "-ant-", "api03-Abc123Def456Ghi789"].concat();
    let scenario = format!(
        "turn\n  say \"the key is {key} and the case is CASE-4711, the other one is plain-looking-value-9\"\n"
    );
    let claude = stage.playing(&scenario);
    std::fs::create_dir_all(stage.data()).unwrap();
    std::fs::write(stage.data().join("redact.txt"), "# cases\nCASE-[0-9]+\n").unwrap();
    let daemon = stage.serve_with(&["--claude", &claude], |command| {
        command.env("TEAM_SECRET", "plain-looking-value-9");
    });
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    let page = until_shown(&browser, &session, "the key is");
    let id = session.rsplit('/').next().unwrap();
    let transcript = browser.get(&format!("/api/v1/sessions/{id}/transcript"));
    for (what, text) in [("page", &page.body), ("transcript", &transcript.body)] {
        assert!(text.contains("[masked]"), "{what}: {text}");
        for secret in ["Abc123Def456", "CASE-4711", "plain-looking-value"] {
            assert!(!text.contains(secret), "{what}: {text}");
        }
    }
    let journal = stage.data().join("sessions").join(id).join("journal");
    let mut whole = String::new();
    for entry in std::fs::read_dir(journal).unwrap().flatten() {
        whole.push_str(&String::from_utf8_lossy(
            &std::fs::read(entry.path()).unwrap(),
        ));
    }
    assert!(whole.contains(&key), "the journal is the truth");
}

#[test]
fn a_question_is_masked_in_the_api_and_a_new_token_is_not() {
    let stage = Stage::new();
    let key = ["sk", "-ant-", "api03-Abc123Def456Ghi789"].concat();
    let scenario =
        format!("turn\n  tool Bash {{\"command\":\"curl -H 'x: {key}' example.org\"}}\n");
    let claude = stage.playing(&scenario);
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    begin(&browser, &format!("use {key}"), &folder);
    until_shown(&browser, "/plain", "class=\"asks\"");
    for path in ["/api/v1/approvals", "/api/v1/sessions"] {
        let answer = browser.get(path);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(
            answer.body.contains("[masked]") && !answer.body.contains("Abc123"),
            "{answer:?}"
        );
        assert!(
            serde_json::from_str::<serde_json::Value>(&answer.body).is_ok(),
            "{answer:?}"
        );
    }
    let origin = format!("http://{}", daemon.address());
    let headers = [
        ("origin", origin.as_str()),
        ("content-type", "application/json"),
    ];
    let made = browser.send(
        "POST",
        "/api/v1/tokens",
        &headers,
        "{\"name\":\"scraper\",\"scope\":\"read\"}",
    );
    assert_eq!(made.status, 201, "{made:?}");
    assert!(!made.body.contains("[masked]"), "{made:?}");
    let made: serde_json::Value = serde_json::from_str(&made.body).unwrap();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let stranger = daemon.stranger();
    let scraped = stranger.send("GET", "/metrics", &[("authorization", &bearer)], "");
    assert_eq!(
        scraped.status, 200,
        "a token for reading is enough for figures"
    );
    let refused = stranger.send(
        "POST",
        "/api/v1/sessions",
        &[
            ("authorization", &bearer),
            ("content-type", "application/json"),
        ],
        "{}",
    );
    assert_eq!(refused.status, 403, "{refused:?}");
}

#[test]
fn no_token_and_no_code_is_in_the_log() {
    let stage = Stage::new();
    let daemon = stage.serve_with(&["--rehearsal", "--log", "json"], |command| {
        command.env("COUNTERSIGN_LOG", "trace");
    });
    let code = daemon.link().split_once("code=").unwrap().1.to_owned();
    let browser = daemon.signed_in();
    browser.get("/plain");
    let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    browser.send("GET", "/api/v1/me", &[("authorization", &bearer)], "");
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ended();
    let log = stage.logged();
    assert!(log.lines().any(|line| line.contains("/plain")), "{log}");
    for line in log.lines() {
        assert!(
            serde_json::from_str::<serde_json::Value>(line).is_ok(),
            "{line}"
        );
    }
    assert!(!log.contains(&code) && !log.contains(token.trim()));
    let cookie = browser.cookie.unwrap();
    assert!(!log.contains(cookie.split_once('=').unwrap().1));
}

#[test]
fn no_secret_of_a_session_is_in_the_log_however_much_is_logged() {
    let stage = Stage::new();
    let key = ["sk", "-ant-", "api03-Abc123Def456Ghi789"].concat();
    let scenario = format!(
        "turn\n  stderr \"on stderr {key}\"\n  tool Bash {{\"command\":\"printenv TEAM_PASSWORD; echo {key}\"}}\n  say \"it is ${{result}}\"\n"
    );
    let claude = stage.playing(&scenario);
    let arguments = ["--claude", &claude, "--log", "json"];
    let daemon = stage.serve_with(&arguments, |command| {
        command.env("COUNTERSIGN_LOG", "trace");
    });
    let browser = daemon.signed_in();
    let given = "plain-looking-value-9";
    // Nobody listens there: what cannot be told is logged, too.
    let to = serde_json::json!({"to": {"kind": "webhook", "url": "http://127.0.0.1:9/a-secret-path", "secret": "words of this test"}});
    assert_eq!(
        api::send(&browser, "PUT", "/webhooks/hook", &to).status,
        200
    );
    let body = serde_json::json!({"prompt": format!("use {key}"), "cwd": stage.project(), "env": {"TEAM_PASSWORD": given}});
    let made = api::send(&browser, "POST", "/sessions", &body);
    assert_eq!(made.status, 201, "{made:?}");
    let made: serde_json::Value = serde_json::from_str(&made.body).unwrap();
    let asked = api::question(&browser, "printenv");
    let wrong = api::decide(&browser, &asked, serde_json::json!({"decision": given}));
    assert_eq!(wrong.status, 422, "{wrong:?}");
    api::allow(&browser, &asked);
    let session = made["did"]["session"].as_str().unwrap();
    let page = until_shown(&browser, &format!("/plain/sessions/{session}"), "it is ");
    assert!(!page.body.contains(given) && !page.body.contains("Abc123"));
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ended();
    let log = stage.logged();
    assert!(
        log.lines().count() > 20,
        "there is something to look at: {log}"
    );
    for secret in [given, "Abc123", "a-secret-path", "words of this test"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
