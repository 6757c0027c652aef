//! The lines the CLI writes, built from what was recorded of the version that is played.

use serde_json::{Map, Value, json};

use super::Engine;
use crate::cli::scenario::Amend;

/// Dollars a turn costs.
const COST: f64 = 0.00125;
/// Characters in one delta of a streamed text.
const DELTA: usize = 16;

impl Engine {
    pub(super) fn say_value(&mut self, line: &Value) {
        let bytes = encode(line, true);
        self.write(bytes);
    }

    pub(super) fn stamp(&self, line: &mut Value) {
        if self.version.stamps_lines() {
            line["timestamp"] = "2026-01-01T00:00:00.000Z".into();
        }
    }

    pub(super) fn say_init(&mut self) {
        let mut line = Value::Object(self.cast.line("init"));
        line["cwd"] = self.cwd.clone().into();
        line["session_id"] = self.session.clone().into();
        line["uuid"] = self.ids.uuid().into();
        line["permissionMode"] = self.mode.clone().into();
        line["model"] = self.model.clone().into();
        line["claude_code_version"] = self.version.to_string().into();
        line["mcp_servers"] = self.server_list();
        if line.get("original_cwd").is_some() {
            line["original_cwd"] = self.cwd.clone().into();
        }
        self.say_value(&line);
    }

    fn server_list(&self) -> Value {
        let listed = self.servers.iter().map(|name| {
            let mut server = json!({"name": name, "status": "connected"});
            if self.version.stamps_lines() {
                server["source"] = "sdk".into();
            }
            server
        });
        listed.collect()
    }

    /// One content block, in an assistant line of its own.
    pub(super) fn say_block(&mut self, block: Value, amend: &Amend) {
        let mut line = Value::Object(self.cast.line("assistant"));
        let is_tool = block["type"] == "tool_use";
        line["message"]["content"] = json!([block]);
        line["message"]["id"] = self.message_id().into();
        line["message"]["model"] = self.model.clone().into();
        if is_tool && self.version.fills_stop_reason() {
            line["message"]["stop_reason"] = "tool_use".into();
        }
        line["session_id"] = self.session.clone().into();
        line["uuid"] = self.ids.uuid().into();
        apply(&mut line, amend);
        self.say_value(&line);
    }

    pub(super) fn say_text(&mut self, text: String, amend: &Amend) {
        if let Some(turn) = &mut self.turn {
            turn.said.clone_from(&text);
        }
        self.say_block(json!({"type": "text", "text": text}), amend);
    }

    /// A text in deltas if the flags ask for them, then whole.
    pub(super) fn stream_text(&mut self, text: String, amend: &Amend) {
        if !self.flags.partial {
            self.say_text(text, amend);
            return;
        }
        let mut message = self.cast.line("assistant")["message"].clone();
        message["content"] = json!([]);
        message["id"] = self.message_id().into();
        message["model"] = self.model.clone().into();
        message["stop_reason"] = Value::Null;
        if let Some(message) = message.as_object_mut() {
            message.remove("context_management");
        }
        let usage = message["usage"].clone();
        self.say_event(json!({"type": "message_start", "message": message}));
        self.say_event(json!({
            "type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""},
        }));
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(DELTA) {
            let piece: String = piece.iter().collect();
            self.say_event(delta(&piece));
        }
        self.say_text(text, amend);
        self.say_event(json!({"type": "content_block_stop", "index": 0}));
        let stop = json!({"stop_reason": "end_turn", "stop_sequence": null});
        self.say_event(json!({"type": "message_delta", "delta": stop, "usage": usage}));
        self.say_event(json!({"type": "message_stop"}));
    }

    fn say_event(&mut self, event: Value) {
        let line = self.event(event);
        self.say_value(&line);
    }

    pub(super) fn event(&mut self, event: Value) -> Value {
        let mut line = json!({
            "type": "stream_event",
            "event": event,
            "session_id": self.session,
            "parent_tool_use_id": null,
            "uuid": self.ids.uuid(),
        });
        if self.version.stamps_lines() {
            line["api_message_id"] = self.message_id().into();
        }
        line
    }

    /// `count` deltas from number `next` on, each with its number and filled up to `bytes`.
    pub(super) fn flood(&mut self, next: u64, count: u64, bytes: usize) {
        let mut out = Vec::new();
        for number in next..next + count {
            let mut text = number.to_string();
            while text.len() < bytes {
                text.push(' ');
            }
            let line = self.event(delta(&text));
            out.extend_from_slice(&encode(&line, true));
        }
        self.write(out);
    }

    pub(super) fn say_user(&mut self, content: Value, extra: Value) {
        let mut line = json!({
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": null,
            "session_id": self.session,
            "uuid": self.ids.uuid(),
        });
        self.stamp(&mut line);
        merge(&mut line, &extra);
        self.say_value(&line);
    }

    pub(super) fn say_tool_result(&mut self, tool_use_id: &str, text: &str, is_error: bool) {
        let extra = if is_error {
            json!({"tool_use_result": format!("Error: {text}")})
        } else {
            json!({"tool_use_result": {
                "stdout": text, "stderr": "", "interrupted": false, "isImage": false,
            }})
        };
        let content = json!([{
            "type": "tool_result", "tool_use_id": tool_use_id, "content": text, "is_error": is_error,
        }]);
        self.say_user(content, extra);
        // What the model says next is another message.
        let id = self.ids.message();
        if let Some(turn) = &mut self.turn {
            turn.message_id = id;
            turn.requests += 1;
        }
    }

