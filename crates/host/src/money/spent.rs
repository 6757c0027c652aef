//! What was spent between two sums of a session, by model, on a day.
//!
//! Owns the rows; the sums are the fold's. Pure: the time is that of the record, so that a journal that is read again gives
//! the same rows. Invariants: the dollars of the rows are those between the sums, each in one row; a turn is counted with
//! the model that wrote most of it, and not at all if no model did.

use countersign_transcript::body::Tokens;
use countersign_transcript::bounds::OTHERS;
use countersign_transcript::{ModelTotals, Totals};

use crate::control::Spent;

/// Less than this is the rounding of a sum.
const CENT_OF_A_CENT: f64 = 1e-9;

/// The day of a moment (microseconds of Unix time) in UTC: `2026-01-31`.
pub fn day(at: u64) -> String {
    let at = i64::try_from(at).ok();
    let moment = at.and_then(|at| jiff::Timestamp::from_microsecond(at).ok());
    let moment = moment.unwrap_or(jiff::Timestamp::MAX);
    let date = jiff::tz::Offset::UTC.to_datetime(moment).date();
    date.to_string()
}

/// Whether something was spent, or a turn ended, between two sums.
pub fn has_risen(before: &Totals, after: &Totals) -> bool {
    after.cost_usd > before.cost_usd
        || after.tokens != before.tokens
        || ended(after) != ended(before)
}

/// What a record that was written at `at` added, by model. Nothing if it added nothing.
pub fn rows(before: &Totals, after: &Totals, at: u64) -> Vec<Spent> {
    let cost = (after.cost_usd - before.cost_usd).max(0.0);
    let mut rises: Vec<(&str, ModelTotals)> = after
        .models
        .iter()
        .map(|(name, now)| (name.as_str(), rise(before.models.get(name), now)))
        .filter(|(_, rise)| rise.cost_usd > 0.0 || rise.tokens != Tokens::default())
        .collect();
    settle(&mut rises, cost);
    let turns = ended(after).saturating_sub(ended(before));
    let wrote_most = (0..rises.len()).max_by_key(|index| rises[*index].1.tokens.output);
    let day = day(at);
    let rows = rises
        .iter()
        .enumerate()
        .map(|(index, (model, rise))| Spent {
            day: day.clone(),
            model: (*model).to_owned(),
            cost_usd: rise.cost_usd,
            turns: if wrote_most == Some(index) { turns } else { 0 },
            input_tokens: rise.tokens.input,
            output_tokens: rise.tokens.output,
            cache_read_tokens: rise.tokens.cache_read,
            cache_creation_tokens: rise.tokens.cache_write,
        });
    rows.collect()
}

/// Makes the models' dollars those of the whole: what no model accounts for has a row of its own, and where the models
/// claim more than there is, each gets its share.
fn settle(rises: &mut Vec<(&str, ModelTotals)>, cost: f64) {
    let claimed: f64 = rises.iter().map(|(_, rise)| rise.cost_usd).sum();
    if claimed > cost + CENT_OF_A_CENT {
        for (_, rise) in rises.iter_mut() {
            rise.cost_usd *= cost / claimed;
        }
    } else if cost > claimed + CENT_OF_A_CENT {
        let rest = cost - claimed;
        match rises.iter_mut().find(|(name, _)| *name == OTHERS) {
            Some((_, rise)) => rise.cost_usd += rest,
            None => rises.push((
                OTHERS,
                ModelTotals {
                    cost_usd: rest,
                    ..ModelTotals::default()
                },
            )),
        }
    }
}

fn rise(before: Option<&ModelTotals>, now: &ModelTotals) -> ModelTotals {
    let before = before.copied().unwrap_or_default();
    let (old, new) = (before.tokens, now.tokens);
    ModelTotals {
        tokens: Tokens {
            input: new.input.saturating_sub(old.input),
            output: new.output.saturating_sub(old.output),
            cache_read: new.cache_read.saturating_sub(old.cache_read),
            cache_write: new.cache_write.saturating_sub(old.cache_write),
        },
        cost_usd: (now.cost_usd - before.cost_usd).max(0.0),
    }
}

/// Turns that are over, however they ended.
fn ended(totals: &Totals) -> u64 {
    let turns = &totals.turns;
    turns.succeeded + turns.failed + turns.interrupted + turns.lost
}

#[cfg(test)]
#[path = "spent_tests.rs"]
mod tests;
