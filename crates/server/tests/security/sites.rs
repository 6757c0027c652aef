//! Pages of other sites: foreign origins, foreign hosts, forms, preflights, frames.

use countersign_api::Scope;
use serde_json::json;

use super::server::Server;
use super::talk::Request;

const ME: &str = "/api/v1/me";
const LOGOUT: &str = "/api/v1/logout";

#[tokio::test]
async fn a_foreign_origin_writes_nothing_even_with_the_cookie() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    for origin in [
        "http://evil.example",
        "http://127.0.0.1:1",
        "http://localhost",
        "file://",
    ] {
        let request = Request::post(LOGOUT)
            .cookie(&cookie)
            .header("Origin", origin);
        let answer = server.ask(request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "foreign_origin"),
            "{origin}"
        );
    }
    assert_eq!(
        server.ask(Request::get(ME).cookie(&cookie)).await.status,
        200
    );
}

#[tokio::test]
async fn a_foreign_origin_is_refused_even_with_a_bearer() {
    let server = Server::start().await;
    let request = Request::get(ME)
        .bearer(&server.owner())
        .header("Origin", "http://evil.example");
    assert_eq!(server.ask(request).await.code(), "foreign_origin");
}

#[tokio::test]
async fn a_null_origin_is_refused() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    let request = Request::post(LOGOUT)
        .cookie(&cookie)
        .header("Origin", "null");
    assert_eq!(server.ask(request).await.code(), "foreign_origin");
}

#[tokio::test]
async fn a_write_by_cookie_with_no_word_on_where_it_comes_from_is_refused() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    let answer = server.ask(Request::post(LOGOUT).cookie(&cookie)).await;
    assert_eq!(answer.code(), "foreign_origin");
    for site in ["cross-site", "same-site", "none"] {
        let request = Request::post(LOGOUT)
            .cookie(&cookie)
            .header("Sec-Fetch-Site", site);
        assert_eq!(server.ask(request).await.code(), "foreign_origin", "{site}");
    }
    let own = Request::post(LOGOUT)
        .cookie(&cookie)
        .header("Origin", &server.origin());
    assert_eq!(server.ask(own).await.status, 204);
    assert_eq!(
        server.ask(Request::get(ME).cookie(&cookie)).await.status,
        401
    );
}

#[tokio::test]
async fn another_port_of_this_machine_is_another_site() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    let port = server.address.port() ^ 1;
    let request = Request::post(LOGOUT)
        .cookie(&cookie)
        .header("Origin", &format!("http://127.0.0.1:{port}"))
        .header("Sec-Fetch-Site", "same-site");
    assert_eq!(server.ask(request).await.code(), "foreign_origin");
}

#[tokio::test]
async fn a_foreign_host_is_refused_whatever_it_carries() {
    let server = Server::start().await;
    let owner = server.owner();
    let port = server.address.port();
    for host in [
        format!("evil.example:{port}"),
        "evil.example".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        "192.0.2.1".to_owned(),
        String::new(),
    ] {
        for path in [ME, "/", "/login", "/api/openapi.json"] {
            let request = Request::get(path).header("Host", &host).bearer(&owner);
            let answer = server.ask(request).await;
            assert_eq!(answer.code(), "foreign_origin", "{host} {path}");
        }
    }
}

#[tokio::test]
async fn a_rebound_name_with_its_own_matching_origin_is_refused() {
    let server = Server::start().await;
    let host = format!("evil.example:{}", server.address.port());
    let cookie = server.cookie(Scope::Full).await;
    let request = Request::post(LOGOUT)
        .header("Host", &host)
        .header("Origin", &format!("http://{host}"))
        .header("Sec-Fetch-Site", "same-origin")
        .cookie(&cookie);
    assert_eq!(server.ask(request).await.code(), "foreign_origin");
}

#[tokio::test]
async fn a_request_with_no_host_or_two_is_refused() {
    let server = Server::start().await;
    let head = format!("GET {ME} HTTP/1.1\r\nConnection: close\r\n");
    let own = server.name();
    for hosts in [
        String::new(),
        format!("Host: {own}\r\nHost: evil.example\r\n"),
    ] {
        let answer =
            super::talk::talk(server.address, format!("{head}{hosts}\r\n").as_bytes()).await;
        assert_eq!(answer.code(), "foreign_origin", "{hosts}");
    }
}

