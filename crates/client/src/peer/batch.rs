//! Lines as they are handed over: many at once, routed once, decoded only when somebody looks.
//!
//! Owns [`Batch`] (the lines of one read, in one piece of memory) and [`Frame`] (one of them). Invariant: a frame is
//! the line as the CLI wrote it, byte for byte; what was found while routing is kept as places in it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use countersign_wire::content::ContentBlock;
use countersign_wire::decode::{DecodeError, decode};
use countersign_wire::route::{Places, Text};
use countersign_wire::{CliMessage, Json};
use serde::de::DeserializeOwned;

use super::glance::DeltaGlance;

/// A part of a batch. `len` is [`Span::NONE`] where there is nothing.
#[derive(Debug, Clone, Copy)]
struct Span {
    at: u32,
    len: u32,
}

impl Span {
    const NONE: u32 = u32::MAX;
    const EMPTY: Self = Self {
        at: 0,
        len: Self::NONE,
    };

    /// A part of a line that begins at `line`, in a batch of less than four gigabytes.
    fn of(line: usize, part: Option<Range<usize>>) -> Self {
        part.map_or(Self::EMPTY, |part| Self {
            at: (line + part.start) as u32,
            len: part.len() as u32,
        })
    }

    fn get(self, whole: &[u8]) -> Option<&[u8]> {
        if self.len == Self::NONE {
            return None;
        }
        whole.get(self.at as usize..)?.get(..self.len as usize)
    }
}

/// What is known of one line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    line: Span,
    kind: Kind,
    /// No text of it has escapes.
    is_plain: bool,
    name: Span,
    subtype: Span,
    request_id: Span,
    uuid: Span,
    session_id: Span,
    tool_use_id: Span,
    parent_tool_use_id: Span,
}

