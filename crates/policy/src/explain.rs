//! Why a verdict is what it is, part by part, and what would change it.
//!
//! Owns [`Explanation`], for `policy explain` and for whoever shows a verdict to a person. Explains the very judgement
//! that [`Policy::decide`] gives.

use jiff::Timestamp;

use crate::act::{self, Acts};
use crate::call::Call;
use crate::decide::Policy;
use crate::glance::Glance;
use crate::place::Place;
use crate::rule::Effect;
use crate::suggest::suggest;
use crate::verdict::{Verdict, Why};

/// A verdict with all that led to it.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// What the call would do, each with a verdict of its own.
    pub steps: Vec<Step>,
    /// What would change the verdict, one sentence each.
    pub changes: Vec<String>,
}

/// One part of a call.
#[derive(Debug, Clone)]
pub struct Step {
    /// The command, the file, the host.
    pub part: String,
    /// What kind of act it is: `runs`, `reads`, `writes`, `searches`, `names`, `fetches`, `uses`.
    pub kind: &'static str,
    /// How a command was reached, outermost first: `sudo`, `xargs`, `$(…)`.
    pub through: Vec<String>,
    /// What is said about this part alone.
    pub verdict: Verdict,
}

impl Policy {
    /// The verdict with all that led to it.
    pub fn explain(&self, call: &Call, place: &Place<'_>, now: Timestamp) -> Explanation {
        let glance = Glance::at(place.disk);
        let place = &place.on(&glance);
        let acts = act::acts(call, place);
        let verdict = self.judge(call, &acts, place, now);
        let steps = acts.list.iter().filter_map(|act| {
            let alone = Acts {
                list: vec![act.clone()],
                unclear: Vec::new(),
            };
            let alone = self.judge(call, &alone, place, now);
            // A name that nobody forbids is only a word.
            let says_something = act.needs_allow() || alone.reason.why != Why::Unclear;
            says_something.then(|| Step {
                part: act.shown(&call.tool),
                kind: kind(act),
                through: match act {
                    act::Act::Run(simple) => simple.through.clone(),
                    _ => Vec::new(),
                },
                verdict: alone,
            })
        });
        Explanation {
            steps: steps.collect(),
            changes: self.changes(&verdict, call, place, now),
            verdict,
        }
    }

    fn changes(
        &self,
        verdict: &Verdict,
        call: &Call,
        place: &Place<'_>,
        now: Timestamp,
    ) -> Vec<String> {
        let of_rule = |verb: &str| {
            let rule = verdict.reason.rule.as_ref();
            rule.map(|rule| format!("{verb} the rule `{rule}` ({})", rule.origin))
                .into_iter()
                .collect()
        };
        match (verdict.effect, verdict.reason.why) {
            (Effect::Allow, Why::Rule) => of_rule("take away, or deny with a narrower one,"),
            (Effect::Allow, _) => vec![format!("deny it: `deny {}`", call.tool)],
            (Effect::Deny, _) => of_rule("take away or narrow"),
            (Effect::Ask, Why::Rule | Why::MayBeMeant) => of_rule("take away or narrow"),
            (Effect::Ask, Why::NoRule) => {
                let sets = suggest(self, call, place, now).into_iter();
                let sets = sets.map(|rules| {
                    let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
                    format!("allow {}", rules.join(" and "))
                });
                let found: Vec<String> = sets.collect();
                match found.is_empty() {
                    true => {
                        vec!["no rule is offered for this: it is for a person to answer".to_owned()]
                    }
                    false => found,
                }
            }
            (Effect::Ask, Why::PlanMode) => vec!["leave plan mode".to_owned()],
            (Effect::Ask, Why::Unclear) => {
                vec!["write it so that it can be read: one plain command a call".to_owned()]
            }
            (Effect::Ask, _) => vec!["nothing: a person answers this".to_owned()],
        }
    }
}

fn kind(act: &act::Act) -> &'static str {
    use crate::path::Touch;
    match act {
        act::Act::Run(_) => "runs",
        act::Act::File {
            touch: Touch::Read, ..
        } => "reads",
        act::Act::File {
            touch: Touch::Write,
            ..
        } => "writes",
        act::Act::Search { .. } => "searches",
        act::Act::Name(_) => "names",
        act::Act::Fetch { .. } => "fetches",
        act::Act::Use => "uses",
    }
}
