//! Turns: what begins one, what frames it and how it ends.
//!
//! Invariant: a turn has at most one result, and nothing of the next one is said before it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Engine;
use super::endings::without_model;
use super::fiber::Role;
use super::hooks::Decision;
use super::talk::{MAIN, text_of};
use crate::cli::scenario::{Amend, Habit, Step, Steps};

/// The running turn.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) prompt: String,
    pub(super) prompt_id: String,
    pub(super) uuid: Option<String>,
    /// The id of the message that began it, its own or given.
    pub(super) asked: Option<String>,
    /// Uuids of all messages this turn answers.
    pub(super) answers: Vec<String>,
    /// Messages that are replayed when the first word is said.
    pub(super) replays: Vec<UserMessage>,
    /// The first message was opened.
    pub(super) spoken: bool,
    pub(super) block: Option<usize>,
    pub(super) denials: Vec<Value>,
    /// What began it, if not a person.
    pub(super) origin: Option<Value>,
    /// Its result was written, or is to be left out.
    pub(super) settled: bool,
    pub(super) stage: TurnStage,
    /// When it began.
    pub(super) began: Duration,
    /// Lines of the user's side in it: reports, markers, feedback.
    pub(super) user_lines: u64,
    /// A callback sent the model back to work.
    sent_back: bool,
}

/// Where a turn is.
#[derive(Debug)]
pub(super) enum TurnStage {
    /// For the callbacks of `UserPromptSubmit`.
    Opening(Vec<u64>, Box<UserMessage>),
    /// Its block, or what the mind says, is played by this fiber.
    Playing(u64),
    /// For the callbacks of `Stop`.
    Closing(Vec<u64>),
}

/// A user message that waits for its turn.
#[derive(Debug, Clone)]
pub(super) struct UserMessage {
    pub(super) line: Value,
    pub(super) number: u64,
    /// Its uuid, or one that the CLI gave it.
    pub(super) id: String,
}

/// What a turn begins with, other than a user message.
#[derive(Debug)]
pub(super) enum Beginning {
    /// A block of the scenario.
    Block(usize),
    /// Something in the background is done.
    Task { run_id: String, text: String },
}

impl UserMessage {
    pub(super) fn uuid(&self) -> Option<String> {
        self.line["uuid"].as_str().map(str::to_owned)
    }

    /// Who wrote it, where the host says that a person did: the result of its turn repeats that.
    fn origin(&self) -> Option<Value> {
        let origin = &self.line["origin"];
        (origin["kind"] == "human").then(|| origin.clone())
    }

    /// The text of the message; of blocks, all of it.
    pub(super) fn prompt(&self) -> String {
        text_of(&self.line["message"]["content"])
    }
}

impl Engine {
    /// Begins what is due, if no turn is running. Says whether it did.
    pub(super) fn begin_next_turn(&mut self) -> bool {
        if self.turn.is_some() || self.over {
            return false;
        }
        let due = (self.self_started.iter()).position(|(due, _)| *due <= self.now);
        if let Some(index) = due {
            let (_, block) = self.self_started.remove(index);
            self.begin_by_itself(Beginning::Block(block));
            return true;
        }
        if let Some(beginning) = self.beginnings.pop_front() {
            self.begin_by_itself(beginning);
            return true;
        }
        let Some(message) = self.queue.pop_front() else {
            return false;
        };
        self.begin_with(message);
        true
    }

    fn new_turn(&mut self, prompt: String, uuid: Option<String>) -> Turn {
        let talk = self.talk(MAIN);
        talk.requests = 0;
        talk.spent = Default::default();
        talk.message = None;
        talk.said.clear();
        talk.stop_reason = None;
        talk.pace = Duration::ZERO;
        talk.chunk = None;
        self.interrupted_in_tool = false;
        self.structured_attempts = 0;
        Turn {
            prompt,
            prompt_id: self.ids.uuid(),
            uuid,
            asked: None,
            answers: Vec::new(),
            replays: Vec::new(),
            spoken: false,
            block: None,
            denials: Vec::new(),
            origin: None,
            settled: false,
            stage: TurnStage::Closing(Vec::new()),
            began: self.now,
            user_lines: 0,
            sent_back: false,
        }
    }

