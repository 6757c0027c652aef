//! What is said in a conversation: texts, thinking, calls and their results.
//!
//! The part of the feed that reads assistant and user lines and the pieces before them.

use std::time::Duration;

use countersign_wire::cli::{
    AssistantMessage, Delta, StreamEvent, StreamEventMessage, UserMessage,
};
use countersign_wire::content::{ContentBlock, ToolResultBlock};
use countersign_wire::ids::ToolUseId;
use countersign_wire::{Json, Nullable, TextOr};
use serde_json::Value;

use super::place::Kind;
use super::stream::{Piece, Sort};
use super::{Feed, Speaker};
use crate::show::{cost, gutter, notice, result, text};
use crate::term::style::{Line, Tone};

/// Beyond so many speakers those who are not writing are forgotten.
const SPEAKERS: usize = 1_024;

impl Feed {
    pub(super) fn assistant(&mut self, message: &AssistantMessage, now: Duration) -> Vec<Line> {
        let speaker = speaker(&message.parent_tool_use_id);
        self.calls.meet(
            &speaker,
            message
                .task_description
                .as_deref()
                .or(message.subagent_type.as_deref()),
        );
        self.turn.since.get_or_insert(now);
        self.turn.retry = None;
        if let (None, Some(usage)) = (&speaker, &message.message.usage) {
            self.meter.answered(&message.message.model, usage);
        }
        let id = message.message.id.as_ref().map(|id| id.as_str());
        let mut lines = Vec::new();
        for block in &message.message.content {
            lines.extend(match block {
                ContentBlock::Text(block) if message.error.is_some() => {
                    self.failure_text(&block.text)
                }
                ContentBlock::Text(block) => self.text(&speaker, id, &block.text, now),
                ContentBlock::Thinking(block) => {
                    let took = message
                        .extra
                        .get("thinking_duration_ms")
                        .and_then(|ms| ms.to::<f64>().ok());
                    self.thinking(&speaker, id, &block.thinking, took, now)
                }
                ContentBlock::RedactedThinking(_) => self.thinking(&speaker, id, "", None, now),
                ContentBlock::ToolUse(block) | ContentBlock::ServerToolUse(block) => {
                    let closed = self
                        .stream(&speaker)
                        .whole(id, Sort::Tool, "")
                        .unwrap_or_default();
                    let mut lines = self.closed(&speaker, closed);
                    lines.extend(self.call(
                        &speaker,
                        block.id.as_str(),
                        &block.name,
                        &block.input,
                        now,
                    ));
                    lines
                }
                ContentBlock::McpToolUse(block) => {
                    let name = format!("mcp__{}__{}", block.server_name, block.name);
                    self.call(&speaker, block.id.as_str(), &name, &block.input, now)
                }
                other => self.other_block(&speaker, other),
            });
        }
        lines
    }

    fn stream(&mut self, speaker: &Speaker) -> &mut super::Stream {
        if self.streams.len() >= SPEAKERS && !self.streams.contains_key(speaker) {
            self.streams.retain(|_, stream| stream.doing().is_some());
        }
        self.streams.entry(speaker.clone()).or_default()
    }

    fn text(
        &mut self,
        speaker: &Speaker,
        id: Option<&str>,
        words: &str,
        now: Duration,
    ) -> Vec<Line> {
        let room = gutter::room(self.view.width, self.calls.depth(speaker));
        let stream = self.stream(speaker);
        let piece = match stream.whole(id, Sort::Text, words) {
            Some(piece) => piece,
            None => {
                let mut first = stream.open(Sort::Text, "", room, now);
                let rest = stream.close(Some(words));
                first.lines.extend(rest.lines);
                Piece {
                    is_first: true,
                    ..first
                }
            }
        };
        self.turn.has_text |= speaker.is_none() && !words.trim().is_empty();
        self.closed(speaker, piece)
    }

