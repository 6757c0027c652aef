//! Commands that the CLI itself carries out: `/clear` and `/compact`. All others are prompts.

use serde_json::{Value, json};

use super::Engine;
use super::talk::MAIN;
use super::turn::UserMessage;
use crate::cli::scenario::Habit;

/// A command of the CLI's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Clear,
    Compact,
    Context,
    Model,
}

impl Engine {
    /// The command that a prompt is, unless a scenario has turns of its own for it.
    pub(super) fn local_command(&self, prompt: &str) -> Option<Command> {
        if self.has_turns() {
            return None;
        }
        match prompt.split_whitespace().next()? {
            "/clear" | "/reset" | "/new" => Some(Command::Clear),
            "/compact" => Some(Command::Compact),
            "/context" => Some(Command::Context),
            "/model" => Some(Command::Model),
            _ => None,
        }
    }

    pub(super) fn run_command(&mut self, command: Command, message: &UserMessage) {
        self.lifecycle(message.uuid().as_deref(), "started");
        match command {
            Command::Clear => self.clear(message),
            Command::Compact => {
                let prompt = message.prompt();
                let wishes = prompt
                    .split_once(char::is_whitespace)
                    .map(|(_, rest)| rest.trim());
                let fields = json!({
                    "trigger": "manual", "custom_instructions": wishes.unwrap_or_default(),
                });
                self.tell_hooks(MAIN, "PreCompact", "manual", &fields);
                self.compact();
            }
            Command::Context => {
                let text = format!(
                    "## Context Usage\n\n**Model:** {}  \n**Tokens:** 10.3k / 1m (1%)",
                    self.model
                );
                self.open_command();
                let more = json!({"context_usage": self.recorded_line("context_usage")});
                self.answer_command("context", "", text, more);
            }
            Command::Model => {
                self.open_command();
                let prompt = message.prompt();
                let asked = prompt.split_whitespace().nth(1).unwrap_or("default");
                let name = self.choose_model(asked);
                let text = format!("Set model to `{name}` for this session only");
                self.answer_command("model", asked, text, json!({}));
            }
        }
        self.lifecycle(message.uuid().as_deref(), "completed");
        self.say_state("idle");
    }

    /// The command file that a prompt calls, and how the transcript tells the call.
    pub(super) fn called(&self, prompt: &str) -> Option<(String, String)> {
        let called = prompt.strip_prefix('/')?;
        let (name, arguments) = called
            .split_once(char::is_whitespace)
            .unwrap_or((called, ""));
        let command = self.commands.as_ref()?.lookup(name)?;
        Some((name.to_owned(), command.call(arguments.trim())))
    }

    /// What a command file of the project or the user says, with the arguments filled in.
    pub(super) fn text_of_command(&self, prompt: &str) -> Option<String> {
        let called = prompt.strip_prefix('/')?;
        let (name, arguments) = called
            .split_once(char::is_whitespace)
            .unwrap_or((called, ""));
        let command = self.commands.as_ref()?.lookup(name)?;
        Some(command.text(arguments.trim()))
    }

    fn clear(&mut self, message: &UserMessage) {
        let id = self.ids.uuid();
        let mut line = json!({
            "type": "conversation_reset",
            "new_conversation_id": id,
            "uuid": id,
            "trigger": "clear",
            "user_message_uuid": message.uuid().unwrap_or_else(|| self.ids.uuid()),
            "session_id": self.session,
        });
        self.stamp(&mut line);
        self.say_value(&line);
        self.talk(MAIN).heard.clear();
        self.total = Default::default();
        self.say_tasks();
        self.session = self.ids.uuid();
        self.note_cleared();
        if self.does(Habit::Init) {
            self.say_init();
        }
        self.talk(MAIN).said.clear();
        self.end_command("clear");
    }

