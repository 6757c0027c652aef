//! Texts that come in pieces: held until they are whole.
//!
//! Owns the pieces of `stream_event` deltas and the records that came between them. A secret that stands in two pieces
//! is cut out of both: its mask stands in the first. What else a record with a piece has is looked at as in any other.
//! Invariants: records go on in the order they came; at most [`MOST_HELD`] bytes are held.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use countersign_api::redact::{Edit, Wanted, apply};
use countersign_journal::{KeeperEvent, Kind};
use countersign_wire::route::Route;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Masked;
use crate::journal::source::Owned;

/// Beyond this the pieces go on as far as they came. A secret that is cut just there may be missed.
const MOST_HELD: usize = 16 << 20;

/// Which text a piece belongs to: the agent that says it, and the number of the block in its message.
pub(super) type Block = (Option<String>, u64);

/// A piece of a text.
pub(super) struct Piece {
    block: Block,
    text: String,
}

/// What ends texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// One block.
    Block(Block),
    /// Everything that this agent says.
    Speaker(Option<String>),
    All,
}

#[derive(Debug)]
struct Waiting {
    record: Owned,
    /// The text of its delta, and which one it is.
    piece: Option<(Block, String)>,
}

#[derive(Debug, Default)]
pub(super) struct Held {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    open: HashSet<Block>,
    /// Texts that are whole now.
    whole: Vec<Block>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
struct StreamEvent<T> {
    event: Event<T>,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
struct Event<T> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    delta: Option<Delta<T>>,
}

/// The fields in which a delta has its text: one of them.
#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
struct Delta<T> {
    #[serde(default)]
    text: Option<T>,
    #[serde(default)]
    thinking: Option<T>,
    #[serde(default)]
    partial_json: Option<T>,
}

impl<T> Delta<T> {
    fn said(self) -> Option<T> {
        self.text.or(self.thinking).or(self.partial_json)
    }
}

fn stream_event(record: &Owned) -> Option<StreamEvent<String>> {
    is_of_type(record, "stream_event").then(|| serde_json::from_slice(&record.payload).ok())?
}

fn is_of_type(record: &Owned, kind: &str) -> bool {
    record.kind == Kind::Agent && Route::of(&record.payload).is_ok_and(|route| route.kind == kind)
}

/// The piece that a record holds.
pub(super) fn piece(record: &Owned) -> Option<Piece> {
    let StreamEvent {
        event,
        parent_tool_use_id,
    } = stream_event(record)?;
    let delta = event
        .delta
        .filter(|_| event.kind == "content_block_delta")?;
    let text = delta.said()?;
    let block = (parent_tool_use_id, event.index?);
    Some(Piece { block, text })
}

/// Which texts end with a record.
pub(super) fn ends(record: &Owned) -> Option<End> {
    if record.kind == Kind::Keeper {
        let event = serde_json::from_slice(&record.payload);
        let is_end = matches!(
            event,
            Ok(KeeperEvent::Open { .. } | KeeperEvent::Exit(_) | KeeperEvent::Lost { .. })
        );
        return is_end.then_some(End::All);
    }
    if let Some(StreamEvent {
        event,
        parent_tool_use_id,
    }) = stream_event(record)
    {
        return match (event.kind.as_str(), event.index) {
            ("content_block_stop", Some(index)) => Some(End::Block((parent_tool_use_id, index))),
            ("message_start" | "message_stop", _) => Some(End::Speaker(parent_tool_use_id)),
            _ => None,
        };
    }
    is_of_type(record, "result").then_some(End::All)
}

impl Held {
    /// A record with a piece of a text.
    pub(super) fn piece(&mut self, record: Owned, piece: Piece) {
        self.open.insert(piece.block.clone());
        self.wait(record, Some((piece.block, piece.text)));
    }

    /// A record that stands for itself.
    pub(super) fn whole(&mut self, record: Owned, end: Option<End>) {
        self.wait(record, None);
        match end {
            Some(End::All) => self.end_all(),
            Some(end) => self.end(|block| match &end {
                End::Block(ended) => block == ended,
                End::Speaker(speaker) => block.0 == *speaker,
                End::All => true,
            }),
            None => {}
        }
    }

    pub(super) fn end_all(&mut self) {
        self.end(|_| true);
    }

