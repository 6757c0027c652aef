//! What a session leaves on disk: the transcript of the conversation and of its sub-agents.
//!
//! [`Scribe`] is told what happens and gives back what to write; it has no clock, no ids of its own and touches no file.
//! It writes what resuming, forking and listing sessions takes. Invariant: every record names the one before it that is in
//! the file, except that the result of a tool hangs on the call it answers.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::Mode;
use super::past::Past;
use super::places::Places;
use super::stamp::stamp;
use crate::model::ask::text_of;

/// Characters of a prompt that a note keeps.
const PROMPT_CHARS: usize = 200;
const CUT_OFF: &str = "[Tool call interrupted: the session ended before this call's result was recorded, so its \
     outcome is unknown. Check whether it took effect before relying on it or running it again.]";
pub(super) const NO_ANSWER: &str = "No response requested.";

/// What stands in every record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Head {
    pub(in crate::cli) session: String,
    pub(in crate::cli) cwd: String,
    pub(in crate::cli) version: String,
    pub(in crate::cli) git_branch: String,
    /// `CLAUDE_CODE_ENTRYPOINT`, or `sdk-cli`.
    pub(in crate::cli) entrypoint: String,
}

/// Which record, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Moment<'a> {
    /// The same id that the line on stdout carries.
    pub(in crate::cli) uuid: &'a str,
    /// Since 1970.
    pub(in crate::cli) at: Duration,
}

/// Whose conversation: the session's own, or that of the sub-agent of this id.
pub(in crate::cli) type Who<'a> = Option<&'a str>;

/// What is noted about a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct AgentNote {
    /// `general-purpose`, or what its file calls it.
    pub(in crate::cli) kind: String,
    /// What it was started for, in a few words.
    pub(in crate::cli) description: String,
    /// The call that started it.
    pub(in crate::cli) tool_use_id: String,
}

/// A user line that begins no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Aside {
    /// `[Request interrupted by user]`, the prompt of a sub-agent, the output of a local command.
    Plain,
    /// For the model and not for people.
    Meta,
    /// What stands for all that a compaction took away.
    Summary,
}

/// Something to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Written {
    /// Whole lines at the end of a file: see [`super::append`].
    Append { path: PathBuf, text: String },
    /// In place of a file: see [`super::replace`].
    Replace {
        path: PathBuf,
        text: String,
        mode: Mode,
    },
}

/// The writer of one session.
#[derive(Debug)]
pub(in crate::cli) struct Scribe {
    head: Head,
    /// The folder the transcript lies in.
    folder: PathBuf,
    /// Without it nothing is written: `--no-session-persistence`.
    pub(in crate::cli) kept: bool,
    out: Vec<Written>,
    /// Whether there is a record: a session without a message leaves no file.
    opened: bool,
    /// Of a fork: the records it takes along, until the first prompt.
    inherited: Vec<Value>,
    /// Of a session that was cut off: calls without a result, and whether the model has the last word.
    unanswered: Vec<(String, String)>,
    awaits_model: bool,
    /// The last record of each conversation; the session's own is under the empty name.
    tips: HashMap<String, String>,
    /// Tool calls and the records that made them.
    callers: HashMap<String, String>,
    prompt_id: Option<String>,
    last_prompt: Option<String>,
    title: Option<String>,
}

impl Scribe {
    /// A new session. `title` is what `--name` says.
    pub(in crate::cli) fn new(places: &Places, head: Head, title: Option<&str>) -> Self {
        Self {
            folder: places.project(),
            head,
            kept: true,
            out: Vec::new(),
            opened: false,
            inherited: Vec::new(),
            unanswered: Vec::new(),
            awaits_model: false,
            tips: HashMap::new(),
            callers: HashMap::new(),
            prompt_id: None,
            last_prompt: None,
            title: title.map(str::to_owned),
        }
    }

    /// Goes on with an older session, in its file, wherever that is. The head's session is the old one's.
    pub(in crate::cli) fn resumed(places: &Places, head: Head, past: &Past) -> Self {
        let mut scribe = Self::new(places, head, past.title.as_deref());
        let tip = past.last_uuid.clone();
        scribe.tips.extend(tip.map(|tip| (String::new(), tip)));
        scribe.unanswered = past.unanswered();
        scribe.awaits_model = past.awaits_model() || !scribe.unanswered.is_empty();
        scribe.last_prompt.clone_from(&past.last_prompt);
        if let Some(folder) = past.path.parent() {
            scribe.folder = folder.to_owned();
        }
        scribe
    }

