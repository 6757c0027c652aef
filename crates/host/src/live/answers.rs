//! Answers of a session: decided, stored, given once.
//!
//! Owns the way from a decision to the agent. Invariants: a person's decision is on the disk before it is acknowledged,
//! and reaches the agent even if the host ends in between; a rule's decision is committed by its record in the journal;
//! what was decided once is not decided again.

use countersign_client::Json;
use countersign_client::options::Version;
use serde_json::{Value, json};

use super::cycle::BY_RULE;
use super::decide::Case;
use super::{Actor, Held};
use crate::approval::{self, Answer, Asked, Consequence, GiveError};
use crate::control::approval::{Decided, Life};
use crate::control::{ApprovalId, ControlError, Mode, Result, now};
use crate::desk::Because;
use crate::store::approvals::ApprovalRow;
use crate::store::{Connection, Durability, approvals, plans};

/// A text in a note is no longer than this: a keeper does not take a note of any length, nor the answer it belongs to.
const LONGEST: usize = 64 << 10;

/// Who decides when nobody has.
const EXPIRED: &str = "expired";

/// What is to be done when a turn ends that a decision has ended: that end is no failure.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
pub(crate) struct AtEnd {
    pub(super) mode: Option<Mode>,
}

/// An answer that is decided and not given.
#[derive(Debug, Clone)]
pub(crate) struct ToAnswer {
    /// The question that was decided: another one may come under its name.
    approval: ApprovalId,
    answer: Answer,
    note: Value,
}

impl ToAnswer {
    /// What a rule decided.
    pub(super) fn by_rule(answer: Answer, because: &Because, row: &ApprovalRow) -> Self {
        let decision = serde_json::to_value(because).unwrap_or_default();
        Self {
            approval: row.id,
            answer,
            note: json!({
                "by": BY_RULE, "why": because.text, "client": "host", "digest": row.digest,
                "decision": decision,
            }),
        }
    }

    /// What was stored; `mode` is in force from now on.
    pub(super) fn decided(
        answer: Answer,
        decided: &Decided,
        row: &ApprovalRow,
        mode: Option<Mode>,
    ) -> Self {
        let mut note = json!({
            "by": decided.by, "why": cut(&decided.why), "client": decided.client, "digest": row.digest,
            "decision": in_short(&decided.decision),
        });
        if let Some(mode) = mode {
            note["mode"] = mode.name().into();
        }
        if let Some(way) = decided.way {
            note["way"] = serde_json::to_value(way).unwrap_or_default();
        }
        Self {
            approval: row.id,
            answer,
            note,
        }
    }
}