    pub(super) fn say_status(&mut self) {
        let line = json!({
            "type": "system",
            "subtype": "status",
            "status": null,
            "permissionMode": self.mode,
            "uuid": self.ids.uuid(),
            "session_id": self.session,
        });
        self.say_value(&line);
    }

    pub(super) fn say_result(&mut self, subtype: Option<&str>, amend: &Amend) {
        let subtype = subtype.unwrap_or("success");
        let success = subtype == "success";
        let template = if success { "result" } else { "failure" };
        let mut line = self.cast.line(template);
        self.cost += COST;
        let turn = self.turn.as_ref();
        let denials = turn.map(|turn| turn.denials.clone()).unwrap_or_default();
        let requests = turn.map_or(1, |turn| turn.requests);
        let said = turn.map(|turn| turn.said.clone()).unwrap_or_default();
        if success {
            line.insert("result".into(), said.into());
        } else {
            line.insert("errors".into(), json!([]));
        }
        line.insert("subtype".into(), subtype.into());
        let is_error = !success && self.version.interrupt_is_error();
        line.insert("is_error".into(), is_error.into());
        line.insert("num_turns".into(), requests.into());
        line.insert("permission_denials".into(), denials.into());
        line.insert("total_cost_usd".into(), json!(self.cost));
        line.insert("session_id".into(), self.session.clone().into());
        line.insert("uuid".into(), self.ids.uuid().into());
        self.rename_model(&mut line, "modelUsage");
        self.rename_model(&mut line, "model_usage_since_last_result");
        if let Some(index) = line.get_mut("result_index") {
            *index = self.results.into();
        }
        self.results += 1;
        let mut line = Value::Object(line);
        if !success && line.get("terminal_reason").is_some() {
            line["terminal_reason"] = terminal_reason(subtype).into();
        }
        apply(&mut line, amend);
        self.last_was_error = line["is_error"] == true;
        let bytes = encode(&line, !self.version.buries_type());
        self.write(bytes);
    }

    /// The usage stands under the name of the model in use.
    fn rename_model(&self, line: &mut Map<String, Value>, field: &str) {
        if let Some(Value::Object(usage)) = line.get_mut(field)
            && let Some(first) = usage.values().next().cloned()
        {
            *usage = Map::from_iter([(self.model.clone(), first)]);
        }
    }

    pub(super) fn message_id(&mut self) -> String {
        match &self.turn {
            Some(turn) => turn.message_id.clone(),
            None => self.ids.message(),
        }
    }
}

fn terminal_reason(subtype: &str) -> &'static str {
    match subtype {
        "error_max_turns" => "max_turns",
        "error_max_budget_usd" => "budget_exhausted",
        "error_max_structured_output_retries" => "structured_output_retry_exhausted",
        _ => "aborted_tools",
    }
}

fn delta(text: &str) -> Value {
    json!({
        "type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text},
    })
}

pub(super) fn apply(line: &mut Value, amend: &Amend) {
    if let Some(with) = &amend.with {
        merge(line, with);
    }
    for path in &amend.without {
        let (parent, field) = match path.rsplit_once('.') {
            Some((parent, field)) => (format!("/{}", parent.replace('.', "/")), field),
            None => (String::new(), path.as_str()),
        };
        if let Some(Value::Object(fields)) = line.pointer_mut(&parent) {
            fields.remove(field);
        }
    }
}

/// Puts every field of `more` over those of `line`; objects are merged, everything else is replaced.
pub(super) fn merge(line: &mut Value, more: &Value) {
    match (line, more) {
        (Value::Object(fields), Value::Object(more)) => {
            for (key, value) in more {
                merge(fields.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (line, more) => *line = more.clone(),
    }
}

/// One line. The newest CLI writes `type` somewhere in the middle of a result, and first elsewhere.
pub(super) fn encode(line: &Value, type_first: bool) -> Vec<u8> {
    let mut out = match line {
        Value::Object(fields) if type_first && fields.contains_key("type") => {
            let mut out = String::from("{");
            let first = ["type", "subtype"];
            let leading = first.iter().filter_map(|key| fields.get_key_value(*key));
            let others = fields
                .iter()
                .filter(|(key, _)| !first.contains(&key.as_str()));
            for (index, (key, value)) in leading.chain(others).enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                out.push_str(&value.to_string());
            }
            out.push('}');
            out
        }
        other => other.to_string(),
    };
    out.push('\n');
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_comes_first_unless_it_is_buried() {
        let line = json!({"a": 1, "type": "x", "subtype": "y"});
        assert_eq!(
            encode(&line, true),
            b"{\"type\":\"x\",\"subtype\":\"y\",\"a\":1}\n"
        );
        let buried = String::from_utf8(encode(&line, false)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&buried).unwrap(), line);
    }

    #[test]
    fn an_amendment_adds_replaces_and_removes() {
        let mut line = json!({"a": {"b": 1, "c": 2}, "d": 3});
        let amend = Amend {
            with: Some(json!({"a": {"b": 9}, "e": null})),
            without: vec!["a.c".to_owned(), "d".to_owned(), "none".to_owned()],
        };
        apply(&mut line, &amend);
        assert_eq!(line, json!({"a": {"b": 9}, "e": null}));
    }
}
