//! The least of HTTP that a client needs: one connection, one request after the other, or a stream of events.
//!
//! Owns requests and answers on a plain socket, blocking, so that what is measured is the server and not a client's library.
//! Invariant: an answer that is not what was asked for is an error.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Context as _, bail, ensure};

/// Where, and as whom.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) address: String,
    pub(crate) token: String,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    door: Door,
    socket: BufReader<TcpStream>,
    text: String,
}

/// An answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) tag: Option<String>,
    pub(crate) body: Vec<u8>,
    /// Bytes of the head.
    pub(crate) head: usize,
    is_chunked: bool,
    length: usize,
}

impl Connection {
    pub(crate) fn open(door: &Door) -> anyhow::Result<Self> {
        let socket = TcpStream::connect(&door.address).context("nobody listens")?;
        socket.set_nodelay(true)?;
        Ok(Self {
            door: door.clone(),
            socket: BufReader::with_capacity(64 << 10, socket),
            text: String::new(),
        })
    }

    /// One request and its whole answer.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        more: &str,
        body: &[u8],
    ) -> anyhow::Result<Answer> {
        self.send(method, path, more, body)?;
        let mut answer = self.head()?;
        ensure!(!answer.is_chunked, "an answer without its length");
        if answer.status != 304 {
            answer.body.resize(answer.length, 0);
            self.socket.read_exact(&mut answer.body)?;
        }
        Ok(answer)
    }

    fn send(&mut self, method: &str, path: &str, more: &str, body: &[u8]) -> anyhow::Result<()> {
        let Door { address, token } = &self.door;
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{more}"
        );
        if !body.is_empty() {
            let length = body.len();
            request += &format!("content-type: application/json\r\ncontent-length: {length}\r\n");
        }
        request += "\r\n";
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        self.socket.get_mut().write_all(&bytes)?;
        Ok(())
    }

    fn line(&mut self) -> anyhow::Result<&str> {
        self.text.clear();
        ensure!(
            self.socket.read_line(&mut self.text)? > 0,
            "the server has gone"
        );
        Ok(self.text.trim_end())
    }

    fn head(&mut self) -> anyhow::Result<Answer> {
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let mut answer = Answer {
            status: status.with_context(|| format!("{line:?} is no answer"))?,
            ..Answer::default()
        };
        loop {
            let line = self.line()?.to_owned();
            answer.head += line.len() + 2;
            let Some((name, value)) = line.split_once(':') else {
                return Ok(answer);
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => answer.length = value.trim().parse()?,
                "transfer-encoding" => answer.is_chunked = value.trim() == "chunked",
                "etag" => answer.tag = Some(value.trim().to_owned()),
                _ => {}
            }
        }
    }

    /// The events of a stream.
    pub(crate) fn events(mut self, path: &str) -> anyhow::Result<Events> {
        self.send("GET", path, "accept: text/event-stream\r\n", b"")?;
        let answer = self.head()?;
        if answer.status != 200 {
            let mut body = vec![0; answer.length];
            self.socket.read_exact(&mut body)?;
            bail!(
                "{path}: {} {}",
                answer.status,
                String::from_utf8_lossy(&body)
            );
        }
        ensure!(answer.is_chunked, "a stream that ends");
        Ok(Events {
            connection: self,
            chunk: Vec::new(),
        })
    }
}

/// A stream of events.
#[derive(Debug)]
pub(crate) struct Events {
    connection: Connection,
    chunk: Vec<u8>,
}

impl Events {
    /// What the server handed on at once: whole events, one or more.
    pub(crate) fn some(&mut self) -> anyhow::Result<&[u8]> {
        let line = self.connection.line()?;
        let length =
            usize::from_str_radix(line, 16).with_context(|| format!("{line:?} is no chunk"))?;
        ensure!(length > 0, "the stream has ended");
        self.chunk.resize(length, 0);
        self.connection.socket.read_exact(&mut self.chunk)?;
        self.connection.line()?;
        Ok(&self.chunk)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn answering(text: &'static str) -> Door {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let read = socket.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /x HTTP/1.1\r\n"));
            socket.write_all(text.as_bytes()).unwrap();
        });
        let token = String::new();
        Door { address, token }
    }

    #[test]
    fn an_answer_has_a_status_a_tag_and_a_body() {
        let door = answering("HTTP/1.1 200 OK\r\nETag: \"a\"\r\ncontent-length: 2\r\n\r\n{}");
        let answer = Connection::open(&door)
            .unwrap()
            .ask("GET", "/x", "", b"")
            .unwrap();
        assert_eq!((answer.status, answer.tag.as_deref()), (200, Some("\"a\"")));
        assert_eq!(answer.body, b"{}");
    }

    #[test]
    fn events_come_in_the_pieces_in_which_they_were_handed_on() {
        let door = answering(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n:\n\n\r\na\r\ndata: {}\n\n\r\n0\r\n\r\n",
        );
        let mut events = Connection::open(&door).unwrap().events("/x").unwrap();
        assert_eq!(events.some().unwrap(), b":\n\n");
        assert_eq!(events.some().unwrap(), b"data: {}\n\n");
        assert!(events.some().is_err(), "it has ended");
    }
}
