//! What is new inside the parts of a message that the types only carry: inputs and outputs of tools, replies to control
//! requests, objects that are known by name only.
//!
//! Owns what must be remembered of a stream for that: the call behind a result, the request behind a reply. Typed parts are
//! read by their types; the rest is compared with the inventory. What the inventory leaves open is free: nothing in it is
//! new.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use countersign_wire::content::ContentBlock;
use countersign_wire::control::{
    CliRequest, ControlOutcome, ControlResponse, HostRequest, inspect_cli_reply, inspect_host_reply,
};
use countersign_wire::hooks::{HookEvent, HookInput};
use countersign_wire::inspect::{At, Inspect, Novelty};
use countersign_wire::tools::ToolInput;
use countersign_wire::{CliMessage, HostMessage, INVENTORY, Json, TextOr};
use serde_json::Value;

use super::notation::{Names, Type};

/// Something new: where it stands, and what it is, as the report writes it.
pub(super) type Finding = String;

/// Maximum number of calls, and of requests, that are remembered: a stream may be of any length.
const MOST: usize = 1 << 16;

/// Remembers something of the stream. Beyond the bound everything before is forgotten.
fn remember<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= MOST {
        map.clear();
    }
    map.insert(key, value);
}

/// The inventory as types, and what the stream has said so far.
#[derive(Debug)]
pub(super) struct Carried {
    names: Names,
    /// Messages and, below `request`, control requests: by their name in the report.
    messages: BTreeMap<String, Type>,
    replies: BTreeMap<String, Type>,
    hooks: BTreeMap<String, Type>,
    inputs: BTreeMap<String, Type>,
    outputs: BTreeMap<String, Type>,
    /// The tool of each call.
    calls: HashMap<String, String>,
    /// What was asked, by side and request.
    asked: HashMap<(Side, String), Asked>,
}

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Cli,
    Host,
}

#[derive(Debug)]
struct Asked {
    subtype: String,
    /// The tool that the question is about.
    tool: Option<String>,
}

impl Default for Carried {
    fn default() -> Self {
        let inventory: Value = serde_json::from_str(INVENTORY).unwrap_or_default();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (mut messages, mut replies) = (BTreeMap::new(), BTreeMap::new());
        for entry in [list(&inventory["stdout"]), list(&inventory["stdin"])].concat() {
            let name = match entry["subtype"].as_str() {
                Some(subtype) => format!("{}/{subtype}", text(&entry["type"])),
                None => text(&entry["type"]),
            };
            messages
                .entry(name)
                .or_insert(Type::of_fields(&entry["fields"]));
        }
        for side in ["host_to_cli", "cli_to_host"] {
            for entry in list(&inventory["control_requests"][side]) {
                let subtype = text(&entry["subtype"]);
                let request = Type::of_fields(&entry["request"]);
                let envelope = Type::Object {
                    fields: [("request".to_owned(), request)].into(),
                    is_open: true,
                };
                messages.insert(format!("control_request/{subtype}"), envelope);
                replies.insert(subtype, Type::of_fields(&entry["response"]));
            }
        }
        let hooks = list(&inventory["hooks"]).into_iter();
        let hooks = hooks.map(|hook| (text(&hook["event"]), Type::of_fields(&hook["input"])));
        let tools = list(&inventory["tools"]).into_iter();
        let tools: Vec<_> = tools.map(|tool| (text(&tool["name"]), tool)).collect();
        let input = |tool: &Value| Type::of_fields(&tool["input"]);
        Self {
            names: Names::new(&inventory["types"]),
            messages,
            replies,
            hooks: hooks.collect(),
            inputs: tools
                .iter()
                .map(|(name, tool)| (name.clone(), input(tool)))
                .collect(),
            outputs: tools
                .iter()
                .map(|(name, tool)| (name.clone(), output(tool)))
                .collect(),
            calls: HashMap::new(),
            asked: HashMap::new(),
        }
    }
}

/// Returns the type of what a tool gives back.
fn output(tool: &Value) -> Type {
    if let Some(text) = tool["output_type"].as_str() {
        return Type::parse(text);
    }
    match (tool["output_variants"].as_array(), &tool["output"]) {
        (Some(variants), _) => Type::Union(variants.iter().map(Type::of_fields).collect()),
        (None, fields @ Value::Object(_)) => Type::of_fields(fields),
        _ => Type::Any,
    }
}

/// The name under which the inventory lists a tool.
fn listed(tool: &str) -> &str {
    match tool {
        "Task" => "Agent",
        "ProposeGoal" => "SetGoal",
        "KillShell" | "KillBash" => "TaskStop",
        "exit_plan_mode" => "ExitPlanMode",
        tool => tool,
    }
}

/// Collects what a typed value says of itself: new things, and what it only carries.
#[derive(Default)]
struct Sink {
    found: Vec<Finding>,
    carried: Vec<(String, Value)>,
}

