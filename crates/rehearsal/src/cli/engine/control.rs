//! Requests of the host: what each does, and how the version that is played answers.

use serde_json::{Value, json};

use super::lines::encode;
use super::talk::MAIN;
use super::{Engine, Role};
use crate::cli::args;
use crate::cli::scenario::{Habit, How, When};

/// What follows a reply.
enum After {
    Nothing,
    EndTurn,
    Status,
    Exit,
}

/// The `response` of each line that answers, and what follows.
pub(super) struct Performed {
    pub(super) replies: Vec<Value>,
    after: After,
}

impl Engine {
    pub(super) fn request(&mut self, line: Value, number: u64) {
        let subtype = line["request"]["subtype"].as_str().unwrap_or_default();
        let wanted = When::Request(subtype.to_owned());
        let block = self
            .scenario
            .blocks
            .iter()
            .find(|block| block.when == wanted);
        if let Some(block) = block {
            let steps = block.steps.clone();
            self.spawn_fiber(steps, Role::Request(line), MAIN);
            if let Some(fiber) = self.fibers.last_mut() {
                fiber.since = number;
            }
            return;
        }
        let habit = match subtype {
            "initialize" => Habit::Initialize,
            _ => Habit::Control,
        };
        if !self.does(habit) {
            return;
        }
        let matching = |subtype: &str, rule: &Option<String>| {
            rule.as_deref().is_none_or(|wanted| wanted == subtype)
        };
        let rule = self.rules.iter().rev();
        let rule = rule
            .filter(|rule| matching(subtype, &rule.subtype))
            .map(|rule| rule.how.clone())
            .next();
        self.reply_to(&line, &rule.unwrap_or(How::Normal));
    }

    /// Does what a request asks and answers it in this way.
    pub(super) fn reply_to(&mut self, line: &Value, how: &How) {
        let performed = match self.perform_live(line, how) {
            Some(performed) => performed,
            None => self.perform(&line["request"]),
        };
        self.say_replies(line, how, performed.replies);
        match performed.after {
            After::Nothing => {}
            After::EndTurn => {
                self.interrupt_calls();
                self.end_interrupted();
            }
            After::Status => self.say_status(),
            After::Exit => self.exit(0),
        }
    }

    /// Writes the replies to a request in this way.
    pub(super) fn say_replies(&mut self, line: &Value, how: &How, replies: Vec<Value>) {
        let id = &line["request_id"];
        let envelopes: Vec<Value> = match how {
            How::Never => Vec::new(),
            How::Error(text) => vec![json!({"subtype": "error", "error": text})],
            How::With(body) => vec![json!({"subtype": "success", "response": body})],
            _ => replies,
        };
        for mut envelope in envelopes {
            if !id.is_null() {
                envelope["request_id"] = id.clone();
            }
            if *how == How::Misaddressed {
                envelope["request_id"] = self.ids.uuid().into();
            }
            let bytes = encode(
                &json!({"type": "control_response", "response": envelope}),
                true,
            );
            match how {
                How::Late(after) => self.send_at(*after, bytes),
                How::Twice => {
                    self.write(bytes.clone());
                    self.write(bytes);
                }
                _ => self.write(bytes),
            }
        }
    }

    fn perform(&mut self, request: &Value) -> Performed {
        let subtype = request["subtype"].as_str().unwrap_or_default();
        match subtype {
            "initialize" => self.initialize(request),
            "interrupt" => self.interrupt(request),
            "set_permission_mode" => self.set_mode(request),
            "set_model" => self.set_model(request),
            "cancel_async_message" if self.cast.reply(subtype).is_some() => {
                let uuid = request["message_uuid"].as_str().unwrap_or_default();
                match self.unqueue(uuid) {
                    true => success(json!({"cancelled": true, "message_uuid": uuid})),
                    false => success(json!({"cancelled": false})),
                }
            }
            "mcp_toggle" | "mcp_reconnect" => {
                let server = request["serverName"].as_str().unwrap_or_default();
                if self.servers.toggle(server, request["enabled"] != false) {
                    bare()
                } else {
                    error(json!({"error": format!("Server not found: {server}")}))
                }
            }
            "end_session" if self.cast.reply(subtype).is_some() => Performed {
                after: After::Exit,
                ..bare()
            },
            _ => self.recorded(subtype),
        }
    }

    /// A reply that does not depend on anything, as it was recorded.
    fn recorded(&mut self, subtype: &str) -> Performed {
        if let Some(text) = self.cast.error(subtype) {
            return error(json!({"error": text}));
        }
        match self.cast.reply(subtype).cloned() {
            Some(Value::Null) => bare(),
            Some(body) => success(self.filled(&body)),
            None => {
                let text = format!("Unsupported control request subtype: {subtype}");
                error(json!({"error": text, "error_code": "unsupported_request"}))
            }
        }
    }

