//! Sessions that no recording has: calls that overlap, agents in agents, pieces in any order, lines of tomorrow.

use std::time::Duration;

use serde_json::{Value, json};

use super::{message, shown, text, view};
use crate::show::{Feed, Status};
use crate::term::style::Line;

fn assistant(id: &str, block: Value, parent: Option<&str>) -> Value {
    json!({
        "type": "assistant", "parent_tool_use_id": parent, "session_id": "s", "uuid": "u",
        "message": {"id": id, "type": "message", "role": "assistant", "model": "m", "content": [block],
            "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1}},
    })
}

fn said(id: &str, words: &str) -> Value {
    assistant(id, json!({"type": "text", "text": words}), None)
}

fn call(id: &str, tool: &str, input: Value, parent: Option<&str>) -> Value {
    assistant(
        "m1",
        json!({"type": "tool_use", "id": id, "name": tool, "input": input}),
        parent,
    )
}

fn returned(id: &str, words: &str, parent: Option<&str>) -> Value {
    json!({
        "type": "user", "parent_tool_use_id": parent, "session_id": "s", "uuid": "u",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": words}]},
    })
}

fn event(event: Value) -> Value {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null, "session_id": "s", "uuid": "u"})
}

fn begun(id: &str) -> Value {
    event(
        json!({"type": "message_start", "message": {"id": id, "type": "message", "role": "assistant", "model": "m",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}}}),
    )
}

fn opened(kind: &str) -> Value {
    let block = match kind {
        "thinking" => json!({"type": "thinking", "thinking": "", "signature": ""}),
        "tool_use" => json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}}),
        _ => json!({"type": "text", "text": ""}),
    };
    event(json!({"type": "content_block_start", "index": 0, "content_block": block}))
}

fn piece(words: &str) -> Value {
    event(
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}}),
    )
}

fn stopped() -> Value {
    event(json!({"type": "content_block_stop", "index": 0}))
}

fn plain(messages: &[Value]) -> String {
    text(&shown(&mut Feed::new(view(60)), messages), 60)
}

