//! What the journal says, taken in.
//!
//! Owns what each [`Fact`] changes. Invariant: only records of the generation that is alive count; what an earlier agent
//! left unread in its journal changes nothing.

use super::agent::Start;
use super::core::{CliCap, Core, EndStep, EndWhy, Ending, Hold, Limit, Outcome, Phase};
use super::fact::{Report, Seen, Trouble, TurnEnd};
use super::open::{Question, Task, Tool, Unread};
use super::turn::Turn;
use super::{Begin, Effect, Fact, words};
use crate::control::MessageId;

impl Core {
    /// Whether the records that are read are those of the agent that is there.
    pub(super) fn is_heard(&self) -> bool {
        self.has_agent() && self.hearing == self.generation
    }

    pub(super) fn hear(&mut self, now: u64, fact: Fact, out: &mut Vec<Effect>) {
        if let Fact::Opened { generation } = fact {
            return self.opened(generation);
        }
        if !self.is_heard() {
            return;
        }
        match fact {
            Fact::Written { message } => self.written(now, message, out),
            Fact::Answered {
                request_id,
                ends_turn,
            } => self.answered(now, &request_id, ends_turn),
            Fact::Interrupted => {
                if let Some(turn) = &mut self.turn {
                    turn.interrupted.get_or_insert(now);
                    turn.is_interrupt_written = true;
                }
            }
            Fact::ModeAsked(mode) => {
                self.owed_mode.take_if(|owed| *owed == mode);
            }
            Fact::ModelAsked(model) => {
                self.owed_model.take_if(|owed| *owed == model);
            }
            Fact::Stderr(line) => words::append(&mut self.stderr, &line),
            Fact::Ending { .. } => {
                self.ending.get_or_insert(Ending {
                    why: EndWhy::Keeper,
                    step: EndStep::Told,
                    deadline: None,
                });
            }
            Fact::Paused => self.is_disk_full = true,
            Fact::Resumed => self.disk_resumed(now),
            Fact::Exited(exit) => self.gone(self.generation, &exit, "", out),
            Fact::Lost => self.lost(self.generation, Start::Kept, out),
            said => {
                self.last_sign = now;
                self.is_stalled = false;
                if let Some(turn) = &mut self.turn {
                    turn.retry_at = None;
                }
                self.said(now, said, out);
            }
        }
    }

    /// What the agent itself said.
    fn said(&mut self, now: u64, fact: Fact, out: &mut Vec<Effect>) {
        match fact {
            Fact::Init(seen) => self.init(now, seen, out),
            Fact::Ended(end) => self.ended(now, &end, out),
            Fact::Asked {
                request_id, tool, ..
            } => {
                let question = Question {
                    id: request_id,
                    tool,
                    needs_person: true,
                };
                self.questions.open(question, out);
            }
            Fact::Withdrawn { request_id } => {
                self.questions.close(&request_id);
            }
            Fact::ToolBegan { id, name, parent } => {
                self.tools.open(Tool { id, name, parent }, out);
            }
            Fact::ToolEnded { id, goes_on } => self.tool_ended(&id, goes_on),
            Fact::TaskBegan { .. }
            | Fact::TaskBackgrounded { .. }
            | Fact::TaskEnded { .. }
            | Fact::Tasks(_) => self.task(fact, out),
            Fact::Retry { delay } => {
                if let Some(turn) = &mut self.turn {
                    turn.retry_at = Some(now.saturating_add(delay));
                }
            }
            Fact::Limit { reached, until } => self.limit = reached.then_some(Limit { until }),
            Fact::AnswerFailed(trouble) => {
                if let Some(turn) = &mut self.turn {
                    turn.trouble = Some(trouble);
                }
            }
            Fact::Mode(mode) => self.seen.mode = Some(mode),
            Fact::Reset { conversation } => self.seen.conversation = conversation,
            Fact::Reported(report) => self.reported(now, report),
            Fact::Taken { message }
            | Fact::Started { message }
            | Fact::Completed { message }
            | Fact::Cancelled { message } => self.message(now, message, &fact, out),
            _ => {}
        }
    }

    /// A generation begins. One that is not known here was started by a host that could not say so any more.
    fn opened(&mut self, generation: u32) {
        self.hearing = generation;
        if generation > self.generation {
            self.forget_agent();
            self.generation = generation;
            self.cli_cap = CliCap::Below;
            self.phase = Phase::Starting;
        }
    }

