//! Sessions that were played are found, read, cut, forked and gone on with.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::past::find;
use super::scribe::Who;
use super::*;

pub(super) const SESSION: &str = "5e551011-0000-4000-8000-00000000000a";
pub(super) const FORK: &str = "5e551011-0000-4000-8000-00000000000f";

/// A scribe with a clock, ids and a disk.
pub(super) struct Stage {
    pub(super) places: Places,
    pub(super) scribe: Scribe,
    next: u64,
    _root: Option<tempfile::TempDir>,
}

impl Stage {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("project")).unwrap();
        let places = Places::at(root.path().join("conf"), root.path().join("project"));
        Self {
            _root: Some(root),
            ..Self::at(places)
        }
    }

    pub(super) fn at(places: Places) -> Self {
        Self {
            scribe: Scribe::new(&places, head(&places, SESSION), None),
            places,
            next: 0,
            _root: None,
        }
    }

    /// Calls the scribe with the next moment, and gives its id.
    fn with(&mut self, act: impl FnOnce(&mut Scribe, Moment<'_>)) -> String {
        self.next += 1;
        let uuid = format!("00000000-0000-4000-b000-{:012x}", self.next);
        let at = Duration::from_secs(1_794_700_000 + self.next);
        act(&mut self.scribe, Moment { uuid: &uuid, at });
        uuid
    }

    /// A message of the host that begins a turn.
    pub(super) fn turn(&mut self, text: &str) {
        let message = json!({"role": "user", "content": text});
        let mut others = (1..).map(|n| format!("00000000-0000-4000-9000-{n:012x}"));
        self.with(|scribe, moment| {
            let mint = &mut || others.next().unwrap();
            scribe.prompt(moment, moment.uuid, &message, true, mint);
        });
    }

    /// An answer of the model, block by block.
    pub(super) fn answer(&mut self, who: Who<'_>, blocks: &[Value]) -> String {
        let answer = format!("msg_{:016x}", self.next);
        let mut first = None;
        for block in blocks {
            let message = json!({
                "id": answer, "role": "assistant", "type": "message", "model": "claude-opus-5-5", "content": [block],
                "stop_reason": "end_turn", "usage": {"input_tokens": 100, "output_tokens": 5},
            });
            let uuid = self.with(|scribe, moment| scribe.said(who, [(moment, &message)]));
            first.get_or_insert(uuid);
        }
        first.unwrap()
    }

    pub(super) fn say(&mut self, text: &str) -> String {
        self.answer(None, &[said(text)])
    }

    pub(super) fn result(&mut self, id: &str) {
        let block = json!({"tool_use_id": id, "type": "tool_result", "content": "done"});
        let message = json!({"role": "user", "content": [block]});
        let structured = json!({"stdout": "done"});
        self.with(|scribe, moment| scribe.reported(None, moment, id, &message, &structured));
    }

    pub(super) fn aside(&mut self, who: Who<'_>, text: &str, aside: Aside) {
        let message = json!({"role": "user", "content": text});
        self.with(|scribe, moment| scribe.aside(who, moment, &message, aside));
    }

    fn flush(&mut self) {
        for written in self.scribe.take() {
            written.carry_out().unwrap();
        }
    }

    /// The turn ends, and the process.
    pub(super) fn end(&mut self) {
        self.scribe.turn_ended();
        self.scribe.ended(0.5, &json!({}));
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

    fn text(&self, session: &str) -> String {
        std::fs::read_to_string(self.places.transcript(session)).unwrap()
    }
}

fn head(places: &Places, session: &str) -> Head {
    Head {
        session: session.to_owned(),
        cwd: places.cwd.to_string_lossy().into_owned(),
        version: "2.1.325".to_owned(),
        git_branch: places.git_branch(),
        entrypoint: "sdk-cli".to_owned(),
    }
}

pub(super) fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(super) fn call(tool: &str, id: &str) -> Value {
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
    stage.answer(None, &[call("Task", "t1")]);
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
fn a_session_is_found_with_all_that_the_next_process_needs() {
    let stage = held();
    let past = stage.past();
    assert_eq!(messages(&past), HELD);
    assert_eq!(past.title.as_deref(), Some("Birds"));
    assert_eq!(past.last_prompt.as_deref(), Some("And the number seven"));
    assert_eq!(past.cost.as_ref().unwrap()["totalCostUSD"], 0.5);
    let prompts = ["Remember the word heron", "And\nthe number seven"];
    assert_eq!(past.prompts(), prompts);
    assert!(past.unanswered().is_empty() && !past.awaits_model());

    // From another folder it is found by its id only, and gone on with in its own file.
    let elsewhere = Places::at(&stage.places.config_dir, stage.places.cwd.parent().unwrap());
    assert_eq!(find(&elsewhere, SESSION).as_ref(), Some(&past));
    assert_eq!(latest(&elsewhere), None);
    assert_eq!(latest(&stage.places).as_ref(), Some(&past));
    assert!(resolve(&elsewhere, "birds").is_err());
    assert!(free(&stage.places, SESSION).is_err() && free(&elsewhere, SESSION).is_ok());
    let there = Scribe::resumed(&elsewhere, head(&elsewhere, SESSION), &past);
    assert_eq!(there.path(), stage.places.transcript(SESSION));
}

#[test]
fn a_fork_takes_the_conversation_along_under_its_own_name() {
    let mut stage = held();
    let original = stage.text(SESSION);
    let past = stage.past();
    stage.fork(&past);
    stage.turn("Which?");
    stage.end();
    assert_eq!(stage.text(SESSION), original, "the original is as it was");
    assert!(!stage.text(FORK).contains(SESSION));
    let fork = find(&stage.places, FORK).unwrap();
    let expected: Vec<&str> = HELD.into_iter().chain(["user: Which?"]).collect();
    assert_eq!(messages(&fork), expected);
    let later = SystemTime::now() + Duration::from_secs(60);
    let file = std::fs::File::options();
    let file = file
        .clone()
        .append(true)
        .open(stage.places.transcript(FORK));
    file.unwrap().set_modified(later).unwrap();
    assert_eq!(latest(&stage.places).unwrap().session_id, FORK);
}

#[test]
fn a_title_names_a_session_whatever_its_case() {
    let stage = held();
    let past = stage.past();
    for wanted in ["BIRDS", SESSION] {
        assert_eq!(resolve(&stage.places, wanted).as_ref(), Ok(&past));
    }
    for (wanted, part) in [
        ("Bird", "\"Bird\" is not a UUID and does not match any"),
        (FORK, "No conversation found with session ID"),
    ] {
        let refused = resolve(&stage.places, wanted).unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
    }
}

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
    stage.answer(None, &calls);
    for id in ["t2", "t1", "t3"] {
        stage.result(id);
    }
    stage.say("Done.");
    stage.end();
    assert_eq!(stage.past().messages.len(), 8);
    assert!(stage.past().unanswered().is_empty());
    stage.with(|scribe, moment| scribe.compacted(moment, &json!({"trigger": "manual"})));
    stage.aside(None, "The summary", Aside::Summary);
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
    stage.answer(None, &[call("Bash", "t1"), call("Bash", "t2")]);
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
fn sessions_without_a_message_and_those_that_are_not_kept_leave_nothing() {
    let mut stage = Stage::new();
    stage.scribe.renamed("  Two\nLines ");
    stage.end();
    assert!(!stage.places.project().exists());
    stage.turn("one");
    stage.end();
    assert_eq!(stage.past().title.as_deref(), Some("Two Lines"));

    stage.scribe = Scribe::new(&stage.places, head(&stage.places, FORK), None).unkept();
    stage.turn("one");
    stage.scribe.renamed("Never");
    stage.scribe.turn_ended();
    assert_eq!(stage.scribe.take(), []);
}

#[test]
fn broken_lines_circles_and_files_with_nothing_said_are_passed_over() {
    let stage = held();
    let past = stage.past();
    let first = &past.records()[0]["uuid"];
    let circle = format!("\"parentUuid\":{first}");
    let circle = stage
        .text(SESSION)
        .replacen("\"parentUuid\":null", &circle, 1);
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
