//! A receiver of webhooks on loopback that does what a test tells it, on purpose without an HTTP library.
//!
//! Owns what was received, in the order it came in whole. Knows nothing of what is under test.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::stage::until;

/// What it does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Answers with this status.
    Status(u16),
    /// Answers with these bytes.
    Raw(String),
    /// Answers with this, then goes on for ever.
    Endless(String),
    /// Says nothing until it is let go, then answers with 200.
    Hold,
    /// Closes without a word.
    Close,
}

/// A request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) first: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// When the event happened that it tells.
    pub(crate) fn at(&self) -> u64 {
        self.json()["at"].as_u64().unwrap()
    }
}

struct Shared {
    acts: Mutex<VecDeque<Act>>,
    received: Mutex<Vec<Received>>,
    released: Mutex<bool>,
    release: Notify,
}

/// The receiver. Ends when it is dropped.
pub(crate) struct Server {
    shared: Arc<Shared>,
    port: u16,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// One that does these things in turn, and answers with 200 afterwards.
    pub(crate) async fn start(acts: impl IntoIterator<Item = Act>) -> Self {
        Self::at(0, acts).await
    }

    pub(crate) async fn at(port: u16, acts: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            acts: Mutex::new(acts.into_iter().collect()),
            received: Mutex::default(),
            released: Mutex::default(),
            release: Notify::new(),
        });
        let own = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&own)));
            }
        });
        Self { shared, port, task }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook?key=value", self.port)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Waits until so many have come.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Received> {
        until(&format!("{count} requests"), || {
            self.received().len() >= count
        })
        .await;
        self.received()
    }

    /// Those that are held are answered, and none is held any more.
    pub(crate) fn release(&self) {
        *self.shared.released.lock().unwrap() = true;
        self.shared.release.notify_waiters();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    async fn held(&self) {
        let released = self.release.notified();
        tokio::pin!(released);
        // In line before the look: what is let go in between is heard.
        released.as_mut().enable();
        let is_released = *self.released.lock().unwrap();
        if !is_released {
            released.await;
        }
    }
}

/// Serves one request on a connection of any kind.
async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, shared: Arc<Shared>) {
    let Some(received) = read(&mut stream).await else {
        return;
    };
    let act = shared.acts.lock().unwrap().pop_front();
    shared.received.lock().unwrap().push(received);
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned();
    let answer = match act {
        None => ok,
        Some(Act::Status(status)) => {
            format!("HTTP/1.1 {status} X\r\nContent-Length: 4\r\n\r\nsaid")
        }
        Some(Act::Raw(answer)) => answer,
        Some(Act::Endless(start)) => {
            let mut next = start.into_bytes();
            while stream.write_all(&next).await.is_ok() {
                next = vec![b'x'; 1 << 16];
            }
            return;
        }
        Some(Act::Hold) => {
            shared.held().await;
            ok
        }
        Some(Act::Close) => return,
    };
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// Reads one request from any stream; none if it is not a whole one.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Received> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.split("\r\n");
    let first = lines.next()?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut received = Received {
        first,
        headers,
        body: bytes.split_off(end + 4),
    };
    let length: usize = received.header("content-length")?.parse().ok()?;
    while received.body.len() < length {
        if stream.read_buf(&mut received.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(received)
}
