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
use crate::cli::disk::{
    AgentNote, Aside, Cost, Denial, Head, Moment, Origin, Prompt, Reported, Said, Scribe, Who,
    Written,
};
use crate::cli::version::Version;

/// A block that is written down when its message is complete.
#[derive(Debug)]
pub(super) struct Noted {
    message: Value,
    uuid: String,
    at: Duration,
    aborted: bool,
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
    let scribe = match &ground.past {
        Some(past) if past.session_id == session => Scribe::resumed(&ground.places, head, past),
        Some(past) => Scribe::forked(&ground.places, head, past),
        None => Scribe::new(&ground.places, head, flags.name.as_deref()),
    };
    Some(match flags.keeps_nothing {
        true => scribe.unkept(),
        false => scribe,
    })
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
        if !self.flags.mirrors {
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
            uuid: line["uuid"].as_str().unwrap_or_default().to_owned(),
            at: self.at(),
            aborted: line["aborted"] == true,
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
        let agent = self.agent(talk).map(|agent| agent.task_id.clone());
        let request = self.ids.request();
        let Some(scribe) = &mut self.scribe else {
            return;
        };
        let mut noted = message.noted;
        for block in &mut noted {
            block.message["stop_reason"] = reason.into();
            spent.fill_usage(&mut block.message["usage"]);
        }
        let said: Vec<Said<'_>> = noted
            .iter()
            .enumerate()
            .map(|(index, block)| Said {
                moment: Moment {
                    uuid: &block.uuid,
                    at: block.at,
                },
                message: &block.message,
                index,
                request: &request,
                effort: Some("medium"),
                aborted: block.aborted,
            })
            .collect();
        scribe.said(who(agent.as_deref()), &said);
    }

    /// A user line that the CLI itself said, other than a report.
    pub(super) fn note_aside(&mut self, talk: u64, line: &Value) {
        let (agent, at) = (
            self.agent(talk).map(|agent| agent.task_id.clone()),
            self.at(),
        );
        let aside = match line["isSynthetic"] == true {
            true => Aside::Meta,
            false => Aside::Plain,
        };
        if let Some(scribe) = &mut self.scribe {
            let uuid = line["uuid"].as_str().unwrap_or_default();
            scribe.aside(
                who(agent.as_deref()),
                Moment { uuid, at },
                &line["message"],
                aside,
            );
        }
    }

    /// The report of a call.
    pub(super) fn note_report(&mut self, call: &Call, report: &Report, line: &Value) {
        let (agent, at) = (
            self.agent(call.talk).map(|agent| agent.task_id.clone()),
            self.at(),
        );
        let denial = match report.not_run {
            Some("user-rejected") => Some(Denial::Interrupted),
            Some("permission-rule") if call.decision["source"] == "user_reject" => {
                Some(Denial::Host)
            }
            Some("permission-rule") => Some(Denial::Rule),
            _ => None,
        };
        if let Some(scribe) = &mut self.scribe {
            let uuid = line["uuid"].as_str().unwrap_or_default();
            let reported = Reported {
                tool: &call.name,
                tool_use_id: &call.tool_use_id,
                message: &line["message"],
                structured: Some(&report.structured).filter(|value| !value.is_null()),
                denial,
                decision: Some(&call.decision).filter(|value| !value.is_null()),
            };
            scribe.reported(who(agent.as_deref()), Moment { uuid, at }, &reported);
        }
    }

    /// A message of the user begins or joins the turn.
    pub(super) fn note_user(&mut self, message: &UserMessage) {
        let at = self.at();
        let named = message.uuid().is_some();
        let uuid = message.id.clone();
        self.order(Deed(Kind::Checkpoint {
            message: uuid.clone(),
        }));
        if let (Some(scribe), true) = (&mut self.scribe, self.flags_of_env.checkpoints) {
            scribe.remembered(&uuid, at, &json!({}));
        }
        let mode = self.permissions.mode().to_owned();
        let prompt_id = self.turn.as_ref().map(|turn| turn.prompt_id.clone());
        let prompt_id = prompt_id.unwrap_or_default();
        let content = json!({
            "role": "user", "content": message.line["message"]["content"],
        });
        let Some((name, call)) = self.called(&message.prompt()) else {
            let origin = Origin::Host { named };
            return self.note_prompt(&uuid, at, &prompt_id, &content, &mode, origin);
        };
        let content = json!({"role": "user", "content": call});
        let origin = Origin::Command { name: &name };
        self.note_prompt(&uuid, at, &prompt_id, &content, &mode, origin);
        let (companion, text) = (self.ids.uuid(), self.text_of_command(&message.prompt()));
        if let (Some(scribe), Some(text)) = (&mut self.scribe, text) {
            let told = json!({"role": "user", "content": [{"type": "text", "text": text}]});
            let moment = Moment {
                uuid: &companion,
                at,
            };
            scribe.aside(Who::Main, moment, &told, Aside::Companion);
        }
    }