    fn begin_with(&mut self, message: UserMessage) {
        let prompt = message.prompt();
        if let Some(command) = self.local_command(&prompt) {
            return self.run_command(command, &message);
        }
        let block = self.choose_block(&prompt);
        if block.is_none() && self.has_turns() {
            let turns = self.used.iter().sum::<u32>();
            self.fail(&format!(
                "a user message came ({:?}), but all turns are used up ({turns} were played); add a `turn`, or `turn always`",
                shortened(&prompt)
            ));
            return;
        }
        let mut turn = self.new_turn(prompt.clone(), message.uuid());
        turn.block = block;
        turn.asked = Some(message.id.clone());
        turn.origin = message.origin();
        self.turn = Some(turn);
        self.lifecycle(message.uuid().as_deref(), "started");
        let fields = json!({"prompt": prompt});
        let serials = self.ask_hooks(MAIN, "UserPromptSubmit", &fields);
        if let Some(turn) = &mut self.turn {
            turn.stage = TurnStage::Opening(serials, Box::new(message));
        }
    }

    fn begin_by_itself(&mut self, beginning: Beginning) {
        let (block, prompt, origin) = match beginning {
            Beginning::Block(block) => (Some(block), String::new(), None),
            Beginning::Task { run_id, text } => {
                let origin = json!({
                    "kind": "task-notification", "producer": "session-task", "runId": run_id,
                });
                (None, text, Some(origin))
            }
        };
        self.say_state("running");
        let mut turn = self.new_turn(prompt.clone(), None);
        turn.block = block;
        turn.origin = origin;
        self.turn = Some(turn);
        if !prompt.is_empty() {
            self.talk(MAIN)
                .hear(json!([{"type": "text", "text": prompt}]));
            self.note_task(&prompt);
        }
        if self.does(Habit::Init) {
            self.say_init();
        }
        let steps = match block {
            Some(block) => self.scenario.blocks[block].steps.clone(),
            None => self.after_task(),
        };
        self.play_turn(steps, None);
    }

    /// What is said when something in the background is done and no scenario says it.
    fn after_task(&mut self) -> Steps {
        match (&self.mind, &self.turn) {
            (None, Some(turn)) => {
                let news = turn.prompt.lines().nth(1).unwrap_or_default();
                let news = news.replace("${", "$${");
                Arc::new([Step::Say(news, Amend::default())])
            }
            _ => self.own_way(),
        }
    }

    fn play_turn(&mut self, steps: Steps, since: Option<u64>) {
        let fiber = self.spawn_fiber(steps, Role::Turn, MAIN);
        if let (Some(fiber), Some(since)) = (self.fibers.last_mut(), since) {
            fiber.since = since;
        }
        if let Some(turn) = &mut self.turn {
            turn.stage = TurnStage::Playing(fiber);
        }
    }

    /// Goes on where callbacks frame the turn. Says whether it moved.
    pub(super) fn advance_turn(&mut self) -> bool {
        match self.turn.as_ref().map(|turn| &turn.stage) {
            Some(TurnStage::Opening(serials, message)) => {
                let (serials, message) = (serials.clone(), (**message).clone());
                let Some(heard) = self.take_heard(&serials) else {
                    return false;
                };
                self.say_hook_messages(&heard);
                if heard.decision == Decision::Deny || heard.stop.is_some() {
                    let reason = heard.reason.or(heard.stop).unwrap_or_default();
                    self.block_prompt(&message, &reason);
                } else {
                    self.open_turn(message, heard.contexts);
                }
                true
            }
            Some(TurnStage::Closing(serials)) => {
                let serials = serials.clone();
                let Some(heard) = self.take_heard(&serials) else {
                    return false;
                };
                self.say_hook_messages(&heard);
                match heard.reason {
                    Some(reason) if heard.decision == Decision::Deny => self.send_back(&reason),
                    _ => self.finish_turn(),
                }
                true
            }
            _ => false,
        }
    }

    fn open_turn(&mut self, message: UserMessage, contexts: Vec<String>) {
        if self.does(Habit::Init) {
            self.say_init();
        }
        self.hear_user(&message);
        for context in contexts {
            self.note_context(MAIN, "UserPromptSubmit", &context);
            self.talk(MAIN)
                .hear(json!([{"type": "text", "text": context}]));
        }
        if self.permissions.mode() == "plan" {
            self.choose_plan_file();
            if let Some(path) = self.plan_file.clone() {
                let text = format!("Plan mode is active. Write the plan to {path}");
                self.talk(MAIN)
                    .hear(json!([{"type": "text", "text": text}]));
            }
        }
        self.consume(&message);
        if message.line["shouldQuery"] == false {
            // The model hears it with the next message.
            self.replay_waiting();
            self.talk(MAIN).said.clear();
            let amend = without_model(json!({"num_turns": 0, "stop_reason": null}));
            return self.end_amended(None, amend);
        }
        let block = self.turn.as_ref().and_then(|turn| turn.block);
        let steps = match block {
            Some(block) => self.scenario.blocks[block].steps.clone(),
            None => self.own_way(),
        };
        self.play_turn(steps, Some(message.number));
    }

