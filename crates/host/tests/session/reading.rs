//! From records to facts: odd lines, long names, damaged JSON, and what is bounded.

use countersign_host::session::{Effect, Fact, Kept, facts};
use countersign_journal::{Kind, Record};
use proptest::prelude::*;
use serde_json::json;

use crate::lines::*;
use crate::stage::Stage;

fn read(kind: Kind, payload: &[u8]) -> Vec<Fact> {
    facts(&Record {
        seq: 1,
        at: 1,
        kind,
        payload,
    })
}

fn said(line: &serde_json::Value) -> Vec<Fact> {
    read(Kind::Agent, line.to_string().as_bytes())
}

#[test]
fn every_line_of_the_agent_is_a_sign_of_life() {
    for line in [
        "",
        "null",
        "[]",
        "{",
        "not json",
        r#"{"type":"weather"}"#,
        r#"{"type":7}"#,
    ] {
        assert_eq!(read(Kind::Agent, line.as_bytes()), [Fact::Sign], "{line}");
    }
    assert_eq!(said(&piece()), [Fact::Sign]);
    assert_eq!(said(&text("x")), [Fact::Sign]);
}

#[test]
fn lines_of_others_are_none() {
    for kind in [Kind::Host, Kind::Keeper, Kind::Note, Kind::AgentPiece] {
        for line in [
            "",
            "{",
            r#"{"type":"keep_alive"}"#,
            r#"{"event":"head","hash":""}"#,
        ] {
            assert_eq!(read(kind, line.as_bytes()), [], "{kind} {line}");
        }
    }
}

#[test]
fn the_type_may_stand_anywhere_and_a_field_may_be_of_any_type() {
    let line = r#"{"request":{"input":{"type":"stream_event"},"tool_name":3,"subtype":"can_use_tool"},"request_id":"r","type":"control_request"}"#;
    let fact = Fact::Asked {
        request_id: "r".into(),
        subtype: "can_use_tool".into(),
        tool: None,
    };
    assert_eq!(read(Kind::Agent, line.as_bytes()), [fact]);
    let init = r#"{"type":"system","subtype":"init","model":["x"],"permissionMode":null}"#;
    let [Fact::Init(seen)] = &read(Kind::Agent, init.as_bytes())[..] else {
        panic!("an init");
    };
    assert_eq!((&seen.model, &seen.mode), (&None, &None));
}

#[test]
fn several_calls_in_one_line_are_several_facts_and_a_broken_block_costs_itself() {
    let line = json!({"type": "assistant", "message": {"content": [
        {"type": "tool_use", "id": "t1", "name": "Read"}, 7, {"type": "tool_use", "id": 9},
        {"type": "tool_use", "id": "t2"}]}});
    let names: Vec<_> = said(&line)
        .into_iter()
        .map(|fact| match fact {
            Fact::ToolBegan { id, .. } => id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["t1", "t2"]);
}

#[test]
fn a_surrogate_half_does_not_cost_a_result() {
    let line = r#"{"type":"result","subtype":"success","is_error":true,"result":"x \ud83d y"}"#;
    let [Fact::Ended(end)] = &read(Kind::Agent, line.as_bytes())[..] else {
        panic!("an end");
    };
    assert!(!end.ok);
    assert_eq!(end.why, "x \u{fffd} y");
}

#[test]
fn names_and_texts_are_bounded() {
    let long = "x".repeat(1_000_000);
    let question = said(&ask(&long, &long));
    let [
        Fact::Asked {
            request_id, tool, ..
        },
    ] = &question[..]
    else {
        panic!("{question:?}");
    };
    assert!(request_id.len() < 200 && tool.as_ref().unwrap().len() < 200);
    // The same long name is the same name, asked and answered.
    let answered = read(Kind::Host, allow(&long).to_string().as_bytes());
    assert!(matches!(&answered[..], [Fact::Answered { request_id: id, .. }] if id == request_id));
    let line = json!({"type": "result", "subtype": "success", "is_error": true, "result": long});
    assert!(format!("{:?}", said(&line)).len() < 1000);
    assert!(format!("{:?}", read(Kind::Stderr, long.as_bytes())).len() < 5000);
    let tasks: Vec<_> = (0..100_000)
        .map(|n| json!({"task_id": format!("t{n}")}))
        .collect();
    let line = json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks});
    let [Fact::Tasks(tasks)] = &said(&line)[..] else {
        panic!("tasks");
    };
    assert!(tasks.len() <= 256);
}

#[test]
fn what_is_open_is_bounded_and_what_is_let_go_is_named() {
    let mut stage = Stage::running();
    let mut let_go = Vec::new();
    for n in 0..300 {
        let effects = [
            stage.agent(ask(&format!("r{n}"), "Bash")),
            stage.agent(tool(&format!("t{n}"), "Bash")),
            stage.agent(task_started(&format!("a{n}"), "x", Some(true))),
            stage.host(user(n + 10)),
        ];
        let_go.extend(
            effects
                .into_iter()
                .flatten()
                .filter_map(|effect| match effect {
                    Effect::LetGo { what, .. } => Some(what),
                    _ => None,
                }),
        );
    }
    for what in [Kept::Question, Kept::Tool, Kept::Task, Kept::Message] {
        assert_eq!(
            let_go.iter().filter(|it| **it == what).count(),
            300 - 256,
            "{what:?}"
        );
    }
    assert_eq!(stage.core.open_questions(), 256);
    let stored = serde_json::to_string(&stage.core).unwrap();
    assert!(stored.len() < 128 << 10, "{} bytes", stored.len());
}

#[test]
fn stderr_is_bounded() {
    let mut stage = Stage::running();
    for _ in 0..50 {
        stage.stderr(&"words ".repeat(100));
    }
    let stored = serde_json::to_string(&stage.core).unwrap();
    assert!(stored.len() < 8 << 10, "{} bytes", stored.len());
}

#[test]
fn a_core_of_an_older_build_is_read_and_so_is_one_with_more_in_it() {
    let empty: countersign_host::session::Core = serde_json::from_str("{}").unwrap();
    assert_eq!(empty, countersign_host::session::Core::default());
    let more = r#"{"generation":3,"weather":"fine"}"#;
    let core: countersign_host::session::Core = serde_json::from_str(more).unwrap();
    assert_eq!(core.generation(), 3);
}

proptest! {
    #[test]
    fn no_line_is_an_error(kind in 0..7usize, line in any::<Vec<u8>>()) {
        let line: Vec<u8> = line.into_iter().filter(|byte| *byte != b'\n').collect();
        let mut stage = Stage::running();
        stage.raw(Kind::ALL[kind], &line);
    }

    /// Real lines with a piece cut out, or a letter changed.
    #[test]
    fn no_damaged_line_is_an_error(which in 0..14usize, at in 0..400usize, cut in 0..40usize, byte in b' '..b'~') {
        let lines = [
            init(), text("x"), tool("t1", "Bash"), tool_result("t1"), ask("r1", "Bash"), cancel("r1"),
            allow("r1"), user(3), lifecycle(1, "started"), result_ok(), result_aborted(true),
            task_started("a1", "t1", Some(true)), background_tasks(&["a1"]), session_state("idle"),
        ];
        let mut line = lines[which].to_string().into_bytes();
        let at = at % line.len();
        line.drain(at..(at + cut).min(line.len()));
        if let Some(place) = line.get_mut(at / 2) {
            *place = byte;
        }
        for kind in [Kind::Agent, Kind::Host] {
            let mut stage = Stage::running();
            stage.raw(kind, &line);
        }
    }
}
