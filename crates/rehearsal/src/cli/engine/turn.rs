//! Turns: which user message begins one, what frames it and how it ends.

use serde_json::{Value, json};

use super::{Engine, Role};
use crate::cli::scenario::{Amend, Habit, Step};
use std::sync::Arc;

/// The running turn.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) fiber: u64,
    pub(super) prompt: String,
    pub(super) uuid: Option<String>,
    /// Uuids of all messages this turn answers.
    pub(super) answers: Vec<String>,
    pub(super) block: Option<usize>,
    pub(super) message_id: String,
    pub(super) said: String,
    pub(super) denials: Vec<Value>,
    pub(super) requests: u64,
    /// Its result was written, or is to be left out.
    pub(super) settled: bool,
}

/// A user message that waits for its turn.
#[derive(Debug, Clone)]
pub(super) struct UserMessage {
    pub(super) line: Value,
    pub(super) number: u64,
}

impl UserMessage {
    pub(super) fn uuid(&self) -> Option<String> {
        self.line["uuid"].as_str().map(str::to_owned)
    }

    /// The text of the message; of blocks, all of it.
    fn prompt(&self) -> String {
        match &self.line["message"]["content"] {
            Value::String(text) => text.clone(),
            Value::Array(blocks) => {
                let texts = blocks.iter().filter_map(|block| block["text"].as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        }
    }
}

impl Engine {
    /// Begins what is due, if no turn is running. Says whether it did.
    pub(super) fn begin_next_turn(&mut self) -> bool {
        if self.turn.is_some() || self.over {
            return false;
        }
        let due = self
            .self_started
            .iter()
            .position(|(due, _)| *due <= self.now);
        if let Some(index) = due {
            let (_, block) = self.self_started.remove(index);
            self.begin(Some(block), None);
            return true;
        }
        let Some(message) = self.queue.pop_front() else {
            return false;
        };
        let prompt = message.prompt();
        let block = self.choose_block(&prompt);
        if block.is_none() && self.has_turns() {
            let turns = self.used.iter().sum::<u32>();
            self.fail(&format!(
                "a user message came ({:?}), but all turns are used up ({turns} were played); add a `turn`, or `turn always`",
                shortened(&prompt)
            ));
            return false;
        }
        self.begin(block, Some(message));
        true
    }

    fn begin(&mut self, block: Option<usize>, message: Option<UserMessage>) {
        let steps = match block {
            Some(block) => self.scenario.blocks[block].steps.clone(),
            None => Arc::from([Step::Say("Done.".to_owned(), Amend::default())]),
        };
        let fiber = self.spawn_fiber(steps, Role::Turn);
        if let (Some(fiber), Some(message)) = (self.fibers.last_mut(), &message) {
            fiber.since = message.number;
        }
        let message_id = self.ids.message();
        self.turn = Some(Turn {
            fiber,
            prompt: message
                .as_ref()
                .map(UserMessage::prompt)
                .unwrap_or_default(),
            uuid: message.as_ref().and_then(UserMessage::uuid),
            answers: Vec::new(),
            block,
            message_id,
            said: String::new(),
            denials: Vec::new(),
            requests: 1,
            settled: false,
        });
        if let Some(message) = &message {
            self.lifecycle(message.uuid().as_deref(), "started");
        }
        if self.does(Habit::Init) {
            self.say_init();
        }
        if let Some(message) = message {
            self.consume(&message);
        }
    }

    /// The turn takes a message: it is replayed now, and completed with the turn's result.
    fn consume(&mut self, message: &UserMessage) {
        if let (Some(turn), Some(uuid)) = (&mut self.turn, message.uuid()) {
            turn.answers.push(uuid);
        }
        if self.flags.replay && self.does(Habit::Ack) {
            self.replay(message);
        }
    }

    pub(super) fn replay(&mut self, message: &UserMessage) {
        let mut line = json!({
            "type": "user",
            "message": message.line["message"],
            "session_id": self.session,
            "parent_tool_use_id": null,
            "isReplay": true,
        });
        line["uuid"] = match message.uuid() {
            Some(uuid) => uuid.into(),
            None => self.ids.uuid().into(),
        };
        self.stamp(&mut line);
        self.say_value(&line);
    }

    /// Takes every waiting message into the running turn.
    pub(super) fn fold(&mut self) {
        while let Some(message) = self.queue.pop_front() {
            self.lifecycle(message.uuid().as_deref(), "started");
            self.consume(&message);
        }
    }

    pub(super) fn lifecycle(&mut self, command: Option<&str>, state: &str) {
        let Some(command) = command else { return };
        if !self.version.reports_lifecycle() || !self.does(Habit::Ack) {
            return;
        }
        let line = json!({
            "type": "command_lifecycle",
            "command_uuid": command,
            "state": state,
            "uuid": self.ids.uuid(),
            "session_id": self.session,
        });
        self.say_value(&line);
    }

    /// The result of the running turn is written, or known to be left out.
    pub(super) fn settle(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.settled = true;
        let answers = std::mem::take(&mut turn.answers);
        for uuid in answers {
            self.lifecycle(Some(&uuid), "completed");
        }
    }

    /// The steps of the turn are played.
    pub(super) fn finish_turn(&mut self) {
        let Some(turn) = &self.turn else { return };
        if !turn.settled {
            if self.does(Habit::Result) {
                self.say_result(None, &Amend::default());
            }
            self.settle();
        }
        self.leave_turn();
    }

    fn leave_turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.fibers.retain(|fiber| fiber.id != turn.fiber);
            if let Some(block) = turn.block {
                self.schedule_self_started(block + 1);
            }
        }
    }

    /// The turn ends in the middle, because the host said so.
    pub(super) fn end_interrupted(&mut self) {
        let Some(turn) = &self.turn else { return };
        let in_tool = !turn.denials.is_empty();
        if !turn.settled {
            let marker = if in_tool {
                "[Request interrupted by user for tool use]"
            } else {
                "[Request interrupted by user]"
            };
            self.say_user(json!([{"type": "text", "text": marker}]), json!({}));
            let is_error = self.version.interrupt_is_error();
            let mut with = json!({"is_error": is_error});
            if is_error {
                let reason = if in_tool {
                    "aborted_tools"
                } else {
                    "aborted_streaming"
                };
                with["terminal_reason"] = reason.into();
            }
            let amend = Amend {
                with: Some(with),
                without: Vec::new(),
            };
            self.say_result(Some("error_during_execution"), &amend);
            self.settle();
        }
        self.leave_turn();
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