    fn end(&mut self, is_ended: impl Fn(&Block) -> bool) {
        let ended: Vec<Block> = self
            .open
            .iter()
            .filter(|block| is_ended(block))
            .cloned()
            .collect();
        for block in ended {
            self.open.remove(&block);
            self.whole.push(block);
        }
    }

    fn wait(&mut self, record: Owned, piece: Option<(Block, String)>) {
        self.bytes += record.payload.len();
        self.waiting.push_back(Waiting { record, piece });
        if self.bytes > MOST_HELD {
            self.end_all();
        }
    }

    /// Masks the texts that are whole, and gives on what waits for none that is not.
    pub(super) fn release(&mut self, wanted: &Wanted, pass_on: &mut Vec<Owned>) -> Masked {
        let mut masked = Masked::default();
        for block in std::mem::take(&mut self.whole) {
            let done = self.mask(&block, wanted);
            masked.secrets += done.secrets;
            masked.records += done.records;
        }
        while let Some(first) = self.waiting.front() {
            let waits = first.piece.as_ref();
            if waits.is_some_and(|(block, _)| self.open.contains(block)) {
                break;
            }
            if let Some(first) = self.waiting.pop_front() {
                self.bytes -= first.record.payload.len();
                pass_on.push(first.record);
            }
        }
        masked
    }

    fn mask(&mut self, block: &Block, wanted: &Wanted) -> Masked {
        let of_block = |waiting: &&mut Waiting| {
            let piece = waiting.piece.as_ref();
            piece.is_some_and(|(of, _)| of == block)
        };
        let mut pieces: Vec<&mut Waiting> = self.waiting.iter_mut().filter(of_block).collect();
        let texts = pieces.iter().filter_map(|waiting| waiting.piece.as_ref());
        let whole: String = texts.map(|(_, text)| text.as_str()).collect();
        let edits = wanted.edits(&whole);
        let mut masked = Masked {
            secrets: edits.iter().map(|edit| edit.secrets).sum(),
            records: 0,
        };
        let mut start = 0;
        for waiting in &mut pieces {
            let Some((_, text)) = waiting.piece.take() else {
                continue;
            };
            let range = start..start + text.len();
            start = range.end;
            let new = part(&text, &range, &edits);
            let line = String::from_utf8_lossy(&waiting.record.payload);
            let Some((line, secrets)) = apply(&line, &around(&line, new, wanted)) else {
                continue;
            };
            let before = waiting.record.payload.len();
            waiting.record.payload = line.into_bytes();
            self.bytes = self.bytes + waiting.record.payload.len() - before;
            masked.secrets += secrets;
            masked.records += 1;
        }
        masked
    }
}

/// The edits of a record with a piece: what else stands in it, and `new` in the place of its piece.
fn around(line: &str, new: Option<String>, wanted: &Wanted) -> Vec<Edit> {
    let mut edits = wanted.edits(line);
    // Where the place is not found the piece is looked at by itself, like the rest.
    let Some(place) = place_of_piece(line) else {
        return edits;
    };
    edits.retain(|edit| edit.range != place);
    if let Some(new) = new {
        let at = edits.partition_point(|edit| edit.range.start < place.start);
        let edit = Edit {
            range: place,
            with: serde_json::Value::from(new).to_string(),
            // Counted once, of the whole text.
            secrets: 0,
        };
        edits.insert(at, edit);
    }
    edits
}

/// Where the piece stands in its line, quotes included.
fn place_of_piece(line: &str) -> Option<Range<usize>> {
    let read: StreamEvent<&RawValue> = serde_json::from_str(line).ok()?;
    let said = read.event.delta?.said()?.get();
    let start = (said.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    Some(start..start + said.len())
}

/// What is left of the piece at `range` of a text; nothing if no edit touches it.
fn part(piece: &str, range: &Range<usize>, edits: &[Edit]) -> Option<String> {
    let touching: Vec<&Edit> = edits
        .iter()
        .filter(|edit| edit.range.start < range.end && edit.range.end > range.start)
        .collect();
    if touching.is_empty() {
        return None;
    }
    let mut out = String::new();
    let mut copied = range.start;
    for edit in touching {
        let from = edit.range.start.max(range.start);
        out.push_str(piece.get(copied - range.start..from - range.start)?);
        // The mask stands where the secret begins.
        if edit.range.start >= range.start {
            out.push_str(&edit.with);
        }
        copied = edit.range.end.min(range.end);
    }
    out.push_str(piece.get(copied - range.start..)?);
    Some(out)
}
