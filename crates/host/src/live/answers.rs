//! Answers of a session: decided, stored, given once.
//!
//! Owns the way from a decision to the agent. Invariants: a person's decision is on the disk before it is acknowledged,
//! and reaches the agent even if the host ends in between; a rule's decision is committed by its record in the journal;
//! what was decided once is not decided again.

use countersign_client::Json;
use countersign_client::options::Version;
use serde_json::{Value, json};

use super::Actor;
use super::cycle::{BY_RULE, call_of};
use crate::approval::{self, After, Agent, Answer, Asked, Consequence, Event, GiveError, Known};
use crate::control::approval::{Decided, Kind, Life};
use crate::control::{
    ApprovalId, Cmd, Command, ControlError, Decide, Did, Digest, Mode, Receipt, Result, SessionId,
    now,
};
use crate::desk::{Because, KeptRule};
use crate::session::{Fact, Input};
use crate::store::approvals::ApprovalRow;
use crate::store::sessions::SessionRow;
use crate::store::{Connection, Durability, StoreError, approvals, events, plans, queue, receipts, rules, sessions};

/// Who decides when nobody has.
const EXPIRED: &str = "expired";

/// What is to be done when a turn ends that a decision has ended: that end is no failure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtEnd {
    mode: Option<Mode>,
}

/// An answer that is decided and not given.
#[derive(Debug, Clone)]
pub(crate) struct ToAnswer {
    answer: Answer,
    note: Value,
}

impl ToAnswer {
    /// What a rule decided.
    pub(super) fn by_rule(answer: Answer, because: &Because, digest: &Digest) -> Self {
        let decision = serde_json::to_value(because).unwrap_or_default();
        Self {
            answer,
            note: json!({
                "by": BY_RULE, "why": because.text, "client": "host", "digest": digest,
                "decision": decision,
            }),
        }
    }

    /// What was stored.
    pub(super) fn decided(answer: Answer, decided: &Decided, digest: &Digest) -> Self {
        Self {
            answer,
            note: json!({
                "by": decided.by, "why": decided.why, "client": decided.client, "digest": digest,
                "decision": decided.decision,
            }),
        }
    }
}

impl Actor {
    /// Gives every answer that is decided and whose question can be answered.
    pub(super) fn answer_all(&mut self) {
        let Some(agent) = &mut self.agent else {
            return;
        };
        let book = &self.projection.book;
        // What the journal says is over needs no answer.
        self.to_answer.retain(|name, _| book.get(name).is_some());
        let ready: Vec<String> = self
            .to_answer
            .keys()
            .filter(|name| agent.asked.contains_key(*name))
            .cloned()
            .collect();
        let mut not_open = Vec::new();
        for name in ready {
            let (Some(to_answer), Some(question)) =
                (self.to_answer.remove(&name), agent.asked.remove(&name))
            else {
                continue;
            };
            match to_answer.answer.give(question, Json::from(to_answer.note)) {
                Ok(()) => crate::points::passed("answer handed in"),
                Err(GiveError::Withdrawn) => not_open.push(name),
                Err(error) => tracing::warn!(session = %self.id, name, %error, "an answer was not given"),
            }
        }
        for name in not_open {
            self.step(Input::Fact(Fact::Withdrawn {
                request_id: name.clone(),
            }));
            for step in self.projection.book.happened(&name, Event::NotOpen) {
                self.moved(step);
            }
        }
    }

    /// The version of the CLI, as far as it is known.
    pub(super) fn version(&self) -> Option<Version> {
        let told = self.agent.as_ref().and_then(|agent| agent.handle.version());
        told.or_else(|| self.row.version.as_ref()?.parse().ok())
    }

