//! What is written down of the conversation, so that it can be resumed: every line goes to the scribe as it is said.

use std::time::Duration;

use serde_json::{Value, json};

use super::Engine;
use super::Launch;
use super::call::Call;
use super::deed::{Deed, Kind};
use super::ledger::Spent;
use super::report::Report;
use super::talk::{MAIN, Message};
use super::turn::UserMessage;
use crate::cli::args::Flags;
use crate::cli::disk::{AgentNote, Aside, Head, Moment, Scribe, Written};
use crate::cli::version::Version;

/// A block that is written down when its message is complete.
#[derive(Debug)]
pub(super) struct Noted {
    message: Value,
    uuid: String,
    at: Duration,
}

/// The scribe of this run; none without a ground.
pub(super) fn scribe(
    launch: &Launch,
    flags: &Flags,
    session: &str,
    version: Version,
) -> Option<Scribe> {
    let ground = launch.ground.as_ref()?;
    let entrypoint = launch.env.get("CLAUDE_CODE_ENTRYPOINT");
    let head = Head {
        session: session.to_owned(),
        cwd: launch.cwd.clone(),
        version: version.to_string(),
        git_branch: ground.git_branch.clone(),
        entrypoint: entrypoint.map_or("sdk-cli", String::as_str).to_owned(),
    };
    let mut scribe = match &ground.past {
        Some(past) if past.session_id == session => Scribe::resumed(&ground.places, head, past),
        Some(past) => Scribe::forked(&ground.places, head, past),
        None => Scribe::new(
            &ground.places,
            head,
            flags.value("--name").filter(|name| !name.is_empty()),
        ),
    };
    scribe.kept = !flags.has("--no-session-persistence");
    Some(scribe)
}

impl Engine {
    fn at(&self) -> Duration {
        self.wall + self.now
    }

    /// Hands over what the scribe wants to have written.
    pub(super) fn hand_in_notes(&mut self) {
        let written = self.scribe.as_mut().map(Scribe::take).unwrap_or_default();
        for written in written {
            self.mirror(&written);
            let deed = Deed(Kind::Written(written));
            self.order(deed);
        }
    }

    /// What is appended to a transcript, for a host that keeps sessions elsewhere.
    fn mirror(&mut self, written: &Written) {
        let Written::Append { path, text } = written else {
            return;
        };
        if !self.flags.has("--session-mirror") {
            return;
        }
        let entries: Vec<Value> = (text.lines())
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let path = path.to_string_lossy();
        self.say_value(&json!({
            "type": "transcript_mirror", "filePath": path, "entries": entries,
        }));
    }

    /// A block of the model, kept until its message is complete.
    pub(super) fn note_block(&mut self, talk: u64, line: &Value) {
        if self.scribe.is_none() {
            return;
        }
        let noted = Noted {
            message: line["message"].clone(),
            uuid: uuid_of(line).to_owned(),
            at: self.at(),
        };
        if let Some(message) = &mut self.talk(talk).message {
            message.noted.push(noted);
        }
    }

    /// A message of the model is complete.
    pub(super) fn note_message(
        &mut self,
        talk: u64,
        message: Message,
        spent: &Spent,
        reason: Option<&str>,
    ) {
        let agent = self.agent_id(talk);
        let Some(scribe) = &mut self.scribe else {
            return;
        };
        let mut noted = message.noted;
        for block in &mut noted {
            block.message["stop_reason"] = reason.into();
            spent.fill_usage(&mut block.message["usage"]);
        }
        let said = noted.iter().map(|block| {
            let moment = Moment {
                uuid: &block.uuid,
                at: block.at,
            };
            (moment, &block.message)
        });
        scribe.said(agent.as_deref(), said);
    }

