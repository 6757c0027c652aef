//! What an actor does when the journal has grown.
//!
//! Owns the order: facts to the core, moves of approvals to the rows, new questions to the desk, answers to the agent.
//! Invariant: what follows from a record is stored with the cursor behind it.

use countersign_journal::Cursor;
use countersign_wire::CliMessage;
use countersign_wire::control::{CanUseTool, CliRequest};
use countersign_wire::decode::decode;

use super::Actor;
use super::answers::ToAnswer;
use super::book::{Move, NewApproval};
use super::plans::part_of_plans;
use super::project::Batch;
use crate::approval::{self, Answer};
use crate::control::approval::{Decided, Kind, Life};
use crate::control::now;
use crate::desk::{Because, Ruling};
use crate::notify::summary_line;
use crate::session::{Effect, Fact, Input};
use crate::shelf::LONGEST;
use crate::store::approvals::ApprovalRow;

/// How soon a journal that could not be read is read again.
const READ_AGAIN: u64 = 1_000_000;

/// Who decides what no person decided.
pub(super) const BY_RULE: &str = "rule";

impl Actor {
    /// Takes what the journal has more.
    pub(super) async fn catch_up(&mut self) {
        self.read_again = None;
        loop {
            let tail = self.agent.as_ref().map(super::Agent::tail);
            let plans = self.desk.as_ref().and_then(|desk| desk.grounds().plans());
            let plans = plans.map(ToOwned::to_owned);
            let (tracker, context) = (&mut self.plans, &mut self.context);
            let mut inits = Vec::new();
            let mut last = None;
            let taken = self.projection.take(tail, |line| {
                if let Some(plans) = &plans {
                    tracker.note(line, plans);
                }
                if memchr::memmem::find(line, b"\"init\"").is_some() {
                    inits.push(line.to_vec());
                }
                context.note(line);
                last = super::last::said(line).or_else(|| last.take());
            });
            if let Some(said) = last {
                // Masked before it is cut: half of a secret is not known by anybody.
                self.last = Some(summary_line(&self.inner.settings.mask.of(&said)));
            }
            self.inner.windows.meet(context);
            self.watch_tools(&inits);
            let batch = match taken {
                Ok(batch) => batch,
                Err(error) => {
                    tracing::warn!(session = %self.id, %error, "a journal cannot be read");
                    // Too many files may be open, or a disk does not answer: nobody else calls again for what stands there.
                    self.projection.rest();
                    self.read_again = Some(now() + READ_AGAIN);
                    return;
                }
            };
            self.inner.levels.set(self.id, tail);
            if batch.rewound.is_some() {
                // What is appended from now on has the numbers of what is gone.
                self.projection.rest();
            }
            let has_more = batch.has_more || batch.rewound.is_some();
            self.take(batch).await;
            if !has_more {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// The agent says which tools it has: those that it would not ask about are told to it.
    fn watch_tools(&mut self, inits: &[Vec<u8>]) {
        let (Some(watching), Some(agent)) = (&mut self.watching, &self.agent) else {
            return;
        };
        for line in inits {
            let Some(settings) = watching.learn(line) else {
                continue;
            };
            let (handle, session) = (agent.handle.clone(), self.id);
            tokio::spawn(async move {
                if let Err(error) = handle.apply_flag_settings(settings).await {
                    tracing::warn!(%session, %error, "new tools are not asked about by rule; the hook asks");
                }
            });
        }
    }

    async fn take(&mut self, batch: Batch) {
        if let Some(to) = batch.rewound {
            self.rewound(to).await;
        }
        if batch.records == 0 {
            return;
        }
        self.ahead.note(&self.inner, self.id, batch.records);
        self.unsaved.cursor = true;
        self.row.last_activity = batch.at.unwrap_or(self.row.last_activity);
        let before = (self.core.shown(), self.effects.len());
        for fact in batch.facts {
            self.notice(&fact);
            self.step(Input::Fact(fact));
        }
        for step in batch.moves {
            self.moved(step);
        }
        let after = self.core.shown();
        if before.0.stands_as(&after) {
            self.forget_changes_from(before.1);
            self.unsaved.reason |= before.0 != after;
        }
        self.answer_all();
    }

    /// What a batch has changed and changed back, as a question does that a rule decides, is nothing to tell of; which tool
    /// runs may be told a moment later.
    fn forget_changes_from(&mut self, place: usize) {
        let of_batch = self.effects.split_off(place);
        let others = of_batch
            .into_iter()
            .filter(|effect| *effect != Effect::Changed);
        self.effects.extend(others);
    }

    /// What the row shows of a fact.
    fn notice(&mut self, fact: &Fact) {
        match fact {
            Fact::Init(seen) => {
                let row = &mut self.row;
                row.conversation = seen.conversation.clone().or(row.conversation.take());
                row.model = seen.model.clone().or(row.model.take());
                row.version = seen.version.clone().or(row.version.take());
                self.look_for_servers();
                if let Some(desk) = &mut self.desk {
                    desk.mode_told();
                }
                self.unsaved.changed = true;
            }
            Fact::ToolBegan { .. } => self.has_called = true,
            Fact::Mode(_) => {
                if let Some(desk) = &mut self.desk {
                    desk.mode_told();
                }
            }
            Fact::Reset { conversation } => {
                let row = &mut self.row;
                row.conversation = conversation.clone().or(row.conversation.take());
                self.unsaved.changed = true;
            }
            _ => {}
        }
    }

    pub(super) fn moved(&mut self, step: Move) {
        match step {
            Move::Asked(new) => self.asked(*new),
            Move::Life {
                id,
                life,
                decided,
                is_for_person,
                ..
            } => {
                if life == Life::Written {
                    crate::points::passed("answer in the journal");
                }
                self.expiries.retain(|(_, name), ()| {
                    self.projection
                        .book
                        .get(name)
                        .is_some_and(|held| held.life == Life::Open)
                });
                self.unsaved.lives.push((id, life, decided));
                self.unsaved.lives_are_awaited |= is_for_person;
            }
        }
    }

    /// A question is new. If it is still open and we can answer, policy has its say.
    fn asked(&mut self, new: NewApproval) {
        let NewApproval {
            id,
            generation,
            seq,
            at,
            mut asked,
            line,
        } = new;
        let name = asked.request_id.clone();
        let held = self.projection.book.get(&name);
        let is_open = held.is_some_and(|held| held.life == Life::Open && held.id == id);
        if asked.kind == Kind::Plan && asked.plan_text().is_none() {
            asked = self.with_plan(asked);
        }
        let mut row = ApprovalRow::asked(self.id, generation, seq, at, &asked);
        row.path = self.projection.family.path(&asked);
        match (is_open, self.agent.is_some()) {
            (true, true) => self.judge(&mut row, &asked, &line),
            // Policy has its say when somebody is there who could be answered.
            (true, false) => {
                self.is_for_person(&name);
                self.undecided.push(row.clone());
            }
            (false, _) => {}
        }
        if let Some(text) = asked.plan_text() {
            self.unsaved.plans.push((id, at, text.to_owned()));
        }
        self.unsaved.asked.push(row);
    }

    /// Policy has its say on an open question.
    fn judge(&mut self, row: &mut ApprovalRow, asked: &approval::Asked, line: &[u8]) {
        let ruling = self.rule_on(line);
        let name = row.request_id.clone();
        let (answer, because) = match ruling {
            Ruling::Allow(because) => {
                let allow = Answer::Allow {
                    input: None,
                    updates: Vec::new(),
                };
                (allow, because)
            }
            Ruling::Deny { message, because } => (Answer::refusal(row.kind, message), because),
            Ruling::Ask {
                because,
                suggestions,
                edits_would_do,
            } => {
                row.reason = because.text;
                let desk = self.desk.as_mut();
                row.file = desk.and_then(|it| it.file_as_asked(&row.tool, &row.input, now()));
                let offers = approval::offers(asked, suggestions, self.version());
                row.offers = approval::with_edits(offers, edits_would_do);
                let expiry = self.inner.preferences().expiry;
                // One that was stored, or given at the start, may be longer than can be added.
                row.expires = expiry.map(|after| row.asked + after.min(LONGEST));
                if let Some(at) = row.expires {
                    self.expiries.insert((at, name.clone()), ());
                }
                self.is_for_person(&name);
                return;
            }
        };
        row.reason = because.text.clone();
        row.life = Life::Decided;
        row.decided = Some(Decided {
            effect: answer.effect(),
            way: None,
            by: BY_RULE.to_owned(),
            why: because.text.clone(),
            client: "host".to_owned(),
            at: now(),
            decision: serde_json::to_value(&because).unwrap_or_default(),
        });
        if let Some(held) = self.projection.book.get_mut(&name) {
            held.life = Life::Decided;
        }
        if self.writes_a_plan(row) {
            // The desk of the next connection looks for it among the rows.
            self.is_for_person(&name);
            self.unsaved.changed = true;
        }
        let to_answer = ToAnswer::by_rule(answer, &because, row);
        self.to_answer.insert(name.clone(), to_answer);
        // In the same breath as the question, so that nobody is called for nothing.
        self.step(Input::Decided { request_id: name });
    }

    /// Whether a call may write the plan of an agent.
    fn writes_a_plan(&self, row: &ApprovalRow) -> bool {
        let plans = self.desk.as_ref().and_then(|desk| desk.grounds().plans());
        let file = row.input["file_path"].as_str();
        file.is_some_and(|file| file.contains(&part_of_plans(plans)))
    }

    /// It is laid before a person, or may be: whatever becomes of it is stored at once.
    fn is_for_person(&mut self, name: &str) {
        if let Some(held) = self.projection.book.get_mut(name) {
            held.is_for_person = true;
        }
    }

    /// Policy is asked about what it had no say on yet: questions that were read while nobody could be answered, and those
    /// that rules had decided before an earlier host ended, which the journal does not know.
    pub(super) fn judge_again(&mut self) {
        for mut row in std::mem::take(&mut self.undecided) {
            let held = self.projection.book.get(&row.request_id);
            if !held.is_some_and(|held| held.life == Life::Open && held.id == row.id) {
                continue;
            }
            let Ok(line) = self.question_line(&row) else {
                continue;
            };
            let Some(asked) = approval::asked(&line) else {
                continue;
            };
            (row.life, row.decided) = (Life::Open, None);
            self.judge(&mut row, &asked, &line);
            self.unsaved.judged.push(row);
        }
    }

    fn rule_on(&mut self, line: &[u8]) -> Ruling {
        let mode = self.cli_mode();
        let nobody = |text: &str| Because {
            kind: Because::NOBODY.into(),
            text: text.to_owned(),
            rule: None,
            number: None,
            origin: None,
            part: None,
        };
        let Some(desk) = &mut self.desk else {
            return Ruling::Ask {
                because: nobody("The rules of this session are not there yet."),
                suggestions: Vec::new(),
                edits_would_do: false,
            };
        };
        match call_of(line) {
            Some(call) => desk.rule_on(&call, mode.as_deref(), now()),
            None if desk.asks_nobody(now()) => Ruling::Deny {
                message: "Nobody is asked in this mode.".to_owned(),
                because: nobody("Nobody is asked in this mode."),
            },
            None => Ruling::Ask {
                because: nobody("It is a question to a person."),
                suggestions: Vec::new(),
                edits_would_do: false,
            },
        }
    }

    /// Records that were taken are gone after a loss of power: what followed from them is, too.
    async fn rewound(&mut self, to: Cursor) {
        let session = self.id;
        let cut = move |it: &crate::store::Connection| {
            crate::store::approvals::forget_behind(it, session, to.generation, to.seq)?;
            // Sums and words to search are made again.
            crate::store::indexed::forget(it, session)?;
            crate::store::shelf::clear(it, session)
        };
        let done = self.inner.store.write(crate::store::Durability::Full, cut);
        if let Err(error) = done.await {
            tracing::warn!(%session, %error, "what was lost cannot be cut off");
        }
        self.unsaved.cut(to);
        self.row.cursor = to;
        self.unsaved.cursor = true;
    }
}

/// The call that a line asks about, if it does.
pub(super) fn call_of(line: &[u8]) -> Option<CanUseTool> {
    let CliMessage::ControlRequest(ask) = decode::<CliMessage>(line).ok()? else {
        return None;
    };
    match ask.request {
        CliRequest::CanUseTool(call) => Some(*call),
        _ => None,
    }
}
