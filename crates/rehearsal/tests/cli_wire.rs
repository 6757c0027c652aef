//! What the scripted CLI says is what the wire types know: nothing in it is unknown, broken or lost.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use countersign_rehearsal::cli::{Engine, Input, Launch, Output, Scenario};
use countersign_wire::CliMessage;
use countersign_wire::control::{self, Request};
use countersign_wire::decode::decode;
use countersign_wire::inspect::{At, Inspect, Novelty};
use serde_json::{Value, json};

const VERSIONS: [&str; 4] = ["2.1.325", "2.1.197", "2.1.62", "2.0.75"];
const EVERYTHING: &str = r#"
flags --include-partial-messages --replay-user-messages
turn
  think "Hm."
  say "Text."
  stream "A longer text, in several pieces."
  ask Bash {"command":"ls","description":"Look"} gives "out"
  ask Write {"file_path":"/a","content":"b"}
  hook PreToolUse {"tool_name":"Bash","tool_input":{}}
  mcp calc {"method":"tools/call","params":{"name":"add","arguments":{}}}
  elicit calc "Name?" {"type":"object"}
  dialog pick {"title":"Where?"}
  ask Bash as gone nowait
  cancel gone
  flood 3 20
turn
  wait user
  fold
  result error_max_turns
turn
  result error_max_budget_usd
turn
  result error_max_structured_output_retries
turn
  ask Bash
"#;

fn novelties(value: &impl Inspect) -> Vec<String> {
    let mut found = Vec::new();
    value.inspect(&At::ROOT, &mut |at, novelty| {
        found.push(match novelty {
            Novelty::Carried(_) | Novelty::Kept(_) => return,
            Novelty::Field(name) => format!("unknown field `{name}` at `{at}`"),
            Novelty::Variant { tag, name } => format!("unknown {tag} `{name}` at `{at}`"),
            Novelty::Value(word) => format!("unknown word `{word}` at `{at}`"),
            _ => "unknown novelty".to_owned(),
        });
    });
    found
}

