//! `journal replay --as agent`: a recorded agent that a host drives, first our own client, then line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use countersign_client::{AllowAll, Claude};
use countersign_journal::{Exit, Kind};
use countersign_wire::recording::{self, Direction};
use serde_json::{Value, json};

use crate::stage::{APPROVED, Journal, Stage, recording, text};

const PATIENCE: Duration = Duration::from_secs(30);

/// The recorded lines of one direction.
fn lines(path: &Path, direction: Direction) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let entries = text
        .lines()
        .skip(1)
        .map(|line| recording::entry(line.as_bytes()).unwrap());
    entries
        .filter(|entry| entry.direction == direction)
        .filter_map(|entry| serde_json::from_slice(&entry.line).ok())
        .collect()
}

/// The recorded exit code.
fn ended(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let last = recording::entry(text.lines().last()?.as_bytes()).unwrap();
    String::from_utf8(last.line).ok()
}

/// Sends one message to the replayed agent, allowing everything it asks; gives the text of the result, the exit code and
/// what the replay said.
fn driven(path: &str) -> (String, Option<i32>, String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let listener = std::sync::Arc::clone(&heard);
    let program = env!("CARGO_BIN_EXE_countersign");
    let command = format!("{program} journal replay {path} --as agent --speed max");
    let result = runtime.block_on(async move {
        let claude = Claude::new().cli_command(command).permissions(AllowAll);
        // It ends by itself, however slow the machine is.
        let claude = claude.graces(|graces| graces.close = PATIENCE);
        let claude = claude.on_stderr(move |line| {
            let mut heard = listener.lock().unwrap();
            heard.push_str(line);
            heard.push('\n');
        });
        let session = tokio::time::timeout(PATIENCE, claude.connect())
            .await
            .unwrap()
            .unwrap();
        let mut turn = session.handle.send("Go on.").await.unwrap();
        let result = tokio::time::timeout(PATIENCE, turn.result())
            .await
            .unwrap()
            .unwrap();
        let closed = session.handle.close().await;
        (result.text().to_owned(), closed.code)
    });
    let heard = heard.lock().unwrap().clone();
    (result.0, result.1, heard)
}

#[test]
fn our_client_reaches_the_recorded_result() {
    let mut driven_ones = 0;
    for entry in std::fs::read_dir(recording("newest")).unwrap() {
        let path = entry.unwrap().path();
        let host = lines(&path, Direction::In);
        let requests = host.iter().filter(|line| line["type"] == "control_request");
        let is_plain = requests
            .map(|line| &line["request"]["subtype"])
            .all(|s| s == "initialize");
        let messages = host.iter().filter(|line| line["type"] == "user").count();
        let results: Vec<Value> = lines(&path, Direction::Out)
            .into_iter()
            .filter(|line| line["type"] == "result")
            .collect();
        // One message and one result; everything else a client does by itself.
        if !is_plain || messages != 1 || results.len() != 1 || host.len() < 2 {
            continue;
        }
        let (said, code, _) = driven(path.to_str().unwrap());
        assert_eq!(
            said,
            results[0]["result"].as_str().unwrap_or_default(),
            "{}",
            path.display()
        );
        assert_eq!(
            code.map(|code| code.to_string()),
            ended(&path),
            "{}",
            path.display()
        );
        driven_ones += 1;
    }
    assert!(driven_ones >= 8, "{driven_ones}");
}

#[test]
fn a_journal_is_as_good_as_a_recording() {
    let stage = Stage::new();
    let session = stage.session("session", &[APPROVED]);
    let (said, code, heard) = driven(session.to_str().unwrap());
    assert_eq!(said, "The file is there.");
    assert_eq!(code, Some(0));
    assert!(heard.contains("waits for the end of stdin"), "{heard}");
}

#[test]
fn lines_of_the_agent_alone_are_enough_for_a_guess() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let plain = stage.path("plain.ndjson");
    std::fs::write(&plain, stage.said(&["export", "session"])).unwrap();
    assert_eq!(driven(plain.to_str().unwrap()).0, "The file is there.");
}

