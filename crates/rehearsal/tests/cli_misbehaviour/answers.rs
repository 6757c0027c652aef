//! Questions that go astray.

use super::process::Process;

#[test]
fn a_request_can_be_unknown() {
    let mut process = Process::in_turn("turn\n  control from_the_future {\"x\":1} nowait");
    let request = process.until("control_request");
    assert_eq!(request["request"]["subtype"], "from_the_future");
    process.until("result");
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
