//! The step machine: what goes in and what comes out, with a clock that is only a number.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use countersign_rehearsal::cli::{Engine, Input, Launch, Output, Scenario, Signal};
use serde_json::Value;

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

#[test]
fn control_requests_are_answered_as_the_version_does() {
    let table: &[(&str, Value, &[&str])] = &[
        (
            "2.1.325",
            serde_json::json!({"subtype":"set_permission_mode","mode":"plan"}),
            &["control_response/success", "system/status"],
        ),
        (
            "2.1.62",
            serde_json::json!({"subtype":"set_permission_mode","mode":"plan"}),
            &["control_response/success"],
        ),
        (
            "2.0.75",
            serde_json::json!({"subtype":"set_permission_mode","mode":"plan"}),
            &["control_response/success", "control_response/success"],
        ),
        (
            "2.1.325",
            serde_json::json!({"subtype":"set_permission_mode","mode":"banana"}),
            &["control_response/error"],
        ),
        (
            "2.1.62",
            serde_json::json!({"subtype":"set_permission_mode","mode":"banana"}),
            &["control_response/success"],
        ),
        (
            "2.1.325",
            serde_json::json!({"subtype":"set_permission_mode","mode":"bypassPermissions"}),
            &["control_response/error"],
        ),
        (
            "2.1.62",
            serde_json::json!({"subtype":"set_permission_mode","mode":"bypassPermissions"}),
            &["control_response/success"],
        ),
        (
            "2.1.325",
            serde_json::json!({"subtype":"nope"}),
            &["control_response/error"],
        ),
        (
            "2.1.62",
            serde_json::json!({"subtype":"nope"}),
            &["control_response/error"],
        ),
        ("2.1.30", serde_json::json!({"subtype":"nope"}), &[]),
        ("2.0.75", serde_json::json!({"subtype":"get_settings"}), &[]),
        (
            "2.1.325",
            serde_json::json!({"subtype":"get_settings"}),
            &["control_response/success"],
        ),
        (
            "2.1.325",
            serde_json::json!({"subtype":"interrupt"}),
            &["control_response/success"],
        ),
    ];
    for (version, request, expected) in table {
        let mut run = Run::new(&format!("version {version}"));
        run.request("h1", request.clone());
        let responses = run
            .lines
            .iter()
            .filter(|line| line["type"] == "control_response");
        assert!(
            responses
                .clone()
                .all(|line| line["response"]["request_id"] == "h1")
        );
        let codes: Vec<_> = responses
            .filter_map(|line| line["response"].get("error_code"))
            .collect();
        let errs = expected.contains(&"control_response/error");
        assert_eq!(
            !codes.is_empty(),
            errs && *version == "2.1.325",
            "{version} {request}"
        );
        assert_eq!(run.kinds(), *expected, "{version} {request}");
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
    for (version, is_error) in [("2.1.325", true), ("2.1.62", false), ("2.0.75", false)] {
        let mut run = Run::new(&format!(
            "version {version}\nturn\n  ask Bash nowait\n  ask Read nowait\n  wait answers\n  say \"never\"\nturn\n  say \"there\""
        ));
        run.user("go").kinds();
        run.request("h1", serde_json::json!({"subtype":"interrupt"}));
        assert_eq!(run.lines.last().unwrap()["is_error"], is_error, "{version}");
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
            ],
            "{version}"
        );
        assert_eq!(
            run.user("still there?").kinds(),
            ["system/init", "assistant", "result/success"]
        );
    }
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

#[test]
fn an_expectation_that_fails_ends_with_97_and_says_what_came() {
    let mut good = Run::new("turn\n  expect user content~\"hello\"\n  say \"ok\"");
    assert_eq!(good.user("hello there").code(), None);
    assert_eq!(good.kinds().last().unwrap(), "result/success");

    let mut other = Run::new("turn\n  expect user content=bye");
    assert_eq!(other.user("hello").code(), Some(97));
    assert!(
        other
            .stderr()
            .contains("expected user with content=\"bye\", but the host wrote"),
        "{}",
        other.stderr()
    );

    let mut late = Run::new("turn\n  expect interrupt within 1s");
    late.user("hello")
        .request("h", serde_json::json!({"subtype":"mcp_status"}));
    assert_eq!(late.code(), None);
    assert_eq!(late.at(1000).code(), Some(97));
    assert!(
        late.stderr()
            .contains("what came instead: user, control_request/mcp_status"),
        "{}",
        late.stderr()
    );

    let mut ended = Run::new("turn\n  expect interrupt");
    assert_eq!(ended.user("hello").step(Input::Eof).code(), Some(97));

    let mut more = Run::new("turn\n  say \"once\"");
    assert_eq!(more.user("a").user("b").code(), Some(97));
    assert!(
        more.stderr().contains("all turns are used up"),
        "{}",
        more.stderr()
    );
}

#[test]
fn the_end_of_input_refuses_what_is_asked_and_finishes_the_turn() {
    let mut run = Run::new("turn\n  ask Bash\n  say \"without it\"");
    run.user("go").kinds();
    run.step(Input::Eof);
    assert_eq!(run.lines[0]["message"]["content"][0]["is_error"], true);
    assert_eq!(run.kinds(), ["user", "assistant", "result/success"]);
    assert_eq!(run.code(), Some(0));

    let mut failed = Run::new("turn\n  result error_max_turns");
    assert_eq!(failed.user("go").step(Input::Eof).code(), Some(1));
    let mut deaf = Run::new("ignore eof");
    assert_eq!(deaf.step(Input::Eof).code(), None);
    let mut stuck = Run::new("turn\n  wait forever");
    assert_eq!(stuck.user("go").step(Input::Eof).code(), None);
}

