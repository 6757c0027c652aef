//! The raw events of the model's stream, as `stream_event` lines carry them.
//!
//! Order within a block: deltas, then the completed `assistant` line, then `content_block_stop`.

use countersign_wire_derive::Wire;

use crate::content::{ApiMessage, ContentBlock, StopReason};
use crate::usage::Usage;
use crate::{Bare, Extra, Json, Kept, Nullable, Num};

/// An event of the model's stream.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum StreamEvent {
    /// A message begins.
    #[wire("message_start")]
    MessageStart(Box<MessageStart>),
    /// A block begins.
    #[wire("content_block_start")]
    ContentBlockStart(Box<ContentBlockStart>),
    /// A piece of a block.
    #[wire("content_block_delta")]
    ContentBlockDelta(ContentBlockDelta),
    /// A block is complete.
    #[wire("content_block_stop")]
    ContentBlockStop(ContentBlockStop),
    /// The message's stop reason and final counts.
    #[wire("message_delta")]
    MessageDelta(Box<MessageDeltaEvent>),
    /// The message is complete.
    #[wire("message_stop")]
    MessageStop(Bare),
    /// Nothing; keeps the connection open.
    #[wire("ping")]
    Ping(Bare),
    /// The stream failed.
    #[wire("error")]
    Error(StreamError),
    /// An event this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// A message begins.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MessageStart {
    /// The message, still without blocks.
    pub message: ApiMessage,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A block begins.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContentBlockStart {
    /// Its place in the message.
    pub index: Num,
    /// The block, still empty.
    pub content_block: ContentBlock,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A piece of a block.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContentBlockDelta {
    /// The block's place in the message.
    pub index: Num,
    /// The piece.
    pub delta: Delta,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A block is complete.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContentBlockStop {
    /// Its place in the message.
    pub index: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What a delta adds to its block.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum Delta {
    /// Text.
    #[wire("text_delta")]
    Text(TextDelta),
    /// A piece of a tool's input, cut anywhere.
    #[wire("input_json_delta")]
    InputJson(InputJsonDelta),
    /// Thinking.
    #[wire("thinking_delta")]
    Thinking(ThinkingDelta),
    /// The signature of thinking.
    #[wire("signature_delta")]
    Signature(SignatureDelta),
    /// A citation.
    #[wire("citations_delta")]
    Citations(CitationsDelta),
    /// A piece of a compaction.
    #[wire("compaction_delta")]
    Compaction(CompactionDelta),
    /// A piece this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// Text.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TextDelta {
    /// The text.
    pub text: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A piece of a tool's input.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct InputJsonDelta {
    /// A piece of JSON text, cut anywhere.
    pub partial_json: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Thinking.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ThinkingDelta {
    /// The text.
    pub thinking: String,
    /// Estimate of the tokens so far.
    pub estimated_tokens: Nullable<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The signature of thinking.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SignatureDelta {
    /// The signature.
    pub signature: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A citation.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CitationsDelta {
    /// The citation.
    pub citation: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A piece of a compaction.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CompactionDelta {
    /// The summary.
    pub content: Nullable<String>,
    /// The summary, encrypted.
    pub encrypted_content: Nullable<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The message's stop reason and final counts.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MessageDeltaEvent {
    /// What changed on the message.
    pub delta: MessageDelta,
    /// Token counts, cumulative.
    pub usage: Option<Usage>,
    /// What the API did to the context.
    pub context_management: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What changed on the message.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MessageDelta {
    /// Why the model stopped.
    pub stop_reason: Nullable<StopReason>,
    /// The sequence that stopped it.
    pub stop_sequence: Nullable<String>,
    /// More on why it stopped.
    pub stop_details: Option<Json>,
    /// Container of server-side tools.
    pub container: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The stream failed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct StreamError {
    /// The API's error object.
    pub error: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}
