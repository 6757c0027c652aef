//! Playing the blocks: each goes on until it waits for something, and nothing runs so long that the host is not heard.

use std::time::Duration;

use super::fiber::{Fiber, Role, Wait};
use super::turn::TurnStage;
use super::{Engine, Output};
use crate::cli::expect::{self, Pattern};
use crate::cli::scenario::Steps;
use crate::model::template::{map_texts, replaced};

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
    pub(super) fn spawn_fiber(&mut self, steps: Steps, role: Role, talk: u64) -> u64 {
        let id = self.next_fiber;
        self.next_fiber += 1;
        let mut fiber = Fiber {
            id,
            role,
            talk,
            frames: Vec::new(),
            wait: Wait::Nothing,
            closing: false,
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
            self.give_up_late();
            let mut moved = self.advance_greetings();
            moved |= self.advance_calls();
            moved |= self.advance_turn();
            moved |= self.may_begin() && self.begin_next_turn();
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
    fn may_begin(&mut self) -> bool {
        let is_new = !self.configured_servers.is_empty() || !self.configured_processes.is_empty();
        if is_new && !self.queue.is_empty() {
            let servers = std::mem::take(&mut self.configured_servers);
            self.greet_servers(servers);
        }
        !self.servers.greeting()
    }

    fn is_finished(&self) -> bool {
        self.heeds_eof()
            && self.turn.is_none()
            && self.queue.is_empty()
            && self.fibers.is_empty()
            && self.delayed.is_empty()
            && self.self_started.is_empty()
            && self.beginnings.is_empty()
            && self.tasks.is_empty()
            && self.calls.is_empty()
            && self.pending.is_empty()
    }

    fn next_due(&self) -> Option<Duration> {
        let delayed = self.delayed.iter().map(|(due, _)| *due);
        // While a turn runs, the next one cannot begin.
        let waiting = self.self_started.iter().map(|(due, _)| *due);
        let waiting = waiting.filter(|_| self.turn.is_none());
        let fibers = self.fibers.iter().filter_map(Fiber::due);
        let questions = self.open.iter().filter_map(|open| open.due);
        delayed.chain(waiting).chain(fibers).chain(questions).min()
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
                None if fiber.role == Role::Agent && !fiber.closing => {
                    fiber.closing = true;
                    fiber.wait = Wait::Answer(self.close_agent(fiber.talk));
                }
                None => {
                    match fiber.role {
                        Role::Turn => self.close_turn(),
                        Role::Agent => self.finish_agent(fiber.talk),
                        Role::Request(_) | Role::Aside => {}
                    }
                    return (true, false);
                }
            }
            if self.has_ended(&fiber) {
                return (true, false);
            }
        }
        self.fibers.insert(index.min(self.fibers.len()), fiber);
        (true, true)
    }

    /// Whether a step has ended the turn, or the sub-agent, that the block belongs to.
    fn has_ended(&self, fiber: &Fiber) -> bool {
        match fiber.role {
            Role::Turn => !matches!(
                self.turn.as_ref().map(|turn| &turn.stage),
                Some(TurnStage::Playing(id)) if *id == fiber.id
            ),
            Role::Agent => self.agent(fiber.talk).is_none(),
            Role::Request(_) | Role::Aside => false,
        }
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
            Wait::Calls(serials) => {
                if serials.iter().any(|serial| self.is_running(*serial)) {
                    return Ready::Wait;
                }
                let serials = serials.clone();
                self.tell_batch(fiber.talk, &serials);
                true
            }
            Wait::Batch(batch) => {
                let last = batch.said.last().copied().unwrap_or_default();
                if self.is_setting_out(last) {
                    return Ready::Wait;
                }
                let batch = (**batch).clone();
                self.say_next_call(fiber, batch);
                return match fiber.wait {
                    Wait::Nothing => Ready::Go,
                    _ => Ready::Wait,
                };
            }
            Wait::Speech(speech) => {
                let speech = speech.clone();
                if speech.due > self.now {
                    return Ready::Wait;
                }
                return match self.go_on_saying(*speech) {
                    Some(speech) => {
                        fiber.wait = Wait::Speech(Box::new(speech));
                        Ready::Wait
                    }
                    None => Ready::Go,
                };
            }
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

    pub(super) fn fill(&mut self, fiber: &Fiber, template: &str) -> String {
        let round = fiber.round();
        replaced(template, |name| self.lookup(fiber.talk, round, name))
    }

    pub(super) fn fill_value(
        &mut self,
        fiber: &Fiber,
        template: &serde_json::Value,
    ) -> serde_json::Value {
        map_texts(template, &mut |text| self.fill(fiber, text))
    }
}