#[test]
fn results_find_their_calls_in_any_order() {
    let messages = [
        call("t1", "Bash", json!({"command": "first"}), None),
        call("t2", "Bash", json!({"command": "second"}), None),
        call("t3", "Read", json!({"file_path": "/project/c"}), None),
        returned("t3", "1\tx", None),
        returned("t1", "one", None),
        returned("t2", "two\nlines", None),
    ];
    insta::assert_snapshot!(plain(&messages), @r"
    ● Bash  first
    ● Bash  second
    ● Read  c
    └ 1 line
    └ Bash  first › 1 line: one
    └ Bash  second › 2 lines
      two
      lines
    ");
}

#[test]
fn agents_in_agents_stand_behind_bars_and_are_named_when_they_take_turns() {
    let messages = [
        said("m0", "Two of them."),
        call(
            "a",
            "Task",
            json!({"subagent_type": "Explore", "description": "Find it", "prompt": "…"}),
            None,
        ),
        call(
            "b",
            "Task",
            json!({"subagent_type": "Explore", "description": "Fix it", "prompt": "…"}),
            None,
        ),
        call("a1", "Bash", json!({"command": "find ."}), Some("a")),
        call(
            "b1",
            "Task",
            json!({"subagent_type": "Plan", "description": "Deeper", "prompt": "…"}),
            Some("b"),
        ),
        call("c1", "Bash", json!({"command": "ls"}), Some("b1")),
        returned("a1", "x", Some("a")),
        returned("c1", "y", Some("b1")),
        assistant(
            "m9",
            json!({"type": "text", "text": "Found *it*, and it is a rather long story to tell in a narrow place."}),
            Some("b1"),
        ),
        returned("b1", "deep", Some("b")),
        returned("a", "found", None),
        returned("b", "fixed", None),
        said("m2", "Done."),
    ];
    insta::assert_snapshot!(plain(&messages));
}

#[test]
fn a_text_in_pieces_is_shown_once_whichever_end_comes_first() {
    let whole = "Hello **you**.\n\n- a\n- b";
    let expected = plain(&[said("m1", whole)]);
    let pieces = [
        begun("m1"),
        opened("text"),
        piece("Hello **y"),
        piece("ou**.\n\n- a\n-"),
        piece(" b"),
    ];
    let ends = [
        vec![said("m1", whole), stopped()],
        vec![stopped(), said("m1", whole)],
        vec![stopped()],
        vec![said("m1", whole)],
    ];
    for end in ends {
        let messages: Vec<Value> = pieces.iter().cloned().chain(end.clone()).collect();
        assert_eq!(plain(&messages), expected, "{end:?}");
    }
    // The stream broke off: the line has more than the pieces had.
    let messages: Vec<Value> = pieces[..4]
        .iter()
        .cloned()
        .chain([said("m1", whole)])
        .collect();
    assert_eq!(plain(&messages), expected);
    // A message that was not streamed comes after one that was.
    let messages: Vec<Value> = pieces
        .iter()
        .cloned()
        .chain([said("m1", whole), stopped(), said("m2", "More.")])
        .collect();
    assert_eq!(plain(&messages), format!("{expected}\n  More.\n"));
}

#[test]
fn two_blocks_of_one_message_that_say_the_same_are_both_shown() {
    let messages = [
        begun("m1"),
        opened("text"),
        piece("Yes."),
        said("m1", "Yes."),
        stopped(),
        opened("text"),
        piece("Yes."),
        said("m1", "Yes."),
        stopped(),
    ];
    assert_eq!(plain(&messages), "  Yes.\n\n  Yes.\n");
}

#[test]
fn what_is_being_written_is_the_tail_and_the_status() {
    let mut feed = Feed::new(view(60));
    let at = Duration::from_secs;
    let tail = |feed: &Feed| feed.tail().iter().map(Line::text).collect::<Vec<_>>();
    assert_eq!(feed.status(), Status::Idle);
    feed.take(&message(&begun("m1")), at(1));
    assert_eq!(feed.status().words_at(at(3)), "waiting for the model · 2 s");
    feed.take(&message(&opened("thinking")), at(1));
    let thinking = event(
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm, what now?"}}),
    );
    feed.take(&message(&thinking), at(2));
    assert_eq!(tail(&feed), ["· Thinking  Hm, what now?"]);
    assert!(
        feed.status()
            .words_at(at(4))
            .starts_with("thinking · 4 tokens · 3 s"),
        "{:?}",
        feed.status()
    );
    let lines = feed.take(&message(&stopped()), at(5));
    assert_eq!(text(&lines, 60), "· Thought for 4.0 s: Hm, what now?\n");
    feed.take(&message(&opened("text")), at(6));
    feed.take(&message(&piece("One *tw")), at(6));
    assert_eq!(tail(&feed), ["", "  One *tw"]);
    assert!(matches!(feed.status(), Status::Writing(_)));
    feed.take(&message(&said("m1", "One *two*.")), at(6));
    assert!(tail(&feed).is_empty());
    feed.take(&message(&opened("tool_use")), at(7));
    assert_eq!(tail(&feed), ["", "● Bash …"]);
    feed.take(
        &message(&call("t", "Bash", json!({"command": "make"}), None)),
        at(8),
    );
    assert!(feed.status().words_at(at(70)).starts_with("Bash  make"));
    feed.take(&message(&returned("t", "ok", None)), at(9));
    assert!(matches!(feed.status(), Status::Waiting(_)));
}

#[test]
fn a_prompt_in_between_does_not_repeat_what_was_written() {
    let mut feed = Feed::new(view(60));
    let mut lines = Vec::new();
    for value in [begun("m1"), opened("text"), piece("First half, ")] {
        lines.extend(feed.take(&message(&value), Duration::ZERO));
    }
    lines.extend(feed.finish());
    assert_eq!(text(&lines, 60), "  First half,\n");
    let mut rest = feed.take(&message(&piece("second half.")), Duration::ZERO);
    rest.extend(feed.take(
        &message(&said("m1", "First half, second half.")),
        Duration::ZERO,
    ));
    assert_eq!(text(&rest, 60).trim(), "second half.");
}

#[test]
fn calls_that_others_decided_about_say_so() {
    let mut feed = Feed::new(view(60));
    let edit = json!({"file_path": "/project/a", "old_string": "x", "new_string": "y"});
    feed.take(
        &message(&call("t1", "Edit", edit.clone(), None)),
        Duration::ZERO,
    );
    feed.shown("t1");
    let lines = feed.take(&message(&returned("t1", "ok", None)), Duration::ZERO);
    assert_eq!(text(&lines, 60), "└ +1 −1\n");
    feed.take(&message(&call("t2", "Edit", edit, None)), Duration::ZERO);
    feed.denied("t2");
    feed.finish();
    let mut denied = returned("t2", "not now", None);
    denied["message"]["content"][0]["is_error"] = json!(true);
    let lines = feed.take(&message(&denied), Duration::ZERO);
    assert_eq!(text(&lines, 60), "└ Edit  a (+1 −1) › denied: not now\n");
}

#[test]
fn limits_retries_and_notices_are_told_in_words() {
    let system = |subtype: &str, fields: Value| {
        let mut whole =
            json!({"type": "system", "subtype": subtype, "session_id": "s", "uuid": "u"});
        fields
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| whole[name] = value.clone());
        whole
    };
    let limit = |status: &str| {
        json!({"type": "rate_limit_event", "uuid": "u", "session_id": "s",
        "rate_limit_info": {"status": status, "rateLimitType": "five_hour", "utilization": 0.85, "resetsAt": 1_767_225_600}})
    };
    let messages = [
        limit("allowed"),
        limit("allowed_warning"),
        limit("rejected"),
        system(
            "api_retry",
            json!({"attempt": 1, "max_retries": 10, "retry_delay_ms": 581.259, "error_status": null, "error": "unknown"}),
        ),
        system(
            "informational",
            json!({"content": "Mind the gap", "level": "warning"}),
        ),
        system(
            "hook_response",
            json!({"hook_id": "h", "hook_name": "Stop", "hook_event": "Stop", "output": "", "stdout": "",
            "stderr": "lint failed\nbadly", "exit_code": 2, "outcome": "error"}),
        ),
        system(
            "permission_denied",
            json!({"tool_name": "Bash", "tool_use_id": "t9", "message": "a rule forbids it"}),
        ),
        system(
            "status",
            json!({"status": null, "compact_result": "failed", "compact_error": "too short"}),
        ),
        system(
            "task_notification",
            json!({"task_id": "b1", "status": "failed", "output_file": "/x", "summary": "exit 1"}),
        ),
        system("of_tomorrow", json!({"a": 1})),
        json!({"type": "of_tomorrow", "a": 1}),
        json!({"type": "keep_alive"}),
    ];
    insta::assert_snapshot!(plain(&messages));
    let mut everything = view(60);
    everything.verbose = true;
    let lines = text(&shown(&mut Feed::new(everything), &messages), 60);
    assert!(lines.contains("of_tomorrow"), "{lines}");
}