#[test]
fn signals_end_it_unless_the_scenario_says_otherwise() {
    let end = |text: &str, signal| Run::new(text).step(Input::Signal(signal)).code();
    assert_eq!(end("", Signal::Terminate), Some(143));
    assert_eq!(end("", Signal::HangUp), Some(129));
    assert_eq!(end("", Signal::Interrupt), Some(0));
    assert_eq!(end("ignore sigterm", Signal::Terminate), None);
    assert_eq!(end("on sigterm\n  exit 5", Signal::Terminate), Some(5));
}

#[test]
fn hooks_go_to_the_callbacks_whose_matcher_fits() {
    let mut run = Run::new(
        "turn\n  hook PreToolUse {\"tool_name\":\"Bash\",\"tool_input\":{}}\n  say \"asked\"",
    );
    run.request(
        "h1",
        serde_json::json!({"subtype":"initialize","hooks":{"PreToolUse":[
        {"matcher":"Bash","hookCallbackIds":["a","b"]},
        {"matcher":"Write","hookCallbackIds":["c"]},
        {"hookCallbackIds":["d"]}]}}),
    );
    run.kinds();
    run.user("go");
    let requests = run
        .lines
        .iter()
        .filter(|line| line["type"] == "control_request");
    let callbacks: Vec<_> = requests
        .map(|line| line["request"]["callback_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(callbacks, ["a", "b", "d"]);
    let ids = asked(&run);
    run.kinds();
    for id in ids {
        run.answer(&id, serde_json::json!({}));
    }
    assert_eq!(run.kinds(), ["assistant", "result/success"]);
}

#[test]
fn in_process_servers_are_greeted_before_the_first_turn() {
    let mut run = Run::new("");
    run.request(
        "h1",
        serde_json::json!({"subtype":"initialize","sdkMcpServers":["calc"]}),
    );
    run.user("go");
    let mut methods = Vec::new();
    for _ in 0..3 {
        let request = run.lines.pop().unwrap();
        methods.push(
            request["request"]["message"]["method"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
        run.answer(
            request["request_id"].as_str().unwrap(),
            serde_json::json!({"mcp_response":{}}),
        );
    }
    assert_eq!(
        methods,
        ["initialize", "notifications/initialized", "tools/list"]
    );
    assert_eq!(run.kinds().last().unwrap(), "result/success");
}

#[test]
fn a_flood_is_numbered_and_hears_the_host_in_between() {
    let mut run = Run::new("turn\n  flood 1200 50");
    let first = run.engine.step(
        Duration::ZERO,
        Input::Line(br#"{"type":"user","message":{"role":"user","content":"x"}}"#),
    );
    assert_eq!(
        first.last(),
        Some(&Output::WakeAt(Duration::ZERO)),
        "it lets the host in before it is done"
    );
    run.request("h1", serde_json::json!({"subtype":"mcp_status"}));
    let kinds = run.kinds();
    let reply = kinds
        .iter()
        .position(|kind| kind == "control_response/success")
        .unwrap();
    assert!(reply < kinds.len() - 1);
}

#[test]
fn a_crash_in_the_middle_of_a_line_writes_half_of_it() {
    let mut run = Run::new("turn\n  crash mid-line");
    run.user("go");
    let last_two = &run.outputs[run.outputs.len() - 2..];
    assert!(matches!(last_two, [Output::Write(bytes), Output::Crash] if !bytes.ends_with(b"\n")));
    assert!(run.engine.is_over());
    assert!(run.engine.step(Duration::ZERO, Input::Timer).is_empty());
}

#[test]
fn a_big_line_is_never_held_as_a_whole() {
    let mut run = Run::new("turn\n  big 300M");
    run.user("go");
    let held: usize = run
        .outputs
        .iter()
        .map(|output| match output {
            Output::Write(bytes) => bytes.len(),
            _ => 0,
        })
        .sum();
    assert!(held < 20_000, "{held}");
    assert!(run.outputs.contains(&Output::Fill {
        byte: b'x',
        count: 300 * 1024 * 1024
    }));
}

#[test]
fn a_line_an_old_version_cannot_bear_kills_it() {
    let mut old = Run::new("version 2.0.75");
    assert_eq!(old.line("").code(), Some(1));
    let mut new = Run::new("");
    assert_eq!(new.line("").code(), None);
    let mut lenient = Run::new("version 2.0.75\ndefault strict off");
    assert_eq!(lenient.line("").code(), None);
}

#[test]
fn lines_can_have_more_and_less_than_usual() {
    let mut run = Run::new(
        "turn\n  say \"a\" with {\"novel\":1,\"message\":{\"usage\":{\"novel\":2}}}\n  result without duration_ms,usage.input_tokens",
    );
    run.user("go");
    assert_eq!(run.lines[1]["novel"], 1);
    assert_eq!(run.lines[1]["message"]["usage"]["novel"], 2);
    assert!(run.lines[1]["message"]["usage"]["output_tokens"].is_number());
    assert!(run.lines[2].get("duration_ms").is_none());
    assert!(run.lines[2]["usage"].get("input_tokens").is_none());
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || Run::new("turn\n  ask Bash").user("go").lines.clone();
    assert_eq!(run(), run());
}
