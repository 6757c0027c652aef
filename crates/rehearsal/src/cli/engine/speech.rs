//! How a block of a message is said: at once, or piece by piece; as stream events where the host wants them, and whole.

use std::time::Duration;

use serde_json::{Value, json};

use super::Engine;
use super::ledger::Spent;
use super::lines::{apply, encode};
use super::talk::{MAIN, Message};
use crate::cli::scenario::Amend;
use crate::model::render::{MAX_DELTAS, pieces};

/// A block that is being said.
#[derive(Debug, Clone)]
pub(super) struct Speech {
    pub(super) talk: u64,
    pub(super) block: Value,
    amend: Amend,
    pieces: Vec<String>,
    next: usize,
    pub(super) due: Duration,
}

impl Speech {
    /// What was said of it so far.
    pub(super) fn so_far(&self) -> String {
        self.pieces[..self.next].concat()
    }
}

impl Engine {
    /// Says a block at once, whatever the pace.
    pub(super) fn say_block(&mut self, talk: u64, block: Value, amend: &Amend) {
        if let Some(mut speech) = self.begin_block(talk, block, amend.clone()) {
            self.say_rest(&mut speech);
            self.end_block(speech);
        }
    }

    /// Begins a block. None if it is said already, or the turn may not go on.
    pub(super) fn start_saying(&mut self, talk: u64, block: Value, amend: Amend) -> Option<Speech> {
        let mut speech = self.begin_block(talk, block, amend)?;
        if self.talk(talk).pace.is_zero() {
            self.say_rest(&mut speech);
            self.end_block(speech);
            return None;
        }
        speech.due = self.now + self.talk(talk).pace;
        Some(speech)
    }

    /// Goes on with a block at its time. Gives it back while there is more.
    pub(super) fn go_on_saying(&mut self, mut speech: Speech) -> Option<Speech> {
        let pace = self.talk(speech.talk).pace;
        while speech.due <= self.now && speech.next < speech.pieces.len() {
            self.say_piece(&mut speech);
            speech.due += pace;
        }
        if speech.next < speech.pieces.len() {
            return Some(speech);
        }
        self.end_block(speech);
        None
    }

    fn begin_block(&mut self, talk: u64, block: Value, amend: Amend) -> Option<Speech> {
        if !self.open_message(talk) {
            return None;
        }
        let text = match block["type"].as_str() {
            Some("text") => block["text"].as_str().unwrap_or_default().to_owned(),
            Some("thinking") => block["thinking"].as_str().unwrap_or_default().to_owned(),
            Some("tool_use") => block["input"].to_string(),
            _ => String::new(),
        };
        if self.streams(talk) {
            let index = self.block_index(talk);
            let event = json!({
                "type": "content_block_start", "index": index, "content_block": hollow(&block),
            });
            self.say_event(event, display(&block));
        }
        let mut pieces = match self.talk(talk).pace.is_zero()
            || self.talk(talk).chunk.is_some()
            || self.mind.is_some()
        {
            true => pieces(&text, self.talk(talk).chunk, MAX_DELTAS)
                .map(str::to_owned)
                .collect(),
            false => words(&text),
        };
        if block["type"] == "tool_use" {
            pieces.insert(0, String::new());
        }
        Some(Speech {
            talk,
            block,
            amend,
            pieces,
            next: 0,
            due: self.now,
        })
    }

    fn say_rest(&mut self, speech: &mut Speech) {
        while speech.next < speech.pieces.len() {
            if !self.streams(speech.talk) {
                speech.next = speech.pieces.len();
                return;
            }
            self.say_piece(speech);
        }
    }

    fn say_piece(&mut self, speech: &mut Speech) {
        let piece = speech.pieces[speech.next].clone();
        speech.next += 1;
        if !self.streams(speech.talk) {
            return;
        }
        let index = self.block_index(speech.talk);
        let delta = match speech.block["type"].as_str() {
            Some("thinking") => {
                self.say_thinking_tokens(&piece, &speech.so_far());
                json!({"type": "thinking_delta", "thinking": piece})
            }
            Some("tool_use") => json!({"type": "input_json_delta", "partial_json": piece}),
            _ => json!({"type": "text_delta", "text": piece}),
        };
        let event = json!({"type": "content_block_delta", "index": index, "delta": delta});
        self.say_event(event, display(&speech.block));
    }

