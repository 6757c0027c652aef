//! The lines the CLI writes, built from what was recorded of the version that is played.

use serde_json::{Value, json};

use super::Engine;
use super::talk::MAIN;
use crate::cli::cast;
use crate::cli::scenario::Amend;
use crate::model::template::{map_texts, replaced};

impl Engine {
    /// Writes a line as this version says it: without what came later, or not at all.
    pub(super) fn say_value(&mut self, line: &Value) {
        if let Some(line) = self.cast.as_said(line) {
            let bytes = encode(&line, true);
            self.write(bytes);
        }
    }

    pub(super) fn stamp(&self, line: &mut Value) {
        line["timestamp"] = crate::cli::disk::stamp(self.wall + self.now).into();
    }

    /// A recorded line of this version, with the session's own values in it.
    pub(super) fn recorded_line(&mut self, name: &str) -> Value {
        let line = Value::Object(self.cast.line(name));
        self.filled(&line)
    }

    pub(super) fn filled(&mut self, recorded: &Value) -> Value {
        map_texts(recorded, &mut |text| {
            replaced(text, |name| self.lookup(MAIN, 1, name))
        })
    }

    pub(super) fn say_init(&mut self) {
        let mut line = self.recorded_line("init");
        line["tools"] = self.tool_names().into();
        line["agents"] = self.agent_names().into();
        self.offer_commands(&mut line);
        line["session_id"] = self.session.clone().into();
        line["uuid"] = self.ids.uuid().into();
        line["model"] = self.model.clone().into();
        if let Some(style) = self.settings.effective().get_mut("outputStyle") {
            line["output_style"] = style.take();
        }
        if let Some(listed) = line.get_mut("additional_directories") {
            let folders = self.permissions.more_folders();
            *listed = folders.map(|folder| folder.to_string_lossy()).collect();
        }
        if let Some(effort) = line.get_mut("per_turn_effort_active") {
            *effort = super::ledger::has_effort(&self.model).into();
        }
        let asked = self.turn.as_ref().and_then(|turn| turn.uuid.clone());
        if let Some(uuid) = asked {
            line["user_message_uuids"] = json!([uuid]);
        }
        line["mcp_servers"] = self.servers.listed();
        self.say_value(&line);
    }

    /// A line of the user's side that the CLI itself says: a report, a marker, a feedback.
    pub(super) fn say_user(&mut self, talk: u64, content: Value, extra: Value) -> Value {
        let mut line = json!({
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": null,
            "session_id": self.session,
            "uuid": self.ids.uuid(),
        });
        self.stamp(&mut line);
        merge(&mut line, &extra);
        self.name_agent(&mut line, talk);
        if let (MAIN, Some(turn)) = (talk, &mut self.turn) {
            turn.user_lines += 1;
        }
        self.talk(talk).hear(content);
        self.say_value(&line);
        line
    }

    /// A system line; `line` holds what is not on every one.
    pub(super) fn say_system(&mut self, mut line: Value) -> Value {
        line["type"] = "system".into();
        line["uuid"] = self.ids.uuid().into();
        line["session_id"] = self.session.clone().into();
        self.say_value(&line);
        line
    }

    pub(super) fn say_status(&mut self) {
        let mode = self.permissions.mode().to_owned();
        self.say_system(json!({"subtype": "status", "status": null, "permissionMode": mode}));
    }

    /// Tells a host that asked for it whether the session runs, waits or rests.
    pub(super) fn say_state(&mut self, state: &'static str) {
        if self.flags_of_env.emits_state && self.state != state {
            self.state = state;
            let mut line = json!({"subtype": "session_state_changed", "state": state});
            if self.flags_of_env.state_for_sdk {
                line["sdk_host_only"] = true.into();
            }
            self.say_system(line);
        }
    }

    pub(super) fn say_result(&mut self, subtype: Option<&str>, amend: &Amend) {
        let subtype = subtype.unwrap_or("success");
        let success = subtype == "success";
        let template = if success { "result" } else { "failure" };
        let mut line = Value::Object(self.cast.line(template));
        line["subtype"] = subtype.into();
        line["is_error"] = (!success).into();
        if success {
            line["result"] = self.talk(MAIN).said.clone().into();
        } else {
            line["errors"] = json!([]);
        }
        if !success && line.get("terminal_reason").is_some() {
            line["terminal_reason"] = terminal_reason(subtype).into();
        }
        self.fill_turn(&mut line);
        self.fill_costs(&mut line);
        apply(&mut line, amend);
        self.last_was_error = line["is_error"] == true;
        if let Some(line) = self.cast.as_said(&line) {
            // The newest CLI writes `type` somewhere in the middle of a result.
            let bytes = encode(&line, false);
            self.write(bytes);
        }
    }

    /// What the result says of its turn.
    fn fill_turn(&mut self, line: &mut Value) {
        line["session_id"] = self.session.clone().into();
        line["uuid"] = self.ids.uuid().into();
        let user_lines = self.turn.as_ref().map_or(0, |turn| turn.user_lines);
        line["num_turns"] = (user_lines + 1).into();
        let reason = self.talk(MAIN).stop_reason.clone();
        if let Some(field) = line.get_mut("stop_reason") {
            *field = reason.into();
        }
        let Some(turn) = &self.turn else {
            line["permission_denials"] = json!([]);
            return;
        };
        let elapsed = self.now.saturating_sub(turn.began).as_millis();
        line["duration_ms"] = u64::try_from(elapsed).unwrap_or_default().max(1).into();
        line["permission_denials"] = turn.denials.clone().into();
        let (answers, origin) = (turn.answers.clone(), turn.origin.clone());
        self.name_questions(line, &answers);
        if !answers.is_empty() && line["subtype"] == "success" {
            line["request_sent_wall_ms"] = 1.into();
            line["first_request_input_tokens"] = 100.into();
            line["first_request_cache_read_input_tokens"] = 0.into();
        }
        if let Some(origin) = origin {
            line["origin"] = origin;
        }
    }

    /// What the result says of tokens and money.
    fn fill_costs(&mut self, line: &mut Value) {
        let spent = self.talk(MAIN).spent;
        line["total_cost_usd"] = super::ledger::dollars(self.total.cost());
        spent.fill_usage(&mut line["usage"]);
        let since = std::mem::take(&mut self.since_result);
        if let Some(usage) = line.get_mut("modelUsage") {
            self.total.fill(usage);
        }
        if let Some(usage) = line.get_mut("model_usage_since_last_result") {
            since.fill(usage);
        }
        if let Some(stats) = line.get_mut("subagent_stats") {
            self.agent_stats.fill(stats);
        }
        if let Some(index) = line.get_mut("result_index") {
            *index = self.results.into();
        }
        self.results += 1;
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

pub(super) fn apply(line: &mut Value, amend: &Amend) {
    if let Some(with) = &amend.with {
        merge(line, with);
    }
    for path in &amend.without {
        cast::remove(line, path);
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
}
