//! Sessions that were played are found, cut and gone on with. That they are listed, read, continued and forked is seen by the
//! cases of the SDKs.

use std::time::Duration;

use serde_json::{Value, json};

use super::past::find;
use super::*;

const SESSION: &str = "5e551011-0000-4000-8000-00000000000a";
const FORK: &str = "5e551011-0000-4000-8000-00000000000f";

/// The places of a project and its configuration folder, with these files.
pub(super) fn places_with(files: &[(&str, &str)]) -> (tempfile::TempDir, Places) {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("project")).unwrap();
    for (path, content) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let places = Places::at(root.path().join("conf"), root.path().join("project"));
    (root, places)
}

/// A scribe with a clock, ids and a disk.
struct Stage {
    places: Places,
    scribe: Scribe,
    next: u64,
    _root: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let (root, places) = places_with(&[]);
        Self {
            scribe: Scribe::new(&places, head(&places), None),
            places,
            next: 0,
            _root: root,
        }
    }

    /// Calls the scribe with the next moment.
    fn with(&mut self, act: impl FnOnce(&mut Scribe, Moment<'_>)) {
        self.next += 1;
        let uuid = format!("00000000-0000-4000-b000-{:012x}", self.next);
        let at = Duration::from_secs(1_794_700_000 + self.next);
        act(&mut self.scribe, Moment { uuid: &uuid, at });
    }

    /// A message of the host that begins a turn.
    fn turn(&mut self, text: &str) {
        let message = json!({"role": "user", "content": text});
        let mut others = (1..).map(|n| format!("00000000-0000-4000-9000-{n:012x}"));
        self.with(|scribe, moment| {
            let mint = &mut || others.next().unwrap();
            scribe.prompt(moment, moment.uuid, &message, true, mint);
        });
    }

    /// An answer of the model, block by block.
    fn answer(&mut self, blocks: &[Value]) {
        let answer = format!("msg_{:016x}", self.next);
        for block in blocks {
            let message = json!({
                "id": answer, "role": "assistant", "type": "message", "model": "claude-opus-5-5", "content": [block],
                "stop_reason": "end_turn", "usage": {"input_tokens": 100, "output_tokens": 5},
            });
            self.with(|scribe, moment| scribe.said(None, [(moment, &message)]));
        }
    }

    fn say(&mut self, text: &str) {
        self.answer(&[json!({"type": "text", "text": text})]);
    }

    fn result(&mut self, id: &str) {
        let block = json!({"tool_use_id": id, "type": "tool_result", "content": "done"});
        let message = json!({"role": "user", "content": [block]});
        let structured = json!({"stdout": "done"});
        self.with(|scribe, moment| scribe.reported(None, moment, id, &message, &structured));
    }

    fn flush(&mut self) {
        for written in self.scribe.take() {
            written.carry_out().unwrap();
        }
    }

    /// The turn ends, and the process.
    fn end(&mut self) {
        self.scribe.turn_ended();
        self.scribe.ended(0.5, &json!({}));
        self.flush();
    }

    fn past(&self) -> Past {
        find(&self.places, SESSION).unwrap()
    }

    /// A second process resumes the session.
    fn resume(&mut self, past: &Past) {
        self.scribe = Scribe::resumed(&self.places, head(&self.places), past);
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.places.transcript(SESSION)).unwrap()
    }
}

fn head(places: &Places) -> Head {
    Head {
        session: SESSION.to_owned(),
        cwd: places.cwd.to_string_lossy().into_owned(),
        version: "2.1.325".to_owned(),
        git_branch: places.git_branch(),
        entrypoint: "sdk-cli".to_owned(),
    }
}

fn call(tool: &str, id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": tool, "input": {}})
}

/// What was said, each message by its text or its kind.
fn messages(past: &Past) -> Vec<String> {
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        blocks => {
            let text = blocks[0]["text"].as_str().or(blocks[0]["type"].as_str());
            text.unwrap().to_owned()
        }
    };
    let messages = past.messages.iter();
    messages
        .map(|message| format!("{}: {}", message.role, text(&message.content)))
        .collect()
}

