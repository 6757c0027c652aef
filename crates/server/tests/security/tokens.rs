//! Tokens: who shows none, a wrong one, or one that may not do this.

use std::os::unix::fs::MetadataExt as _;

use countersign_api::Scope;
use serde_json::json;

use super::server::Server;
use super::talk::Request;

const ME: &str = "/api/v1/me";

/// Paths of the API that a stranger might try, with a method that they have.
const GUARDED: [(&str, &str); 8] = [
    ("GET", "/api/v1/me"),
    ("GET", "/api/v1/tokens"),
    ("POST", "/api/v1/tokens"),
    ("POST", "/api/v1/login-links"),
    ("POST", "/api/v1/logout"),
    ("GET", "/api/v1/sessions"),
    ("POST", "/api/v1/sessions"),
    ("GET", "/metrics"),
];

#[tokio::test]
async fn no_token_is_let_in_nowhere() {
    let server = Server::start().await;
    for (method, path) in GUARDED {
        let answer = server.ask(Request::new(method, path)).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "not_signed_in"),
            "{path}"
        );
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{path}");
    }
}

#[tokio::test]
async fn every_route_of_the_document_but_sign_in_needs_a_caller() {
    let server = Server::start().await;
    let document = serde_json::to_value(countersign_server::document()).unwrap();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            if path == "/api/v1/login" {
                continue;
            }
            let filled: Vec<&str> = path
                .split('/')
                .map(|part| if part.starts_with('{') { "x" } else { part })
                .collect();
            let request = Request::new(&method.to_uppercase(), &filled.join("/"));
            let answer = server.ask(request).await;
            assert_eq!(answer.status, 401, "{method} {path}: {answer:?}");
            asked += 1;
        }
    }
    assert!(asked > 5, "only {asked}");
}

#[tokio::test]
async fn a_wrong_token_is_refused() {
    let server = Server::start().await;
    let owner = server.owner();
    let wrong = [
        String::new(),
        "x".to_owned(),
        owner[..owner.len() - 1].to_owned(),
        format!("{owner}0"),
        owner.to_uppercase(),
        owner.replace("cs_", ""),
        "x".repeat(10_000),
    ];
    for token in wrong {
        let answer = server.ask(Request::get(ME).bearer(&token)).await;
        assert_eq!(answer.code(), "not_signed_in", "{token}");
    }
    for line in [
        format!("Basic {owner}"),
        owner.clone(),
        format!("Bearer{owner}"),
    ] {
        let answer = server
            .ask(Request::get(ME).header("Authorization", &line))
            .await;
        assert_eq!(answer.code(), "not_signed_in", "{line}");
    }
    let answer = server.ask(Request::get(ME).bearer(&owner)).await;
    assert_eq!(
        answer.json(),
        json!({"name": "owner", "scope": "full", "via": "bearer"})
    );
}

#[tokio::test]
async fn a_wrong_token_is_not_made_good_by_a_cookie_beside_it() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    let request = Request::get(ME).bearer("cs_wrong").cookie(&cookie);
    assert_eq!(server.ask(request).await.status, 401);
}

#[tokio::test]
async fn a_read_token_changes_nothing() {
    let server = Server::start().await;
    let token = server.token("reader", Scope::Read);
    for (method, path) in [
        ("POST", "/api/v1/sessions"),
        ("POST", "/api/v1/tokens"),
        ("DELETE", "/api/v1/tokens/x"),
        ("POST", "/api/v1/login-links"),
        ("GET", "/api/v1/tokens"),
    ] {
        let request = Request::new(method, path).bearer(&token).json(&json!({}));
        let answer = server.ask(request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "not_allowed"),
            "{path}"
        );
    }
    assert_eq!(
        server.ask(Request::get(ME).bearer(&token)).await.status,
        200
    );
}

#[tokio::test]
async fn an_answer_token_starts_nothing() {
    let server = Server::start().await;
    let token = server.token("phone", Scope::Answer);
    let body = json!({"prompt": "x", "cwd": "/"});
    let request = Request::post("/api/v1/sessions").bearer(&token).json(&body);
    let answer = server.ask(request).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "not_allowed")
    );
    let body = json!({"name": "more", "scope": "full"});
    let request = Request::post("/api/v1/tokens").bearer(&token).json(&body);
    assert_eq!(server.ask(request).await.status, 403);
}

#[tokio::test]
async fn a_scope_is_asked_before_a_body_is_read() {
    let server = Server::start().await;
    let token = server.token("reader", Scope::Read);
    let request = Request::post("/api/v1/tokens")
        .bearer(&token)
        .body("application/json", b"{ no json");
    assert_eq!(server.ask(request).await.status, 403);
}

