//! Money and tokens, counted once.
//!
//! Owns the reading of the CLI's running totals. They are cumulative, and it depends on the version and on what happened
//! whether they go on: within a process they rise from turn to turn, `/clear` sets them to zero, a resumed conversation goes
//! on where it was on 2.1.325 and starts at zero on 2.1.62 and before. A fork goes on from its parent's total there, and a
//! conversation of a terminal from what it has cost. Invariant: the same dollar is never counted twice, in no two sessions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::body::Tokens;
use crate::bounds;
use crate::glance::{ModelGlance, ResultGlance};
use crate::totals::{ModelTotals, Totals, named};

/// The last version that is known to count from zero after a resume.
const LAST_FROM_ZERO: [u64; 3] = [2, 1, 62];

/// A running total of the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Count {
    tokens: Tokens,
    cost: f64,
}

/// What the CLI has counted so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Meter {
    /// The latest total of the count that runs.
    cost: f64,
    /// The same by model.
    models: BTreeMap<String, Count>,
    /// The next total may belong to a new count.
    is_fresh: bool,
    /// Whether the process goes on with an earlier conversation, as far as its start says.
    is_resumed: Option<bool>,
    is_new_process: bool,
    version: Option<[u64; 3]>,
    /// The latest total of the time that the API took, in milliseconds. It belongs to the process, and rises like the cost.
    #[serde(default)]
    api_ms: u64,
    /// A process has begun.
    #[serde(default)]
    has_begun: bool,
    /// Nothing was counted yet, and the first process took up a conversation of another session: what its total holds
    /// already was spent there.
    #[serde(default)]
    is_inherited: bool,
}

impl Meter {
    /// A process begins.
    pub(crate) fn process(&mut self) {
        self.is_fresh = true;
        self.is_new_process = true;
        self.is_resumed = None;
        self.version = None;
    }

    /// What its command says.
    pub(crate) fn resumed(&mut self, is_resumed: bool) {
        self.is_resumed = Some(is_resumed);
        self.is_inherited |= is_resumed && !self.has_begun;
        self.has_begun = true;
    }

    /// The conversation begins anew within the process.
    pub(crate) fn reset(&mut self) {
        self.is_fresh = true;
    }

    pub(crate) fn version(&mut self, version: &str) {
        let mut parts = version
            .split(['.', '-', ' '])
            .map(|part| part.parse().unwrap_or_default());
        self.version = Some(std::array::from_fn(|_| parts.next().unwrap_or_default()));
    }

    /// Takes a result: how many milliseconds of the turn were the API's. Calls that ran beside each other count once.
    pub(crate) fn api_ms(&mut self, result: &ResultGlance) -> u64 {
        let Some(total) = result.duration_api_ms else {
            return 0;
        };
        let total = whole(Some(total));
        let before = std::mem::replace(&mut self.api_ms, total);
        let starts_at_zero = self.is_new_process && self.is_resumed == Some(false);
        let turn = match total < before || starts_at_zero {
            true => total,
            false => total - before,
        };
        turn.min(whole(result.duration_ms))
    }

    /// Takes a result: what the turn cost.
    pub(crate) fn take(&mut self, result: &ResultGlance, totals: &mut Totals) -> f64 {
        let total = result
            .total_cost_usd
            .filter(|cost| cost.is_finite() && *cost >= 0.0);
        let Some(total) = total else { return 0.0 };
        let counted_nothing = || result.model_usage.iter().all(|models| models.is_empty());
        if self.is_new_process && total == 0.0 && counted_nothing() {
            // The CLI took nothing up, as where a resume fails: this is no count, and the next one may go on from before.
            return 0.0;
        }
        if std::mem::take(&mut self.is_inherited) {
            self.inherit(total, result);
        } else if !self.goes_on(total, result) {
            self.cost = 0.0;
            self.models.clear();
        }
        self.is_fresh = false;
        self.is_new_process = false;
        let turn = total - self.cost;
        self.cost = total;
        totals.cost_usd += turn;
        for (name, model) in result.model_usage.iter().flatten() {
            let now = count(model);
            let before = named(&mut self.models, name);
            let rise = ModelTotals {
                tokens: rise(before.tokens, now.tokens),
                cost_usd: (now.cost - before.cost).max(0.0),
            };
            *before = now;
            add(&mut totals.tokens, rise.tokens);
            let sum = named(&mut totals.models, name);
            add(&mut sum.tokens, rise.tokens);
            sum.cost_usd += rise.cost_usd;
        }
        turn
    }