#[tokio::test]
async fn a_whole_address_as_target_cannot_name_another_host() {
    let server = Server::start().await;
    let request = Request::get("http://evil.example/api/v1/me").bearer(&server.owner());
    assert_eq!(server.ask(request).await.code(), "foreign_origin");
}

#[tokio::test]
async fn a_host_that_was_allowed_is_answered_to() {
    let server = Server::with(Default::default(), &["box.example"]).await;
    let cookie = server.cookie(Scope::Full).await;
    let request = Request::post(LOGOUT)
        .header("Host", "box.example")
        .header("Origin", "https://box.example")
        .cookie(&cookie);
    assert_eq!(server.ask(request).await.status, 204);
}

#[tokio::test]
async fn a_preflight_is_refused_and_opens_nothing() {
    let server = Server::start().await;
    for origin in ["http://evil.example".to_owned(), server.origin()] {
        let request = Request::new("OPTIONS", "/api/v1/sessions")
            .header("Origin", &origin)
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "authorization");
        let answer = server.ask(request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (405, "method_not_allowed")
        );
        assert!(answer.header("allow").is_some());
        let opens = |name: &str| name.starts_with("access-control");
        assert!(
            !answer.headers.iter().any(|(name, _)| opens(name)),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn no_answer_lets_another_site_read_it() {
    let server = Server::start().await;
    for path in [
        ME,
        "/",
        "/login",
        "/login.js",
        "/no-such-path",
        "/api/v1/no-such",
    ] {
        for origin in [None, Some(server.origin())] {
            let mut request = Request::get(path).bearer(&server.owner());
            if let Some(origin) = &origin {
                request = request.header("Origin", origin);
            }
            let answer = server.ask(request).await;
            let opens = |name: &str| name.starts_with("access-control");
            assert!(
                !answer.headers.iter().any(|(name, _)| opens(name)),
                "{path} {answer:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_form_of_another_site_is_refused() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    let request = Request::post("/api/v1/sessions")
        .cookie(&cookie)
        .header("Origin", "http://evil.example")
        .form("prompt=x&cwd=/");
    assert_eq!(server.ask(request).await.code(), "foreign_origin");
    // Not even our own page may send one: the API reads JSON.
    let request = Request::post("/api/v1/tokens")
        .cookie(&cookie)
        .header("Origin", &server.origin())
        .form("name=x&scope=full");
    assert_eq!(server.ask(request).await.code(), "unsupported_media");
}

#[tokio::test]
async fn json_that_says_it_is_plain_text_is_not_read() {
    let server = Server::start().await;
    let body = json!({"name": "x", "scope": "full"}).to_string();
    for kind in [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        let request = Request::post("/api/v1/tokens")
            .bearer(&server.owner())
            .body(kind, body.as_bytes());
        assert_eq!(
            server.ask(request).await.code(),
            "unsupported_media",
            "{kind}"
        );
    }
    assert_eq!(server.auth.list(countersign_server::clock::now()).len(), 1);
}

#[tokio::test]
async fn a_sign_in_from_another_site_is_refused() {
    let server = Server::start().await;
    let form = format!("code={}", server.code(Scope::Full));
    let request = Request::post("/login")
        .header("Origin", "http://evil.example")
        .form(&form);
    let answer = server.ask(request).await;
    assert_eq!(answer.code(), "foreign_origin");
    assert!(answer.header("set-cookie").is_none());
    assert_eq!(
        server.ask(Request::post("/login").form(&form)).await.status,
        303
    );
}

#[tokio::test]
async fn what_another_site_embeds_is_not_answered_with_the_cookie() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    for (site, mode) in [
        ("cross-site", "no-cors"),
        ("same-site", "no-cors"),
        ("same-site", "cors"),
    ] {
        for path in [ME, "/plain", "/metrics"] {
            let request = Request::get(path)
                .cookie(&cookie)
                .header("Sec-Fetch-Site", site)
                .header("Sec-Fetch-Mode", mode);
            assert_eq!(
                server.ask(request).await.code(),
                "foreign_origin",
                "{site} {path}"
            );
        }
    }
    // Somebody follows a link.
    let link = Request::get("/plain")
        .cookie(&cookie)
        .header("Sec-Fetch-Site", "same-site")
        .header("Sec-Fetch-Mode", "navigate");
    assert_eq!(server.ask(link).await.status, 200);
    let own = Request::get(ME)
        .cookie(&cookie)
        .header("Sec-Fetch-Site", "same-origin");
    assert_eq!(server.ask(own).await.status, 200);
}
