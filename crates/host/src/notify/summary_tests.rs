//! What of a question leaves the machine.

use serde_json::json;

use super::*;
use crate::control::approval::Life;
use crate::control::{ApprovalId, Digest, SessionId};

fn asked(kind: Kind, tool: &str, input: Value) -> ApprovalView {
    ApprovalView {
        id: ApprovalId::new(1_000, 1),
        session: SessionId::new(1_000, 2),
        session_name: "a session".to_owned(),
        kind,
        life: Life::Open,
        asked: 1_000,
        record: "1-1".to_owned(),
        request_id: "r".to_owned(),
        tool_use_id: None,
        tool: tool.to_owned(),
        input,
        edited_input: None,
        file: None,
        digest: Digest::of(b"x"),
        path: Vec::new(),
        reason: "no rule allows it".to_owned(),
        remark: None,
        harm: None,
        offers: Vec::new(),
        expires: None,
        decided: None,
        needs_restart: false,
        plan: None,
    }
}

#[test]
fn the_subject_of_a_call_is_told_and_nothing_else() {
    let write = json!({"file_path": "/p/a.txt", "content": "the words of the file"});
    assert_eq!(of(&asked(Kind::Tool, "Write", write)), "Write: /p/a.txt");
    let bash = json!({"command": "cargo test\n  --all", "description": "Runs the tests"});
    assert_eq!(
        of(&asked(Kind::Tool, "Bash", bash)),
        "Bash: cargo test --all"
    );
    let mcp = json!({"body": "private", "to": "somebody"});
    assert_eq!(
        of(&asked(Kind::Tool, "mcp__mail__send", mcp)),
        "mcp__mail__send"
    );
    let plan = json!({"plan": "\n# Make it so\n\n1. first\n"});
    assert_eq!(
        of(&asked(Kind::Plan, "ExitPlanMode", plan)),
        "plan: Make it so"
    );
    assert_eq!(of(&asked(Kind::Plan, "ExitPlanMode", json!({}))), "a plan");
    let ask = json!({"questions": [{"question": "Which colour?"}, {"question": "And why?"}]});
    assert_eq!(
        of(&asked(Kind::Questions, "AskUserQuestion", ask)),
        "question: Which colour?"
    );
    let form = json!({"message": "Your name?"});
    assert_eq!(
        of(&asked(Kind::Elicitation, "db", form)),
        "db asks: Your name?"
    );
}

#[test]
fn a_secret_is_masked_wherever_the_line_is_cut() {
    let token = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
    for filler in [
        0, 100, 120, 130, 150, 155, 158, 160, 300, 4060, 4080, 4090, 5000,
    ] {
        let command = format!("echo {} {token} end", "x".repeat(filler));
        let told = of(&asked(Kind::Tool, "Bash", json!({"command": command})));
        for part in 6..token.len() {
            assert!(!told.contains(&token[4..part + 1]), "{filler}: {told}");
        }
        assert!(told.chars().count() <= LONGEST + 1, "{filler}");
    }
}

#[test]
fn a_line_is_one_line_and_shows_what_it_says() {
    assert_eq!(line("a\r\n\tb\u{7}\u{1b}[31m c"), "a b [31m c");
    assert_eq!(line("safe\u{202e}txt.exe"), "safe txt.exe");
    assert_eq!(line(""), "");
    let long = line(&"word ".repeat(2000));
    assert!(long.ends_with('…') && long.chars().count() <= LONGEST + 1);
    assert_eq!(line(&"é".repeat(5000)), "…");
}
