//! The CLI's questions to the host: how each is put, which are open, and who waits for the answer.
//!
//! Invariant: an answer counts once, for an open question only; what nobody waits for is let go.

use std::time::Duration;

use serde_json::{Value, json};

use super::Engine;
use super::fiber::Wait;
use super::lines::{apply, merge};
use crate::cli::scenario::{Asking, Question, Topic};

/// A question without an answer.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) serial: u64,
    pub(super) id: String,
    pub(super) kind: Kind,
    /// When the CLI gives up on it.
    pub(super) due: Option<Duration>,
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Permission,
    Hook,
    /// A command of the settings; the host knows nothing of it.
    Command,
    /// The scenario's own; nobody but the scenario waits for it.
    Free,
    Mcp,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// The `response` of the host's line.
    Said(Value),
    TimedOut,
    /// The host has closed stdin.
    Closed,
}

impl Engine {
    /// Puts a question of the scenario; gives back what is to be waited for.
    pub(super) fn ask(&mut self, talk: u64, question: Question, asking: &Asking) -> Wait {
        let Question {
            topic,
            name,
            body,
            gives,
        } = question;
        Wait::Answer(match topic {
            Topic::Tool => {
                let call = self.ask_outright(talk, name, body, gives, asking);
                return Wait::Calls(vec![call]);
            }
            Topic::Hook => self.put_hooks(talk, &name, &body, asking, Kind::Free),
            Topic::Mcp => vec![self.put_mcp(&name, body, asking, Kind::Free)],
            Topic::Request => vec![self.put(&name, body, asking, Kind::Free)],
        })
    }

    /// One JSON-RPC message to a server of the host.
    pub(super) fn put_mcp(
        &mut self,
        server: &str,
        mut message: Value,
        asking: &Asking,
        kind: Kind,
    ) -> u64 {
        message["jsonrpc"] = "2.0".into();
        let method = message["method"].as_str().unwrap_or_default();
        let is_call = method == "tools/call";
        if !method.starts_with("notifications/") && message.get("id").is_none() {
            let id = self.servers.next_id(server);
            message["id"] = id.into();
            if is_call && message["params"].get("_meta").is_some() {
                message["params"]["_meta"]["progressToken"] = id.into();
            }
        }
        if let Some(config) = self.servers.process(server) {
            return self.send_to_process(server, config, message);
        }
        let body = json!({"server_name": server, "message": message});
        self.put("mcp_message", body, asking, kind)
    }

    pub(super) fn put(&mut self, subtype: &str, body: Value, asking: &Asking, kind: Kind) -> u64 {
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
        if kind == Kind::Permission {
            self.say_state("requires_action");
        }
        self.say_value(&json!({
            "type": "control_request", "request_id": id, "request": request,
        }));
        let serial = self.next_question;
        self.next_question += 1;
        let due = None;
        self.open.push(Open {
            serial,
            id,
            kind,
            due,
        });
        serial
    }

    pub(super) fn is_open(&self, serial: u64) -> bool {
        self.open.iter().any(|open| open.serial == serial)
    }

    /// The answer to a question that somebody waits for, once.
    pub(super) fn take_answer(&mut self, serial: u64) -> Option<Answer> {
        let index = self.answers.iter().position(|(of, _)| *of == serial)?;
        Some(self.answers.swap_remove(index).1)
    }

    /// The host answered something. An answer to no open question is ignored, as the CLI does.
    pub(super) fn answered(&mut self, line: &Value) {
        let envelope = &line["response"];
        let Some(id) = envelope["request_id"].as_str() else {
            return;
        };
        let Some(index) = self.open.iter().position(|open| open.id == id) else {
            return;
        };
        if self.flags.has("--replay-user-messages") {
            self.say_value(line);
        }
        let open = self.open.remove(index);
        self.answered += 1;
        if open.kind == Kind::Permission && !self.is_asking() {
            self.say_state("running");
        }
        if open.kind != Kind::Free {
            self.answers
                .push((open.serial, Answer::Said(envelope.clone())));
        }
    }

    pub(super) fn is_asking(&self) -> bool {
        self.open.iter().any(|open| open.kind == Kind::Permission)
    }

    /// Questions whose time is over are taken back.
    pub(super) fn give_up_late(&mut self) {
        let now = self.now;
        let late = |open: &Open| open.due.is_some_and(|due| due <= now);
        while let Some(index) = self.open.iter().position(late) {
            let open = self.open.remove(index);
            self.say_cancel(&open.id);
            self.answers.push((open.serial, Answer::TimedOut));
        }
    }

    /// Takes back one question by its name or id.
    pub(super) fn cancel(&mut self, name: &str) {
        let labelled = self.labels.iter().rev().find(|(label, _)| label == name);
        let id = labelled.map_or_else(|| name.to_owned(), |(_, id)| id.clone());
        let index = self.open.iter().position(|open| open.id == id);
        if let Some(index) = index {
            let open = self.open.remove(index);
            self.calls.retain(|call| !call.waits_for(open.serial));
        }
        self.say_cancel(&id);
    }

    /// Takes back a question that is answered otherwise.
    pub(super) fn take_back(&mut self, serial: u64) {
        if let Some(index) = self.open.iter().position(|open| open.serial == serial) {
            let open = self.open.remove(index);
            if open.kind != Kind::Command {
                self.say_cancel(&open.id);
            }
        }
    }

    fn say_cancel(&mut self, id: &str) {
        self.say_value(&json!({"type": "control_cancel_request", "request_id": id}));
    }

    /// Takes back every question.
    pub(super) fn withdraw_questions(&mut self) {
        for open in std::mem::take(&mut self.open) {
            if open.kind != Kind::Command {
                self.say_cancel(&open.id);
            }
        }
    }

    /// The host has closed stdin: no answer can come any more.
    pub(super) fn close_questions(&mut self) {
        let (kept, open): (Vec<Open>, Vec<Open>) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|open| open.kind == Kind::Command);
        self.open = kept;
        for open in open {
            if open.kind != Kind::Free {
                self.answers.push((open.serial, Answer::Closed));
            }
        }
    }
}