impl Sink {
    fn of(value: &impl Inspect, path: &str) -> Self {
        let mut sink = Self::default();
        value.inspect(&At::ROOT, &mut |at, novelty| sink.note(path, at, novelty));
        sink
    }

    fn note(&mut self, path: &str, at: &At<'_>, novelty: Novelty<'_>) {
        let path = joined(path, &at.to_string());
        match novelty {
            Novelty::Carried(json) => {
                if let Ok(value @ (Value::Object(_) | Value::Array(_))) = json.to_value() {
                    self.carried.push((path, value));
                }
            }
            Novelty::Kept(_) => {}
            novelty => self.found.push(super::written(&path, novelty)),
        }
    }
}

fn joined(path: &str, below: &str) -> String {
    let dot = match path.is_empty() || below.is_empty() || below.starts_with("[]") {
        true => "",
        false => ".",
    };
    format!("{path}{dot}{below}")
}

impl Carried {
    /// Lists what is new in the carried parts of a line of the CLI; `name` is its name in the report.
    pub(super) fn of_cli(&mut self, message: &CliMessage, name: &str) -> Vec<Finding> {
        let mut found = self.whole(message, name);
        match message {
            CliMessage::Assistant(line) => {
                for block in &line.message.content {
                    if let ContentBlock::ToolUse(call) = block {
                        remember(&mut self.calls, call.id.to_string(), call.name.clone());
                        let path = "message.content[].input";
                        found.extend(self.input(&call.name, &call.input, path));
                    }
                }
            }
            CliMessage::User(line) => {
                let TextOr::Rich(blocks) = &line.message.content else {
                    return found;
                };
                let tool = blocks.iter().find_map(|block| match block {
                    ContentBlock::ToolResult(result) => self.calls.get(result.tool_use_id.as_str()),
                    _ => None,
                });
                if let (Some(tool), Some(result)) = (tool, &line.tool_use_result) {
                    found.extend(self.output(tool, result, "tool_use_result"));
                }
            }
            CliMessage::ControlRequest(asks) => {
                let mut about = None;
                match &asks.request {
                    CliRequest::CanUseTool(ask) => {
                        about = Some(ask.tool_name.clone());
                        found.extend(self.input(&ask.tool_name, &ask.input, "request.input"));
                    }
                    CliRequest::HookCallback(hook) => {
                        let said = self.hook(&hook.input);
                        about = said.1;
                        found.extend(said.0);
                    }
                    _ => {}
                }
                let id = (Side::Cli, asks.request_id.to_string());
                let subtype = asks.request.tag().to_owned();
                remember(
                    &mut self.asked,
                    id,
                    Asked {
                        subtype,
                        tool: about,
                    },
                );
            }
            CliMessage::ControlResponse(answer) => found.extend(self.reply(Side::Host, answer)),
            CliMessage::Result(result) => {
                for denied in &result.permission_denials {
                    let path = "permission_denials[].tool_input";
                    found.extend(self.input(&denied.tool_name, &denied.tool_input, path));
                }
            }
            _ => {}
        }
        found
    }

    /// Lists what is new in the carried parts of a line of the host.
    pub(super) fn of_host(&mut self, message: &HostMessage, name: &str) -> Vec<Finding> {
        let mut found = self.whole(message, name);
        match message {
            HostMessage::ControlRequest(asks) => {
                let id = (Side::Host, asks.request_id.to_string());
                let subtype = match &asks.request {
                    HostRequest::Unknown(_) => return found,
                    request => request.tag().to_owned(),
                };
                remember(
                    &mut self.asked,
                    id,
                    Asked {
                        subtype,
                        tool: None,
                    },
                );
            }
            HostMessage::ControlResponse(answer) => found.extend(self.reply(Side::Cli, answer)),
            _ => {}
        }
        found
    }

    /// What the inventory says of a message's own carried parts.
    fn whole(&self, message: &impl Inspect, name: &str) -> Vec<Finding> {
        let Some(declared) = self.messages.get(name) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        message.inspect(&At::ROOT, &mut |at, novelty| {
            let path = at.to_string();
            let parts = match novelty {
                Novelty::Carried(json) => vec![(path, json)],
                Novelty::Kept(kept) => {
                    let parts = kept.body.iter();
                    parts
                        .map(|(field, json)| (joined(&path, field), json))
                        .collect()
                }
                _ => return,
            };
            for (path, json) in parts {
                let value = json.to_value().unwrap_or_default();
                match self.names.at(declared, &path) {
                    Some(part) => found.extend(self.names.undeclared(&part, &value, &path)),
                    // Of a carried field the types know the name, of a kept object only the inventory does.
                    None if matches!(novelty, Novelty::Kept(_)) => found.push(path),
                    None => {}
                }
            }
        });
        found
    }

