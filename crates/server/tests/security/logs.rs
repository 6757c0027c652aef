//! What the log says of requests, and what it never says.

use std::io;
use std::sync::{Arc, Mutex};

use countersign_api::Scope;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::server::Server;
use super::talk::Request;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn a_token_or_code_is_never_logged_wherever_it_stands() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    // For the whole process: also what other threads say.
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let server = Server::start().await;
    let (owner, code) = (server.owner(), server.code(Scope::Full));
    let reader = server.token("the reader", Scope::Read);
    let wrong = concat!("cs_", "0123456789abcdef0123456789abcdef");
    for request in [
        Request::get(&format!("/login?code={code}")),
        Request::get(&format!("/api/v1/me?token={owner}")),
        Request::get(&format!("/{owner}/x")),
        Request::get(&format!("/api/v1/sessions/{owner}")).bearer(&reader),
        Request::get("/api/v1/me").bearer(wrong),
        Request::new(wrong, "/"),
        Request::get("/api/v1/me").header("Host", wrong),
        Request::post("/api/v1/login").json(&json!({"token": owner})),
        Request::post("/login").form(&format!("code={code}")),
        Request::post("/api/v1/login").json(&json!({"token": wrong})),
        Request::get("/api/v1/me").bearer(&reader),
    ] {
        server.ask(request).await;
    }
    let cookie = server.cookie(Scope::Full).await;
    server.ask(Request::get("/api/v1/me").cookie(&cookie)).await;

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        text.contains("/api/v1/me") && text.contains("the reader"),
        "{text}"
    );
    assert!(
        text.contains("status=401") && text.contains("route=\"/login\""),
        "{text}"
    );
    let value = cookie.split_once('=').unwrap().1;
    for secret in [owner.as_str(), &code, &reader, wrong, value] {
        assert!(!text.contains(secret), "{secret} is in:\n{text}");
    }
}
