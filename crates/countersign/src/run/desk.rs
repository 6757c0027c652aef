//! Where questions of the agent are settled by rule, or laid before a person.
//!
//! Owns the policy of one run: rules from files and flags, rules made on the way, the profile, and the session's plan
//! file. Decides nothing that is a person's to decide. Invariants: `--yes` lifts no safety check and answers no
//! question; where nobody is there, what no rule allows is refused, with a reason.

use std::path::PathBuf;

use countersign_client::{Decision, PermissionMode, PermissionRequest, Subject};
use countersign_policy::source::PlansFolder;
use countersign_policy::{
    Call, Disk, Effect, Harm, Origin, Place, Policy, Profile, RealDisk, Rule, RuleError, Scope,
    Verdict, check, harm, suggest,
};
use jiff::Timestamp;
use serde_json::Value;

use super::ledger::{By, Decided, Entry};

/// Where the agent works, and what is ours.
#[derive(Debug, Clone)]
pub(crate) struct Grounds {
    pub(crate) cwd: PathBuf,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// Folders of our own that no rule opens.
    pub(crate) own: Vec<PathBuf>,
    /// Where the CLI keeps plans.
    pub(crate) plans: Option<PlansFolder>,
}

impl Grounds {
    fn place(&self) -> Place<'_> {
        Place {
            cwd: &self.cwd,
            add_dirs: &self.add_dirs,
            home: self.home.as_deref(),
            own: &self.own,
            disk: &RealDisk,
        }
    }
}

/// Who answers where policy only asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The person at the terminal.
    Person,
    /// Nobody: it is refused.
    Nobody,
}

/// The desk of one run.
#[derive(Debug)]
pub(crate) struct Desk {
    policy: Policy,
    grounds: Grounds,
    answers: Answers,
    /// `--yes`.
    waves_through: bool,
    plan_file: Option<PathBuf>,
    /// What we know of plan mode before the CLI says so: older versions do not.
    plans: Option<bool>,
}

/// What comes of a question.
#[derive(Debug)]
pub(crate) enum Ruling {
    /// It is settled.
    Settled(Decision, Box<Entry>),
    /// A person decides.
    Person(Box<Brief>),
}

/// What a person is told to decide on.
#[derive(Debug, Clone)]
pub(crate) struct Brief {
    pub(crate) verdict: Verdict,
    /// Rules that would allow it from now on, narrowest first.
    pub(crate) suggestions: Vec<Vec<String>>,
    /// Whether editing files from now on would have allowed it.
    pub(crate) edits_would_do: bool,
    /// What it would destroy.
    pub(crate) harm: Harm,
    /// The record, to be completed.
    pub(crate) entry: Entry,
}

impl Desk {
    pub(crate) fn new(
        policy: Policy,
        grounds: Grounds,
        answers: Answers,
        waves_through: bool,
    ) -> Self {
        Self {
            policy,
            grounds,
            answers,
            waves_through,
            plan_file: None,
            plans: None,
        }
    }

    pub(crate) fn grounds(&self) -> &Grounds {
        &self.grounds
    }

    pub(crate) fn profile(&self) -> Profile {
        self.policy.profile
    }

    /// From now on this holds where no rule speaks.
    pub(crate) fn set_profile(&mut self, profile: Profile) {
        self.policy.profile = profile;
    }

    /// The CLI told the mode itself: what we assumed is over.
    pub(crate) fn mode_told(&mut self) {
        self.plans = None;
    }

    /// Rules on a question. `mode` is the CLI's, as it last said.
    pub(crate) fn rule_on(
        &mut self,
        request: &PermissionRequest,
        mode: Option<&str>,
        now: Timestamp,
    ) -> Ruling {
        let mut call = Call::asked(request);
        call.in_plan_mode = self.plans.unwrap_or(mode == Some("plan"));
        call.plan_file = self.own_plan_file(&call);
        let place = self.grounds.place();
        let verdict = self.policy.decide(&call, &place, now);
        let entry = entry_of(request, &call, &verdict);
        if verdict.effect != Effect::Ask {
            return self.by_policy(verdict, entry);
        }
        if self.waves_through
            && let Some((decision, plans)) = wave_through(request, &verdict)
        {
            self.plans = plans.or(self.plans);
            return settled(decision, entry, By::Yes, None);
        }
        if self.answers == Answers::Nobody {
            let message = refusal(request, &verdict);
            return settled(Decision::deny(&message), entry, By::Nobody, Some(message));
        }
        let edits = Policy {
            profile: Profile::Edits,
            rules: self.policy.rules.clone(),
        };
        let brief = Brief {
            suggestions: suggest(&self.policy, &call, &place, now),
            edits_would_do: edits.decide(&call, &place, now).effect == Effect::Allow,
            harm: harm(&call, &place),
            verdict,
            entry,
        };
        Ruling::Person(Box::new(brief))
    }