#[test]
fn an_agent_that_echoed_the_answers_is_played_to_its_end() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let mut lines = Vec::new();
    for line in stage.said(&["export", "session"]).lines() {
        lines.push(line.to_owned());
        let said: Value = serde_json::from_str(line).unwrap();
        if said["type"] == "control_request" {
            lines.push(answer(&said).to_string());
        }
    }
    let plain = stage.path("plain.ndjson");
    std::fs::write(&plain, lines.join("\n") + "\n").unwrap();
    assert_eq!(driven(plain.to_str().unwrap()).0, "The file is there.");
}

/// A replayed agent, line by line.
struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Agent {
    fn start(stage: &Stage, flags: &[&str]) -> Self {
        let always = ["--as", "agent", "--speed", "max"];
        let mut command = stage.command(&[&["replay"], flags, &always].concat());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            stderr: BufReader::new(child.stderr.take().unwrap()),
            child,
        }
    }

    fn write(&mut self, line: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }

    /// Reads up to a line of this type.
    fn read_until(&mut self, kind: &str) -> Value {
        loop {
            let line = self.read();
            assert!(!line.is_null(), "no line of type {kind} came");
            if line["type"] == kind {
                return line;
            }
        }
    }

    /// The next line of stderr.
    fn told(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The rest of stdout and of stderr, and the exit code.
    fn end(mut self) -> (String, String, i32) {
        self.stdin.take();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stdout, &mut rest).unwrap();
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.stderr, &mut said).unwrap();
        (rest, said, self.child.wait().unwrap().code().unwrap())
    }
}

fn request(id: &str, subtype: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {"subtype": subtype}})
}

fn message() -> Value {
    json!({"type": "user", "message": {"role": "user", "content": "x"}, "uuid": "11111111-1111-4111-8111-111111111111"})
}

fn answer(question: &Value) -> Value {
    let response = json!({"behavior": "allow", "updatedInput": {}});
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": question["request_id"], "response": response}})
}

#[test]
fn it_waits_where_the_recorded_agent_waited_and_says_for_what() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let mut agent = Agent::start(&stage, &["session"]);
    let waits = |what: &str| format!("waits for {what}");
    assert!(
        agent
            .told()
            .ends_with(&waits("the control request \"initialize\""))
    );
    agent.write(&request("mine", "initialize"));
    let reply = agent.read();
    assert_eq!(reply["response"]["request_id"], "mine");
    assert!(reply["response"]["response"]["commands"].is_array());
    assert!(agent.told().ends_with(&waits("a message")));
    agent.write(&message());
    let question = agent.read_until("control_request");
    let told = agent.told();
    let id = &question["request_id"];
    assert_eq!(
        told,
        format!(
            "replay: at 1-15: {}",
            waits(&format!("the answer to \"can_use_tool\" ({id})"))
        )
    );
    agent.write(&answer(&question));
    let result = agent.read_until("result");
    assert_eq!(result["result"], "The file is there.");
    assert!(agent.told().ends_with(&waits("the end of stdin")));
    assert_eq!(agent.end(), (String::new(), String::new(), 0));
}

#[test]
fn a_request_that_was_not_recorded_is_refused_and_one_before_its_turn_is_answered() {
    let stage = Stage::new();
    let path = recording("newest/set-model.ndjson");
    let mut agent = Agent::start(&stage, &[path.to_str().unwrap()]);
    agent.write(&request("a", "get_weather"));
    let refusal = agent.read_until("control_response");
    assert_eq!(refusal["response"]["subtype"], "error");
    assert_eq!(refusal["response"]["request_id"], "a");
    // Recorded later; nobody waits for it now.
    agent.write(&request("b", "set_model"));
    let early = agent.read_until("control_response");
    assert_eq!(early["response"]["subtype"], "success");
    assert_eq!(early["response"]["request_id"], "b");
    agent.write(&request("c", "initialize"));
    let greeting = agent.read_until("control_response");
    assert_eq!(greeting["response"]["request_id"], "c");
    let (_, said, code) = agent.end();
    assert!(
        said.contains("refuses the control request \"get_weather\""),
        "{said}"
    );
    assert_eq!(code, 0);
}

#[test]
fn a_host_that_leaves_ends_it() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let mut agent = Agent::start(&stage, &["session"]);
    agent.write(&request("mine", "initialize"));
    agent.write(&message());
    agent.read_until("control_request");
    let (rest, said, code) = agent.end();
    assert_eq!((rest.as_str(), code), ("", 0));
    assert!(said.contains("stdin has ended"), "{said}");
}