macro_rules! kinds {
    ($($(#[$meta:meta])* $variant:ident = $text:literal),* $(,)?) => {
        /// The `type` of a line.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Kind {
            $( $(#[$meta])* #[doc = concat!("`", $text, "`")] $variant, )*
            /// A type this build has no name for; [`Frame::type_name`] has it.
            Other,
            /// A line that is no JSON object with a `type`.
            Malformed,
        }

        impl Kind {
            fn of(name: &[u8]) -> Self {
                $( if name == $text.as_bytes() { return Self::$variant; } )*
                Self::Other
            }
        }
    };
}
kinds! {
    StreamEvent = "stream_event",
    System = "system",
    Assistant = "assistant",
    User = "user",
    Result = "result",
    ControlRequest = "control_request",
    ControlResponse = "control_response",
    ControlCancelRequest = "control_cancel_request",
    KeepAlive = "keep_alive",
    ToolProgress = "tool_progress",
    CommandLifecycle = "command_lifecycle",
    RateLimitEvent = "rate_limit_event",
    ConversationReset = "conversation_reset",
}

/// The lines of one read that are events, in order.
#[derive(Debug)]
pub(crate) struct Batch {
    bytes: Bytes,
    places: Vec<Place>,
    /// Number of the first of them in the stream of events, from 0.
    first: u64,
    /// What it costs to keep the memory, if no other batch has been charged with it.
    weight: usize,
}

impl Batch {
    pub(crate) fn new(bytes: Bytes, first: u64) -> Self {
        let weight = bytes.len();
        Self {
            bytes,
            places: Vec::new(),
            first,
            weight,
        }
    }

    /// What follows this batch in the same memory. The memory is charged once.
    pub(crate) fn rest(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            places: Vec::new(),
            first: self.first + self.places.len() as u64,
            weight: if self.places.is_empty() {
                self.weight
            } else {
                0
            },
        }
    }

    /// The memory that its lines lie in.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Routes the line at `start..end`.
    #[inline]
    pub(crate) fn route(&self, start: usize, end: usize) -> Place {
        Place::of(&self.bytes, start, end)
    }

    /// A line that was routed.
    pub(crate) fn at<'a>(&'a self, place: &'a Place) -> View<'a> {
        View {
            bytes: &self.bytes,
            place,
        }
    }

    /// Takes in a line that was routed and is an event.
    #[inline]
    pub(crate) fn push(&mut self, place: Place) {
        if self.places.is_empty() {
            // A guess that is right for deltas and harmless for the rest.
            self.places.reserve(self.bytes.len() / 256 + 1);
        }
        self.places.push(place);
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// What it costs to keep it.
    pub(crate) fn cost(&self) -> usize {
        self.weight + self.places.len() * size_of::<Place>() + size_of::<Self>()
    }

    #[inline]
    pub(crate) fn view(&self, index: usize) -> View<'_> {
        self.at(self.places.get(index).unwrap_or(&Place::NOWHERE))
    }
}

impl Place {
    const NOWHERE: Self = Self {
        line: Span::EMPTY,
        kind: Kind::Malformed,
        is_plain: false,
        name: Span::EMPTY,
        subtype: Span::EMPTY,
        request_id: Span::EMPTY,
        uuid: Span::EMPTY,
        session_id: Span::EMPTY,
        tool_use_id: Span::EMPTY,
        parent_tool_use_id: Span::EMPTY,
    };

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    fn of(bytes: &[u8], start: usize, end: usize) -> Self {
        if u32::try_from(end).is_err() {
            return Self::NOWHERE;
        }
        let line = &bytes[start..end];
        let whole = Span::of(start, Some(0..line.len()));
        let Ok(places) = Places::of(line) else {
            return Self {
                line: whole,
                ..Self::NOWHERE
            };
        };
        let name = Text::of_raw(line.get(places.kind()).unwrap_or_default());
        // Escapes in a `type` are legal JSON, if nothing the CLI writes.
        let kind = match places.is_plain() {
            true => Kind::of(name.raw()),
            false => Kind::of(name.get().as_bytes()),
        };
        Self {
            line: whole,
            kind,
            is_plain: places.is_plain(),
            name: Span::of(start, Some(places.kind())),
            subtype: Span::of(start, places.subtype()),
            request_id: Span::of(start, places.request_id()),
            uuid: Span::of(start, places.uuid()),
            session_id: Span::of(start, places.session_id()),
            tool_use_id: Span::of(start, places.tool_use_id()),
            parent_tool_use_id: Span::of(start, places.parent_tool_use_id()),
        }
    }
}

/// One line of a batch, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    bytes: &'a [u8],
    place: &'a Place,
}

impl<'a> View<'a> {
    pub(crate) fn kind(self) -> Kind {
        self.place.kind
    }

    pub(crate) fn line(self) -> &'a [u8] {
        self.place.line.get(self.bytes).unwrap_or_default()
    }

    fn text(self, span: Span) -> Option<Cow<'a, str>> {
        let raw = span.get(self.bytes)?;
        if self.place.is_plain
            && let Ok(text) = std::str::from_utf8(raw)
        {
            return Some(Cow::Borrowed(text));
        }
        Some(Text::of_raw(raw).get())
    }

    pub(crate) fn type_name(self) -> Option<Cow<'a, str>> {
        self.text(self.place.name)
    }

    pub(crate) fn subtype(self) -> Option<Cow<'a, str>> {
        self.text(self.place.subtype)
    }

    pub(crate) fn is_subtype(self, wanted: &str) -> bool {
        self.place.subtype.get(self.bytes) == Some(wanted.as_bytes())
    }

    pub(crate) fn request_id(self) -> Option<Cow<'a, str>> {
        self.text(self.place.request_id)
    }

    pub(crate) fn uuid(self) -> Option<Cow<'a, str>> {
        self.text(self.place.uuid)
    }

    pub(crate) fn session_id(self) -> Option<Cow<'a, str>> {
        self.text(self.place.session_id)
    }

    pub(crate) fn tool_use_id(self) -> Option<Cow<'a, str>> {
        self.text(self.place.tool_use_id)
    }

    pub(crate) fn parent_tool_use_id(self) -> Option<Cow<'a, str>> {
        self.text(self.place.parent_tool_use_id)
    }

    /// The fields that `T` names, whatever else is missing or broken in the line.
    pub(crate) fn glance<T: DeserializeOwned>(self) -> Option<T> {
        let text = std::str::from_utf8(self.line()).ok()?;
        serde_json::from_str(text).ok()
    }
}

/// One line of the CLI: its kind and ids at hand, its body decoded when asked for. Cheap to clone.
///
/// It shares its memory with the lines that came with it (some tens of kilobytes): keep [`Frame::line`] as a copy where
/// few lines of many are kept for long.
#[derive(Clone)]
pub struct Frame {
    batch: Arc<Batch>,
    index: u32,
}

impl Frame {
    pub(crate) fn new(batch: Arc<Batch>, index: usize) -> Self {
        Self {
            batch,
            index: u32::try_from(index).unwrap_or(u32::MAX),
        }
    }

