//! The types against the inventory of the protocol: whatever the CLI declares is known here, by type or by name.
//!
//! Samples are made from the declared types, with and without optional fields and through all alternatives.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;

use countersign_wire::control::{CliRequest, HostRequest};
use countersign_wire::decode::{Message, decode};
use countersign_wire::hooks::{HookInput, HookOutput};
use countersign_wire::tools::ToolInput;
use countersign_wire::{CliMessage, HostMessage, Json};
use serde_json::{Map, Value, json};
use support::entries::{inventory, is_public, object, types};
use support::grammar::Sampler;
use support::{novelties, reply_findings, value_findings};

/// Subtypes that only older CLIs or stored transcripts have (wire reference §1.3).
const OLD_SUBTYPES: &str = "api_error turn_duration stop_hook_summary microcompact_boundary local_command \
    away_summary memory_saved agents_killed permission_retry thinking scheduled_task_fire file_snapshot \
    model_fallback model_consent_fallback bridge_status";

/// Requests of the vendor's own hosts that have types all the same.
const TYPED_THOUGH_INTERNAL: &[&str] = &[
    "set_message_waiting",
    "prompt_draft_activity",
    "reload_connectors",
    "update_cloud_session",
    "comparison_fork",
];

/// A few samples of an object with these fields, as the inventory lists them.
fn samples(inventory: &Value, fields: &Value) -> Vec<Map<String, Value>> {
    let (types, object) = (types(inventory), object(fields));
    // 33 hook events are the widest union.
    let picks = (0..33).flat_map(|pick| [(pick, true), (pick, false)]);
    let mut samples = Vec::new();
    for (pick, required_only) in picks {
        let sampler = Sampler {
            types: types.clone(),
            required_only,
            pick,
        };
        let Value::Object(sample) = sampler.sample(&object) else {
            unreachable!("an object type gives objects");
        };
        if !samples.contains(&sample) {
            samples.push(sample);
        }
    }
    samples
}

fn with(mut sample: Map<String, Value>, tags: &[(&str, &Value)]) -> Value {
    for (tag, name) in tags.iter().filter(|(_, name)| !name.is_null()) {
        sample.insert((*tag).to_owned(), (*name).clone());
    }
    Value::Object(sample)
}

/// Values the notation cannot give: raw stream events, and requests that fit the direction.
fn made_real(mut message: Value, pick: usize) -> Value {
    let events = stream_events();
    if message["type"] == "stream_event" {
        message["event"] = events[pick % events.len()].clone();
    }
    if message["type"] == "control_request" {
        message["request"] = json!({"subtype": "mcp_message", "server_name": "s", "message": {}});
    }
    for pending in ["permission", "user_dialog", "elicitation"] {
        if let Some(list) = message.pointer_mut(&format!("/response/pending_{pending}_requests")) {
            *list = json!([{
                "type": "control_request",
                "request_id": "r",
                "request": {"subtype": "request_user_dialog", "dialog_kind": "k", "payload": {}},
            }]);
        }
    }
    message
}

/// One of each stream event and delta (wire reference §8.2).
fn stream_events() -> Vec<Value> {
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let block = json!({"type": "text", "text": ""});
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        delta(json!({"type": "text_delta", "text": "a"})),
        delta(json!({"type": "input_json_delta", "partial_json": "{"})),
        delta(json!({"type": "thinking_delta", "thinking": "a", "estimated_tokens": null})),
        delta(json!({"type": "signature_delta", "signature": "a"})),
        delta(json!({"type": "citations_delta", "citation": {}})),
        delta(json!({"type": "compaction_delta", "content": "a", "encrypted_content": null})),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"output_tokens": 3},
            "context_management": null,
        }),
        json!({"type": "message_stop"}),
        json!({"type": "ping"}),
        json!({"type": "error", "error": {"type": "overloaded_error"}}),
    ]
}

/// Decodes a message and says what is broken, unknown or lost.
fn message_findings<M: Message>(message: &Value) -> Vec<String> {
    match decode::<M>(message.to_string().as_bytes()) {
        Ok(decoded) => {
            let mut found = novelties(&decoded);
            if serde_json::to_value(&decoded).unwrap() != *message {
                found.push("round trip is not lossless".to_owned());
            }
            found
        }
        Err(error) => vec![error.to_string()],
    }
}

fn name(entry: &Value) -> String {
    let part = |key: &str| entry[key].as_str().map(str::to_owned);
    let parts = ["type", "subtype", "event", "name"]
        .into_iter()
        .filter_map(part);
    parts.collect::<Vec<_>>().join("/")
}

