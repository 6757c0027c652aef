//! What is too large, too slow, too many, or no HTTP at all.

use std::time::{Duration, Instant};

use countersign_server::listen::{Limits, Pace};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::server::Server;
use super::talk::{Answer, DEADLINE, Request, rest, talk};

const ME: &str = "/api/v1/me";

fn short() -> Limits {
    Limits {
        head: Duration::from_millis(300),
        pace: Pace {
            grace: Duration::from_millis(300),
            bytes_per_second: 1_000,
        },
        ..Limits::default()
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_sent() {
    let server = Server::start().await;
    let request = Request::post("/api/v1/tokens")
        .bearer(&server.owner())
        .header("Content-Type", "application/json")
        .header("Content-Length", &(30 << 20).to_string());
    let answer = server.ask(request).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "too_large"));
}

#[tokio::test]
async fn a_body_of_no_stated_length_is_cut_at_the_limit() {
    let server = Server::start().await;
    let request = Request::post("/api/v1/tokens")
        .bearer(&server.owner())
        .header("Content-Type", "application/json")
        .header("Transfer-Encoding", "chunked")
        .host_if_none(&server.name());
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let (mut read, mut write) = stream.split();
    let send = async {
        let mut sent = write.write_all(&request.bytes()).await;
        let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
        // Endless, if nobody stops it.
        while sent.is_ok() {
            sent = write.write_all(&chunk).await;
        }
    };
    let stopped = tokio::time::timeout(DEADLINE, async {
        tokio::join!(send, rest(&mut read));
    });
    stopped.await.expect("it takes bytes without end");
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let server = Server::start().await;
    let one = Request::get(ME).header("X-Long", &"x".repeat(70_000));
    assert_eq!(server.ask(one).await.status, 431);
    let long = Request::get(&format!("{ME}?{}", "x".repeat(70_000)));
    assert!(matches!(server.ask(long).await.status, 414 | 431));
    let many = (0..200).fold(Request::get(ME), |request, at| {
        request.header(&format!("X-{at}"), "x")
    });
    assert_eq!(server.ask(many).await.status, 431);
}

#[tokio::test]
async fn a_head_that_never_ends_is_hung_up_on() {
    let server = Server::with(short(), &[]).await;
    let began = Instant::now();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        .await
        .unwrap();
    rest(&mut stream).await;
    assert!(began.elapsed() >= short().head);
    // Nor one that says a little more all the time.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let (mut read, mut write) = stream.split();
    let trickle = async {
        let mut sent = write.write_all(b"GET / HTTP/1.1\r\n").await;
        while sent.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            sent = write.write_all(b"X-A: b\r\n").await;
        }
    };
    let ended = tokio::time::timeout(DEADLINE, async { tokio::join!(trickle, rest(&mut read)) });
    ended.await.expect("it waits for ever");
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_hung_up_on() {
    let server = Server::with(short(), &[]).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    assert!(rest(&mut stream).await.is_empty());
}

#[tokio::test]
async fn a_body_that_never_ends_is_hung_up_on() {
    let server = Server::with(short(), &[]).await;
    let request = Request::post("/api/v1/tokens")
        .bearer(&server.owner())
        .header("Content-Type", "application/json")
        .header("Content-Length", "1000");
    let answer = server.ask(request).await;
    assert_eq!((answer.status, answer.code().as_str()), (408, "too_late"));
}

#[tokio::test]
async fn a_body_that_trickles_is_hung_up_on() {
    let server = Server::with(short(), &[]).await;
    let request = Request::post("/api/v1/tokens")
        .bearer(&server.owner())
        .header("Content-Type", "application/json")
        .header("Content-Length", "100000")
        .host_if_none(&server.name());
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let (mut read, mut write) = stream.split();
    let trickle = async {
        let mut sent = write.write_all(&request.bytes()).await;
        while sent.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            sent = write.write_all(b" ").await;
        }
    };
    let both = async { tokio::join!(trickle, rest(&mut read)).1 };
    let read = tokio::time::timeout(DEADLINE, both)
        .await
        .expect("it waits for ever");
    assert_eq!(Answer::read(&read).status, 408);
}