    /// Tells the scribe, if there is one, of a record with this id.
    fn note(&mut self, uuid: &str, tell: impl FnOnce(&mut Scribe, Moment<'_>)) {
        let at = self.at();
        if let Some(scribe) = &mut self.scribe {
            tell(scribe, Moment { uuid, at });
        }
    }

    fn agent_id(&self, talk: u64) -> Option<String> {
        self.agent(talk).map(|agent| agent.task_id.clone())
    }

    /// A user line that the CLI itself said, other than a report.
    pub(super) fn note_aside(&mut self, talk: u64, line: &Value) {
        let agent = self.agent_id(talk);
        let aside = match line["isSynthetic"] == true {
            true => Aside::Meta,
            false => Aside::Plain,
        };
        self.note(uuid_of(line), |scribe, moment| {
            scribe.aside(agent.as_deref(), moment, &line["message"], aside);
        });
    }

    /// The report of a call.
    pub(super) fn note_report(&mut self, call: &Call, report: &Report, line: &Value) {
        let agent = self.agent_id(call.talk);
        self.note(uuid_of(line), |scribe, moment| {
            let (id, message) = (&call.tool_use_id, &line["message"]);
            scribe.reported(agent.as_deref(), moment, id, message, &report.structured);
        });
    }

    /// A message of the user begins or joins the turn.
    pub(super) fn note_user(&mut self, message: &UserMessage) {
        let uuid = message.id.clone();
        self.order(Deed(Kind::Checkpoint {
            message: uuid.clone(),
        }));
        let prompt_id = self.turn.as_ref().map(|turn| turn.prompt_id.clone());
        let prompt_id = prompt_id.unwrap_or_default();
        let content = json!({
            "role": "user", "content": message.line["message"]["content"],
        });
        let Some((_, call)) = self.called(&message.prompt()) else {
            return self.note_prompt(&uuid, &prompt_id, &content, true);
        };
        let content = json!({"role": "user", "content": call});
        self.note_prompt(&uuid, &prompt_id, &content, false);
        if let Some(text) = self.text_of_command(&message.prompt()) {
            let told = json!({"role": "user", "content": [{"type": "text", "text": text}]});
            let companion = self.ids.uuid();
            self.note(&companion, |scribe, moment| {
                scribe.aside(None, moment, &told, Aside::Meta);
            });
        }
    }

    /// The CLI begins a turn because a task has ended.
    pub(super) fn note_task(&mut self, text: &str) {
        let uuid = self.ids.uuid();
        let prompt_id = self.turn.as_ref().map(|turn| turn.prompt_id.clone());
        let content = json!({"role": "user", "content": text});
        self.note_prompt(&uuid, &prompt_id.unwrap_or_default(), &content, false);
    }

    fn note_prompt(&mut self, uuid: &str, id: &str, message: &Value, typed: bool) {
        let (at, ids) = (self.at(), &mut self.ids);
        if let Some(scribe) = &mut self.scribe {
            let moment = Moment { uuid, at };
            scribe.prompt(moment, id, message, typed, &mut || ids.uuid());
        }
    }

    pub(super) fn note_agent(&mut self, talk: u64) {
        let Some(agent) = self.agent(talk).cloned() else {
            return;
        };
        if let Some(scribe) = &mut self.scribe {
            let note = AgentNote {
                kind: agent.kind,
                description: agent.description,
                tool_use_id: agent.tool_use_id,
            };
            scribe.agent_started(&agent.task_id, &note);
        }
    }

    pub(super) fn note_turn_end(&mut self) {
        if let Some(scribe) = &mut self.scribe {
            scribe.turn_ended();
        }
    }

    pub(super) fn note_failure(&mut self, line: &Value) {
        self.note(uuid_of(line), |scribe, moment| {
            scribe.failed(moment, &line["message"], &line["error"]);
        });
    }

    /// A message joins the turn that is running.
    pub(super) fn note_absorbed(&mut self, message: &UserMessage) {
        let attachment = json!({
            "type": "queued_command", "prompt": message.prompt(), "commandMode": "prompt",
        });
        let uuid = self.ids.uuid();
        let line = json!({"type": "attachment", "attachment": attachment});
        self.note(&uuid, |scribe, moment| scribe.record(None, moment, line));
    }

    /// The model was told something by a hook.
    pub(super) fn note_context(&mut self, talk: u64, event: &str, text: &str) {
        let (agent, uuid) = (self.agent_id(talk), self.ids.uuid());
        let attachment = json!({
            "type": "hook_additional_context", "content": [text], "hookEvent": event,
        });
        let line = json!({"type": "attachment", "attachment": attachment});
        self.note(&uuid, |scribe, moment| {
            scribe.record(agent.as_deref(), moment, line)
        });
    }

    /// The CLI carried out a command itself.
    pub(super) fn note_command(&mut self, output: &str) {
        let uuid = self.ids.uuid();
        let content = format!("<local-command-stdout>{output}</local-command-stdout>");
        let line = json!({"type": "system", "subtype": "local_command", "content": content});
        self.note(&uuid, |scribe, moment| scribe.record(None, moment, line));
    }

    /// The conversation goes on from a summary.
    pub(super) fn note_compacted(&mut self, boundary: &Value, summary: &str) {
        let metadata = json!({
            "trigger": boundary["compact_metadata"]["trigger"],
            "preTokens": boundary["compact_metadata"]["pre_tokens"],
        });
        self.note(uuid_of(boundary), |scribe, moment| {
            scribe.compacted(moment, &metadata)
        });
        let message = json!({"role": "user", "content": summary});
        let uuid = self.ids.uuid();
        self.note(&uuid, |scribe, moment| {
            scribe.aside(None, moment, &message, Aside::Summary);
        });
    }

    /// A new conversation begins under a new id.
    pub(super) fn note_cleared(&mut self) {
        let session = self.session.clone();
        if let Some(scribe) = &mut self.scribe {
            scribe.cleared(&session);
        }
    }

    /// The process ends in order.
    pub(super) fn note_end(&mut self) {
        let mut model_usage = self
            .cast
            .line("result")
            .remove("modelUsage")
            .unwrap_or_default();
        self.total.fill(&mut model_usage);
        let total = self.total.cost();
        if let Some(scribe) = &mut self.scribe {
            scribe.ended(total, &model_usage);
        }
    }

    pub(super) fn transcript_path(&self) -> String {
        match &self.scribe {
            Some(scribe) => scribe.path().to_string_lossy().into_owned(),
            None => format!("{}/{}.jsonl", self.project_dir, self.session),
        }
    }

    /// Where a sub-agent's own transcript lies: below a folder beside the session's.
    pub(super) fn agent_transcript_path(&self, id: &str) -> String {
        let session = self.transcript_path();
        let folder = session.strip_suffix(".jsonl").unwrap_or(&session);
        format!("{folder}/subagents/agent-{id}.jsonl")
    }

    /// What was said before, of a session that goes on.
    pub(super) fn recall(&mut self, launch: &Launch) {
        let past = launch
            .ground
            .as_ref()
            .and_then(|ground| ground.past.as_ref());
        if let Some(cost) = past.and_then(|past| past.cost.as_ref()) {
            self.total = super::ledger::Ledger::recall(&cost["modelUsage"]);
        }
        for message in past.into_iter().flat_map(|past| &past.messages) {
            let content = match &message.content {
                Value::String(text) => json!([{"type": "text", "text": text}]),
                content => content.clone(),
            };
            let heard = json!({"role": message.role, "content": content});
            self.talk(MAIN).heard.push(heard);
        }
    }
}

fn uuid_of(line: &Value) -> &str {
    line["uuid"].as_str().unwrap_or_default()
}