    fn initialize(&mut self, request: &Value) -> Performed {
        self.initialized = true;
        self.hooks = request["hooks"].clone();
        if let (Some(agents), true) = (&mut self.agents, request["agents"].is_object()) {
            // A definition that is incomplete is passed over, as the CLI does.
            agents.add_json(&request["agents"]);
        }
        self.flags.forwards_agent_text |= request["forwardSubagentText"] == true;
        if request["jsonSchema"].is_object() {
            self.flags.schema = Some(request["jsonSchema"].clone());
        }
        let names = request["sdkMcpServers"].as_array().cloned();
        let names = names.unwrap_or_default();
        let names = names
            .iter()
            .filter_map(|name| Some(name.as_str()?.to_owned()));
        let mut names: Vec<String> = names.collect();
        names.extend(std::mem::take(&mut self.configured_servers));
        self.greet_servers(names);
        let body = self.cast.reply("initialize").cloned().unwrap_or_default();
        let mut body = self.filled(&body);
        if let Some(pid) = body.get_mut("pid") {
            *pid = self.pid.into();
        }
        if let (Some(agents), true) = (&self.agents, body.get("agents").is_some()) {
            body["agents"] = agents.infos().into();
        }
        if let (Some(commands), Some(list)) = (&self.commands, body["commands"].as_array().cloned())
        {
            body["commands"] = commands.infos(&list).into();
        }
        if body.get("capabilities").is_some() && !self.hooks.is_null() {
            body["hooks_applied"] = true.into();
        }
        let mut performed = success(body);
        performed.replies[0]["pending_permission_requests"] = json!([]);
        performed.replies[0]["pending_user_dialog_requests"] = json!([]);
        performed
    }

    fn interrupt(&mut self, request: &Value) -> Performed {
        if self.does(Habit::Interrupt) {
            self.withdraw_questions();
        }
        let mut reply = bare();
        if self.cast.reply("interrupt").is_some_and(Value::is_object) {
            let mut body = json!({});
            if request["cancel_queued"] == true {
                let waiting = self.uuids_waiting();
                for message in std::mem::take(&mut self.queue) {
                    self.lifecycle(message.uuid().as_deref(), "cancelled");
                }
                body["cancelled"] = waiting.into();
            }
            body["still_queued"] = self.uuids_waiting().into();
            reply = success(body);
        }
        if self.does(Habit::Interrupt) {
            reply.after = After::EndTurn;
        }
        reply
    }

    fn set_mode(&mut self, request: &Value) -> Performed {
        let mode = request["mode"].as_str().unwrap_or_default();
        if let Err(error) = self.permissions.set_mode(mode) {
            return self::error(json!({"error": error.to_string(), "error_code": error.code()}));
        }
        let mode = self.permissions.mode().to_owned();
        let mut performed = success(json!({"mode": mode}));
        performed.after = After::Status;
        performed
    }

    /// Resolves what was asked for and uses it from here on; gives back how it is shown.
    pub(super) fn choose_model(&mut self, asked: &str) -> String {
        let models = &self.cast.reply("initialize").unwrap_or(&Value::Null)["models"];
        let listed = models.as_array().into_iter().flatten();
        let known = listed.clone().find(|model| model["value"] == asked);
        let resolved = known.and_then(|model| model["resolvedModel"].as_str());
        let model = match resolved {
            Some(resolved) => resolved.to_owned(),
            None => args::resolve_model(asked).unwrap_or_else(|| {
                let init = self.cast.line("init");
                init["model"].as_str().unwrap_or_default().to_owned()
            }),
        };
        let version = model.trim_start_matches("claude-").split_once('-');
        let shown = match (
            known.and_then(|known| known["displayName"].as_str()),
            version,
        ) {
            (Some(name), Some((_, version))) => format!("{name} {}", version.replace('-', ".")),
            _ => model.clone(),
        };
        self.model = model;
        shown
    }

    fn set_model(&mut self, request: &Value) -> Performed {
        let asked = request["model"].as_str().unwrap_or("default");
        self.choose_model(asked);
        if self.results > 0 {
            let text =
                format!("<local-command-stdout>Set model to `{asked}`</local-command-stdout>");
            self.say_local(text, true);
        }
        match self.cast.reply("set_model") {
            Some(Value::Object(_)) => success(json!({"model": self.model})),
            _ => bare(),
        }
    }

    fn unqueue(&mut self, uuid: &str) -> bool {
        let before = self.queue.len();
        self.queue
            .retain(|message| message.uuid().as_deref() != Some(uuid));
        let cancelled = self.queue.len() < before;
        if cancelled {
            self.lifecycle(Some(uuid), "cancelled");
        }
        cancelled
    }
}

pub(super) fn success(body: Value) -> Performed {
    reply(json!({"subtype": "success", "response": body}))
}

pub(super) fn bare() -> Performed {
    reply(json!({"subtype": "success"}))
}

pub(super) fn error(mut body: Value) -> Performed {
    body["subtype"] = "error".into();
    reply(body)
}

pub(super) fn silence() -> Performed {
    Performed {
        replies: Vec::new(),
        after: After::Nothing,
    }
}

fn reply(envelope: Value) -> Performed {
    Performed {
        replies: vec![envelope],
        after: After::Nothing,
    }
}
