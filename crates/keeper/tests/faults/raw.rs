//! A bare client of the keeper's socket: the bytes of the protocol, written and read as they are.
//!
//! Owns [`Raw`]. Knows nothing of the host's own side of the protocol, so that what an older or a hostile peer would
//! send can be sent.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::wait::DEADLINE;

/// A connection.
pub(crate) struct Raw {
    stream: UnixStream,
    read: BufReader<UnixStream>,
}

impl Raw {
    /// Connects and says nothing.
    pub(crate) fn connect(socket: &Path) -> std::io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        let read = BufReader::new(stream.try_clone()?);
        Ok(Self { stream, read })
    }

    /// Connects, says hello and gives the answer.
    pub(crate) fn hello(socket: &Path, token: &str, epoch: u64, role: &str) -> (Self, Value) {
        let mut raw = Self::connect(socket).unwrap();
        raw.say(&hello(token, epoch, role));
        let answer = raw.next().expect("an answer to hello");
        (raw, answer)
    }

    /// One message.
    pub(crate) fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// A line for the agent.
    pub(crate) fn put(&mut self, reference: &Value, line: &Value, more: &Value) {
        let line = format!("{line}\n");
        let mut message = json!({"type":"put","ref":reference,"len":line.len()});
        for (name, value) in more.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        self.write(format!("{message}\n{line}").as_bytes());
    }

    /// Bytes as they are. A peer that has hung up is no failure here: what it said comes out of [`Raw::next`].
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// The next message; `None` when the keeper has hung up.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.read.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("nothing came from the keeper: {error}"),
        }
    }

    /// The next message of this type; levels and others are passed over.
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        loop {
            match self.next() {
                Some(message) if message["type"] == kind => return message,
                Some(_) => {}
                None => panic!("the keeper hung up before {kind}"),
            }
        }
    }
}

/// The first message.
pub(crate) fn hello(token: &str, epoch: u64, role: &str) -> Value {
    json!({"type":"hello","proto":1,"epoch":epoch,"token":token,"role":role})
}

/// A message of a user.
pub(crate) fn user(uuid: &str, text: &str) -> Value {
    json!({
        "type":"user","uuid":uuid,"session_id":"","parent_tool_use_id":null,
        "message":{"role":"user","content":text},
    })
}

/// The answer to a question about a tool: the input that is allowed, or a refusal.
pub(crate) fn answer(request_id: &str, allowed: Option<&Value>) -> Value {
    let verdict = match allowed {
        Some(input) => json!({"behavior":"allow","updatedInput":input}),
        None => json!({"behavior":"deny","message":"no"}),
    };
    json!({
        "type":"control_response",
        "response":{"subtype":"success","request_id":request_id,"response":verdict},
    })
}
