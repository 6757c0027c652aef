//! One full sample of every public entry of the inventory, with its name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::grammar::{Field, Sampler, Type, parse};

/// A name and one sample.
pub(crate) type Named = (String, Value);

/// Entries without a field of their own: there is nothing to change in them.
const NO_FIELDS: &[&str] = &[
    "keep_alive",
    "get_session_cost",
    "list_models",
    "get_binary_version",
    "reload_skills",
    "reload_output_styles",
    "get_settings",
    "get_hooks_listing",
    "list_permission_rules",
    "mid_conv_system",
];

pub(crate) fn inventory() -> Value {
    serde_json::from_str(include_str!("../../inventory.json")).unwrap()
}

pub(crate) fn types(inventory: &Value) -> BTreeMap<String, Type> {
    let types = inventory["types"].as_object().unwrap().iter();
    types
        .map(|(name, text)| (name.clone(), parse(text.as_str().unwrap())))
        .collect()
}

/// The type of an object with these fields, as the inventory lists them.
pub(crate) fn object(fields: &Value) -> Type {
    let fields = fields
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| Field {
            name: name.clone(),
            optional: field["optional"] == true,
            ty: parse(field["type"].as_str().unwrap()),
        });
    Type::Object {
        fields: fields.collect(),
        open: false,
    }
}

pub(crate) fn is_public(entry: &Value) -> bool {
    entry["tier"].as_str().is_none_or(|tier| tier == "public")
}

fn full(inventory: &Value, fields: &Value) -> Map<String, Value> {
    let sampler = Sampler {
        types: types(inventory),
        required_only: false,
        pick: 0,
    };
    match sampler.sample(&object(fields)) {
        Value::Object(sample) => sample,
        _ => unreachable!("an object type gives objects"),
    }
}

/// A sample of each public entry of a list, with the given keys of the entry written into it as tags.
fn each(list: &[&str], fields: &str, tags: &[(&str, &str)]) -> Vec<Named> {
    let inventory = inventory();
    let entries = list
        .iter()
        .fold(&inventory, |at, key| &at[key])
        .as_array()
        .unwrap();
    let public = entries
        .iter()
        .filter(|entry| is_public(entry) && entry[fields].is_object());
    let samples = public.map(|entry| {
        let mut sample = full(&inventory, &entry[fields]);
        let mut name = Vec::new();
        for (tag, key) in tags {
            if let Some(text) = entry[key].as_str() {
                sample.insert((*tag).to_owned(), json!(text));
                name.push(text.to_owned());
            }
        }
        (name.join("/"), Value::Object(sample))
    });
    samples
        .filter(|(name, _)| !NO_FIELDS.contains(&name.as_str()))
        .collect()
}

/// Puts a request that fits its direction, and a real stream event, where the notation only says `any`.
fn made_real((name, mut message): Named) -> Named {
    if message["type"] == "stream_event" {
        message["event"] = json!({"type": "content_block_stop", "index": 0});
    }
    if message["type"] == "control_request" {
        message["request"] = json!({"subtype": "mcp_message", "server_name": "s", "message": {}});
    }
    if message["type"] == "control_response" {
        message["response"] =
            json!({"subtype": "success", "request_id": "r", "response": {"a": 1}});
    }
    (name, message)
}

pub(crate) fn stdout() -> Vec<Named> {
    let tags = [("type", "type"), ("subtype", "subtype")];
    each(&["stdout"], "fields", &tags)
        .into_iter()
        .map(made_real)
        .collect()
}

pub(crate) fn stdin() -> Vec<Named> {
    each(&["stdin"], "fields", &[("type", "type")])
        .into_iter()
        .map(made_real)
        .collect()
}

pub(crate) fn host_requests() -> Vec<Named> {
    each(
        &["control_requests", "host_to_cli"],
        "request",
        &[("subtype", "subtype")],
    )
}

pub(crate) fn cli_requests() -> Vec<Named> {
    each(
        &["control_requests", "cli_to_host"],
        "request",
        &[("subtype", "subtype")],
    )
}

pub(crate) fn hook_inputs() -> Vec<Named> {
    let inputs = each(&["hooks"], "input", &[("hook_event_name", "event")]);
    let with_base = inputs.into_iter().map(|(name, mut input)| {
        for (key, value) in [
            ("session_id", "s"),
            ("transcript_path", "/t"),
            ("cwd", "/c"),
        ] {
            input[key] = json!(value);
        }
        (name, input)
    });
    with_base.collect()
}

pub(crate) fn hook_outputs() -> Vec<Named> {
    each(
        &["hooks"],
        "hook_specific_output",
        &[("hookEventName", "event")],
    )
}

/// One of each content block that has fields, through both unions of the inventory.
pub(crate) fn blocks() -> Vec<Named> {
    let inventory = inventory();
    let mut found: Vec<Named> = Vec::new();
    for union in ["AssistantContentBlock", "UserContentBlock"] {
        for pick in 0..20 {
            let sampler = Sampler {
                types: types(&inventory),
                required_only: false,
                pick,
            };
            let block = sampler.sample(&Type::Named(union.to_owned()));
            let name = block["type"].as_str().unwrap().to_owned();
            if !NO_FIELDS.contains(&name.as_str()) && found.iter().all(|(n, _)| *n != name) {
                found.push((name, block));
            }
        }
    }
    found
}
