//! The step machine: what goes in and what comes out, with a clock that is only a number.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use countersign_rehearsal::cli::{Engine, Input, Launch, Output, Scenario};
use serde_json::Value;

mod edges;

struct Run {
    engine: Engine,
    now: Duration,
    lines: Vec<Value>,
    outputs: Vec<Output>,
}

impl Run {
    fn new(text: &str) -> Self {
        Self::with_flags(text, &[])
    }

    fn with_flags(text: &str, flags: &[&str]) -> Self {
        let launch = Launch {
            arguments: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            ..Launch::default()
        };
        let scenario = Scenario::parse(text, "test").unwrap_or_else(|error| panic!("{error}"));
        let mut run = Self {
            engine: Engine::new(scenario, launch),
            now: Duration::ZERO,
            lines: Vec::new(),
            outputs: Vec::new(),
        };
        run.step(Input::Start);
        run
    }

    /// Steps, and goes on while the engine wants to be woken at once.
    fn step(&mut self, input: Input<'_>) -> &mut Self {
        let mut outputs = self.engine.step(self.now, input);
        loop {
            let hurried = outputs.last() == Some(&Output::WakeAt(self.now));
            for output in outputs.drain(..) {
                if let Output::Write(bytes) = &output {
                    let text = String::from_utf8(bytes.clone()).unwrap();
                    self.lines.extend(
                        text.lines()
                            .filter_map(|line| serde_json::from_str(line).ok()),
                    );
                }
                self.outputs.push(output);
            }
            if !hurried {
                return self;
            }
            outputs = self.engine.step(self.now, Input::Timer);
        }
    }

    fn line(&mut self, line: &str) -> &mut Self {
        self.step(Input::Line(line.as_bytes()))
    }

    fn user(&mut self, text: &str) -> &mut Self {
        let line = serde_json::json!({"type":"user","message":{"role":"user","content":text}});
        self.line(&line.to_string())
    }

    fn request(&mut self, id: &str, request: Value) -> &mut Self {
        let line = serde_json::json!({"type":"control_request","request_id":id,"request":request});
        self.line(&line.to_string())
    }

    fn answer(&mut self, id: &str, response: Value) -> &mut Self {
        let line = serde_json::json!({"type":"control_response","response":{
            "subtype":"success","request_id":id,"response":response}});
        self.line(&line.to_string())
    }

    fn at(&mut self, millis: u64) -> &mut Self {
        self.now = Duration::from_millis(millis);
        self.step(Input::Timer)
    }

    /// `type/subtype` of the lines since the last call.
    fn kinds(&mut self) -> Vec<String> {
        let lines = std::mem::take(&mut self.lines);
        lines.iter().map(kind).collect()
    }

    fn code(&self) -> Option<u8> {
        self.outputs.iter().find_map(|output| match output {
            Output::Exit(code) => Some(*code),
            _ => None,
        })
    }