#[tokio::test]
async fn a_body_that_is_slow_but_steady_is_read() {
    let mut limits = short();
    limits.pace.bytes_per_second = 20;
    let server = Server::with(limits, &[]).await;
    let body = json!({"name": "slow", "scope": "read"}).to_string();
    let request = Request::post("/api/v1/tokens")
        .bearer(&server.owner())
        .header("Content-Type", "application/json")
        .header("Content-Length", &body.len().to_string())
        .host_if_none(&server.name());
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&request.bytes()).await.unwrap();
    for part in body.as_bytes().chunks(8) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(part).await.unwrap();
    }
    assert_eq!(Answer::read(&rest(&mut stream).await).status, 201);
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_and_the_socket_stays_open() {
    let limits = Limits {
        connections: 2,
        head: Duration::from_secs(2),
        ..Limits::default()
    };
    let server = Server::with(limits, &[]).await;
    let began = Instant::now();
    let _silent = [
        TcpStream::connect(server.address).await.unwrap(),
        TcpStream::connect(server.address).await.unwrap(),
    ];
    // Over the network one has to wait for the silent ones to be hung up on, over the socket one does not.
    let waiting = server.ask(Request::get(ME).bearer(&server.owner()));
    let near = server.ask_socket(Request::get(ME));
    let (waited, near) = tokio::join!(async { (waiting.await.status, began.elapsed()) }, async {
        (near.await.status, began.elapsed())
    });
    assert_eq!((waited.0, near.0), (200, 200));
    assert!(waited.1 >= limits.head, "{waited:?}");
    assert!(near.1 < waited.1, "{near:?} {waited:?}");
}

#[tokio::test]
async fn a_length_beside_chunks_is_not_believed() {
    let server = Server::start().await;
    let owner = server.owner();
    let name = server.name();
    // If one of two readers believed the length, the rest would be a second request.
    let bytes = format!(
        "POST /api/v1/tokens HTTP/1.1\r\nHost: {name}\r\nAuthorization: Bearer {owner}\r\n\
         Content-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n0\r\n\r\nGET /api/v1/me HTTP/1.1\r\nHost: {name}\r\n\r\n"
    );
    let answer = talk(server.address, bytes.as_bytes()).await;
    assert!((400..500).contains(&answer.status), "{answer:?}");
    assert_eq!(answer.body.matches("HTTP/1.1").count(), 0, "{answer:?}");
    for two in [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: +2",
        "Content-Length: 2, 3",
    ] {
        let bytes = format!(
            "POST /login HTTP/1.1\r\nHost: {name}\r\n{two}\r\nConnection: close\r\n\r\n{{}}"
        );
        let answer = talk(server.address, bytes.as_bytes()).await;
        assert_eq!(answer.status, 400, "{two}");
    }
}

#[tokio::test]
async fn a_header_cannot_be_smuggled_in() {
    let server = Server::start().await;
    let owner = server.owner();
    let name = server.name();
    for line in [
        "X-A: b\rX-C: d",
        "X-A: b\0",
        "X A: b",
        ": b",
        "X-A\t: b",
        " folded: b",
        "X-A: b\n\u{0}",
    ] {
        let bytes = format!(
            "GET {ME} HTTP/1.1\r\nHost: {name}\r\nAuthorization: Bearer {owner}\r\n{line}\r\nConnection: close\r\n\r\n"
        );
        let answer = talk(server.address, bytes.as_bytes()).await;
        assert_eq!(answer.status, 400, "{line:?} {answer:?}");
    }
    // Nor out again: no letter of an address reaches a header of the answer.
    for path in [
        "/login?code=%0d%0aSet-Cookie:%20a=b",
        "/x%0d%0aX-Bad:%20y",
        "/%0d%0aLocation:%20//evil.example",
    ] {
        let answer = server.ask(Request::get(path)).await;
        let text = format!("{:?}", answer.headers);
        assert!(
            answer.header("x-bad").is_none() && answer.header("set-cookie").is_none(),
            "{path}"
        );
        assert!(
            !text.contains("evil") && answer.header("location").is_none(),
            "{path} {text}"
        );
    }
}

#[tokio::test]
async fn what_is_no_http_is_hung_up_on() {
    let server = Server::start().await;
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc".as_slice(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let answer = talk(server.address, bytes).await;
        assert!(matches!(answer.status, 0 | 400 | 403 | 505), "{answer:?}");
    }
    assert_eq!(
        server
            .ask(Request::get(ME).bearer(&server.owner()))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn the_end_of_the_server_does_not_wait_for_silent_connections() {
    let server = Server::start().await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(
        server
            .ask(Request::get(ME).bearer(&server.owner()))
            .await
            .status,
        200
    );
    let socket = server.socket();
    let ended = tokio::time::timeout(DEADLINE, server.end());
    ended.await.expect("it never ends");
    rest(&mut silent).await;
    assert!(!socket.exists());
}
