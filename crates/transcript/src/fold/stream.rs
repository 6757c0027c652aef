//! Messages being written: pieces make an entry, the line that completes a block replaces it.
//!
//! Owns the pairing of pieces with the completed line. A block is completed by the next line of its message that is of its
//! sort; one that never is stays as it is, marked as partial, once its speaker has gone on.

use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};

use super::Fold;
use super::live::Place;
use crate::body::{Said, Thought};
use crate::bounds;
use crate::clip::{Clip, word};
use crate::entry::Body;
use crate::glance::{self, StreamGlance};
use crate::id::EntryId;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Sort {
    Text,
    Thinking,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Block {
    index: u32,
    sort: Sort,
    /// None before its first letter.
    entry: Option<EntryId>,
}

/// The message that a speaker is writing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Stream {
    message: Option<String>,
    model: Option<String>,
    blocks: Vec<Block>,
}

impl Stream {
    /// The entry is final.
    pub(super) fn forget(&mut self, id: EntryId) {
        self.blocks.retain(|block| block.entry != Some(id));
    }

    fn entries(&self) -> Vec<EntryId> {
        self.blocks.iter().filter_map(|block| block.entry).collect()
    }
}

impl Fold {
    pub(super) fn stream_event(&mut self, line: &[u8], route: &Route<'_>) {
        if let Ok(glance) = serde_json::from_slice::<StreamGlance<'_>>(line) {
            return self.piece(&glance, route);
        }
        let mended = glance::mended(line);
        let glance = mended
            .as_deref()
            .and_then(|line| serde_json::from_slice::<StreamGlance<'_>>(line).ok());
        match glance {
            Some(glance) => self.piece(&glance, route),
            None => self.broken(line, route),
        }
    }

    fn piece(&mut self, glance: &StreamGlance<'_>, route: &Route<'_>) {
        let speaker = match &route.parent_tool_use_id {
            Some(id) => id.get(),
            None => "".into(),
        };
        let event = &glance.event;
        match &*event.kind {
            "content_block_delta" => {
                let (sort, text) = match event.delta.text.is_empty() {
                    false => (Sort::Text, &event.delta.text),
                    true => (Sort::Thinking, &event.delta.thinking),
                };
                if !text.is_empty() {
                    self.delta(&speaker, event.index, sort, text);
                }
            }
            "message_start" => {
                self.retry_over(&speaker);
                self.end_stream(&speaker);
                self.make_room_for_stream(&speaker);
                let stream = Stream {
                    message: event.message.id.as_deref().map(word),
                    model: event.message.model.as_deref().map(word),
                    blocks: Vec::new(),
                };
                self.streams.insert(word(&speaker), stream);
            }
            "content_block_start" => self.block_start(&speaker, event.index, glance),
            _ => {}
        }
    }

    fn block_start(&mut self, speaker: &str, index: u32, glance: &StreamGlance<'_>) {
        let start = &glance.event.content_block;
        let sort = match start.kind.as_str() {
            "text" => Sort::Text,
            "thinking" | "redacted_thinking" => Sort::Thinking,
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let (Some(id), Some(name)) = (&start.id, &start.name) else {
                    return;
                };
                let message = self.streams.get(speaker);
                let message = message.and_then(|stream| stream.message.clone());
                let name = super::tools::full_name(start.server_name.as_deref(), name);
                return self.call(speaker, id, &name, None, message);
            }
            _ => return,
        };
        if let Some(stream) = self.streams.get_mut(speaker) {
            stream
                .blocks
                .retain(|block| block.index != index || block.entry.is_some());
            if stream.blocks.len() < bounds::BLOCKS {
                stream.blocks.push(Block {
                    index,
                    sort,
                    entry: None,
                });
            }
        }
    }

    fn delta(&mut self, speaker: &str, index: u32, sort: Sort, text: &str) {
        let Some(stream) = self.streams.get_mut(speaker) else {
            return;
        };
        let block = stream
            .blocks
            .iter_mut()
            .rfind(|block| block.index == index && block.sort == sort);
        let Some(block) = block else { return };
        if let Some(id) = block.entry {
            return self.live.grow(id, text);
        }
        let message = stream.message.clone();
        let mut clip = Clip::default();
        clip.grow(text);
        let body = match sort {
            Sort::Text => Body::Text(Box::new(Said {
                message,
                model: stream.model.clone(),
                text: clip,
                is_partial: true,
                ..Said::default()
            })),
            Sort::Thinking => Body::Thinking(Box::new(Thought {
                message,
                text: clip,
                is_partial: true,
                ..Thought::default()
            })),
        };
        let place = self.place_under(speaker);
        let id = self.live.open(place, body);
        let block = self.streams.get_mut(speaker).and_then(|stream| {
            let mut blocks = stream.blocks.iter_mut();
            blocks.rfind(|block| block.index == index && block.sort == sort)
        });
        if let Some(block) = block {
            block.entry = Some(id);
        }
        if speaker.is_empty() && sort == Sort::Text {
            self.turn.has_text = true;
        }
    }

    /// The entry that a completed block replaces, if it came in pieces.
    pub(super) fn completes(
        &mut self,
        speaker: &str,
        message: Option<&str>,
        sort: Sort,
    ) -> Option<EntryId> {
        let stream = self.streams.get_mut(speaker)?;
        let is_its = message.is_none() || stream.message.as_deref() == message;
        let at = stream.blocks.iter().position(|block| block.sort == sort)?;
        is_its.then(|| stream.blocks.remove(at).entry).flatten()
    }

    /// What a speaker was writing stays as it is.
    pub(super) fn end_stream(&mut self, speaker: &str) {
        let Some(stream) = self.streams.remove(speaker) else {
            return;
        };
        for id in stream.entries() {
            self.close(id);
        }
    }

    fn make_room_for_stream(&mut self, speaker: &str) {
        if self.streams.len() < bounds::STREAMS || self.streams.contains_key(speaker) {
            return;
        }
        let idle = self
            .streams
            .iter()
            .find(|(_, stream)| stream.entries().is_empty());
        let oldest = self
            .streams
            .iter()
            .min_by_key(|(_, stream)| stream.entries().first().copied());
        let gone = idle.or(oldest).map(|(speaker, _)| speaker.clone());
        if let Some(gone) = gone {
            self.end_stream(&gone);
        }
    }

    /// The place and the parts of a completed block, in the entry it replaces or in a new one.
    pub(super) fn complete(&mut self, place: Place, replaced: Option<EntryId>, body: Body) {
        let changed = replaced.and_then(|id| self.live.change(id));
        match changed {
            Some(entry) => {
                entry.body = body;
                let id = entry.id;
                self.close(id);
            }
            None => {
                self.live.put(place, body);
            }
        }
    }
}
