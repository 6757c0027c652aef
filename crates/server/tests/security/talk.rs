//! Bytes to a server and back.
//!
//! Owns requests that are written by hand, also such as no client would send, and the reading of answers. Invariant: every
//! wait has a deadline.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};

/// How long anything may take. Far more than it takes: machines that run tests are busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(40);

#[derive(Debug, Clone)]
pub(crate) struct Request {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self {
            line: format!("{method} {path} HTTP/1.1"),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn cookie(self, cookie: &str) -> Self {
        self.header("Cookie", cookie)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().as_bytes())
    }

    pub(crate) fn form(self, body: &str) -> Self {
        self.body("application/x-www-form-urlencoded", body.as_bytes())
    }

    pub(crate) fn body(mut self, kind: &str, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("Content-Type", kind)
            .header("Content-Length", &body.len().to_string())
    }

    pub(crate) fn host_if_none(mut self, host: &str) -> Self {
        if !self.headers.iter().any(|(name, _)| name == "Host") {
            self.headers.insert(0, ("Host".to_owned(), host.to_owned()));
        }
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\r\n", self.line);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("Connection: close\r\n\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// 0 if the connection ended without an answer.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines.filter_map(|line| line.split_once(": "));
        Self {
            status: status.unwrap_or(0),
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// `name=value` of the cookie that it sets.
    pub(crate) fn cookie(&self) -> String {
        let line = self
            .header("set-cookie")
            .unwrap_or_else(|| panic!("no cookie: {self:?}"));
        line.split(';').next().unwrap().to_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of a problem.
    pub(crate) fn code(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        self.json()["code"].as_str().unwrap().to_owned()
    }
}

/// Sends bytes and reads until the other end closes.
pub(crate) async fn talk(to: SocketAddr, bytes: &[u8]) -> Answer {
    exchange(TcpStream::connect(to).await.unwrap(), bytes).await
}

pub(crate) async fn talk_socket(to: &Path, bytes: &[u8]) -> Answer {
    exchange(UnixStream::connect(to).await.unwrap(), bytes).await
}

pub(crate) async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    bytes: &[u8],
) -> Answer {
    // A server that has heard enough closes before all of it is sent.
    let _ = stream.write_all(bytes).await;
    Answer::read(&rest(&mut stream).await)
}

/// What comes until the other end closes.
pub(crate) async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    let read = async {
        loop {
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(length) => bytes.extend_from_slice(&chunk[..length]),
            }
        }
    };
    tokio::time::timeout(DEADLINE, read)
        .await
        .expect("the other end never closes");
    bytes
}