    /// The input of a tool.
    fn input(&self, tool: &str, input: &Json, path: &str) -> Vec<Finding> {
        let declared = self.inputs.get(listed(tool));
        match ToolInput::view(tool, input) {
            Ok(view) => self.finish(Sink::of(&view, path), declared, path),
            // The model wrote something that does not fit.
            Err(_) => {
                let value = input.to_value().unwrap_or_default();
                let found = declared.map(|input| self.names.undeclared(input, &value, path));
                found.unwrap_or_default()
            }
        }
    }

    /// What a tool gave back.
    fn output(&self, tool: &str, output: &Json, path: &str) -> Vec<Finding> {
        let (Some(declared), Ok(value)) = (self.outputs.get(listed(tool)), output.to_value())
        else {
            return Vec::new();
        };
        self.names.undeclared(declared, &value, path)
    }

    /// What a hook is told, and the tool it is about.
    fn hook(&self, input: &HookInput) -> (Vec<Finding>, Option<String>) {
        let path = "request.input";
        let mut found = Vec::new();
        let mut call = |tool: &str, input: &Json, output: Option<&Json>, below: &str| {
            let path = joined(path, below);
            found.extend(self.input(tool, input, &joined(&path, "tool_input")));
            if let Some(output) = output {
                found.extend(self.output(tool, output, &joined(&path, "tool_response")));
            }
            tool.to_owned()
        };
        let tool = match &input.event {
            HookEvent::PreToolUse(it) => Some(call(&it.tool_name, &it.tool_input, None, "")),
            HookEvent::PostToolUse(it) => {
                let output = Some(&it.tool_response);
                Some(call(&it.tool_name, &it.tool_input, output, ""))
            }
            HookEvent::PostToolUseFailure(it) => {
                Some(call(&it.tool_name, &it.tool_input, None, ""))
            }
            HookEvent::PermissionRequest(it) => Some(call(&it.tool_name, &it.tool_input, None, "")),
            HookEvent::PermissionDenied(it) => Some(call(&it.tool_name, &it.tool_input, None, "")),
            HookEvent::PostToolBatch(batch) => {
                for it in &batch.tool_calls {
                    let output = it.tool_response.as_ref();
                    call(&it.tool_name, &it.tool_input, output, "tool_calls[]");
                }
                None
            }
            event => {
                let declared = self.hooks.get(event.tag());
                let sink = Sink {
                    found: Vec::new(),
                    ..Sink::of(input, path)
                };
                found.extend(self.finish(sink, declared, path));
                None
            }
        };
        (found, tool)
    }

    /// The reply to a request of `side`; the CLI also repeats answers of the host, to requests of its own.
    fn reply(&self, side: Side, answer: &ControlResponse) -> Vec<Finding> {
        let ControlOutcome::Success(success) = &answer.response else {
            return Vec::new();
        };
        let id = success.request_id.as_ref().map(ToString::to_string);
        let id = id.unwrap_or_default();
        let asked = [side, Side::Cli].into_iter().find_map(|side| {
            let asked = self.asked.get(&(side, id.clone()))?;
            Some((side, asked))
        });
        let (Some((side, asked)), Some(reply)) = (asked, &success.response) else {
            return Vec::new();
        };
        let path = "response.response";
        let mut sink = Sink::default();
        let inspect = match side {
            Side::Cli => inspect_cli_reply,
            Side::Host => inspect_host_reply,
        };
        let is_typed = inspect(&asked.subtype, reply, &mut |at, novelty| {
            sink.note(path, at, novelty);
        });
        let declared = self.replies.get(&asked.subtype);
        if !is_typed {
            let value = reply.to_value().unwrap_or_default();
            let known = declared.filter(
                |declared| !matches!(declared, Type::Object { fields, .. } if fields.is_empty()),
            );
            let found = known.map(|known| self.names.undeclared(known, &value, path));
            return found.unwrap_or_default();
        }
        let mut found = self.finish(sink, declared, path);
        if let (Some(tool), Ok(value)) = (&asked.tool, reply.to_value()) {
            for (place, below) in [
                ("/updatedInput", "updatedInput"),
                (
                    "/hookSpecificOutput/updatedInput",
                    "hookSpecificOutput.updatedInput",
                ),
            ] {
                if let Some(input) = value.pointer(place).filter(|input| input.is_object()) {
                    let input = Json::from(input.clone());
                    found.extend(self.input(tool, &input, &joined(path, below)));
                }
            }
        }
        found
    }

    /// What a typed value found, and what the inventory says of the parts it carries.
    fn finish(&self, sink: Sink, declared: Option<&Type>, root: &str) -> Vec<Finding> {
        let mut found = sink.found;
        let Some(declared) = declared else {
            return found;
        };
        for (path, value) in sink.carried {
            let below = path.strip_prefix(root).unwrap_or(&path);
            let below = below.trim_start_matches('.');
            if let Some(part) = self.names.at(declared, below).filter(|_| !below.is_empty()) {
                found.extend(self.names.undeclared(&part, &value, &path));
            }
        }
        found
    }
}
