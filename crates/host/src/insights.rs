//! Sums over the questions of a period.
//!
//! Owns what counts as waiting for a person. Pure: rows and the time come in. Invariants: what a rule or the mode decided waited
//! for nobody; a question that was taken back before anybody answered counts as asked, and its wait, of which nothing is known,
//! as none.

use std::collections::HashMap;

use crate::control::approval::{Effect, Kind};
use crate::control::{
    Acts, DecidedBy, Insights, SessionId, Speed, WaitedAt, WaitedFor, WaitedIn, Waits,
};

/// How fast: up to these many seconds.
const STEPS: [u64; 5] = [10, 30, 60, 300, 1_800];

/// So many places of a list are told.
const MOST: usize = 12;

const SECOND: u64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND as i64;

/// Who decides without being a person, and keeps nobody waiting.
const RULE: &str = "rule";
const MODE: &str = "mode";
const SETTINGS: [&str; 2] = ["expired", "budget"];

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub session: SessionId,
    pub kind: Kind,
    pub tool: String,
    /// The rule that the question itself offered.
    pub rule: Option<String>,
    /// It is about a call, and that call is over.
    pub is_call_over: bool,
    pub is_open: bool,
    pub at: u64,
    pub decided: Option<Verdict>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// A person's token, `rule`, `mode`, `expired`, `budget`.
    pub by: String,
    pub effect: Effect,
    pub at: u64,
    /// A plan that goes back to be made better: nobody denied anything.
    pub is_sent_back: bool,
}

#[derive(Debug, Default)]
struct Sum {
    asked: u64,
    allowed: u64,
    denied: u64,
    waited: u64,
    longest: u64,
}

impl Sum {
    fn add(&mut self, one: &Asked, waited: u64) {
        self.asked += 1;
        match one.decided.as_ref().map(|it| (it.effect, it.is_sent_back)) {
            Some((Effect::Allow, _)) => self.allowed += 1,
            Some((Effect::Deny, false)) => self.denied += 1,
            Some((Effect::Deny, true)) | None => {}
        }
        self.waited += waited;
        self.longest = self.longest.max(waited);
    }
}

/// The sums so far.
#[derive(Debug)]
pub(crate) struct Sums {
    now: u64,
    /// Microseconds that the reader's clock is ahead.
    ahead: i64,
    acts: Acts,
    asked_calls: u64,
    decided: HashMap<String, DecidedBy>,
    waits: Waits,
    answered: Vec<u64>,
    by_what: HashMap<(Kind, String, Option<String>), Sum>,
    by_session: HashMap<SessionId, Sum>,
    by_hour: [WaitedAt; 24],
}

impl Sums {
    /// Nothing yet. `offset`: minutes that the reader's clock is ahead of UTC.
    pub(crate) fn new(now: u64, offset: i32) -> Self {
        let mut by_hour = [WaitedAt::default(); 24];
        for (at, hour) in by_hour.iter_mut().zip(0..) {
            at.hour = hour;
        }
        Self {
            now,
            ahead: i64::from(offset) * 60 * SECOND as i64,
            acts: Acts::default(),
            asked_calls: 0,
            decided: HashMap::new(),
            waits: Waits::default(),
            answered: Vec::new(),
            by_what: HashMap::new(),
            by_session: HashMap::new(),
            by_hour,
        }
    }

    /// Counts one more question.
    pub(crate) fn add(&mut self, one: Asked) {
        if one.is_call_over {
            self.asked_calls += 1;
        }
        if let Some(decided) = &one.decided {
            self.decided_by(decided, one.is_call_over);
            if decided.by == RULE || decided.by == MODE {
                return;
            }
        }
        let end = match &one.decided {
            Some(decided) => decided.at,
            None if one.is_open => self.now,
            None => one.at,
        };
        let waited = end.saturating_sub(one.at);
        self.waits.asked += 1;
        self.waits.open += u64::from(one.is_open);
        self.waits.waited += waited;
        self.waits.longest = self.waits.longest.max(waited);
        if one.decided.is_some() {
            self.answered.push(waited);
        }
        let hour = &mut self.by_hour[self.hour(one.at)];
        hour.asked += 1;
        hour.waited += waited;
        self.by_session
            .entry(one.session)
            .or_default()
            .add(&one, waited);
        let what = (one.kind, one.tool.clone(), one.rule.clone());
        self.by_what.entry(what).or_default().add(&one, waited);
    }