    /// The CLI begins a turn because a task has ended.
    pub(super) fn note_task(&mut self, run: &str, text: &str) {
        let (at, uuid) = (self.at(), self.ids.uuid());
        let mode = self.permissions.mode().to_owned();
        let prompt_id = self.turn.as_ref().map(|turn| turn.prompt_id.clone());
        let prompt_id = prompt_id.unwrap_or_default();
        let content = json!({"role": "user", "content": text});
        self.note_prompt(&uuid, at, &prompt_id, &content, &mode, Origin::Task { run });
    }

    fn note_prompt(
        &mut self,
        uuid: &str,
        at: Duration,
        id: &str,
        message: &Value,
        mode: &str,
        origin: Origin<'_>,
    ) {
        let ids = &mut self.ids;
        if let Some(scribe) = &mut self.scribe {
            let prompt = Prompt {
                id,
                message,
                mode,
                origin,
            };
            scribe.prompt(Moment { uuid, at }, &prompt, &mut || ids.uuid());
        }
    }

    pub(super) fn note_queued(&mut self, message: &UserMessage) {
        let at = self.at();
        if let Some(scribe) = &mut self.scribe {
            scribe.enqueued(at, message.line["message"]["content"].as_str());
        }
    }

    pub(super) fn note_dequeued(&mut self) {
        let at = self.at();
        if let Some(scribe) = &mut self.scribe {
            scribe.dequeued(at);
        }
    }

    pub(super) fn note_agent(&mut self, talk: u64) {
        let Some(agent) = self.agent(talk).cloned() else {
            return;
        };
        let built_in = self.cast.line("init")["agents"]
            .as_array()
            .is_some_and(|known| known.iter().any(|name| *name == agent.kind.as_str()));
        let model = self.model.clone();
        if let Some(scribe) = &mut self.scribe {
            scribe.agent_started(
                &agent.task_id,
                AgentNote {
                    kind: agent.kind,
                    built_in,
                    description: agent.description,
                    tool_use_id: agent.tool_use_id,
                    depth: 1,
                    background: agent.background,
                    model,
                },
            );
        }
    }

    pub(super) fn note_agent_end(&mut self, id: &str) {
        if let Some(scribe) = &mut self.scribe {
            scribe.agent_finished(id);
        }
    }

    pub(super) fn note_turn_end(&mut self) {
        if let Some(scribe) = &mut self.scribe {
            scribe.turn_ended();
        }
    }

    pub(super) fn note_failure(&mut self, line: &Value) {
        let at = self.at();
        if let Some(scribe) = &mut self.scribe {
            let uuid = line["uuid"].as_str().unwrap_or_default();
            let fields = [
                ("requestId", &line["request_id"]),
                ("error", &line["error"]),
                ("isApiErrorMessage", &json!(true)),
                ("apiErrorStatus", &line["api_error_status"]),
                ("apiErrorType", &line["api_error_type"]),
                ("perTurnEffort", &json!("medium")),
                ("failedResponseHadNoToolCall", &json!(true)),
            ];
            scribe.failed(Moment { uuid, at }, &line["message"], &fields);
        }
    }

    /// A file is about to be changed, and what it was can be had back.
    pub(super) fn note_change(&mut self, call: &Call) {
        let changes = ["Write", "Edit", "NotebookEdit"].contains(&call.name.as_str());
        let message = self.turn.as_ref().and_then(|turn| turn.asked.clone());
        let (at, Some(message), true) = (self.at(), message, changes) else {
            return;
        };
        let path = call.input["file_path"]
            .as_str()
            .or(call.input["notebook_path"].as_str());
        let path = path.unwrap_or_default();
        let below = path
            .strip_prefix(&self.cwd)
            .map(|rest| rest.trim_start_matches('/'));
        let path = below.unwrap_or(path).to_owned();
        if let (Some(scribe), true) = (&mut self.scribe, self.flags_of_env.checkpoints)
            && let Some(uuid) = scribe.caller(&call.tool_use_id)
        {
            let backup = json!({"backupFileName": null, "version": 1});
            let caller = Moment { uuid: &uuid, at };
            scribe.remembered_file(caller, &message, &path, &backup);
        }
    }

