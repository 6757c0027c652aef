//! Playing the blocks: each goes on until it waits for something, and nothing runs so long that the host is not heard.

use std::time::Duration;

use super::fiber::{Fiber, Role, Wait};
use super::{Engine, Output};
use crate::cli::expect::{self, Pattern};
use crate::cli::fill;
use crate::cli::scenario::{How, Ignored, Question, Step, Steps};

/// Steps of one block before the host is heard again.
const STEPS: usize = 256;
/// Lines of a flood in one go.
const FLOOD: u64 = 512;

/// What a block can do now.
enum Ready {
    Go,
    Wait,
}

impl Engine {
    pub(super) fn spawn_fiber(&mut self, steps: Steps, role: Role) -> u64 {
        let id = self.next_fiber;
        self.next_fiber += 1;
        let mut fiber = Fiber {
            id,
            role,
            frames: Vec::new(),
            wait: Wait::Nothing,
            since: self.next_line,
            taken: Vec::new(),
            answered_before: self.answered,
        };
        fiber.enter(steps, Some(1));
        self.fibers.push(fiber);
        id
    }

    /// Goes on wherever that is possible, then says when to be woken.
    pub(super) fn run(&mut self) {
        let mut hurried = false;
        loop {
            self.send_delayed();
            let mut moved = self.may_begin() && self.begin_next_turn();
            let ids: Vec<u64> = self.fibers.iter().map(|fiber| fiber.id).collect();
            for id in ids {
                let (went, left) = self.play(id);
                moved |= went;
                hurried |= left;
            }
            if self.over || hurried || !moved {
                break;
            }
        }
        if self.over {
            return;
        }
        if self.is_finished() {
            self.exit(u8::from(self.last_was_error));
        } else if let Some(due) = if hurried {
            Some(self.now)
        } else {
            self.next_due()
        } {
            self.out.push(Output::WakeAt(due));
        }
    }

    /// The first turn waits until the servers are greeted.
    fn may_begin(&self) -> bool {
        !self
            .fibers
            .iter()
            .any(|fiber| fiber.role == Role::Handshake)
    }

    fn is_finished(&self) -> bool {
        self.heeds_eof()
            && self.turn.is_none()
            && self.queue.is_empty()
            && self.fibers.is_empty()
            && self.delayed.is_empty()
            && self.self_started.is_empty()
    }

    fn next_due(&self) -> Option<Duration> {
        let delayed = self.delayed.iter().map(|(due, _)| *due);
        // While a turn runs, the next one cannot begin.
        let waiting = self.self_started.iter().map(|(due, _)| *due);
        let waiting = waiting.filter(|_| self.turn.is_none());
        let fibers = self.fibers.iter().filter_map(Fiber::due);
        delayed.chain(waiting).chain(fibers).min()
    }

    /// Plays one block as far as it goes: whether it moved, and whether it could go on at once.
    fn play(&mut self, id: u64) -> (bool, bool) {
        let Some(index) = self.fibers.iter().position(|fiber| fiber.id == id) else {
            return (false, false);
        };
        let mut fiber = self.fibers.remove(index);
        let mut moved = false;
        for _ in 0..STEPS {
            if self.over {
                return (moved, false);
            }
            if let Wait::Flood { .. } = fiber.wait {
                self.pour(&mut fiber);
                self.fibers.insert(index.min(self.fibers.len()), fiber);
                return (true, true);
            }
            if let Ready::Wait = self.ready(&mut fiber) {
                self.fibers.insert(index.min(self.fibers.len()), fiber);
                return (moved, false);
            }
            moved = true;
            fiber.wait = Wait::Nothing;
            match fiber.next_step() {
                Some(step) => self.perform_step(&mut fiber, step),
                None => {
                    if fiber.role == Role::Turn {
                        self.finish_turn();
                    }
                    return (true, false);
                }
            }
            // The step may have ended the turn it belongs to.
            let current = self.turn.as_ref().map(|turn| turn.fiber);
            if fiber.role == Role::Turn && current != Some(fiber.id) {
                return (true, false);
            }
        }
        self.fibers.insert(index.min(self.fibers.len()), fiber);
        (true, true)
    }

    fn pour(&mut self, fiber: &mut Fiber) {
        if let Wait::Flood { next, count, bytes } = fiber.wait {
            let now = count.min(FLOOD);
            self.flood(next, now, bytes);
            fiber.wait = match count - now {
                0 => Wait::Nothing,
                count => Wait::Flood {
                    next: next + now,
                    count,
                    bytes,
                },
            };
        }
    }

