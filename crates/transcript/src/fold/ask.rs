//! What the agent asks: may a tool run, a form, a dialog, a hook.
//!
//! Owns the way from a request to the entry that shows it, and what a withdrawal does to it. A question about a call that
//! is not known makes the call known.

use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};

use super::Fold;
use crate::body::{
    Approval, Ask, AskKind, Hook, HookState, Outcome, Standing, ToolState, Withdrawn,
};
use crate::clip::{Clip, Shown, digest, word};
use crate::entry::Body;
use crate::glance::{self, AskGlance, AskLine, SystemHookGlance};
use crate::id::EntryId;

/// A question whose entry is open.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) entry: EntryId,
    /// Of the input that was asked about.
    pub(super) digest: u64,
}

impl Fold {
    pub(super) fn asked(&mut self, line: &[u8], route: &Route<'_>) {
        let subtype = route.subtype.map(|subtype| subtype.get().into_owned());
        let subtype = subtype.as_deref().unwrap_or_default();
        if subtype == "mcp_message" {
            return;
        }
        let glance = glance::line::<AskLine>(line).and_then(|line| line.request);
        let (Some(id), Some(glance)) = (route.request_id, glance) else {
            return self.broken(line, route);
        };
        let id = word(&id.get());
        if self.questions.contains_key(&id) || self.hooks.contains_key(&id) {
            return;
        }
        match subtype {
            "can_use_tool" => self.tool_question(&id, &glance),
            "elicitation" => self.form(&id, AskKind::Elicitation, &glance),
            "request_user_dialog" => self.form(&id, AskKind::Dialog, &glance),
            "hook_callback" => self.callback(&id, &glance),
            _ => self.unknown('a', line, route),
        }
    }

    fn tool_question(&mut self, id: &str, glance: &AskGlance) {
        let name = word(glance.tool_name.as_deref().unwrap_or_default());
        let input = glance.input.clone().unwrap_or_default();
        let asked = digest(&input);
        let call = match glance.tool_use_id.as_deref() {
            Some(call) => word(call),
            // No line will ever name this call: nothing but the question is known of it.
            None => self
                .call_meant(&name, asked)
                .unwrap_or_else(|| word(&format!("question {id}"))),
        };
        let shown = Shown::of(&input, self.live.here());
        let known = self.calls.get(&call).map(|call| (call.entry, call.digest));
        let (entry, written) = match known {
            Some(known) => known,
            None => {
                let place = self.place_of(glance.agent_id.as_deref());
                let speaker = place.speaker.unwrap_or_default();
                let entry = self.new_call(&speaker, &call, &name, Some(shown.clone()), None);
                if let Some(call) = self.calls.get_mut(&call) {
                    call.digest = asked;
                }
                (entry, asked)
            }
        };
        let mut approval = self.approval(id, AskKind::Tool, glance);
        approval.input = (written != asked).then_some(shown);
        let speaker = self.live.get(entry).and_then(|entry| entry.speaker.clone());
        approval.path = self.path(speaker.as_deref());
        // A call that is asked about again: the earlier question was not answered in time.
        self.settle(entry, |_| Err(Withdrawn::Cancelled));
        if let Some(tool) = self.live.tool(entry) {
            tool.approval = Some(Box::new(approval));
            tool.denial = None;
            tool.state = ToolState::Asking;
        }
        self.questions.retain(|_, question| question.entry != entry);
        self.ask(id, entry, asked);
    }

    /// Returns the call that a question means which names none (1.0.128): the oldest of that input that was not asked about,
    /// else the only one of the tool.
    fn call_meant(&self, name: &str, asked: u64) -> Option<String> {
        let mut unasked: Vec<_> = (self.calls.iter())
            .filter(
                |(_, call)| match self.live.get(call.entry).map(|entry| &entry.body) {
                    Some(Body::Tool(tool)) => tool.name == name && tool.approval.is_none(),
                    _ => false,
                },
            )
            .collect();
        unasked.sort_by_key(|(_, call)| call.entry);
        let exact = unasked.iter().find(|(_, call)| call.digest == asked);
        let only = unasked.first().filter(|_| unasked.len() == 1);
        exact.or(only).map(|(id, _)| (*id).clone())
    }