    fn say_thinking_tokens(&mut self, piece: &str, so_far: &str) {
        let line = json!({
            "subtype": "thinking_tokens",
            "estimated_tokens": so_far.len().div_ceil(4),
            "estimated_tokens_delta": piece.len().div_ceil(4),
        });
        self.say_system(line);
    }

    fn end_block(&mut self, speech: Speech) {
        let talk = speech.talk;
        let index = self.block_index(talk);
        let streams = self.streams(talk);
        if streams && let Some(signature) = speech.block.get("signature") {
            let delta = json!({"type": "signature_delta", "signature": signature});
            let event = json!({"type": "content_block_delta", "index": index, "delta": delta});
            self.say_event(event, false);
        }
        if let Some(text) = speech.block["text"].as_str() {
            text.clone_into(&mut self.talk(talk).said);
        }
        self.talk(talk).speak(&speech.block);
        self.say_assistant(talk, speech.block.clone(), &speech.amend);
        if streams {
            self.say_event(json!({"type": "content_block_stop", "index": index}), false);
        }
        self.count_block(talk, &speech.block);
    }

    /// The rest is not said: the host interrupted.
    pub(super) fn abandon_block(&mut self, mut speech: Speech) {
        let said = speech.so_far();
        let key = match speech.block["type"].as_str() {
            Some("text") => "text",
            Some("thinking") => "thinking",
            _ => return,
        };
        if said.is_empty() {
            return;
        }
        if let Some(message) = &mut self.talk(speech.talk).message {
            message.bytes += said.len();
        }
        speech.block[key] = said.into();
        self.talk(speech.talk).speak(&speech.block);
        let amend = Amend::with(json!({"aborted": true}));
        self.say_assistant(speech.talk, speech.block, &amend);
    }

    fn count_block(&mut self, talk: u64, block: &Value) {
        let bytes = match block["type"].as_str() {
            Some("text") => block["text"].as_str().map_or(0, str::len),
            Some("thinking") => block["thinking"].as_str().map_or(0, str::len),
            _ => block["input"].to_string().len(),
        };
        if let Some(message) = &mut self.talk(talk).message {
            message.blocks += 1;
            message.bytes += bytes;
        }
    }

    fn block_index(&mut self, talk: u64) -> u64 {
        let message = self.talk(talk).message.as_ref();
        message.map_or(0, |message| message.blocks)
    }

    /// One content block, in an assistant line of its own.
    fn say_assistant(&mut self, talk: u64, block: Value, amend: &Amend) {
        let forwarded = self.is_forwarded(talk, &block);
        let is_thinking = block["type"] == "thinking";
        let meta = self.tool_use_meta(&block);
        let mut line = Value::Object(self.cast.line("assistant"));
        line["message"]["content"] = json!([block]);
        line["message"]["model"] = self.model.clone().into();
        let empty = Vec::new();
        let message = self.talk(talk).message.as_ref();
        let answers = message.map_or(&empty, |message| &message.answers).clone();
        if let Some(message) = message {
            let spent = Spent {
                output: 1,
                ..Spent::of(&message.counts, 0, "")
            };
            line["message"]["id"] = message.id.clone().into();
            spent.fill_usage(&mut line["message"]["usage"]);
        }
        line["session_id"] = self.session.clone().into();
        line["uuid"] = self.ids.uuid().into();
        self.name_questions(&mut line, &answers);
        if let Some(meta) = meta {
            line["tool_use_meta"] = json!([meta]);
        }
        if is_thinking && self.streams(talk) {
            line["thinking_duration_ms"] = 1.into();
            line["thinking_display"] = "updates".into();
        }
        self.name_agent(&mut line, talk);
        apply(&mut line, amend);
        self.note_block(talk, &line);
        if talk == MAIN {
            self.replay_waiting();
        }
        if forwarded {
            self.say_value(&line);
        }
    }

    /// The messages this one answers, on lines that name them.
    pub(super) fn name_questions(&self, line: &mut Value, answers: &[String]) {
        if let Some(first) = answers.first() {
            line["user_message_uuid"] = first.clone().into();
            line["user_message_uuids"] = answers.into();
        }
    }

    /// The sub-agent a line is from.
    pub(super) fn name_agent(&self, line: &mut Value, talk: u64) {
        let Some(agent) = self.agent(talk) else {
            return;
        };
        line["parent_tool_use_id"] = agent.tool_use_id.clone().into();
        line["agent_id"] = agent.task_id.clone().into();
        line["subagent_type"] = agent.kind.clone().into();
        line["task_description"] = agent.description.clone().into();
    }