/// A decision as it stands in a note. A long one, as with images, is stored whole in the database alone.
fn in_short(decision: &Value) -> Value {
    let length = decision.to_string().len();
    if length <= LONGEST {
        return decision.clone();
    }
    let mut short = json!({"cut": length});
    for field in ["decision", "choice", "mode"] {
        if let Some(said) = decision
            .get(field)
            .filter(|said| said.to_string().len() < 100)
        {
            short[field] = said.clone();
        }
    }
    short
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Actor {
    /// Gives every answer that is decided and whose question can be answered.
    pub(super) fn answer_all(&mut self) {
        let Some(agent) = &mut self.agent else {
            return;
        };
        let book = &self.projection.book;
        // What the journal says is over needs no answer, and another question of its name is another question.
        let is_asked = |held: &Held, it: &ToAnswer| {
            held.id == it.approval && matches!(held.life, Life::Open | Life::Decided)
        };
        self.to_answer
            .retain(|name, it| book.get(name).is_some_and(|held| is_asked(held, it)));
        if !self.to_answer.is_empty() {
            agent.hear();
        }
        let ready: Vec<String> = self
            .to_answer
            .keys()
            .filter(|name| agent.asked.contains_key(*name))
            .cloned()
            .collect();
        for name in ready {
            let (Some(to_answer), Some(question)) =
                (self.to_answer.remove(&name), agent.asked.remove(&name))
            else {
                continue;
            };
            let note = Json::from(to_answer.note.clone());
            match to_answer.answer.give(question, note) {
                Ok(()) => crate::points::passed("answer handed in"),
                // It was taken back, as the journal will tell; or the way to the agent is gone, and the next one gets it.
                Err(GiveError::Withdrawn) => {
                    self.to_answer.insert(name, to_answer);
                }
                Err(error) => {
                    tracing::warn!(session = %self.id, name, %error, "an answer was not given")
                }
            }
        }
    }

    /// Waits for our own disk, and gives meanwhile what is decided: the record of an answer is committed by the keeper, so
    /// an agent need not wait for both, one after the other.
    pub(super) async fn answering<T>(&mut self, stored: impl Future<Output = T>) -> T {
        let mut stored = std::pin::pin!(stored);
        while let (Some(agent), false) = (&mut self.agent, self.to_answer.is_empty()) {
            tokio::select! {
                biased;
                done = &mut stored => return done,
                question = agent.question() => match question {
                    Some(question) => agent.asks(question),
                    // The next look at the news ends this connection.
                    None => break,
                },
            }
            self.answer_all();
        }
        stored.await
    }

    /// The version of the CLI, as far as it is known.
    pub(super) fn version(&self) -> Option<Version> {
        let told = self.agent.as_ref().and_then(|agent| agent.handle.version());
        told.or_else(|| self.row.version.as_ref()?.parse().ok())
    }

    /// The mode of the CLI, as it last said. Taken from the journal, as questions are: the connection may know of a change
    /// later than we know of the call behind it.
    pub(super) fn cli_mode(&self) -> Option<String> {
        let agent = self.agent.as_ref()?;
        let told = self.core.seen().mode.clone();
        told.or_else(|| agent.handle.permission_mode())
    }

    /// The question with the plan from its file, where it did not bring it.
    pub(super) fn with_plan(&self, asked: Asked) -> Asked {
        let plans = self.desk.as_ref().and_then(|desk| desk.grounds().plans());
        let Some(plans) = plans else {
            return asked;
        };
        let path = self.projection.family.path(&asked);
        let speaker = path.last().and_then(|asker| asker.tool_use_id.clone());
        match self.plans.capture(speaker.as_deref(), plans) {
            Ok(text) => asked.with_plan(text),
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "a plan cannot be read");
                asked
            }
        }
    }

    /// The line that a question was asked with.
    pub(super) fn question_line(&self, row: &ApprovalRow) -> Result<Vec<u8>> {
        let dir = self.inner.folders.session(self.id);
        let at = countersign_journal::Cursor::new(row.generation, row.seq);
        countersign_journal::read_range(&dir, at, 0..u64::MAX).map_err(|error| {
            ControlError::Unavailable {
                why: format!("the question cannot be read in the journal: {error}"),
                retry_ms: 1_000,
            }
        })
    }

    /// Denies what nobody has answered in time.
    pub(super) async fn expire(&mut self) {
        let at = now();
        let due: Vec<String> = self
            .expiries
            .keys()
            .take_while(|(when, _)| *when <= at)
            .map(|(_, name)| name.clone())
            .collect();
        self.expiries.retain(|(when, _), ()| *when > at);
        for name in due {
            let Some(held) = self
                .projection
                .book
                .get(&name)
                .filter(|it| it.life == Life::Open)
            else {
                continue;
            };
            let id = held.id;
            if let Err(error) = self.expire_one(id, at).await {
                tracing::warn!(session = %self.id, %id, %error, "a question could not expire");
                self.expiries.insert((at + 1_000_000, name), ());
            }
        }
    }

    async fn expire_one(&mut self, id: ApprovalId, at: u64) -> Result<()> {
        let row = self
            .inner
            .store
            .read(move |it| approvals::get(it, id))
            .await?;
        let line = self.question_line(&row)?;
        let asked = approval::asked(&line).ok_or_else(|| ControlError::not_now("unreadable"))?;
        // As it was when it was asked: the setting may have changed since.
        let lasted = row.expires.unwrap_or(at).saturating_sub(row.asked);
        let consequence = approval::expired(&asked, lasted, &self.known(&row, at));
        let decided = Decided {
            effect: consequence.effect,
            way: None,
            by: EXPIRED.to_owned(),
            why: consequence.message.clone(),
            client: "host".to_owned(),
            at,
            decision: Value::Null,
        };
        let case = Case {
            saw: row.digest.clone(),
            row,
            decided,
            consequence,
            kept: Vec::new(),
        };
        let (stored, session, of_session) = (case.clone(), self.id, self.row.clone());
        let job = move |it: &Connection| stored.store(it, session, &of_session);
        self.inner.store.write(Durability::Full, job).await?;
        self.inner.happened();
        self.carry_out(case).await;
        self.answer_all();
        Ok(())
    }

    /// The way to the agent was gone and is there again: what was handed in and does not stand in the journal was lost with
    /// it, and goes again. What a rule decided is judged again.
    pub(super) async fn take_up_again(&mut self) {
        let session = self.id;
        let rows = self
            .inner
            .store
            .read(move |it| approvals::unsettled(it, session));
        let rows = match rows.await {
            Ok(rows) => rows,
            Err(error) => return tracing::warn!(%session, %error, "decisions cannot be looked up"),
        };
        // What rules decided a moment ago may not be stored yet.
        let unsaved = self.unsaved.decided_by_rule();
        for row in rows.into_iter().chain(unsaved) {
            let held = self.projection.book.get_mut(&row.request_id);
            let held = held.filter(|held| held.id == row.id && held.life == Life::Decided);
            let (Some(held), false) = (held, self.to_answer.contains_key(&row.request_id)) else {
                continue;
            };
            let stored = row
                .answer
                .clone()
                .map(serde_json::from_value::<Consequence>);
            match (stored, &row.decided) {
                (Some(Ok(consequence)), Some(decided)) => {
                    let Some(answer) = consequence.answer else {
                        continue;
                    };
                    let to_answer = ToAnswer::decided(answer, decided, &row, consequence.mode);
                    self.to_answer.insert(row.request_id.clone(), to_answer);
                }
                (Some(Err(error)), _) => {
                    tracing::warn!(%session, id = %row.id, %error, "a stored answer cannot be read");
                }
                _ => {
                    held.life = Life::Open;
                    self.undecided.push(row);
                }
            }
        }
    }

    /// Decisions that were stored and did not reach the agent go now; or what they lead to without one.
    pub(super) fn take_up(&mut self, rows: &[ApprovalRow]) {
        let is_due = |row: &&ApprovalRow| matches!(row.life, Life::Decided | Life::Written);
        for row in rows.iter().filter(is_due) {
            let (Some(decided), Some(answer)) = (&row.decided, &row.answer) else {
                continue;
            };
            let Ok(consequence) = serde_json::from_value::<Consequence>(answer.clone()) else {
                tracing::warn!(session = %self.id, id = %row.id, "a stored answer cannot be read");
                continue;
            };
            if consequence.answer.is_some() {
                self.behind
                    .push((row.request_id.clone(), consequence.after));
            }
            if let (Some(answer), Life::Decided) = (consequence.answer, &row.life) {
                let to_answer = ToAnswer::decided(answer, decided, row, consequence.mode);
                self.to_answer.insert(row.request_id.clone(), to_answer);
            }
        }
    }
}

/// The plan that was captured with an approval.
pub(super) async fn plans_of(
    store: &crate::store::Store,
    session: crate::control::SessionId,
    approval: ApprovalId,
) -> Option<String> {
    let plan = store.read(move |it| plans::of_approval(it, session, approval));
    plan.await.ok().flatten().map(|plan| plan.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_decision_stands_in_its_note_in_short() {
        let short = json!({"decision": "deny", "message": "no"});
        assert_eq!(in_short(&short), short);
        let long =
            json!({"decision": "plan", "choice": "keep-planning", "images": ["x".repeat(2 << 20)]});
        let said = in_short(&long);
        assert_eq!(
            (&said["choice"], &said["images"]),
            (&json!("keep-planning"), &Value::Null)
        );
        assert!(said.to_string().len() < 1_000, "{said}");
        let word = "é".repeat(LONGEST);
        assert!(cut(&word).len() <= LONGEST && cut("no") == "no");
    }
}