/// Lists what is wrong, by name; an entry with many samples is listed once.
#[derive(Default)]
struct Report(BTreeMap<String, Vec<String>>);

impl Report {
    fn add(&mut self, name: String, findings: Vec<String>) {
        if !findings.is_empty() {
            self.0.entry(name).or_insert(findings);
        }
    }

    fn check(self) {
        let lines = self
            .0
            .iter()
            .map(|(name, findings)| format!("{name}: {}", findings.join("; ")));
        let lines: Vec<_> = lines.collect();
        assert!(
            lines.is_empty(),
            "{} entries:\n{}",
            lines.len(),
            lines.join("\n")
        );
    }
}

#[test]
fn every_public_stdout_message_is_typed_field_by_field() {
    let inventory = inventory();
    let mut report = Report::default();
    let mut count = 0;
    for entry in inventory["stdout"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| is_public(e))
    {
        count += 1;
        for (pick, sample) in samples(&inventory, &entry["fields"])
            .into_iter()
            .enumerate()
        {
            let message = with(
                sample,
                &[("type", &entry["type"]), ("subtype", &entry["subtype"])],
            );
            let message = made_real(message, pick);
            report.add(name(entry), message_findings::<CliMessage>(&message));
            let decoded = decode::<CliMessage>(message.to_string().as_bytes());
            if matches!(decoded, Ok(CliMessage::Internal(_))) {
                report.add(
                    name(entry),
                    vec!["public, but only recognised by name".to_owned()],
                );
            }
        }
    }
    assert_eq!(count, 49);
    report.check();
}

#[test]
fn every_public_stdin_message_is_typed_field_by_field() {
    let inventory = inventory();
    let mut report = Report::default();
    for entry in inventory["stdin"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| is_public(e))
    {
        for (pick, sample) in samples(&inventory, &entry["fields"])
            .into_iter()
            .enumerate()
        {
            let message = made_real(with(sample, &[("type", &entry["type"])]), pick);
            report.add(name(entry), message_findings::<HostMessage>(&message));
        }
    }
    report.check();
}

#[test]
fn every_internal_message_is_recognised_by_name_and_kept() {
    let inventory = inventory();
    let mut report = Report::default();
    for entry in inventory["stdout"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| !is_public(e))
    {
        for sample in samples(&inventory, &entry["fields"]) {
            let message = with(
                sample,
                &[("type", &entry["type"]), ("subtype", &entry["subtype"])],
            );
            report.add(name(entry), message_findings::<CliMessage>(&message));
        }
    }
    for subtype in OLD_SUBTYPES.split_whitespace() {
        let message = json!({"type": "system", "subtype": subtype, "anything": [1]});
        report.add(subtype.to_owned(), message_findings::<CliMessage>(&message));
    }
    for entry in inventory["stdin"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| !is_public(e))
    {
        let message = json!({"type": entry["type"], "anything": [1]});
        report.add(name(entry), message_findings::<HostMessage>(&message));
    }
    report.check();
}

#[test]
fn every_control_request_of_the_host_is_known_and_the_public_ones_typed() {
    let inventory = inventory();
    let mut report = Report::default();
    for entry in inventory["control_requests"]["host_to_cli"]
        .as_array()
        .unwrap()
    {
        for sample in samples(&inventory, &entry["request"]) {
            let request = with(sample, &[("subtype", &entry["subtype"])]);
            let message = json!({"type": "control_request", "request_id": "r", "request": request});
            report.add(name(entry), message_findings::<HostMessage>(&message));
            let typed = !matches!(
                serde_json::from_value(request).unwrap(),
                HostRequest::Internal(_)
            );
            let subtype = entry["subtype"].as_str().unwrap();
            if typed != (is_public(entry) || TYPED_THOUGH_INTERNAL.contains(&subtype)) {
                report.add(
                    name(entry),
                    vec![format!("typed: {typed}, tier: {}", entry["tier"])],
                );
            }
        }
        if is_public(entry) {
            for reply in samples(&inventory, &entry["response"]) {
                let findings = reply_findings(
                    entry["subtype"].as_str().unwrap(),
                    &Json::from(Value::Object(reply)),
                );
                report.add(format!("reply to {}", name(entry)), findings);
            }
        }
    }
    report.check();
}

