//! What each step does.

use super::fiber::{Batch, Fiber, Role, Wait};
use super::talk::MAIN;
use super::{Engine, Output};
use crate::cli::expect::Pattern;
use crate::cli::scenario::{
    Amend, Calling, Condition, Delegation, Gives, How, Ignored, Question, Step, Steps,
};

impl Engine {
    pub(super) fn perform_step(&mut self, fiber: &mut Fiber, step: Step) {
        match step {
            Step::Say(text, amend) => {
                let text = self.fill(fiber, &text);
                let block = serde_json::json!({"type": "text", "text": text});
                self.say_in(fiber, block, amend);
            }
            Step::Think(text, amend) => {
                let thinking = self.fill(fiber, &text);
                let signature = self.ids.signature();
                let block = serde_json::json!({
                    "type": "thinking", "thinking": thinking, "signature": signature,
                });
                self.say_in(fiber, block, amend);
            }
            Step::Block(block, amend) => {
                let block = self.fill_value(fiber, &block);
                self.say_in(fiber, block, amend);
            }
            Step::Emit(line) => {
                let mut line = self.fill_value(fiber, &line);
                for (key, value) in [
                    ("session_id", self.session.clone()),
                    ("uuid", self.ids.uuid()),
                ] {
                    if line.get(key).is_none() {
                        line[key] = value.into();
                    }
                }
                self.say_value(&line);
            }
            Step::Ask(question, asking) => {
                let question = self.filled_question(fiber, question);
                let asked = self.ask(fiber.talk, question, &asking);
                if !asking.nowait {
                    fiber.wait = asked;
                }
            }
            Step::Cancel(name) => self.cancel(&name),
            Step::Result(subtype, amend) => {
                self.close_message(fiber.talk, "end_turn");
                self.say_result(subtype.as_deref(), &amend);
                self.settle();
            }
            Step::LoseResult => self.settle(),
            Step::Answer(how) => match &fiber.role {
                Role::Request(line) => {
                    let line = line.clone();
                    self.reply_to(&line, &how.unwrap_or(How::Normal));
                }
                _ => self.fail("`answer` belongs into an `on SUBTYPE` block"),
            },
            Step::Habit(habit, on) => {
                self.habits_off.retain(|off| *off != habit);
                if !on {
                    self.habits_off.push(habit);
                }
            }
            Step::Skip(count) => self.skip(count),
            Step::Reply(rule) => self.rules.push(rule),
            Step::Repeat { times, steps } => fiber.enter(steps, times),
            other => self.perform_call(fiber, other),
        }
    }

    fn say_in(&mut self, fiber: &mut Fiber, block: serde_json::Value, amend: Amend) {
        if let Some(speech) = self.start_saying(fiber.talk, block, amend) {
            fiber.wait = Wait::Speech(Box::new(speech));
        }
    }

