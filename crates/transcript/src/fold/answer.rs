//! What the host answers to the agent.
//!
//! Owns how an answer is read and to which question or hook it belongs. The first answer counts; one to a question that
//! is not open changes nothing, as it changes nothing for the agent.

use countersign_journal::Note;
use countersign_wire::route::Route;

use super::Fold;
use super::host::Noted;
use crate::body::{Answer, HookState, Role, Standing, ToolState, Verdict};
use crate::clip::{Clip, Shown, digest, word};
use crate::entry::Body;
use crate::glance::{self, AnswerBody, ResponseBody, ResponseLine};
use crate::id::EntryId;

impl Fold {
    pub(super) fn answered(&mut self, line: &[u8], route: &Route<'_>, note: Option<Noted>) {
        let Some(id) = route.request_id.map(|id| word(&id.get())) else {
            return self.unread('h', line, Some(route), Some("answers nothing"));
        };
        let hook = self.hooks.get(&id).copied();
        let question = self.questions.get(&id).cloned();
        if hook.is_none() && question.is_none() {
            // Plumbing of MCP servers, or an answer that came too late.
            return;
        }
        let body = glance::line::<ResponseLine>(line).and_then(|line| line.response);
        let body = body.unwrap_or_default();
        let is_error = route.subtype.is_some_and(|subtype| subtype == "error");
        if let Some(entry) = hook {
            return self.hook_answered(entry, &body, is_error);
        }
        if let Some(question) = question {
            let answer = self.answer(&body, is_error, question.digest, note);
            self.take_answer(question.entry, answer);
        }
    }

    fn answer(
        &self,
        body: &ResponseBody,
        is_error: bool,
        asked: u64,
        note: Option<Noted>,
    ) -> Answer {
        let here = self.live.here();
        let none = AnswerBody::default();
        let inner = body.response.as_ref().unwrap_or(&none);
        let said = inner.behavior.as_deref().or(inner.action.as_deref());
        let (verdict, said) = match (is_error, said) {
            (true, _) => (Verdict::Error, "error"),
            (_, Some(said @ ("allow" | "accept" | "completed"))) => (Verdict::Allow, said),
            (_, Some(said @ ("deny" | "decline" | "cancel" | "cancelled"))) => {
                (Verdict::Deny, said)
            }
            (_, said) => (Verdict::Other, said.unwrap_or_default()),
        };
        let message = inner.message.as_deref().or(body.error.as_deref());
        let changed = inner
            .updated_input
            .as_ref()
            .filter(|input| digest(input) != asked);
        let values = inner.content.as_ref().or(inner.result.as_ref());
        let note = note.unwrap_or_default();
        Answer {
            verdict,
            word: word(said),
            message: message.map(|text| Clip::of(text, here)),
            interrupts: inner.interrupt == Some(true),
            input: changed.or(values).map(|json| Shown::of(json, here)),
            updates: inner
                .updated_permissions
                .as_ref()
                .map(|json| Shown::of(json, here)),
            way: note.way,
            by: note.by,
            why: note.why,
            reason_kind: note.reason_kind,
            client: note.client,
            digest: note.digest,
            at: self.live.at(),
            written: here,
            waited: 0,
        }
    }

    fn take_answer(&mut self, entry: EntryId, mut answer: Answer) {
        let mut is_plan = false;
        let approval = match self.live.change(entry).map(|entry| &mut entry.body) {
            Some(Body::Tool(tool)) => {
                is_plan = tool.role == Role::Plan;
                let approval = tool.approval.as_deref_mut();
                if approval
                    .as_ref()
                    .is_some_and(|approval| approval.standing == Standing::Open)
                {
                    tool.state = ToolState::Answered;
                }
                approval
            }
            Some(Body::Ask(ask)) => Some(&mut ask.approval),
            _ => None,
        };
        let Some(approval) = approval else { return };
        if approval.standing != Standing::Open {
            // The first answer counts.
            return;
        }
        answer.waited = answer.at.saturating_sub(approval.asked_at);
        if is_plan && answer.verdict == Verdict::Deny {
            answer.way = way_of_refused(&answer);
        }
        let (verdict, by, waited) = (answer.verdict, answer.by.clone(), answer.waited);
        let way = answer.way.clone();
        if answer.interrupts {
            self.turn.interrupted_by(by.clone());
        }
        approval.standing = Standing::Written;
        approval.answer = Some(answer);
        self.sums()
            .approvals
            .answered(way.as_deref(), verdict, by.as_deref(), waited);
    }

    fn hook_answered(&mut self, entry: EntryId, body: &ResponseBody, is_error: bool) {
        let here = self.live.here();
        if let Some(Body::Hook(hook)) = self.live.change(entry).map(|entry| &mut entry.body)
            && let Some(inner) = &body.response
        {
            let special = inner.hook.as_ref();
            let request = special.and_then(|special| special.decision.as_ref());
            let decision = special
                .and_then(|special| special.permission_decision.as_deref())
                .or(request.and_then(|request| request.behavior.as_deref()))
                .or(inner.decision.as_deref());
            let reason = special
                .and_then(|special| special.permission_decision_reason.as_deref())
                .or(request.and_then(|request| request.message.as_deref()))
                .or(inner.reason.as_deref());
            hook.decision = decision.map(word);
            hook.reason = reason.map(word);
            let context = special.and_then(|special| special.additional_context.as_deref());
            hook.output = context.map(|text| Clip::of(text, here));
        }
        let state = match is_error {
            true => HookState::Failed,
            false => HookState::Done,
        };
        self.end_hook(entry, state);
    }
}

/// Returns the way on that a no to a plan stands for, as its note says.
fn way_of_refused(answer: &Answer) -> Option<String> {
    let note = Note {
        by: answer.by.clone(),
        way: answer.way.clone(),
        ..Note::default()
    };
    Note::way_of_refused_plan(Some(&note), answer.interrupts).map(str::to_owned)
}