    fn decided_by(&mut self, decided: &Verdict, is_call_over: bool) {
        let by = self.decided.entry(decided.by.clone()).or_default();
        match (decided.effect, decided.is_sent_back) {
            (Effect::Allow, _) => by.allowed += 1,
            (Effect::Deny, false) => by.denied += 1,
            (Effect::Deny, true) => by.sent_back += 1,
        }
        if !is_call_over {
            return;
        }
        match decided.by.as_str() {
            RULE => self.acts.by_rules += 1,
            MODE => self.acts.by_mode += 1,
            by if SETTINGS.contains(&by) => self.acts.by_settings += 1,
            _ => self.acts.by_people += 1,
        }
    }

    fn hour(&self, at: u64) -> usize {
        let local = i64::try_from(at)
            .unwrap_or(i64::MAX)
            .saturating_add(self.ahead);
        (local.div_euclid(HOUR).rem_euclid(24)) as usize
    }

    /// All of it. `calls`: calls of tools that are over. `name`: the name of a session.
    pub(crate) fn told(
        mut self,
        calls: u64,
        mut name: impl FnMut(SessionId) -> String,
    ) -> Insights {
        self.acts.calls = calls.max(self.asked_calls);
        self.acts.by_mode += self.acts.calls - self.asked_calls;
        self.answered.sort_unstable();
        self.waits.median = match self.answered.len() {
            0 => 0,
            len => self.answered[(len - 1) / 2],
        };
        let decided = self.decided.into_iter();
        let mut decided: Vec<DecidedBy> = decided
            .map(|(by, counts)| DecidedBy { by, ..counts })
            .collect();
        decided.sort_by(|a, b| {
            let count = |one: &DecidedBy| one.allowed + one.denied + one.sent_back;
            count(b).cmp(&count(a)).then_with(|| a.by.cmp(&b.by))
        });
        let by_session = longest(self.by_session).into_iter();
        let by_what = longest(self.by_what).into_iter();
        Insights {
            acts: self.acts,
            decided,
            waits: self.waits,
            speed: speed(&self.answered),
            by_what: by_what
                .map(|((kind, tool, rule), sum)| WaitedFor {
                    is_rule: rule.is_some(),
                    what: rule.unwrap_or_else(|| tool.clone()),
                    kind,
                    tool,
                    asked: sum.asked,
                    allowed: sum.allowed,
                    denied: sum.denied,
                    waited: sum.waited,
                    longest: sum.longest,
                })
                .collect(),
            by_session: by_session
                .map(|(session, sum)| WaitedIn {
                    session,
                    session_name: name(session),
                    asked: sum.asked,
                    waited: sum.waited,
                    longest: sum.longest,
                })
                .collect(),
            by_hour: self.by_hour.to_vec(),
        }
    }
}

/// The first ones, longest together first; those that waited as long, in an order that does not change.
fn longest<K: std::fmt::Debug>(sums: HashMap<K, Sum>) -> Vec<(K, Sum)> {
    let mut all: Vec<(String, K, Sum)> = sums
        .into_iter()
        .map(|(key, sum)| (format!("{key:?}"), key, sum))
        .collect();
    all.sort_by(|a, b| {
        let order = (b.2.waited, b.2.asked).cmp(&(a.2.waited, a.2.asked));
        order.then_with(|| a.0.cmp(&b.0))
    });
    all.truncate(MOST);
    all.into_iter().map(|(_, key, sum)| (key, sum)).collect()
}

/// How many within each step. The waits are in order.
fn speed(waits: &[u64]) -> Vec<Speed> {
    let mut from = 0;
    let mut steps: Vec<Speed> = Vec::with_capacity(STEPS.len() + 1);
    for seconds in STEPS {
        let within = seconds * SECOND;
        let to = waits.partition_point(|wait| *wait < within);
        steps.push(Speed {
            within: Some(within),
            count: (to - from) as u64,
        });
        from = to;
    }
    steps.push(Speed {
        within: None,
        count: (waits.len() - from) as u64,
    });
    steps
}

#[cfg(test)]
#[path = "insights_tests.rs"]
mod tests;
