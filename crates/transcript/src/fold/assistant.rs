//! Completed blocks of the model.
//!
//! Owns what each kind of block becomes. A block that came in pieces is completed in its own entry, never told twice.

use countersign_wire::route::Route;

use super::Fold;
use super::stream::Sort;
use super::tools::full_name;
use crate::body::{Level, NoticeKind, Said, Thought};
use crate::bounds;
use crate::clip::{Clip, word};
use crate::entry::Body;
use crate::glance::{self, Block, Content, MessageGlance};

impl Fold {
    pub(super) fn assistant(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<MessageGlance>(line) else {
            return self.broken(line, route);
        };
        let speaker = self.speaker(&glance, route);
        self.retry_over(&speaker);
        let Some(message) = &glance.message else {
            return self.broken(line, route);
        };
        match &message.content {
            Some(Content::Blocks(blocks)) => {
                for block in blocks {
                    self.block(&speaker, &glance, block, line, route);
                }
            }
            Some(Content::Text(text)) => self.said(&speaker, &glance, text),
            None => self.broken(line, route),
        }
    }

    /// Who says a line; what it tells about a sub-agent is noted.
    pub(super) fn speaker(&mut self, glance: &MessageGlance, route: &Route<'_>) -> String {
        let Some(id) = &route.parent_tool_use_id else {
            return String::new();
        };
        let speaker = id.get().into_owned();
        let label = glance.task_description.as_deref();
        let label = label.or(glance.subagent_type.as_deref());
        self.agent_met(&speaker, glance.agent_id.as_deref(), label);
        speaker
    }

    fn block(
        &mut self,
        speaker: &str,
        glance: &MessageGlance,
        block: &Block,
        line: &[u8],
        route: &Route<'_>,
    ) {
        let message = glance
            .message
            .as_ref()
            .and_then(|message| message.id.as_deref());
        match block.kind() {
            "text" => self.said(speaker, glance, block.text.as_deref().unwrap_or_default()),
            "thinking" | "redacted_thinking" => self.thought(speaker, message, block),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let (Some(id), Some(name)) = (&block.id, &block.name) else {
                    return self.broken(line, route);
                };
                let name = full_name(block.server_name.as_deref(), name);
                let input = block.input.clone().unwrap_or_default();
                self.call(speaker, id, &name, Some(&input), message.map(word));
            }
            kind if kind.ends_with("_tool_result") => {
                self.returned(speaker, block, None, None);
            }
            "fallback" | "compaction" | "mid_conv_system" => {
                let source = format!("assistant/{}", block.kind());
                let text = block.text.as_deref().unwrap_or(block.kind());
                let place = self.place_under(speaker);
                self.notice(place, Level::Info, NoticeKind::Cli, &source, text);
            }
            _ => self.unknown('a', line, route),
        }
    }

    fn said(&mut self, speaker: &str, glance: &MessageGlance, text: &str) {
        let payload = glance.message.as_ref();
        let message = payload.and_then(|message| message.id.as_deref());
        let replaced = self.completes(speaker, message, Sort::Text);
        if text.is_empty() && replaced.is_none() {
            return;
        }
        let mut supersedes: Vec<String> = Vec::new();
        for uuid in glance.supersedes.iter().flatten().take(bounds::ITEMS) {
            supersedes.push(word(uuid));
        }
        let said = Said {
            message: message.map(word),
            uuid: glance.uuid.as_deref().map(word),
            model: payload.and_then(|message| message.model.as_deref().map(word)),
            text: Clip::of(text, self.live.here()),
            is_partial: false,
            is_aborted: glance.aborted == Some(true),
            error: glance.error.as_deref().map(word),
            supersedes,
        };
        self.turn.has_text |= speaker.is_empty() && !text.is_empty();
        let place = self.place_under(speaker);
        self.complete(place, replaced, Body::Text(Box::new(said)));
    }

    fn thought(&mut self, speaker: &str, message: Option<&str>, block: &Block) {
        let replaced = self.completes(speaker, message, Sort::Thinking);
        let began = replaced
            .and_then(|id| self.live.get(id))
            .map(|entry| entry.at);
        let thought = Thought {
            message: message.map(word),
            text: Clip::of(
                block.thinking.as_deref().unwrap_or_default(),
                self.live.here(),
            ),
            is_redacted: block.kind() == "redacted_thinking",
            is_partial: false,
            took: began.map(|began| self.live.at().saturating_sub(began)),
        };
        let place = self.place_under(speaker);
        self.complete(place, replaced, Body::Thinking(Box::new(thought)));
    }
}
