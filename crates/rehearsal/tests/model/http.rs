//! A plain HTTP client for the tests: requests over TCP, answers as they arrive.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Longer than anything a test waits for; only a broken server makes it pass.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// An answer whose head has been read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

/// How a body ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    /// The connection was closed in mid-body.
    Broken,
    /// The connection was reset.
    Reset,
}

pub(crate) async fn send(address: SocketAddr, method: &str, path: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nx-api-key: sk-secret\r\nuser-agent: test\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    read_head(stream).await
}

pub(crate) async fn ask(address: SocketAddr, body: &Value) -> Answer {
    send(
        address,
        "POST",
        "/v1/messages?beta=true",
        body.to_string().as_bytes(),
    )
    .await
}

async fn read_head(stream: TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        within(reader.read_line(&mut line)).await.unwrap();
        match line.trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &String| {
        line.split_once(": ")
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    Answer {
        status,
        headers: lines[1..].iter().filter_map(header).collect(),
        reader,
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// One chunk of a chunked body, or how the body ended.
    pub(crate) async fn chunk(&mut self) -> Result<Vec<u8>, End> {
        let mut size = String::new();
        match within(self.reader.read_line(&mut size)).await {
            Ok(0) => return Err(End::Broken),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                return Err(End::Reset);
            }
            Err(error) => panic!("{error}"),
        }
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut data = vec![0; size + 2];
        match within(self.reader.read_exact(&mut data)).await {
            Ok(_) if size == 0 => Err(End::Whole),
            Ok(_) => {
                data.truncate(size);
                Ok(data)
            }
            Err(_) => Err(End::Broken),
        }
    }

    pub(crate) async fn rest(mut self) -> (Vec<u8>, End) {
        let mut all = Vec::new();
        if let Some(length) = self.header("content-length") {
            all.resize(length.parse().unwrap(), 0);
            within(self.reader.read_exact(&mut all)).await.unwrap();
            return (all, End::Whole);
        }
        loop {
            match self.chunk().await {
                Ok(chunk) => all.extend(chunk),
                Err(end) => return (all, end),
            }
        }
    }

    pub(crate) async fn json(self) -> Value {
        let (body, end) = self.rest().await;
        assert_eq!(end, End::Whole);
        serde_json::from_slice(&body).unwrap()
    }

    /// The events of a stream, and how it ended.
    pub(crate) async fn events(self) -> (Vec<Value>, End) {
        let (body, end) = self.rest().await;
        (events_in(&body), end)
    }
}

pub(crate) fn events_in(body: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(body).unwrap();
    let data = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(
            name.strip_prefix("event: ").unwrap(),
            data["type"].as_str().unwrap()
        );
        data
    };
    text.split_terminator("\n\n").map(data).collect()
}

/// The text the deltas add up to.
pub(crate) fn text_in(events: &[Value]) -> String {
    events
        .iter()
        .filter_map(|event| event["delta"]["text"].as_str())
        .collect()
}

pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work)
        .await
        .expect("the server did nothing for too long")
}
