//! The plain page: what it shows, what it takes, what it refuses.

use super::crash::{begin, card};
use super::stage::{Stage, until_shown};

#[test]
fn what_an_agent_writes_opens_no_tag_and_loads_no_script() {
    let stage = Stage::new();
    let scenario = "turn\n  tool Bash {\"command\":\"echo '<script>alert(1)</script>\\u202e'\"}\n  say \"<img src=x onerror=alert(1)>\"\n";
    let claude = stage.playing(scenario);
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "\"><script>alert(2)</script>", &folder);
    let page = until_shown(&browser, &session, "class=\"asks\"");
    for page in [page, browser.get("/plain")] {
        assert!(!page.body.contains("<script"), "{}", page.body);
        assert!(page.body.contains("&lt;script&gt;"), "{}", page.body);
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert_eq!(page.header("cache-control"), Some("no-store"));
    }
    let page = browser.get("/plain");
    assert!(page.body.contains("[U+202E]"), "{}", page.body);
    let (saw, key) = (page.field("saw"), page.field("key"));
    let fields = [
        ("saw", saw.as_str()),
        ("key", key.as_str()),
        ("decision", "deny"),
        ("message", "Not this."),
    ];
    assert_eq!(browser.post_form(&card(&page.body), &fields).status, 303);
    let page = until_shown(&browser, &session, "&lt;img src=x");
    assert!(!page.body.contains("<img"), "{}", page.body);
    assert!(page.body.contains("Not this."), "{}", page.body);
}

#[test]
fn a_form_of_another_site_is_refused() {
    let stage = Stage::new();
    let claude = stage.playing("turn\n  tool Bash {\"command\":\"echo ran >> ran.log\"}\n");
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    begin(&browser, "go", &folder);
    let page = until_shown(&browser, "/plain", "class=\"asks\"");
    let (saw, key) = (page.field("saw"), page.field("key"));
    let fields = [
        ("saw", saw.as_str()),
        ("key", key.as_str()),
        ("decision", "allow"),
    ];
    let path = card(&page.body);
    for origin in ["https://evil.example", "null"] {
        let answer = browser.post_form_from(origin, &path, &fields);
        assert_eq!(answer.status, 403, "{answer:?}");
    }
    let mut stranger = daemon.stranger();
    assert_eq!(stranger.post_form(&path, &fields).status, 401);
    stranger.cookie = browser.cookie.clone();
    // What was not seen is not decided.
    let other = [
        ("saw", "0123456789abcdef"),
        ("key", key.as_str()),
        ("decision", "allow"),
    ];
    assert_eq!(stranger.post_form(&path, &other).status, 409);
    assert!(!stage.project().join("ran.log").exists());
}

#[test]
fn questions_and_plans_are_answered_by_their_forms() {
    let stage = Stage::new();
    let scenario = concat!(
        "turn\n  tool AskUserQuestion {\"questions\":[{\"question\":\"Which colour?\",\"header\":\"Colour\",\"multiSelect\":false,",
        "\"options\":[{\"label\":\"red\",\"description\":\"warm\"},{\"label\":\"blue\",\"description\":\"cold\"}]}]}\n",
        "  say \"chosen: ${result}\"\n"
    );
    let claude = stage.playing(scenario);
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    let page = until_shown(&browser, &session, "Which colour?</legend>");
    let (saw, key) = (page.field("saw"), page.field("key"));
    let none = [
        ("saw", saw.as_str()),
        ("key", key.as_str()),
        ("decision", "answer"),
    ];
    assert_eq!(browser.post_form(&card(&page.body), &none).status, 422);
    let fields = [
        ("saw", saw.as_str()),
        ("key", key.as_str()),
        ("decision", "answer"),
        ("q0", "blue"),
    ];
    let answer = browser.post_form(&card(&page.body), &fields);
    assert_eq!(answer.status, 303, "{answer:?}");
    let page = until_shown(&browser, &session, "chosen: ");
    assert!(page.body.contains("blue"), "{}", page.body);
}

#[test]
fn paths_that_are_files_are_files_or_nothing_and_the_api_never_becomes_a_page() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let browser = daemon.signed_in();
    for path in [
        "/assets/none.js",
        "/../Cargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2fCargo.toml",
        "/api/v1/nothing",
        "/api",
        "/api/v2/sessions",
    ] {
        let answer = browser.get(path);
        assert!(
            answer.status == 404 || answer.status == 400,
            "{path}: {answer:?}"
        );
        assert!(!answer.body.contains("<html"), "{path}: {answer:?}");
    }
    let style = browser.get("/plain/plain.css");
    assert_eq!(
        style.header("content-type"),
        Some("text/css; charset=utf-8")
    );
    assert_eq!(style.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn who_may_only_read_can_begin_nothing() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let owner = daemon.signed_in();
    let origin = format!("http://{}", daemon.address());
    let headers = [
        ("origin", origin.as_str()),
        ("content-type", "application/json"),
    ];
    let made = owner.send(
        "POST",
        "/api/v1/tokens",
        &headers,
        "{\"name\":\"screen\",\"scope\":\"read\"}",
    );
    let made: serde_json::Value = serde_json::from_str(&made.body).unwrap();
    let token = made["token"].as_str().unwrap();
    let mut reader = daemon.stranger();
    let answer = reader.post_form("/login", &[("token", token)]);
    assert_eq!(answer.status, 303, "{answer:?}");
    let cookie = answer.header("set-cookie").unwrap();
    reader.cookie = Some(cookie.split(';').next().unwrap().to_owned());
    let page = reader.get("/plain");
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("Begin a session"), "{}", page.body);
    let id = owner.get("/plain").field("id");
    let folder = stage.project().to_str().unwrap().to_owned();
    let fields = [
        ("id", id.as_str()),
        ("prompt", "go"),
        ("cwd", folder.as_str()),
        ("mode", "ask"),
    ];
    let refused = reader.post_form("/plain/sessions", &fields);
    assert_eq!(refused.status, 403, "{refused:?}");
}
