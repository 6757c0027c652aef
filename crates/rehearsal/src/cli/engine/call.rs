//! A tool call on its way: hooks, rules, the host's word, the deed, hooks again, the report.
//!
//! Owns the order of these stages and nothing of what a tool does. Invariant: nothing is done before the rules, a hook or
//! the host allowed it, and every call ends in exactly one report.

use std::time::Duration;

use serde_json::{Value, json};

use super::deed::{Deed, Kind};
use super::hooks::{Decision, Heard};
use super::report::{Ending, Report, remote_report};
use super::{Engine, Output};
use crate::cli::act::{self, Ran};
use crate::cli::permissions::Refusal;
use crate::cli::scenario::{Asking, Calling, Gives, Steps};
use crate::cli::verdict;

#[derive(Debug)]
pub(super) struct Call {
    pub(super) serial: u64,
    pub(super) talk: u64,
    /// Calls of one message have the same.
    pub(super) batch: u64,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) tool_use_id: String,
    /// What it reports instead of acting.
    pub(super) gives: Option<Gives>,
    /// A call of `ask`: no rules and no callbacks, unless the scenario has them.
    pub(super) outright: bool,
    /// What its sub-agent does, where a scenario says so.
    pub(super) errand: Option<Steps>,
    pub(super) stage: Stage,
    /// How it came to be allowed or not, as the report tells.
    pub(super) decision: Value,
    pub(super) began: Duration,
    /// What it is refused with if no callback answers in place of a host that is not there.
    pub(super) refusal: Option<Refusal>,
}

/// Where a call is.
#[derive(Debug)]
pub(super) enum Stage {
    /// For the calls before it.
    Waiting,
    /// For the shell, which looks whether it can be run at all.
    Checking,
    /// For callbacks before the tool.
    Before(Vec<u64>),
    /// For the host, and for callbacks that may answer in its place.
    Asked {
        question: u64,
        hooks: Vec<u64>,
    },
    /// For the shell.
    Acting,
    /// For a server of the host.
    Remote(u64),
    /// For a sub-agent.
    Delegated,
    /// For callbacks after the tool.
    After(Vec<u64>, Box<Report>),
    Done,
}

impl Call {
    pub(super) fn waits_for(&self, question: u64) -> bool {
        matches!(&self.stage, Stage::Asked { question: of, .. } if *of == question)
    }

    fn runs_beside_others(&self) -> bool {
        matches!(self.name.as_str(), "Task" | "Agent")
            || act::runs_beside_others(&self.name, &self.input)
    }

    fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }
}

impl Engine {
    /// Says one call of a message, which may begin before the next is said; gives back its serial.
    pub(super) fn say_call(
        &mut self,
        talk: u64,
        batch: u64,
        calling: Calling,
        errand: Option<Steps>,
    ) -> u64 {
        let tool_use_id = self.ids.tool_use();
        let said = calling.input.to_string().len();
        let input = self.shown_input(&calling.name, calling.input);
        let block = json!({
            "type": "tool_use", "id": tool_use_id, "name": calling.name, "input": input,
        });
        if self.agent(talk).is_some_and(|agent| !agent.background) {
            self.say_progress(talk, &calling.name, &input);
            self.say_block(talk, block, &Default::default());
        } else {
            self.say_block(talk, block, &Default::default());
            self.say_progress(talk, &calling.name, &input);
        }
        // What the CLI adds to the model's words does not count as said.
        let shown = input.to_string().len();
        if let Some(message) = &mut self.talk(talk).message {
            message.bytes = (message.bytes + said).saturating_sub(shown);
        }
        let serial = self.push_call(talk, batch, calling.name, input, tool_use_id);
        if let Some(call) = self.calls.last_mut() {
            call.gives = calling.gives;
            call.errand = errand;
        }
        serial
    }

    /// All calls of the message are said. Says whether they may go on.
    pub(super) fn end_calls(&mut self, talk: u64, serials: &[u64]) -> bool {
        self.close_message(talk, "tool_use");
        let goes_on = self.within_budget();
        if !goes_on {
            self.calls.retain(|call| !serials.contains(&call.serial));
        }
        goes_on
    }

