//! A small host: sends messages, answers what it is asked as it was told to, and keeps what it saw.

use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_rehearsal::cli::{Ended, Launch, PlayError, Scenario, builtin, play_with};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// How a host answers `can_use_tool`.
pub(crate) type Decide = fn(&Value) -> Value;

pub(crate) fn allow(request: &Value) -> Value {
    let mut input = request["input"].clone();
    if request["tool_name"] == "AskUserQuestion" {
        input["answers"] = first_choices(&input);
    }
    json!({"behavior": "allow", "updatedInput": input})
}

pub(crate) fn deny(_: &Value) -> Value {
    json!({"behavior": "deny", "message": "rather not"})
}

/// The first option of every question, and the second one, too, where several may be chosen.
fn first_choices(input: &Value) -> Value {
    let mut answers = json!({});
    for question in input["questions"].as_array().unwrap() {
        let label = |index: usize| question["options"][index]["label"].as_str().unwrap();
        let answer = match question["multiSelect"].as_bool().unwrap() {
            true => format!("{}, {}", label(0), label(1)),
            false => label(0).to_owned(),
        };
        answers[question["question"].as_str().unwrap()] = answer.into();
    }
    answers
}

pub(crate) struct Host {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) cli: JoinHandle<Result<Ended, PlayError>>,
    project: PathBuf,
    /// Goes with the host.
    _folder: TempDir,
}

impl Host {
    pub(crate) fn start(name: &str) -> Self {
        Self::start_with(name, &[])
    }

    pub(crate) fn start_with(name: &str, flags: &[&str]) -> Self {
        let scenario = Scenario::parse(builtin::get(name).unwrap(), name).unwrap();
        Self::play(scenario, flags)
    }

    pub(crate) fn play(scenario: Scenario, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for part in ["project", "home"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        let text = |part: &str| folder.path().join(part).to_string_lossy().into_owned();
        let usual = ["--permission-prompt-tool", "stdio"];
        let launch = Launch {
            arguments: usual
                .iter()
                .chain(flags)
                .map(|flag| (*flag).to_owned())
                .collect(),
            cwd: text("project"),
            home: text("home"),
            env: std::env::var("PATH")
                .map(|path| ("PATH".to_owned(), path))
                .into_iter()
                .collect(),
            pid: 4242,
            ..Launch::default()
        };
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let cli = tokio::spawn(play_with(scenario, launch, reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        Self {
            reader: BufReader::new(reader),
            writer,
            cli,
            project: folder.path().join("project"),
            _folder: folder,
        }
    }

    /// Sets the permission mode.
    pub(crate) async fn mode(&mut self, mode: &str) {
        let request = json!({"subtype": "set_permission_mode", "mode": mode});
        self.send(&json!({"type": "control_request", "request_id": "m", "request": request}))
            .await;
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    pub(crate) async fn send(&mut self, line: &Value) {
        let line = format!("{line}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    pub(crate) async fn say(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}))
            .await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, response: Value) {
        let response = json!({
            "subtype": "success", "request_id": request["request_id"], "response": response,
        });
        self.send(&json!({"type": "control_response", "response": response}))
            .await;
    }

    /// The next line, without its newline; empty at the end.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        let read = tokio::time::timeout(Duration::from_secs(3600), read).await;
        read.expect("nothing came for an hour").unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = self.line().await;
        if line.is_empty() {
            let ended = (&mut self.cli).await.unwrap();
            panic!("the CLI ended early: {ended:?}");
        }
        serde_json::from_str(&line).unwrap()
    }

    /// Reads up to the next result, answers on the way.
    pub(crate) async fn until_result(&mut self, decide: Decide) -> Turn {
        let mut lines = Vec::new();
        loop {
            let line = self.next().await;
            if line["request"]["subtype"] == "can_use_tool" {
                self.answer(&line, decide(&line["request"])).await;
            }
            let done = line["type"] == "result";
            lines.push(line);
            if done {
                return Turn { lines };
            }
        }
    }

    /// Sends a message and reads up to its result.
    pub(crate) async fn turn(&mut self, text: &str, decide: Decide) -> Turn {
        self.say(text).await;
        self.until_result(decide).await
    }

    /// Closes stdin and waits for the end.
    pub(crate) async fn end(mut self) -> Ended {
        self.writer.shutdown().await.unwrap();
        while !self.line().await.is_empty() {}
        self.cli.await.unwrap().unwrap()
    }
}

/// The lines of a turn, its result last.
pub(crate) struct Turn {
    pub(crate) lines: Vec<Value>,
}

impl Turn {
    pub(crate) fn result(&self) -> &Value {
        self.lines.last().unwrap()
    }

    pub(crate) fn requests(&self) -> impl Iterator<Item = &Value> {
        let asked = |line: &&Value| line["request"]["subtype"] == "can_use_tool";
        self.lines.iter().filter(asked).map(|line| &line["request"])
    }

    /// The tools that were asked about, in order.
    pub(crate) fn asked(&self) -> Vec<&str> {
        self.requests()
            .map(|request| request["tool_name"].as_str().unwrap())
            .collect()
    }

    /// The calls that were made, in order.
    pub(crate) fn called(&self) -> Vec<&str> {
        self.blocks("tool_use")
            .filter_map(|block| block["name"].as_str())
            .collect()
    }

    fn blocks<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        let said = self.lines.iter().filter(|line| line["type"] == "assistant");
        let blocks = said
            .filter_map(|line| line["message"]["content"].as_array())
            .flatten();
        blocks.filter(move |block| block["type"] == kind)
    }

    pub(crate) fn thinks(&self) -> bool {
        self.blocks("thinking").next().is_some()
    }

    /// All that was said.
    pub(crate) fn text(&self) -> String {
        let texts = self
            .blocks("text")
            .filter_map(|block| block["text"].as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn cost(&self) -> f64 {
        self.result()["total_cost_usd"].as_f64().unwrap()
    }

    /// The tools that the result lists as refused.
    pub(crate) fn denials(&self) -> Vec<&str> {
        let listed = self.result()["permission_denials"].as_array().unwrap();
        listed
            .iter()
            .map(|denial| denial["tool_name"].as_str().unwrap())
            .collect()
    }

    pub(crate) fn is_success(&self) -> bool {
        self.result()["subtype"] == "success" && self.result()["is_error"] == false
    }
}

/// The names of everything in a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

pub(crate) fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}
