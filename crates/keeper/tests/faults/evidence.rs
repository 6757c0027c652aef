//! What is on the disk after a fault: the journal, read without the journal's own reader, and what the witness wrote.
//!
//! Owns reading; judges nothing. The files are read as text of the documented format, so that a mistake of the reader
//! cannot hide one of the writer.

use std::path::{Path, PathBuf};

use countersign_journal::{Kind, Record};
use serde_json::Value;

/// One record with the generation of its segment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) generation: u32,
    pub(crate) seq: u64,
    pub(crate) at: u64,
    pub(crate) kind: Kind,
    pub(crate) payload: Vec<u8>,
}

impl Entry {
    /// The payload as JSON; null if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.payload).unwrap_or_default()
    }

    /// Whether it tells how an agent began or ended, or what it had to complain of.
    fn is_of_a_life(&self) -> bool {
        match self.kind {
            Kind::Keeper => !["head", "clock"].iter().any(|name| self.is_event(name)),
            Kind::Stderr | Kind::StderrPiece => true,
            Kind::Agent => !self.json()["errors"].is_null(),
            _ => false,
        }
    }

    /// One line of it. Of a command only the end: it says with which conversation an agent began.
    fn in_short(&self) -> String {
        let mut json = self.json();
        let text = match json["argv"].as_array() {
            Some(argv) => {
                let end = argv.len().saturating_sub(2);
                json["argv"] = Value::from(&argv[end..]);
                json["env"] = Value::Null;
                json.to_string()
            }
            None if !json["errors"].is_null() => format!("… \"errors\":{}", json["errors"]),
            None => String::from_utf8_lossy(&self.payload).into_owned(),
        };
        let text: String = text.chars().take(300).collect();
        format!("{}/{} {} {text}", self.generation, self.seq, self.kind)
    }

    /// Whether it is the keeper's word for that event.
    pub(crate) fn is_event(&self, name: &str) -> bool {
        self.kind == Kind::Keeper && self.json()["event"] == name
    }
}

/// A journal as it lies there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    pub(crate) entries: Vec<Entry>,
    /// Lines that are no records, by segment.
    pub(crate) damaged: Vec<String>,
    /// What stands behind the last newline of the newest segment.
    pub(crate) torn: Vec<u8>,
}

impl Journal {
    /// Reads the segments of a session's folder.
    pub(crate) fn read(session: &Path) -> Self {
        let mut journal = Self::default();
        let segments = segments(session);
        for (index, path) in segments.iter().enumerate() {
            let bytes = plain(path);
            journal.take_segment(path, &bytes, index + 1 == segments.len());
        }
        journal
    }

    fn take_segment(&mut self, path: &Path, bytes: &[u8], is_newest: bool) {
        let end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (whole, torn) = bytes.split_at(end);
        if is_newest {
            self.torn = torn.to_vec();
        } else if !torn.is_empty() {
            self.damaged
                .push(format!("{}: ends in the middle", path.display()));
        }
        let mut lines = whole.split_inclusive(|byte| *byte == b'\n');
        let Some(header) = lines.next() else { return };
        let header = String::from_utf8_lossy(header);
        let words: Vec<&str> = header.trim_end().split(' ').collect();
        let generation = match words.as_slice() {
            ["#countersign-journal", "2", _, generation, ..] => generation.parse().ok(),
            _ => None,
        };
        let Some(generation) = generation else {
            self.damaged
                .push(format!("{}: header {header:?}", path.display()));
            return;
        };
        for line in lines {
            match Record::parse(&line[..line.len() - 1]) {
                Ok(record) => self.entries.push(Entry {
                    generation,
                    seq: record.seq,
                    at: record.at,
                    kind: record.kind,
                    payload: record.payload.to_vec(),
                }),
                Err(error) => self.damaged.push(format!("{}: {error}", path.display())),
            }
        }
    }

    /// What one generation holds of one kind.
    pub(crate) fn of(&self, generation: u32, kind: Kind) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.generation == generation && entry.kind == kind)
    }

    /// The keeper's words for one event.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        let fitting = self.entries.iter().filter(|entry| entry.is_event(name));
        fitting.map(Entry::json).collect()
    }

    /// The generations there are.
    pub(crate) fn generations(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.entries.iter().map(|entry| entry.generation).collect();
        all.dedup();
        all
    }

    /// What the agent said, as JSON, over all generations.
    pub(crate) fn said(&self) -> impl Iterator<Item = (&Entry, Value)> {
        let agent = self
            .entries
            .iter()
            .filter(|entry| entry.kind == Kind::Agent);
        agent.map(|entry| (entry, entry.json()))
    }
}