    /// Goes on with an older session under a new id, in a file of this project. The conversation is taken along when
    /// the first prompt is written.
    pub(in crate::cli) fn forked(places: &Places, head: Head, past: &Past) -> Self {
        Self {
            folder: places.project(),
            inherited: past.records().to_vec(),
            ..Self::resumed(places, head, past)
        }
    }

    /// What is to be written since the last time, in order.
    pub(in crate::cli) fn take(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.out)
    }

    /// The session's transcript.
    pub(in crate::cli) fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.head.session))
    }

    fn agent_path(&self, id: &str, ending: &str) -> PathBuf {
        let folder = self.folder.join(&self.head.session).join("subagents");
        folder.join(format!("agent-{id}.{ending}"))
    }

    /// `/clear`: a new conversation under a new id, in a file of its own.
    pub(in crate::cli) fn cleared(&mut self, session: &str) {
        session.clone_into(&mut self.head.session);
        self.opened = false;
        self.inherited.clear();
        self.unanswered.clear();
        self.awaits_model = false;
        self.tips.clear();
        self.callers.clear();
        self.last_prompt = None;
        self.title = None;
    }

    /// A turn begins. `mint` gives ids for records that are due first: those that round off a session that was cut off.
    /// A prompt that the CLI made itself is not `typed`.
    pub(in crate::cli) fn prompt(
        &mut self,
        moment: Moment<'_>,
        id: &str,
        message: &Value,
        typed: bool,
        mint: &mut impl FnMut() -> String,
    ) {
        self.prompt_id = Some(id.to_owned());
        for mut record in std::mem::take(&mut self.inherited) {
            self.sign(&mut record);
            self.append(None, &record);
        }
        self.round_off(moment, mint);
        self.aside(None, moment, message, Aside::Plain);
        if typed {
            self.last_prompt = Some(shortened(&text_of(&message["content"])));
        }
    }

    /// A user line that begins no turn.
    pub(in crate::cli) fn aside(
        &mut self,
        who: Who<'_>,
        moment: Moment<'_>,
        message: &Value,
        aside: Aside,
    ) {
        let mut line = json!({"type": "user", "message": message, "promptId": self.prompt_id});
        match aside {
            Aside::Plain => {}
            Aside::Meta => line["isMeta"] = true.into(),
            Aside::Summary => line["isCompactSummary"] = true.into(),
        }
        self.record(who, moment, line);
    }

    /// The blocks of one answer of the model, when it is complete: each is a whole message with this block alone in
    /// `content`.
    pub(in crate::cli) fn said<'a>(
        &mut self,
        who: Who<'_>,
        blocks: impl IntoIterator<Item = (Moment<'a>, &'a Value)>,
    ) {
        for (moment, message) in blocks {
            let block = &message["content"][0];
            if let (Some("tool_use"), Some(id)) = (block["type"].as_str(), block["id"].as_str()) {
                self.callers.insert(id.to_owned(), moment.uuid.to_owned());
            }
            self.record(
                who,
                moment,
                json!({"type": "assistant", "message": message}),
            );
        }
    }

    /// The result of a tool, and the tool's own form of it.
    pub(in crate::cli) fn reported(
        &mut self,
        who: Who<'_>,
        moment: Moment<'_>,
        tool_use_id: &str,
        message: &Value,
        structured: &Value,
    ) {
        let mut line = json!({"type": "user", "message": message, "promptId": self.prompt_id});
        // Two calls of one answer: each result hangs on its own.
        if let Some(caller) = self.callers.remove(tool_use_id) {
            line["sourceToolAssistantUUID"] = caller.as_str().into();
            let conversation = who.unwrap_or_default().to_owned();
            self.tips.insert(conversation, caller);
        }
        // What a sub-agent's tools say in their own form is not kept.
        if who.is_none() && !structured.is_null() {
            line["toolUseResult"] = structured.clone();
        }
        self.record(who, moment, line);
    }

    /// A line of the CLI in the model's place: an error of the service, or that nothing was asked.
    pub(in crate::cli) fn failed(&mut self, moment: Moment<'_>, message: &Value, error: &Value) {
        let line = json!({
            "type": "assistant", "message": message, "error": error, "isApiErrorMessage": !error.is_null(),
        });
        self.record(None, moment, line);
    }

    /// The conversation was compacted: what follows hangs on nothing before it.
    pub(in crate::cli) fn compacted(&mut self, moment: Moment<'_>, metadata: &Value) {
        let line = json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "logicalParentUuid": self.tips.remove(""), "compactMetadata": metadata,
        });
        self.record(None, moment, line);
    }

    /// Rounds off a session that was cut off, before its first new prompt.
    fn round_off(&mut self, moment: Moment<'_>, mint: &mut impl FnMut() -> String) {
        let at = moment.at;
        for (call, caller) in std::mem::take(&mut self.unanswered) {
            let block = json!({"type": "tool_result", "content": CUT_OFF, "is_error": true, "tool_use_id": call});
            let message = json!({"role": "user", "content": [block]});
            self.callers.insert(call.clone(), caller);
            let moment = Moment { uuid: &mint(), at };
            self.reported(None, moment, &call, &message, &CUT_OFF.into());
        }
        if std::mem::take(&mut self.awaits_model) {
            let moment = Moment { uuid: &mint(), at };
            let message = json!({
                "id": mint(), "model": "<synthetic>", "role": "assistant", "type": "message",
                "stop_reason": "stop_sequence", "stop_sequence": "",
                "usage": {"input_tokens": 0, "output_tokens": 0},
                "content": [{"type": "text", "text": NO_ANSWER}],
            });
            self.failed(moment, &message, &Value::Null);
        }
    }

    /// A sub-agent starts. Its records name it by this id.
    pub(in crate::cli) fn agent_started(&mut self, id: &str, note: &AgentNote) {
        if self.kept {
            let note = json!({
                "agentType": note.kind, "description": note.description, "toolUseId": note.tool_use_id,
            });
            self.out.push(Written::Replace {
                path: self.agent_path(id, "meta.json"),
                text: note.to_string(),
                mode: Mode::Shared,
            });
        }
    }

    /// A person named the session: `rename_session`. Before the first message the title waits for the file.
    pub(in crate::cli) fn renamed(&mut self, title: &str) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        self.title = Some(title).filter(|title| !title.is_empty());
        if self.opened || self.tips.contains_key("") {
            self.opened = true;
            self.note_title();
        }
    }

    /// A turn ended: what the end of the file must hold.
    pub(in crate::cli) fn turn_ended(&mut self) {
        let note = json!({
            "type": "last-prompt", "lastPrompt": self.last_prompt, "leafUuid": self.tips.get(""),
        });
        self.note(note);
        self.note_title();
    }

    /// The process ends in order; what the session cost so far, by model as a result tells it.
    pub(in crate::cli) fn ended(&mut self, total_usd: f64, model_usage: &Value) {
        let note =
            json!({"type": "cost-state", "totalCostUSD": total_usd, "modelUsage": model_usage});
        self.note(note);
    }

    fn note_title(&mut self) {
        if let Some(title) = &self.title {
            self.note(json!({"type": "custom-title", "customTitle": title}));
        }
    }

    /// A line beside the conversation, in a file that is there.
    fn note(&mut self, mut note: Value) {
        note["sessionId"] = (*self.head.session).into();
        if self.opened {
            self.append(None, &note);
        }
    }

    /// A line of a conversation.
    pub(in crate::cli) fn record(&mut self, who: Who<'_>, moment: Moment<'_>, mut line: Value) {
        let conversation = who.unwrap_or_default().to_owned();
        line["parentUuid"] = self.tips.get(&conversation).cloned().into();
        line["isSidechain"] = who.is_some().into();
        if let Some(agent) = who {
            line["agentId"] = agent.into();
        }
        line["uuid"] = moment.uuid.into();
        line["timestamp"] = stamp(moment.at).into();
        line["userType"] = "external".into();
        self.sign(&mut line);
        self.tips.insert(conversation, moment.uuid.to_owned());
        self.append(who, &line);
    }

    /// Puts down whose session a record belongs to.
    fn sign(&self, line: &mut Value) {
        let head = &self.head;
        line["sessionId"] = (*head.session).into();
        line["cwd"] = (*head.cwd).into();
        line["version"] = (*head.version).into();
        line["gitBranch"] = (*head.git_branch).into();
        line["entrypoint"] = (*head.entrypoint).into();
    }

    fn append(&mut self, who: Who<'_>, line: &Value) {
        if !self.kept {
            return;
        }
        let to = match who {
            Some(id) => self.agent_path(id, "jsonl"),
            None => self.path(),
        };
        if who.is_none() && !std::mem::replace(&mut self.opened, true) {
            self.note_title();
        }
        match self.out.last_mut() {
            Some(Written::Append { path, text }) if *path == to => {
                text.push_str(&format!("{line}\n"));
            }
            _ => self.out.push(Written::Append {
                path: to,
                text: format!("{line}\n"),
            }),
        }
    }
}

/// A prompt as a note keeps it: on one line, and not all of it.
fn shortened(prompt: &str) -> String {
    let line = prompt.replace(['\r', '\n'], " ");
    let line = line.trim();
    match line.char_indices().nth(PROMPT_CHARS) {
        Some((end, _)) => format!("{}\u{2026}", line[..end].trim_end()),
        None => line.to_owned(),
    }
}
