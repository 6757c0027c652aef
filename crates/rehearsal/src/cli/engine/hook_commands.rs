//! Hooks of the settings: shell commands that are told of an event and may answer as a callback would.
//!
//! Owns which are run and how their ends are read; the shell runs them. Their answers go the way of the callbacks'.

use std::time::Duration;

use serde_json::{Value, json};

use super::ask::{Answer, Kind, Open};
use super::deed::{Deed, Kind as DeedKind, Printed};
use super::hooks::applies;
use super::{Engine, Output};

/// How long a command may take, unless it says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that is under way.
#[derive(Debug)]
pub(super) struct HookRun {
    /// Of the deed.
    serial: u64,
    /// The question it answers.
    question: u64,
    id: String,
    name: String,
    event: String,
}

impl Engine {
    /// Commands that the settings have for an event and its subject.
    pub(super) fn hook_commands(&self, event: &str, subject: &str) -> Vec<(String, Option<f64>)> {
        let mut found = Vec::new();
        for (_, settings) in &self.settings.sources {
            let matchers = settings["hooks"][event].as_array();
            for matcher in matchers.into_iter().flatten() {
                if !applies(matcher["matcher"].as_str().unwrap_or_default(), subject) {
                    continue;
                }
                for hook in matcher["hooks"].as_array().into_iter().flatten() {
                    if let (Some("command"), Some(command)) =
                        (hook["type"].as_str(), hook["command"].as_str())
                    {
                        found.push((command.to_owned(), hook["timeout"].as_f64()));
                    }
                }
            }
        }
        found
    }

    /// Runs them with what a callback would be told; gives back the questions they answer.
    pub(super) fn run_hook_commands(
        &mut self,
        event: &str,
        subject: &str,
        input: &Value,
    ) -> Vec<u64> {
        let mut questions = Vec::new();
        for (command, timeout) in self.hook_commands(event, subject) {
            let (serial, question) = (self.next_call, self.next_question);
            self.next_call += 1;
            self.next_question += 1;
            let name = match subject {
                "" => event.to_owned(),
                subject => format!("{event}:{subject}"),
            };
            let run = HookRun {
                serial,
                question,
                id: self.ids.uuid(),
                name,
                event: event.to_owned(),
            };
            self.say_hook(&run, "hook_started", json!({}));
            self.hook_runs.push(run);
            self.open.push(Open {
                serial: question,
                id: String::new(),
                kind: Kind::Command,
                due: None,
            });
            let patience = timeout.map_or(PATIENCE, Duration::from_secs_f64);
            let deed = Deed(DeedKind::Hook {
                command,
                input: input.to_string(),
                patience,
            });
            self.out.push(Output::Do { serial, deed });
            questions.push(question);
        }
        questions
    }

    /// A command has ended.
    pub(super) fn hook_ended(&mut self, serial: u64, printed: &Printed) {
        let Some(index) = self.hook_runs.iter().position(|run| run.serial == serial) else {
            return;
        };
        let run = self.hook_runs.remove(index);
        let outcome = if printed.exit == Some(0) {
            "success"
        } else {
            "error"
        };
        let mut more = json!({
            "output": format!("{}{}", printed.stdout, printed.stderr),
            "stdout": printed.stdout,
            "stderr": printed.stderr,
            "outcome": outcome,
        });
        if let Some(code) = printed.exit {
            more["exit_code"] = code.into();
        }
        self.say_hook(&run, "hook_response", more);
        let envelope = answer_of(&run.event, printed);
        self.open.retain(|open| open.serial != run.question);
        self.answers.push((run.question, Answer::Said(envelope)));
    }

    fn say_hook(&mut self, run: &HookRun, subtype: &str, more: Value) {
        let always = matches!(run.event.as_str(), "SessionStart" | "Setup");
        if !(always || self.flags.has("--include-hook-events")) {
            return;
        }
        let mut line = json!({
            "subtype": subtype,
            "hook_id": run.id,
            "hook_name": run.name,
            "hook_event": run.event,
        });
        super::lines::merge(&mut line, &more);
        self.say_system(line);
    }
}

/// What the end of a command means, in the form of a callback's answer: 2 refuses, 0 with JSON answers in full.
fn answer_of(event: &str, printed: &Printed) -> Value {
    let success = |response: Value| json!({"subtype": "success", "response": response});
    match printed.exit {
        Some(0) => match serde_json::from_str::<Value>(printed.stdout.trim()) {
            Ok(answer @ Value::Object(_)) => success(answer),
            _ if matches!(event, "UserPromptSubmit" | "SessionStart") => {
                let text = printed.stdout.trim();
                success(json!({"hookSpecificOutput": {"additionalContext": text}}))
            }
            _ => success(json!({})),
        },
        Some(2) => success(json!({"decision": "block", "reason": printed.stderr.trim()})),
        _ => json!({"subtype": "error", "error": printed.stderr.trim()}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_codes_are_failures_json_answers_and_text_is_context_for_a_prompt() {
        let context = json!({"hookSpecificOutput": {"additionalContext": "it is late"}});
        for (event, exit, stdout, stderr, expected) in [
            ("PreToolUse", 1, "", "oops", Value::Null),
            (
                "PreToolUse",
                0,
                "{\"continue\":false}\n",
                "",
                json!({"continue": false}),
            ),
            ("UserPromptSubmit", 0, "it is late\n", "", context),
            ("Stop", 0, "done", "", json!({})),
        ] {
            let printed = Printed {
                stdout: stdout.to_owned(),
                stderr: stderr.to_owned(),
                exit: Some(exit),
            };
            let answer = answer_of(event, &printed);
            assert_eq!(answer["response"], expected, "{event} {exit}");
            assert_eq!(answer["subtype"] == "error", exit == 1);
        }
    }
}