    /// Calls, what follows from them, and what the mind says.
    fn perform_call(&mut self, fiber: &mut Fiber, step: Step) {
        match step {
            Step::Tool(calling) => {
                let nowait = calling.nowait;
                let calling = self.filled_calling(fiber, calling);
                self.say_calls(fiber, vec![(calling, None)]);
                if nowait {
                    fiber.wait = Wait::Nothing;
                }
            }
            Step::Agent(delegation) => {
                let call = self.filled_delegation(fiber, delegation);
                self.say_calls(fiber, vec![call]);
            }
            Step::Together(steps) => {
                let mut calls = Vec::new();
                for step in steps.iter().cloned() {
                    match step {
                        Step::Tool(calling) => {
                            calls.push((self.filled_calling(fiber, calling), None));
                        }
                        Step::Agent(delegation) => {
                            calls.push(self.filled_delegation(fiber, delegation));
                        }
                        _ => {}
                    }
                }
                self.say_calls(fiber, calls);
            }
            Step::Pace(time) => self.talk(fiber.talk).pace = time,
            Step::Usage(counts) => self.talk(fiber.talk).counts = counts,
            Step::Fail { status, text } => {
                let text = self.fill(fiber, &text);
                let kind = crate::model::api_error_kind(status);
                self.api_failure(fiber.talk, status, kind, &format!("{status} {text}"));
            }
            Step::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = if self.holds(fiber, &condition) {
                    then
                } else {
                    otherwise
                };
                fiber.enter(branch, Some(1));
            }
            Step::Follow(request) => {
                let request = request.map(|request| self.fill(fiber, &request));
                self.follow(fiber, request.as_deref());
            }
            Step::Consult => self.consult(fiber),
            Step::TellErrand => self.say_prompt(fiber.talk),
            other => self.perform_bytes(fiber, other),
        }
    }

    fn say_calls(&mut self, fiber: &mut Fiber, calls: Vec<(Calling, Option<Steps>)>) {
        if !self.open_message(fiber.talk) {
            return;
        }
        let batch = Batch {
            id: self.next_call,
            said: Vec::new(),
            left: calls.into(),
        };
        self.say_next_call(fiber, batch);
    }

    /// Says the next call of a message; after the last one the reports are waited for.
    pub(super) fn say_next_call(&mut self, fiber: &mut Fiber, mut batch: Batch) {
        if let Some((calling, errand)) = batch.left.pop_front() {
            let serial = self.say_call(fiber.talk, batch.id, calling, errand);
            batch.said.push(serial);
        }
        fiber.wait = if !batch.left.is_empty() {
            Wait::Batch(Box::new(batch))
        } else if self.end_calls(fiber.talk, &batch.said) {
            Wait::Calls(batch.said)
        } else {
            Wait::Nothing
        };
    }

    fn holds(&mut self, fiber: &Fiber, condition: &Condition) -> bool {
        match condition {
            Condition::Refused => self.talk(fiber.talk).refused,
            Condition::Result(part) => self.talk(fiber.talk).report.contains(part),
            Condition::Prompt(part) => {
                let turn = self.turn.as_ref();
                turn.is_some_and(|turn| turn.prompt.contains(part))
            }
            Condition::Mode(mode) => self.permissions.mode() == mode,
        }
    }

    fn filled_calling(&mut self, fiber: &Fiber, calling: Calling) -> Calling {
        Calling {
            name: calling.name,
            input: self.fill_value(fiber, &calling.input),
            gives: calling.gives.map(|gives| match gives {
                Gives::Text(text) => Gives::Text(self.fill(fiber, &text)),
                Gives::Error(text) => Gives::Error(self.fill(fiber, &text)),
            }),
            nowait: calling.nowait,
        }
    }

    fn filled_delegation(
        &mut self,
        fiber: &Fiber,
        delegation: Delegation,
    ) -> (Calling, Option<Steps>) {
        let prompt = self.fill(fiber, &delegation.prompt);
        let description: Vec<&str> = prompt.split_whitespace().take(5).collect();
        let mut input = serde_json::json!({
            "description": description.join(" "),
            "prompt": prompt,
            "subagent_type": delegation.kind,
            "run_in_background": delegation.background,
        });
        super::lines::merge(&mut input, &self.fill_value(fiber, &delegation.more));
        let calling = Calling {
            name: "Task".to_owned(),
            input,
            gives: None,
            nowait: false,
        };
        (calling, delegation.steps)
    }

    fn filled_question(&mut self, fiber: &Fiber, question: Question) -> Question {
        Question {
            body: self.fill_value(fiber, &question.body),
            gives: question.gives.map(|gives| self.fill(fiber, &gives)),
            ..question
        }
    }

    /// Steps below the level of messages, and waits.
    fn perform_bytes(&mut self, fiber: &mut Fiber, step: Step) {
        match step {
            Step::Flood { count: 0, .. } => {}
            Step::Flood { count, bytes } => {
                fiber.wait = Wait::Flood {
                    next: 1,
                    count,
                    bytes,
                }
            }
            Step::Big(bytes) => self.big(bytes),
            Step::Raw(text) => {
                let text = self.fill(fiber, &text) + "\n";
                self.write(text.into_bytes());
            }
            Step::Bytes(bytes) => self.write(bytes),
            Step::Partial(text) => {
                let text = self.fill(fiber, &text);
                self.write(text.into_bytes());
            }
            Step::Stderr(text) => {
                let text = self.fill(fiber, &text) + "\n";
                self.out.push(Output::Stderr(text.into_bytes()));
            }
            Step::StderrFlood(bytes) => {
                let mut line = vec![b'e'; 99];
                line.push(b'\n');
                for _ in 0..bytes.div_ceil(100) {
                    self.out.push(Output::Stderr(line.clone()));
                }
            }
            Step::Pause(time) => fiber.wait = Wait::Until(self.now + time),
            Step::WaitUser => fiber.wait = Wait::User,
            Step::WaitRequest(subtype) => {
                fiber.wait = Wait::Line {
                    pattern: Pattern::request(&subtype),
                    until: None,
                    failing: false,
                }
            }
            Step::WaitAnswers(count) => fiber.wait = Wait::Answers(count),
            Step::WaitForever => fiber.wait = Wait::Forever,
            Step::Expect { pattern, within } => {
                fiber.wait = Wait::Line {
                    pattern,
                    until: within.map(|within| self.now + within),
                    failing: true,
                }
            }
            Step::Fold => self.fold(),
            Step::Spawn { command, detached } => {
                let command = self.fill(fiber, &command);
                self.out.push(Output::Spawn { command, detached });
            }
            Step::Ignore(Ignored::Eof) => self.ignores_eof = true,
            Step::Ignore(Ignored::Signal(signal)) => self.ignored_signals.push(signal),
            Step::StopReading => self.out.push(Output::StopReading),
            Step::ReadSlowly(bytes) => self.out.push(Output::ReadSlowly(bytes)),
            Step::CloseStdout => self.out.push(Output::CloseStdout),
            Step::Exit(code) => self.exit(code),
            Step::Crash { mid_line } => {
                if mid_line {
                    self.write(
                        b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"te"
                            .to_vec(),
                    );
                }
                self.over = true;
                self.out.push(Output::Crash);
            }
            // All others are `perform_step`'s.
            _ => {}
        }
    }

    /// One assistant line whose text has so many bytes, never held in memory as a whole.
    fn big(&mut self, bytes: u64) {
        const MARK: &str = "@@";
        let amend = Default::default();
        let kept = self.out.len();
        self.out.push(Output::Fill { byte: 0, count: 0 });
        self.say_block(
            MAIN,
            serde_json::json!({"type": "text", "text": MARK}),
            &amend,
        );
        let line = match self.out.pop() {
            Some(Output::Write(line)) => line,
            _ => Vec::new(),
        };
        self.out.truncate(kept);
        let text = String::from_utf8_lossy(&line);
        if let Some((head, tail)) = text.split_once(MARK) {
            self.write(head.as_bytes().to_vec());
            self.out.push(Output::Fill {
                byte: b'x',
                count: bytes,
            });
            self.write(tail.as_bytes().to_vec());
        }
    }
}
