//! Login links and cookies: used once, by a person, in time.

use countersign_api::Scope;
use countersign_server::auth::LINK_LASTS;
use countersign_server::clock;
use serde_json::json;

use super::server::Server;
use super::talk::Request;

const ME: &str = "/api/v1/me";

#[tokio::test]
async fn a_link_signs_in_once_and_a_second_use_is_refused() {
    let server = Server::start().await;
    let form = format!("code={}", server.code(Scope::Full));
    let press = || Request::post("/login").form(&form);
    let first = server.ask(press().header("Origin", &server.origin())).await;
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let me = server.ask(Request::get(ME).cookie(&first.cookie())).await;
    assert_eq!(
        me.json(),
        json!({"name": "owner", "scope": "full", "via": "cookie"})
    );
    let second = server.ask(press()).await;
    assert_eq!(second.status, 401);
    assert!(second.header("set-cookie").is_none() && second.body.contains("no longer works"));
}

#[tokio::test]
async fn two_uses_at_once_sign_in_once() {
    let server = Server::start().await;
    let code = server.code(Scope::Full);
    let ask = || {
        let request = Request::post("/api/v1/login").json(&json!({"code": code}));
        server.ask(request)
    };
    let answers = tokio::join!(ask(), ask(), ask(), ask());
    let mut all = [
        answers.0.status,
        answers.1.status,
        answers.2.status,
        answers.3.status,
    ];
    all.sort_unstable();
    assert_eq!(all, [200, 401, 401, 401]);
}

#[tokio::test]
async fn looking_at_a_link_does_not_use_it_up() {
    let server = Server::start().await;
    let code = server.code(Scope::Full);
    let path = format!("/login?code={code}");
    for request in [
        Request::new("HEAD", &path),
        Request::get(&path),
        Request::get(&path).header("User-Agent", "Slackbot-LinkExpanding 1.0"),
        Request::get(&path).header("Sec-Purpose", "prefetch;prerender"),
        Request::get(&path).header("Purpose", "prefetch"),
        Request::get(&path).header("X-Moz", "prefetch"),
    ] {
        let answer = server.ask(request).await;
        assert_eq!(answer.status, 200);
        assert!(answer.header("set-cookie").is_none());
    }
    let form = format!("code={code}");
    assert_eq!(
        server.ask(Request::post("/login").form(&form)).await.status,
        303
    );
}

#[tokio::test]
async fn an_expired_link_is_refused() {
    let server = Server::start().await;
    let then = clock::now() - LINK_LASTS;
    let code = server.auth.link(Scope::Full, then).unwrap();
    let body = json!({"code": code.reveal()});
    assert_eq!(
        server
            .ask(Request::post("/api/v1/login").json(&body))
            .await
            .status,
        401
    );
    let path = format!("/login?code={}", code.reveal());
    assert_eq!(server.ask(Request::get(&path)).await.status, 401);
}

#[tokio::test]
async fn a_link_gives_no_more_than_it_was_made_for() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Read).await;
    assert_eq!(
        server.ask(Request::get(ME).cookie(&cookie)).await.json()["scope"],
        "read"
    );
    let request = Request::post("/api/v1/login-links")
        .cookie(&cookie)
        .header("Origin", &server.origin())
        .json(&json!({"scope": "full"}));
    assert_eq!(server.ask(request).await.status, 403);
}

#[tokio::test]
async fn a_code_is_no_token_and_a_token_is_no_code() {
    let server = Server::start().await;
    let code = server.code(Scope::Full);
    assert_eq!(server.ask(Request::get(ME).bearer(&code)).await.status, 401);
    let body = json!({"code": server.owner()});
    assert_eq!(
        server
            .ask(Request::post("/api/v1/login").json(&body))
            .await
            .status,
        401
    );
    for body in [json!({}), json!({"code": code, "token": server.owner()})] {
        let answer = server.ask(Request::post("/api/v1/login").json(&body)).await;
        assert_eq!(answer.code(), "invalid");
    }
}

