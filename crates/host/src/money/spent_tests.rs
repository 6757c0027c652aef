//! Rows out of sums: made by hand, and out of a folded session with its resume, its `/clear` and its second model.

use countersign_journal::{Kind, Record};
use countersign_transcript::Fold;
use proptest::prelude::*;

use super::*;

const NOON: u64 = 1_769_860_800_000_000;

fn totals(cost: f64, models: &[(&str, f64, u64)], turns: u64) -> Totals {
    let mut totals = Totals {
        cost_usd: cost,
        ..Totals::default()
    };
    totals.turns.succeeded = turns;
    for (name, cost_usd, output) in models {
        let tokens = Tokens {
            output: *output,
            ..Tokens::default()
        };
        totals.models.insert(
            (*name).to_owned(),
            ModelTotals {
                tokens,
                cost_usd: *cost_usd,
            },
        );
    }
    totals
}

#[test]
fn a_day_is_one_of_utc() {
    assert_eq!(day(0), "1970-01-01");
    assert_eq!(day(NOON), "2026-01-31");
    assert_eq!(day(NOON + 12 * 3_600_000_000 - 1), "2026-01-31");
    assert_eq!(day(NOON + 12 * 3_600_000_000), "2026-02-01");
    assert_eq!(day(u64::MAX).len(), 10);
}

#[test]
fn a_turn_is_counted_with_the_model_that_wrote_most_of_it() {
    let before = totals(1.0, &[("large", 1.0, 100)], 3);
    let after = totals(1.5, &[("large", 1.4, 150), ("small", 0.1, 900)], 4);
    let rows = rows(&before, &after, NOON);
    assert_eq!(rows.len(), 2);
    let (large, small) = (&rows[0], &rows[1]);
    assert_eq!((large.model.as_str(), large.turns), ("large", 0));
    assert_eq!((small.model.as_str(), small.turns), ("small", 1));
    assert!((large.cost_usd - 0.4).abs() < 1e-9);
    assert_eq!((large.output_tokens, small.output_tokens), (50, 900));
}

#[test]
fn nothing_new_is_no_row() {
    let same = totals(1.0, &[("large", 1.0, 100)], 3);
    assert_eq!(rows(&same, &same, NOON), []);
    // A command that the CLI answers itself ends a turn without a model.
    let mut local = same.clone();
    local.turns.succeeded += 1;
    assert_eq!(rows(&same, &local, NOON), []);
}

#[test]
fn dollars_that_no_model_accounts_for_have_a_row() {
    let after = totals(2.0, &[("large", 1.5, 10)], 1);
    let rows = rows(&Totals::default(), &after, NOON);
    assert_eq!(rows[1].model, OTHERS);
    assert!((rows[1].cost_usd - 0.5).abs() < 1e-9);
}

fn record(seq: u64, payload: &str) -> Record<'_> {
    Record {
        seq,
        at: NOON,
        kind: Kind::Agent,
        payload: payload.as_bytes(),
    }
}

fn result(cost: f64, output: u64) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":{cost},"usage":{{"input_tokens":1,"output_tokens":5}},"modelUsage":{{"large":{{"inputTokens":1,"outputTokens":{output},"costUSD":{cost}}}}}}}"#
    )
}

#[test]
fn running_totals_of_the_cli_become_differences() {
    let mut fold = Fold::new();
    let mut sum = 0.0;
    let reset = r#"{"type":"conversation_reset","trigger":"clear"}"#.to_owned();
    let lines = [result(0.25, 5), result(0.75, 10), reset, result(0.5, 5)];
    let mut seen = Vec::new();
    for (seq, line) in (1..).zip(&lines) {
        let before = fold.totals().clone();
        fold.step(1, &record(seq, line));
        for row in rows(&before, fold.totals(), NOON) {
            sum += row.cost_usd;
            seen.push((row.cost_usd, row.output_tokens));
        }
    }
    assert_eq!(seen, [(0.25, 5), (0.5, 5), (0.5, 5)]);
    assert!((sum - fold.totals().cost_usd).abs() < 1e-9);
}

proptest! {
    #[test]
    fn the_rows_add_up_to_what_was_spent(
        cost in 0.0..100.0_f64,
        spent in 0.0..10.0_f64,
        models in proptest::collection::vec((0.0..10.0_f64, 0.0..10.0_f64, 0..1000_u64), 0..5),
    ) {
        let names = ["a", "b", "c", "d", "e"];
        let before: Vec<_> = models.iter().zip(names).map(|(m, name)| (name, m.0, 0)).collect();
        let after: Vec<_> = models.iter().zip(names).map(|(m, name)| (name, m.0 + m.1, m.2)).collect();
        let before = totals(cost, &before, 1);
        let after = totals(cost + spent, &after, 2);
        let rows = rows(&before, &after, NOON);
        let sum: f64 = rows.iter().map(|row| row.cost_usd).sum();
        prop_assert!((sum - (after.cost_usd - before.cost_usd)).abs() < 1e-6);
        prop_assert!(rows.iter().map(|row| row.turns).sum::<u64>() <= 1);
    }
}
