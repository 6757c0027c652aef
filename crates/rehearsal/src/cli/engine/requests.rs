//! Requests of the host whose reply depends on the session: servers, settings, files, costs, tasks.
//!
//! Owns what is looked up or changed for each; `control` owns how a reply is written. Invariant: a request that waits for
//! the shell is answered exactly once.

use serde_json::{Value, json};

use super::control::{Performed, bare, error, silence, success};
use super::deed::{Deed, Kind as DeedKind, Look};
use super::talk::{MAIN, text_of};
use super::{Engine, Output};
use crate::cli::scenario::How;
use crate::cli::source::Source;

/// A request that waits for the shell.
#[derive(Debug)]
pub(super) struct Pending {
    serial: u64,
    line: Value,
    how: How,
}

impl Engine {
    /// A request that only the newest CLI has, or answers so; None for all others.
    pub(super) fn perform_live(&mut self, line: &Value, how: &How) -> Option<Performed> {
        let request = &line["request"];
        let subtype = request["subtype"].as_str().unwrap_or_default();
        let text = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
        if subtype == "mcp_status" {
            let servers = self.servers.described();
            return Some(success(json!({"mcpServers": servers})));
        }
        if subtype == "mcp_set_servers" && self.cast.reply(subtype).is_some() {
            return Some(self.set_servers(&request["servers"]));
        }
        if self.cast.lacks_request(subtype) {
            return None;
        }
        Some(match subtype {
            "get_settings" => {
                let reply = self.cast.reply(subtype).cloned().unwrap_or_default();
                success(self.settings.report(reply["applied"].clone()))
            }
            "apply_flag_settings" => {
                self.settings.apply_flag(request["settings"].clone());
                let flag = self.settings.of(Source::Flag).cloned().unwrap_or_default();
                self.permissions.replace_settings(Source::Flag, &flag);
                bare()
            }
            "list_permission_rules" => success(self.permissions.listing()),
            "get_plan" => success(match (&self.plan, &self.plan_file) {
                (Some(plan), Some(path)) => json!({"exists": true, "content": plan, "path": path}),
                _ => json!({"exists": false}),
            }),
            "get_session_cost" => {
                let (cost, seconds) = (self.total.cost(), self.now.as_secs());
                let text = format!(
                    "Total cost: ${cost:.4}\nTotal duration (API): 0s\nTotal duration (wall): {seconds}s"
                );
                success(json!({"text": text}))
            }
            "get_usage" => success(self.usage()),
            "rename_session" => self.rename(&text("title")),
            "stop_task" => {
                self.stop_task(&text("task_id"));
                success(json!({}))
            }
            "get_task_output" => self.task_output(&text("task_id")),
            "export_conversation" => success(self.exported()),
            "read_file" => self.look(line, how, Look::ReadFile { path: text("path") }),
            "seed_read_state" => {
                let mtime = request["mtime"].as_u64().unwrap_or_default();
                let path = text("path");
                self.look(line, how, Look::SeedRead { path, mtime })
            }
            "rewind_files" => {
                let dry_run = request["dry_run"] == true;
                let message = text("user_message_id");
                self.look(line, how, Look::Rewind { message, dry_run })
            }
            _ => return None,
        })
    }

    fn look(&mut self, line: &Value, how: &How, look: Look) -> Performed {
        let serial = self.next_call;
        self.next_call += 1;
        self.pending.push(Pending {
            serial,
            line: line.clone(),
            how: how.clone(),
        });
        let deed = Deed(DeedKind::Look(look));
        self.out.push(Output::Do { serial, deed });
        silence()
    }

    /// A look at files has an answer.
    pub(super) fn looked(&mut self, serial: u64, reply: &Result<Value, String>) {
        let performed = match reply {
            Ok(Value::Null) => bare(),
            Ok(body) => success(body.clone()),
            Err(text) => error(json!({"error": text})),
        };
        let waits = |pending: &Pending| pending.serial == serial;
        if let Some(index) = self.pending.iter().position(waits) {
            let pending = self.pending.remove(index);
            self.say_replies(&pending.line, &pending.how, performed.replies);
        }
    }

    fn set_servers(&mut self, servers: &Value) -> Performed {
        let wanted = servers.as_object().cloned().unwrap_or_default();
        let mut errors = json!({});
        let mut names = Vec::new();
        for (name, config) in wanted {
            if config["type"] == "sdk" {
                names.push(name);
            } else {
                errors[name] = "the scripted CLI connects to servers of the host only".into();
            }
        }
        let before: Vec<String> = self.servers.names().map(str::to_owned).collect();
        let added: Vec<&String> = names.iter().filter(|name| !before.contains(name)).collect();
        let removed: Vec<&String> = before.iter().filter(|name| !names.contains(name)).collect();
        let body = json!({"added": added, "removed": removed, "errors": errors});
        self.greet_servers(names);
        success(body)
    }

    fn usage(&self) -> Value {
        let mut body = self.cast.reply("get_usage").cloned().unwrap_or_default();
        let session = &mut body["session"];
        session["total_cost_usd"] = super::ledger::dollars(self.total.cost());
        let mut usage = self
            .cast
            .line("result")
            .remove("modelUsage")
            .unwrap_or_default();
        self.total.fill(&mut usage);
        session["model_usage"] = usage;
        body
    }

    fn rename(&mut self, title: &str) -> Performed {
        if let Some(scribe) = &mut self.scribe {
            scribe.renamed(title);
        }
        self.say_system(json!({"subtype": "session_title_changed", "title": title}));
        bare()
    }

    fn task_output(&self, id: &str) -> Performed {
        match self.tasks.iter().any(|task| task.id == id) {
            true => success(json!({"output": "", "total_bytes": 0, "truncated": false})),
            false => {
                let text = self.cast.error("get_task_output").unwrap_or("no such task");
                error(json!({"error": text}))
            }
        }
    }

    fn exported(&mut self) -> Value {
        let mut said = Vec::new();
        for message in &self.talk(MAIN).heard {
            let text = text_of(&message["content"]);
            if !text.is_empty() {
                let mark = if message["role"] == "user" {
                    '❯'
                } else {
                    '●'
                };
                said.push(format!("{mark} {text}"));
            }
        }
        let text = format!("\n{}", said.join("\n\n"));
        let mut body = self
            .cast
            .reply("export_conversation")
            .cloned()
            .unwrap_or_default();
        body["text"] = text.into();
        body
    }
}
