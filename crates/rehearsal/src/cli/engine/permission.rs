//! Whether a call may be run: what the callbacks, the rules and the host say, in this order.
//!
//! Invariant: an answer that cannot be understood, or that never comes, refuses the call.

use serde_json::{Value, json};

use super::Engine;
use super::ask::{Answer, Kind};
use super::call::Stage;
use super::hooks::{Decision, Heard};
use super::report::{Ending, Report, display_name};
use crate::cli::act;
use crate::cli::permissions::{self, Decision as Ruling, Mcp, Refusal, answered_meta};
use crate::cli::scenario::Asking;
use crate::cli::verdict::{self, Verdict};

impl Engine {
    /// The callbacks before the tool have spoken.
    pub(super) fn judge(&mut self, index: usize, heard: Heard) {
        self.say_hook_messages(&heard);
        if let Some(input) = &heard.updated_input {
            self.calls[index].input = input.clone();
        }
        let call = &self.calls[index];
        let event = format!("PreToolUse:{}", call.name);
        if let Some(silence) = heard.silence {
            let text = match silence {
                Answer::TimedOut => format!("{event} hook did not respond before its timeout"),
                _ => verdict::CLOSED.to_owned(),
            };
            return self.report(index, Report::refusal(text));
        }
        match heard.decision {
            Decision::Deny => {
                let reason = heard.reason.unwrap_or_default();
                let report = Report::refusal(format!("{event} hook error: {reason}"));
                self.calls[index].decision = json!({
                    "decision": "reject", "source": "hook", "reason_type": "hook",
                });
                self.report(index, report);
            }
            decision => self.follow_rules(index, decision, heard.reason.as_deref()),
        }
    }

    fn follow_rules(&mut self, index: usize, decision: Decision, reason: Option<&str>) {
        let call = &self.calls[index];
        let found = self.servers.of_tool(&call.name);
        let named = permissions::Call {
            tool: &call.name,
            input: &call.input,
            mcp: found.map(|(server, tool)| Mcp {
                server: &server.name,
                read_only: tool["annotations"]["readOnlyHint"] == true,
            }),
        };
        let shown = found.map(|(_, tool)| display_name(tool));
        let ruling = match decision {
            Decision::Allow => self.permissions.hook_allows(&named),
            Decision::Ask => self.permissions.ask_because(&named, reason),
            _ => self.permissions.decide(&named),
        };
        match ruling {
            Ruling::Run(accepted) => {
                self.calls[index].decision = accepted.meta()["permission_decision"].clone();
                self.act(index);
            }
            Ruling::Refuse(refusal) => {
                let may_answer = self.has_hooks("PermissionRequest", &self.calls[index].name);
                match self.as_asked(index).filter(|_| may_answer) {
                    Some(body) => self.ask_hooks_only(index, body, refusal),
                    None => self.refuse_by_rule(index, &refusal),
                }
            }
            Ruling::Ask(mut body) => {
                if let Some(shown) = shown {
                    body["display_name"] = shown.into();
                }
                self.ask_permission(index, body);
            }
        }
    }

    /// What the host would be asked if there were one.
    fn as_asked(&mut self, index: usize) -> Option<Value> {
        let call = &self.calls[index];
        self.permissions.would_ask(&permissions::Call {
            tool: &call.name,
            input: &call.input,
            mcp: None,
        })
    }

    /// There is no host to ask, but callbacks that may answer in its place.
    fn ask_hooks_only(&mut self, index: usize, body: Value, refusal: Refusal) {
        let hooks = self.put_permission_hooks(index, &body);
        self.calls[index].refusal = Some(refusal);
        self.calls[index].stage = Stage::Asked {
            question: u64::MAX,
            hooks,
        };
    }

