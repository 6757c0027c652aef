//! A person decides: what it comes to is stored as one, then carried out.
//!
//! Owns the way from a decision to the database. Invariants: all of a decision is stored, or nothing; what was stored is
//! carried out, whatever ends in between; a rule that would not allow the call is not made.

use std::path::Path;

use super::Actor;
use super::cycle::call_of;
use crate::approval::{self, After, Agent, Answer, Consequence, Event, Known};
use crate::control::approval::{Decided, Effect, Kind, Life, Scope};
use crate::control::{
    ApprovalId, Cmd, Command, ControlError, Decide, Did, Digest, Mode, Receipt, Result, SessionId,
    now,
};
use crate::desk::{Desk, KeptRule, Reach};
use crate::session::Input;
use crate::store::approvals::ApprovalRow;
use crate::store::sessions::SessionRow;
use crate::store::{
    Connection, Durability, StoreError, approvals, events, plans, queue, receipts, rules, sessions,
};

use super::answers::{AtEnd, ToAnswer, plans_of};
use super::wishes::IN_TRASH;

/// A decision, and everything it comes to.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) row: ApprovalRow,
    pub(super) saw: Digest,
    pub(super) decided: Decided,
    pub(super) consequence: Consequence,
    pub(super) kept: Vec<(KeptRule, Scope)>,
}

