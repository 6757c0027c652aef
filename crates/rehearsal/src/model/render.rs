//! From a reply to what goes over the wire: stream events with pauses, one whole message, or an error.
//!
//! Pure: no clock and no I/O; a pause is a value. Invariant: every stream that is not cut or ended by an error
//! opens with `message_start`, closes each block it opened, and ends with `message_stop`.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::message::{Context, Message, expand};
use super::script::{Cut, ErrorStep, Reply, Step};
use super::{api_error, template};

/// Characters per delta where the script names none, for texts that are neither very short nor very long.
const CHUNK: usize = 16;
/// A very long text comes in no more deltas than this.
const MAX_DELTAS: usize = 256;
/// A tool's input in fewer: clients parse all of it anew at every delta, which for megabytes takes one CLI a minute.
const MAX_INPUT_DELTAS: usize = 8;

/// A reply, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rendered {
    /// How long the client waits for the response to begin.
    pub(super) delay: Duration,
    pub(super) body: Rendition,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rendition {
    Error {
        status: u16,
        headers: Vec<(String, String)>,
        body: Value,
    },
    Stream(Vec<Emit>),
    /// `cut`: only a part of the message is sent.
    Whole {
        message: Value,
        cut: Option<Cut>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Emit {
    Event {
        name: String,
        data: String,
    },
    /// Bytes that are no event: a part of a whole message.
    Raw(Bytes),
    Pause(Duration),
    Cut(Cut),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Stream,
    Whole,
}

pub(super) fn render(reply: &Reply, context: Context<'_>, form: Form) -> Rendered {
    let mut delay = Duration::ZERO;
    let mut steps = reply.steps.as_slice();
    while let [Step::Wait(time), rest @ ..] = steps {
        delay += *time;
        steps = rest;
    }
    if let [Step::Error(error), ..] = steps {
        return Rendered {
            delay,
            body: http_error(error, context),
        };
    }
    let message = Message::new(reply, context);
    match form {
        Form::Stream => Rendered {
            delay,
            body: Rendition::Stream(stream(steps, &message, context)),
        },
        Form::Whole => {
            let (later, body) = whole(steps, &message, context);
            Rendered {
                delay: delay + later,
                body,
            }
        }
    }
}

pub(super) fn request_id(digest: u64) -> String {
    format!("req_{digest:016x}")
}

fn http_error(error: &ErrorStep, context: Context<'_>) -> Rendition {
    Rendition::Error {
        status: error.status,
        headers: error.headers.clone(),
        body: error_body(error, context),
    }
}

fn error_body(error: &ErrorStep, context: Context<'_>) -> Value {
    let kind = error
        .kind
        .as_deref()
        .unwrap_or_else(|| api_error::kind(error.status));
    api_error::body(
        kind,
        &expand(&error.message, context.vars),
        &request_id(context.digest),
    )
}

/// Without a stream there is no middle: pauses come before the answer, an error is all of it.
fn whole(steps: &[Step], message: &Message, context: Context<'_>) -> (Duration, Rendition) {
    let mut later = Duration::ZERO;
    let mut cut = None;
    for step in steps {
        match step {
            Step::Wait(time) => later += *time,
            Step::Error(error) => return (later, http_error(error, context)),
            Step::Cut(how) => cut = Some(*how),
            Step::Say(_)
            | Step::Think(_)
            | Step::Tool { .. }
            | Step::Block(_)
            | Step::Event { .. }
            | Step::Pace(_)
            | Step::Chunk(_) => {}
        }
    }
    (
        later,
        Rendition::Whole {
            message: message.whole(),
            cut,
        },
    )
}

fn stream(steps: &[Step], message: &Message, context: Context<'_>) -> Vec<Emit> {
    let mut out = Stream {
        events: Vec::new(),
        pace: Duration::ZERO,
        chunk: None,
        index: 0,
    };
    out.event("message_start", json!({"message": message.opening()}));
    out.event("ping", json!({}));
    for step in steps {
        match step {
            Step::Wait(time) => out.events.push(Emit::Pause(*time)),
            Step::Pace(time) => out.pace = *time,
            Step::Chunk(size) => out.chunk = Some(*size),
            Step::Event { name, data } => {
                out.event(name, template::expand_json(&data.template, context.vars))
            }
            Step::Say(_) | Step::Think(_) | Step::Tool { .. } | Step::Block(_) => {
                out.block(&message.blocks[out.index])
            }
            Step::Error(error) => {
                out.event("error", error_body(error, context));
                return out.events;
            }
            Step::Cut(how) => {
                out.leave_block_open();
                out.events.push(Emit::Cut(*how));
                return out.events;
            }
        }
    }
    out.event("message_delta", message.closing());
    out.event("message_stop", json!({}));
    out.events
}

/// Events as they pile up, with the pace in force.
struct Stream {
    events: Vec<Emit>,
    pace: Duration,
    chunk: Option<usize>,
    index: usize,
}

impl Stream {
    fn event(&mut self, name: &str, mut data: Value) {
        if data.get("type").is_none() {
            data["type"] = json!(name);
        }
        self.events.push(Emit::Event {
            name: name.to_owned(),
            data: data.to_string(),
        });
    }

    fn block(&mut self, block: &Value) {
        let index = self.index;
        self.index += 1;
        let (opening, deltas) = opened(block, self.chunk);
        self.event(
            "content_block_start",
            json!({"index": index, "content_block": opening}),
        );
        for delta in deltas {
            if !self.pace.is_zero() {
                self.events.push(Emit::Pause(self.pace));
            }
            self.event(
                "content_block_delta",
                json!({"index": index, "delta": delta}),
            );
        }
        self.event("content_block_stop", json!({"index": index}));
    }

    /// A cut right after a block comes in the middle of it: the block is not closed.
    fn leave_block_open(&mut self) {
        let closed =
            |emit: &Emit| matches!(emit, Emit::Event { name, .. } if name == "content_block_stop");
        if self.events.last().is_some_and(closed) {
            self.events.pop();
        }
    }
}

/// A block as it starts, and the deltas that fill it.
fn opened(block: &Value, chunk: Option<usize>) -> (Value, Vec<Value>) {
    let mut opening = block.clone();
    let text = |field: &str| block[field].as_str().unwrap_or_default().to_owned();
    let deltas = match block["type"].as_str() {
        Some("text") => {
            opening["text"] = json!("");
            deltas("text_delta", "text", &text("text"), chunk, MAX_DELTAS)
        }
        Some("thinking") => {
            opening["thinking"] = json!("");
            opening["signature"] = json!("");
            let mut deltas = deltas(
                "thinking_delta",
                "thinking",
                &text("thinking"),
                chunk,
                MAX_DELTAS,
            );
            deltas.push(json!({"type": "signature_delta", "signature": text("signature")}));
            deltas
        }
        Some("tool_use" | "server_tool_use") => {
            opening["input"] = json!({});
            let input = block["input"].to_string();
            let mut all = deltas(
                "input_json_delta",
                "partial_json",
                &input,
                chunk,
                MAX_INPUT_DELTAS,
            );
            // The API opens every input with an empty piece.
            all.insert(0, json!({"type": "input_json_delta", "partial_json": ""}));
            all
        }
        _ => Vec::new(),
    };
    (opening, deltas)
}

fn deltas(kind: &str, field: &str, text: &str, chunk: Option<usize>, at_most: usize) -> Vec<Value> {
    pieces(text, chunk, at_most)
        .map(|piece| json!({"type": kind, field: piece}))
        .collect()
}

/// Cuts a text into pieces of `chunk` characters, or so that a short text still comes in several and a long one in
/// `at_most`.
fn pieces(text: &str, chunk: Option<usize>, at_most: usize) -> impl Iterator<Item = &str> {
    let length = text.chars().count();
    let fitting = || length.div_ceil(at_most).max(CHUNK.min(length.div_ceil(3)));
    let size = chunk.unwrap_or_else(fitting).max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .nth(size)
            .map_or(rest.len(), |(end, _)| end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests;