    fn init(&mut self, now: u64, seen: Seen, out: &mut Vec<Effect>) {
        self.has_conversation = true;
        self.traps = 0;
        self.failed_starts = 0;
        self.starts_without_keeper = 0;
        let known = std::mem::take(&mut self.seen);
        self.seen = Seen {
            conversation: seen.conversation.or(known.conversation),
            model: seen.model.or(known.model),
            mode: seen.mode.or(known.mode),
            version: seen.version.or(known.version),
        };
        self.has_worked = true;
        self.begin_turn();
        // An interrupt does nothing to a turn that begins behind it.
        let was_too_early = self.turn.as_ref().is_some_and(|it| it.interrupted_early);
        if self.ending.is_none() && (was_too_early || self.over_budget.is_some()) {
            self.interrupt_turn(now, out);
        }
    }

    fn begin_turn(&mut self) {
        self.is_cut_off = false;
        self.turn.get_or_insert_with(Turn::by_itself).begin();
    }

    fn ended(&mut self, now: u64, end: &TurnEnd, out: &mut Vec<Effect>) {
        self.is_resumed = false;
        self.is_asked_again = false;
        let turn = self.turn.take();
        let has_begun = turn.as_ref().is_some_and(|turn| turn.has_begun);
        if !end.ok && !has_begun && words::says_no_conversation(&end.why) {
            // Said at the start, before anything was read: the messages wait for the next agent.
            self.trap = Some(Begin::NewSameId);
            self.turn = turn;
            return;
        }
        let was_interrupted = (turn.as_ref()).is_some_and(|turn| turn.interrupted.is_some());
        let interrupted = !end.ok && (end.aborted || was_interrupted);
        let trouble = turn.and_then(|turn| turn.trouble);
        self.outcome = self.outcome_of(now, end, interrupted, trouble);
        let failed = matches!(
            self.outcome,
            Outcome::Failed { .. } | Outcome::NotSignedIn { .. }
        );
        if failed {
            self.hold(Hold::Failed);
        }
        if end.is_capped && self.cli_cap == CliCap::Below {
            self.cli_cap = CliCap::Reached(now);
        }
        self.tasks.retain(|task| task.is_background);
        self.forget_calls_of_the_turn();
        self.is_stalled = false;
        out.push(Effect::TurnEnded {
            ok: end.ok,
            interrupted,
        });
        self.is_released = false;
        let counts_until = now.saturating_add(self.timing.count_grace);
        self.counts_until = self.has_budget.then_some(counts_until);
        self.await_unread(now);
        let is_waited_for =
            (self.ending.as_ref()).is_some_and(|ending| ending.step == EndStep::Interrupting);
        if is_waited_for {
            self.tell_end(now, out);
        }
    }

    /// Messages that the turn did not read begin another one.
    fn await_unread(&mut self, now: u64) {
        if !self.unread.is_empty() {
            self.silent_from = now;
            self.turn = Some(Turn {
                follows: true,
                begins_by: Some(now.saturating_add(self.timing.begin_grace)),
                ..Turn::expected()
            });
        }
    }

    fn outcome_of(
        &mut self,
        now: u64,
        end: &TurnEnd,
        interrupted: bool,
        trouble: Option<Trouble>,
    ) -> Outcome {
        if end.ok {
            self.limit = None;
            return Outcome::Done;
        }
        if interrupted {
            return Outcome::Interrupted;
        }
        let is_signed_out = end.status == Some(401)
            || trouble == Some(Trouble::SignIn)
            || words::says_not_signed_in(&end.why);
        if is_signed_out {
            return Outcome::NotSignedIn {
                why: format!("The CLI is not signed in: {}", end.why),
                fix: words::SIGN_IN.into(),
            };
        }
        if let Some(until) = words::limit_in(&end.why) {
            self.limit = Some(Limit { until });
        }
        if let Some(limit) = &mut self.limit {
            // An end that has passed says nothing: a person decides when to try again.
            limit.until = limit.until.filter(|until| *until > now);
            self.limited_at = now;
            return Outcome::Limited;
        }
        Outcome::Failed {
            why: format!("The turn failed: {}", end.why),
            stderr: String::new(),
        }
    }

    /// Only calls of work in the background outlive a turn.
    fn forget_calls_of_the_turn(&mut self) {
        let background: Vec<_> = (self.tasks.iter())
            .filter_map(|task| task.tool_use_id.clone())
            .collect();
        self.tools.retain(|tool| {
            let parent = tool.parent.as_ref();
            parent.is_some_and(|parent| background.contains(parent))
        });
    }