    /// Whether a call is on its way: it waits for nobody but the shell.
    pub(super) fn is_setting_out(&self, serial: u64) -> bool {
        let index = self.calls.iter().position(|call| call.serial == serial);
        index.is_some_and(|index| match self.calls[index].stage {
            Stage::Waiting => self.may_start(index),
            Stage::Checking => true,
            _ => false,
        })
    }

    fn push_call(&mut self, talk: u64, batch: u64, name: String, input: Value, id: String) -> u64 {
        let serial = self.next_call;
        self.next_call += 1;
        self.talk(talk).tools_used.push(name.clone());
        self.calls.push(Call {
            serial,
            talk,
            batch,
            name,
            input,
            tool_use_id: id,
            gives: None,
            outright: false,
            errand: None,
            stage: Stage::Waiting,
            decision: Value::Null,
            began: self.now,
            refusal: None,
        });
        serial
    }

    /// A call of `ask`: the scenario says that it is asked about and what it gives.
    pub(super) fn ask_outright(
        &mut self,
        talk: u64,
        name: String,
        input: Value,
        gives: Option<String>,
        asking: &Asking,
    ) -> u64 {
        let tool_use_id = self.ids.tool_use();
        let block = json!({
            "type": "tool_use", "id": tool_use_id, "name": name, "input": input,
        });
        self.say_block(talk, block, &Default::default());
        let edits = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
        let mut body = json!({"permission_suggestions": [edits]});
        body["display_name"] = name.clone().into();
        if let Some(description) = input.get("description") {
            body["description"] = description.clone();
        }
        let text = gives.unwrap_or_else(|| format!("{name} was run with ${{input}}"));
        let batch = self.next_call;
        let serial = self.push_call(talk, batch, name, input, tool_use_id);
        if let Some(call) = self.calls.last_mut() {
            call.gives = Some(Gives::Text(text));
            call.outright = true;
        }
        self.close_message(talk, "tool_use");
        let index = self.calls.len() - 1;
        self.put_permission(index, body, Vec::new(), asking);
        serial
    }

    pub(super) fn is_running(&self, serial: u64) -> bool {
        let call = self.calls.iter().find(|call| call.serial == serial);
        call.is_some_and(|call| !call.is_done())
    }

    /// Moves every call that can move. Says whether one did.
    pub(super) fn advance_calls(&mut self) -> bool {
        let mut moved = false;
        let mut serials: Vec<u64> = self.calls.iter().map(|call| call.serial).collect();
        while let Some(serial) = (!serials.is_empty()).then(|| serials.remove(0)) {
            while !self.over
                && let Some(index) = self.calls.iter().position(|call| call.serial == serial)
                && self.advance_call(index)
            {
                moved = true;
            }
        }
        self.calls.retain(|call| !call.is_done());
        moved
    }

    fn advance_call(&mut self, index: usize) -> bool {
        match &self.calls[index].stage {
            Stage::Waiting if self.may_start(index) => {
                self.begin_call(index);
                true
            }
            Stage::Before(serials) => {
                let serials = serials.clone();
                let Some(heard) = self.take_heard(&serials) else {
                    return false;
                };
                self.judge(index, heard);
                true
            }
            Stage::Asked { question, hooks } => {
                let (question, hooks) = (*question, hooks.clone());
                self.hear_permission(index, question, &hooks)
            }
            Stage::Remote(question) => {
                let Some(answer) = self.take_answer(*question) else {
                    return false;
                };
                self.acted(index, remote_report(answer));
                true
            }
            Stage::After(serials, _) => {
                let serials = serials.clone();
                let Some(heard) = self.take_heard(&serials) else {
                    return false;
                };
                self.finish_call(index, heard);
                true
            }
            Stage::Waiting | Stage::Checking | Stage::Acting | Stage::Delegated | Stage::Done => {
                false
            }
        }
    }

    /// Calls that change something run one at a time, in order; those that only look run side by side.
    fn may_start(&self, index: usize) -> bool {
        let call = &self.calls[index];
        let before = self.calls[..index].iter();
        let mut before = before.filter(|other| other.batch == call.batch && !other.is_done());
        match before.clone().next() {
            None => true,
            Some(_) => call.runs_beside_others() && before.all(Call::runs_beside_others),
        }
    }