/// How many of the newest records are told whatever they are.
const NEWEST: usize = 12;

/// What became of a session, for a test that failed: what its keepers wrote about themselves, how each of its agents began
/// and ended and what it had to complain of, and the newest records.
pub(crate) fn story(session: &Path) -> String {
    let log = std::fs::read_to_string(session.join("keeper.log")).unwrap_or_default();
    let journal = Journal::read(session);
    let newest = journal.entries.len().saturating_sub(NEWEST);
    let told = journal.entries.iter().enumerate();
    let told = told.filter(|(index, entry)| *index >= newest || entry.is_of_a_life());
    let told: Vec<String> = told.map(|(_, entry)| entry.in_short()).collect();
    let dir = session.display();
    format!("{dir}, keeper.log:\n{log}\njournal:\n{}", told.join("\n"))
}

/// The segment files of a session, oldest first.
pub(crate) fn segments(session: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(session.join("journal")) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let is_packed = path.extension().is_some_and(|end| end == "zst");
            // A plain one beside it is about to go, and the same.
            path.extension().is_some_and(|end| end == "j")
                || (is_packed && !path.with_extension("").exists())
        })
        .collect();
    paths.sort();
    paths
}

/// What a segment holds, in whichever form it is by now: a host makes closed ones small.
fn plain(path: &Path) -> Vec<u8> {
    let mut packed = path.as_os_str().to_owned();
    if path.extension().is_some_and(|end| end == "j") {
        match std::fs::read(path) {
            Ok(bytes) => return bytes,
            Err(_) => packed.push(".zst"),
        }
    }
    let packed = std::fs::read(packed).unwrap_or_default();
    zstd::decode_all(&*packed).unwrap_or_default()
}

/// What the witness of one generation wrote down.
#[derive(Debug, Clone, Default)]
pub(crate) struct Witness {
    /// What the CLI wrote.
    pub(crate) out: Vec<u8>,
    /// What reached its stdin.
    pub(crate) heard: Vec<u8>,
    /// How many agents ran in this generation.
    pub(crate) starts: usize,
}

impl Witness {
    /// Reads the files of one generation.
    pub(crate) fn read(folder: &Path, generation: u32) -> Self {
        let folder = folder.join(format!("g{generation}"));
        let read = |name: &str| std::fs::read(folder.join(name)).unwrap_or_default();
        Self {
            out: read("out"),
            heard: read("in"),
            starts: read("starts").iter().filter(|byte| **byte == b'\n').count(),
        }
    }

    /// The whole lines that reached stdin, as JSON.
    pub(crate) fn lines_heard(&self) -> Vec<Value> {
        let lines = self.heard.split_inclusive(|byte| *byte == b'\n');
        let whole = lines.filter(|line| line.ends_with(b"\n"));
        whole
            .map(|line| serde_json::from_slice(line).unwrap_or_default())
            .collect()
    }
}

/// The answer to a question, if the line is one: its id, and whether it allows.
pub(crate) fn answer(line: &Value) -> Option<(&str, bool)> {
    (line["type"] == "control_response").then_some(())?;
    let response = &line["response"];
    let id = response["request_id"].as_str()?;
    Some((id, response["response"]["behavior"] == "allow"))
}

/// A question about a tool, if the line is one: its id, the id of the call, and the mark that its command leaves.
pub(crate) fn question(line: &Value) -> Option<(&str, &str, &str)> {
    let request = &line["request"];
    let is_one = line["type"] == "control_request" && request["subtype"] == "can_use_tool";
    is_one.then_some(())?;
    let command = request["input"]["command"].as_str().unwrap_or_default();
    Some((
        line["request_id"].as_str()?,
        request["tool_use_id"].as_str().unwrap_or_default(),
        mark(command),
    ))
}

/// What `echo MARK >> ran.log`, wherever it stands in a command, leaves.
fn mark(command: &str) -> &str {
    let rest = command.split("echo ").nth(1).unwrap_or_default();
    rest.split(" >>").next().unwrap_or_default().trim()
}

/// What a tool call came to, if the line tells of it: the id of the call, and whether it failed.
pub(crate) fn tool_results(line: &Value) -> Vec<(String, bool)> {
    if line["type"] != "user" {
        return Vec::new();
    }
    let blocks = line["message"]["content"].as_array().into_iter().flatten();
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results
        .map(|block| {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            (id.to_owned(), block["is_error"] == true)
        })
        .collect()
}