    fn answered(&mut self, now: u64, request_id: &str, ends_turn: bool) {
        let was_open = self.questions.close(request_id);
        if let (true, true, Some(turn)) = (was_open, ends_turn, &mut self.turn) {
            turn.interrupted.get_or_insert(now);
            turn.is_interrupt_written = true;
            self.hold(Hold::Interrupted);
        }
        // The silence until here was the question's.
        self.silent_from = now;
    }

    fn tool_ended(&mut self, id: &str, goes_on: bool) {
        self.tools.close(id);
        if goes_on {
            self.mark_background(|task| task.tool_use_id.as_deref() == Some(id));
        } else {
            self.tasks
                .retain(|task| task.is_background || task.tool_use_id.as_deref() != Some(id));
        }
    }

    fn mark_background(&mut self, which: impl Fn(&Task) -> bool) {
        let id = (self.tasks.iter())
            .find(|task| which(task))
            .map(|task| task.id.clone());
        if let Some(task) = id.and_then(|id| self.tasks.get_mut(&id)) {
            task.is_background = true;
        }
    }

    fn task(&mut self, fact: Fact, out: &mut Vec<Effect>) {
        match fact {
            Fact::TaskBegan {
                id,
                tool_use_id,
                background,
            } => {
                // Where it is not said, a task whose call is over runs in the background.
                let is_call_open = tool_use_id
                    .as_ref()
                    .is_none_or(|id| self.tools.contains(id));
                let task = Task {
                    id,
                    tool_use_id,
                    is_background: background.unwrap_or(!is_call_open),
                };
                self.tasks.open(task, out);
            }
            Fact::TaskBackgrounded { id } => self.mark_background(|task| task.id == id),
            Fact::TaskEnded { id } => {
                self.tasks.close(&id);
            }
            Fact::Tasks(ids) => {
                (self.tasks).retain(|task| !task.is_background || ids.contains(&task.id));
                for id in ids {
                    match self.tasks.get_mut(&id) {
                        Some(task) => task.is_background = true,
                        None => {
                            let task = Task {
                                id,
                                tool_use_id: None,
                                is_background: true,
                            };
                            self.tasks.open(task, out);
                        }
                    }
                }
            }
            _ => {}
        }
        if self.turn.is_none() && self.tasks.is_empty() {
            self.tools.clear();
        }
    }

    fn reported(&mut self, now: u64, report: Report) {
        match report {
            Report::Running => self.begin_turn(),
            // Of the turn before, if the one that is awaited has not begun.
            Report::Idle if self.turn.as_ref().is_some_and(|turn| turn.has_begun) => {
                self.turn = None;
                self.is_resumed = false;
                self.outcome = Outcome::Done;
                self.forget_calls_of_the_turn();
                self.await_unread(now);
            }
            Report::Idle | Report::RequiresAction => {}
        }
    }

    fn written(&mut self, now: u64, message: Option<MessageId>, out: &mut Vec<Effect>) {
        self.await_turn(now);
        if let Some(id) = message {
            let unread = Unread {
                id,
                is_written: true,
                is_doubtful: false,
                is_at_once: false,
            };
            self.unread.open(unread, out);
        }
    }

    /// A message is on its way, and a turn comes of it unless one runs.
    pub(super) fn await_turn(&mut self, now: u64) {
        self.is_cut_off = false;
        self.silent_from = now;
        let turn = self.turn.get_or_insert_with(Turn::expected);
        turn.begins_by = None;
    }

    /// What became of a message.
    fn message(&mut self, now: u64, id: MessageId, fact: &Fact, out: &mut Vec<Effect>) {
        let was_unread = self.unread.close(&id.to_string());
        if !was_unread {
            return;
        }
        match fact {
            Fact::Started { .. } => self.begin_turn(),
            Fact::Taken { .. } => {
                let by = now.saturating_add(self.timing.begin_grace);
                if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.has_begun) {
                    turn.begins_by = Some(by);
                }
            }
            Fact::Cancelled { .. } => {
                self.held = Some(Hold::Interrupted);
                self.put_back(id, true, out);
                self.drop_awaited_turn(Outcome::Interrupted);
            }
            _ => self.drop_awaited_turn(Outcome::KnownBefore),
        }
    }

    /// Nothing is on its way any more that could begin the turn that was awaited.
    pub(super) fn drop_awaited_turn(&mut self, outcome: Outcome) {
        let is_over = (self.turn.as_ref()).is_some_and(|turn| !turn.has_begun);
        if is_over && self.unread.is_empty() {
            let follows = self.turn.take().is_some_and(|turn| turn.follows);
            if !follows {
                self.outcome = outcome;
            }
        }
    }
}