    /// The lines of a piece, where they belong.
    pub(super) fn closed(&mut self, speaker: &Speaker, piece: Piece) -> Vec<Line> {
        let kind = if piece.is_first {
            Kind::Text
        } else {
            Kind::More
        };
        let mut lines = self.put(kind, speaker, piece.lines);
        if let Some((words, _)) = piece.thought {
            lines.extend(self.thought(speaker, &words, None));
        }
        lines
    }

    /// What the CLI says instead of an answer when a call of the API failed.
    fn failure_text(&mut self, words: &str) -> Vec<Line> {
        self.turn.failure = Some(words.to_owned());
        self.turn.has_text = true;
        let line = notice::bad(text::one_row(words, 600));
        self.notices(vec![line])
    }

    fn thinking(
        &mut self,
        speaker: &Speaker,
        id: Option<&str>,
        words: &str,
        took: Option<f64>,
        now: Duration,
    ) -> Vec<Line> {
        let took = took.map(|ms| Duration::from_secs_f64((ms / 1e3).clamp(0.0, 1e9)));
        let piece = self.stream(speaker).whole(id, Sort::Thinking, words);
        let (words, took) = match piece.map(|piece| piece.thought) {
            None => (words.to_owned(), took),
            // It was shown when its last piece came.
            Some(None) => return Vec::new(),
            Some(Some((words, since))) => (
                words,
                took.or_else(|| since.map(|since| now.saturating_sub(since))),
            ),
        };
        self.thought(speaker, &words, took)
    }

    fn thought(&mut self, speaker: &Speaker, words: &str, took: Option<Duration>) -> Vec<Line> {
        let head = match took {
            Some(took) => format!("Thought for {}", text::duration(took)),
            None => "Thought".to_owned(),
        };
        let depth = self.calls.depth(speaker);
        let line = Line::of(head, Tone::Dim).after(gutter::NOTICE, Tone::Dim);
        let lines = match self.view.verbose {
            true => {
                let rows = words
                    .lines()
                    .map(|row| gutter::said(Line::of(row, Tone::Dim)));
                std::iter::once(line).chain(rows).collect()
            }
            false => {
                let room = gutter::room(self.view.width, depth);
                let first = text::one_row(words, room);
                let line = if first.is_empty() {
                    line
                } else {
                    line.add(format!(": {first}"), Tone::Dim)
                };
                vec![line.cut(room + 2)]
            }
        };
        self.put(Kind::Notice, speaker, lines)
    }

    fn call(
        &mut self,
        speaker: &Speaker,
        id: &str,
        tool: &str,
        input: &Json,
        now: Duration,
    ) -> Vec<Line> {
        let headline = self
            .calls
            .begin(id, tool, input, speaker, &self.view.cwd, now);
        let room = gutter::room(self.view.width, self.calls.depth(speaker));
        let line = if self.view.verbose {
            headline
        } else {
            headline.cut(room.saturating_mul(2))
        };
        self.put(
            Kind::Call(id.to_owned()),
            speaker,
            vec![line.after(gutter::CALL, Tone::Accent)],
        )
    }

    /// A block that is no text and no call: named, never left out.
    fn other_block(&mut self, speaker: &Speaker, block: &ContentBlock) -> Vec<Line> {
        let line = match block {
            ContentBlock::Image(image) => {
                Line::of(result::named("image", &image.source), Tone::Dim)
            }
            ContentBlock::Document(document) => {
                Line::of(result::named("document", &document.source), Tone::Dim)
            }
            ContentBlock::Compaction(_) => return Vec::new(),
            other => {
                let value = serde_json::to_value(other).unwrap_or_default();
                Line::of(text::json_row(&value, 400), Tone::Dim)
            }
        };
        self.put(Kind::Text, speaker, vec![gutter::said(line)])
    }