    fn put_permission_hooks(&mut self, index: usize, body: &Value) -> Vec<u64> {
        let call = &self.calls[index];
        let talk = call.talk;
        let mut fields = self.tool_fields(call);
        if let Some(fields) = fields.as_object_mut() {
            fields.remove("tool_use_id");
        }
        if let Some(suggestions) = body.get("permission_suggestions") {
            fields["permission_suggestions"] = suggestions.clone();
        }
        self.ask_hooks(talk, "PermissionRequest", &fields)
    }

    /// Asks the host, and at the same moment the callbacks that may answer in its place.
    fn ask_permission(&mut self, index: usize, body: Value) {
        let hooks = self.put_permission_hooks(index, &body);
        self.put_permission(index, body, hooks, &Asking::default());
    }

    pub(super) fn put_permission(
        &mut self,
        index: usize,
        mut body: Value,
        hooks: Vec<u64>,
        asking: &Asking,
    ) {
        let call = &self.calls[index];
        body["tool_name"] = call.name.clone().into();
        body["input"] = call.input.clone();
        body["tool_use_id"] = call.tool_use_id.clone().into();
        if let Some(agent) = self.agent(call.talk) {
            body["agent_id"] = agent.task_id.clone().into();
        }
        if self.heeds_eof() {
            self.report(index, Report::refusal(verdict::CLOSED));
            return;
        }
        let question = self.put("can_use_tool", body, asking, Kind::Permission);
        self.calls[index].stage = Stage::Asked { question, hooks };
    }

    /// The host's answer, or a callback's that came first.
    pub(super) fn hear_permission(&mut self, index: usize, question: u64, hooks: &[u64]) -> bool {
        if let Some(answer) = self.take_answer(question) {
            for hook in hooks {
                self.take_back(*hook);
            }
            match answer {
                Answer::Said(envelope) => self.hear_host(index, &envelope),
                Answer::Closed | Answer::TimedOut => {
                    self.report(index, Report::refusal(verdict::CLOSED));
                }
            }
            return true;
        }
        if hooks.is_empty() {
            return false;
        }
        let Some(heard) = self.take_heard(hooks) else {
            return false;
        };
        if let Stage::Asked { hooks, .. } = &mut self.calls[index].stage {
            hooks.clear();
        }
        let Some(permission) = heard.permission else {
            if let Some(refusal) = self.calls[index].refusal.take() {
                self.refuse_by_rule(index, &refusal);
            }
            return true;
        };
        self.take_back(question);
        let envelope = json!({"subtype": "success", "response": permission});
        self.hear_host(index, &envelope);
        true
    }

    /// The host allowed the call with an input that the tool does not take.
    fn refuse_given(&mut self, index: usize, fault: &str) {
        let name = &self.calls[index].name;
        let told = format!(
            "<tool_use_error>The permission handler returned updatedInput for {name} that failed schema validation: {name} failed due to the following issue:\n{fault}</tool_use_error>"
        );
        let structured = format!(
            "InputValidationError: permission handler updatedInput failed schema for {name}"
        );
        self.calls[index].decision =
            json!({"decision": "reject", "source": "permission_updated_input_invalid"});
        let report = Report {
            structured: structured.into(),
            ..Report::error(told)
        };
        self.report(index, report);
    }

    fn hear_host(&mut self, index: usize, envelope: &Value) {
        match verdict::verdict(envelope) {
            Verdict::Run { updates } => {
                let input = verdict::input(envelope, &self.calls[index].input);
                let name = &self.calls[index].name;
                if let Some(fault) = act::fault_of_given(name, &input) {
                    return self.refuse_given(index, &fault);
                }
                self.calls[index].input = input;
                self.calls[index].decision = answered_meta(true)["permission_decision"].clone();
                self.take_updates(&updates);
                self.act(index);
            }
            Verdict::Refuse { text, stop } => {
                let mut report = if stop {
                    Report::rejected(&text)
                } else {
                    self.calls[index].decision =
                        answered_meta(false)["permission_decision"].clone();
                    Report::refusal(text)
                };
                report.ending = stop.then_some(Ending::Interrupted);
                self.report(index, report);
            }
        }
    }
}