    fn begin_call(&mut self, index: usize) {
        self.calls[index].began = self.now;
        let (name, input) = (
            self.calls[index].name.clone(),
            self.calls[index].input.clone(),
        );
        if self.calls[index].gives.is_none()
            && let Some(problem) = self.unavailable(self.calls[index].talk, &name)
        {
            self.report(index, problem);
            return;
        }
        if self.calls[index].gives.is_some() || name.starts_with("mcp__") {
            return self.ask_before(index);
        }
        match act::accept(&name, &input) {
            Ok(input) => {
                let input = self.permissions.settle(&name, input);
                self.calls[index].input = input.clone();
                self.calls[index].stage = Stage::Checking;
                let serial = self.calls[index].serial;
                let deed = Deed(Kind::Check { name, input });
                self.out.push(Output::Do { serial, deed });
            }
            Err(refused) => {
                self.report(index, Report::of(&refused));
            }
        }
    }

    /// The shell has looked whether the call can be run at all.
    pub(super) fn checked(&mut self, index: usize, problem: Option<&Ran>) {
        if !matches!(self.calls[index].stage, Stage::Checking) {
            return;
        }
        match problem {
            None => self.ask_before(index),
            Some(ran) => {
                let report = Report::of(ran);
                self.report(index, report);
            }
        }
    }

    /// Asks the callbacks before the tool.
    fn ask_before(&mut self, index: usize) {
        let call = &self.calls[index];
        let (talk, fields) = (call.talk, self.tool_fields(call));
        let serials = self.ask_hooks(talk, "PreToolUse", &fields);
        self.calls[index].stage = Stage::Before(serials);
    }

    pub(super) fn tool_fields(&self, call: &Call) -> Value {
        json!({
            "tool_name": call.name, "tool_input": call.input, "tool_use_id": call.tool_use_id,
        })
    }

    /// The deed is done, or was a question itself: callbacks after the tool, then the report.
    pub(super) fn acted(&mut self, index: usize, report: Report) {
        let call = &self.calls[index];
        let talk = call.talk;
        let mut fields = self.tool_fields(call);
        let elapsed = self.now.saturating_sub(call.began).as_millis();
        let failed = report.is_error == Some(true);
        let event = if failed {
            "PostToolUseFailure"
        } else {
            "PostToolUse"
        };
        if failed {
            fields["error"] = report.plain_text().into();
            fields["is_interrupt"] = false.into();
        } else {
            fields["tool_response"] = match &report.structured {
                Value::Null => report.content.clone(),
                structured => structured.clone(),
            };
        }
        fields["duration_ms"] = u64::try_from(elapsed).unwrap_or_default().into();
        let serials = self.ask_hooks(talk, event, &fields);
        self.calls[index].stage = Stage::After(serials, Box::new(report));
    }

    fn finish_call(&mut self, index: usize, heard: Heard) {
        self.say_hook_messages(&heard);
        let stage = std::mem::replace(&mut self.calls[index].stage, Stage::Done);
        let Stage::After(_, report) = stage else {
            return;
        };
        let mut report = *report;
        if heard.stop.is_some() && report.ending.is_none() {
            report.ending = Some(Ending::Hook);
        }
        let talk = self.calls[index].talk;
        self.report(index, report);
        for context in heard.contexts {
            self.note_context(talk, "PostToolUse", &context);
            self.talk(talk)
                .hear(json!([{"type": "text", "text": context}]));
        }
        if heard.decision == Decision::Deny {
            let reason = heard.reason.unwrap_or_default();
            self.talk(talk)
                .hear(json!([{"type": "text", "text": reason}]));
        }
    }

    /// Ends every call that is under way, because the host interrupted.
    pub(super) fn interrupt_calls(&mut self) {
        let running: Vec<u64> = self.calls.iter().map(|call| call.serial).collect();
        for serial in running {
            let Some(index) = self.calls.iter().position(|call| call.serial == serial) else {
                continue;
            };
            if self.calls[index].is_done() || self.is_in_background(self.calls[index].talk) {
                continue;
            }
            if matches!(self.calls[index].stage, Stage::Acting) {
                self.out.push(Output::Abort { serial });
            }
            let asked = matches!(self.calls[index].stage, Stage::Asked { .. });
            let mut report = Report::rejected(verdict::STOCK);
            report.denied = asked;
            self.calls[index].decision = Value::Null;
            self.report(index, report);
            self.interrupted_in_tool = true;
        }
    }
}