/// Plays the scenario with a host that allows the first call, denies the second and answers everything else.
fn lines(version: &str) -> Vec<String> {
    let scenario = Scenario::parse(&format!("version {version}\n{EVERYTHING}"), "all").unwrap();
    let mut engine = Engine::new(
        scenario,
        Launch {
            cwd: "/project".into(),
            ..Launch::default()
        },
    );
    let mut written: Vec<u8> = Vec::new();
    let mut seen = 0;
    let user =
        |uuid: &str| json!({"type":"user","uuid":uuid,"message":{"role":"user","content":"x"}});
    let request =
        |id: &str, body: Value| json!({"type":"control_request","request_id":id,"request":body});
    let mut todo: Vec<Value> = vec![
        request(
            "h1",
            json!({"subtype":"initialize","sdkMcpServers":["calc"],"hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["cb"]}]}}),
        ),
        user("a"),
        user("b"),
        user("b2"),
        user("b"),
        request("h2", json!({"subtype":"set_permission_mode","mode":"plan"})),
        request(
            "h3",
            json!({"subtype":"set_permission_mode","mode":"bypassPermissions"}),
        ),
        request("h4", json!({"subtype":"no_such_request"})),
        user("c"),
        user("d"),
        user("e"),
        request("h5", json!({"subtype":"interrupt"})),
    ];
    todo.reverse();
    let mut asked = 0;
    let mut outputs = engine.step(Duration::ZERO, Input::Start);
    loop {
        for output in outputs.drain(..) {
            if let Output::Write(bytes) = output {
                written.extend_from_slice(&bytes);
            }
        }
        let all: Vec<String> = String::from_utf8(written.clone())
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        let mut next = None;
        while seen < all.len() && next.is_none() {
            let line: Value = serde_json::from_str(&all[seen]).unwrap();
            seen += 1;
            if line["type"] == "control_request" {
                let interrupts = todo.len() == 1;
                let response = match line["request"]["subtype"].as_str().unwrap() {
                    "can_use_tool" if interrupts => continue,
                    "can_use_tool" => {
                        asked += 1;
                        if asked == 1 {
                            json!({"behavior":"allow","updatedInput":line["request"]["input"],"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]})
                        } else {
                            json!({"behavior":"deny","message":"no"})
                        }
                    }
                    _ => json!({}),
                };
                next = Some(
                    json!({"type":"control_response","response":{"subtype":"success","request_id":line["request_id"],"response":response}}),
                );
            }
        }
        let input = next.or_else(|| todo.pop());
        outputs = match &input {
            Some(line) => engine.step(Duration::ZERO, Input::Line(line.to_string().as_bytes())),
            None => return all,
        };
        // A flood goes on when it is woken.
        while outputs.last() == Some(&Output::WakeAt(Duration::ZERO)) {
            outputs.extend(engine.step(Duration::ZERO, Input::Timer));
        }
    }
}

#[test]
fn every_line_is_a_known_message_with_nothing_unknown() {
    for version in VERSIONS {
        let lines = lines(version);
        assert!(lines.len() > 40, "{version}: {}", lines.len());
        for line in lines {
            let message: CliMessage = decode(line.as_bytes())
                .unwrap_or_else(|error| panic!("{version}: {error}\n{line}"));
            assert_eq!(
                novelties(&message),
                Vec::<String>::new(),
                "{version}: {line}"
            );
            assert_eq!(
                serde_json::to_value(&message).unwrap(),
                serde_json::from_str::<Value>(&line).unwrap()
            );
        }
    }
}

#[test]
fn every_kind_of_line_was_among_them() {
    let kinds = |version: &str| {
        let lines = lines(version);
        let values = lines
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        values
            .map(|line| {
                format!(
                    "{}/{}",
                    line["type"].as_str().unwrap(),
                    line["subtype"].as_str().unwrap_or_default()
                )
            })
            .collect::<std::collections::BTreeSet<_>>()
    };
    let new = kinds("2.1.325");
    for kind in [
        "assistant/",
        "command_lifecycle/",
        "control_cancel_request/",
        "control_request/",
        "control_response/",
        "result/error_during_execution",
        "result/error_max_budget_usd",
        "result/error_max_structured_output_retries",
        "result/error_max_turns",
        "result/success",
        "stream_event/",
        "system/init",
        "system/status",
        "user/",
    ] {
        assert!(new.contains(kind), "{kind} in {new:?}");
    }
    assert!(!kinds("2.0.75").contains("system/status"));
    assert!(!kinds("2.1.62").contains("command_lifecycle/"));
}

macro_rules! replies {
    ($engine:expr, $($request:ty),* $(,)?) => {$({
        let subtype = <$request as Request>::SUBTYPE;
        let line = json!({"type":"control_request","request_id":subtype,"request":{"subtype":subtype}});
        let outputs = $engine.step(Duration::ZERO, Input::Line(line.to_string().as_bytes()));
        let Some(Output::Write(bytes)) = outputs.first() else { panic!("{subtype}: {outputs:?}") };
        let line: Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(line["response"]["subtype"], "success", "{subtype}: {line}");
        let reply: <$request as Request>::Reply = serde_json::from_value(line["response"]["response"].clone())
            .unwrap_or_else(|error| panic!("{subtype}: {error}\n{line}"));
        assert_eq!(novelties(&reply), Vec::<String>::new(), "{subtype}");
    })*};
}

// `read_file` and `rewind_files` are answered by the shell, which looks at files; the suites of the SDKs see them.
#[test]
fn replies_with_a_body_are_what_their_types_say() {
    let scenario = Scenario::empty("none");
    let mut engine = Engine::new(scenario, Launch::default());
    engine.step(Duration::ZERO, Input::Start);
    replies!(
        engine,
        control::Initialize,
        control::Interrupt,
        control::SetModel,
        control::McpStatus,
        control::GetContextUsage,
        control::GetSessionCost,
        control::ListModels,
        control::GetUsage,
        control::GetBinaryVersion,
        control::FileSuggestions,
        control::CancelAsyncMessage,
        control::McpSetServers,
        control::ReloadPlugins,
        control::ReloadSkills,
        control::ReloadOutputStyles,
        control::BackgroundTasks,
        control::GetSettings,
        control::GetHooksListing,
        control::ListPermissionRules,
    );
}
