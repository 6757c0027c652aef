//! Clients of a server, each a process of its own: one that reads records, one that decides, one that lists.
//!
//! Owns what they do and what they find. Invariant: a reader that misses a record, or gets one twice, finds nothing.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::helper::{may_begin, ready, tell};
use crate::http::{Connection, Door};
use crate::line::written_at;
use crate::samples::Samples;
use crate::usage;

/// What a reader of records found.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Heard {
    /// From each line's being written to its being read.
    pub(crate) samples: Samples,
    /// From the first line's being written to the last one's being read, in nanoseconds.
    pub(crate) nanos: u64,
    /// In so many pieces.
    pub(crate) pieces: u64,
}

/// What a client that decides found, in nanoseconds each.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Decisions {
    /// To look at a question.
    pub(crate) looks: Samples,
    /// To have a decision stored.
    pub(crate) decisions: Samples,
}

/// What a client that asks again and again found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) samples: Samples,
    pub(crate) nanos: u64,
    /// Bytes of one answer, its head included.
    pub(crate) bytes: usize,
}

/// Reads the file of a token.
pub(crate) fn door(address: &str, token: &str) -> anyhow::Result<Door> {
    let token = std::fs::read_to_string(Path::new(token)).context("no token")?;
    Ok(Door {
        address: address.to_owned(),
        token: token.trim().to_owned(),
    })
}

/// Reads so many lines of a session that carry the time.
pub(crate) fn reader(door: &Door, session: &str, lines: usize) -> anyhow::Result<()> {
    let path = format!("/api/v1/sessions/{session}/events");
    let mut events = Connection::open(door)?.events(&path)?;
    let mut order = Order::default();
    loop {
        let some = events.some()?;
        order.check(some)?;
        if memchr::memmem::find(some, b"event: caught-up\n").is_some() {
            break;
        }
    }
    ready()?;
    let mut samples = Samples::default();
    let (mut first, mut last, mut pieces) = (u64::MAX, 0, 0);
    while samples.len() < lines {
        let some = events.some()?;
        last = usage::now();
        pieces += 1;
        order.check(some)?;
        for written in written_at(some) {
            first = first.min(written);
            samples.push(last.saturating_sub(written));
        }
    }
    ensure!(samples.len() == lines, "{} lines of {lines}", samples.len());
    tell(&Heard {
        samples,
        nanos: last.saturating_sub(first),
        pieces,
    })
}

/// Records come each once and in order.
#[derive(Debug, Default)]
struct Order(u64);

impl Order {
    fn check(&mut self, some: &[u8]) -> anyhow::Result<()> {
        for at in memchr::memmem::find_iter(some, b"event: record\nid: ") {
            let id = &some[at + b"event: record\nid: ".len()..];
            let id = id.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let id = String::from_utf8_lossy(id);
            let seq: u64 = id.rsplit('-').next().unwrap_or_default().parse()?;
            ensure!(seq == self.0 + 1, "record {seq} comes after {}", self.0);
            self.0 = seq;
        }
        Ok(())
    }
}

/// Allows so many calls as soon as it hears of them.
pub(crate) fn decider(door: &Door, calls: usize) -> anyhow::Result<()> {
    let mut asking = Connection::open(door)?;
    let mut events = Connection::open(door)?.events("/api/v1/events")?;
    events.some()?;
    ready()?;
    let mut found = Decisions::default();
    while found.decisions.len() < calls {
        let some = String::from_utf8(events.some()?.to_vec())?;
        for data in some.lines().filter_map(|line| line.strip_prefix("data: ")) {
            let event: Value = serde_json::from_str(data)?;
            if event["event"] == "approval" && event["life"] == "open" {
                let id = event["approval"].as_str().context("no approval")?;
                decide(&mut asking, id, &mut found)?;
            }
        }
    }
    tell(&found)
}

fn decide(asking: &mut Connection, id: &str, found: &mut Decisions) -> anyhow::Result<()> {
    let path = format!("/api/v1/approvals/{id}");
    let began = usage::now();
    let answer = asking.ask("GET", &path, "", b"")?;
    let looked = usage::now();
    let view: Value = serde_json::from_slice(&answer.body).context("no approval")?;
    let body = json!({"saw": view["digest"], "decision": "allow"}).to_string();
    let asked = usage::now();
    let answer = asking.ask("POST", &format!("{path}/decision"), "", body.as_bytes())?;
    let decided = usage::now();
    if answer.status != 200 {
        bail!("not decided: {}", String::from_utf8_lossy(&answer.body));
    }
    found.looks.push(looked - began);
    found.decisions.push(decided - asked);
    Ok(())
}

/// Asks for the same so many times, over so many connections at once. With `tagged` it says what it has already.
pub(crate) fn asker(
    door: &Door,
    path: &str,
    requests: usize,
    connections: usize,
    tagged: bool,
) -> anyhow::Result<()> {
    let mut open = Vec::new();
    let (mut more, mut size) = (String::new(), 0);
    for _ in 0..connections {
        let mut connection = Connection::open(door)?;
        let first = connection.ask("GET", path, "", b"")?;
        ensure!(first.status == 200, "{path}: {}", first.status);
        size = first.body.len();
        if tagged {
            let tag = first.tag.context("a list without a tag")?;
            more = format!("if-none-match: {tag}\r\n");
        }
        open.push(connection);
    }
    ready()?;
    ensure!(may_begin()?, "nobody wants to know");
    let wanted = if tagged { (304, 0) } else { (200, size) };
    let began = usage::now();
    let threads: Vec<_> = open
        .into_iter()
        .map(|mut connection| {
            let (path, more) = (path.to_owned(), more.clone());
            std::thread::spawn(move || {
                let (mut samples, mut bytes) = (Samples::default(), 0);
                for _ in 0..requests / connections {
                    let began = usage::now();
                    let answer = connection.ask("GET", &path, &more, b"")?;
                    samples.push(usage::now() - began);
                    let came = (answer.status, answer.body.len());
                    ensure!(came == wanted, "{came:?} came, not {wanted:?}");
                    bytes = answer.head + answer.body.len();
                }
                Ok((samples, bytes))
            })
        })
        .collect();
    let mut found = Asked::default();
    for thread in threads {
        let (samples, bytes) = thread.join().ok().context("a client panicked")??;
        found.samples.add(samples);
        found.bytes = bytes;
    }
    found.nanos = usage::now() - began;
    tell(&found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_missing_or_comes_twice_is_found() {
        let event = |seq| format!("event: record\nid: 1-{seq}\ndata: {{}}\n\n").into_bytes();
        let mut order = Order::default();
        order.check(&[event(1), event(2)].concat()).unwrap();
        order.check(b":\n\n").unwrap();
        assert!(order.check(&event(4)).is_err());
        assert!(order.check(&event(2)).is_err());
        order.check(&event(3)).unwrap();
    }
}
