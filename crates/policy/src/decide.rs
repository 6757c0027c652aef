//! The verdict: which rule speaks, and what it says.
//!
//! Owns the precedence. In this order: what a rule denies; the session's own plan file; questions to a person; what the
//! CLI marks; what a deny rule *may* mean; protected paths; plan mode; what a rule wants asked; what cannot be read;
//! what rules or the profile allow; everything else is asked. Invariants: more deny rules never give a milder verdict; a
//! call is allowed only if each of its acts is.

use jiff::Timestamp;

use crate::act::{self, Act, Acts};
use crate::call::Call;
use crate::fit::Fit;
use crate::glance::Glance;
use crate::guard::guarded;
use crate::meaning::means;
use crate::path::{Closed, Touch};
use crate::place::Place;
use crate::profile::{self, Profile};
use crate::rule::{Effect, Rule, todays_name};
use crate::shell::Side;
use crate::verdict::{Reason, Verdict, Why};

/// Rules, and what holds where none speaks.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// All rules, from wherever they come. Their order does not matter.
    pub rules: Vec<Rule>,
    /// What holds where no rule speaks.
    pub profile: Profile,
}

impl Policy {
    /// What the rules say about a call.
    pub fn decide(&self, call: &Call, place: &Place<'_>, now: Timestamp) -> Verdict {
        let glance = Glance::at(place.disk);
        let place = &place.on(&glance);
        let acts = act::acts(call, place);
        self.judge(call, &acts, place, now)
    }

    pub(crate) fn judge(
        &self,
        call: &Call,
        acts: &Acts,
        place: &Place<'_>,
        now: Timestamp,
    ) -> Verdict {
        let case = Case::new(self, call, acts, place, now);
        case.denied()
            .or_else(|| case.plan_file())
            .or_else(|| case.question())
            .or_else(|| case.marked())
            .or_else(|| case.maybe_denied())
            .or_else(|| case.protected())
            .or_else(|| case.planning())
            .or_else(|| case.asked())
            .or_else(|| case.unclear())
            .unwrap_or_else(|| case.allowed())
    }

    /// The rules with this effect that hold in this place at this moment.
    pub(crate) fn holding<'a>(
        &'a self,
        effect: Effect,
        place: &'a Place<'_>,
        now: Timestamp,
    ) -> impl Iterator<Item = &'a Rule> {
        let here = place
            .disk
            .real(place.cwd)
            .unwrap_or_else(|| place.cwd.to_path_buf());
        self.rules
            .iter()
            .filter(move |rule| rule.effect == effect && rule.holds(&here, now))
    }
}

/// One call before the rules.
struct Case<'a> {
    policy: &'a Policy,
    call: &'a Call,
    acts: &'a Acts,
    place: &'a Place<'a>,
    now: Timestamp,
    denying: Vec<&'a Rule>,
}

/// A rule and the act it means.
struct Hit<'a> {
    rule: &'a Rule,
    part: String,
    fit: Fit,
}

impl<'a> Case<'a> {
    fn new(
        policy: &'a Policy,
        call: &'a Call,
        acts: &'a Acts,
        place: &'a Place<'a>,
        now: Timestamp,
    ) -> Self {
        let denying = policy.holding(Effect::Deny, place, now).collect();
        Self {
            policy,
            call,
            acts,
            place,
            now,
            denying,
        }
    }

    /// The surest hit of restricting rules: a certain one before a possible one.
    fn hit(&self, rules: &[&'a Rule]) -> Option<Hit<'a>> {
        let mut possible = None;
        for rule in rules {
            for act in self.heard(rule) {
                match means(&rule.matcher, self.call, act, self.place, Side::Restrict) {
                    Fit::No => {}
                    fit @ Fit::Yes => {
                        return Some(Hit {
                            rule,
                            part: self.part(act),
                            fit,
                        });
                    }
                    fit => {
                        possible.get_or_insert(Hit {
                            rule,
                            part: self.part(act),
                            fit,
                        });
                    }
                }
            }
        }
        possible
    }

    /// The acts a rule is held against. A call that does nothing that could be read still uses its tool.
    fn heard(&self, rule: &Rule) -> impl Iterator<Item = &'a Act> {
        const ITSELF: &[Act] = &[Act::Use];
        let is_whole = matches!(rule.matcher.content, crate::rule::Content::Whole);
        let acts: &'a [Act] = match self.acts.list.is_empty() && is_whole {
            true => ITSELF,
            false => &self.acts.list,
        };
        acts.iter()
    }

    fn part(&self, act: &Act) -> String {
        act.shown(&self.call.tool)
    }