#[test]
fn echoes_carry_the_uuid_of_the_message_of_today() {
    let stage = Stage::new();
    let path = recording("newest/lifecycle.ndjson");
    let recorded = lines(&path, Direction::In)
        .into_iter()
        .find_map(|line| line["uuid"].as_str().map(str::to_owned))
        .unwrap();
    let mut agent = Agent::start(&stage, &[path.to_str().unwrap()]);
    let starts = lines(&path, Direction::In)[0]["type"] == "control_request";
    if starts {
        agent.write(&request("mine", "initialize"));
    }
    agent.write(&message());
    let lifecycle = agent.read_until("command_lifecycle");
    assert_eq!(lifecycle["command_uuid"], message()["uuid"]);
    assert_ne!(lifecycle["command_uuid"], recorded.as_str());
    agent.end();
}

#[test]
fn it_ends_as_the_recorded_agent_did() {
    let stage = Stage::new();
    let folder = stage.path("failed");
    let mut journal = Journal::open(&folder, 1);
    journal.push(Kind::Stderr, b"something broke");
    journal.push(Kind::Agent, br#"{"type":"system","subtype":"init"}"#);
    journal.push(Kind::Host, message().to_string().as_bytes());
    journal.push(Kind::AgentPiece, b"{\"type\":\"resu");
    journal.end(Exit {
        code: Some(3),
        ..Exit::default()
    });
    let mut agent = Agent::start(&stage, &["failed"]);
    agent.write(&message());
    let stdin = agent.stdin.take();
    let (rest, said, code) = agent.end();
    // It failed by itself: nobody closed its stdin.
    drop(stdin);
    assert_eq!(code, 3);
    assert!(rest.ends_with("{\"type\":\"resu\n"), "{rest}");
    assert!(said.contains("something broke"), "{said}");
}

#[test]
fn one_generation_is_played_and_the_first_unless_another_is_named() {
    let stage = Stage::new();
    stage.session("session", &["newest/plain-turn.ndjson", APPROVED]);
    for (flags, words) in [
        (
            &["session"][..],
            "plays generation 1; --generation chooses another",
        ),
        (&["session", "--generation", "2"], "plays generation 2"),
    ] {
        let mut agent = Agent::start(&stage, flags);
        agent.write(&request("mine", "initialize"));
        agent.read_until("control_response");
        agent.write(&message());
        let asks = flags.len() > 1;
        if asks {
            let question = agent.read_until("control_request");
            agent.write(&answer(&question));
        }
        agent.read_until("result");
        let (_, said, _) = agent.end();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn from_the_middle_it_still_greets_its_host() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    // Behind the greeting and the first message.
    let records = stage.said(&["export", "session", "--format", "json"]);
    let init = records
        .lines()
        .find(|line| line.contains(r#""subtype":"init""#))
        .unwrap();
    let init: Value = serde_json::from_str(init).unwrap();
    let cursor = format!("1-{}", init["seq"].as_u64().unwrap() - 1);
    let mut agent = Agent::start(&stage, &["session", "--from", &cursor]);
    agent.write(&request("mine", "initialize"));
    let question = agent.read_until("control_request");
    let reply = agent.read_until("control_response");
    assert_eq!(reply["response"]["request_id"], "mine");
    agent.write(&answer(&question));
    assert_eq!(agent.read_until("result")["result"], "The file is there.");
    agent.end();
}

#[test]
fn the_version_is_the_recorded_one_and_other_flags_are_taken() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let said = stage.said(&["replay", "session", "--as", "agent", "--version"]);
    assert_eq!(said, "2.1.327 (Claude Code)\n");
    let flags = [
        "replay",
        "session",
        "--as",
        "agent",
        "-p",
        "--output-format",
        "stream-json",
        "--model",
        "x",
        "-v",
    ];
    assert_eq!(stage.said(&flags), "2.1.327 (Claude Code)\n");
}

#[test]
fn standard_input_belongs_to_the_host() {
    let stage = Stage::new();
    let output = stage.fed(
        &["replay", "-", "--as", "agent"],
        b"{\"type\":\"result\"}\n",
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("give a file or a folder"));
}