    pub(super) fn stream_event(
        &mut self,
        message: &StreamEventMessage,
        now: Duration,
    ) -> Vec<Line> {
        let speaker = speaker(&message.parent_tool_use_id);
        self.calls.meet(&speaker, None);
        self.turn.since.get_or_insert(now);
        self.turn.retry = None;
        let room = gutter::room(self.view.width, self.calls.depth(&speaker));
        let piece = match &message.event {
            StreamEvent::MessageStart(start) => {
                let id = start.message.id.as_ref().map(|id| id.as_str());
                if speaker.is_none() {
                    self.turn.model.clone_from(&start.message.model);
                }
                self.stream(&speaker).begin(id)
            }
            StreamEvent::ContentBlockStart(start) => match &start.content_block {
                ContentBlock::Text(_) => self.stream(&speaker).open(Sort::Text, "", room, now),
                ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_) => {
                    self.stream(&speaker).open(Sort::Thinking, "", room, now)
                }
                ContentBlock::ToolUse(block) => {
                    self.stream(&speaker)
                        .open(Sort::Tool, &block.name, room, now)
                }
                _ => Piece::default(),
            },
            StreamEvent::ContentBlockDelta(delta) => self.delta(&speaker, &delta.delta),
            StreamEvent::ContentBlockStop(_) => return self.stopped(&speaker, now),
            StreamEvent::MessageDelta(delta) => {
                if let (None, Some(usage)) = (&speaker, &delta.usage) {
                    self.turn.tokens += cost::whole(&usage.output_tokens);
                    self.turn.guess = 0;
                    self.meter.answered(&self.turn.model, usage);
                }
                Piece::default()
            }
            _ => Piece::default(),
        };
        self.closed(&speaker, piece)
    }

    fn delta(&mut self, speaker: &Speaker, delta: &Delta) -> Piece {
        let (bytes, piece) = match delta {
            Delta::Text(delta) => {
                self.turn.has_text |= speaker.is_none() && !delta.text.trim().is_empty();
                (delta.text.len(), self.stream(speaker).text(&delta.text))
            }
            Delta::Thinking(delta) => {
                self.stream(speaker).thinking(&delta.thinking);
                (delta.thinking.len(), Piece::default())
            }
            Delta::InputJson(delta) => {
                self.stream(speaker).input(delta.partial_json.len());
                (delta.partial_json.len(), Piece::default())
            }
            _ => (0, Piece::default()),
        };
        if speaker.is_none() {
            // Four letters a token, until the count comes.
            self.turn.guess += (bytes as u64).div_ceil(4);
        }
        piece
    }

    fn stopped(&mut self, speaker: &Speaker, now: Duration) -> Vec<Line> {
        let mut piece = self.stream(speaker).stop();
        let thought = piece.thought.take();
        let mut lines = self.closed(speaker, piece);
        if let Some((words, since)) = thought {
            let took = since.map(|since| now.saturating_sub(since));
            lines.extend(self.thought(speaker, &words, took));
        }
        lines
    }

    pub(super) fn user(&mut self, message: &UserMessage) -> Vec<Line> {
        let speaker = speaker(&message.parent_tool_use_id);
        self.calls.meet(
            &speaker,
            message
                .task_description
                .as_deref()
                .or(message.subagent_type.as_deref()),
        );
        let blocks = match &message.message.content {
            TextOr::Text(words) => return self.injected(&speaker, message, words),
            TextOr::Rich(blocks) => blocks,
        };
        let results = blocks
            .iter()
            .filter(|block| matches!(block, ContentBlock::ToolResult(_)))
            .count();
        let structured = message.tool_use_result.as_ref().filter(|_| results == 1);
        let meta = message
            .extra
            .get("tool_result_meta")
            .and_then(|meta| meta.to_value().ok())
            .unwrap_or_default();
        let mut lines = Vec::new();
        for block in blocks {
            lines.extend(match block {
                ContentBlock::ToolResult(block) => {
                    self.returned(&speaker, block, structured, &meta)
                }
                ContentBlock::Text(block) => self.injected(&speaker, message, &block.text),
                _ => Vec::new(),
            });
        }
        lines
    }

    fn returned(
        &mut self,
        speaker: &Speaker,
        block: &ToolResultBlock,
        structured: Option<&Json>,
        meta: &Value,
    ) -> Vec<Line> {
        let id = block.tool_use_id.as_str();
        let call = self.calls.end(id);
        let speaker = call.as_ref().map_or(speaker, |call| &call.speaker).clone();
        let depth = self.calls.depth(&speaker);
        let follows = self.place.is_at_call(id) || self.place.is_with(id);
        let returned = result::Returned {
            tool: call.as_ref().map_or("", |call| &call.tool),
            input: call.as_ref().map_or(&Value::Null, |call| &call.input),
            content: block.content.as_ref(),
            structured,
            is_error: block.is_error == Some(true),
            is_denied: self.calls.was_denied(id) || is_rejected(meta, id),
            is_shown: self.calls.was_shown(id),
            cwd: &self.view.cwd,
        };
        let name = call
            .as_ref()
            .filter(|_| !follows)
            .map(|call| call.headline.clone());
        let lines = result::lines(&returned, self.view.fold(depth), name);
        self.put(Kind::Result(id.to_owned()), &speaker, lines)
    }

    /// A text in the person's name: most are not theirs.
    fn injected(&mut self, speaker: &Speaker, message: &UserMessage, words: &str) -> Vec<Line> {
        if let Some(output) = between(words, "<local-command-stdout>", "</local-command-stdout>") {
            return match output.trim().is_empty() {
                true => Vec::new(),
                false => self.whole_text(output.trim()),
            };
        }
        if let Some(error) = between(words, "<local-command-stderr>", "</local-command-stderr>") {
            return self.notices(vec![notice::bad(text::one_row(error, 400))]);
        }
        if words.starts_with("[Request interrupted by user") {
            self.turn.was_interrupted = true;
            // What was being written stands above it, also where its last line never comes.
            let piece = self.stream(speaker).stop();
            let mut lines = self.closed(speaker, piece);
            lines.extend(self.notices(vec![notice::warn("interrupted")]));
            return lines;
        }
        let is_ours = message.is_replay.is_some() || speaker.is_some();
        if is_ours && !self.view.verbose {
            return Vec::new();
        }
        let is_feedback = message.is_synthetic == Some(true) && words.contains("hook feedback");
        if !is_feedback && !self.view.verbose {
            return Vec::new();
        }
        let mut lines =
            vec![Line::of("told to the agent", Tone::Dim).after(gutter::NOTICE, Tone::Dim)];
        lines.extend(
            words
                .lines()
                .take(self.view.fold.max(6))
                .map(|row| gutter::said(Line::of(text::clip(row, 2_000).0, Tone::Dim))),
        );
        self.put(Kind::Notice, speaker, lines)
    }
}

fn speaker(parent: &Nullable<ToolUseId>) -> Speaker {
    parent.as_ref().map(|id| id.as_str().to_owned())
}

/// Whether the CLI says that this call was refused (2.1.325).
fn is_rejected(meta: &Value, id: &str) -> bool {
    let entries = meta.as_array().map(Vec::as_slice).unwrap_or_default();
    let entry = entries
        .iter()
        .find(|entry| text::field(entry, "id") == Some(id));
    let decision = entry.and_then(|entry| entry.get("permission_decision"));
    decision.and_then(|decision| text::field(decision, "decision")) == Some("reject")
}

fn between<'a>(words: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = words.split_once(from)?;
    Some(rest.split_once(to).map_or(rest, |(inner, _)| inner))
}

/// The texts in a line that does not fit its type.
pub(super) fn salvaged(line: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap_or_default();
    let content = value
        .get("message")
        .and_then(|message| message.get("content"));
    match content {
        Some(Value::String(words)) => words.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| {
                text::field(block, "text").or_else(|| text::field(block, "content"))
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => text::field(&value, "result").unwrap_or_default().to_owned(),
    }
}