    /// A sub-agent that is waited for shows its calls only, unless the host asked for its texts, too.
    fn is_forwarded(&self, talk: u64, block: &Value) -> bool {
        match self.agent(talk) {
            Some(agent) => {
                agent.background || self.flags.forwards_agent_text || block["type"] == "tool_use"
            }
            None => true,
        }
    }

    pub(super) fn say_message_start(&mut self) {
        let mut message = self.cast.line("assistant")["message"].clone();
        message["content"] = json!([]);
        message["model"] = self.model.clone().into();
        message["stop_reason"] = Value::Null;
        if let Some(open) = &self.talk(MAIN).message {
            let spent = Spent {
                output: 1,
                ..Spent::of(&open.counts, 0, "")
            };
            let id = open.id.clone();
            message["id"] = id.into();
            spent.fill_usage(&mut message["usage"]);
        }
        if let Some(message) = message.as_object_mut() {
            message.remove("context_management");
        }
        let mut line = self.event(json!({"type": "message_start", "message": message}));
        line["ttft_ms"] = 1.into();
        line["thinking_display"] = "updates".into();
        self.say_value(&line);
    }

    pub(super) fn say_message_end(&mut self, message: &Message, spent: &Spent, reason: &str) {
        let mut usage = self.cast.line("assistant")["message"]["usage"].clone();
        spent.fill_usage(&mut usage);
        let stop = json!({"stop_reason": reason, "stop_sequence": null});
        let closing = json!({"type": "message_delta", "delta": stop, "usage": usage});
        for event in [closing, json!({"type": "message_stop"})] {
            let mut line = self.event(event);
            line["api_message_id"] = message.id.clone().into();
            self.say_value(&line);
        }
    }

    fn say_event(&mut self, event: Value, shows_thinking: bool) {
        let mut line = self.event(event);
        if shows_thinking {
            line["thinking_display"] = "updates".into();
        }
        self.say_value(&line);
    }

    pub(super) fn event(&mut self, event: Value) -> Value {
        let mut line = json!({
            "type": "stream_event",
            "event": event,
            "session_id": self.session,
            "parent_tool_use_id": null,
            "uuid": self.ids.uuid(),
        });
        let open = self.talk(MAIN).message.as_ref();
        let id = open.map(|message| message.id.clone());
        let id = id.unwrap_or_else(|| self.ids.message());
        line["api_message_id"] = id.into();
        line
    }

    /// `count` deltas from number `next` on, each with its number and filled up to `bytes`.
    ///
    /// One line is built and the others are cut from it, so that a hundred thousand cost little more than copying.
    pub(super) fn flood(&mut self, next: u64, count: u64, bytes: usize) {
        const TEXT: &str = "@text@";
        let line = self.event(json!({
            "type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": TEXT},
        }));
        let uuid = line["uuid"].as_str().unwrap_or_default().to_owned();
        let template = String::from_utf8(encode(&line, true)).unwrap_or_default();
        let Some((head, (middle, tail))) = template
            .split_once(TEXT)
            .and_then(|(head, rest)| Some((head, rest.split_once(&uuid)?)))
        else {
            return;
        };
        let size = template.len() + bytes.max(TEXT.len());
        let mut out = Vec::with_capacity(size * usize::try_from(count).unwrap_or_default());
        let mut digits = itoa::Buffer::new();
        for number in next..next + count {
            out.extend_from_slice(head.as_bytes());
            let number = digits.format(number).as_bytes();
            out.extend_from_slice(number);
            out.resize(out.len() + bytes.saturating_sub(number.len()), b' ');
            out.extend_from_slice(middle.as_bytes());
            self.ids.write_uuid(&mut out);
            out.extend_from_slice(tail.as_bytes());
        }
        self.write(out);
    }
}

/// The block as it is before anything of it is said.
fn hollow(block: &Value) -> Value {
    match block["type"].as_str() {
        Some("text") => json!({"type": "text", "text": ""}),
        Some("thinking") => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Some("tool_use") => json!({
            "type": "tool_use", "id": block["id"], "name": block["name"], "input": {},
        }),
        _ => block.clone(),
    }
}

fn display(block: &Value) -> bool {
    block["type"] == "thinking"
}

/// One word after the other, each with the blanks after it.
fn words(text: &str) -> Vec<String> {
    text.split_inclusive(char::is_whitespace)
        .map(str::to_owned)
        .collect()
}