#[test]
fn a_call_that_was_allowed_too_late_is_said_not_to_have_run() {
    let named = json!({"type": "system", "subtype": "late_allow_not_run", "tool_use_id": "t", "reason": "expired"});
    let nameless = json!({"type": "system", "subtype": "late_allow_not_run"});
    for (late, why) in [(named, " (expired)"), (nameless, "")] {
        let lines = text(&shown(&mut Feed::new(view(80)), &[late]), 80);
        let words = format!("a call was allowed too late and did not run{why}");
        assert!(lines.trim_end().ends_with(&words), "{lines}");
    }
}

#[test]
fn a_line_that_cannot_be_read_is_not_lost() {
    let mut feed = Feed::new(view(60));
    let broken = br#"{"type":"assistant","message":{"content":[{"type":"text","text":"I was here."}],"role":7}}"#;
    let lines = text(&feed.broken(broken), 60);
    assert_eq!(
        lines,
        "! a line of the agent could not be read:\n  I was here.\n"
    );
    assert!(feed.broken(b"npm warn").is_empty());
    assert!(feed.broken(&[0xff, 0xfe]).is_empty());
}

#[test]
fn a_text_of_ten_megabytes_is_cut_and_counted() {
    let lines = shown(
        &mut Feed::new(view(60)),
        &[said("m1", &"many words and ".repeat(700_000))],
    );
    let size: usize = lines.iter().map(|line| line.text().len()).sum();
    assert!(size < 300_000, "{size}");
    assert_eq!(lines.last().unwrap().text(), "  … 10.3 MB more");
}

#[test]
fn the_answer_of_a_slash_command_is_shown_from_the_result() {
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 5, "duration_api_ms": 0,
        "num_turns": 0, "result": "Total: **nothing**", "total_cost_usd": 0, "usage": {}, "modelUsage": {}, "permission_denials": []});
    assert_eq!(
        plain(&[result]),
        "  Total: nothing\n\n· 0.0 s · 0 in, 0 out\n"
    );
}