    /// What policy says about a call that the CLI settled without asking.
    pub(crate) fn verdict_on(
        &self,
        tool: &str,
        input: &Value,
        mode: Option<&str>,
        now: Timestamp,
    ) -> Verdict {
        let mut call = Call::new(tool, input.clone());
        call.in_plan_mode = self.plans.unwrap_or(mode == Some("plan"));
        call.plan_file.clone_from(&self.plan_file);
        self.policy.decide(&call, &self.grounds.place(), now)
    }

    /// Whether the call would be allowed if these rules held, too.
    pub(crate) fn would_allow(
        &self,
        rules: &[Rule],
        request: &PermissionRequest,
        mode: Option<&str>,
        now: Timestamp,
    ) -> bool {
        let mut call = Call::asked(request);
        call.in_plan_mode = self.plans.unwrap_or(mode == Some("plan"));
        let mut wider = self.policy.clone();
        wider.rules.extend(rules.iter().cloned());
        wider.decide(&call, &self.grounds.place(), now).effect == Effect::Allow
    }

    fn by_policy(&mut self, verdict: Verdict, entry: Entry) -> Ruling {
        match verdict.effect {
            Effect::Allow => settled(Decision::allow(), entry, By::Policy, None),
            _ => {
                let message = verdict.reason.text;
                settled(Decision::deny(&message), entry, By::Policy, Some(message))
            }
        }
    }

    /// A person let the agent into plan mode, or out of it.
    pub(crate) fn planning(&mut self, plans: bool) {
        self.plans = Some(plans);
    }

    /// The plan file is the first new document that the session writes where the CLI keeps plans.
    fn own_plan_file(&mut self, call: &Call) -> Option<PathBuf> {
        if !call.in_plan_mode || !matches!(call.tool.as_str(), "Write" | "Edit") {
            return None;
        }
        if self.plan_file.is_none() {
            let path = PathBuf::from(call.text("file_path")?);
            let plan = self.grounds.plans.as_ref()?.plan(&path, &RealDisk)?;
            self.plan_file = (!RealDisk.exists(&plan)).then_some(plan);
        }
        self.plan_file.clone()
    }

    /// Reads rules that allow, for this session or for longer.
    ///
    /// # Errors
    /// When a text is no rule.
    pub(crate) fn read_rules(
        &self,
        texts: &[String],
        scope: &Scope,
    ) -> Result<Vec<Rule>, RuleError> {
        let read = |text: &String| {
            let rule = Rule::parse(Effect::Allow, text, &self.grounds.cwd, Origin::Session)?;
            check::must_name_a_tool(&rule.matcher)?;
            Ok(Rule {
                scope: scope.clone(),
                ..rule
            })
        };
        texts.iter().map(read).collect()
    }

    /// These hold from now on.
    pub(crate) fn add_rules(&mut self, rules: Vec<Rule>) {
        self.policy.rules.extend(rules);
    }

    /// The working folder's real path, by which a repository is known.
    pub(crate) fn repository(&self) -> PathBuf {
        RealDisk
            .real(&self.grounds.cwd)
            .unwrap_or_else(|| self.grounds.cwd.clone())
    }
}

/// What `--yes` says, if it may say something, and whether the session plans from then on.
fn wave_through(
    request: &PermissionRequest,
    verdict: &Verdict,
) -> Option<(Decision, Option<bool>)> {
    match request.subject() {
        Subject::Questions(_) => None,
        // Approved as *manual*: what the plan leads to is decided call by call.
        Subject::Plan(plan) => Some((plan.approve_in_mode(PermissionMode::Default), Some(false))),
        Subject::EnterPlanMode => Some((Decision::allow(), Some(true))),
        _ => verdict
            .may_be_waved_through
            .then(|| (Decision::allow(), None)),
    }
}

fn entry_of(request: &PermissionRequest, call: &Call, verdict: &Verdict) -> Entry {
    Entry {
        tool_use_id: request.tool_use_id.as_ref().map(ToString::to_string),
        tool: call.tool.clone(),
        input: call.input.clone(),
        agent_id: request.agent_id.as_ref().map(ToString::to_string),
        verdict: Some(verdict.clone()),
        decided: Decided::Deny,
        by: By::Policy,
        message: None,
        changed: None,
        remembered: Vec::new(),
    }
}

fn settled(decision: Decision, mut entry: Entry, by: By, message: Option<String>) -> Ruling {
    entry.decided = match decision.is_allow() {
        true => Decided::Allow,
        false => Decided::Deny,
    };
    entry.by = by;
    entry.message = message;
    Ruling::Settled(decision, Box::new(entry))
}

/// What the model is told where nobody can be asked.
fn refusal(request: &PermissionRequest, verdict: &Verdict) -> String {
    match request.subject() {
        Subject::Questions(_) => {
            "Nobody is here to answer. Decide by yourself, or say what you would need to know."
                .to_owned()
        }
        Subject::Plan(_) => "Nobody is here to approve a plan.".to_owned(),
        _ => format!(
            "This was not allowed: nobody is here to ask. {}",
            verdict.reason.text
        ),
    }
}
