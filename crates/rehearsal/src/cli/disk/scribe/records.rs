//! The records of a conversation: prompts, what the model said, and results of tools.
//!
//! Each hangs on the one before it, except that the result of a tool hangs on the call it answers. What a sub-agent does
//! is written to its own file with the same records.

use serde_json::{Map, Value, json};

use super::notes::shortened;
use super::{Line, Moment, Scribe, Who, stamp};

/// A message that begins a turn.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Prompt<'a> {
    /// New for every turn.
    pub(in crate::cli) id: &'a str,
    /// `{"role":"user","content":…}`.
    pub(in crate::cli) message: &'a Value,
    /// The permission mode it is read in.
    pub(in crate::cli) mode: &'a str,
    pub(in crate::cli) origin: Origin<'a>,
}

/// Who sent a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Origin<'a> {
    /// The host. Whether it gave the message its id.
    Host { named: bool },
    /// The host, by calling the command or skill of this name; the text follows as a companion.
    Command { name: &'a str },
    /// The CLI, because a task of this run ended.
    Task { run: &'a str },
}

/// A user line that begins no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Aside {
    /// `[Request interrupted by user]`, the prompt of a sub-agent, the output of a local command.
    Plain,
    /// For the model and not for people.
    Meta,
    /// For the model, along with a prompt.
    Companion,
    /// What stands for all that a compaction took away.
    Summary,
}

/// A block of the model's answer.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Said<'a> {
    pub(in crate::cli) moment: Moment<'a>,
    /// The whole message with this block alone in `content`, and the final usage and stop reason.
    pub(in crate::cli) message: &'a Value,
    /// Which block of the answer, from 0.
    pub(in crate::cli) index: usize,
    /// The same for all blocks of an answer.
    pub(in crate::cli) request: &'a str,
    pub(in crate::cli) effort: Option<&'a str>,
    /// Whether the stream was ended by an interrupt.
    pub(in crate::cli) aborted: bool,
}

/// The result of a tool.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Reported<'a> {
    pub(in crate::cli) tool: &'a str,
    pub(in crate::cli) tool_use_id: &'a str,
    /// `{"role":"user","content":[{"type":"tool_result",…}]}`.
    pub(in crate::cli) message: &'a Value,
    /// The tool's own form of it.
    pub(in crate::cli) structured: Option<&'a Value>,
    pub(in crate::cli) denial: Option<Denial>,
    /// Why it ran or did not, as `tool_result_meta` says on the wire.
    pub(in crate::cli) decision: Option<&'a Value>,
}

/// Why a tool did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Denial {
    /// The host said no, with a message.
    Host,
    /// A rule, a mode or a hook said no.
    Rule,
    /// The turn was interrupted while the host was asked.
    Interrupted,
    /// The session ended before the tool did.
    CutOff,
}

impl Denial {
    fn kind(self) -> &'static str {
        match self {
            Self::Host | Self::Rule => "permission-rule",
            Self::Interrupted => "user-rejected",
            Self::CutOff => "interrupted",
        }
    }
}

impl Scribe {
    /// A turn begins. `mint` gives ids for records that are due first: those that round off a session that was cut off.
    pub(in crate::cli) fn prompt(
        &mut self,
        moment: Moment<'_>,
        prompt: &Prompt<'_>,
        mint: &mut impl FnMut() -> String,
    ) {
        self.carries_out(prompt.id);
        if let Origin::Command { name } = prompt.origin {
            self.credit = vec![("attributionSkill", name.to_owned())];
        }
        self.inherit(prompt.id);
        self.round_off(moment, mint);
        self.turn += 1;
        let position = self.position();
        let named = prompt.origin == Origin::Host { named: true };
        self.user(Who::Main, moment, prompt.message, Aside::Plain, |line| {
            match prompt.origin {
                Origin::Host { .. } => {
                    line.put("permissionMode", prompt.mode).put("promptSource", "sdk").put("turnOrigin", "sdk");
                }
                Origin::Command { .. } => {
                    line.put("turnOrigin", "sdk");
                }
                Origin::Task { run } => {
                    let origin = json!({"kind": "task-notification", "producer": "session-task", "runId": run});
                    line.put("permissionMode", prompt.mode).put("origin", &origin);
                    line.put("promptSource", "system").put("turnOrigin", "task_notification");
                }
            }
            line.put("turnPosition", &position);
            line.put_some("turnAttributionKey", named.then_some(moment.uuid));
            line.mark("queueSkipAttachments", matches!(prompt.origin, Origin::Task { .. }));
        });
        if let Origin::Host { .. } = prompt.origin {
            self.last_prompt = Some(shortened(&text_of(prompt.message)));
        }
    }

    /// A prompt begins no turn, because the CLI carries it out itself: `/compact`, `/cost`. What follows is put down to it.
    pub(in crate::cli) fn carries_out(&mut self, prompt_id: &str) {
        self.prompt_id = Some(prompt_id.to_owned());
        self.credit.clear();
    }

    /// A user line that begins no turn.
    pub(in crate::cli) fn aside(
        &mut self,
        who: Who<'_>,
        moment: Moment<'_>,
        message: &Value,
        aside: Aside,
    ) {
        let position = (aside == Aside::Summary).then(|| self.position());
        self.user(who, moment, message, aside, |line| {
            line.put_some("turnPosition", position.as_ref());
        });
    }

