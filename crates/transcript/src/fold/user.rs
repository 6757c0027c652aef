//! Lines in the person's name that the agent prints: results of tools, echoes, injected texts.
//!
//! Owns how they are told apart. Only an echo is a person's message; everything else says what it is.

use countersign_wire::route::Route;

use super::Fold;
use super::live::Place;
use crate::body::{Level, NoticeKind, Origin, PromptState};
use crate::clip::Clip;
use crate::entry::Body;
use crate::glance::{self, Block, Content, MessageGlance};

/// How the CLI marks an interrupted turn.
const INTERRUPTED: &str = "[Request interrupted by user";

impl Fold {
    pub(super) fn user(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(mut glance) = glance::line::<MessageGlance>(line) else {
            return self.broken(line, route);
        };
        let speaker = self.speaker(&glance, route);
        let content = glance
            .message
            .as_mut()
            .and_then(|message| message.content.take());
        let Some(content) = content else {
            return self.broken(line, route);
        };
        match &content {
            Content::Text(text) => self.injected(&speaker, &glance, &content, text),
            Content::Blocks(blocks) => {
                let is_result = |block: &&Block| block.kind() == "tool_result";
                let results = blocks.iter().filter(is_result).count();
                for block in blocks.iter().filter(is_result) {
                    self.tool_result(&speaker, &glance, block, results == 1);
                }
                let (text, attachments) = super::prompts::words(&content);
                if results == 0 || !text.is_empty() {
                    self.injected(&speaker, &glance, &content, &text);
                } else if attachments > 0 {
                    let place = self.place_under(&speaker);
                    let text = format!("{attachments} attachments");
                    self.notice(place, Level::Info, NoticeKind::Injected, "user", &text);
                }
            }
        }
    }

    fn tool_result(&mut self, speaker: &str, glance: &MessageGlance, block: &Block, is_only: bool) {
        let structured = glance.tool_use_result.as_ref().filter(|_| is_only);
        let metas = glance.tool_result_meta.iter().flatten();
        let meta = metas.into_iter().find(|meta| meta.id == block.tool_use_id);
        self.returned(speaker, block, structured, meta);
    }

    /// A text in the person's name: most are not theirs.
    fn injected(&mut self, speaker: &str, glance: &MessageGlance, content: &Content, text: &str) {
        let place = self.place_under(speaker);
        if text.starts_with(INTERRUPTED) {
            self.turn.is_interrupted = true;
            self.end_stream(speaker);
            let (level, about) = (Level::Warning, NoticeKind::Interrupted);
            return self.notice(place, level, about, "user", text);
        }
        let output = between(text, "local-command-stdout");
        if let Some(output) = output.or_else(|| between(text, "local-command-stderr")) {
            if !output.trim().is_empty() {
                let about = NoticeKind::Command;
                self.notice(place, Level::Info, about, "user", output.trim());
            }
            return;
        }
        if self.summarised(text, glance) {
            return;
        }
        if glance.is_replay == Some(true) {
            return self.echoed(place, glance, content);
        }
        match place.speaker.is_some() && glance.is_synthetic != Some(true) {
            true => self.told(place, content),
            false => self.notice(place, Level::Info, NoticeKind::Injected, "user", text),
        }
    }

    /// What an agent tells its sub-agent to do.
    fn told(&mut self, place: Place, content: &Content) {
        let prompt = self.new_prompt(content, Origin::Agent, PromptState::Started);
        self.live.put(place, Body::Prompt(Box::new(prompt)));
    }

    /// The summary that stands for what was compacted.
    fn summarised(&mut self, text: &str, glance: &MessageGlance) -> bool {
        if glance.is_replay == Some(true) {
            return false;
        }
        let here = self.live.here();
        let entry = self.known.compaction;
        let changed = entry.and_then(|id| self.live.change(id));
        match changed.map(|entry| &mut entry.body) {
            Some(Body::Compaction(compaction)) if compaction.is_done => {
                compaction.summary = Some(Clip::of(text, here));
            }
            _ => return false,
        }
        self.end_compaction();
        true
    }
}

fn between<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let end = rest.find(&format!("</{tag}>")).unwrap_or(rest.len());
    Some(&rest[..end])
}
