//! The line at the end of a turn, and failures in words.

use countersign_wire::CliMessage;
use countersign_wire::decode::decode;
use serde_json::{Value, json};

use super::*;

fn result(fields: Value) -> ResultMessage {
    let mut whole = json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 3200, "duration_api_ms": 100,
        "num_turns": 1, "result": "done", "total_cost_usd": 0.5, "session_id": "s", "uuid": "u",
        "usage": {"input_tokens": 100, "output_tokens": 50, "cache_read_input_tokens": 9_900, "cache_creation_input_tokens": 0},
        "modelUsage": {"m": {"inputTokens": 1, "outputTokens": 1, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0,
            "webSearchRequests": 0, "costUSD": 0.5, "contextWindow": 200_000}},
        "permission_denials": [],
    });
    for (name, value) in fields.as_object().unwrap() {
        whole[name] = value.clone();
    }
    let CliMessage::Result(result) = decode(whole.to_string().as_bytes()).unwrap() else {
        panic!("a result")
    };
    *result
}

fn said(fields: Value) -> Vec<String> {
    failure(&result(fields), None, false)
        .iter()
        .map(Line::text)
        .collect()
}

#[test]
fn a_turn_costs_the_difference_of_the_totals() {
    let mut meter = Meter::default();
    let usage = result(json!({})).usage;
    meter.answered("m", &usage);
    assert_eq!(
        meter.turn(&result(json!({}))).text(),
        "· 3.2 s · $0.50 · 10 K in (9.9 K cached), 50 out · context 5 % of 200 K"
    );
    let second = meter.turn(&result(json!({"total_cost_usd": 0.75})));
    assert_eq!(
        second.text(),
        "· 3.2 s · $0.25 ($0.75 in all) · 10 K in (9.9 K cached), 50 out · context 5 % of 200 K"
    );
    let cleared = meter.turn(&result(json!({"total_cost_usd": 0.01})));
    assert!(cleared.text().contains("· $0.0100 ·"), "{}", cleared.text());
}

#[test]
fn the_context_is_told_where_it_is_known() {
    let mut meter = Meter::default();
    assert!(!meter.turn(&result(json!({}))).text().contains("context"));
    meter.answered("<synthetic>", &result(json!({})).usage);
    assert!(!meter.turn(&result(json!({}))).text().contains("context"));
    meter.answered("m", &result(json!({})).usage);
    meter.compacted(Some(20_000));
    assert!(
        meter
            .turn(&result(json!({})))
            .text()
            .ends_with("context 10 % of 200 K")
    );
}

#[test]
fn failures_say_what_to_do() {
    assert_eq!(said(json!({})), [""; 0]);
    let advice = |fields: Value| said(fields).last().unwrap().clone();
    let api = |status: u64| json!({"is_error": true, "api_error_status": status, "result": "no"});
    assert!(advice(api(401)).contains("/login"));
    assert!(advice(api(429)).contains("wait"));
    assert!(advice(api(529)).contains("in a while"));
    assert!(advice(api(413)).contains("/compact"));
    assert!(
        advice(json!({"is_error": true, "result": "API Error: 404 what"}))
            .contains("choose another")
    );
    assert_eq!(said(api(400))[0], "! The model could not answer: no");
    assert!(
        advice(json!({"subtype": "error_max_turns", "is_error": true}))
            .contains("raise the number")
    );
    assert!(advice(json!({"subtype": "error_max_budget_usd"})).contains("higher budget"));
    assert!(
        said(json!({"subtype": "error_of_tomorrow", "is_error": true, "errors": ["oh"]}))[0]
            .contains("error_of_tomorrow. oh")
    );
    let broken = json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "model_error", "errors": ["boom"]});
    assert_eq!(said(broken)[0], "! The turn ended with an error: boom");
}

#[test]
fn an_interruption_is_told_once_and_is_no_failure() {
    let new = json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools"});
    assert_eq!(said(new.clone()), ["! interrupted"]);
    assert_eq!(
        said(json!({"subtype": "error_during_execution", "is_error": false})),
        ["! interrupted"]
    );
    assert!(failure(&result(new), None, true).is_empty());
}

#[test]
fn an_error_that_was_said_is_not_said_again() {
    let failed =
        result(json!({"is_error": true, "api_error_status": 500, "result": "API Error: 500"}));
    assert_eq!(failure(&failed, Some("API Error: 500"), false).len(), 1);
    assert_eq!(failure(&failed, None, false).len(), 2);
}