    fn hear_user(&mut self, message: &UserMessage) {
        self.hear(message);
        self.note_user(message);
    }

    fn hear(&mut self, message: &UserMessage) {
        let mut content = message.line["message"]["content"].clone();
        if let Some(text) = self.text_of_command(&message.prompt()) {
            if let Some(turn) = &mut self.turn {
                turn.prompt.clone_from(&text);
            }
            content = text.into();
        }
        let content = match content {
            Value::String(text) => json!([{"type": "text", "text": text}]),
            other => other,
        };
        self.talk(MAIN).hear(content);
    }

    fn block_prompt(&mut self, message: &UserMessage, reason: &str) {
        if self.does(Habit::Init) {
            self.say_init();
        }
        let prompt = message.prompt();
        let text = format!(
            "UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt}"
        );
        if let (Some(turn), Some(uuid)) = (&mut self.turn, message.uuid()) {
            turn.answers.push(uuid);
        }
        self.say_system(json!({
            "subtype": "informational",
            "content": text,
            "level": "warning",
            "prevent_continuation": true,
            "prompt_submit_outcome": {
                "kind": "blocked_by_hook", "prompt_kept": false, "reason": reason,
            },
        }));
        self.talk(MAIN).said = text;
        self.end_amended(
            None,
            without_model(json!({"num_turns": 0, "stop_reason": null})),
        );
    }

    /// The turn takes a message: it is replayed with the first word, and completed with the turn's result.
    fn consume(&mut self, message: &UserMessage) {
        let replays = self.flags.has("--replay-user-messages") && self.does(Habit::Ack);
        if let Some(turn) = &mut self.turn {
            turn.answers.extend(message.uuid());
            if replays {
                turn.replays.push(message.clone());
            }
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
        line["uuid"] = message.id.clone().into();
        self.stamp(&mut line);
        self.say_value(&line);
    }

    /// Takes every waiting message into the running turn.
    pub(super) fn fold(&mut self) {
        while let Some(message) = self.queue.pop_front() {
            self.lifecycle(message.uuid().as_deref(), "started");
            self.hear(&message);
            self.note_absorbed(&message);
            self.consume(&message);
        }
    }

    pub(super) fn lifecycle(&mut self, command: Option<&str>, state: &str) {
        let Some(command) = command else { return };
        if !self.does(Habit::Ack) {
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

    /// The steps of the turn are played: callbacks may send the model back to work.
    pub(super) fn close_turn(&mut self) {
        self.close_message(MAIN, "end_turn");
        let Some(turn) = &self.turn else { return };
        let (settled, sent_back) = (turn.settled, turn.sent_back);
        let serials = if settled {
            Vec::new()
        } else {
            let mut fields = json!({
                "stop_hook_active": sent_back,
                "last_assistant_message": self.talk(MAIN).said,
            });
            let tasks = self.background_tasks();
            fields["background_tasks"] = tasks.map(|task| json!({"id": task.id})).collect();
            fields["session_crons"] = json!([]);
            self.ask_hooks(MAIN, "Stop", &fields)
        };
        if let Some(turn) = &mut self.turn {
            turn.stage = TurnStage::Closing(serials);
        }
    }

    fn send_back(&mut self, reason: &str) {
        if let Some(turn) = &mut self.turn {
            turn.sent_back = true;
        }
        let text = format!("Stop hook feedback:\n{reason}");
        let content = json!([{"type": "text", "text": text}]);
        let line = self.say_user(MAIN, content, json!({"isSynthetic": true}));
        self.note_aside(MAIN, &line);
        self.say_system(json!({
            "subtype": "notification",
            "key": "stop-hook-error",
            "text": "stop hook reported a problem · ctrl+o to see",
            "priority": "immediate",
        }));
        let steps: Steps = match self.mind {
            Some(_) => self.own_way(),
            None => Arc::new([Step::Say(format!("Understood: {reason}"), Amend::default())]),
        };
        self.play_turn(steps, None);
    }

    fn finish_turn(&mut self) {
        let Some(turn) = &self.turn else { return };
        if !turn.settled && !self.within_budget() {
            return;
        }
        let Some(turn) = &self.turn else { return };
        if !turn.settled {
            if self.does(Habit::Result) {
                self.say_result(None, &Amend::default());
            }
            self.settle();
        }
        self.leave_turn();
    }

    pub(super) fn leave_turn(&mut self) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        self.fibers.retain(|fiber| fiber.role != Role::Turn);
        self.note_turn_end();
        if let Some(block) = turn.block {
            self.schedule_self_started(block + 1);
        }
        if self.queue.is_empty() && self.beginnings.is_empty() {
            self.say_state("idle");
        }
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
