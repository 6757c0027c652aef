//! The CLI's questions to the host: how each is put, which are open, and what an answer sets off.

use serde_json::{Value, json};

use super::Engine;
use super::speak::{apply, merge};
use crate::cli::scenario::{Asking, Question};
use crate::cli::verdict::{self, Verdict};

/// A question without an answer.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) serial: u64,
    pub(super) id: String,
    pub(super) tool: Option<Call>,
}

/// The call that waits for a permission.
#[derive(Debug)]
pub(super) struct Call {
    name: String,
    input: Value,
    tool_use_id: String,
    gives: Option<String>,
}

impl Engine {
    /// Puts a question; gives back the serials of what was asked.
    pub(super) fn ask(&mut self, question: Question, asking: &Asking) -> Vec<u64> {
        match question {
            Question::Tool { name, input, gives } => self.ask_tool(name, input, gives, asking),
            Question::Hook { event, input } => self.ask_hooks(&event, &input, asking),
            Question::Mcp { server, message } => {
                let message = self.rpc(message);
                let body = json!({"server_name": server, "message": message});
                vec![self.put("mcp_message", body, asking, None)]
            }
            Question::Other { subtype, body } => vec![self.put(&subtype, body, asking, None)],
        }
    }

    fn ask_tool(
        &mut self,
        name: String,
        input: Value,
        gives: Option<String>,
        asking: &Asking,
    ) -> Vec<u64> {
        let tool_use_id = self.ids.tool_use();
        let block = json!({
            "type": "tool_use", "id": tool_use_id, "name": name, "input": input,
        });
        self.say_block(block, &Default::default());
        let mut body = json!({
            "tool_name": name,
            "input": input,
            "permission_suggestions": [
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            ],
            "tool_use_id": tool_use_id,
        });
        if self.version.stamps_lines() {
            body["display_name"] = name.clone().into();
            if let Some(description) = input.get("description") {
                body["description"] = description.clone();
            }
        }
        let call = Call {
            name,
            input,
            tool_use_id,
            gives,
        };
        if self.heeds_eof() {
            self.refuse(&call, verdict::CLOSED);
            return Vec::new();
        }
        vec![self.put("can_use_tool", body, asking, Some(call))]
    }