    fn denied(&self) -> Option<Verdict> {
        let hit = self.hit(&self.denying).filter(|hit| hit.fit.is_yes())?;
        let text = format!(
            "The rule `{}` ({}) forbids this: {}",
            hit.rule, hit.rule.origin, hit.part
        );
        Some(by_rule(Effect::Deny, hit, text))
    }

    /// Writing the plan is what planning is for.
    fn plan_file(&self) -> Option<Verdict> {
        let plan = self
            .call
            .plan_file
            .as_deref()
            .filter(|_| self.call.in_plan_mode)?;
        let [
            Act::File {
                touch: Touch::Write,
                target,
            },
        ] = self.acts.list.as_slice()
        else {
            return None;
        };
        // A link in place of the plan, or of its folder, would make any file the plan.
        let is_it = matches!(self.call.tool.as_str(), "Write" | "Edit")
            && target.real.as_deref() == Some(plan)
            && Closed::at(self.place).why_plan(plan).is_none();
        is_it.then(|| {
            allow(
                Why::PlanFile,
                "It is the session's own plan file.".to_owned(),
                None,
            )
        })
    }

    fn question(&self) -> Option<Verdict> {
        let text = match todays_name(&self.call.tool) {
            "AskUserQuestion" => "It is a question to a person.",
            "ExitPlanMode" => "A plan is approved by a person.",
            "EnterPlanMode" => {
                return Some(ask(
                    Why::Question,
                    "The agent wants to plan first.".to_owned(),
                    true,
                ));
            }
            _ => return None,
        };
        Some(ask(Why::Question, text.to_owned(), false))
    }

    fn marked(&self) -> Option<Verdict> {
        let mark = self.call.marks.first()?;
        Some(ask(
            Why::Marked,
            format!("No rule may allow it: {mark}."),
            false,
        ))
    }

    fn maybe_denied(&self) -> Option<Verdict> {
        if let Some(hit) = self.hit(&self.denying) {
            let Fit::Maybe(why) = &hit.fit else {
                return None;
            };
            let text = format!(
                "The rule `{}` ({}) may forbid this: {why}",
                hit.rule, hit.rule.origin
            );
            return Some(
                Verdict {
                    may_be_waved_through: false,
                    ..by_rule(Effect::Ask, hit, text)
                }
                .because(Why::MayBeMeant),
            );
        }
        // What cannot be read may be anything that a rule for such calls forbids.
        let why = self.acts.unclear.first()?;
        let rule = self.denying.iter().find(|rule| self.may_speak(rule))?;
        let text = format!("The rule `{rule}` ({}) may forbid this: {why}", rule.origin);
        let hit = Hit {
            rule,
            part: self.call.tool.clone(),
            fit: Fit::No,
        };
        Some(
            Verdict {
                may_be_waved_through: false,
                ..by_rule(Effect::Ask, hit, text)
            }
            .because(Why::MayBeMeant),
        )
    }

    /// Whether a rule could be about a call of this tool, if it could be read.
    fn may_speak(&self, rule: &Rule) -> bool {
        let is_shell = matches!(self.call.tool.as_str(), "Bash" | "Monitor" | "PowerShell");
        rule.matcher.tool == todays_name(&self.call.tool)
            || (is_shell
                && (matches!(
                    rule.matcher.content,
                    crate::rule::Content::Command(_) | crate::rule::Content::Path(_)
                ) || matches!(
                    rule.matcher.tool.as_str(),
                    "Bash" | "Read" | "Edit" | "Write"
                )))
    }

    fn protected(&self) -> Option<Verdict> {
        let closed = Closed::at(self.place);
        self.acts.list.iter().find_map(|act| {
            let text = guarded(act, self.place, &closed)?;
            Some(ask(Why::Protected, text, false).about(self.part(act)))
        })
    }

    /// In plan mode nothing is changed by rule.
    fn planning(&self) -> Option<Verdict> {
        if !self.call.in_plan_mode {
            return None;
        }
        let changing = self.acts.list.iter().find(|act| match act {
            Act::Run(simple) => !simple.only_reads(),
            Act::File { touch, .. } => *touch == Touch::Write,
            Act::Use => profile::changes_something(todays_name(&self.call.tool)),
            Act::Search { .. } | Act::Name(_) | Act::Fetch { .. } => false,
        });
        let part = match changing {
            Some(act) => self.part(act),
            None if !self.acts.unclear.is_empty() => self.call.tool.clone(),
            None => return None,
        };
        let text =
            "The session plans: what may change something is not allowed by rule.".to_owned();
        Some(ask(Why::PlanMode, text, false).about(part))
    }