#[tokio::test]
async fn a_token_in_the_address_lets_nobody_in() {
    let server = Server::start().await;
    let owner = server.owner();
    for name in ["token", "access_token", "bearer", "code"] {
        let answer = server
            .ask(Request::get(&format!("{ME}?{name}={owner}")))
            .await;
        assert_eq!(answer.status, 401, "{name}");
    }
}

#[tokio::test]
async fn the_cookie_is_kept_from_scripts_and_other_sites() {
    let server = Server::start().await;
    let form = format!("code={}", server.code(Scope::Full));
    let answer = server.ask(Request::post("/login").form(&form)).await;
    let line = answer.header("set-cookie").unwrap();
    for flag in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age="] {
        assert!(line.contains(flag), "{line}");
    }
    assert!(!line.contains("Domain"), "{line}");
    assert!(
        line.starts_with(&format!("countersign-{}=", server.address.port())),
        "{line}"
    );
}

#[tokio::test]
async fn a_signed_out_cookie_is_good_for_nothing_and_another_one_is() {
    let server = Server::start().await;
    let (one, other) = (
        server.cookie(Scope::Full).await,
        server.cookie(Scope::Full).await,
    );
    let request = Request::post("/api/v1/logout")
        .cookie(&one)
        .header("Origin", &server.origin());
    let answer = server.ask(request).await;
    assert_eq!(answer.status, 204);
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(server.ask(Request::get(ME).cookie(&one)).await.status, 401);
    assert_eq!(
        server.ask(Request::get(ME).cookie(&other)).await.status,
        200
    );
}

#[tokio::test]
async fn a_made_up_cookie_is_nobodys() {
    let server = Server::start().await;
    let name = format!("countersign-{}", server.address.port());
    for value in ["", "x", "null", &"0".repeat(64), &"0".repeat(5_000)] {
        let cookie = format!("{name}={value}");
        assert_eq!(
            server.ask(Request::get(ME).cookie(&cookie)).await.status,
            401,
            "{value}"
        );
    }
    let owner = format!("{name}={}", server.owner());
    assert_eq!(
        server.ask(Request::get(ME).cookie(&owner)).await.status,
        401
    );
}

#[tokio::test]
async fn a_code_in_the_address_cannot_become_a_part_of_the_page() {
    let server = Server::start().await;
    let path = "/login?code=%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    let answer = server.ask(Request::get(path)).await;
    assert_eq!(answer.status, 401);
    assert!(!answer.body.contains("<script>alert"), "{}", answer.body);
}

#[tokio::test]
async fn wrong_tries_are_told_to_wait() {
    let server = Server::start().await;
    let body = json!({"code": "0".repeat(64)});
    let mut last = None;
    for _ in 0..60 {
        let answer = server.ask(Request::post("/api/v1/login").json(&body)).await;
        assert!(matches!(answer.status, 401 | 429), "{answer:?}");
        let is_held = answer.status == 429;
        last = Some(answer);
        if is_held {
            break;
        }
    }
    let held = last.unwrap();
    assert_eq!((held.status, held.code().as_str()), (429, "too_many"));
    let wait: u64 = held.header("retry-after").unwrap().parse().unwrap();
    assert!((1..60).contains(&wait), "{wait}");
}

#[tokio::test]
async fn the_right_token_and_cookie_are_not_locked_out_by_wrong_tries() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    let mut is_held = false;
    for _ in 0..60 {
        let answer = server.ask(Request::get(ME).bearer("cs_wrong")).await;
        is_held |= answer.status == 429;
    }
    assert!(is_held);
    assert_eq!(
        server
            .ask(Request::get(ME).bearer(&server.owner()))
            .await
            .status,
        200
    );
    assert_eq!(
        server.ask(Request::get(ME).cookie(&cookie)).await.status,
        200
    );
    assert_eq!(server.ask_socket(Request::get(ME)).await.status, 200);
}
