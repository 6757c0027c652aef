//! A conversation with the model: the main one, or a sub-agent's.
//!
//! Owns what was heard and said in it, the message that is being said, and what it cost. Invariant: a message is opened
//! before its first block and closed before the next one opens.

use std::time::Duration;

use serde_json::{Value, json};

use super::Engine;
use super::ledger::Spent;
use super::notes::Noted;
use crate::cli::scenario::{Counts, Habit};
pub(super) use crate::model::ask::text_of;

/// The key of the main conversation.
pub(super) const MAIN: u64 = 0;

#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) key: u64,
    /// Whose it is; None for the main one.
    pub(super) agent: Option<Agent>,
    /// The message that is being said.
    pub(super) message: Option<Message>,
    /// What was said by both sides, as the model is sent it.
    pub(super) heard: Vec<Value>,
    /// The last text.
    pub(super) said: String,
    /// Requests to the model since the turn began.
    pub(super) requests: u64,
    pub(super) spent: Spent,
    /// What the last message counted.
    pub(super) last_spent: Spent,
    /// Time between deltas, and their size.
    pub(super) pace: Duration,
    pub(super) chunk: Option<usize>,
    /// What the next message counts.
    pub(super) counts: Counts,
    /// The report of the last call, and whether it was refused or failed.
    pub(super) report: String,
    pub(super) refused: bool,
    /// Why the next message ends, where the model script says so.
    pub(super) stop_as: Option<String>,
    /// Why the last message ended.
    pub(super) stop_reason: Option<String>,
    /// How often the model could not be reached in a row.
    pub(super) attempts: u32,
    pub(super) tools_used: Vec<String>,
}

/// Who speaks in a conversation that is not the main one.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) task_id: String,
    pub(super) run_id: String,
    pub(super) tool_use_id: String,
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) prompt: String,
    pub(super) background: bool,
    pub(super) since: Duration,
    /// The model of its definition, else the session's.
    pub(super) model: String,
}

/// A message that is being said.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: String,
    /// Blocks that are said.
    pub(super) blocks: u64,
    /// Their size in bytes.
    pub(super) bytes: usize,
    pub(super) counts: Counts,
    pub(super) answers: Vec<String>,
    /// Its blocks, for the transcript.
    pub(super) noted: Vec<Noted>,
}

impl Talk {
    /// A message of the user's side, as the model gets it.
    pub(super) fn hear(&mut self, content: Value) {
        self.heard.push(json!({"role": "user", "content": content}));
    }

    /// A block of the model's side.
    pub(super) fn speak(&mut self, block: &Value) {
        match self.heard.last_mut() {
            Some(last) if last["role"] == "assistant" => {
                if let Some(blocks) = last["content"].as_array_mut() {
                    blocks.push(block.clone());
                }
            }
            _ => (self.heard).push(json!({"role": "assistant", "content": [block]})),
        }
    }

    /// The text of the first user message.
    pub(super) fn first_prompt(&self) -> String {
        let first = self.heard.iter().find(|message| message["role"] == "user");
        first
            .map(|message| text_of(&message["content"]))
            .unwrap_or_default()
    }
}

impl Engine {
    pub(super) fn talk(&mut self, key: u64) -> &mut Talk {
        let index = self.talks.iter().position(|talk| talk.key == key);
        // A conversation that has ended may still be named by a late answer: it gets the main one's place.
        &mut self.talks[index.unwrap_or(0)]
    }

    pub(super) fn agent(&self, key: u64) -> Option<&Agent> {
        let talk = self.talks.iter().find(|talk| talk.key == key);
        talk.and_then(|talk| talk.agent.as_ref())
    }

    /// Whether the host sees the pieces of this conversation.
    pub(super) fn streams(&self, key: u64) -> bool {
        self.flags.partial && key == MAIN
    }

    /// Opens a message, unless one is open. Says whether the turn may go on.
    pub(super) fn open_message(&mut self, key: u64) -> bool {
        if self.talk(key).message.is_some() {
            return true;
        }
        if key == MAIN && self.turn.is_some() && !self.may_ask_model() {
            return false;
        }
        let id = self.ids.message();
        let answers = match &mut self.turn {
            Some(turn) if key == MAIN && !turn.spoken => {
                turn.spoken = true;
                turn.answers.clone()
            }
            _ => Vec::new(),
        };
        let talk = self.talk(key);
        talk.requests += 1;
        let counts = std::mem::take(&mut talk.counts);
        talk.message = Some(Message {
            id,
            blocks: 0,
            bytes: 0,
            counts,
            answers,
            noted: Vec::new(),
        });
        if key == MAIN {
            self.announce_message();
        }
        true
    }

    /// What goes before the first word of a message.
    fn announce_message(&mut self) {
        if self.streams(MAIN) {
            self.say_system(json!({"subtype": "status", "status": "requesting"}));
            self.replay_waiting();
            self.say_message_start();
        }
    }

    /// Messages come back with the first word that answers them.
    pub(super) fn replay_waiting(&mut self) {
        let waiting = match &mut self.turn {
            Some(turn) => std::mem::take(&mut turn.replays),
            None => Vec::new(),
        };
        for message in waiting {
            self.replay(&message);
        }
    }

    /// The message is said: it is counted, and the next block opens another.
    pub(super) fn close_message(&mut self, key: u64, reason: &str) {
        let streams = self.streams(key);
        let model = self.model_of(key);
        let is_free = !self.does(Habit::Cost);
        let talk = self.talk(key);
        let Some(message) = talk.message.take() else {
            return;
        };
        talk.attempts = 0;
        let told = talk.stop_as.take();
        let reason = told.as_deref().unwrap_or(reason);
        talk.stop_reason = Some(reason.to_owned());
        let mut spent = Spent::of(&message.counts, message.bytes, &model);
        if is_free {
            spent.cost = 0.0;
        }
        talk.spent.add(&spent);
        talk.last_spent = spent;
        self.total.add(&model, &spent);
        self.since_result.add(&model, &spent);
        if streams {
            self.say_message_end(&message, &spent, reason);
        }
        self.note_message(key, message, &spent, Some(reason));
    }

    /// The model that a conversation is held with.
    pub(super) fn model_of(&self, key: u64) -> String {
        let agent = self.agent(key);
        agent.map_or(&self.model, |agent| &agent.model).clone()
    }

    /// Whether another request to the model is within the limits of the turn; if not, the turn has ended.
    pub(super) fn may_ask_model(&mut self) -> bool {
        if !self.within_budget() {
            return false;
        }
        let Some(most) = self.flags.max_turns else {
            return true;
        };
        if (self.talk(MAIN).requests as f64) < most {
            return true;
        }
        self.end_limited(
            "error_max_turns",
            format!("Reached maximum number of turns ({})", most),
        );
        false
    }

    /// Whether the money is not spent; if it is, the turn has ended.
    pub(super) fn within_budget(&mut self) -> bool {
        let Some(most) = self.flags.max_budget else {
            return true;
        };
        if self.total.cost() < most || self.turn.is_none() {
            return true;
        }
        self.talk(MAIN).spent = Spent::default();
        self.end_limited(
            "error_max_budget_usd",
            format!("Reached maximum budget (${})", most),
        );
        false
    }
}
