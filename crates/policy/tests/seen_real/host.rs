//! A host that decides by policy and keeps each verdict.
//!
//! Owns the record. It says its verdict twice, as a host should: at `PreToolUse`, where nothing of the settings can be
//! milder, and where the CLI asks. Nobody is there to be asked, so what wants a person is refused.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use countersign_client::hook::{Answer, PreToolUse};
use countersign_client::{
    Decision, Hook, HookContext, PermissionHandler, PermissionMode, PermissionRequest,
};
use countersign_policy::{Call, Effect, Origin, Place, Policy, Profile, RealDisk, Rule, Verdict};
use jiff::{Span, Timestamp};

use crate::stage::Stage;

/// Where a verdict was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum At {
    Callback,
    Question,
}

/// What was asked and said about one call.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) tool: String,
    pub(crate) said: Vec<(At, Effect)>,
    /// What policy was asked about, as text.
    pub(crate) input: String,
}

#[derive(Clone)]
pub(crate) struct Host(Arc<Inner>);

struct Inner {
    policy: Policy,
    cwd: PathBuf,
    home: PathBuf,
    entries: Mutex<BTreeMap<String, Entry>>,
}

impl Host {
    /// Allows everything that no rule denies and no person must see.
    pub(crate) fn hands_off(stage: &Stage, denied: &[&str]) -> Self {
        let until = Timestamp::now() + Span::new().hours(1);
        let cwd = stage.sandbox.project().canonicalize().unwrap();
        let rule =
            |text: &&str| Rule::parse(Effect::Deny, text, &cwd, Origin::CommandLine).unwrap();
        let policy = Policy {
            rules: denied.iter().map(rule).collect(),
            profile: Profile::HandsOff { until },
        };
        Self(Arc::new(Inner {
            policy,
            cwd,
            home: stage.sandbox.home(),
            entries: Mutex::default(),
        }))
    }

    fn decide(&self, at: At, id: &str, call: &Call) -> Verdict {
        let inner = &self.0;
        let place = Place {
            cwd: &inner.cwd,
            add_dirs: &[],
            home: Some(&inner.home),
            own: &[],
            disk: &RealDisk,
        };
        let verdict = inner.policy.decide(call, &place, Timestamp::now());
        let mut entries = inner.entries.lock().unwrap();
        let entry = entries.entry(id.to_owned()).or_insert_with(|| Entry {
            tool: call.tool.clone(),
            said: Vec::new(),
            input: call.input.to_string(),
        });
        entry.said.push((at, verdict.effect));
        verdict
    }

    /// Answers the CLI's questions.
    pub(crate) fn answers(&self) -> impl PermissionHandler + use<> {
        let host = self.clone();
        move |request: PermissionRequest| {
            let id = request.tool_use_id.as_ref().unwrap().to_string();
            let verdict = host.decide(At::Question, &id, &Call::asked(&request));
            std::future::ready(match verdict.effect {
                Effect::Allow => Decision::allow(),
                Effect::Ask => Decision::deny("Nobody is here to be asked."),
                Effect::Deny => Decision::deny(verdict.reason.text),
            })
        }
    }

    /// Says the verdict before anybody is asked.
    pub(crate) fn callback(&self) -> Hook {
        let host = self.clone();
        Hook::of(PreToolUse, move |call, context: HookContext| {
            let host = host.clone();
            async move {
                let id = context.tool_use_id.unwrap_or_default();
                let mut asked = Call::new(
                    call.tool_name.clone(),
                    call.tool_input.to().unwrap_or_default(),
                );
                asked.in_plan_mode = context.permission_mode == Some(PermissionMode::Plan);
                let verdict = host.decide(At::Callback, &id, &asked);
                answer(verdict)
            }
        })
    }

    /// What was asked since the last look.
    pub(crate) fn take(&self) -> BTreeMap<String, Entry> {
        std::mem::take(&mut *self.0.entries.lock().unwrap())
    }
}

fn answer(verdict: Verdict) -> Answer<PreToolUse> {
    match verdict.effect {
        Effect::Allow => PreToolUse::allow(),
        Effect::Ask => PreToolUse::ask(verdict.reason.text),
        Effect::Deny => PreToolUse::deny(verdict.reason.text),
    }
}
