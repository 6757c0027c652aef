//! Plans that are carried out when their turn has ended, or without their agent; and which files hold them.
//!
//! Owns what follows a decision on a plan later than its answer. Invariants: what a person was promised happens, once; a
//! plan file that this session wrote is known again by the next host and to the next agent.

use std::path::Path;

use countersign_policy::Why;

use super::Actor;
use super::answers::{AtEnd, plans_of};
use super::decide::store_after;
use crate::approval::{self, After, Agent, Event, Known};
use crate::control::approval::{Decided, Effect, Kind, Life, Outcome};
use crate::control::{ApprovalId, ControlError, Decide, Result, now};
use crate::desk::Desk;
use crate::plan::Tracker;
use crate::session::Input;
use crate::store::approvals::ApprovalRow;
use crate::store::{Durability, approvals, sessions};

/// What is in the path of a plan file, where plans stand in this folder.
pub(super) fn part_of_plans(folder: Option<&Path>) -> String {
    let name = folder.and_then(Path::file_name);
    let name = name.map_or("plans".into(), |name| name.to_string_lossy());
    format!("/{name}/")
}

impl Actor {
    /// The turn has ended that a decision wanted ended: the mode changes, and the queue goes on.
    pub(super) async fn turn_over(&mut self) {
        let Some(AtEnd { mode }) = self.at_end.take() else {
            return;
        };
        if let Some(mode) = mode {
            // Before the next message goes.
            self.put_into(mode).await;
        }
        self.step(Input::ReleaseQueue);
    }

    /// What follows behind an answer goes once the answer is handed in. What waits for the end of the turn is known at once:
    /// that end may come first.
    pub(super) async fn follow_up(&mut self) {
        let is_due = |(name, after): &(String, After), actor: &Self| {
            !actor.to_answer.contains_key(name) || matches!(after, After::OnceIdle { .. })
        };
        while let Some(at) = self.behind.iter().position(|it| is_due(it, self)) {
            let (_, after) = self.behind.remove(at);
            self.after(after).await;
        }
    }

    /// Plans that were decided, and whose agent ended before it had the answer, are carried out without it.
    pub(super) async fn plans_without_agent(&mut self) {
        let session = self.id;
        let rows = self
            .inner
            .store
            .read(move |it| approvals::unsettled(it, session))
            .await;
        let rows = match rows {
            Ok(rows) => rows,
            Err(error) => return tracing::warn!(%session, %error, "plans cannot be looked up"),
        };
        let is_due = |row: &ApprovalRow| row.kind == Kind::Plan && row.life == Life::Decided;
        // That the agent got the answer may not be stored yet.
        let unsaved = self.unsaved.lives.iter();
        let answered = unsaved.filter(|(_, life, _)| *life == Life::Written);
        let answered: Vec<ApprovalId> = answered.map(|(id, ..)| *id).collect();
        let is_due = |row: &ApprovalRow| is_due(row) && !answered.contains(&row.id);
        for row in rows.into_iter().filter(is_due) {
            if let Err(error) = self.plan_without_agent(&row).await {
                self.inner
                    .trouble(self.id, format!("a plan cannot be carried out: {error}"));
                continue;
            }
            let effect = row
                .decided
                .as_ref()
                .map_or(Effect::Deny, |decided| decided.effect);
            self.carried_out(&row, effect);
        }
    }

    /// What a decision led to without an answer is done.
    pub(super) fn carried_out(&mut self, row: &ApprovalRow, effect: Effect) {
        let name = &row.request_id;
        self.to_answer.remove(name);
        self.behind.retain(|(of, _)| of != name);
        if let Some(held) = self
            .projection
            .book
            .get_mut(name)
            .filter(|held| held.id == row.id)
        {
            held.effect = Some(effect);
            for step in self.projection.book.happened(name, Event::CarriedOut) {
                self.moved(step);
            }
            return;
        }
        let outcome = match effect {
            Effect::Allow => Outcome::Ran,
            Effect::Deny => Outcome::Refused,
        };
        self.unsaved
            .lives
            .push((row.id, Life::Settled { outcome }, None));
        self.unsaved.lives_are_awaited = true;
    }

