//! What stands on every answer, and what stands in none.

use countersign_api::Scope;
use serde_json::json;

use super::server::Server;
use super::talk::{Answer, Request};

fn check(answer: &Answer, what: &str) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(
            answer.header(name),
            Some(value),
            "{what}: {name} {answer:?}"
        );
    }
    let policy = answer.header("content-security-policy").unwrap_or_default();
    for part in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ] {
        assert!(policy.contains(part), "{what}: {policy}");
    }
    assert!(
        !policy.contains("unsafe") && !policy.contains('*'),
        "{what}: {policy}"
    );
    assert!(answer.header("permissions-policy").is_some(), "{what}");
    let referrer = answer.header("referrer-policy");
    assert!(
        matches!(referrer, Some("no-referrer" | "same-origin")),
        "{what}: {referrer:?}"
    );
    assert!(
        answer.header("server").is_none() && answer.header("x-powered-by").is_none(),
        "{what}"
    );
}

#[tokio::test]
async fn every_answer_tells_the_browser_what_our_pages_may_do_errors_too() {
    let server = Server::start().await;
    let owner = server.owner();
    let asked = |method: &str, path: &str| Request::new(method, path).bearer(&owner);
    for (what, request, status) in [
        ("me", asked("GET", "/api/v1/me"), 200),
        ("a stranger", Request::get("/api/v1/me"), 401),
        (
            "a wrong scope",
            Request::post("/api/v1/tokens").bearer(&server.token("r", Scope::Read)),
            403,
        ),
        (
            "a foreign host",
            Request::get("/").header("Host", "evil.example"),
            403,
        ),
        (
            "no such session",
            asked("GET", "/api/v1/sessions/01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            404,
        ),
        ("no such path", asked("GET", "/api/v1/nothing"), 404),
        ("a preflight", Request::new("OPTIONS", "/api/v1/me"), 405),
        ("a wrong method", asked("DELETE", "/api/v1/me"), 405),
        ("no body", asked("POST", "/api/v1/tokens"), 415),
        (
            "bad json",
            asked("POST", "/api/v1/tokens").body("application/json", b"{"),
            400,
        ),
        (
            "makes no sense",
            asked("POST", "/api/v1/tokens").json(&json!({"name": 1})),
            422,
        ),
        ("the login page", Request::get("/login"), 200),
        ("a bad code", Request::get("/login?code=x"), 401),
        ("its style", Request::get("/login.css"), 200),
        ("its script", Request::get("/login.js"), 200),
    ] {
        let answer = server.ask(request).await;
        assert_eq!(answer.status, status, "{what}: {answer:?}");
        check(&answer, what);
    }
    for path in ["/", "/nothing", "/assets/nothing.js", "/healthz"] {
        check(&server.ask(Request::get(path)).await, path);
    }
}

#[tokio::test]
async fn nothing_of_the_api_is_left_in_a_cache() {
    let server = Server::start().await;
    for path in ["/api/v1/me", "/api/v1/tokens", "/api/v1/nothing"] {
        let answer = server.ask(Request::get(path).bearer(&server.owner())).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
    let code = server.code(Scope::Full);
    let answer = server
        .ask(Request::get(&format!("/login?code={code}")))
        .await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn errors_of_the_api_are_problems_with_a_code() {
    let server = Server::start().await;
    let asked = |method: &str, path: &str| Request::new(method, path).bearer(&server.owner());
    let answer = server.ask(asked("DELETE", "/api/v1/me")).await;
    assert_eq!(answer.header("allow"), Some("GET,HEAD"));
    for (request, code) in [
        (asked("GET", "/api/v1/nothing"), "not_found"),
        (asked("DELETE", "/api/v1/me"), "method_not_allowed"),
        (asked("DELETE", "/api/v1/tokens/nothing"), "not_found"),
        (asked("GET", "/api/v1/sessions/nothing"), "not_found"),
    ] {
        assert_eq!(server.ask(request).await.code(), code);
    }
}

#[tokio::test]
async fn no_path_leads_out_of_the_page() {
    let server = Server::start().await;
    let secret = server.owner();
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets/../../../../etc/passwd",
        "/assets/..%2f..%2f..%2f..%2fetc/passwd",
        "/assets/%2e%2e%2f%2e%2e%2fetc/passwd",
        "/assets/..%5c..%5cetc%5cpasswd",
        "/assets//etc/passwd",
        "//etc/passwd",
        "/%00/etc/passwd",
        "/assets/x%00.js",
        "/api/v1/../../auth/token",
        "/login/../auth/token",
        "/auth/token",
        "/auth/tokens.json",
        "/.git/config",
        "/Cargo.toml",
    ] {
        let answer = server.ask(Request::get(path)).await;
        assert!(
            !answer.body.contains("root:") && !answer.body.contains(&secret),
            "{path}"
        );
        assert!(
            !answer.body.contains("[workspace]") && !answer.body.contains("digest"),
            "{path}"
        );
        assert!(
            answer.status >= 400 || answer.body.contains("<!doctype html"),
            "{path} {answer:?}"
        );
    }
}

#[tokio::test]
async fn an_error_says_no_path_of_this_machine() {
    let server = Server::start().await;
    let folder = server.folder.path().to_str().unwrap();
    // What is stored can be stored no more.
    let blocked = server.folder.path().join("auth").join("tokens.json.new");
    std::fs::create_dir(blocked).unwrap();
    let body = json!({"name": "x", "scope": "read"});
    let request = Request::post("/api/v1/tokens")
        .bearer(&server.owner())
        .json(&body);
    let answer = server.ask(request).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "unavailable")
    );
    assert!(
        !answer.body.contains(folder) && !answer.body.contains("tokens.json"),
        "{answer:?}"
    );
}
