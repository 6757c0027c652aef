//! What a reply says, before it is known how it will be sent.
//!
//! Owns content blocks, ids, the reason to stop and the token counts of one message. Pure. Invariant: ids are made
//! from the request's digest, so they are unique in a conversation and the same on every run that asks the same.

use serde_json::{Map, Value, json};

use super::script::{Reply, Step, Stop, Text, Usage};
use super::{Vars, template};

/// Tokens a reply reads where the script names none: a fixed figure, so that costs are the same on every machine.
const DEFAULT_INPUT_TOKENS: u64 = 100;
/// What a reply is said to cost at most where the script names no figure: a large text made by `repeat` is there to
/// be large, not to fill the client's context window and start a compaction.
const MAX_DEFAULT_OUTPUT_TOKENS: u64 = 1_000;

/// What a reply needs from the request it answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) model: &'a str,
    pub(super) digest: u64,
    pub(super) vars: &'a Vars,
}

#[derive(Debug, Clone)]
pub(super) struct Message {
    id: String,
    model: String,
    pub(super) blocks: Vec<Value>,
    stop: Value,
    usage: Counts,
}

impl Message {
    pub(super) fn new(reply: &Reply, context: Context<'_>) -> Self {
        let blocks = blocks(&reply.steps, context);
        Self {
            id: format!("msg_{:016x}", context.digest),
            model: context.model.to_owned(),
            stop: stop(reply.stop.as_ref(), &blocks),
            usage: Counts::of(&reply.usage, &blocks),
            blocks,
        }
    }

    /// As `message_start` carries it: nothing said yet.
    pub(super) fn opening(&self) -> Value {
        json!({
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": self.usage.json(1),
        })
    }

    /// As `message_delta` carries it: why it ended and what it cost.
    pub(super) fn closing(&self) -> Value {
        json!({"delta": self.stop, "usage": self.usage.json(self.usage.output)})
    }

    /// All of it at once.
    pub(super) fn whole(&self) -> Value {
        let mut message = self.opening();
        message["content"] = json!(self.blocks);
        message["usage"] = self.usage.json(self.usage.output);
        if let (Some(message), Some(stop)) = (message.as_object_mut(), self.stop.as_object()) {
            message.extend(stop.clone());
        }
        message
    }
}

pub(super) fn expand(text: &Text, vars: &Vars) -> String {
    template::expand(&text.template, vars).repeat(text.repeat)
}

/// The content blocks of the reply, whole, in order.
fn blocks(steps: &[Step], context: Context<'_>) -> Vec<Value> {
    let Context { digest, vars, .. } = context;
    let mut blocks = Vec::new();
    for step in steps {
        let number = blocks.len() + 1;
        blocks.push(match step {
            Step::Say(text) => json!({"type": "text", "text": expand(text, vars)}),
            Step::Think(text) => json!({
                "type": "thinking",
                "thinking": expand(text, vars),
                "signature": format!("cmVoZWFyc2Fs{digest:016x}{number:04}"),
            }),
            Step::Tool { name, input } => json!({
                "type": "tool_use",
                "id": format!("toolu_{digest:016x}{number:04}"),
                "name": name,
                "input": template::expand_json(&input.template, vars),
            }),
            Step::Block(block) => template::expand_json(&block.template, vars),
            Step::Event { .. }
            | Step::Wait(_)
            | Step::Pace(_)
            | Step::Chunk(_)
            | Step::Error(_)
            | Step::Cut(_) => continue,
        });
    }
    blocks
}

/// The fields about stopping: as the script says, else what the content asks for.
fn stop(stop: Option<&Stop>, blocks: &[Value]) -> Value {
    let calls_a_tool = || blocks.iter().any(|block| block["type"] == "tool_use");
    let reason = match stop {
        Some(stop) => stop.reason.as_str(),
        None if calls_a_tool() => "tool_use",
        None => "end_turn",
    };
    let mut fields = json!({"stop_reason": reason, "stop_sequence": null});
    if let Some(stop) = stop.filter(|stop| !stop.details.is_empty()) {
        let mut details: Map<String, Value> = stop
            .details
            .iter()
            .map(|(key, value)| (key.clone(), json!(value)))
            .collect();
        details.insert("type".to_owned(), json!(stop.reason));
        fields["stop_details"] = Value::Object(details);
    }
    fields
}

/// Token counts with the gaps filled.
#[derive(Debug, Clone, Copy)]
struct Counts {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Counts {
    fn of(usage: &Usage, blocks: &[Value]) -> Self {
        let size = |block: &Value| match block["type"].as_str() {
            Some("text") => block["text"].as_str().map_or(0, str::len),
            Some("thinking") => block["thinking"].as_str().map_or(0, str::len),
            _ => block["input"].to_string().len(),
        };
        let tokens = blocks.iter().map(size).sum::<usize>().div_ceil(4) as u64;
        Self {
            input: usage.input.unwrap_or(DEFAULT_INPUT_TOKENS),
            output: usage
                .output
                .unwrap_or(tokens.clamp(1, MAX_DEFAULT_OUTPUT_TOKENS)),
            cache_read: usage.cache_read.unwrap_or(0),
            cache_write: usage.cache_write.unwrap_or(0),
        }
    }

    fn json(&self, output: u64) -> Value {
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.cache_write,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.cache_write,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": output,
            "service_tier": "standard",
        })
    }
}
