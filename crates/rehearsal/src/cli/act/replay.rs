//! Replays on a workbench what version 2.1.325 was seen to do, and compares every report whole.
//!
//! `measured.jsonl` holds the sessions: a line with the files of each, then a line for each call with what the CLI
//! reported. Paths, times and marks drawn by lot are normalised; `…` stands where longer prose was left out; texts of
//! more than 600 letters are kept by their ends, their length and a sum over all of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::{Job, Ran, Stop, Task, Workbench, accept};

const MEASURED: &str = include_str!("measured.jsonl");
/// Tools that are not in reach of a session unless it asks for them.
const NOT_OFFERED: [&str; 3] = ["Glob", "Grep", "TodoWrite"];
/// Tools whose schema is sent only after the model has searched for it.
const SEARCHED_FOR: [&str; 5] = [
    "EnterPlanMode",
    "ExitPlanMode",
    "NotebookEdit",
    "WebFetch",
    "WebSearch",
];

struct Session {
    head: Value,
    calls: Vec<Value>,
}

fn sessions() -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for line in MEASURED.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line.get("session").is_some() {
            sessions.push(Session {
                head: line,
                calls: Vec::new(),
            });
        } else {
            sessions.last_mut().unwrap().calls.push(line);
        }
    }
    sessions
}

/// One session on a workbench of its own.
struct Replay {
    name: String,
    root: tempfile::TempDir,
    bench: Workbench,
    stop: Stop,
}

impl Replay {
    fn of(head: &Value) -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(root.path()).unwrap();
        for folder in ["project", "home", "tasks", "results", "scratch"] {
            std::fs::create_dir(base.join(folder)).unwrap();
        }
        for (name, content) in head["files"].as_object().unwrap() {
            let path = base.join("project").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content.as_str().unwrap()).unwrap();
        }
        if head["git"] == true {
            let git = std::process::Command::new("git")
                .args(["init", "--quiet", "--initial-branch=main"])
                .current_dir(base.join("project"))
                .env_clear()
                .env("PATH", "/usr/bin:/bin")
                .env("HOME", base.join("home"))
                .status();
            assert!(git.unwrap().success());
        }
        let env = [
            ("PATH", "/usr/bin:/bin".into()),
            ("HOME", base.join("home").into_os_string()),
            ("TMPDIR", base.join("scratch").into_os_string()),
            ("LANG", "C.UTF-8".into()),
            ("SHELL", "/bin/bash".into()),
            ("TZ", "UTC".into()),
            ("USER", "user".into()),
        ];
        let env = env.map(|(key, value)| (key.into(), value));
        let bench = Workbench::new(base.join("project"), base.join("home"), env.into())
            .keeping(base.join("results"), base.join("scratch"));
        bench.set_model(head["model"].as_str().unwrap_or("claude-opus-5-5"));
        Self {
            name: head["session"].as_str().unwrap().to_owned(),
            root,
            bench,
            stop: Stop::default(),
        }
    }

    fn base(&self) -> PathBuf {
        std::fs::canonicalize(self.root.path()).unwrap()
    }

    /// The call as a workbench sees it, from the input the model gave. Also what the model's line shows.
    fn call(&self, index: usize, call: &Value) -> (Value, Ran) {
        let tool = call["tool"].as_str().unwrap();
        let offered = self.name.starts_with("search") || !NOT_OFFERED.contains(&tool);
        let given = self.placed(&call["given"]);
        if !offered {
            return (given, Ran::no_such_tool(tool));
        }
        match accept(tool, &given) {
            Err(refused) if SEARCHED_FOR.contains(&tool) => (given, refused.schema_not_sent()),
            Err(refused) => (given, refused),
            Ok(input) => {
                let id = format!("b{index:08}");
                let output = self.base().join("tasks").join(format!("{id}.output"));
                let job = Job {
                    tool: tool.to_owned(),
                    input: input.clone(),
                    task: Some(Task { id, output }),
                };
                (input, self.bench.run(&job, &self.stop))
            }
        }
    }

    /// An input with the paths of this replay.
    fn placed(&self, input: &Value) -> Value {
        let base = self.base();
        let project = base.join("project");
        let home = base.join("home");
        map_texts(input, None, &|text, _| {
            text.replace("/project", &project.to_string_lossy())
                .replace("/home/user", &home.to_string_lossy())
        })
    }

    /// A report as the measured ones are kept.
    fn normalised(&self, value: &Value) -> Value {
        map_texts(value, None, &|text, key| {
            fold(&self.normalised_text(text, key))
        })
    }

    fn normalised_text(&self, text: &str, key: Option<&str>) -> String {
        static MARK: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"(/tasks/|/results/|\(ID: )b[0-9a-z]{8}").unwrap());
        static SHA: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[0-9a-f]{7}\b").unwrap());
        static CELL: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"("id": "?|Inserted cell |cell id=")[0-9a-f]{8}\b"#).unwrap()
        });
        static WHOLE_CELL: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"^[0-9a-f]{8}$").unwrap());
        let base = self.base();
        let place = |name: &str| base.join(name).to_string_lossy().into_owned();
        let mut text = text
            .replace(&place("project"), "/project")
            .replace(&place("home"), "/home/user")
            .replace(&place("tasks"), "/tasks")
            .replace(&place("results"), "/results");
        text = MARK.replace_all(&text, "${1}b00000000").into_owned();
        match (self.name.as_str(), key) {
            ("git", _) => SHA.replace_all(&text, "0000000").into_owned(),
            ("notebook", Some("cell_id")) => WHOLE_CELL.replace(&text, "00000000").into_owned(),
            ("notebook", _) => CELL.replace_all(&text, "${1}00000000").into_owned(),
            (_, Some("backgroundTaskId")) => "b00000000".to_owned(),
            _ => text,
        }
    }
}