    /// The plan files that earlier agents of this session wrote, or that this one wrote while an earlier host looked on.
    pub(super) async fn remember_plans(&mut self, desk: &mut Desk) {
        let session = self.id;
        let part = part_of_plans(desk.grounds().plans());
        let rows = self
            .inner
            .store
            .read(move |it| approvals::writes(it, session, &part));
        let rows = match rows.await {
            Ok(rows) => rows,
            Err(error) => return tracing::warn!(%session, %error, "plan files cannot be looked up"),
        };
        let folder = desk.grounds().plans().map(ToOwned::to_owned);
        let mut tracker = Tracker::default();
        for row in &rows {
            let (Some(path), Some(decided)) = (row.input["file_path"].as_str(), &row.decided)
            else {
                continue;
            };
            let asker = row.path.last();
            if decided.decision["kind"] == Why::PlanFile.to_string() {
                let agent = asker.and_then(|asker| asker.agent_id.clone());
                match row.generation == self.row.generation {
                    true => desk.remember_plan_file(agent, path.into()),
                    false => desk.remember_earlier_plan_file(agent, path.into()),
                }
            }
            if let (Some(folder), Some(call)) = (&folder, &row.tool_use_id) {
                let speaker = asker.and_then(|asker| asker.tool_use_id.clone());
                tracker.begun(&row.tool, call, speaker, path.into(), folder);
                if let Life::Settled { outcome } = row.life {
                    tracker.ended(call, outcome != Outcome::Ran);
                }
            }
        }
        // One that is in use knows more.
        if self.plans == Tracker::default() {
            self.plans = tracker;
        }
    }

    async fn plan_without_agent(&mut self, row: &ApprovalRow) -> Result<()> {
        let decided = row.decided.clone();
        let decided = decided.ok_or_else(|| ControlError::not_now("nobody has decided it"))?;
        let Some(decide) = without_agent(&decided)? else {
            return Ok(());
        };
        let stored = plans_of(&self.inner.store, self.id, row.id).await;
        let asked = approval::asked(&self.question_line(row)?);
        let asked = asked.ok_or_else(|| ControlError::not_now("the question cannot be read"))?;
        let asked = match asked.plan_text() {
            Some(_) => asked,
            None => asked.with_plan(stored),
        };
        let known = Known {
            agent: Agent::Gone,
            ..self.known(row, now())
        };
        let consequence = approval::decide(&asked, &decide, &known)?;
        let mut of_session = self.row.clone();
        consequence.apply_to(&mut of_session);
        let (session, at, by) = (self.id, now(), decided.by.clone());
        let (after, kept) = (consequence.after.clone(), of_session.clone());
        self.inner
            .store
            .write(Durability::Full, move |it| {
                store_after(it, session, &kept, &after, at, &by)?;
                sessions::save(it, &kept)
            })
            .await?;
        self.row = of_session;
        self.tell_queue().await;
        self.after(consequence.after).await;
        Ok(())
    }
}

/// What a person decided, as far as it can be carried out without the agent. None: nothing follows, as when nobody
/// decided in time.
fn without_agent(decided: &Decided) -> Result<Option<Decide>> {
    if decided.decision.is_null() {
        return Ok(None);
    }
    let mut decide = serde_json::from_value(decided.decision.clone())
        .map_err(|error| ControlError::invalid(error.to_string()))?;
    if let Decide::Plan(plan) = &mut decide {
        // An earlier version stored them with the decision: they were rules of that agent alone.
        plan.allowed_prompts.clear();
    }
    Ok(Some(decide))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn decided(decision: Value) -> Decided {
        Decided {
            effect: Effect::Deny,
            way: None,
            by: "ann".to_owned(),
            why: String::new(),
            client: "test".to_owned(),
            at: 1,
            decision,
        }
    }

    #[test]
    fn a_plan_that_expired_is_over_without_its_agent() {
        assert_eq!(without_agent(&decided(Value::Null)), Ok(None));
    }

    #[test]
    fn a_plan_is_carried_out_without_its_agent_though_wishes_were_granted() {
        let ticked = json!({"decision": "plan", "choice": "accept-edits", "allowed_prompts": [0]});
        let Ok(Some(Decide::Plan(plan))) = without_agent(&decided(ticked)) else {
            panic!("a plan");
        };
        assert_eq!(plan.allowed_prompts, [0_usize; 0]);
    }
}