    /// The mode of the CLI, as it last said.
    pub(super) fn cli_mode(&self) -> Option<String> {
        self.agent.as_ref()?.handle.permission_mode()
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

    /// A person decides, one approval or all that are alike.
    pub(super) async fn decide(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let (id, saw, decide, alike) = match &command {
            Command::Decide {
                approval,
                saw,
                decide,
            } => (*approval, saw.clone(), decide.clone(), false),
            Command::DecideAlike {
                approval,
                saw,
                decide,
            } => (*approval, saw.clone(), decide.clone(), true),
            _ => return Err(ControlError::invalid("this is no decision")),
        };
        let digest = receipts::digest(&cmd, &command)?;
        let mut cases = vec![self.case(id, saw, &decide, &cmd).await?];
        if alike {
            self.add_alike(&mut cases, id, &decide, &cmd).await?;
        }
        let receipt = self.store_decisions(&cmd, digest, &cases).await?;
        for case in cases {
            self.carry_out(case).await;
        }
        self.tell_queue().await;
        self.answer_all();
        Ok(receipt)
    }

    /// Reads the question again and makes of the decision what it comes to.
    async fn case(
        &mut self,
        id: ApprovalId,
        saw: Digest,
        decide: &Decide,
        cmd: &Cmd,
    ) -> Result<Case> {
        let row = self.inner.store.read(move |it| approvals::get(it, id)).await?;
        let stored = plans_of(&self.inner.store, self.id, id).await;
        let line = self.question_line(&row)?;
        let asked = approval::asked(&line).ok_or_else(|| {
            ControlError::not_now("the question cannot be read any more: interrupt the turn")
        })?;
        let asked = match asked.plan_text() {
            Some(_) => asked,
            None => asked.with_plan(stored),
        };
        let at = now();
        let known = self.known(&row, at);
        let consequence = approval::decide(&asked, decide, &known)?;
        let kept = self.check(&consequence, &line, at)?;
        let decided = Decided {
            effect: consequence.effect,
            by: cmd.principal.clone(),
            why: consequence.message.clone(),
            client: cmd.client.clone(),
            at,
            decision: serde_json::to_value(decide).unwrap_or_default(),
        };
        Ok(Case {
            row,
            saw,
            decided,
            consequence,
            kept,
        })
    }

    /// What is known beside the question.
    fn known(&self, row: &ApprovalRow, now: u64) -> Known {
        // One that is being attached to is there, too.
        let has_agent = self.agent.is_some() || self.begun.is_some();
        let is_there = has_agent && row.generation == self.row.generation;
        Known {
            approval: row.id,
            now,
            version: self.version(),
            agent: match is_there {
                true => Agent::Waits,
                false => Agent::Gone,
            },
        }
    }

    /// The rules that go along would allow the call, and what was changed is forbidden by none.
    fn check(
        &mut self,
        consequence: &Consequence,
        line: &[u8],
        at: u64,
    ) -> Result<Vec<(KeptRule, crate::control::approval::Scope)>> {
        let mode = self.cli_mode();
        let Some(desk) = &mut self.desk else {
            return Ok(Vec::new());
        };
        let call = call_of(line);
        if let (Some(call), Some(changed)) = (&call, &consequence.changed) {
            desk.check_changed(call, changed, mode.as_deref(), at)
                .map_err(ControlError::invalid)?;
        }
        let repository = desk.grounds().repository();
        let mut kept = Vec::new();
        for rule in &consequence.rules {
            let remember = crate::control::approval::Remember {
                rules: vec![rule.text.clone()],
                scope: rule.scope,
                expires: rule.expires,
                also_cli: false,
            };
            let read = KeptRule::remember(&remember, &repository, at)?;
            kept.extend(read.into_iter().map(|kept| (kept, rule.scope)));
        }
        let rules: Vec<KeptRule> = kept.iter().map(|(rule, _)| rule.clone()).collect();
        if let (Some(call), false) = (&call, rules.is_empty())
            && !desk.would_allow(&rules, call, mode.as_deref(), at)?
        {
            let texts: Vec<&str> = rules.iter().map(|rule| rule.text.as_str()).collect();
            return Err(ControlError::invalid(format!(
                "`{}` would not allow this call: nothing was decided",
                texts.join("` and `")
            )));
        }
        Ok(kept)
    }

    async fn add_alike(
        &mut self,
        cases: &mut Vec<Case>,
        id: ApprovalId,
        decide: &Decide,
        cmd: &Cmd,
    ) -> Result<()> {
        let others = approval::for_the_others(decide)?;
        let found = self.inner.store.read(move |it| approvals::alike(it, id)).await?;
        let Some(first) = approval::asked(&self.question_line(&cases[0].row)?) else {
            return Ok(());
        };
        for row in found.into_iter().filter(|row| row.id != id) {
            let line = self.question_line(&row)?;
            let is_alike = approval::asked(&line)
                .is_some_and(|asked| approval::are_alike(&first, &asked, decide));
            if is_alike {
                let saw = row.digest.clone();
                cases.push(self.case(row.id, saw, &others, cmd).await?);
            }
        }
        Ok(())
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

    /// All of it, or nothing.
    async fn store_decisions(
        &mut self,
        cmd: &Cmd,
        digest: Digest,
        cases: &[Case],
    ) -> Result<Receipt> {
        let (session, at, key) = (self.id, now(), cmd.key.clone());
        let cases: Vec<Case> = cases.to_vec();
        let mut row = self.row.clone();
        for case in &cases {
            case.consequence.apply_to(&mut row);
        }
        let stored = row.clone();
        let job = move |it: &Connection| {
            receipts::once(it, &key, &digest, at, |it| {
                let mut begun = None;
                for case in &cases {
                    case.store(it, session, &stored)?;
                    if let After::ClearContext { session, .. } = &case.consequence.after {
                        begun = Some(*session);
                    }
                }
                sessions::save(it, &stored)?;
                Ok(Did::Decided {
                    approvals: cases.iter().map(|case| case.row.id).collect(),
                    session: begun,
                })
            })
        };
        let receipt = self.inner.store.write(Durability::Full, job).await?;
        crate::points::passed("decision committed");
        self.row = row;
        self.inner.happened();
        Ok(receipt)
    }

    /// What a stored decision leads to, now.
    async fn carry_out(&mut self, case: Case) {
        let Case {
            row,
            decided,
            consequence,
            kept,
            ..
        } = case;
        let is_wider = |(rule, _): &(KeptRule, _)| rule.reach != crate::desk::Reach::Session;
        let reaches_others = kept.iter().any(is_wider);
        if let Some(desk) = &mut self.desk {
            desk.add_rules(kept.into_iter().map(|(rule, _)| rule).collect());
            desk.add_dirs(consequence.add_dirs.iter().map(Into::into));
            if let Some(mode) = consequence.mode {
                desk.set_mode(mode, now());
            }
        }
        for step in self.projection.book.happened(&row.request_id, Event::Decided) {
            self.moved(step);
        }
        if let Some(answer) = consequence.answer {
            let to_answer = ToAnswer::decided(answer, &decided, &row.digest);
            self.to_answer.insert(row.request_id.clone(), to_answer);
        }
        self.step(Input::Decided {
            request_id: row.request_id.clone(),
        });
        self.inner.rules_changed(self.id, reaches_others);
        self.after(consequence.after).await;
    }

    /// What follows behind the answer. All of it is stored: messages wait, the new session is there.
    async fn after(&mut self, after: After) {
        match after {
            After::Nothing => {}
            After::Then { messages } => {
                self.answer_all();
                for message in messages {
                    self.tell_queue().await;
                    self.step(Input::SendNow(message.id));
                }
            }
            After::OnceIdle { mode, .. } => self.at_end = Some(AtEnd { mode }),
            After::ClearContext { session, .. } => {
                self.answer_all();
                self.step(Input::Stop);
                self.inner.look_after(session).await;
            }
            After::Resume { .. } => {
                self.step(Input::ReleaseQueue);
                self.step(Input::Resume);
            }
        }
    }

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

    /// Plans that were decided, and whose agent ended before it had the answer, are carried out without it.
    pub(super) async fn plans_without_agent(&mut self) {
        let session = self.id;
        let rows = self.inner.store.read(move |it| approvals::unsettled(it, session)).await;
        let rows = match rows {
            Ok(rows) => rows,
            Err(error) => return tracing::warn!(%session, %error, "plans cannot be looked up"),
        };
        let is_due = |row: &ApprovalRow| row.kind == Kind::Plan && row.life == Life::Decided;
        for row in rows.into_iter().filter(is_due) {
            let (id, name) = (row.id, row.request_id.clone());
            if let Err(error) = self.plan_without_agent(row).await {
                self.inner.trouble(self.id, format!("a plan cannot be carried out: {error}"));
                continue;
            }
            self.to_answer.remove(&name);
            let moves = self.projection.book.happened(&name, Event::CarriedOut);
            let was_held = !moves.is_empty();
            for step in moves {
                self.moved(step);
            }
            if !was_held {
                let outcome = crate::control::approval::Outcome::Ran;
                self.unsaved.lives.push((id, Life::Settled { outcome }, None));
            }
        }
    }

    async fn plan_without_agent(&mut self, row: ApprovalRow) -> Result<()> {
        let decided = row.decided.clone();
        let decided = decided.ok_or_else(|| ControlError::not_now("nobody has decided it"))?;
        let decide: Decide = serde_json::from_value(decided.decision.clone())
            .map_err(|error| ControlError::invalid(error.to_string()))?;
        let stored = plans_of(&self.inner.store, self.id, row.id).await;
        let asked = approval::asked(&self.question_line(&row)?);
        let asked = asked.ok_or_else(|| ControlError::not_now("the question cannot be read"))?;
        let asked = match asked.plan_text() {
            Some(_) => asked,
            None => asked.with_plan(stored),
        };
        let known = Known {
            agent: Agent::Gone,
            ..self.known(&row, now())
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
            let Some(held) = self.projection.book.get(&name).filter(|it| it.life == Life::Open)
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
        let row = self.inner.store.read(move |it| approvals::get(it, id)).await?;
        let line = self.question_line(&row)?;
        let asked = approval::asked(&line).ok_or_else(|| ControlError::not_now("unreadable"))?;
        let minutes = self.inner.settings.expiry.unwrap_or_default() / 60_000_000;
        let consequence = approval::expired(&asked, minutes, &self.known(&row, at));
        let decided = Decided {
            effect: consequence.effect,
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
            if let After::OnceIdle { mode, .. } = consequence.after {
                self.at_end = Some(AtEnd { mode });
            }
            if let (Some(answer), Life::Decided) = (consequence.answer, &row.life) {
                let to_answer = ToAnswer::decided(answer, decided, &row.digest);
                self.to_answer.insert(row.request_id.clone(), to_answer);
            }
        }
    }
}

/// The plan that was captured with an approval.
async fn plans_of(
    store: &crate::store::Store,
    session: crate::control::SessionId,
    approval: ApprovalId,
) -> Option<String> {
    let plan = store.read(move |it| plans::of_approval(it, session, approval));
    plan.await.ok().flatten().map(|plan| plan.text)
}

/// A decision, and everything it comes to.
#[derive(Debug, Clone)]
struct Case {
    row: ApprovalRow,
    saw: Digest,
    decided: Decided,
    consequence: Consequence,
    kept: Vec<(KeptRule, crate::control::approval::Scope)>,
}

impl Case {
    fn store(
        &self,
        it: &Connection,
        session: crate::control::SessionId,
        of_session: &SessionRow,
    ) -> std::result::Result<(), StoreError> {
        let at = self.decided.at;
        let answer = serde_json::to_value(&self.consequence).unwrap_or_default();
        approvals::decide(it, self.row.id, &self.saw, &self.decided, Some(&answer))?;
        for (rule, scope) in &self.kept {
            rules::add(it, &rules::NewRule {
                scope: *scope,
                session: (*scope == crate::control::approval::Scope::Session).then_some(session),
                repository: repository_of(rule),
                effect: crate::control::approval::Effect::Allow,
                rule: rule.text.clone(),
                expires: rule.expires,
                by: self.decided.by.clone(),
                client: self.decided.client.clone(),
                at,
                approval: Some(self.row.id),
            })?;
        }
        if let Some(text) = &self.consequence.edited_plan {
            plans::add(it, session, None, at, &self.decided.by, text)?;
        }
        store_after(it, session, of_session, &self.consequence.after, at, &self.decided.by)?;
        let what = crate::control::Happened::Approval {
            approval: self.row.id,
            life: Life::Decided.name().to_owned(),
        };
        events::add(it, at, Some(session), &what)?;
        Ok(())
    }
}

/// Stores what follows behind an answer: messages wait, a new session is there. Done again it does nothing.
fn store_after(
    it: &Connection,
    session: SessionId,
    of_session: &SessionRow,
    after: &After,
    at: u64,
    by: &str,
) -> std::result::Result<(), StoreError> {
    match after {
        After::Nothing => {}
        After::Then { messages }
        | After::OnceIdle { messages, .. }
        | After::Resume { messages, .. } => {
            for message in messages.iter().rev() {
                queue::push_front(it, session, message, at, by)?;
            }
        }
        After::ClearContext {
            session: fresh,
            prompt,
            mode,
        } => {
            if sessions::find(it, *fresh)?.is_none() {
                let row = super::begin::cleared(of_session, *fresh, *mode, at);
                sessions::insert(it, &row)?;
                queue::push(it, *fresh, prompt, at, by)?;
            }
        }
    }
    Ok(())
}

fn repository_of(rule: &KeptRule) -> Option<String> {
    match &rule.reach {
        crate::desk::Reach::Repository(folder) => folder.to_str().map(str::to_owned),
        _ => None,
    }
}

impl Consequence {
    /// What a decision changes about its session.
    fn apply_to(&self, row: &mut SessionRow) {
        let mode = match &self.after {
            After::OnceIdle { mode, .. } => *mode,
            After::Resume { mode, .. } => Some(*mode),
            _ => None,
        };
        if let Some(mode) = self.mode.or(mode) {
            row.mode = mode;
        }
        let dirs = self.add_dirs.iter().map(Into::into);
        row.setup.add_dirs.extend(dirs);
    }
}