    fn stderr(&self) -> String {
        let outputs = self.outputs.iter();
        let texts = outputs.filter_map(|output| match output {
            Output::Stderr(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        });
        texts.collect()
    }
}

fn kind(line: &Value) -> String {
    let sub = match line["type"].as_str().unwrap() {
        "control_request" => &line["request"]["subtype"],
        "control_response" => &line["response"]["subtype"],
        _ => &line["subtype"],
    };
    match sub.as_str() {
        Some(sub) => format!("{}/{sub}", line["type"].as_str().unwrap()),
        None => line["type"].as_str().unwrap().to_owned(),
    }
}

fn asked(run: &Run) -> Vec<String> {
    let requests = run
        .lines
        .iter()
        .filter(|line| line["type"] == "control_request");
    requests
        .map(|line| line["request_id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn nothing_is_written_before_there_is_something_to_do() {
    let mut run = Run::new("");
    assert!(run.kinds().is_empty());
    assert_eq!(
        run.user("hi").kinds(),
        ["system/init", "assistant", "result/success"]
    );
    assert_eq!(run.step(Input::Eof).code(), Some(0));
}

#[test]
fn a_message_with_a_uuid_is_acknowledged_by_the_newest_version_and_run_once() {
    let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"hi"}}"#;
    let mut run = Run::with_flags("", &["--replay-user-messages"]);
    run.line(line);
    let states: Vec<_> = run
        .lines
        .iter()
        .filter_map(|line| line["state"].as_str())
        .collect();
    assert_eq!(states, ["queued", "started", "completed"]);
    assert!(
        run.lines
            .iter()
            .any(|line| line["isReplay"] == true && line["uuid"] == "u1")
    );
    run.kinds();
    assert_eq!(run.line(line).kinds(), ["command_lifecycle", "user"]);

    let mut old = Run::with_flags("version 2.0.75", &[]);
    assert_eq!(
        old.line(line).kinds(),
        ["system/init", "assistant", "result/success"]
    );
    assert!(old.line(line).kinds().is_empty());
}

/// Version, subtype and mode of a request, and what is said to it.
const REQUESTS: &str = "
2.1.325 set_permission_mode plan: control_response/success system/status
2.0.75 set_permission_mode plan: control_response/success
2.1.325 set_permission_mode banana: control_response/error
2.1.325 set_permission_mode bypassPermissions: control_response/error
2.1.325 nope -: control_response/error
2.0.75 get_settings -: control_response/error
2.1.325 get_settings -: control_response/success
2.1.325 interrupt -: control_response/success
";

#[test]
fn control_requests_are_answered_as_the_version_does() {
    for row in REQUESTS.trim().lines() {
        let (request, expected) = row.split_once(':').unwrap();
        let words: Vec<&str> = request.split(' ').collect();
        let [version, subtype, mode] = words[..] else {
            panic!("{row}")
        };
        let mut run = Run::new(&format!("version {version}"));
        run.request("h1", serde_json::json!({"subtype": subtype, "mode": mode}));
        let response = &run.lines[0]["response"];
        assert_eq!(response["request_id"], "h1");
        let failed = response["subtype"] == "error";
        assert_eq!(response.get("error_code").is_some(), failed, "{row}");
        assert_eq!(run.kinds().join(" "), expected.trim(), "{row}");
    }
}

#[test]
fn replies_can_fail_in_every_named_way() {
    let request = serde_json::json!({"subtype":"set_model","model":"opus"});
    let ids = |text: &str| {
        let mut run = Run::new(text);
        run.request("h1", request.clone());
        run.lines
            .iter()
            .map(|line| line["response"]["request_id"] == "h1")
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("reply never set_model"), [false; 0]);
    assert_eq!(ids("reply never any"), [false; 0]);
    assert_eq!(ids("reply never interrupt"), [true]);
    assert_eq!(ids("reply twice set_model"), [true, true]);
    assert_eq!(ids("reply misaddressed set_model"), [false]);
    assert_eq!(ids("reply never any\nreply normal set_model"), [true]);

    let mut late = Run::new("reply late 200ms set_model");
    late.request("h1", request.clone());
    assert!(late.kinds().is_empty());
    assert_eq!(
        late.outputs.last(),
        Some(&Output::WakeAt(Duration::from_millis(200)))
    );
    assert!(late.at(199).kinds().is_empty());
    assert_eq!(late.at(200).kinds(), ["control_response/success"]);

    let mut error = Run::new("reply error \"no\" set_model");
    error.request("h1", request.clone());
    assert_eq!(error.lines[0]["response"]["error"], "no");
}

#[test]
fn an_approval_decides_between_result_and_refusal() {
    let text = "turn always\n  ask Bash {\"command\":\"ls\"} gives \"a.txt\"\n  say \"Seen.\"";
    let mut run = Run::new(text);
    run.user("go");
    let id = asked(&run).pop().unwrap();
    assert_eq!(
        run.kinds(),
        ["system/init", "assistant", "control_request/can_use_tool"]
    );
    run.answer(
        "somebody else's",
        serde_json::json!({"behavior":"allow","updatedInput":{}}),
    );
    assert!(run.kinds().is_empty());
    run.answer(
        &id,
        serde_json::json!({"behavior":"allow","updatedInput":{"command":"ls"}}),
    );
    assert_eq!(run.lines[0]["message"]["content"][0]["content"], "a.txt");
    assert_eq!(run.kinds(), ["user", "assistant", "result/success"]);
    run.answer(&id, serde_json::json!({"behavior":"deny","message":"late"}));
    assert!(run.kinds().is_empty());

    run.user("again");
    let id = asked(&run).pop().unwrap();
    run.kinds();
    run.answer(
        &id,
        serde_json::json!({"behavior":"deny","message":"not today"}),
    );
    assert_eq!(
        run.lines[0]["message"]["content"][0]["content"],
        "not today"
    );
    let result = run.lines.last().unwrap();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");

    run.user("stop");
    let id = asked(&run).pop().unwrap();
    run.kinds();
    run.answer(
        &id,
        serde_json::json!({"behavior":"deny","message":"no","interrupt":true}),
    );
    assert_eq!(
        run.kinds(),
        ["user", "user", "result/error_during_execution"]
    );
}

#[test]
fn an_interrupt_withdraws_the_questions_and_ends_the_turn() {
    let mut run = Run::new(
        "turn\n  ask Bash nowait\n  ask Read nowait\n  wait answers\n  say \"never\"\nturn\n  say \"there\"",
    );
    run.user("go").kinds();
    run.request("h1", serde_json::json!({"subtype":"interrupt"}));
    assert_eq!(run.lines.last().unwrap()["is_error"], true);
    assert_eq!(
        run.kinds(),
        [
            "control_cancel_request",
            "control_cancel_request",
            "control_response/success",
            "user",
            "user",
            "user",
            "result/error_during_execution"
        ]
    );
    assert_eq!(
        run.user("still there?").kinds(),
        ["system/init", "assistant", "result/success"]
    );
}

#[test]
fn answers_may_come_in_any_order_and_some_never() {
    let mut run = Run::new(
        "turn\n  repeat 3\n    ask Bash {\"command\":\"${n}\"} nowait\n  end\n  wait answers 2\n  say \"Two are enough.\"",
    );
    run.user("go");
    let ids = asked(&run);
    assert_eq!(run.lines[2]["request"]["input"]["command"], "1");
    run.kinds();
    let allow = serde_json::json!({"behavior":"allow","updatedInput":{"command":"x"}});
    assert_eq!(run.answer(&ids[2], allow.clone()).kinds(), ["user"]);
    assert_eq!(
        run.answer(&ids[0], allow).kinds(),
        ["user", "assistant", "result/success"]
    );
}

#[test]
fn the_same_id_twice_takes_two_answers() {
    let mut run = Run::new("turn\n  ask Bash id=d nowait\n  ask Bash id=d nowait\n  wait answers");
    run.user("go");
    assert_eq!(asked(&run), ["d", "d"]);
    run.kinds();
    let deny = serde_json::json!({"behavior":"deny","message":"x"});
    assert_eq!(run.answer("d", deny.clone()).kinds(), ["user"]);
    assert_eq!(run.answer("d", deny).kinds(), ["user", "result/success"]);
}

#[test]
fn messages_during_a_turn_wait_or_are_folded_into_it() {
    let mut run = Run::new("turn\n  wait 100ms\n  say \"one\"\nturn\n  say \"two\"");
    run.user("a").user("b");
    assert_eq!(run.kinds(), ["system/init"]);
    assert_eq!(
        run.at(100).kinds(),
        [
            "assistant",
            "result/success",
            "system/init",
            "assistant",
            "result/success"
        ]
    );

    let mut folded = Run::new("turn\n  wait user\n  fold\n  say \"both\"");
    folded.user("a").kinds();
    assert_eq!(folded.user("b").kinds(), ["assistant", "result/success"]);
    assert_eq!(folded.step(Input::Eof).code(), Some(0));
}

#[test]
fn a_turn_can_start_by_itself() {
    let mut run = Run::new(
        "turn\n  say \"started\"\nunsolicited after 300ms\n  say \"done\"\nturn\n  say \"next\"",
    );
    run.user("go").kinds();
    assert!(run.at(299).kinds().is_empty());
    assert_eq!(
        run.at(300).kinds(),
        ["system/init", "assistant", "result/success"]
    );
    run.user("and now");
    assert_eq!(run.lines[1]["message"]["content"][0]["text"], "next");
}