    fn asked(&self) -> Option<Verdict> {
        let rules: Vec<&Rule> = self
            .policy
            .holding(Effect::Ask, self.place, self.now)
            .collect();
        let hit = self.hit(&rules)?;
        let text = match &hit.fit {
            Fit::Maybe(why) => format!(
                "The rule `{}` ({}) may want this asked: {why}",
                hit.rule, hit.rule.origin
            ),
            _ => format!(
                "The rule `{}` ({}) wants this asked.",
                hit.rule, hit.rule.origin
            ),
        };
        Some(by_rule(Effect::Ask, hit, text))
    }

    fn unclear(&self) -> Option<Verdict> {
        let why = self.acts.unclear.first()?;
        Some(ask(
            Why::Unclear,
            format!("It cannot be read with certainty: {why}."),
            true,
        ))
    }

    fn allowed(&self) -> Verdict {
        let allowing: Vec<&Rule> = self
            .policy
            .holding(Effect::Allow, self.place, self.now)
            .collect();
        let profile = self.policy.profile.at(self.now);
        let mut by = None;
        if !self.acts.list.iter().any(Act::needs_allow) {
            return ask(
                Why::Unclear,
                "There is nothing in it that could be allowed.".to_owned(),
                false,
            );
        }
        for act in self.acts.list.iter().filter(|act| act.needs_allow()) {
            let rule = allowing.iter().find(|rule| {
                means(&rule.matcher, self.call, act, self.place, Side::Allow).is_yes()
            });
            match rule {
                Some(rule) => by = by.or(Some(*rule)),
                None if self.profile_allows(profile, act) => {}
                None => return self.not_allowed(act),
            }
        }
        match by {
            Some(rule) => {
                let text = format!("The rule `{rule}` ({}) allows this.", rule.origin);
                allow(Why::Rule, text, Some(rule.clone()))
            }
            None => allow(
                Why::Profile,
                format!("The profile `{}` allows this.", profile.name()),
                None,
            ),
        }
    }

    fn not_allowed(&self, act: &Act) -> Verdict {
        let text = match act {
            Act::Run(simple) => match &simple.obstacle {
                Some(why) => format!("No rule may allow it as it stands: {why}."),
                None => "No rule allows this command.".to_owned(),
            },
            Act::File { target, touch } if !target.is_inside(self.place) => match touch {
                Touch::Read => "No rule covers reading outside the working folder.".to_owned(),
                Touch::Write => "No rule covers writing outside the working folder.".to_owned(),
            },
            Act::File {
                touch: Touch::Write,
                ..
            } => "No rule covers this file.".to_owned(),
            Act::Fetch { host: Some(_) } => "No rule allows this host.".to_owned(),
            _ => "No rule allows this.".to_owned(),
        };
        ask(Why::NoRule, text, true).about(self.part(act))
    }

    fn profile_allows(&self, profile: Profile, act: &Act) -> bool {
        let edits = matches!(profile, Profile::Edits);
        match (profile, act) {
            (Profile::HandsOff { .. }, _) => true,
            (
                _,
                Act::File {
                    touch: Touch::Read,
                    target,
                },
            ) => target.is_inside(self.place),
            (_, Act::Search { folder, .. }) => folder.is_inside(self.place),
            (
                _,
                Act::File {
                    touch: Touch::Write,
                    target,
                },
            ) => edits && target.is_inside(self.place),
            (_, Act::Use) => profile::is_bookkeeping(todays_name(&self.call.tool)),
            (_, Act::Run(_) | Act::Fetch { .. } | Act::Name(_)) => false,
        }
    }
}

fn by_rule(effect: Effect, hit: Hit<'_>, text: String) -> Verdict {
    Verdict {
        effect,
        reason: Reason {
            why: Why::Rule,
            text,
            rule: Some(hit.rule.clone()),
            part: Some(hit.part),
        },
        may_be_waved_through: effect == Effect::Ask,
    }
}

fn allow(why: Why, text: String, rule: Option<Rule>) -> Verdict {
    Verdict {
        effect: Effect::Allow,
        reason: Reason {
            why,
            text,
            rule,
            part: None,
        },
        may_be_waved_through: true,
    }
}

fn ask(why: Why, text: String, may_be_waved_through: bool) -> Verdict {
    Verdict {
        effect: Effect::Ask,
        reason: Reason {
            why,
            text,
            rule: None,
            part: None,
        },
        may_be_waved_through,
    }
}

impl Verdict {
    fn because(mut self, why: Why) -> Self {
        self.reason.why = why;
        self
    }

    fn about(mut self, part: String) -> Self {
        self.reason.part = Some(part);
        self
    }
}