impl Actor {
    /// A person decides, one approval or all that are alike.
    pub(super) async fn decide(&mut self, cmd: Cmd, command: Command) -> Result<Receipt> {
        let (id, saw, decide, others) = match &command {
            Command::Decide {
                approval,
                saw,
                decide,
            } => (*approval, saw.clone(), decide.clone(), None),
            Command::DecideAlike {
                approval,
                saw,
                others,
                whole,
                decide,
            } => (
                *approval,
                saw.clone(),
                decide.clone(),
                Some((others, whole)),
            ),
            _ => return Err(ControlError::invalid("this is no decision")),
        };
        let digest = receipts::digest(&cmd, &command)?;
        let (key, same) = (cmd.key.clone(), digest.clone());
        let before = self
            .inner
            .store
            .read(move |it| receipts::find(it, &key, &same));
        if let Some(receipt) = before.await? {
            return Ok(receipt);
        }
        let mut cases = vec![self.case(id, saw, &decide, &cmd).await?];
        if let Some((others, whole)) = others {
            self.add_alike(&mut cases, others, whole, &decide, &cmd)
                .await?;
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
    pub(super) async fn case(
        &mut self,
        id: ApprovalId,
        saw: Digest,
        decide: &Decide,
        cmd: &Cmd,
    ) -> Result<Case> {
        let row = self
            .inner
            .store
            .read(move |it| approvals::get(it, id))
            .await?;
        // Whoever comes second hears what was decided first, whatever became of it and of its agent.
        match (&row.life, &row.decided) {
            (Life::Decided | Life::Written | Life::Settled { .. }, Some(first)) => {
                let first = Box::new(first.clone());
                return Err(StoreError::AlreadyDecided { id, first }.into());
            }
            (Life::Withdrawn { .. }, _) => return Err(StoreError::Withdrawn(id).into()),
            _ => {}
        }
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
        if self.row.trashed.is_some() && known.agent == Agent::Gone {
            // What was decided would be carried out by another agent.
            return Err(ControlError::not_now(IN_TRASH));
        }
        let consequence = approval::decide(&asked, decide, &known)?;
        let mode = self.cli_mode();
        let kept = match row.kind {
            // They are for calls to come, not for this one.
            Kind::Plan => KeptRule::of_decision(&consequence.rules, &self.row.cwd, at)?,
            _ => check(self.desk.as_mut(), &consequence, &line, mode.as_deref(), at)?,
        };
        let decided = Decided {
            effect: consequence.effect,
            way: consequence.way,
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
    pub(super) fn known(&self, row: &ApprovalRow, now: u64) -> Known {
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
    pub(super) async fn carry_out(&mut self, case: Case) {
        let Case {
            row,
            decided,
            consequence,
            kept,
            ..
        } = case;
        let is_wider = |(rule, _): &(KeptRule, _)| rule.reach != Reach::Session;
        let reaches_others = kept.iter().any(is_wider);
        if let Some(desk) = &mut self.desk {
            desk.add_rules(kept.iter().map(|(rule, _)| rule.clone()).collect());
            desk.add_dirs(consequence.add_dirs.iter().map(Into::into));
            if let Some(mode) = consequence.mode {
                desk.set_mode(mode, now());
                // Not every version says that it has entered or left plan mode.
                if let Some(Answer::Allow { .. }) = consequence.answer {
                    desk.planning(mode == Mode::Plan);
                }
            }
        }
        if !kept.is_empty() {
            // With the numbers under which they are stored.
            self.reload_rules().await;
        }
        for step in self
            .projection
            .book
            .happened(&row.request_id, Event::Decided)
        {
            self.moved(step);
        }
        let has_answer = consequence.answer.is_some();
        if let Some(answer) = consequence.answer {
            let to_answer = ToAnswer::decided(answer, &decided, &row, consequence.mode);
            self.to_answer.insert(row.request_id.clone(), to_answer);
        }
        self.step(Input::Decided {
            request_id: row.request_id.clone(),
        });
        self.inner.rules_changed(self.id, reaches_others);
        match has_answer {
            // The question itself may still be on its way to us.
            true => self.behind.push((row.request_id, consequence.after)),
            false => {
                self.after(consequence.after).await;
                self.carried_out(&row, decided.effect);
            }
        }
        self.answer_all();
        self.follow_up().await;
    }

    /// What follows behind the answer. All of it is stored: messages wait, the new session is there.
    pub(super) async fn after(&mut self, after: After) {
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
            After::Resume { mode, .. } => {
                // One that has begun meanwhile did so in another mode.
                let owed = self.owing_mode(mode);
                self.step(owed);
                self.set_cli_mode(mode, None).await;
                self.step(Input::ReleaseQueue);
                self.step(Input::Resume);
            }
        }
    }
}

impl Case {
    pub(super) fn store(
        &self,
        it: &Connection,
        session: SessionId,
        of_session: &SessionRow,
    ) -> std::result::Result<(), StoreError> {
        let at = self.decided.at;
        let answer = serde_json::to_value(&self.consequence).unwrap_or_default();
        approvals::decide(it, self.row.id, &self.saw, &self.decided, Some(&answer))?;
        for (rule, scope) in &self.kept {
            rules::add(
                it,
                &rules::NewRule {
                    scope: *scope,
                    session: (*scope == Scope::Session).then_some(session),
                    repository: repository_of(rule),
                    effect: Effect::Allow.into(),
                    rule: rule.text.clone(),
                    expires: rule.expires,
                    by: self.decided.by.clone(),
                    client: self.decided.client.clone(),
                    at,
                    approval: Some(self.row.id),
                    note: None,
                },
            )?;
        }
        if let Some(text) = &self.consequence.edited_plan {
            plans::add(it, session, None, at, &self.decided.by, text)?;
        }
        store_after(
            it,
            session,
            of_session,
            &self.consequence.after,
            at,
            &self.decided.by,
        )?;
        let what = crate::control::Happened::Approval {
            approval: self.row.id,
            life: Life::Decided.name().to_owned(),
        };
        events::add(it, at, Some(session), &what)?;
        Ok(())
    }
}

/// The rules that go along would allow the call, what was changed is forbidden by none, and folders that count as inside
/// are not ours. While nobody can look that up, none of it is taken: an agent may be there before its rules are.
fn check(
    desk: Option<&mut Desk>,
    consequence: &Consequence,
    line: &[u8],
    cli_mode: Option<&str>,
    at: u64,
) -> Result<Vec<(KeptRule, Scope)>> {
    let call = call_of(line);
    let changed = consequence.changed.as_ref();
    let Some(desk) = desk else {
        let is_plain = changed.is_none() && consequence.rules.is_empty();
        return match is_plain && consequence.add_dirs.is_empty() {
            true => Ok(Vec::new()),
            false => Err(ControlError::Unavailable {
                why: "the rules of this session are not there yet, and this must be held against them: decide it again"
                    .to_owned(),
                retry_ms: 1_000,
            }),
        };
    };
    if let (Some(call), Some(changed)) = (&call, changed) {
        desk.check_changed(call, changed, cli_mode, at)
            .map_err(ControlError::invalid)?;
    }
    // No agent would start with one of ours among its folders.
    desk.grounds()
        .must_be_open(consequence.add_dirs.iter().map(Path::new))?;
    let kept = KeptRule::of_decision(&consequence.rules, &desk.grounds().repository(), at)?;
    let rules: Vec<KeptRule> = kept.iter().map(|(rule, _)| rule.clone()).collect();
    if let (Some(call), false) = (&call, rules.is_empty())
        && !desk.would_allow(&rules, call, cli_mode, at)?
    {
        let texts: Vec<&str> = rules.iter().map(|rule| rule.text.as_str()).collect();
        return Err(ControlError::invalid(format!(
            "`{}` would not allow this call: nothing was decided",
            texts.join("` and `")
        )));
    }
    Ok(kept)
}

/// Stores what follows behind an answer: messages wait, a new session is there. Done again it does nothing.
pub(super) fn store_after(
    it: &Connection,
    session: SessionId,
    of_session: &SessionRow,
    after: &After,
    at: u64,
    by: &str,
) -> std::result::Result<(), StoreError> {
    match after {
        After::Nothing => {}
        After::Then { messages } | After::OnceIdle { messages, .. } => {
            for message in messages.iter().rev() {
                queue::push_front(it, session, message, at, by)?;
            }
        }
        // What was to go behind an answer that never reached its agent does not carry the plan; this does.
        After::Resume { messages, .. } => {
            for message in messages.iter().rev() {
                queue::put_anew(it, session, message, at, by)?;
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
                // It goes on with the same work: what was allowed for that holds.
                rules::inherit(it, session, *fresh)?;
                queue::push(it, *fresh, prompt, at, by)?;
            }
        }
    }
    Ok(())
}

fn repository_of(rule: &KeptRule) -> Option<String> {
    match &rule.reach {
        Reach::Repository(folder) => folder.to_str().map(str::to_owned),
        _ => None,
    }
}

impl Consequence {
    /// What a decision changes about its session.
    pub(super) fn apply_to(&self, row: &mut SessionRow) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::approval::NewRule;

    fn line() -> Vec<u8> {
        let ask = json!({"type": "control_request", "request_id": "r", "request":
            {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t", "input": {"command": "ls"}}});
        ask.to_string().into_bytes()
    }

    fn allowed() -> Consequence {
        let (input, updates) = (None, Vec::new());
        Consequence::of(Answer::Allow { input, updates }, "allowed")
    }

    #[test]
    fn what_must_be_held_against_rules_is_not_taken_while_they_are_not_there() {
        let plain = check(None, &allowed(), &line(), None, 1);
        assert_eq!(plain, Ok(Vec::new()));
        let mut changed = allowed();
        changed.changed = Some(json!({"command": "rm -r src"}));
        let mut always = allowed();
        always.rules = vec![NewRule {
            text: "Bash(ls)".to_owned(),
            scope: Scope::Session,
            expires: None,
        }];
        let mut wider = allowed();
        wider.add_dirs = vec!["/srv".to_owned()];
        for come in [changed, always, wider] {
            let refused = check(None, &come, &line(), None, 1);
            assert!(
                matches!(refused, Err(ControlError::Unavailable { .. })),
                "{refused:?}"
            );
        }
    }
}