    /// The blocks of one answer of the model, when it is complete.
    pub(in crate::cli) fn said(&mut self, who: Who<'_>, blocks: &[Said<'_>]) {
        let tools: Vec<(&str, &str, &str)> = blocks.iter().filter_map(|said| said.call()).collect();
        let mut new = false;
        for (_, name, _) in &tools {
            new |= self.used(name);
        }
        if new {
            self.note_tools();
        }
        for said in blocks {
            self.block(who, said);
        }
        let callers = tools
            .iter()
            .map(|(id, _, uuid)| ((*id).to_owned(), (*uuid).to_owned()));
        self.callers.extend(callers);
    }

    fn block(&mut self, who: Who<'_>, said: &Said<'_>) {
        let block = &said.message["content"][0];
        let is = |kind: &str| block["type"] == kind;
        let mut line = self.begin(who);
        line.put_some("agentId", who.agent());
        line.put("message", said.message);
        if is("tool_use") {
            line.put("toolInputStreamMs", &1);
        }
        if is("thinking") {
            line.put("thinkingDurationMs", &1)
                .put("thinkingDisplay", "updates");
        }
        line.put("apiBlockIndex", &said.index)
            .put("requestRef", said.request)
            .put("requestedModel", &said.message["model"])
            .put("promptCacheRequested", "5m");
        match who {
            Who::Agent(id) => {
                let kind = self.notes.get(id).map(|note| &note.kind);
                line.put_some("attributionAgent", kind);
            }
            Who::Main => {
                for (key, name) in &self.credit {
                    line.put(key, name);
                }
            }
        }
        line.put("type", "assistant");
        self.stamp(&mut line, said.moment);
        line.mark("isAbortedMidStream", said.aborted);
        line.put_some("effort", said.effort)
            .put("perTurnEffort", &said.effort)
            .put("madeBy", "model");
        self.finish(who, said.moment, line);
    }

    /// The result of a tool.
    pub(in crate::cli) fn reported(
        &mut self,
        who: Who<'_>,
        moment: Moment<'_>,
        reported: &Reported<'_>,
    ) {
        let caller = self.callers.remove(reported.tool_use_id);
        // Two calls of one answer: each result hangs on its own.
        if let Some(caller) = &caller {
            self.set_tip(who, caller);
        }
        // What a sub-agent's tools say in their own form is not kept.
        let structured = reported.structured.filter(|_| who == Who::Main);
        let ran = reported.denial.is_none();
        let shell = reported.tool == "Bash" && ran;
        let server = mcp_tool(reported.tool).filter(|_| ran);
        if let (Some((server, tool)), Who::Main) = (server, who) {
            self.credit = vec![
                ("attributionMcpServer", server.to_owned()),
                ("attributionMcpTool", tool.to_owned()),
            ];
        }
        let ends = reported.tool == "StructuredOutput"
            && reported.message["content"][0]["is_error"] != true;
        self.user(who, moment, reported.message, Aside::Plain, |line| {
            line.put_some("toolUseResult", structured);
            line.put_some("sandboxed", shell.then_some(&false));
            line.put_some("mcpCallNotReadOnly", server.map(|_| "no_hint"));
            line.mark("toolEndsTurn", ends);
            line.put_some("toolDenialKind", reported.denial.map(Denial::kind));
            line.mark("holdsPersonsWords", reported.denial == Some(Denial::Host));
            line.put_some("sourceToolAssistantUUID", caller.as_deref());
            line.put_some(
                "permissionDecision",
                reported.decision.map(in_camel_case).as_ref(),
            );
        });
    }

    pub(super) fn user(
        &mut self,
        who: Who<'_>,
        moment: Moment<'_>,
        message: &Value,
        aside: Aside,
        fields: impl FnOnce(&mut Line),
    ) {
        let mut line = self.begin(who);
        line.put_some("promptId", self.prompt_id.as_deref());
        line.put_some("agentId", who.agent());
        line.put("type", "user").put("message", message);
        line.mark("isVisibleInTranscriptOnly", aside == Aside::Summary);
        line.mark("isCompactSummary", aside == Aside::Summary);
        line.mark("isMeta", matches!(aside, Aside::Meta | Aside::Companion));
        line.mark("turnCompanion", aside == Aside::Companion);
        self.stamp(&mut line, moment);
        fields(&mut line);
        self.finish(who, moment, line);
    }

    pub(super) fn begin(&self, who: Who<'_>) -> Line {
        let mut line = Line::new();
        line.put("parentUuid", &self.tip(who))
            .put("isSidechain", &(who != Who::Main));
        line
    }

    pub(super) fn stamp(&self, line: &mut Line, moment: Moment<'_>) {
        line.put("uuid", moment.uuid)
            .put("timestamp", &stamp(moment.at));
    }

    pub(super) fn finish(&mut self, who: Who<'_>, moment: Moment<'_>, mut line: Line) {
        self.tail(&mut line);
        self.set_tip(who, moment.uuid);
        self.write(who, line);
    }

    pub(super) fn position(&self) -> Value {
        json!({"promptIndex": 0, "turnIndex": self.turn})
    }
}

impl<'a> Said<'a> {
    /// The call in it: id, tool, and the record's own id.
    fn call(&self) -> Option<(&'a str, &'a str, &'a str)> {
        let block = &self.message["content"][0];
        let call = block["type"] == "tool_use";
        call.then_some((
            block["id"].as_str()?,
            block["name"].as_str()?,
            self.moment.uuid,
        ))
    }
}

/// The text of a message, its blocks on lines of their own.
pub(in crate::cli) fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The server and the tool in `mcp__server__tool`.
fn mcp_tool(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

/// `{"reason_type":…}` on the wire is `{"reasonType":…}` in a transcript.
fn in_camel_case(decision: &Value) -> Value {
    let camel = |key: &str| {
        let mut parts = key.split('_');
        let mut name = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let mut letters = part.chars();
            name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
        name
    };
    match decision {
        Value::Object(fields) => {
            let fields: Map<String, Value> = fields
                .iter()
                .map(|(key, value)| (camel(key), value.clone()))
                .collect();
            Value::Object(fields)
        }
        other => other.clone(),
    }
}
