//! What a session cost: dollars and tokens, in all and by model.
//!
//! The CLI tells sums: each result has those of everything so far. A run that resumes a conversation goes on from the
//! earlier sum on some versions and counts from nothing on others; which one is seen in the tokens of its first result.

use std::collections::BTreeMap;

use countersign_wire::cli::ResultMessage;
use countersign_wire::usage::{ModelUsage, Usage};
use countersign_wire::{Nullable, Num};
use serde::Serialize;

/// Counts of one model, or of all.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Spent {
    pub(crate) cost_usd: f64,
    pub(crate) input_tokens: u64,
    pub(crate) cache_read_tokens: u64,
    pub(crate) cache_creation_tokens: u64,
    pub(crate) output_tokens: u64,
}

impl Spent {
    fn of(usage: &ModelUsage) -> Self {
        let whole = |number: &Option<Num>| number.map(Num::as_u64).unwrap_or_default();
        Self {
            cost_usd: usage.cost_usd.as_f64(),
            input_tokens: whole(&usage.input_tokens),
            cache_read_tokens: usage.cache_read_input_tokens.as_u64(),
            cache_creation_tokens: usage.cache_creation_input_tokens.as_u64(),
            output_tokens: whole(&usage.output_tokens),
        }
    }

    fn tokens(&self) -> u64 {
        self.input_tokens + self.cache_read_tokens + self.cache_creation_tokens + self.output_tokens
    }

    fn add(&mut self, other: &Self) {
        self.cost_usd += other.cost_usd;
        self.input_tokens += other.input_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_creation_tokens += other.cache_creation_tokens;
        self.output_tokens += other.output_tokens;
    }

    /// What came on top of an earlier sum.
    fn since(&self, earlier: &Self) -> Self {
        Self {
            cost_usd: (self.cost_usd - earlier.cost_usd).max(0.0),
            input_tokens: self.input_tokens.saturating_sub(earlier.input_tokens),
            cache_read_tokens: self
                .cache_read_tokens
                .saturating_sub(earlier.cache_read_tokens),
            cache_creation_tokens: self
                .cache_creation_tokens
                .saturating_sub(earlier.cache_creation_tokens),
            output_tokens: self.output_tokens.saturating_sub(earlier.output_tokens),
        }
    }
}

/// Adds up what results tell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spending {
    models: BTreeMap<String, Spent>,
    /// The sums of the last result.
    last: BTreeMap<String, Spent>,
    last_cost: f64,
    cost: f64,
    is_first_of_run: bool,
}

impl Spending {
    /// An agent was started.
    pub(crate) fn opened(&mut self) {
        self.is_first_of_run = true;
    }

    pub(crate) fn result(&mut self, result: &ResultMessage) {
        let sums: BTreeMap<String, Spent> = result
            .model_usage
            .iter()
            .map(|(model, usage)| (model.clone(), Spent::of(usage)))
            .collect();
        let total = |sums: &BTreeMap<String, Spent>| sums.values().map(Spent::tokens).sum::<u64>();
        let cost = result.total_cost_usd.as_f64();
        if self.is_first_of_run && sums.is_empty() && cost == 0.0 {
            // A start that failed counted nothing; the next one may go on from the sums before it.
            return;
        }
        let counts_anew = match std::mem::take(&mut self.is_first_of_run) {
            true => total(&sums) < total(&self.last) + tokens(&result.usage),
            // A conversation that was cleared counts from nothing.
            false => total(&sums) < total(&self.last) || cost < self.last_cost,
        };
        if counts_anew {
            self.last.clear();
            self.last_cost = 0.0;
        }
        for (model, sum) in &sums {
            let earlier = self.last.get(model).copied().unwrap_or_default();
            let spent = self.models.entry(model.clone()).or_default();
            spent.add(&sum.since(&earlier));
        }
        self.cost += (cost - self.last_cost).max(0.0);
        self.last_cost = cost;
        self.last = sums;
    }

    pub(crate) fn models(&self) -> &BTreeMap<String, Spent> {
        &self.models
    }

    /// All models together; the cost is the one that the CLI tells for the whole.
    pub(crate) fn total(&self) -> Spent {
        let mut total = Spent::default();
        self.models.values().for_each(|spent| total.add(spent));
        total.cost_usd = self.cost;
        total
    }
}

fn tokens(usage: &Usage) -> u64 {
    let whole = |number: &Option<Num>| number.map(Num::as_u64).unwrap_or_default();
    let nullable = |number: &Nullable<Num>| number.as_ref().copied().map_or(0, Num::as_u64);
    whole(&usage.input_tokens)
        + nullable(&usage.cache_read_input_tokens)
        + nullable(&usage.cache_creation_input_tokens)
        + whole(&usage.output_tokens)
}

#[cfg(test)]
mod tests {
    use countersign_wire::CliMessage;
    use countersign_wire::decode::decode;

    use super::*;

    /// A result with this cost and these sums of tokens, after a turn of so many.
    fn result(cost: f64, sum: u64, turn: u64) -> ResultMessage {
        let mut line = serde_json::json!({
            "type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": false,
            "num_turns": 1, "result": "x", "session_id": "s", "uuid": "u", "total_cost_usd": cost,
            "usage": {"input_tokens": turn, "output_tokens": 0}, "permission_denials": [],
            "modelUsage": {"m": {"inputTokens": sum, "outputTokens": 0, "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 0, "webSearchRequests": 0, "costUSD": cost, "contextWindow": 1}},
        });
        if sum == 0 {
            // As a start that failed tells it.
            line["modelUsage"] = serde_json::json!({});
        }
        match decode(line.to_string().as_bytes()).unwrap() {
            CliMessage::Result(result) => *result,
            other => panic!("{other:?}"),
        }
    }

    fn spent(runs: &[&[(f64, u64, u64)]]) -> (f64, u64) {
        let mut spending = Spending::default();
        for run in runs {
            spending.opened();
            for (cost, sum, turn) in *run {
                spending.result(&result(*cost, *sum, *turn));
            }
        }
        let total = spending.total();
        ((total.cost_usd * 100.0).round() / 100.0, total.input_tokens)
    }

    #[test]
    fn a_result_tells_the_sum_so_far() {
        assert_eq!(spent(&[&[(1.0, 100, 100), (3.0, 250, 150)]]), (3.0, 250));
    }

    #[test]
    fn a_run_that_goes_on_counting_is_told_from_one_that_counts_anew() {
        assert_eq!(spent(&[&[(1.0, 100, 100)], &[(3.0, 300, 200)]]), (3.0, 300));
        assert_eq!(spent(&[&[(1.0, 100, 100)], &[(3.0, 200, 200)]]), (4.0, 300));
    }

    #[test]
    fn a_start_that_failed_is_no_new_count() {
        let failed = &[(0.0, 0, 0)][..];
        let first = &[(1.0, 100, 100)][..];
        assert_eq!(spent(&[first, failed, &[(1.4, 140, 40)]]), (1.4, 140));
        assert_eq!(spent(&[first, failed, &[(1.4, 140, 140)]]), (2.4, 240));
        // Within a run a conversation was cleared.
        let cleared = &[(1.0, 100, 100), (0.0, 0, 0), (1.4, 140, 140)][..];
        assert_eq!(spent(&[cleared]), (2.4, 240));
    }

    #[test]
    fn a_cleared_conversation_counts_from_nothing() {
        assert_eq!(spent(&[&[(1.0, 100, 100), (0.5, 50, 50)]]), (1.5, 150));
    }
}
