//! Sums over a session: turns, tools, questions, tokens, money, errors.
//!
//! Owns [`Totals`]. Invariant: every number only rises, but for `open` of questions; folding a session again from any
//! checkpoint gives the same numbers.

use std::collections::BTreeMap;

use countersign_journal::KEEP_PLANNING;
use serde::{Deserialize, Serialize};

use crate::body::{Outcome, Tokens, Verdict, Withdrawn};
use crate::bounds;

/// Turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TurnCounts {
    /// That began.
    pub begun: u64,
    /// That ended well.
    pub succeeded: u64,
    /// That ended badly.
    pub failed: u64,
    /// That were interrupted.
    pub interrupted: u64,
    /// That ended with their agent, without a result: what they cost is not known.
    pub lost: u64,
}

/// Calls of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ToolCounts {
    /// Calls.
    pub calls: u64,
    /// That failed.
    pub failed: u64,
    /// That were not let run.
    pub refused: u64,
    /// Microseconds they ran, together.
    pub took: u64,
}

/// Questions of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ApprovalCounts {
    /// Asked.
    pub asked: u64,
    /// Without an answer.
    pub open: u64,
    /// Answered with yes.
    pub allowed: u64,
    /// Answered with no.
    pub denied: u64,
    /// Plans that were sent back to be made better.
    #[serde(default)]
    pub sent_back: u64,
    /// Answered with an error, or something unknown.
    pub other: u64,
    /// Taken back by the agent.
    pub cancelled: u64,
    /// Ended by an interrupt.
    pub interrupted: u64,
    /// Whose agent ended first.
    pub agent_gone: u64,
    /// Let run, and ran.
    pub ran: u64,
    /// Let run, and failed.
    pub failed: u64,
    /// Denied, and did not run.
    pub refused: u64,
    /// Answered too late.
    pub unused: u64,
    /// Answered, and nothing said what happened.
    pub unknown: u64,
    /// Microseconds that agents waited for answers, together.
    pub waited: u64,
    /// The longest such wait.
    pub waited_most: u64,
    /// How many answers by whom.
    pub by: BTreeMap<String, u64>,
}

impl ApprovalCounts {
    pub(crate) fn answered(
        &mut self,
        way: Option<&str>,
        verdict: Verdict,
        by: Option<&str>,
        waited: u64,
    ) {
        self.open = self.open.saturating_sub(1);
        match (verdict, way) {
            (Verdict::Deny, Some(KEEP_PLANNING)) => self.sent_back += 1,
            (Verdict::Deny, None) => self.denied += 1,
            // A plan that is carried out in a fresh conversation was approved, whatever the wire says.
            (Verdict::Allow, _) | (Verdict::Deny, Some(_)) => self.allowed += 1,
            (Verdict::Error | Verdict::Other, _) => self.other += 1,
        }
        self.waited = self.waited.saturating_add(waited);
        self.waited_most = self.waited_most.max(waited);
        if let Some(by) = by {
            *named(&mut self.by, by) += 1;
        }
    }

    pub(crate) fn settled(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ran => self.ran += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Unused => self.unused += 1,
            Outcome::Unknown => self.unknown += 1,
        }
    }

    pub(crate) fn withdrawn(&mut self, why: Withdrawn) {
        match why {
            Withdrawn::Cancelled => self.cancelled += 1,
            Withdrawn::Interrupted => self.interrupted += 1,
            Withdrawn::AgentGone => self.agent_gone += 1,
        }
    }
}

/// What one model was used for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ModelTotals {
    /// Tokens, sub-agents included.
    pub tokens: Tokens,
    /// US dollars.
    pub cost_usd: f64,
}

/// Sums over a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Totals {
    /// Messages to the agent.
    pub prompts: u64,
    /// Turns.
    pub turns: TurnCounts,
    /// Calls by tool.
    pub tools: BTreeMap<String, ToolCounts>,
    /// Questions.
    pub approvals: ApprovalCounts,
    /// Sub-agents that were started.
    pub agents: u64,
    /// Background tasks that were started.
    pub tasks: u64,
    /// What the session has cost, in US dollars, over all turns and generations, as far as results tell.
    pub cost_usd: f64,
    /// Tokens of all models together, sub-agents included.
    pub tokens: Tokens,
    /// By model.
    pub models: BTreeMap<String, ModelTotals>,
    /// Milliseconds of turns.
    pub duration_ms: u64,
    /// Milliseconds of the API in them.
    pub api_ms: u64,
    /// How often the API was asked again.
    pub retries: u64,
    /// Compactions.
    pub compactions: u64,
    /// Runs of the agent.
    pub starts: u64,
    /// Lines that could not be read.
    pub malformed: u64,
    /// Messages that this build does not know.
    pub unknown: u64,
    /// Lines of stderr.
    pub stderr: u64,
}

/// The value of a name; beyond the bound on names, that of all others together.
pub(crate) fn named<'a, T: Default>(map: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    let name = crate::clip::start_of(name, bounds::WORD);
    let is_full = map.len() >= bounds::NAMES && !map.contains_key(name);
    let name = if is_full { bounds::OTHERS } else { name };
    if !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    map.entry(name.to_owned()).or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_bound_are_counted_together() {
        let mut map: BTreeMap<String, u64> = BTreeMap::new();
        for index in 0..bounds::NAMES * 2 {
            *named(&mut map, &format!("tool {index}")) += 1;
        }
        assert_eq!(map.len(), bounds::NAMES + 1);
        assert_eq!(map[bounds::OTHERS], bounds::NAMES as u64);
        *named(&mut map, "tool 0") += 1;
        assert_eq!(map["tool 0"], 2);
    }
}