/// Two turns, the second with a call.
fn held() -> Stage {
    let mut stage = Stage::new();
    stage.turn("Remember the word heron");
    stage.say("I will.");
    stage.turn("And\nthe number seven");
    stage.answer(&[call("Task", "t1")]);
    stage.result("t1");
    stage.say("Done.");
    stage.scribe.renamed("Birds");
    stage.end();
    stage
}

const HELD: [&str; 6] = [
    "user: Remember the word heron",
    "assistant: I will.",
    "user: And\nthe number seven",
    "assistant: tool_use",
    "user: tool_result",
    "assistant: Done.",
];

#[test]
fn a_conversation_is_cut_at_a_message_and_not_at_one_it_does_not_have() {
    let mut stage = held();
    let past = stage.past();
    let first_answer = past.records()[1]["uuid"].as_str().unwrap().to_owned();
    let second_prompt = past.records()[2]["uuid"].as_str().unwrap();
    let cut = past.clone().cut_at(&first_answer, Some(second_prompt));
    let cut = cut.unwrap();
    assert_eq!(messages(&cut), HELD[..2]);
    assert!(past.clone().cut_at(&first_answer, Some("x")).is_err());
    let refused = past.cut_at("x", None).unwrap_err().to_string();
    assert_eq!(refused, "No message found with message.uuid of: x");
    stage.resume(&cut);
    stage.turn("Say three");
    stage.end();
    let expected = [
        "user: Remember the word heron",
        "assistant: I will.",
        "user: Say three",
    ];
    assert_eq!(messages(&stage.past()), expected);
}

#[test]
fn parallel_calls_are_all_part_of_the_conversation_and_a_compaction_begins_anew() {
    let mut stage = Stage::new();
    stage.turn("Two at once");
    let calls = ["t1", "t2", "t3"].map(|id| call("Bash", id));
    stage.answer(&calls);
    for id in ["t2", "t1", "t3"] {
        stage.result(id);
    }
    stage.say("Done.");
    stage.end();
    assert_eq!(stage.past().messages.len(), 8);
    assert!(stage.past().unanswered().is_empty());
    stage.with(|scribe, moment| scribe.compacted(moment, &json!({"trigger": "manual"})));
    let summary = json!({"role": "user", "content": "The summary"});
    stage.with(|scribe, moment| scribe.aside(None, moment, &summary, Aside::Summary));
    stage.turn("What?");
    stage.end();
    assert_eq!(
        messages(&stage.past()),
        ["user: The summary", "user: What?"]
    );
}

#[test]
fn a_session_that_was_cut_off_is_rounded_off_before_the_next_prompt() {
    let mut stage = Stage::new();
    stage.turn("Make a file");
    stage.answer(&[call("Bash", "t1"), call("Bash", "t2")]);
    stage.result("t2");
    stage.flush();
    let past = stage.past();
    assert_eq!((past.unanswered().len(), past.awaits_model()), (1, true));
    assert_eq!(past.prompts(), [""; 0]);
    stage.resume(&past);
    stage.turn("go on");
    stage.end();
    let past = stage.past();
    assert!(past.unanswered().is_empty());
    let last = messages(&past).split_off(5);
    assert_eq!(last, ["assistant: No response requested.", "user: go on"]);
}

#[test]
fn broken_lines_circles_and_files_with_nothing_said_are_passed_over() {
    let stage = held();
    let past = stage.past();
    let first = &past.records()[0]["uuid"];
    let circle = format!("\"parentUuid\":{first}");
    let circle = stage.text().replacen("\"parentUuid\":null", &circle, 1);
    let torn = format!("{{torn\n\n[1]\n{circle}{{\"type\":\"user\",\"uu");
    std::fs::write(stage.places.transcript(SESSION), torn).unwrap();
    assert_eq!(messages(&stage.past()), HELD);
    std::fs::write(stage.places.transcript(FORK), "{}\n").unwrap();
    assert_eq!(find(&stage.places, FORK), None);
    assert_eq!(find(&stage.places, "../../etc/passwd"), None);
    assert!(
        free(&stage.places, FORK).is_err(),
        "it has its id all the same"
    );
}