    /// A message joins the turn that is running.
    pub(super) fn note_absorbed(&mut self, message: &UserMessage) {
        let (at, delivery) = (self.at(), self.ids.uuid());
        let uuid = self.ids.uuid();
        if let Some(scribe) = &mut self.scribe {
            let text = message.prompt();
            scribe.absorbed(at, &text, message.uuid().as_deref(), &delivery);
            let attachment = json!({
                "type": "queued_command", "prompt": text, "commandMode": "prompt",
            });
            let moment = Moment { uuid: &uuid, at };
            scribe.attached(Who::Main, moment, &attachment, Some(&text));
        }
    }

    /// The model was told something by a hook.
    pub(super) fn note_context(&mut self, talk: u64, event: &str, text: &str) {
        let agent = self.agent(talk).map(|agent| agent.task_id.clone());
        let (at, uuid) = (self.at(), self.ids.uuid());
        if let Some(scribe) = &mut self.scribe {
            let attachment = json!({
                "type": "hook_additional_context", "content": [text], "hookEvent": event,
            });
            let moment = Moment { uuid: &uuid, at };
            scribe.attached(who(agent.as_deref()), moment, &attachment, Some(text));
        }
    }

    /// Callbacks at the end of a turn have spoken.
    pub(super) fn note_stop_hooks(&mut self, hooks: usize, error: Option<&str>) {
        let (at, uuid, id) = (self.at(), self.ids.uuid(), self.ids.uuid());
        if let Some(scribe) = &mut self.scribe {
            let errors: Vec<&str> = error.into_iter().collect();
            scribe.stop_hooks(Moment { uuid: &uuid, at }, hooks, &errors, &id);
        }
    }

    /// The CLI carried out a command itself.
    pub(super) fn note_command(&mut self, command: &str, arguments: &str, output: &str) {
        let (at, uuid, prompt) = (self.at(), self.ids.uuid(), self.ids.uuid());
        if let Some(scribe) = &mut self.scribe {
            scribe.carries_out(&prompt);
            scribe.local_command(Moment { uuid: &uuid, at }, command, arguments, output);
        }
    }

    /// The conversation goes on from a summary.
    pub(super) fn note_compacted(&mut self, boundary: &Value, summary: &str) {
        let (at, uuid) = (self.at(), self.ids.uuid());
        if let Some(scribe) = &mut self.scribe {
            let of_boundary = boundary["uuid"].as_str().unwrap_or(&uuid);
            let metadata = json!({
                "trigger": boundary["compact_metadata"]["trigger"],
                "preTokens": boundary["compact_metadata"]["pre_tokens"],
            });
            scribe.compacted(
                Moment {
                    uuid: of_boundary,
                    at,
                },
                &metadata,
            );
            let message = json!({"role": "user", "content": summary});
            scribe.aside(
                Who::Main,
                Moment { uuid: &uuid, at },
                &message,
                Aside::Summary,
            );
        }
    }

    /// A new conversation begins under a new id.
    pub(super) fn note_cleared(&mut self) {
        let session = self.session.clone();
        if let Some(scribe) = &mut self.scribe {
            scribe.cleared(&session);
        }
    }

    pub(super) fn note_plan(&mut self, slug: &str) {
        if let Some(scribe) = &mut self.scribe {
            scribe.set_slug(slug);
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
        let cost = Cost {
            total_usd: self.total.cost(),
            wall_ms: u64::try_from(self.now.as_millis()).unwrap_or_default(),
            started_ms: u64::try_from(self.wall.as_millis()).unwrap_or_default(),
            model_usage,
            ..Cost::default()
        };
        if let Some(scribe) = &mut self.scribe {
            scribe.ended(&cost);
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

fn who(agent: Option<&str>) -> Who<'_> {
    match agent {
        Some(id) => Who::Agent(id),
        None => Who::Main,
    }
}
