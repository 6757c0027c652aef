//! How a turn ends otherwise than by having said all: limits, hooks, failures, an interrupt.

use serde_json::{Value, json};

use super::Engine;
use super::fiber::{Role, Wait};
use super::talk::{MAIN, Message};
use crate::cli::scenario::{Amend, Counts, Habit};

impl Engine {
    /// The turn ends here, with a result that says more.
    pub(super) fn end_with(&mut self, subtype: Option<&str>, with: Value) {
        self.end_amended(subtype, Amend::with(with));
    }

    pub(super) fn end_amended(&mut self, subtype: Option<&str>, amend: Amend) {
        if self.turn.as_ref().is_some_and(|turn| !turn.settled) {
            if self.does(Habit::Result) {
                self.say_result(subtype, &amend);
            }
            self.settle();
        }
        self.leave_turn();
    }

    /// The turn ends because a limit is reached.
    pub(super) fn end_limited(&mut self, subtype: &str, error: String) {
        self.end_with(Some(subtype), json!({"is_error": true, "errors": [error]}));
    }

    /// The turn ends in the middle, because the host said so.
    pub(super) fn end_interrupted(&mut self) {
        if self.turn.is_none() {
            return;
        }
        self.end_waited_agents();
        let in_tool = self.interrupted_in_tool || !self.turn_denials().is_empty();
        let settled = self.turn.as_ref().is_some_and(|turn| turn.settled);
        if !settled {
            self.break_off();
            let marker = if in_tool {
                "[Request interrupted by user for tool use]"
            } else {
                "[Request interrupted by user]"
            };
            let content = json!([{"type": "text", "text": marker}]);
            let line = self.say_user(MAIN, content, json!({}));
            self.note_broken_off();
            self.note_aside(MAIN, &line);
            self.close_broken_stream();
            let (reason, stop) = match in_tool {
                true => ("aborted_tools", Some("tool_use")),
                false => ("aborted_streaming", None),
            };
            let with = json!({
                "is_error": true,
                "terminal_reason": reason,
                "stop_reason": stop,
                "errors": [format!(
                    "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={}",
                    stop.unwrap_or("null")
                )],
            });
            return self.end_with(Some("error_during_execution"), with);
        }
        self.leave_turn();
    }

    fn turn_denials(&self) -> &[Value] {
        self.turn.as_ref().map_or(&[], |turn| &turn.denials)
    }

    /// What was being said is kept as far as it was said.
    fn break_off(&mut self) {
        let fiber = (self.fibers.iter_mut()).find(|fiber| fiber.role == Role::Turn);
        let wait = fiber.map(|fiber| std::mem::replace(&mut fiber.wait, Wait::Nothing));
        if let Some(Wait::Speech(speech)) = wait {
            self.abandon_block(*speech);
        }
    }

    /// The transcript keeps what was said of a message that was broken off.
    fn note_broken_off(&mut self) {
        let Some(message) = self.talk(MAIN).message.take() else {
            return;
        };
        let kept = Message {
            noted: Vec::new(),
            id: message.id.clone(),
            answers: Vec::new(),
            blocks: message.blocks,
            bytes: message.bytes,
            counts: message.counts,
        };
        self.note_message(MAIN, message, &Default::default(), None);
        self.talk(MAIN).message = Some(kept);
    }

    /// What was said of it counts for the session, a token for three characters, and not for the turn.
    fn charge_broken_message(&mut self, message: &Message) {
        let model = self.model.clone();
        let counts = Counts {
            output: Some((message.bytes as u64 * 2 + 3) / 6),
            ..message.counts
        };
        let mut spent = super::ledger::Spent::of(&counts, 0, &model);
        if !self.does(Habit::Cost) {
            spent.cost = 0.0;
        }
        self.total.add(&model, &spent);
        self.since_result.add(&model, &spent);
    }

    /// The stream of a message that was broken off is closed in form.
    fn close_broken_stream(&mut self) {
        let Some(message) = self.talk(MAIN).message.take() else {
            return;
        };
        if message.bytes > 0 {
            self.charge_broken_message(&message);
        }
        if !self.streams(MAIN) {
            return;
        }
        let usage = self.cast.line("broken_usage");
        let spent = super::ledger::Spent {
            output: 1,
            ..super::ledger::Spent::of(&message.counts, 0, "")
        };
        let mut usage = Value::Object(usage);
        spent.fill_usage(&mut usage);
        let delta = json!({
            "container": null, "stop_details": null, "stop_reason": null, "stop_sequence": null,
        });
        let events = [
            json!({"type": "content_block_stop", "index": message.blocks}),
            json!({
                "type": "message_delta", "context_management": null, "delta": delta, "usage": usage,
            }),
            json!({"type": "message_stop"}),
        ];
        for event in events {
            let last = event["type"] == "message_stop";
            let mut line = self.event(event);
            line["api_message_id"] = message.id.clone().into();
            if last {
                line["abandoned_blocks"] = json!({
                    "api_message_id": message.id, "from_block_index": message.blocks + 1,
                });
            }
            self.say_value(&line);
        }
    }
}

/// The result of a turn in which the model said nothing.
pub(super) fn without_times(with: Value) -> Amend {
    let times = "ttft_ms ttft_stream_ms time_to_request_ms first_content_frame_ms";
    Amend {
        with: Some(with),
        without: times.split(' ').map(str::to_owned).collect(),
    }
}

/// The result of a turn in which the model was not asked.
pub(super) fn without_model(with: Value) -> Amend {
    let mut amend = without_times(with);
    let about_model = ["api_error_status", "terminal_reason"];
    amend.without.extend(about_model.map(str::to_owned));
    amend
}
