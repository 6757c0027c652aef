//! Inputs that are lines: recordings, and what a CLI printed.
//!
//! Owns how a line becomes a record. A line that is too long or no entry is told, never fatal.

use std::io::{self, Read};

use countersign_journal::{Kind, Record};
use countersign_wire::frame::{FrameReader, Line};
use countersign_wire::recording::{self, Direction, Header};
use serde_json::json;

use super::Item;
use crate::wire_check::is_from_host;

/// Lines of a file or a pipe.
pub(super) struct Lines {
    input: Box<dyn Read>,
    frames: FrameReader,
    is_over: bool,
    /// The first line, read to see what this is.
    first: Option<Vec<u8>>,
    header: Option<Header>,
    generation: u32,
    seq: u64,
    /// Milliseconds at which this run of the CLI began: each may count from nothing.
    base: u64,
    last: u64,
    payload: Vec<u8>,
}

/// What came of a line, its payload apart.
enum Made {
    Record { at: u64, kind: Kind },
    Damaged(String),
}

impl Lines {
    pub(super) fn new(input: Box<dyn Read>) -> Self {
        Self {
            input,
            frames: FrameReader::new(),
            is_over: false,
            first: None,
            header: None,
            generation: 1,
            seq: 0,
            base: 0,
            last: 0,
            payload: Vec::new(),
        }
    }

    /// The first line that holds anything.
    pub(super) fn peek(&mut self) -> io::Result<Option<&[u8]>> {
        if self.first.is_none() {
            let mut line = Vec::new();
            while line.trim_ascii().is_empty() {
                if self.line(&mut line)?.is_none() {
                    return Ok(None);
                }
            }
            self.first = Some(line);
        }
        Ok(self.first.as_deref())
    }

    /// The first line is the header of a recording.
    pub(super) fn read_recording(&mut self) {
        self.header = self.first.take().as_deref().and_then(recording::header);
        // A recording begins with the start of a CLI.
        self.generation = 0;
    }

    pub(super) fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The next record, and how many bytes were read for it.
    pub(super) fn next(&mut self) -> io::Result<Option<(Item<'_>, u64)>> {
        let mut line = std::mem::take(&mut self.payload);
        let too_long = match self.first.take() {
            Some(first) => {
                line = first;
                None
            }
            None => loop {
                match self.line(&mut line)? {
                    None => return Ok(None),
                    // An empty line says nothing.
                    Some(None) if line.trim_ascii().is_empty() => {}
                    Some(too_long) => break too_long,
                }
            },
        };
        let bytes = line.len() as u64 + 1;
        self.seq += 1;
        self.payload = line;
        let made = match (too_long, self.header.is_some()) {
            (Some(bytes), _) => Made::Damaged(format!(
                "line {}: {bytes} bytes are more than is read",
                self.frames.line_number()
            )),
            (None, true) => self.entry(),
            (None, false) => self.plain(),
        };
        let item = match made {
            Made::Damaged(why) => Item::Damaged(why),
            Made::Record { at, kind } => {
                let record = Record {
                    seq: self.seq,
                    at,
                    kind,
                    payload: &self.payload,
                };
                Item::Record(self.generation.max(1), record)
            }
        };
        Ok(Some((item, bytes)))
    }

    fn plain(&mut self) -> Made {
        let kind = match is_from_host(&self.payload) {
            true => Kind::Host,
            false => Kind::Agent,
        };
        Made::Record { at: 0, kind }
    }

    fn entry(&mut self) -> Made {
        let entry = match recording::entry(&self.payload) {
            Ok(entry) => entry,
            Err(error) => {
                return Made::Damaged(format!("line {}: {error}", self.frames.line_number()));
            }
        };
        if entry.direction == Direction::Run {
            self.generation += 1;
            if self.base + entry.at < self.last {
                self.base = self.last;
            }
        }
        self.last = self.last.max(self.base + entry.at);
        let text = String::from_utf8_lossy(&entry.line);
        let (kind, payload) = match entry.direction {
            Direction::Out => (Kind::Agent, None),
            Direction::In => (Kind::Host, None),
            Direction::Err => (Kind::Stderr, None),
            Direction::Run => (Kind::Keeper, Some(opened(self.generation, &text))),
            Direction::End => (Kind::Keeper, Some(ended(&text))),
            _ => return Made::Damaged("an entry that this build does not know".to_owned()),
        };
        self.payload = payload.map_or(entry.line, String::into_bytes);
        Made::Record {
            at: self.last * 1_000,
            kind,
        }
    }

    /// Reads a line into `line`; nothing at the end, the length of one that is too long.
    fn line(&mut self, line: &mut Vec<u8>) -> io::Result<Option<Option<u64>>> {
        loop {
            if let Some(found) = self.frames.next_line() {
                return Ok(Some(kept(found, line)));
            }
            if self.is_over {
                let last = self.frames.finish();
                return Ok(last.map(|found| kept(found, line)));
            }
            match self.input.read(self.frames.spare()) {
                Ok(0) => self.is_over = true,
                Ok(count) => self.frames.filled(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn kept(found: Line<'_>, line: &mut Vec<u8>) -> Option<u64> {
    line.clear();
    match found {
        Line::Text(text) => {
            line.extend_from_slice(text);
            None
        }
        Line::TooLong { bytes } => Some(bytes),
    }
}

/// The start of a CLI, as a keeper tells it.
fn opened(generation: u32, flags: &str) -> String {
    let argv: Vec<&str> = std::iter::once("claude")
        .chain(flags.split_whitespace())
        .collect();
    json!({
        "event": "open", "generation": generation, "boot_id": "", "build": "", "proto": 0, "argv": argv, "cwd": "",
        "env": [],
    })
    .to_string()
}

/// The end of a CLI, as a keeper tells it.
fn ended(text: &str) -> String {
    let signal = text.strip_prefix("signal ").map(str::parse::<i32>);
    match (text.parse::<i32>(), signal) {
        (Ok(code), _) => json!({"event": "exit", "code": code}),
        (_, Some(Ok(signal))) => json!({"event": "exit", "signal": signal}),
        _ if text == "lost" => json!({"event": "lost"}),
        _ => json!({"event": "exit", "error": text}),
    }
    .to_string()
}
