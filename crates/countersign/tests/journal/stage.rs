//! Folders with journals in them, and the binary with nothing of the caller's environment.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use countersign_journal::{Exit, KeeperEvent, Kind, Limits, Note, Writer};
use countersign_wire::recording::{self, Direction};
use serde_json::{Value, json};

/// 2026-01-01 00:00:00 UTC in microseconds.
pub(crate) const BEGAN: u64 = 1_767_225_600_000_000;

pub(crate) const SESSION: &str = "01JSESSION0000000000000000";

/// A folder to work in.
pub(crate) struct Stage {
    _temp: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        Self { _temp: temp, root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The folder of a session in which these recordings were played, one generation each, as a keeper writes it.
    pub(crate) fn session(&self, name: &str, recordings: &[&str]) -> PathBuf {
        let folder = self.path(name);
        for (generation, recorded) in (1..).zip(recordings) {
            let mut journal = Journal::open(&folder, generation);
            journal.play(&recording(recorded));
            journal.end(Exit {
                code: Some(0),
                step: Some("stdin".to_owned()),
                ..Exit::default()
            });
        }
        folder
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .env_clear()
            .current_dir(&self.root)
            .stdin(Stdio::null());
        command.arg("journal").args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// With this on standard input.
    pub(crate) fn fed(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let feeding = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        feeding.join().unwrap();
        output
    }

    /// What was printed; it went well and nothing else was said.
    pub(crate) fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
        text(&output.stdout)
    }

    /// What was said as an error; nothing was printed.
    pub(crate) fn refused(&self, arguments: &[&str]) -> (String, i32) {
        let output = self.run(arguments);
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        let said = text(&output.stderr).replace(&format!("{}/", self.root.display()), "");
        (said, output.status.code().unwrap())
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// A journal as a keeper writes it.
pub(crate) struct Journal {
    pub(crate) writer: Writer,
    pub(crate) now: u64,
    notes: u64,
}

impl Journal {
    pub(crate) fn open(folder: &Path, generation: u32) -> Self {
        let limits = Limits {
            reserve: 0,
            head_every: 5,
            ..Limits::default()
        };
        let dir = folder.join("journal");
        let (mut writer, carried) = Writer::open(&dir, SESSION, generation, limits).unwrap();
        let now = BEGAN + u64::from(generation) * 3_600_000_000;
        let open = KeeperEvent::Open {
            generation,
            boot_id: "boot".to_owned(),
            build: "0.1.0".to_owned(),
            proto: 1,
            argv: vec!["claude".to_owned(), "--verbose".to_owned()],
            cwd: "/project".to_owned(),
            env: vec!["HOME".to_owned()],
            last_n: carried.last_n,
            epoch: carried.epoch,
        };
        writer.push_event(now, &open);
        writer.push_event(now, &KeeperEvent::Attached { epoch: 1 });
        writer.commit().unwrap();
        Self {
            writer,
            now,
            notes: carried.last_n,
        }
    }

    /// Everything that crossed the wire in a recording, answers one second late and noted as a keeper does.
    pub(crate) fn play(&mut self, path: &Path) {
        let began = self.now;
        let mut late = 0;
        let text = fs::read_to_string(path).unwrap();
        for line in text.lines().skip(1) {
            let entry = recording::entry(line.as_bytes()).unwrap();
            let is_answer = entry.direction == Direction::In
                && text_of(&entry.line, "/type") == "control_response";
            late += u64::from(is_answer) * 1_000_000;
            self.now = began + entry.at * 1_000 + late;
            match entry.direction {
                Direction::Out => self.push(Kind::Agent, &entry.line),
                Direction::Err => self.push(Kind::Stderr, &entry.line),
                Direction::In => self.host(&entry.line),
                _ => {}
            }
        }
    }

    pub(crate) fn push(&mut self, kind: Kind, line: &[u8]) {
        self.writer.push(self.now, kind, line);
        self.writer.commit().unwrap();
    }

    fn host(&mut self, line: &[u8]) {
        let mut note = Note::default();
        if text_of(line, "/type") == "control_response" {
            note.answer = Some(text_of(line, "/response/request_id"));
            note.by = Some("rule Bash(touch:*)".to_owned());
            note.why = Some("allowed by the rules of the folder".to_owned());
        } else {
            self.notes += 1;
            note.n = Some(self.notes);
        }
        let note = serde_json::to_vec(&note).unwrap();
        self.writer.push(self.now, Kind::Note, &note);
        self.push(Kind::Host, line);
    }

    pub(crate) fn end(mut self, exit: Exit) {
        self.writer.push_event(self.now, &KeeperEvent::Exit(exit));
        self.writer.head(self.now);
        self.writer.commit().unwrap();
        self.writer.sync().unwrap();
        self.writer.finish();
    }

    /// The keeper is killed: nothing more is written.
    pub(crate) fn lose(mut self) {
        self.writer
            .push_event(self.now, &KeeperEvent::Lost { killed: Vec::new() });
        self.writer.commit().unwrap();
        self.writer.finish();
    }
}

fn text_of(line: &[u8], pointer: &str) -> String {
    let line: Value = serde_json::from_slice(line).unwrap_or_default();
    let text = line.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn recording(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("fixtures/wire").join(path)
}

pub(crate) const APPROVED: &str = "newest/bash-approved.ndjson";

/// The payloads of every record of these kinds, as `cut` finds them in the segments of a session's folder.
pub(crate) fn payloads(folder: &Path, kinds: &str) -> Vec<String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder.join("journal"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "j"))
        .collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        for line in fs::read_to_string(file).unwrap().lines().skip(1) {
            let mut parts = line.splitn(4, ' ');
            let kind = parts.nth(2).unwrap();
            if kinds.contains(kind) {
                found.push(parts.next().unwrap().to_owned());
            }
        }
    }
    found
}

/// A line that asks whether a tool may run.
pub(crate) fn question(id: &str) -> Vec<u8> {
    let request = json!({
        "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": format!("t-{id}"),
    });
    json!({"type": "control_request", "request_id": id, "request": request})
        .to_string()
        .into_bytes()
}
