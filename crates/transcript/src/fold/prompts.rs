//! Messages to the agent and what becomes of them.
//!
//! Owns their states. A CLI that tells (`command_lifecycle`, 2.1.325, messages with a uuid) is believed. Otherwise the
//! oldest message that waits is taken up by the next turn that begins, or by its echo; a turn's end ends those it has
//! taken up. A message that was folded into a running turn unseen stays *sent*: nothing on the wire says more.

use countersign_wire::route::Route;

use super::Fold;
use super::host::Noted;
use super::live::Place;
use crate::body::{Origin, Prompt, PromptState};
use crate::clip::{Clip, word};
use crate::entry::Body;
use crate::glance::{self, Content, LifecycleGlance, MessageGlance};
use crate::id::EntryId;

impl Fold {
    /// The host sends a message.
    pub(super) fn prompted(&mut self, line: &[u8], route: &Route<'_>, note: Option<Noted>) {
        let glance = glance::line::<MessageGlance>(line);
        let content = glance.and_then(|glance| glance.message?.content);
        let Some(content) = content else {
            return self.unread('h', line, Some(route), Some("does not fit its type"));
        };
        self.sums().prompts += 1;
        let note = note.unwrap_or_default();
        let uuid = route.uuid.map(|uuid| word(&uuid.get()));
        let mut prompt = self.new_prompt(&content, Origin::Host, PromptState::Sent);
        prompt.by = note.by;
        prompt.client = note.client;
        prompt.why = note.why;
        prompt.uuid = uuid;
        let place = self.place(route);
        let id = self.live.open(place, Body::Prompt(Box::new(prompt)));
        self.prompts.push(id);
    }

    pub(super) fn new_prompt(
        &self,
        content: &Content,
        origin: Origin,
        state: PromptState,
    ) -> Prompt {
        let (text, attachments) = words(content);
        Prompt {
            uuid: None,
            text: Clip::of(&text, self.live.here()),
            attachments,
            origin,
            by: None,
            client: None,
            why: None,
            state,
            started_at: None,
            ended_at: None,
        }
    }

    fn prompt(&self, id: EntryId) -> Option<&Prompt> {
        match &self.live.get(id)?.body {
            Body::Prompt(prompt) => Some(prompt),
            _ => None,
        }
    }

    fn prompt_of(&self, uuid: &str) -> Option<EntryId> {
        let is_it = |id: &EntryId| {
            let prompt = self.prompt(*id);
            prompt.is_some_and(|prompt| prompt.uuid.as_deref() == Some(uuid))
        };
        self.prompts.iter().copied().find(is_it)
    }

    fn set_prompt(&mut self, id: EntryId, state: PromptState) {
        let at = self.live.at();
        let Some(Body::Prompt(prompt)) = self.live.change(id).map(|entry| &mut entry.body) else {
            return;
        };
        prompt.state = state;
        let is_over = match state {
            PromptState::Sent | PromptState::Queued => false,
            PromptState::Started => {
                prompt.started_at.get_or_insert(at);
                false
            }
            _ => {
                prompt.ended_at = Some(at);
                true
            }
        };
        if is_over {
            self.close(id);
        }
    }

    /// The agent says what became of a message.
    pub(super) fn lifecycle(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<LifecycleGlance>(line) else {
            return self.broken(line, route);
        };
        let uuid = glance.command_uuid.as_deref().map(word);
        let Some(id) = uuid.and_then(|uuid| self.prompt_of(&uuid)) else {
            return;
        };
        let state = match glance.state.as_deref() {
            Some("queued") => PromptState::Queued,
            Some("started") => PromptState::Started,
            Some("completed") => PromptState::Done,
            Some("cancelled" | "discarded") => PromptState::Cancelled,
            Some("refused") => PromptState::Refused,
            _ => return,
        };
        self.set_prompt(id, state);
    }

    /// The agent echoes a message: it works on it.
    pub(super) fn echoed(&mut self, place: Place, glance: &MessageGlance, content: &Content) {
        let uuid = glance.uuid.as_deref().map(word);
        let mut known = uuid.as_deref().and_then(|uuid| self.prompt_of(uuid));
        if known.is_none() {
            let text = Clip::of(&words(content).0, self.live.here());
            let is_it = |id: &EntryId| {
                let prompt = self.prompt(*id);
                prompt.is_some_and(|prompt| {
                    prompt.uuid.is_none()
                        && prompt.text.text == text.text
                        && prompt.text.length == text.length
                })
            };
            known = self.prompts.iter().copied().find(is_it);
        }
        match known {
            Some(id) => {
                let state = self.prompt(id).map(|prompt| prompt.state);
                if state != Some(PromptState::Started) {
                    self.set_prompt(id, PromptState::Started);
                }
            }
            None => {
                self.sums().prompts += 1;
                let mut prompt = self.new_prompt(content, Origin::Echo, PromptState::Started);
                prompt.uuid = uuid;
                let id = self.live.open(place, Body::Prompt(Box::new(prompt)));
                self.prompts.push(id);
            }
        }
    }

    /// A turn begins: it takes up the oldest message that waits, unless one was taken up already.
    pub(super) fn take_up_prompt(&mut self) {
        let state = |id: &EntryId| self.prompt(*id).map(|prompt| prompt.state);
        let is_taken = |id: &EntryId| state(id) == Some(PromptState::Started);
        if self.prompts.iter().any(is_taken) {
            return;
        }
        let waits = |id: &EntryId| state(id) == Some(PromptState::Sent);
        let oldest = self.prompts.iter().copied().find(waits);
        if let Some(id) = oldest {
            self.set_prompt(id, PromptState::Started);
        }
    }

    /// A turn ends, and with it the messages it has taken up, or says it has.
    pub(super) fn end_prompts(&mut self, answered: &[String]) {
        for id in self.prompts.clone() {
            let Some(prompt) = self.prompt(id) else {
                continue;
            };
            let is_named = prompt
                .uuid
                .as_ref()
                .is_some_and(|uuid| answered.contains(uuid));
            if is_named || prompt.state == PromptState::Started {
                self.set_prompt(id, PromptState::Done);
            }
        }
    }
}

/// The words of a message, and how many pictures and documents it has.
pub(super) fn words(content: &Content) -> (String, u32) {
    let blocks = match content {
        Content::Text(text) => return (text.clone(), 0),
        Content::Blocks(blocks) => blocks,
    };
    let mut text = String::new();
    let mut attachments = 0;
    for block in blocks {
        match (&block.text, block.kind()) {
            (Some(words), "text") => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(words);
            }
            (_, "image" | "document") => attachments += 1,
            _ => {}
        }
    }
    (text, attachments)
}
