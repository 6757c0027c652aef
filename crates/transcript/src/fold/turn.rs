//! Turns: what is known of the one that runs, and its end.
//!
//! A result ends a turn, not the run. Owns what ends with it: texts being written, calls of the main conversation without a
//! result, answered forms. What sub-agents do goes on.

use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};

use super::Fold;
use super::live::Place;
use crate::body::{Outcome, ToolState, TurnEnd, Withdrawn};
use crate::bounds;
use crate::clip::{Clip, Shown, word};
use crate::entry::Body;
use crate::glance::{self, ResultGlance};
use crate::meter::whole;

/// What is known of the turn that runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Turn {
    pub(super) is_running: bool,
    /// The main conversation said something in it.
    pub(super) has_text: bool,
    /// The CLI says that it was interrupted.
    pub(super) is_interrupted: bool,
    /// The host asked for that.
    is_asked_to_end: bool,
    by: Option<String>,
}

impl Turn {
    /// The host wants it to end.
    pub(super) fn interrupted_by(&mut self, by: Option<String>) {
        self.is_asked_to_end = true;
        self.by = by;
    }

    /// Why a question goes away now.
    pub(super) fn why_withdrawn(&self) -> Withdrawn {
        match self.is_asked_to_end || self.is_interrupted {
            true => Withdrawn::Interrupted,
            false => Withdrawn::Cancelled,
        }
    }
}

impl Fold {
    /// A turn begins, or the agent says again where it stands.
    pub(super) fn turn_begins(&mut self) {
        if !self.turn.is_running {
            self.turn = Turn {
                is_running: true,
                ..Turn::default()
            };
            self.sums().turns.begun += 1;
        }
        self.take_up_prompt();
    }

    pub(super) fn result(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<ResultGlance>(line) else {
            return self.broken(line, route);
        };
        self.retry_over("");
        self.end_stream("");
        self.end_compaction();
        self.forms_taken();
        self.calls_unanswered();
        if !self.turn.is_running {
            self.sums().turns.begun += 1;
        }
        let turn = std::mem::take(&mut self.turn);
        let end = self.turn_end(&glance, &turn);
        let counts = &mut self.sums().turns;
        match (end.is_interrupted, end.is_success) {
            (true, _) => counts.interrupted += 1,
            (false, true) => counts.succeeded += 1,
            (false, false) => counts.failed += 1,
        }
        let (duration_ms, api_ms) = (end.duration_ms, end.api_ms);
        let sums = self.sums();
        sums.duration_ms = sums.duration_ms.saturating_add(duration_ms);
        sums.api_ms = sums.api_ms.saturating_add(api_ms);
        self.live.put(Place::default(), Body::Result(Box::new(end)));
        let mut answered = glance.user_message_uuids.unwrap_or_default();
        answered.extend(glance.user_message_uuid);
        self.end_prompts(&answered);
    }

    fn turn_end(&mut self, glance: &ResultGlance, turn: &Turn) -> TurnEnd {
        let here = self.live.here();
        self.is_counted = true;
        let api_ms = self.meter.api_ms(glance);
        let cost_usd = self.meter.take(glance, &mut self.totals);
        let subtype = glance.subtype.as_deref().unwrap_or_default();
        let reason = glance.terminal_reason.as_deref();
        let text = glance.result.as_deref();
        let output = glance.structured_output.as_ref();
        let output = output.filter(|json| !json.is_null());
        let is_new = !turn.has_text && output.is_none();
        let text = text.filter(|text| is_new && !text.is_empty());
        let is_aborted = reason.is_some_and(|reason| reason.starts_with("aborted_"));
        let is_success = subtype == "success" && glance.is_error != Some(true);
        let errors = glance.errors.iter().flatten().take(bounds::ITEMS);
        TurnEnd {
            subtype: word(subtype),
            is_success,
            is_interrupted: turn.is_interrupted || is_aborted,
            interrupted_by: turn.by.clone(),
            text: text.map(|text| Clip::of(text, here)),
            structured: output.map(|json| Shown::of(json, here)),
            errors: errors.map(|error| word(error)).collect(),
            api_status: glance.api_error_status.map(|status| whole(Some(status))),
            reason: reason.map(word),
            steps: whole(glance.num_turns),
            duration_ms: whole(glance.duration_ms),
            api_ms,
            cost_usd,
            total_usd: self.totals.cost_usd,
            tokens: glance
                .usage
                .as_ref()
                .map(|usage| usage.tokens())
                .unwrap_or_default(),
            denials: glance.denials(),
        }
    }

    /// The main conversation has come to its end: no result will come for calls of it that have none.
    fn calls_unanswered(&mut self) {
        for id in self.live.ids() {
            let is_over = match self.live.get(id) {
                Some(entry) => match &entry.body {
                    Body::Tool(tool) => {
                        let is_asking = tool.state == ToolState::Asking;
                        entry.speaker.is_none() && tool.result.is_none() && !is_asking
                    }
                    _ => false,
                },
                None => false,
            };
            if !is_over {
                continue;
            }
            if let Some(tool) = self.live.tool(id) {
                tool.state = ToolState::Unknown;
            }
            self.end_call(id);
        }
    }

    /// The turn went on to its end behind the answers to forms and dialogs: they were taken.
    fn forms_taken(&mut self) {
        for id in self.live.ids() {
            let is_answered = match self.live.get(id).map(|entry| &entry.body) {
                Some(Body::Ask(ask)) => ask.approval.answer.is_some(),
                _ => false,
            };
            if is_answered {
                self.settle(id, |verdict| match verdict {
                    Some(crate::body::Verdict::Allow) => Ok(Outcome::Ran),
                    _ => Ok(Outcome::Refused),
                });
                self.close(id);
            }
        }
    }
}