#[test]
fn every_control_request_of_the_cli_is_known_and_the_public_ones_typed() {
    let inventory = inventory();
    let mut report = Report::default();
    for entry in inventory["control_requests"]["cli_to_host"]
        .as_array()
        .unwrap()
    {
        for sample in samples(&inventory, &entry["request"]) {
            let request = with(sample, &[("subtype", &entry["subtype"])]);
            let message = json!({"type": "control_request", "request_id": "r", "request": request});
            report.add(name(entry), message_findings::<CliMessage>(&message));
            let typed = !matches!(
                serde_json::from_value(request).unwrap(),
                CliRequest::Internal(_)
            );
            if typed != is_public(entry) {
                report.add(
                    name(entry),
                    vec![format!("typed: {typed}, tier: {}", entry["tier"])],
                );
            }
        }
    }
    report.check();
}

#[test]
fn every_hook_input_and_output_is_typed() {
    let inventory = inventory();
    let mut report = Report::default();
    let base = &inventory["hook_base_input"];
    for hook in inventory["hooks"].as_array().unwrap() {
        let mut fields = base.clone();
        let own = hook["input"].as_object().unwrap().clone();
        fields.as_object_mut().unwrap().extend(own);
        for sample in samples(&inventory, &fields) {
            let input = Json::from(with(sample, &[("hook_event_name", &hook["event"])]));
            report.add(name(hook), value_findings::<HookInput>(&input));
        }
        if hook["hook_specific_output"].is_object() {
            for sample in samples(&inventory, &hook["hook_specific_output"]) {
                let specific = with(sample, &[("hookEventName", &hook["event"])]);
                let output = Json::from(json!({"hookSpecificOutput": specific}));
                report.add(
                    format!("output of {}", name(hook)),
                    value_findings::<HookOutput>(&output),
                );
            }
        }
    }
    for (form, specific) in [
        ("sync", json!({"hookEventName": "Stop"})),
        ("async", Value::Null),
    ] {
        let mut fields = inventory["hook_output"][form].clone();
        fields.as_object_mut().unwrap().remove("hookSpecificOutput");
        for sample in samples(&inventory, &fields) {
            let output = with(sample, &[("hookSpecificOutput", &specific)]);
            report.add(
                form.to_owned(),
                value_findings::<HookOutput>(&Json::from(output)),
            );
        }
    }
    report.check();
}

#[test]
fn every_tool_with_a_published_input_has_a_view() {
    let inventory = inventory();
    let mut report = Report::default();
    for tool in inventory["tools"].as_array().unwrap() {
        let tool_name = tool["name"].as_str().unwrap();
        if tool["schema"].is_null() || tool_name.starts_with("mcp__") {
            continue;
        }
        for sample in samples(&inventory, &tool["input"]) {
            let input = Json::from(Value::Object(sample));
            match ToolInput::view(tool_name, &input) {
                Ok(ToolInput::Other(_)) => report.add(name(tool), vec!["no view".to_owned()]),
                Ok(view) => {
                    let mut found = novelties(&view);
                    if serde_json::to_value(&view).unwrap() != input.to_value().unwrap() {
                        found.push("not lossless".to_owned());
                    }
                    report.add(name(tool), found);
                }
                Err(error) => report.add(name(tool), vec![error.to_string()]),
            }
        }
    }
    report.check();
}

#[test]
fn every_answer_of_the_host_is_typed() {
    let inventory = inventory();
    let mut report = Report::default();
    for (named, subtype) in [
        ("PermissionResult", "can_use_tool"),
        ("HookOutput", "hook_callback"),
    ] {
        let fields = json!({"value": {"type": format!("@{named}"), "optional": false}});
        for sample in samples(&inventory, &fields) {
            let findings = reply_findings(subtype, &Json::from(sample["value"].clone()));
            report.add(named.to_owned(), findings);
        }
    }
    for entry in inventory["control_requests"]["cli_to_host"]
        .as_array()
        .unwrap()
    {
        let subtype = entry["subtype"].as_str().unwrap();
        if ["elicitation", "request_user_dialog"].contains(&subtype) {
            for sample in samples(&inventory, &entry["response"]) {
                let findings = reply_findings(subtype, &Json::from(Value::Object(sample)));
                report.add(subtype.to_owned(), findings);
            }
        }
    }
    report.check();
}

#[test]
fn every_stream_event_is_typed() {
    let mut report = Report::default();
    for event in stream_events() {
        let message = json!({"type": "stream_event", "event": event, "parent_tool_use_id": null});
        report.add(event.to_string(), message_findings::<CliMessage>(&message));
    }
    report.check();
}