    fn view(&self) -> View<'_> {
        self.batch.view(self.index as usize)
    }

    /// Its `type`.
    pub fn kind(&self) -> Kind {
        self.view().kind()
    }

    /// Its `type` as it stands in the line; nothing for a malformed one.
    pub fn type_name(&self) -> Option<Cow<'_, str>> {
        self.view().type_name()
    }

    /// Its `subtype`.
    pub fn subtype(&self) -> Option<Cow<'_, str>> {
        self.view().subtype()
    }

    /// Whether its `subtype` is `wanted`.
    pub fn is_subtype(&self, wanted: &str) -> bool {
        self.view().is_subtype(wanted)
    }

    /// Its own `uuid`.
    pub fn uuid(&self) -> Option<Cow<'_, str>> {
        self.view().uuid()
    }

    /// The session it belongs to.
    pub fn session_id(&self) -> Option<Cow<'_, str>> {
        self.view().session_id()
    }

    /// The tool call it is about.
    pub fn tool_use_id(&self) -> Option<Cow<'_, str>> {
        self.view().tool_use_id()
    }

    /// The tool call whose sub-agent it comes from.
    pub fn parent_tool_use_id(&self) -> Option<Cow<'_, str>> {
        self.view().parent_tool_use_id()
    }

    /// The line, byte for byte, without its line end.
    pub fn line(&self) -> &[u8] {
        self.view().line()
    }

    /// Its number in the stream of events, from 0. A [`crate::Question`] says at which number it was asked.
    pub fn position(&self) -> u64 {
        self.batch.first + u64::from(self.index)
    }

    /// The typed message. Types this build does not know are values too.
    ///
    /// # Errors
    /// When the line is no JSON, or a known message lacks a field; the error names it. The line stays at hand.
    pub fn message(&self) -> Result<CliMessage, DecodeError> {
        decode(self.line())
    }

    /// The piece of text that a delta of the model's stream adds, for showing an answer as it comes. Needs
    /// [`crate::Claude::include_partial_messages`].
    pub fn text_delta(&self) -> Option<String> {
        if self.kind() != Kind::StreamEvent {
            return None;
        }
        let glance: DeltaGlance = self.view().glance()?;
        glance.event.delta.text
    }

    /// The text of a completed block of the model's answer.
    pub fn assistant_text(&self) -> Option<String> {
        if self.kind() != Kind::Assistant {
            return None;
        }
        let CliMessage::Assistant(message) = self.message().ok()? else {
            return None;
        };
        let texts = message
            .message
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text(block) => Some(block.text.as_str()),
                _ => None,
            });
        Some(texts.collect::<String>()).filter(|text| !text.is_empty())
    }

    /// The line as JSON that is carried, whatever it means.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn json(&self) -> Result<Json, serde_json::Error> {
        serde_json::from_slice(self.line())
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 200;
        let line = self.line();
        let shown = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
        write!(f, "Frame({shown}")?;
        if line.len() > SHOWN {
            write!(f, "… {} bytes", line.len())?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(line: &str) -> Frame {
        let mut batch = Batch::new(Bytes::copy_from_slice(line.as_bytes()), 7);
        batch.push(batch.route(0, line.len()));
        Frame::new(Arc::new(batch), 0)
    }

    #[test]
    fn kind_and_ids_are_read_wherever_they_stand() {
        let frame = frame(
            r#"{"uuid":"u","message":{"type":"x"},"session_id":"s","parent_tool_use_id":"p","type":"assistant"}"#,
        );
        assert_eq!(frame.kind(), Kind::Assistant);
        assert_eq!(frame.uuid().as_deref(), Some("u"));
        assert_eq!(frame.session_id().as_deref(), Some("s"));
        assert_eq!(frame.parent_tool_use_id().as_deref(), Some("p"));
        assert_eq!(frame.subtype(), None);
        assert_eq!(frame.position(), 7);
    }

    #[test]
    fn the_text_of_deltas_and_blocks_is_at_hand() {
        let delta = frame(
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"gr\u00fc\u00df"}},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}"#,
        );
        assert_eq!(delta.text_delta().as_deref(), Some("grüß"));
        assert_eq!(delta.assistant_text(), None);
        let start = frame(r#"{"type":"stream_event","event":{"type":"message_stop"}}"#);
        assert_eq!(start.text_delta(), None);
        let block = frame(
            r#"{"type":"assistant","message":{"id":"m","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":null,"stop_sequence":null,"type":"message","usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}"#,
        );
        assert_eq!(block.assistant_text().as_deref(), Some("hello"));
    }

    #[test]
    fn an_escaped_type_is_the_same_type() {
        assert_eq!(frame(r#"{"type":"resul\u0074"}"#).kind(), Kind::Result);
        assert_eq!(
            frame(r#"{"type":"resul\u0074"}"#).type_name().as_deref(),
            Some("result")
        );
    }

    #[test]
    fn what_is_no_message_is_still_a_frame_with_its_bytes() {
        let noise = frame("npm warn deprecated");
        assert_eq!(noise.kind(), Kind::Malformed);
        assert_eq!(noise.line(), b"npm warn deprecated");
        assert!(noise.message().is_err());
        assert_eq!(noise.type_name(), None);
    }

    #[test]
    fn a_type_nobody_knows_keeps_its_name_and_its_body() {
        let frame = frame(r#"{"type":"tomorrow","a":1}"#);
        assert_eq!(frame.kind(), Kind::Other);
        assert_eq!(frame.type_name().as_deref(), Some("tomorrow"));
        assert!(matches!(frame.message(), Ok(CliMessage::Unknown(_))));
    }
}
