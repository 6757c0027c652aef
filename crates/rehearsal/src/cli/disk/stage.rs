//! For tests: a session that is played through a [`Scribe`] into a temporary folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::past::find;
use super::*;

pub(super) const SESSION: &str = "5e551011-0000-4000-8000-00000000000a";
pub(super) const FORK: &str = "5e551011-0000-4000-8000-00000000000f";
pub(super) const MODEL: &str = "claude-opus-5-5";

/// A block of an answer.
pub(super) enum Block<'a> {
    Think(&'a str),
    Text(&'a str),
    /// Tool and id; the input does not matter.
    Call(&'a str, &'a str),
}

/// A scribe with a clock, ids and a disk.
pub(super) struct Stage {
    pub(super) places: Places,
    pub(super) scribe: Scribe,
    next: u64,
    answers: u64,
    _root: Option<tempfile::TempDir>,
}

pub(super) fn head(places: &Places, session: &str) -> Head {
    Head {
        session: session.to_owned(),
        cwd: places.cwd.to_string_lossy().into_owned(),
        version: "2.1.325".to_owned(),
        git_branch: places.git_branch(),
        entrypoint: "sdk-cli".to_owned(),
    }
}

impl Stage {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let places = Places::at(root.path().join("conf"), project);
        let mut stage = Self::at(places);
        stage._root = Some(root);
        stage
    }

    pub(super) fn at(places: Places) -> Self {
        let scribe = Scribe::new(&places, head(&places, SESSION), None);
        Self {
            places,
            scribe,
            next: 0,
            answers: 0,
            _root: None,
        }
    }

    pub(super) fn uuid(&mut self) -> String {
        self.next += 1;
        format!("00000000-0000-4000-b000-{:012x}", self.next)
    }

    /// One second after the other, from a day in 2026.
    fn now(&self) -> Duration {
        Duration::from_secs(1_794_700_000 + self.next)
    }

    /// Calls the scribe with the next moment, and gives its id.
    pub(super) fn with(&mut self, act: impl FnOnce(&mut Scribe, Moment<'_>)) -> String {
        let uuid = self.uuid();
        let at = self.now();
        act(&mut self.scribe, Moment { uuid: &uuid, at });
        uuid
    }

    pub(super) fn receive(&mut self, text: &str) {
        let at = self.now();
        self.scribe.enqueued(at, Some(text));
        self.scribe.dequeued(at);
    }

    pub(super) fn prompt(&mut self, text: &str, origin: Origin<'_>) -> String {
        let id = self.uuid();
        let message = json!({"role": "user", "content": text});
        let mut others = (1..).map(|n| format!("00000000-0000-4000-9000-{n:012x}"));
        self.with(|scribe, moment| {
            let mode = "default";
            let prompt = Prompt {
                id: &id,
                message: &message,
                mode,
                origin,
            };
            scribe.prompt(moment, &prompt, &mut || others.next().unwrap());
        })
    }

    /// A message of the host that begins a turn.
    pub(super) fn turn(&mut self, text: &str) -> String {
        self.receive(text);
        self.prompt(text, Origin::Host { named: false })
    }

    pub(super) fn answer(&mut self, who: Who<'_>, blocks: &[Block<'_>]) -> Vec<String> {
        self.answers += 1;
        let (id, request) = (format!("msg_{:016x}", self.answers), self.uuid());
        let calls = blocks.iter().any(|block| matches!(block, Block::Call(..)));
        let stop = if calls { "tool_use" } else { "end_turn" };
        let messages: Vec<Value> = blocks
            .iter()
            .map(|block| message(&id, stop, block))
            .collect();
        let uuids: Vec<String> = blocks.iter().map(|_| self.uuid()).collect();
        let at = self.now();
        let said: Vec<Said<'_>> = (messages.iter().zip(&uuids).enumerate())
            .map(|(index, (message, uuid))| Said {
                moment: Moment { uuid, at },
                message,
                index,
                request: &request,
                effort: Some("medium"),
                aborted: false,
            })
            .collect();
        self.scribe.said(who, &said);
        uuids
    }

    pub(super) fn say(&mut self, text: &str) -> String {
        self.answer(Who::Main, &[Block::Text(text)]).remove(0)
    }

    pub(super) fn result(
        &mut self,
        who: Who<'_>,
        tool: &str,
        id: &str,
        denial: Option<Denial>,
    ) -> String {
        let is_error = denial.is_some();
        let block = json!({"tool_use_id": id, "type": "tool_result", "content": "done", "is_error": is_error});
        let message = json!({"role": "user", "content": [block]});
        let decision = json!({"decision": "accept", "source": "config", "reason_type": "mode"});
        let interrupted = denial == Some(Denial::Interrupted);
        self.with(|scribe, moment| {
            let reported = Reported {
                tool,
                tool_use_id: id,
                message: &message,
                structured: Some(&json!({"stdout": "done"})),
                denial,
                decision: (!interrupted).then_some(&decision),
            };
            scribe.reported(who, moment, &reported);
        })
    }

    /// A call and its result.
    pub(super) fn use_tool(&mut self, tool: &str, id: &str) {
        self.answer(Who::Main, &[Block::Call(tool, id)]);
        self.result(Who::Main, tool, id, None);
    }

    pub(super) fn aside(&mut self, who: Who<'_>, text: &str, aside: Aside) -> String {
        let message = json!({"role": "user", "content": text});
        self.with(|scribe, moment| scribe.aside(who, moment, &message, aside))
    }

    pub(super) fn attach(&mut self, kind: &str, told: Option<&str>) -> String {
        let attachment = json!({"type": kind});
        self.with(|scribe, moment| scribe.attached(Who::Main, moment, &attachment, told))
    }

    /// Carries out what is to be written.
    pub(super) fn flush(&mut self) {
        for written in self.scribe.take() {
            written.carry_out().unwrap();
        }
    }

    /// The turn ends, and the process.
    pub(super) fn end(&mut self) {
        self.scribe.turn_ended();
        self.scribe.ended(&Cost::default());
        self.flush();
    }

    pub(super) fn past(&self) -> Past {
        find(&self.places, SESSION).unwrap()
    }

    /// A second process resumes the session.
    pub(super) fn resume(&mut self, past: &Past) {
        let head = head(&self.places, &past.session_id);
        self.scribe = Scribe::resumed(&self.places, head, past);
    }

    pub(super) fn fork(&mut self, past: &Past) {
        self.scribe = Scribe::forked(&self.places, head(&self.places, FORK), past);
    }

    pub(super) fn text(&self, session: &str) -> String {
        std::fs::read_to_string(self.places.transcript(session)).unwrap()
    }

    /// The lines of a session as values.
    pub(super) fn lines(&self, session: &str) -> Vec<Value> {
        let text = self.text(session);
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// All transcripts: those of sessions by name, then those of sub-agents.
    pub(super) fn transcripts(&self) -> Vec<PathBuf> {
        let below = |folder: &Path| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
            files.sort();
            files
        };
        let mut files = below(&self.places.project());
        for session in files.clone() {
            files.extend(below(&session.with_extension("").join("subagents")));
        }
        files
    }
}

fn message(id: &str, stop: &str, block: &Block<'_>) -> Value {
    let content = match block {
        Block::Think(text) => json!({"type": "thinking", "thinking": text, "signature": "c2ln"}),
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Call(tool, call) => {
            json!({"type": "tool_use", "id": call, "name": tool, "input": {}})
        }
    };
    json!({
        "content": [content], "id": id, "model": MODEL, "role": "assistant", "stop_reason": stop,
        "stop_sequence": null, "type": "message", "usage": {"input_tokens": 100, "output_tokens": 5},
    })
}