/// The same value with every text put through a function, which also hears the key the text stands under.
fn map_texts(
    value: &Value,
    key: Option<&str>,
    change: &impl Fn(&str, Option<&str>) -> String,
) -> Value {
    match value {
        Value::String(text) => change(text, key).into(),
        Value::Array(items) => items
            .iter()
            .map(|item| map_texts(item, None, change))
            .collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| {
                let value = if key == "durationMs" {
                    0.into()
                } else {
                    map_texts(value, Some(key), change)
                };
                (key.clone(), value)
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Long texts by their ends, their length, and a sum over all of them.
fn fold(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= 600 {
        return text.to_owned();
    }
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let first: String = letters[..200].iter().collect();
    let last: String = letters[letters.len() - 100..].iter().collect();
    format!("{first}⟨{} letters, {sum:016x}⟩{last}", letters.len())
}

/// Where ripgrep's threads decide on the order, lines are compared without it.
fn in_any_order(value: &Value) -> Value {
    map_texts(value, None, &|text, _| {
        let mut lines: Vec<&str> = text.split('\n').collect();
        lines.sort_unstable();
        lines.join("\n")
    })
}

fn compared(call: &Value, field: &str, actual: &Value) -> Option<String> {
    let without_marks = |text: &str, _: Option<&str>| text.replace('…', "");
    let mut expected = map_texts(&call[field], None, &without_marks);
    let mut actual = actual.clone();
    if call["unordered"] == true {
        (expected, actual) = (in_any_order(&expected), in_any_order(&actual));
    }
    (expected != actual)
        .then(|| format!("  {field}\n    measured {expected}\n    here     {actual}"))
}

fn differences(session: &Session) -> (usize, Vec<String>) {
    let replay = Replay::of(&session.head);
    let mut wrong = Vec::new();
    let mut message = Value::Null;
    for (index, call) in session.calls.iter().enumerate() {
        if message != call["message"] {
            replay.bench.before_the_model_speaks();
            message = call["message"].clone();
        }
        let (shown, ran) = replay.call(index, call);
        let expected_shown = call.get("shown").unwrap_or(&call["given"]);
        let is_error = ran.is_error.map_or(Value::Null, Value::Bool);
        let found = [
            compared(call, "content", &replay.normalised(&ran.content)),
            compared(call, "structured", &replay.normalised(&ran.structured)),
            compared(call, "is_error", &is_error),
            (replay.placed(expected_shown) != shown).then(|| format!("  shown as {shown}")),
        ];
        let found: Vec<String> = found.into_iter().flatten().collect();
        if !found.is_empty() {
            let (tool, given) = (&call["tool"], &call["given"]);
            let text = format!(
                "{} {index} {tool} {given}\n{}",
                replay.name,
                found.join("\n")
            );
            wrong.push(text);
        }
    }
    replay.stop.raise();
    (session.calls.len(), wrong)
}

fn all_agree(names: &[&str]) {
    let sessions = sessions();
    let mut figures = BTreeMap::new();
    let mut wrong = Vec::new();
    for session in &sessions {
        let name = session.head["session"].as_str().unwrap();
        if names.contains(&name) {
            let (calls, found) = differences(session);
            figures.insert(name, (calls - found.len(), calls));
            wrong.extend(found);
        }
    }
    assert_eq!(figures.len(), names.len(), "a session is missing");
    assert!(
        wrong.is_empty(),
        "agreeing calls: {figures:?}\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_measured_session_is_replayed_by_a_test() {
    let mut names: Vec<String> = sessions()
        .iter()
        .map(|session| session.head["session"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    let replayed = [
        "bash",
        "diffs",
        "edit",
        "git",
        "inputs",
        "notebook",
        "read",
        "search",
        "search-in-git",
        "strict",
        "write",
    ];
    assert_eq!(names, replayed);
    let calls: usize = sessions().iter().map(|session| session.calls.len()).sum();
    assert!(calls > 400, "{calls}");
}

#[test]
fn reading_reports_what_was_measured() {
    all_agree(&["read"]);
}

#[test]
fn writing_and_editing_report_what_was_measured() {
    all_agree(&["diffs", "edit", "strict", "write"]);
}

#[test]
fn commands_report_what_was_measured() {
    all_agree(&["bash"]);
}

#[test]
fn a_repository_is_watched_as_measured() {
    all_agree(&["git"]);
}

#[test]
fn notebooks_are_shown_and_changed_as_measured() {
    all_agree(&["notebook"]);
}

#[test]
fn searching_finds_what_was_measured() {
    all_agree(&["search", "search-in-git"]);
}

#[test]
fn inputs_are_taken_and_refused_as_measured() {
    all_agree(&["inputs"]);
}