    /// Takes for counted what the first total holds beside its own turn. Versions that go on from another session say what
    /// the turn was; the others count from zero.
    fn inherit(&mut self, total: f64, result: &ResultGlance) {
        let Some(turn) = &result.model_usage_since_last_result else {
            return;
        };
        let cost: f64 = turn.values().map(|model| count(model).cost).sum();
        self.cost = (total - cost).max(0.0);
        for (name, model) in result.model_usage.iter().flatten() {
            let now = count(model);
            let own = turn.get(name).map(count).unwrap_or_default();
            *named(&mut self.models, name) = Count {
                tokens: rise(own.tokens, now.tokens),
                cost: (now.cost - own.cost).max(0.0),
            };
        }
    }

    /// Whether a total includes the one before it.
    fn goes_on(&self, total: f64, result: &ResultGlance) -> bool {
        if total < self.cost {
            return false;
        }
        if !self.is_fresh {
            return true;
        }
        let starts_at_zero = self.is_new_process
            && (self.is_resumed == Some(false)
                || self
                    .version
                    .is_some_and(|version| version <= LAST_FROM_ZERO));
        if starts_at_zero {
            return false;
        }
        // A count that goes on holds what was there, and this turn on top of it.
        let usage = result.usage.as_ref().map(|usage| usage.tokens());
        let models = result.model_usage.as_ref();
        let now = |name: &str| {
            let model = models.and_then(|models| models.get(name));
            model.map(count).unwrap_or_default().tokens
        };
        let holds_each = self
            .models
            .iter()
            .filter(|(name, _)| *name != bounds::OTHERS)
            .all(|(name, before)| {
                let now = now(name);
                now.input >= before.tokens.input && now.output >= before.tokens.output
            });
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.sum::<u64>();
        let before = sum(&mut self.models.values().map(|count| count.tokens.output));
        let after = sum(&mut models
            .into_iter()
            .flat_map(|models| models.values())
            .map(|model| count(model).tokens.output));
        holds_each && after >= before.saturating_add(usage.unwrap_or_default().output)
    }
}

fn count(model: &ModelGlance) -> Count {
    Count {
        tokens: Tokens {
            input: whole(model.input_tokens),
            output: whole(model.output_tokens),
            cache_read: whole(model.cache_read_input_tokens),
            cache_write: whole(model.cache_creation_input_tokens),
        },
        cost: model
            .cost_usd
            .filter(|cost| cost.is_finite())
            .unwrap_or_default(),
    }
}

fn rise(before: Tokens, now: Tokens) -> Tokens {
    Tokens {
        input: now.input.saturating_sub(before.input),
        output: now.output.saturating_sub(before.output),
        cache_read: now.cache_read.saturating_sub(before.cache_read),
        cache_write: now.cache_write.saturating_sub(before.cache_write),
    }
}

fn add(sum: &mut Tokens, more: Tokens) {
    sum.input = sum.input.saturating_add(more.input);
    sum.output = sum.output.saturating_add(more.output);
    sum.cache_read = sum.cache_read.saturating_add(more.cache_read);
    sum.cache_write = sum.cache_write.saturating_add(more.cache_write);
}

/// A count that the CLI wrote as any number.
pub(crate) fn whole(number: Option<f64>) -> u64 {
    // A float too large or not a number becomes the nearest count there is.
    number.unwrap_or_default().max(0.0) as u64
}
