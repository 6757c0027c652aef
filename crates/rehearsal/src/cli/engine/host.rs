//! What the host wrote: into the queue, to the questions, or to the requests.

use std::time::Duration;

use serde_json::Value;

use super::turn::UserMessage;
use super::{Engine, INBOX, Output};
use crate::cli::scenario::Habit;
use crate::cli::stdin::{Admitted, admit};

impl Engine {
    pub(super) fn host_line(&mut self, line: &[u8]) {
        let message = match admit(line) {
            Admitted::Message(message) => message,
            Admitted::Fatal(reason) if self.does(Habit::Strict) => {
                let text = format!("{reason}\n");
                self.out.push(Output::Stderr(text.into_bytes()));
                self.exit(1);
                return;
            }
            Admitted::Fatal(_) | Admitted::Ignored => return,
        };
        let number = self.next_line;
        self.next_line += 1;
        self.inbox.push_back((number, message.clone()));
        if self.inbox.len() > INBOX {
            self.inbox.pop_front();
        }
        match message["type"].as_str() {
            Some("user") => {
                let id = match message["uuid"].as_str() {
                    Some(uuid) => uuid.to_owned(),
                    None => self.ids.uuid(),
                };
                self.user_message(UserMessage {
                    line: message,
                    number,
                    id,
                });
            }
            Some("control_request") => self.request(message, number),
            Some("control_response") => self.answered(&message),
            // A host can only take back requests of its own, and those are answered at once.
            _ => {}
        }
    }

    fn user_message(&mut self, message: UserMessage) {
        let uuid = message.uuid();
        if let Some(uuid) = &uuid {
            if self.seen_uuids.contains(uuid) {
                // Acknowledged, but not run a second time.
                self.lifecycle(Some(uuid), "completed");
                if self.flags.has("--replay-user-messages") && self.does(Habit::Ack) {
                    self.replay(&message);
                }
                return;
            }
            self.seen_uuids.push(uuid.clone());
        }
        if self.turn.is_none() {
            self.say_state("running");
        }
        self.lifecycle(uuid.as_deref(), "queued");
        self.queue.push_back(message);
    }

    /// Replies whose time has come.
    pub(super) fn send_delayed(&mut self) {
        let now = self.now;
        let (due, later) = std::mem::take(&mut self.delayed)
            .into_iter()
            .partition::<Vec<_>, _>(|(due, _)| *due <= now);
        self.delayed = later;
        for (_, line) in due {
            self.write(line);
        }
    }

    pub(super) fn send_at(&mut self, after: Duration, line: Vec<u8>) {
        self.delayed.push((self.now + after, line));
    }

    /// Whether the end of input is something to end by.
    pub(super) fn heeds_eof(&self) -> bool {
        self.eof && !self.ignores_eof && self.does(Habit::Eof)
    }

    pub(super) fn uuids_waiting(&self) -> Vec<Value> {
        let uuids = self.queue.iter().filter_map(UserMessage::uuid);
        uuids.map(Value::from).collect()
    }
}
