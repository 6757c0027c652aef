//! Replies and questions that go astray.

use serde_json::Value;

use super::process::Process;

#[test]
fn replies_can_go_astray() {
    let replies = |habit: &str| {
        let mut process = Process::start(&format!("{habit}\nturn always\n  say \"done\""));
        process.request("mine", "set_model");
        process.user("hi");
        let mut found = Vec::new();
        loop {
            let line: Value = serde_json::from_slice(&process.line().unwrap()).unwrap();
            match line["type"].as_str().unwrap() {
                "control_response" => found.push(line["response"]["request_id"] == "mine"),
                "result" => return found,
                _ => {}
            }
        }
    };
    assert_eq!(replies("reply misaddressed set_model"), [false]);
    assert_eq!(replies("reply twice set_model"), [true, true]);
    assert_eq!(replies("reply never any"), [false; 0]);
    assert_eq!(replies("reply late 200ms set_model"), [false; 0]);

    let mut process = Process::start("reply error \"not today\" any");
    process.request("mine", "set_model");
    let reply = process.until("control_response");
    assert_eq!(reply["response"]["error"], "not today");
}

#[test]
fn a_request_can_be_unknown() {
    let mut process = Process::in_turn("turn\n  control from_the_future {\"x\":1} nowait");
    let request = process.until("control_request");
    assert_eq!(request["request"]["subtype"], "from_the_future");
    process.until("result");
}

#[test]
fn an_id_can_be_used_twice() {
    let mut process = Process::in_turn(
        "turn\n  ask Bash {\"command\":\"one\"} id=same nowait\n  ask Bash {\"command\":\"two\"} id=same nowait\n  wait forever",
    );
    let first = process.until("control_request");
    let second = process.until("control_request");
    assert_eq!(first["request_id"], "same");
    assert_eq!(second["request_id"], "same");
    assert_ne!(first["request"]["input"], second["request"]["input"]);
}

#[test]
fn ids_can_be_nobodys() {
    let mut process = Process::in_turn(concat!(
        "turn\n  cancel nobody\n",
        "  emit {\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_nobody\",\"content\":\"x\"}]}}\n",
        "  raw {\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"nobody\"}}\n",
    ));
    assert_eq!(
        process.until("control_cancel_request")["request_id"],
        "nobody"
    );
    assert_eq!(
        process.until("user")["message"]["content"][0]["tool_use_id"],
        "toolu_nobody"
    );
    assert_eq!(
        process.until("control_response")["response"]["request_id"],
        "nobody"
    );
}

#[test]
fn a_question_can_be_taken_back_and_a_late_answer_changes_nothing() {
    let mut process = Process::in_turn(
        "turn\n  ask Bash {\"command\":\"ls\"} gives \"it ran\" as late nowait\n  cancel late\n  wait control mcp_status\n  say \"still here\"",
    );
    let question = process.until("control_request");
    assert_eq!(
        process.until("control_cancel_request")["request_id"],
        question["request_id"]
    );
    process.allow(&question);
    process.request("go", "mcp_status");
    let mut seen = String::new();
    loop {
        let line = process.line().unwrap();
        seen.push_str(std::str::from_utf8(&line).unwrap());
        if seen.contains("\"type\":\"result\"") {
            break;
        }
    }
    assert!(
        seen.contains("still here") && !seen.contains("it ran"),
        "{seen}"
    );
}

#[test]
fn a_question_can_come_after_the_result() {
    let mut process =
        Process::in_turn("turn\n  result\n  ask Bash {\"command\":\"ls\"} gives \"it ran\"");
    process.until("result");
    let question = process.until("control_request");
    process.allow(&question);
    let report = process.until("user");
    assert_eq!(report["message"]["content"][0]["content"], "it ran");
}
