//! The least of an HTTP client, byte by byte, so that a test sees what is on the wire.
//!
//! Owns [`Client`] and [`Answer`]. One connection a request.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::sse::Events;
use super::stage::DEADLINE;

/// Where the API begins.
const BASE: &str = countersign_api::BASE;

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// A header by its name in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        let read = serde_json::from_slice(&self.body);
        read.unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr, token: Option<String>) -> Self {
        Self { address, token }
    }

    /// Asks for something below the API.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", &format!("{BASE}{path}"), &[], b"").await
    }

    /// The same with headers.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", &format!("{BASE}{path}"), headers, b"")
            .await
    }

    /// Sends JSON to something below the API.
    pub(crate) async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json")];
        let body = body.to_string();
        let path = format!("{BASE}{path}");
        self.ask(method, &path, &headers, body.as_bytes()).await
    }

    /// Asks for anything.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut stream = self.connect().await;
        let mut all = vec![("connection", "close")];
        all.extend_from_slice(headers);
        let request = self.request(method, path, &all, body);
        stream.write_all(&request).await.unwrap();
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut bytes));
        read.await.expect("an answer comes soon").unwrap();
        let end = head_end(&bytes).unwrap_or_else(|| panic!("no head: {bytes:?}"));
        let (status, headers) = head(&bytes[..end]);
        let mut answer = Answer {
            status,
            headers,
            body: bytes.split_off(end),
        };
        if answer.header("transfer-encoding") == Some("chunked") {
            let mut chunks = Chunks::default();
            let mut body = Vec::new();
            chunks.feed(&answer.body, &mut body);
            answer.body = body;
        }
        answer
    }

    /// A stream of events below the API.
    pub(crate) async fn events(&self, path: &str) -> Events {
        self.events_with(path, &[]).await
    }

    /// The same with headers. Panics unless it is a stream.
    pub(crate) async fn events_with(&self, path: &str, headers: &[(&str, &str)]) -> Events {
        match self.try_events(path, headers).await {
            Ok(events) => events,
            Err(answer) => panic!("{} {}", answer.status, answer.text()),
        }
    }

    /// A stream of events, or what was answered instead.
    pub(crate) async fn try_events(
        &self,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Events, Answer> {
        let mut stream = self.connect().await;
        let path = format!("{BASE}{path}");
        let mut all = vec![("accept", "text/event-stream")];
        all.extend_from_slice(headers);
        let request = self.request("GET", &path, &all, b"");
        stream.write_all(&request).await.unwrap();
        Events::begin(stream).await
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        let stream = tokio::time::timeout(DEADLINE, TcpStream::connect(self.address));
        stream.await.expect("the server answers soon").unwrap()
    }

    /// The bytes of a request.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Vec<u8> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        if let Some(token) = &self.token {
            head.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }
}

/// Where the head ends.
pub(crate) fn head_end(bytes: &[u8]) -> Option<usize> {
    let found = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    found.map(|at| at + 4)
}

/// Status and headers.
pub(crate) fn head(bytes: &[u8]) -> (u16, Vec<(String, String)>) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status = status.and_then(|status| status.parse().ok()).unwrap();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    (status, headers.collect())
}

/// Takes the frame of chunks off.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    waiting: Vec<u8>,
    /// The last chunk was there.
    pub(crate) is_over: bool,
}

impl Chunks {
    /// What these bytes complete is appended.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.waiting.extend_from_slice(bytes);
        let mut at = 0;
        while let Some(line) = self.waiting[at..].windows(2).position(|two| two == b"\r\n") {
            let size = std::str::from_utf8(&self.waiting[at..at + line]).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let begin = at + line + 2;
            if self.waiting.len() < begin + size + 2 {
                break;
            }
            out.extend_from_slice(&self.waiting[begin..begin + size]);
            self.is_over |= size == 0;
            at = begin + size + 2;
        }
        self.waiting.drain(..at);
    }
}