    fn ask(&mut self, id: &str, entry: EntryId, digest: u64) {
        self.questions
            .insert(id.to_owned(), Question { entry, digest });
        let counts = &mut self.sums().approvals;
        counts.asked += 1;
        counts.open += 1;
    }

    fn approval(&self, id: &str, kind: AskKind, glance: &AskGlance) -> Approval {
        let field = |text: &Option<String>| text.as_deref().map(word);
        Approval {
            request_id: id.to_owned(),
            kind,
            asked: self.live.here(),
            asked_at: self.live.at(),
            title: field(&glance.title).or_else(|| field(&glance.display_name)),
            description: field(&glance.description),
            reason: field(&glance.decision_reason),
            reason_kind: field(&glance.decision_reason_type),
            blocked_path: field(&glance.blocked_path),
            needs_person: glance.requires_user_interaction == Some(true),
            input: None,
            suggestions: glance
                .permission_suggestions
                .as_ref()
                .map(|json| Shown::of(json, self.live.here())),
            agent_id: field(&glance.agent_id),
            path: Vec::new(),
            standing: Standing::Open,
            answer: None,
            ended_at: None,
        }
    }

    /// An elicitation or a dialog.
    fn form(&mut self, id: &str, kind: AskKind, glance: &AskGlance) {
        let here = self.live.here();
        let from = glance.mcp_server_name.as_deref();
        let form = glance.requested_schema.as_ref().or(glance.payload.as_ref());
        let mut approval = self.approval(id, kind, glance);
        let place = self.place_of(glance.agent_id.as_deref());
        approval.path = self.path(place.speaker.as_deref());
        let ask = Ask {
            approval,
            from: word(from.or(glance.dialog_kind.as_deref()).unwrap_or_default()),
            message: glance.message.as_deref().map(|text| Clip::of(text, here)),
            url: glance.url.as_deref().map(word),
            form: form.map(|json| Shown::of(json, here)),
        };
        let entry = self.live.open(place, Body::Ask(Box::new(ask)));
        self.ask(id, entry, 0);
    }

    /// A hook that the host answers.
    fn callback(&mut self, id: &str, glance: &AskGlance) {
        let input: SystemHookGlance = glance
            .input
            .as_ref()
            .and_then(|input| input.to().ok())
            .unwrap_or_default();
        let call = glance.tool_use_id.as_deref().map(word);
        let known = call.filter(|call| self.calls.contains_key(call));
        let hook = Hook {
            event: word(input.hook_event.as_deref().unwrap_or_default()),
            name: word(glance.callback_id.as_deref().unwrap_or_default()),
            is_callback: true,
            tool_use_id: known,
            state: HookState::Running,
            decision: None,
            reason: None,
            output: None,
            exit_code: None,
            took: None,
        };
        let place = self.place_of(glance.agent_id.as_deref());
        let entry = self.live.open(place, Body::Hook(Box::new(hook)));
        self.hooks.insert(id.to_owned(), entry);
    }

    /// The agent withdraws a request.
    pub(super) fn cancelled(&mut self, route: &Route<'_>) {
        let Some(id) = route.request_id else { return };
        let id = word(&id.get());
        if let Some(entry) = self.hooks.get(&id).copied() {
            return self.end_hook(entry, HookState::Cancelled);
        }
        let Some(question) = self.questions.remove(&id) else {
            return;
        };
        let why = self.turn.why_withdrawn();
        self.settle(question.entry, |verdict| match verdict {
            Some(_) => Ok(Outcome::Unused),
            None => Err(why),
        });
        match self
            .live
            .change(question.entry)
            .map(|entry| &mut entry.body)
        {
            Some(Body::Tool(tool)) => tool.state = ToolState::Called,
            Some(Body::Ask(_)) => self.close(question.entry),
            _ => {}
        }
    }

    pub(super) fn end_hook(&mut self, entry: EntryId, state: HookState) {
        let at = self.live.at();
        let Some(changed) = self.live.change(entry) else {
            return;
        };
        let began = changed.at;
        if let Body::Hook(hook) = &mut changed.body {
            hook.state = state;
            hook.took = Some(at.saturating_sub(began));
        }
        self.close(entry);
    }
}