#[tokio::test]
async fn a_revoked_token_ends_with_its_cookies_and_links() {
    let server = Server::start().await;
    let owner = server.owner();
    let body = json!({"name": "laptop", "scope": "full"});
    let made = server
        .ask(Request::post("/api/v1/tokens").bearer(&owner).json(&body))
        .await;
    assert_eq!(made.status, 201);
    let (token, id) = (made.json()["token"].clone(), made.json()["id"].clone());
    let (token, id) = (token.as_str().unwrap(), id.as_str().unwrap());
    let login = Request::post("/api/v1/login").json(&json!({"token": token}));
    let cookie = server.ask(login).await.cookie();
    assert_eq!(
        server.ask(Request::get(ME).cookie(&cookie)).await.json()["name"],
        "laptop"
    );
    let link = Request::post("/api/v1/login-links")
        .bearer(token)
        .json(&json!({}));
    let path = server.ask(link).await.json()["path"]
        .as_str()
        .unwrap()
        .to_owned();

    let request = Request::new("DELETE", &format!("/api/v1/tokens/{id}")).bearer(&owner);
    assert_eq!(server.ask(request).await.status, 204);
    assert_eq!(server.ask(Request::get(ME).bearer(token)).await.status, 401);
    assert_eq!(
        server.ask(Request::get(ME).cookie(&cookie)).await.status,
        401
    );
    assert_eq!(server.ask(Request::get(&path)).await.status, 401);
}

#[tokio::test]
async fn a_token_that_has_expired_is_refused() {
    let server = Server::start().await;
    let now = countersign_server::clock::now();
    let made = server
        .auth
        .create("brief", Scope::Full, Some(now + 1), now)
        .unwrap();
    let answer = server
        .ask(Request::get(ME).bearer(made.secret.reveal()))
        .await;
    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn a_token_is_shown_once_and_in_no_list() {
    let server = Server::start().await;
    let owner = server.owner();
    let body = json!({"name": "script", "scope": "read"});
    let made = server
        .ask(Request::post("/api/v1/tokens").bearer(&owner).json(&body))
        .await;
    let token = made.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let list = server
        .ask(Request::get("/api/v1/tokens").bearer(&owner))
        .await;
    assert_eq!(list.json().as_array().unwrap().len(), 2);
    for secret in [&token, &owner] {
        assert!(!list.body.contains(secret.as_str()) && !list.body.contains("digest"));
    }
}

#[tokio::test]
async fn the_files_of_tokens_are_their_owners_alone() {
    let server = Server::start().await;
    server.token("one", Scope::Read);
    let folder = server.folder.path().join("auth");
    let mode = |name: &str| folder.join(name).symlink_metadata().unwrap().mode() & 0o7777;
    assert_eq!(
        (mode(""), mode("token"), mode("tokens.json")),
        (0o700, 0o600, 0o600)
    );
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["token", "tokens.json"]);
}

#[tokio::test]
async fn a_name_of_a_token_cannot_reach_the_log_or_the_terminal_as_control_letters() {
    let server = Server::start().await;
    for name in ["a\nb", "\u{1b}[31mred", "", " x"] {
        let body = json!({"name": name, "scope": "read"});
        let request = Request::post("/api/v1/tokens")
            .bearer(&server.owner())
            .json(&body);
        assert_eq!(server.ask(request).await.code(), "invalid", "{name:?}");
    }
}

/// Every comparison of what somebody shows goes through [`Digest::is`], which is the one place that compares bytes.
#[test]
fn secrets_are_compared_in_one_place_and_in_constant_time() {
    let sources = [
        ("secret", include_str!("../../src/auth/secret.rs")),
        ("book", include_str!("../../src/auth/book.rs")),
        ("mod", include_str!("../../src/auth/mod.rs")),
        ("who", include_str!("../../src/auth/who.rs")),
        ("cookie", include_str!("../../src/auth/cookie.rs")),
    ];
    let with = |needle: &str| -> Vec<&str> {
        let has = sources.iter().filter(|(_, text)| text.contains(needle));
        has.map(|(name, _)| *name).collect()
    };
    assert_eq!(with("ct_eq("), ["secret"]);
    assert_eq!(sources[0].1.matches("ct_eq(").count(), 1);
    // Tokens, cookies and codes are looked up by the same search, which looks at every one.
    assert_eq!(sources[1].1.matches("shown.find(").count(), 4);
    // A bare secret is never compared with another.
    for (name, text) in sources {
        let code = text.split("#[cfg(test)]").next().unwrap();
        assert!(!code.contains("reveal() =="), "{name}");
        assert!(
            !code.contains("derive(Clone, Copy, PartialEq") || name != "secret",
            "{name}"
        );
    }
}
