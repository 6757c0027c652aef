//! The step machine: what goes in and what comes out, with a clock that is only a number.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use countersign_rehearsal::cli::{Engine, Input, Launch, Output, Scenario};
use serde_json::Value;

mod edges;
mod wire;

struct Run {
    engine: Engine,
    now: Duration,
    lines: Vec<Value>,
    outputs: Vec<Output>,
}

impl Run {
    fn new(text: &str) -> Self {
        let scenario = Scenario::parse(text, "test").unwrap_or_else(|error| panic!("{error}"));
        let mut run = Self {
            engine: Engine::new(scenario, Launch::default()),
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

#[test]
fn a_message_with_a_uuid_is_run_once() {
    let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"hi"}}"#;
    for (text, again) in [("", &["command_lifecycle"][..]), ("version 2.0.75", &[])] {
        let mut run = Run::new(text);
        assert!(
            run.line(line)
                .kinds()
                .contains(&"result/success".to_owned())
        );
        assert_eq!(run.line(line).kinds(), again, "{text}");
    }
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