    /// One request for each registered callback that the event is for.
    fn ask_hooks(&mut self, event: &str, fields: &Value, asking: &Asking) -> Vec<u64> {
        let matchers = self.hooks[event].as_array().cloned().unwrap_or_default();
        let subject = fields["tool_name"].as_str().unwrap_or_default();
        let mut serials = Vec::new();
        for matcher in matchers {
            match applies(matcher["matcher"].as_str().unwrap_or_default(), subject) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    self.fail(&format!(
                        "the hook matcher {} is a regular expression, which the scripted CLI does not read; register a plain name, A|B or *",
                        matcher["matcher"]
                    ));
                    return serials;
                }
            }
            let callbacks = matcher["hookCallbackIds"].as_array().cloned();
            for callback in callbacks.unwrap_or_default() {
                let body = self.hook_body(event, fields, &callback);
                serials.push(self.put("hook_callback", body, asking, None));
            }
        }
        serials
    }

    fn hook_body(&mut self, event: &str, fields: &Value, callback: &Value) -> Value {
        let mut input = json!({
            "session_id": self.session,
            "transcript_path": format!("/home/user/.claude/projects/-project/{}.jsonl", self.session),
            "cwd": self.cwd,
            "permission_mode": self.mode,
            "hook_event_name": event,
        });
        let tool_use_id = match fields["tool_use_id"].as_str() {
            Some(id) => id.to_owned(),
            None => self.ids.tool_use(),
        };
        if fields.get("tool_name").is_some() {
            input["tool_use_id"] = tool_use_id.clone().into();
        }
        merge(&mut input, fields);
        json!({"callback_id": callback, "input": input, "tool_use_id": tool_use_id})
    }

    /// Fills in what every JSON-RPC message has.
    fn rpc(&mut self, mut message: Value) -> Value {
        message["jsonrpc"] = "2.0".into();
        let method = message["method"].as_str().unwrap_or_default();
        if !method.starts_with("notifications/") && message.get("id").is_none() {
            message["id"] = self.next_question.into();
        }
        message
    }

    fn put(&mut self, subtype: &str, body: Value, asking: &Asking, tool: Option<Call>) -> u64 {
        let id = match &asking.id {
            Some(id) => id.clone(),
            None => self.ids.uuid(),
        };
        if let Some(label) = &asking.label {
            self.labels.push((label.clone(), id.clone()));
        }
        let mut request = json!({"subtype": subtype});
        merge(&mut request, &body);
        apply(&mut request, &asking.amend);
        self.say_value(&json!({
            "type": "control_request", "request_id": id, "request": request,
        }));
        let serial = self.next_question;
        self.next_question += 1;
        self.open.push(Open { serial, id, tool });
        serial
    }

    pub(super) fn is_open(&self, serial: u64) -> bool {
        self.open.iter().any(|open| open.serial == serial)
    }

    /// The host answered something. An answer to no open question is ignored, as the CLI does.
    pub(super) fn answered(&mut self, envelope: &Value) {
        let Some(id) = envelope["request_id"].as_str() else {
            return;
        };
        let Some(index) = self.open.iter().position(|open| open.id == id) else {
            return;
        };
        let open = self.open.remove(index);
        self.answered += 1;
        let Some(call) = open.tool else { return };
        match verdict::verdict(self.version, envelope) {
            Verdict::Run { updates } => self.run_tool(&call, envelope, &updates),
            Verdict::Refuse { text, stop } => {
                self.refuse(&call, &text);
                if stop {
                    self.withdraw_questions();
                    self.tell_withdrawn();
                    self.end_interrupted();
                }
            }
        }
    }

    fn run_tool(&mut self, call: &Call, envelope: &Value, updates: &[Value]) {
        for update in updates {
            if update["type"] == "setMode"
                && let Some(mode) = update["mode"].as_str()
            {
                self.change_mode(mode);
            }
        }
        let input = verdict::input(self.version, envelope, &call.input);
        let text = match &call.gives {
            Some(text) => text.clone(),
            None => format!("{} was run with {input}", call.name),
        };
        self.say_tool_result(&call.tool_use_id, &text, false);
    }

    fn change_mode(&mut self, mode: &str) {
        let refused = mode == "bypassPermissions"
            && self.version.guards_bypass()
            && !self.flags.bypass_allowed;
        if refused {
            return;
        }
        mode.clone_into(&mut self.mode);
        if self.version.reports_mode_in_turn() {
            self.say_status();
        }
    }

    fn refuse(&mut self, call: &Call, text: &str) {
        let denial = json!({
            "tool_name": call.name, "tool_use_id": call.tool_use_id, "tool_input": call.input,
        });
        if let Some(turn) = &mut self.turn {
            turn.denials.push(denial);
        }
        self.say_tool_result(&call.tool_use_id, text, true);
    }

    /// Takes back one question by its name or id.
    pub(super) fn cancel(&mut self, name: &str) {
        let labelled = self.labels.iter().rev().find(|(label, _)| label == name);
        let id = labelled.map_or_else(|| name.to_owned(), |(_, id)| id.clone());
        if let Some(index) = self.open.iter().position(|open| open.id == id) {
            self.open.remove(index);
        }
        self.say_cancel(&id);
    }

    fn say_cancel(&mut self, id: &str) {
        self.say_value(&json!({"type": "control_cancel_request", "request_id": id}));
    }

    /// Takes back every question. What is left of the calls is told by [`Engine::tell_withdrawn`].
    pub(super) fn withdraw_questions(&mut self) {
        let open = std::mem::take(&mut self.open);
        for open in open {
            self.say_cancel(&open.id);
            self.withdrawn.extend(open.tool);
        }
    }

    pub(super) fn tell_withdrawn(&mut self) {
        let text = verdict::interrupted(self.version);
        for call in std::mem::take(&mut self.withdrawn) {
            self.refuse(&call, text);
        }
    }

    /// The host has closed stdin: no answer can come any more.
    pub(super) fn close_questions(&mut self) {
        for open in std::mem::take(&mut self.open) {
            if let Some(call) = open.tool {
                self.refuse(&call, verdict::CLOSED);
            }
        }
    }
}

/// Whether a matcher is for this subject; None if only a regular expression could tell.
fn applies(matcher: &str, subject: &str) -> Option<bool> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|');
    match matcher {
        "" | "*" | ".*" => Some(true),
        names if names.chars().all(plain) => Some(names.split('|').any(|name| name == subject)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::applies;

    #[test]
    fn a_plain_matcher_is_the_whole_name() {
        for (matcher, expected) in [
            ("Bash", Some(true)),
            ("bash", Some(false)),
            ("Ba", Some(false)),
            ("Read|Bash", Some(true)),
            ("*", Some(true)),
            ("", Some(true)),
            ("^Bash$", None),
        ] {
            assert_eq!(applies(matcher, "Bash"), expected, "{matcher}");
        }
    }
}
