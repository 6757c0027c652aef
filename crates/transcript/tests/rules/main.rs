//! Each rule of the fold by itself: lines in, what a person reads out.
//!
//! Owns the short ways to write lines. One file a subject; every case says in its name what the rule is.

mod approvals;
mod background;
mod bounded;
mod costs;
mod keeper;
mod messages;
mod notices;
mod prompts;
#[path = "../support/mod.rs"]
mod support;

use countersign_transcript::Entries;
use support::{Tape, entry_text};

/// A call of the model.
fn call(id: &str, name: &str, input: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}},"parent_tool_use_id":null}}"#
    )
}

/// The question whether it may run.
fn question(request: &str, id: &str, name: &str, input: &str) -> String {
    format!(
        r#"{{"type":"control_request","request_id":"{request}","request":{{"subtype":"can_use_tool","tool_name":"{name}","tool_use_id":"{id}","input":{input}}}}}"#
    )
}

/// The host's answer to a request.
fn answer(request: &str, body: &str) -> String {
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{request}","response":{body}}}}}"#
    )
}

fn allow(request: &str, input: &str) -> String {
    answer(
        request,
        &format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#),
    )
}

/// The result of a call.
fn result(id: &str, text: &str, is_error: bool) -> String {
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}","is_error":{is_error}}}]}},"parent_tool_use_id":null}}"#
    )
}

fn init() -> &'static str {
    r#"{"type":"system","subtype":"init","model":"x","permissionMode":"default","claude_code_version":"2.1.325"}"#
}

/// A message of the host.
fn prompt(text: &str) -> String {
    format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#)
}

fn success() -> &'static str {
    r#"{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0}"#
}

/// The first entry of a kind, as text.
fn first(entries: &Entries, kind: &str) -> String {
    let found = entries.iter().find(|entry| entry.body.name() == kind);
    found.map(entry_text).unwrap_or_default()
}

/// All entries of a kind, as text.
fn each(tape: &Tape, kind: &str) -> Vec<String> {
    let (_, entries) = tape.fold();
    let found = entries.iter().filter(|entry| entry.body.name() == kind);
    found.map(entry_text).collect()
}

fn tool(tape: &Tape) -> String {
    first(&tape.fold().1, "tool")
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}
