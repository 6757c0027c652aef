//! What lines prove about answers, on recorded lines and on made ones.

use countersign_host::approval::{Evidence, evidence};
use serde_json::{Value, json};

use crate::stage::{RECORDED, questions, recorded};

fn of(line: Value) -> Vec<Evidence> {
    evidence(line.to_string().as_bytes())
}

#[test]
fn every_recorded_answer_is_settled_by_the_result_of_its_call() {
    for version in RECORDED {
        for (scenario, failed) in [
            ("bash-approved", false),
            ("bash-denied", true),
            ("sub-agent", false),
            ("interrupt-approval", true),
        ] {
            let proved: Vec<Evidence> = recorded(version, scenario)
                .iter()
                .flat_map(|line| evidence(line))
                .collect();
            let asked = &questions(version, scenario)[0];
            let expected = Evidence::Result {
                tool_use_id: asked.tool_use_id.clone().unwrap(),
                is_error: failed,
            };
            assert!(
                proved.contains(&expected),
                "{version} {scenario} {proved:?}"
            );
        }
    }
}

#[test]
fn the_end_of_a_sub_agent_is_told_after_the_results_of_its_calls() {
    for version in ["newest", "2.1.62"] {
        let asked = &questions(version, "sub-agent")[0];
        let ended = Evidence::AgentEnded {
            agent_id: asked.agent_id.clone().unwrap(),
        };
        let proved: Vec<Evidence> = recorded(version, "sub-agent")
            .iter()
            .flat_map(|line| evidence(line))
            .collect();
        let place = |wanted: &dyn Fn(&Evidence) -> bool| proved.iter().position(wanted);
        let result = place(
            &|proof| matches!(proof, Evidence::Result { tool_use_id, .. } if Some(tool_use_id) == asked.tool_use_id.as_ref()),
        );
        let Some(end) = place(&|proof| *proof == ended) else {
            assert_eq!(version, "2.1.62", "the newest tells it");
            continue;
        };
        assert!(result.unwrap() < end, "{version} {proved:?}");
    }
}

#[test]
fn a_sub_agent_has_ended_when_its_task_says_so() {
    let task = |subtype: &str, status: &str| match subtype {
        "task_updated" => {
            json!({"type": "system", "subtype": subtype, "task_id": "a1", "patch": {"status": status}})
        }
        _ => json!({"type": "system", "subtype": subtype, "task_id": "a1", "status": status}),
    };
    let ended = Evidence::AgentEnded {
        agent_id: "a1".to_owned(),
    };
    for status in ["completed", "failed", "killed", "stopped"] {
        for subtype in ["task_updated", "task_notification"] {
            assert_eq!(
                of(task(subtype, status)),
                std::slice::from_ref(&ended),
                "{subtype} {status}"
            );
        }
    }
    for status in ["running", "pending", "paused"] {
        assert_eq!(of(task("task_updated", status)), [], "{status}");
    }
    assert_eq!(of(task("task_progress", "completed")), []);
}

#[test]
fn one_line_may_hold_several_results_and_a_missing_word_is_no_failure() {
    let line = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "x"},
        {"type": "tool_result", "tool_use_id": "b", "content": "y", "is_error": true},
        {"type": "text", "text": "z"}]}});
    let result = |id: &str, is_error| Evidence::Result {
        tool_use_id: id.to_owned(),
        is_error,
    };
    assert_eq!(of(line), [result("a", false), result("b", true)]);
}

#[test]
fn other_lines_prove_nothing() {
    for line in [
        "",
        "{",
        "null",
        r#"{"type":"user","message":"\"tool_result\""}"#,
    ] {
        assert_eq!(evidence(line.as_bytes()), [], "{line}");
    }
    assert_eq!(
        of(
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "tool_result"}]}})
        ),
        []
    );
}
