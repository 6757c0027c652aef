//! From a reply to what goes over the wire: stream events with pauses, one whole message, or an error.
//!
//! Pure: no clock and no I/O; a pause is a value. Invariants: every stream that is not cut or ended by an error opens with
//! `message_start`, closes each block it opened, and ends with `message_stop`; ids are made from the request's digest, so
//! they are unique in a conversation and the same on every run that asks the same.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::ask::Ask;
use super::script::{Part, Spoken, Stop, Usage};

/// Tokens a reply reads where the script names none: a fixed figure, so that costs are the same on every machine.
const DEFAULT_INPUT_TOKENS: u64 = 100;
/// What a reply is said to cost at most where the script names no figure: a large text made by `repeat` is there to
/// be large, not to fill the client's context window and start a compaction.
const MAX_DEFAULT_OUTPUT_TOKENS: u64 = 1_000;
/// Characters per delta where the script names none, for texts that are neither very short nor very long.
const CHUNK: usize = 16;
/// A very long text comes in no more deltas than this.
pub(crate) const MAX_DELTAS: usize = 256;
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
    /// One body, of an error or of a whole message.
    Whole {
        status: u16,
        headers: Vec<(String, String)>,
        body: Value,
    },
    /// What comes bit by bit: events, or a part of a whole message.
    Stream(Vec<Emit>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Emit {
    Bytes(Bytes),
    Pause(Duration),
    /// The connection is dropped, perhaps by a reset.
    Cut {
        reset: bool,
    },
}

/// An error in the shape of the Messages API.
pub(super) fn error_body(kind: &str, message: &str, digest: u64) -> Value {
    let id = format!("req_{digest:016x}");
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": id})
}

/// An error that the client does not retry: the script has no answer.
pub(super) fn refusal(why: &str, digest: u64) -> Rendered {
    let message = format!("scripted model: {why}");
    let body = Rendition::Whole {
        status: 400,
        headers: vec![("x-should-retry".to_owned(), "false".to_owned())],
        body: error_body(super::api_error_kind(400), &message, digest),
    };
    Rendered {
        delay: Duration::ZERO,
        body,
    }
}

pub(super) fn render(spoken: &Spoken, ask: &Ask) -> Rendered {
    let mut delay = Duration::ZERO;
    let mut parts = spoken.parts.as_slice();
    while let [Part::Wait(time), rest @ ..] = parts {
        delay += *time;
        parts = rest;
    }
    let message = Message::new(spoken, ask);
    let starts_with_error = matches!(parts, [Part::Error { .. }, ..]);
    if ask.stream && !starts_with_error {
        let body = Rendition::Stream(stream(parts, &message, ask.digest));
        return Rendered { delay, body };
    }
    // Without a stream there is no middle: pauses come before the answer, an error is all of it.
    let mut body = message.whole();
    let (mut status, mut headers) = (200, Vec::new());
    for part in parts {
        match part {
            Part::Wait(time) => delay += *time,
            Part::Error {
                status: of_error,
                kind,
                text,
                headers: of_headers,
            } => {
                (status, headers) = (*of_error, of_headers.clone());
                body = error_body(kind, text, ask.digest);
            }
            Part::Cut { reset } => {
                let mut half = Bytes::from(body.to_string());
                half.truncate(half.len() / 2);
                let emits = vec![Emit::Bytes(half), Emit::Cut { reset: *reset }];
                let body = Rendition::Stream(emits);
                return Rendered { delay, body };
            }
            _ => {}
        }
    }
    let body = Rendition::Whole {
        status,
        headers,
        body,
    };
    Rendered { delay, body }
}

/// What a reply says as a message of the API.
struct Message {
    /// Nothing said yet, as `message_start` carries it.
    opening: Value,
    blocks: Vec<Value>,
    /// Why it ended and what it cost, as `message_delta` carries it.
    closing: Value,
}

impl Message {
    fn new(spoken: &Spoken, ask: &Ask) -> Self {
        let blocks = blocks(&spoken.parts, ask.digest);
        let size = |block: &Value| match block["type"].as_str() {
            Some(kind @ ("text" | "thinking")) => block[kind].as_str().map_or(0, str::len),
            _ => block["input"].to_string().len(),
        };
        let tokens = blocks.iter().map(size).sum::<usize>().div_ceil(4) as u64;
        let tokens = tokens.clamp(1, MAX_DEFAULT_OUTPUT_TOKENS);
        let usage = |output| usage_value(&spoken.usage, output);
        Self {
            opening: json!({
                "id": format!("msg_{:016x}", ask.digest),
                "type": "message",
                "role": "assistant",
                "model": ask.model,
                "content": [],
                "stop_reason": null,
                "stop_sequence": null,
                "usage": usage(1),
            }),
            closing: json!({
                "delta": stop_value(spoken.stop.as_ref(), &blocks),
                "usage": usage(spoken.usage.output.unwrap_or(tokens)),
            }),
            blocks,
        }
    }

    fn whole(&self) -> Value {
        let mut message = self.opening.clone();
        message["content"] = json!(self.blocks);
        message["usage"] = self.closing["usage"].clone();
        if let (Some(message), Some(stop)) =
            (message.as_object_mut(), self.closing["delta"].as_object())
        {
            message.extend(stop.clone());
        }
        message
    }
}

/// The content blocks of the reply, whole, in order.
fn blocks(parts: &[Part], digest: u64) -> Vec<Value> {
    let mut blocks = Vec::new();
    for part in parts {
        let number = blocks.len() + 1;
        blocks.push(match part {
            Part::Say(text) => json!({"type": "text", "text": text}),
            Part::Think(text) => json!({
                "type": "thinking",
                "thinking": text,
                "signature": format!("cmVoZWFyc2Fs{digest:016x}{number:04}"),
            }),
            Part::Tool { name, input } => json!({
                "type": "tool_use",
                "id": format!("toolu_{digest:016x}{number:04}"),
                "name": name,
                "input": input,
            }),
            Part::Block(block) => block.clone(),
            _ => continue,
        });
    }
    blocks
}

/// The fields about stopping: as the script says, else what the content asks for.
fn stop_value(stop: Option<&Stop>, blocks: &[Value]) -> Value {
    let calls_a_tool = blocks.iter().any(|block| block["type"] == "tool_use");
    let reason = match stop {
        Some(stop) => stop.reason.as_str(),
        None if calls_a_tool => "tool_use",
        None => "end_turn",
    };
    let mut fields = json!({"stop_reason": reason, "stop_sequence": null});
    if let Some(stop) = stop.filter(|stop| !stop.details.is_empty()) {
        let details = stop.details.iter();
        let details = details.map(|(key, value)| (key.clone(), json!(value)));
        let mut details: Map<String, Value> = details.collect();
        details.insert("type".to_owned(), json!(stop.reason));
        fields["stop_details"] = Value::Object(details);
    }
    fields
}

fn usage_value(usage: &Usage, output: u64) -> Value {
    let cache_write = usage.cache_write.unwrap_or(0);
    json!({
        "input_tokens": usage.input.unwrap_or(DEFAULT_INPUT_TOKENS),
        "cache_creation_input_tokens": cache_write,
        "cache_read_input_tokens": usage.cache_read.unwrap_or(0),
        "cache_creation": {
            "ephemeral_5m_input_tokens": cache_write,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": output,
        "service_tier": "standard",
    })
}

fn stream(parts: &[Part], message: &Message, digest: u64) -> Vec<Emit> {
    let mut out = Vec::new();
    let (mut pace, mut chunk) = (Duration::ZERO, None);
    let mut blocks = message.blocks.iter().enumerate();
    out.push(event("message_start", json!({"message": message.opening})));
    out.push(event("ping", json!({})));
    for (place, part) in parts.iter().enumerate() {
        match part {
            Part::Wait(time) => out.push(Emit::Pause(*time)),
            Part::Pace(time) => pace = *time,
            Part::Chunk(size) => chunk = Some(*size),
            Part::Event { name, data } => out.push(event(name, data.clone())),
            Part::Error { kind, text, .. } => {
                out.push(event("error", error_body(kind, text, digest)));
                return out;
            }
            Part::Cut { reset } => {
                out.push(Emit::Cut { reset: *reset });
                return out;
            }
            _ => {
                let Some((index, block)) = blocks.next() else {
                    continue;
                };
                out.extend(block_events(index, block, pace, chunk));
                // A cut right after a block comes in the middle of it: the block is not closed.
                if !matches!(parts.get(place + 1), Some(Part::Cut { .. })) {
                    out.push(event("content_block_stop", json!({"index": index})));
                }
            }
        }
    }
    out.push(event("message_delta", message.closing.clone()));
    out.push(event("message_stop", json!({})));
    out
}

fn event(name: &str, mut data: Value) -> Emit {
    if data.get("type").is_none() {
        data["type"] = json!(name);
    }
    Emit::Bytes(Bytes::from(format!("event: {name}\ndata: {data}\n\n")))
}

/// A block as it starts, and the deltas that fill it.
fn block_events(index: usize, block: &Value, pace: Duration, chunk: Option<usize>) -> Vec<Emit> {
    let mut opening = block.clone();
    let text = |field: &str| block[field].as_str().unwrap_or_default();
    let deltas = |kind: &str, field: &str, text: &str, most: usize| -> Vec<Value> {
        let pieces = pieces(text, chunk, most);
        pieces
            .map(|piece| json!({"type": kind, field: piece}))
            .collect()
    };
    let deltas = match block["type"].as_str() {
        Some("text") => {
            opening["text"] = json!("");
            deltas("text_delta", "text", text("text"), MAX_DELTAS)
        }
        Some("thinking") => {
            opening["thinking"] = json!("");
            opening["signature"] = json!("");
            let mut deltas = deltas("thinking_delta", "thinking", text("thinking"), MAX_DELTAS);
            deltas.push(json!({"type": "signature_delta", "signature": text("signature")}));
            deltas
        }
        Some("tool_use" | "server_tool_use") => {
            opening["input"] = json!({});
            let input = block["input"].to_string();
            let kind = "input_json_delta";
            let mut deltas = deltas(kind, "partial_json", &input, MAX_INPUT_DELTAS);
            // The API opens every input with an empty piece.
            deltas.insert(0, json!({"type": kind, "partial_json": ""}));
            deltas
        }
        _ => Vec::new(),
    };
    let start = json!({"index": index, "content_block": opening});
    let mut events = vec![event("content_block_start", start)];
    for delta in deltas {
        if !pace.is_zero() {
            events.push(Emit::Pause(pace));
        }
        let delta = json!({"index": index, "delta": delta});
        events.push(event("content_block_delta", delta));
    }
    events
}

/// Cuts a text into pieces of `chunk` characters, or so that a short text still comes in several and a long one in
/// `at_most`.
pub(crate) fn pieces(
    text: &str,
    chunk: Option<usize>,
    at_most: usize,
) -> impl Iterator<Item = &str> {
    let length = text.chars().count();
    let fitting = || length.div_ceil(at_most).max(CHUNK.min(length.div_ceil(3)));
    let size = chunk.unwrap_or_else(fitting).max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(size);
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Script, Vars};

    fn rendered(script: &str, stream: bool) -> Rendered {
        let script = Script::parse(script).unwrap();
        let vars = Vars::from([("cwd".to_owned(), "/w".to_owned())]);
        let body = json!({"model": "m", "stream": stream});
        let mut ask = Ask::read(body.to_string().as_bytes()).unwrap();
        ask.digest = 7;
        render(&script.replies[0].filled(&vars).unwrap(), &ask)
    }

    /// The stream in few words: event names, with deltas as what they add.
    fn outline(script: &str) -> String {
        let Rendition::Stream(emits) = rendered(script, true).body else {
            panic!("no stream for {script:?}")
        };
        emits.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn word(emit: &Emit) -> String {
        let bytes = match emit {
            Emit::Pause(time) => return format!("pause-{}", time.as_millis()),
            Emit::Cut { reset } => return format!("cut-{reset}"),
            Emit::Bytes(bytes) => std::str::from_utf8(bytes).unwrap(),
        };
        let (name, data) = bytes.trim_end().split_once("\ndata: ").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        let name = name.strip_prefix("event: ").unwrap();
        match name.strip_prefix("content_block_") {
            Some("start") => format!("start:{}", data["content_block"]["type"].as_str().unwrap()),
            Some("delta") => {
                let keys = ["text", "thinking", "partial_json", "signature"];
                let mut added = keys.iter().map(|field| &data["delta"][field]);
                let added = added.find(|added| !added.is_null()).unwrap();
                format!("+{}", added.as_str().unwrap())
            }
            Some(_) => format!("stop{}", data["index"]),
            None if name == "message_delta" => data["delta"]["stop_reason"].to_string(),
            None => name.to_owned(),
        }
    }

    #[test]
    fn a_stream_opens_fills_and_closes_every_block() {
        let table = [
            (
                "reply\nthink \"abc\"\nsay \"in ${cwd}\"\ntool T {\"a\":1}",
                "message_start ping start:thinking +a +b +c +cmVoZWFyc2Fs00000000000000070001 stop0 start:text +in + / +w stop1 \
                 start:tool_use + +{\"a +\":1 +} stop2 \"tool_use\" message_stop",
            ),
            (
                "reply\nwait 1s\nsay \"ab\"\nwait 5ms\npace 2ms\nchunk 2\nsay \"abc\"",
                "message_start ping start:text +a +b stop0 pause-5 start:text pause-2 +ab pause-2 +c stop1 \"end_turn\" message_stop",
            ),
            (
                "reply\nsay \"a\"\ncut",
                "message_start ping start:text +a cut-false",
            ),
            (
                "reply\nsay \"a\"\nwait 1ms\ncut reset",
                "message_start ping start:text +a stop0 pause-1 cut-true",
            ),
            (
                "reply\nsay \"a\"\nerror 529 \"Over\"",
                "message_start ping start:text +a stop0 error",
            ),
            (
                "reply\nblock {\"type\":\"redacted_thinking\",\"data\":\"x\"}\nevent future {\"n\":1}\nstop refusal category=cyber",
                "message_start ping start:redacted_thinking stop0 future \"refusal\" message_stop",
            ),
        ];
        for (script, want) in table {
            assert_eq!(outline(script), want, "{script}");
        }
        assert_eq!(
            rendered("reply\nwait 1s\nwait 1s\nsay \"ab\"", true).delay,
            Duration::from_secs(2)
        );
    }

    #[test]
    fn without_a_stream_the_same_reply_is_one_message() {
        let script = "reply\nsay \"a\"\nwait 2s\ntool T {\"a\":1}\nusage input=1 output=2 cache_read=3 cache_write=4";
        let Rendered { delay, body } = rendered(script, false);
        let message = json!({
            "id": "msg_0000000000000007", "type": "message", "role": "assistant", "model": "m",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "toolu_00000000000000070002", "name": "T", "input": {"a": 1}},
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {
                "input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4,
                "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 0},
                "service_tier": "standard",
            },
        });
        let whole = |status, body| Rendition::Whole {
            status,
            headers: Vec::new(),
            body,
        };
        assert_eq!((delay, body), (Duration::from_secs(2), whole(200, message)));
        let error = rendered("reply\nsay \"a\"\nerror 500 \"x\"", false).body;
        assert_eq!(error, whole(500, error_body("api_error", "x", 7)));
    }

    #[test]
    fn pieces_are_several_but_bounded_and_lose_nothing() {
        let long = "x".repeat(1_000_000);
        let table = [
            ("", None, 256, 0),
            ("ä", None, 256, 1),
            ("äöüß", None, 256, 2),
            (&*long, None, 256, 256),
            (&*long, None, 8, 8),
            ("abcdef", Some(4), 256, 2),
        ];
        for (text, chunk, at_most, count) in table {
            let all: Vec<&str> = pieces(text, chunk, at_most).collect();
            assert_eq!((all.len(), all.concat() == text), (count, true));
        }
    }
}
