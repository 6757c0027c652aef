//! What the tests of the fold share: recordings and lines as records, entries as text that a person can read.
//!
//! Owns nothing of the fold. Invariant: the text names everything an entry says, so that a changed rule changes it.
#![allow(dead_code, reason = "each test binary uses its own part of it")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod text;

use std::path::{Path, PathBuf};

use countersign_journal::{Exit, KeeperEvent, Kind, Record};
use countersign_transcript::{Entries, Entry, Fold};
use countersign_wire::recording::{self, Direction};

pub(crate) use text::transcript;

/// One entry as text, wherever it stands.
pub(crate) fn entry_text(entry: &Entry) -> String {
    text::entry_text(&Entries::default(), entry)
}

/// A record that owns its payload.
#[derive(Clone, PartialEq)]
pub(crate) struct Owned {
    pub(crate) generation: u32,
    pub(crate) seq: u64,
    pub(crate) at: u64,
    pub(crate) kind: Kind,
    pub(crate) payload: Vec<u8>,
}

impl std::fmt::Debug for Owned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let payload = String::from_utf8_lossy(&self.payload);
        let shown: String = payload.chars().take(300).collect();
        write!(
            f,
            "{}-{} {} {} {shown}",
            self.generation, self.seq, self.at, self.kind
        )
    }
}

impl Owned {
    pub(crate) fn record(&self) -> Record<'_> {
        Record {
            seq: self.seq,
            at: self.at,
            kind: self.kind,
            payload: &self.payload,
        }
    }
}

/// Records in the making: numbers and times go on by themselves.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    pub(crate) records: Vec<Owned>,
    pub(crate) generation: u32,
    pub(crate) at: u64,
}

impl Tape {
    pub(crate) fn new() -> Self {
        Self {
            generation: 1,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, kind: Kind, payload: impl AsRef<[u8]>) -> &mut Self {
        self.records.push(Owned {
            generation: self.generation,
            seq: self.records.len() as u64 + 1,
            at: self.at,
            kind,
            payload: payload.as_ref().to_vec(),
        });
        self
    }

    /// A line of the agent.
    pub(crate) fn agent(&mut self, line: impl AsRef<str>) -> &mut Self {
        self.push(Kind::Agent, line.as_ref())
    }

    /// A line of the host.
    pub(crate) fn host(&mut self, line: impl AsRef<str>) -> &mut Self {
        self.push(Kind::Host, line.as_ref())
    }

    /// A note on the next line of the host.
    pub(crate) fn note(&mut self, line: impl AsRef<str>) -> &mut Self {
        self.push(Kind::Note, line.as_ref())
    }

    pub(crate) fn keeper(&mut self, event: &KeeperEvent) -> &mut Self {
        self.push(Kind::Keeper, serde_json::to_vec(event).unwrap())
    }

    /// So many milliseconds pass.
    pub(crate) fn wait(&mut self, ms: u64) -> &mut Self {
        self.at += ms * 1000;
        self
    }

    pub(crate) fn fold(&self) -> (Fold, Entries) {
        fold(&self.records)
    }

    pub(crate) fn text(&self) -> String {
        transcript(&self.records)
    }
}

/// Folds all records from the start.
pub(crate) fn fold(records: &[Owned]) -> (Fold, Entries) {
    let mut fold = Fold::new();
    let mut entries = Entries::default();
    for owned in records {
        entries.apply(fold.step(owned.generation, &owned.record()));
    }
    (fold, entries)
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire")
}

/// Every recording: its name (`version/scenario`) and its records.
pub(crate) fn recordings() -> Vec<(String, Vec<Owned>)> {
    let mut all = Vec::new();
    for version in std::fs::read_dir(fixtures()).unwrap() {
        let version = version.unwrap().path();
        // `newest` is one of them by another name.
        if version.is_symlink() {
            continue;
        }
        for file in std::fs::read_dir(&version).into_iter().flatten() {
            let file = file.unwrap().path();
            let name = format!(
                "{}/{}",
                version.file_name().unwrap().display(),
                file.file_stem().unwrap().display()
            );
            all.push((name, records(&file)));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() > 70, "only {} recordings", all.len());
    all
}

pub(crate) fn recorded(name: &str) -> Vec<Owned> {
    records(&fixtures().join(format!("{name}.ndjson")))
}

/// A recording as the journal that a keeper would have written: each run of the CLI is a generation.
fn records(file: &Path) -> Vec<Owned> {
    let text = std::fs::read(file).unwrap();
    let mut tape = Tape::default();
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    for line in lines.filter(|line| !line.is_empty()) {
        let entry = recording::entry(line).unwrap();
        tape.at = 1_000_000_000 + entry.at * 1000;
        match entry.direction {
            Direction::Out => tape.push(Kind::Agent, &entry.line),
            Direction::In => tape.push(Kind::Host, &entry.line),
            Direction::Err => tape.push(Kind::Stderr, &entry.line),
            Direction::Run => {
                tape.generation += 1;
                let flags = String::from_utf8(entry.line).unwrap();
                let event = opened(tape.generation, &flags);
                tape.keeper(&event);
                tape.keeper(&KeeperEvent::Spawned {
                    pid: 4242,
                    started: 1,
                })
            }
            Direction::End => {
                let code = String::from_utf8(entry.line).unwrap();
                tape.keeper(&KeeperEvent::Exit(Exit {
                    code: code.trim().parse().ok(),
                    ..Exit::default()
                }))
            }
            other => panic!("{other:?}"),
        };
    }
    tape.records
}

pub(crate) fn opened(generation: u32, flags: &str) -> KeeperEvent {
    let flags = flags.split_whitespace().map(str::to_owned);
    KeeperEvent::Open {
        generation,
        boot_id: "b".to_owned(),
        build: "test".to_owned(),
        proto: 1,
        argv: std::iter::once("claude".to_owned()).chain(flags).collect(),
        cwd: "/project".to_owned(),
        env: Vec::new(),
        last_n: 0,
        epoch: 0,
    }
}
