//! Server-sent events as a browser reads them.
//!
//! Owns [`Events`]. Keeps the last id as an `EventSource` does, and counts heartbeats.

use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use super::http::{Answer, Chunks, head, head_end};
use super::stage::DEADLINE;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        let read = serde_json::from_str(&self.data);
        read.unwrap_or_else(|error| panic!("{error}: {}", self.data))
    }
}

/// A stream of events that is being read.
#[derive(Debug)]
pub(crate) struct Events {
    stream: TcpStream,
    pub(crate) headers: Vec<(String, String)>,
    chunks: Chunks,
    /// Whole bytes that are no whole event yet.
    text: Vec<u8>,
    /// The id of the last event that had one.
    pub(crate) last: Option<String>,
    pub(crate) heartbeats: usize,
    pub(crate) retry: Option<u64>,
}

impl Events {
    /// Reads the head of the answer. What is no stream is given back whole.
    pub(crate) async fn begin(mut stream: TcpStream) -> Result<Self, Answer> {
        let mut bytes = Vec::new();
        let end = loop {
            let mut part = [0; 4096];
            let read = tokio::time::timeout(DEADLINE, stream.read(&mut part));
            let read = read.await.expect("an answer comes soon").unwrap();
            assert!(read > 0, "the connection ended before the head");
            bytes.extend_from_slice(&part[..read]);
            if let Some(end) = head_end(&bytes) {
                break end;
            }
        };
        let (status, headers) = head(&bytes[..end]);
        let body = bytes.split_off(end);
        if status != 200 {
            return Err(Answer {
                status,
                headers,
                body,
            });
        }
        let mut events = Self {
            stream,
            headers,
            chunks: Chunks::default(),
            text: Vec::new(),
            last: None,
            heartbeats: 0,
            retry: None,
        };
        events.chunks.feed(&body, &mut events.text);
        Ok(events)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The next event, soon. None at a clean end.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        let next = tokio::time::timeout(DEADLINE, self.read_next()).await;
        next.expect("the next event comes soon")
    }

    /// The next event of this name; what comes before it is passed over.
    pub(crate) async fn until(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().await;
            let event = event.unwrap_or_else(|| panic!("it ended before `{name}`"));
            if event.name == name {
                return event;
            }
        }
    }

    /// Whether no event comes for a moment.
    pub(crate) async fn is_quiet(&mut self, moment: Duration) -> bool {
        tokio::time::timeout(moment, self.read_next())
            .await
            .is_err()
    }

    /// Waits until so many heartbeats were there.
    pub(crate) async fn until_heartbeats(&mut self, count: usize) {
        let waiting = async {
            while self.heartbeats < count {
                self.take_all();
                assert!(self.more().await, "it ended");
                self.take_all();
            }
        };
        let waiting = tokio::time::timeout(DEADLINE, waiting).await;
        waiting.expect("heartbeats come");
    }

    /// Whether it ended as a stream ends that was not cut off.
    pub(crate) fn is_clean_end(&self) -> bool {
        self.chunks.is_over
    }

    /// The bytes that came so far, and more as they come, without being read as events.
    pub(crate) async fn raw(&mut self) -> Vec<u8> {
        if self.text.is_empty() {
            let more = tokio::time::timeout(DEADLINE, self.more()).await;
            more.expect("bytes come soon");
        }
        std::mem::take(&mut self.text)
    }

    async fn read_next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.take() {
                return Some(event);
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// Reads on. False at the end.
    async fn more(&mut self) -> bool {
        if self.chunks.is_over {
            return false;
        }
        let mut part = [0; 16 << 10];
        match self.stream.read(&mut part).await {
            Ok(0) | Err(_) => false,
            Ok(read) => {
                self.chunks.feed(&part[..read], &mut self.text);
                true
            }
        }
    }

    fn take_all(&mut self) {
        while self.take().is_some() {}
    }

    /// The first whole event that is there.
    fn take(&mut self) -> Option<Event> {
        loop {
            let end = self.text.windows(2).position(|two| two == b"\n\n")?;
            let block: Vec<u8> = self.text.drain(..end + 2).collect();
            let block = String::from_utf8(block).unwrap();
            if let Some(event) = self.block(block.trim_end_matches('\n')) {
                return Some(event);
            }
        }
    }

    fn block(&mut self, block: &str) -> Option<Event> {
        let mut event = Event {
            name: "message".to_owned(),
            id: None,
            data: String::new(),
        };
        let mut has_data = false;
        for line in block.split('\n') {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" => self.heartbeats += 1,
                "retry" => self.retry = value.parse().ok(),
                "event" => event.name = value.to_owned(),
                "id" => event.id = Some(value.to_owned()),
                "data" => {
                    if has_data {
                        event.data.push('\n');
                    }
                    event.data.push_str(value);
                    has_data = true;
                }
                other => panic!("no field: {other}"),
            }
        }
        if event.id.is_some() {
            self.last.clone_from(&event.id);
        }
        has_data.then_some(event)
    }
}