    fn ready(&mut self, fiber: &mut Fiber) -> Ready {
        let eof = self.heeds_eof();
        let go = match &fiber.wait {
            Wait::Nothing | Wait::Flood { .. } => true,
            Wait::Until(due) => *due <= self.now,
            Wait::User => eof || !self.queue.is_empty(),
            Wait::Answer(serials) => eof || !serials.iter().any(|serial| self.is_open(*serial)),
            Wait::Answers(None) => eof || self.open.is_empty(),
            Wait::Answers(Some(count)) => eof || self.answered - fiber.answered_before >= *count,
            Wait::Line {
                pattern,
                until,
                failing,
            } => {
                let (pattern, until, failing) = (pattern.clone(), *until, *failing);
                return self.look_for(fiber, &pattern, until, failing);
            }
            Wait::Forever => false,
        };
        if go { Ready::Go } else { Ready::Wait }
    }

    /// Takes the next line of the kind, if it is there.
    fn look_for(
        &mut self,
        fiber: &mut Fiber,
        pattern: &Pattern,
        until: Option<Duration>,
        failing: bool,
    ) -> Ready {
        let fresh = |(number, _): &&(u64, serde_json::Value)| {
            *number >= fiber.since && !fiber.taken.contains(number)
        };
        let mut lines = self.inbox.iter().filter(fresh);
        if let Some((number, line)) = lines.clone().find(|(_, line)| pattern.is_kind(line)) {
            let broken = pattern.broken_condition(line);
            let problem = broken.map(|broken| {
                format!(
                    "expected {} with {broken}, but the host wrote {line}",
                    pattern.kind
                )
            });
            fiber.taken.push(*number);
            if let Some(problem) = problem {
                self.fail(&problem);
            }
            return Ready::Go;
        }
        let late = until.is_some_and(|until| until <= self.now);
        if !late && !self.heeds_eof() {
            return Ready::Wait;
        }
        if failing {
            let came: Vec<String> = lines.by_ref().map(|(_, line)| expect::kind(line)).collect();
            let came = match came.as_slice() {
                [] => "nothing".to_owned(),
                kinds => kinds.join(", "),
            };
            let why = if late {
                "in time"
            } else {
                "before the input ended"
            };
            self.fail(&format!(
                "expected {}, which did not come {why}; what came instead: {came}",
                pattern.kind
            ));
        }
        Ready::Go
    }

    fn fill(&mut self, fiber: &Fiber, template: &str) -> String {
        let round = fiber.round();
        fill::text(template, &mut |name| self.lookup(round, name))
    }

    fn fill_value(&mut self, fiber: &Fiber, template: &serde_json::Value) -> serde_json::Value {
        let round = fiber.round();
        fill::value(template, &mut |name| self.lookup(round, name))
    }

    fn perform_step(&mut self, fiber: &mut Fiber, step: Step) {
        match step {
            Step::Say(text, amend) => {
                let text = self.fill(fiber, &text);
                self.say_text(text, &amend);
            }
            Step::Think(text, amend) => {
                let thinking = self.fill(fiber, &text);
                let block = serde_json::json!({
                    "type": "thinking", "thinking": thinking, "signature": "cmVoZWFyc2Fs",
                });
                self.say_block(block, &amend);
            }
            Step::Stream(text, amend) => {
                let text = self.fill(fiber, &text);
                self.stream_text(text, &amend);
            }
            Step::Block(block, amend) => {
                let block = self.fill_value(fiber, &block);
                self.say_block(block, &amend);
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
                let serials = self.ask(question, &asking);
                if !asking.nowait {
                    fiber.wait = Wait::Answer(serials);
                }
            }
            Step::Cancel(name) => self.cancel(&name),
            Step::Result(subtype, amend) => {
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
            Step::Reply(rule) => self.rules.push(rule),
            Step::Repeat { times, steps } => fiber.enter(steps, times),
            other => self.perform_bytes(fiber, other),
        }
    }

    fn filled_question(&mut self, fiber: &Fiber, question: Question) -> Question {
        match question {
            Question::Tool { name, input, gives } => Question::Tool {
                name,
                input: self.fill_value(fiber, &input),
                gives: gives.map(|gives| self.fill(fiber, &gives)),
            },
            Question::Hook { event, input } => Question::Hook {
                event,
                input: self.fill_value(fiber, &input),
            },
            Question::Mcp { server, message } => Question::Mcp {
                server,
                message: self.fill_value(fiber, &message),
            },
            Question::Other { subtype, body } => Question::Other {
                subtype,
                body: self.fill_value(fiber, &body),
            },
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
            Step::Raw(text) | Step::Noise(text) => {
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
        self.say_block(serde_json::json!({"type": "text", "text": MARK}), &amend);
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