    fn compact(&mut self) {
        self.say_system(json!({"subtype": "status", "status": "compacting"}));
        let (before, summary) = self.summary();
        self.say_system(json!({
            "subtype": "status", "status": null, "compact_result": "success",
        }));
        if self.does(Habit::Init) {
            self.say_init();
        }
        let parent = self.ids.uuid();
        let boundary = json!({
            "subtype": "compact_boundary",
            "compact_metadata": {
                "trigger": "manual",
                "pre_tokens": before,
                "post_tokens": summary.len().div_ceil(4),
                "cumulative_dropped_tokens": 0,
                "duration_ms": 1,
            },
            "logical_parent_uuid": parent,
        });
        let boundary = self.say_system(boundary);
        let summary = format!(
            "This session is being continued from a previous conversation. The summary: {summary}"
        );
        self.note_compacted(&boundary, &summary);
        self.talk(MAIN).heard.clear();
        self.talk(MAIN)
            .hear(json!([{"type": "text", "text": summary}]));
        self.say_local(summary, false);
        self.say_local(
            "<local-command-stdout>Compacted </local-command-stdout>".to_owned(),
            true,
        );
        self.talk(MAIN).said.clear();
        self.end_command("compact");
    }

    /// What the model makes of the conversation, and how many tokens it had.
    fn summary(&mut self) -> (u64, String) {
        let before = self.talk(MAIN).spent.tokens();
        let ask = "Please write a summary of the conversation so far.";
        let mut heard = self.talk(MAIN).heard.clone();
        heard.push(json!({"role": "user", "content": [{"type": "text", "text": ask}]}));
        let request =
            json!({"model": self.model, "stream": true, "tools": [{}], "messages": heard});
        let said = match &mut self.mind {
            Some(mind) => mind.reply(&request).ok(),
            None => None,
        };
        let text = said.into_iter().flat_map(|spoken| spoken.parts);
        let text = text.filter_map(|part| match part {
            crate::model::inline::Part::Say(text) => Some(text),
            _ => None,
        });
        let text: String = text.collect();
        let mut spent = super::ledger::Spent::of(&Default::default(), text.len(), &self.model);
        if !self.does(Habit::Cost) {
            spent.cost = 0.0;
        }
        self.total.add(&self.model, &spent);
        self.since_result.add(&self.model, &spent);
        let summary = match text.split_once("<summary>") {
            Some((_, rest)) => rest.split("</summary>").next().unwrap_or(rest).to_owned(),
            None if text.is_empty() => {
                format!("It began with: {}", self.talk(MAIN).first_prompt())
            }
            None => text,
        };
        (before, summary)
    }

    pub(super) fn say_local(&mut self, text: String, replay: bool) {
        let mut line = json!({
            "type": "user",
            "message": {"role": "user", "content": text},
            "session_id": self.session,
            "parent_tool_use_id": null,
            "uuid": self.ids.uuid(),
            "isReplay": replay,
        });
        if !replay {
            line["isSynthetic"] = true.into();
        }
        self.stamp(&mut line);
        self.say_value(&line);
    }

    fn open_command(&mut self) {
        if self.does(Habit::Init) {
            self.say_init();
        }
    }

    /// The CLI answers in the model's place.
    fn answer_command(&mut self, name: &str, args: &str, text: String, more: Value) {
        let mut line = self.synthetic(&text);
        line["message"]["stop_reason"] = "end_turn".into();
        line["message"]["stop_sequence"] = Value::Null;
        line["local_command_run"] = json!({"command": name, "args": args});
        line["local_command_source"] =
            format!("<local-command-stdout>{text}</local-command-stdout>").into();
        super::lines::merge(&mut line, &more);
        self.note_command(&text);
        self.say_value(&line);
        self.talk(MAIN).said = text;
        self.end_command(name);
    }

    fn end_command(&mut self, name: &str) {
        let talk = self.talk(MAIN);
        talk.requests = 0;
        talk.spent = Default::default();
        talk.stop_reason = None;
        let amend = super::endings::without_model(json!({
            "num_turns": 0, "local_command": name, "duration_api_ms": 0, "stop_reason": Value::Null,
        }));
        self.say_result(None, &amend);
    }
}
