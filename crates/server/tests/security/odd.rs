//! Requests that no client of ours sends: other methods, other spellings, upgrades, doubled headers, numbers beyond every
//! end, keys of others.

use std::io::Write as _;

use countersign_api::Scope;
use serde_json::json;

use super::common::Served;
use super::server::Server;
use super::talk::{DEADLINE, Request, talk};

const ME: &str = "/api/v1/me";

#[tokio::test]
async fn other_methods_are_refused_and_echo_nothing() {
    let server = Server::start().await;
    let owner = server.owner();
    for method in ["TRACE", "TRACK", "CONNECT", "PROPFIND", "DEBUG", "get", "G"] {
        let request = Request::new(method, ME).bearer(&owner);
        let answer = server.ask(request.header("X-Echo", "echoed-words")).await;
        assert!(matches!(answer.status, 400 | 405), "{method} {answer:?}");
        let said = format!("{answer:?}");
        assert!(
            !said.contains("echoed-words") && !said.contains(&owner),
            "{said}"
        );
    }
    // A method in a header does not become the method.
    let request = Request::post(ME).bearer(&owner).json(&json!({}));
    let answer = server
        .ask(request.header("X-HTTP-Method-Override", "GET"))
        .await;
    assert_eq!(answer.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_of_something_is_as_shut_as_the_thing_and_holds_no_stream() {
    let served = Served::new("turn\n  say \"x\"\n").await;
    let id = served.stage.start("go").await;
    served.stage.until(id, "idle").await;
    let stranger = served.stranger();
    let reader = served.client_as("reader", Scope::Read);
    for path in [
        ME.to_owned(),
        "/metrics".to_owned(),
        format!("/api/v1/sessions/{id}/export"),
        format!("/api/v1/sessions/{id}/events"),
    ] {
        let answer = stranger.ask("HEAD", &path, &[], b"").await;
        assert_eq!((answer.status, answer.body.len()), (401, 0), "{path}");
    }
    let path = format!("/api/v1/sessions/{id}/export");
    assert_eq!(reader.ask("HEAD", &path, &[], b"").await.status, 403);
    // It ends at once, though what it is the head of does not.
    let path = format!("/api/v1/sessions/{id}/events");
    let answer = reader.ask("HEAD", &path, &[], b"").await;
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    assert_eq!(served.app.streams.open(), 0);
}

#[tokio::test]
async fn an_upgrade_is_not_taken_up() {
    let server = Server::start().await;
    for (to, more) in [
        (
            "websocket",
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ),
        ("h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"),
        ("TLS/1.0", "X-A: b"),
    ] {
        for path in ["/api/v1/events", ME, "/"] {
            let bytes = format!(
                "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade, close\r\nUpgrade: {to}\r\n{more}\r\n\r\n",
                server.name()
            );
            let answer = talk(server.address, bytes.as_bytes()).await;
            assert!(
                answer.status >= 200 && answer.status != 426,
                "{to} {answer:?}"
            );
            if path != "/" {
                assert_eq!(answer.status, 401, "{to} {path} {answer:?}");
            }
            assert!(
                answer.header("upgrade").is_none()
                    && answer.header("sec-websocket-accept").is_none()
            );
        }
    }
}

#[tokio::test]
async fn two_cookies_are_no_more_than_the_first() {
    let server = Server::start().await;
    let (less, more) = (
        server.cookie(Scope::Read).await,
        server.cookie(Scope::Full).await,
    );
    let made_up = format!("{}={}", less.split_once('=').unwrap().0, "0".repeat(64));
    let me = async |line: String| server.ask(Request::get(ME).cookie(&line)).await;
    let both = me(format!("{less}; {more}")).await;
    assert_eq!(both.json()["scope"], "read");
    assert_eq!(me(format!("{made_up}; {more}")).await.status, 401);
    let lines = Request::get(ME).cookie(&less).cookie(&more);
    assert_eq!(server.ask(lines).await.json()["scope"], "read");
    // Nor is a name with blanks or other letters around it ours.
    let value = more.split_once('=').unwrap().1;
    let name = more.split_once('=').unwrap().0;
    for line in [
        format!("{}={value}", name.to_uppercase()),
        format!("x{more}"),
        format!("{name}x={value}"),
        format!("{name}=\"{value}\""),
        format!("{name}={value},x"),
    ] {
        assert_eq!(me(line.clone()).await.status, 401, "{line}");
    }
}

#[tokio::test]
async fn another_spelling_of_this_machine_is_another_host() {
    let server = Server::start().await;
    let owner = server.owner();
    let port = server.address.port();
    for host in [
        "localhost.",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::]",
        "[::ffff:127.0.0.1]",
        "localhost.localdomain",
        "xlocalhost",
        "user@localhost",
        "evil.example@127.0.0.1",
        "localhost,evil.example",
        "localhost evil.example",
        "%6cocalhost",
        "localhost/evil",
        "localhost#",
        "[127.0.0.1",
    ] {
        for named in [host.to_owned(), format!("{host}:{port}")] {
            let request = Request::get(ME).header("Host", &named).bearer(&owner);
            let answer = server.ask(request).await;
            assert!(matches!(answer.status, 400 | 403), "{named} {answer:?}");
        }
    }
    for own in [
        format!("LOCALHOST:{port}"),
        "localhost".to_owned(),
        format!("[::1]:{port}"),
    ] {
        let request = Request::get(ME).header("Host", &own).bearer(&owner);
        assert_eq!(server.ask(request).await.status, 200, "{own}");
    }
}

#[tokio::test]
async fn an_origin_that_is_ours_but_for_a_letter_is_foreign() {
    let server = Server::start().await;
    let cookie = server.cookie(Scope::Full).await;
    let own = server.origin();
    let refused = [
        format!("{own}/"),
        format!("{own}.evil.example"),
        format!("{own}@evil.example"),
        format!("{own}, http://evil.example"),
        format!("http://evil.example, {own}"),
        format!("{own} http://evil.example"),
        own.replace("http", "ftp"),
        own.replace("http://", "http:"),
        own.replace("http://", ""),
        own.replace("127.0.0.1", "localhost"),
        "null".to_owned(),
        String::new(),
        " ".to_owned(),
    ];
    for origin in refused {
        let request = Request::post("/api/v1/logout")
            .cookie(&cookie)
            .header("Origin", &origin);
        assert_eq!(
            server.ask(request).await.code(),
            "foreign_origin",
            "{origin:?}"
        );
    }
    let twice = Request::post("/api/v1/logout")
        .cookie(&cookie)
        .header("Origin", &own)
        .header("Origin", &own);
    assert_eq!(server.ask(twice).await.code(), "foreign_origin");
    assert_eq!(
        server.ask(Request::get(ME).cookie(&cookie)).await.status,
        200
    );
}

#[tokio::test]
async fn a_compressed_body_is_not_opened() {
    let server = Server::start().await;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let body = json!({"name": "packed", "scope": "read"}).to_string();
    packed.write_all(body.as_bytes()).unwrap();
    // Four thousand times as large as it is sent.
    packed.write_all(&vec![b' '; 8 << 20]).unwrap();
    let packed = packed.finish().unwrap();
    for coding in ["gzip", "deflate", "br", "zstd", "identity, gzip"] {
        let request = Request::post("/api/v1/tokens").bearer(&server.owner());
        let request = request.header("Content-Encoding", coding);
        let answer = server.ask(request.body("application/json", &packed)).await;
        assert!(matches!(answer.status, 400 | 415), "{coding} {answer:?}");
    }
    assert_eq!(server.auth.list(countersign_server::clock::now()).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_beyond_every_end_break_nothing() {
    let served = Served::new("turn\n  say \"x\"\n").await;
    let client = served.client();
    let id = served.stage.start("go").await;
    served.stage.until(id, "idle").await;
    let numbers = [
        "18446744073709551615",
        "18446744073709551616",
        "9223372036854775808",
        "4294967296",
        "-1",
        "0",
        "1e9",
        "NaN",
    ];
    for number in numbers {
        for path in [
            format!("/sessions?most={number}"),
            format!("/sessions?after={number}"),
            format!("/sessions/{id}/transcript?most={number}"),
            format!("/sessions/{id}/transcript?before={number}-{number}"),
            format!("/sessions/{id}/events?follow=false&after={number}-{number}"),
            format!("/sessions/{id}/events?follow=false&after=1-{number}&max_inline={number}"),
            format!("/sessions/{id}/transcript/stream?follow=false&after=1-{number}"),
            format!("/sessions/{id}/records/{number}-{number}"),
            format!("/sessions/{id}/records/1-{number}"),
            format!("/sessions/{id}/files?most={number}"),
            format!("/events?follow=false&after={number}"),
            format!("/decisions?since={number}&until={number}&most={number}"),
            format!("/decisions/export?since={number}"),
            format!("/approvals?most={number}"),
            format!("/usage?since={number}"),
            format!("/search?q=x&most={number}"),
            format!("/import?most={number}"),
        ] {
            let answer = client.get(&path).await;
            assert!(
                answer.status < 500,
                "{path}: {} {}",
                answer.status,
                answer.text()
            );
        }
        let answer = client
            .get_with("/events?follow=false", &[("last-event-id", number)])
            .await;
        assert!(answer.status < 500, "{number}: {}", answer.text());
    }
    let big = u64::MAX;
    for (method, path, body) in [
        (
            "POST",
            "/tokens".to_owned(),
            json!({"name": "for ever", "scope": "read", "expires": big}),
        ),
        (
            "POST",
            "/rules".to_owned(),
            json!({"effect": "allow", "rule": "Bash(ls)", "scope": "always", "expires": big}),
        ),
        (
            "PUT",
            format!("/sessions/{id}/mode"),
            json!({"mode": "hands-off", "until": big}),
        ),
        (
            "PATCH",
            format!("/sessions/{id}"),
            json!({"budget_usd": 1e308}),
        ),
        ("PATCH", "/settings".to_owned(), json!({"max_agents": big})),
        ("PATCH", "/settings".to_owned(), json!({"expiry": big})),
        ("DELETE", format!("/rules/{big}"), json!({})),
    ] {
        let answer = client.send(method, &path, &body).await;
        assert!(answer.status < 500, "{path}: {}", answer.text());
    }
    assert_eq!(client.get("/me").await.status, 200);
    assert_eq!(client.get("/rules").await.status, 200);
    assert_eq!(client.get("/settings").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn ranges_of_nonsense_give_no_more_than_the_whole() {
    let served = Served::new("turn\n  say \"some words\"\n").await;
    let client = served.client();
    let id = served.stage.start("go").await;
    served.stage.until(id, "idle").await;
    let path = format!("/sessions/{id}/records/1-1");
    let whole = client.get(&path).await;
    assert_eq!(whole.status, 200, "{}", whole.text());
    let many: Vec<String> = (0..2_000).map(|at| format!("{at}-")).collect();
    for range in [
        format!("bytes={}", many.join(",")),
        "bytes=0-0,0-0,0-0,-1".to_owned(),
        "bytes=-18446744073709551616".to_owned(),
        "bytes=18446744073709551615-18446744073709551615".to_owned(),
        "bytes=1--1".to_owned(),
        "bytes=\u{b2}-3".to_owned(),
    ] {
        let answer = client.get_with(&path, &[("range", &range)]).await;
        assert!(
            matches!(answer.status, 200 | 206 | 416 | 431),
            "{} {range:.40}",
            answer.status
        );
        if answer.status != 416 {
            assert!(answer.body.len() <= whole.body.len(), "{range:.40}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_one_token_gives_nothing_to_another() {
    let served = Served::new("turn\n  say \"x\"\n").await;
    let (one, other) = (
        served.client_as("one", Scope::Full),
        served.client_as("other", Scope::Full),
    );
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "the-same"),
    ];
    let body = json!({"effect": "deny", "rule": "Bash(make:*)", "scope": "always"}).to_string();
    let ask = async |who: &super::common::Client, body: &str| {
        who.ask("POST", "/api/v1/rules", &headers, body.as_bytes())
            .await
    };
    let first = ask(&one, &body).await;
    assert_eq!(first.status, 201, "{}", first.text());
    // Again, by whom it belongs to: the receipt of then, and nothing is done twice.
    assert_eq!(ask(&one, &body).await.json()["did"], first.json()["did"]);
    let reused = ask(&one, &body.replace("make", "rm")).await;
    assert_eq!(
        (reused.status, reused.json()["code"].clone()),
        (409, json!("key_reused"))
    );
    // By another, even for the same command: nothing of the first is told, and nothing is done in its name.
    let theirs = ask(&other, &body).await;
    let code = theirs.json()["code"].clone();
    assert_eq!((theirs.status, code), (409, json!("key_reused")));
    assert!(!theirs.text().contains("did") && !theirs.text().contains("`one`"));
    let rules = served.client().get("/rules").await.json();
    let by: Vec<&str> = rules
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|rule| rule["by"].as_str())
        .collect();
    assert_eq!(by, ["one"]);
    // Longer than a key may be, and one that is none.
    for key in ["x".repeat(10_000), "a b".to_owned(), "\u{e9}".to_owned()] {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key.as_str()),
        ];
        let answer = one
            .ask("POST", "/api/v1/rules", &headers, body.as_bytes())
            .await;
        assert_eq!(answer.status, 400, "{key:.20}");
    }
}

#[tokio::test]
async fn there_are_never_more_tokens_links_and_logins_than_are_kept() {
    let server = Server::start().await;
    let oldest = server.code(Scope::Full);
    for at in 0..254 {
        server.token(&format!("token {at}"), Scope::Read);
    }
    let create = async |name: &str| {
        let body = json!({"name": name, "scope": "read"});
        let request = Request::post("/api/v1/tokens").bearer(&server.owner());
        server.ask(request.json(&body)).await
    };
    assert_eq!(create("the last").await.status, 201);
    let refused = create("one too many").await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "invalid"));
    // Of links and logins the oldest makes room.
    for _ in 0..32 {
        server.code(Scope::Full);
    }
    let body = json!({"code": oldest});
    assert_eq!(
        server
            .ask(Request::post("/api/v1/login").json(&body))
            .await
            .status,
        401
    );
    let size = std::fs::metadata(server.folder.path().join("auth/tokens.json"))
        .unwrap()
        .len();
    assert!(size < 256 * 1_024, "{size}");
}

#[tokio::test]
async fn a_reader_that_asks_and_never_reads_is_hung_up_on() {
    use tokio::io::AsyncWriteExt as _;
    let limits = countersign_server::listen::Limits {
        stall: std::time::Duration::from_millis(300),
        ..Default::default()
    };
    let server = Server::with(limits, &[]).await;
    let request = Request::get("/login.css")
        .host_if_none(&server.name())
        .bytes();
    let request = String::from_utf8(request)
        .unwrap()
        .replace("Connection: close\r\n", "");
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    // One request behind the other: when its own buffers are full, the server waits, and would for ever.
    let asks = async { while stream.write_all(request.as_bytes()).await.is_ok() {} };
    tokio::time::timeout(DEADLINE, asks)
        .await
        .expect("it is never hung up on");
    assert_eq!(
        server
            .ask(Request::get(ME).bearer(&server.owner()))
            .await
            .status,
        200
    );
}
