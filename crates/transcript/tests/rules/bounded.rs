//! Memory depends on the bounds, not on the session.
//!
//! Counted in entries and bytes of a checkpoint, never in time.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use countersign_journal::{Kind, Record};
use countersign_transcript::{Change, Fold, Life, bounds};

use crate::{call, question};

/// The most a checkpoint may have: the texts of open entries, their words, and what leads to them.
const MOST: usize = 2 * bounds::OPEN_BYTES + 2 * bounds::OPEN * bounds::WORD;

/// Folds so many lines; how many entries were open at most, and the largest checkpoint seen.
fn run(count: u64, mut line: impl FnMut(u64) -> (Kind, String)) -> (usize, usize, Fold) {
    let mut fold = Fold::new();
    let (mut open, mut bytes) = (0, 0);
    for seq in 1..=count {
        let (kind, payload) = line(seq);
        let record = Record {
            seq,
            at: seq,
            kind,
            payload: payload.as_bytes(),
        };
        fold.step(1, &record);
        open = open.max(fold.open());
        if seq % (count / 8) == 0 {
            bytes = bytes.max(serde_json::to_vec(&fold.checkpoint()).unwrap().len());
        }
    }
    (open, bytes, fold)
}

fn agent(line: String) -> (Kind, String) {
    (Kind::Agent, line)
}

#[test]
fn a_hundred_thousand_pieces_of_one_text() {
    let (open, bytes, _) = run(100_000, |seq| {
        agent(match seq {
            1 => r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}"#.to_owned(),
            2 => r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text"}}}"#.to_owned(),
            _ => r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"and so on "}}}"#.to_owned(),
        })
    });
    assert_eq!(open, 1);
    assert!(bytes < 2 * bounds::TEXT, "{bytes}");
}

#[test]
fn a_hundred_thousand_events_of_a_busy_session() {
    let (open, bytes, fold) = run(120_000, |seq| {
        let id = seq / 6;
        agent(match seq % 6 {
            0 => call(&format!("t{id}"), "Bash", r#"{"command":"ls"}"#),
            1 => question(
                &format!("r{id}"),
                &format!("t{id}"),
                "Bash",
                r#"{"command":"ls"}"#,
            ),
            2 => {
                return (
                    Kind::Host,
                    crate::allow(&format!("r{id}"), r#"{"command":"ls"}"#),
                );
            }
            3 => crate::result(&format!("t{id}"), "ok", false),
            4 => format!(
                r#"{{"type":"assistant","message":{{"id":"m{id}","content":[{{"type":"text","text":"turn {id}"}}]}}}}"#
            ),
            _ => r#"{"type":"result","subtype":"success","total_cost_usd":1}"#.to_owned(),
        })
    });
    assert!(open <= 2, "{open}");
    assert!(bytes < 16 << 10, "{bytes}");
    assert!(fold.totals().approvals.ran > 19_000);
}

#[test]
fn calls_that_never_return() {
    let (open, bytes, _) = run(2_000, |seq| {
        agent(call(&format!("t{seq}"), "Task", r#"{"description":"x"}"#))
    });
    assert_eq!(open, bounds::OPEN);
    assert!(bytes < MOST, "{bytes}");
}

#[test]
fn calls_with_long_inputs_that_never_return() {
    let long = "x".repeat(100_000);
    let (open, bytes, _) = run(400, |seq| {
        agent(call(
            &format!("t{seq}"),
            "Write",
            &format!(r#"{{"file_path":"/a","content":"{long}"}}"#),
        ))
    });
    assert_eq!(open, 400);
    assert!(bytes < MOST, "{bytes}");
}

#[test]
fn questions_that_nobody_answers() {
    let (open, bytes, fold) = run(2_000, |seq| {
        agent(question(
            &format!("r{seq}"),
            &format!("t{seq}"),
            "Bash",
            "{}",
        ))
    });
    assert_eq!(open, bounds::OPEN);
    assert!(bytes < MOST, "{bytes}");
    assert_eq!(fold.totals().approvals.open, bounds::OPEN as u64);
}

#[test]
fn an_entry_that_was_let_go_says_so_and_is_not_touched_again() {
    let mut fold = Fold::new();
    let mut let_go = Vec::new();
    for seq in 1..=bounds::OPEN as u64 + 3 {
        let line = call(&format!("t{seq}"), "Bash", "{}");
        let changes = fold.step(
            1,
            &Record {
                seq,
                at: seq,
                kind: Kind::Agent,
                payload: line.as_bytes(),
            },
        );
        for change in changes.entries {
            if let Change::Put(entry) = change
                && entry.life == Life::LetGo
            {
                let_go.push(entry.id.to_string());
            }
        }
    }
    assert_eq!(let_go, ["1-1", "1-2", "1-3"]);
    let line = crate::result("t1", "late", false);
    let changes = fold.step(
        1,
        &Record {
            seq: 9_999,
            at: 1,
            kind: Kind::Agent,
            payload: line.as_bytes(),
        },
    );
    let told: Vec<String> = changes
        .entries
        .iter()
        .map(|change| change.id().to_string())
        .collect();
    assert_eq!(told, ["1-9999"]);
}

#[test]
fn many_of_everything_else() {
    let line = |seq: u64| {
        agent(match seq % 8 {
            0 => format!(
                r#"{{"type":"system","subtype":"task_started","task_id":"k{seq}","description":"d"}}"#
            ),
            1 => format!(
                r#"{{"type":"system","subtype":"hook_started","hook_id":"h{seq}","hook_name":"n","hook_event":"Stop"}}"#
            ),
            2 => {
                return (
                    Kind::Host,
                    format!(
                        r#"{{"type":"user","uuid":"u{seq}","message":{{"role":"user","content":"x"}}}}"#
                    ),
                );
            }
            3 => {
                return (
                    Kind::Host,
                    format!(
                        r#"{{"type":"control_request","request_id":"q{seq}","request":{{"subtype":"set_model","model":"m{seq}"}}}}"#
                    ),
                );
            }
            4 => format!(
                r#"{{"type":"stream_event","parent_tool_use_id":"s{seq}","event":{{"type":"message_start","message":{{"id":"m{seq}"}}}}}}"#
            ),
            5 => format!(
                r#"{{"type":"tool_progress","tool_use_id":"s{seq}","subagent_retry":{{"attempt":1}}}}"#
            ),
            6 => format!(
                r#"{{"type":"result","subtype":"success","total_cost_usd":{seq},"modelUsage":{{"model {seq}":{{"outputTokens":1}}}}}}"#
            ),
            _ => call(&format!("t{seq}"), &format!("mcp__x__{seq}"), "{}"),
        })
    };
    let (open, bytes, fold) = run(20_000, line);
    assert!(open <= bounds::OPEN, "{open}");
    assert!(bytes < MOST, "{bytes}");
    assert!(fold.totals().tools.len() <= bounds::NAMES + 1);
    assert!(fold.totals().models.len() <= bounds::NAMES + 1);
}
