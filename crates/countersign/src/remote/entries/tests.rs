//! What is shown of a transcript, and how often.

use serde_json::json;

use super::*;

/// As it crosses the wire: the kind before what it is.
fn entry(id: &str, life: &str, kind: &str, is: &Value) -> Entry {
    let body = format!(r#"{{"kind":"{kind}","is":{is}}}"#);
    let head = format!(r#""id":"{id}","first":"{id}","last":"{id}","at":1,"life":"{life}""#);
    serde_json::from_str(&format!("{{{head},\"body\":{body}}}")).unwrap()
}

fn clip(text: &str) -> Value {
    json!({"text": text, "length": text.len()})
}

fn said(id: &str, life: &str, text: &str) -> Entry {
    entry(id, life, "text", &json!({"text": clip(text)}))
}

fn call(state: &str, life: &str, result: Option<&str>) -> Entry {
    let result = result.map(|text| json!({"text": clip(text), "at": 2}));
    let mut tool = json!({
        "tool_use_id": "t", "name": "Bash", "role": "plain", "state": state,
        "input": {"json": {"command": "make"}, "length": 20},
    });
    if let Some(result) = result {
        tool["result"] = result;
    }
    entry("1-5", life, "tool", &tool)
}

fn texts(lines: &[Line]) -> Vec<String> {
    lines.iter().map(Line::text).collect()
}

#[test]
fn what_is_being_written_waits_and_is_shown_once() {
    let mut reader = Reader::new(80, false);
    assert_eq!(reader.take(vec![said("1-2", "open", "Hel")]), []);
    let lines = reader.take(vec![said("1-2", "final", "Hello.")]);
    assert_eq!(texts(&lines), ["  Hello."]);
    assert_eq!(reader.take(vec![said("1-2", "final", "Hello.")]), []);
}

#[test]
fn a_call_that_waits_for_a_person_is_shown_at_once_and_its_result_later() {
    let mut reader = Reader::new(80, false);
    let lines = texts(&reader.take(vec![call("asking", "open", None)]));
    assert_eq!(lines[0], "● Bash  make");
    assert!(lines[1].contains("countersign inbox"), "{lines:?}");
    assert_eq!(reader.take(vec![call("asking", "open", None)]), []);
    let lines = texts(&reader.take(vec![call("ran", "final", Some("ok"))]));
    assert_eq!(lines, ["  └ ok"]);
}

#[test]
fn a_call_that_runs_is_shown_when_it_begins_and_what_came_of_it_when_it_ends() {
    let mut reader = Reader::new(80, false);
    assert_eq!(reader.take(vec![call("writing", "open", None)]), []);
    let lines = texts(&reader.take(vec![call("called", "open", None)]));
    assert_eq!(lines, ["● Bash  make …"]);
    assert_eq!(reader.take(vec![call("called", "open", None)]), []);
    let lines = texts(&reader.take(vec![call("asking", "open", None)]));
    assert!(
        lines.len() == 1 && lines[0].contains("countersign inbox"),
        "{lines:?}"
    );
    assert_eq!(reader.take(vec![call("answered", "open", None)]), []);
    let lines = texts(&reader.take(vec![call("ran", "final", Some("ok"))]));
    assert_eq!(lines, ["  └ ok"]);
    assert_eq!(reader.take(vec![call("ran", "final", Some("ok"))]), []);
}

#[test]
fn what_came_of_a_call_names_it_where_something_else_was_shown_since() {
    let mut reader = Reader::new(80, false);
    reader.take(vec![
        call("called", "open", None),
        said("1-6", "final", "Meanwhile."),
    ]);
    let lines = texts(&reader.take(vec![call("ran", "final", Some("ok"))]));
    assert_eq!(lines, ["  of Bash  make", "  └ ok"]);
}

#[test]
fn a_call_that_was_edited_shows_what_was_sent_and_what_was_asked() {
    let edited = |life: &str| {
        let mut entry = call("ran", life, Some("ok"));
        let answer = json!({"verdict": "allow", "word": "allow", "at": 1, "written": "1-6", "waited": 0, "by": "anna",
            "input": {"json": {"command": "make test"}, "length": 23}});
        let approval = json!({"request_id": "r", "kind": "tool", "asked": "1-5", "asked_at": 1,
            "standing": {"state": "settled", "how": "ran"}, "answer": answer});
        let Body::Tool(tool) = &mut entry.body else {
            panic!("a call");
        };
        tool.approval = Some(serde_json::from_value(approval).unwrap());
        entry
    };
    let alone = texts(&Reader::new(80, false).take(vec![edited("final")]));
    assert_eq!(
        alone,
        [
            "● Bash  make test",
            "  ✓ Allowed by anna",
            "  · edited, the agent had asked for: Bash  make",
            "  └ ok"
        ]
    );
    let mut reader = Reader::new(80, false);
    reader.take(vec![call("asking", "open", None)]);
    let later = texts(&reader.take(vec![edited("final")]));
    assert!(
        later.contains(&"  · edited, sent: Bash  make test".to_owned()),
        "{later:?}"
    );
}

/// The last line about a turn that failed.
fn failed(more: &Value) -> Vec<String> {
    let mut is = json!({
        "subtype": "success", "is_success": false, "steps": 1, "duration_ms": 0, "api_ms": 0,
        "cost_usd": 0.0, "total_usd": 0.0, "tokens": {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0},
    });
    for (name, value) in more.as_object().unwrap() {
        is[name] = value.clone();
    }
    texts(&Reader::new(80, false).take(vec![entry("1-9", "final", "result", &is)]))
}

#[test]
fn a_turn_that_failed_says_why_and_never_success() {
    for (more, told) in [
        (json!({}), vec!["! failed after 0.0 s"]),
        (
            json!({"text": clip("API Error: 529\noverloaded")}),
            vec!["! failed after 0.0 s: API Error: 529 overloaded"],
        ),
        (
            json!({"api_status": 401}),
            vec!["! failed after 0.0 s: the API answered 401"],
        ),
        (
            json!({"subtype": "error_max_turns"}),
            vec!["! failed after 0.0 s: error_max_turns"],
        ),
        (
            json!({"subtype": "error_during_execution", "errors": ["no room"]}),
            vec!["! no room", "! failed after 0.0 s"],
        ),
    ] {
        assert_eq!(failed(&more), told);
    }
}

#[test]
fn what_a_person_said_stands_before_what_came_of_it() {
    let mut reader = Reader::new(80, false);
    let is = json!({"text": clip("go"), "origin": "host", "state": "started"});
    let lines = reader.take(vec![entry("1-1", "open", "prompt", &is)]);
    assert_eq!(texts(&lines), ["", "› go", ""]);
    let lines = reader.take(vec![said("1-2", "final", "Well.")]);
    assert_eq!(texts(&lines), ["  Well."]);
    assert_eq!(reader.take(vec![entry("1-1", "final", "prompt", &is)]), []);
}

#[test]
fn a_long_result_is_folded_and_says_so() {
    let mut reader = Reader::new(80, false);
    let result = "row\n".repeat(20);
    let lines = texts(&reader.take(vec![call("ran", "final", Some(&result))]));
    assert_eq!(lines.len(), 1 + FOLD + 1, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "    … 14 more lines");
}

#[test]
fn what_an_agent_says_never_stands_in_the_first_column() {
    let mut reader = Reader::new(80, true);
    let forged = "› approve it\n\n● Bash  rm\n\n! error\u{1b}[2J";
    let lines = reader.take(vec![said("1-2", "final", forged)]);
    for line in texts(&lines) {
        assert!(line.is_empty() || line.starts_with("  "), "{line:?}");
        assert!(!line.contains('\u{1b}'), "{line:?}");
    }
    let lines = texts(&reader.take(vec![call("ran", "final", Some("● Bash  rm\n✓ Allowed"))]));
    assert_eq!(lines[2..], ["  └ ● Bash  rm", "    ✓ Allowed"]);
}

#[test]
fn a_long_session_is_not_held_whole() {
    let mut reader = Reader::new(80, false);
    for at in 1..=(2 * KEPT as u64 + 10) {
        let id = format!("1-{at}");
        let changes = Changes {
            cursor: id.parse().unwrap(),
            entries: vec![Change::Put(Box::new(said(&id, "final", "x")))],
            totals: false,
        };
        assert_eq!(reader.change(changes).len(), 1);
    }
    assert!(reader.entries.len() < 2 * KEPT && reader.shown.len() < 2 * KEPT);
}

#[test]
fn a_message_that_nobody_typed_says_why_it_was_sent() {
    let why = "Asked again after the agent crashed";
    let is = json!({"text": clip("Go on."), "origin": "host", "state": "sent", "why": why});
    let mut reader = Reader::new(80, false);
    let lines = texts(&reader.take(vec![entry("1-2", "open", "prompt", &is)]));
    let at = |words: &str| lines.iter().position(|line| line.contains(words));
    assert!(at(why).is_some() && at(why) < at("Go on."), "{lines:?}");
}
