//! Money and tokens: cumulative totals of the CLI, counted once.
//!
//! Versions and orders as measured: what `/clear`, a resume and a fresh start do to the totals.

use crate::support::{Tape, opened};
use crate::{assert_has, each};

fn init(version: &str) -> String {
    format!(r#"{{"type":"system","subtype":"init","claude_code_version":"{version}"}}"#)
}

/// A result: the running total, and the tokens of the model so far and in this turn.
fn result(cost: f64, tokens: u64, turn: u64) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","total_cost_usd":{cost},"usage":{{"output_tokens":{turn}}},"modelUsage":{{"m":{{"inputTokens":{tokens},"outputTokens":{tokens},"costUSD":{cost}}}}}}}"#
    )
}

#[track_caller]
fn assert_cost(tape: &Tape, cost: f64, tokens: u64) {
    let totals = tape.fold().0.totals().clone();
    assert!((totals.cost_usd - cost).abs() < 1e-9, "{}", totals.cost_usd);
    assert_eq!(totals.tokens.output, tokens);
    assert_eq!(totals.models["m"].tokens.output, tokens);
}

#[test]
fn turns_of_one_process_are_not_added_up() {
    let mut tape = Tape::new();
    tape.agent(result(1.0, 10, 10))
        .agent(result(1.5, 15, 5))
        .agent(result(1.5, 15, 0));
    assert_cost(&tape, 1.5, 15);
    assert_has(&each(&tape, "result")[1], &["cost=0.500000 total=1.500000"]);
}

#[test]
fn a_cleared_conversation_counts_from_zero() {
    let mut tape = Tape::new();
    tape.agent(result(1.0, 10, 10));
    tape.agent(r#"{"type":"conversation_reset","trigger":"clear"}"#);
    tape.agent(result(0.0, 0, 0)).agent(result(0.2, 2, 2));
    assert_cost(&tape, 1.2, 12);
}

#[test]
fn a_total_that_falls_is_a_new_count() {
    let mut tape = Tape::new();
    tape.agent(result(1.0, 10, 10)).agent(result(0.3, 3, 3));
    assert_cost(&tape, 1.3, 13);
}

/// Two generations: the second starts with these flags and reports these totals.
fn resumed(flags: &str, version: &str, second: String) -> Tape {
    let mut tape = Tape::new();
    tape.keeper(&opened(1, ""))
        .agent(init(version))
        .agent(result(1.0, 10, 10));
    tape.generation = 2;
    tape.keeper(&opened(2, flags))
        .agent(init(version))
        .agent(second);
    tape
}

#[test]
fn a_resumed_conversation_goes_on_where_the_cli_does() {
    assert_cost(
        &resumed("--resume x", "2.1.325", result(1.4, 14, 4)),
        1.4,
        14,
    );
}

#[test]
fn a_resumed_conversation_starts_at_zero_where_the_cli_does() {
    // Small turn behind a large one, large behind small: the version tells them apart, not the size.
    assert_cost(&resumed("--resume x", "2.1.62", result(0.4, 4, 4)), 1.4, 14);
    assert_cost(
        &resumed("--resume x", "2.0.75", result(9.0, 90, 4)),
        10.0,
        100,
    );
}

#[test]
fn a_version_in_between_is_judged_by_its_tokens() {
    assert_cost(
        &resumed("--resume x", "2.1.197", result(1.4, 14, 4)),
        1.4,
        14,
    );
    assert_cost(
        &resumed("--resume x", "2.1.197", result(1.2, 12, 12)),
        2.2,
        22,
    );
}

#[test]
fn a_fresh_start_counts_from_zero_however_large_its_first_turn() {
    assert_cost(
        &resumed("--session-id y", "2.1.325", result(9.0, 90, 4)),
        10.0,
        100,
    );
}

/// The first result of a process: as [`result`], with what this version says of the turn alone.
fn first_result(cost: f64, tokens: u64, turn_cost: f64, turn: u64) -> String {
    let since = format!(
        r#","model_usage_since_last_result":{{"m":{{"inputTokens":{turn},"outputTokens":{turn},"costUSD":{turn_cost}}}}}}}"#
    );
    let line = result(cost, tokens, turn);
    format!("{}{since}", &line[..line.len() - 1])
}

#[test]
fn what_a_fork_or_an_import_has_cost_before_is_not_counted_again() {
    let mut tape = Tape::new();
    tape.keeper(&opened(1, "--resume x --fork-session"))
        .agent(init("2.1.325"))
        .agent(first_result(5.5, 55, 0.5, 5))
        .agent(result(6.0, 60, 5));
    assert_cost(&tape, 1.0, 10);
    assert_has(&each(&tape, "result")[0], &["cost=0.500000 total=0.500000"]);
    // Its own next process goes on from there.
    tape.generation = 2;
    tape.keeper(&opened(2, "--resume y"))
        .agent(init("2.1.325"))
        .agent(first_result(6.5, 65, 0.5, 5));
    assert_cost(&tape, 1.5, 15);
}

#[test]
fn a_fork_whose_first_process_ends_without_a_result_is_still_one() {
    let mut tape = Tape::new();
    tape.keeper(&opened(1, "--resume x --fork-session"));
    tape.generation = 2;
    tape.keeper(&opened(2, "--resume y"))
        .agent(init("2.1.325"))
        .agent(first_result(5.5, 55, 0.5, 5));
    assert_cost(&tape, 0.5, 5);
}

/// What a CLI prints that could not resume: it has counted nothing.
const FAILED: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"total_cost_usd":0,"usage":{"output_tokens":0},"modelUsage":{}}"#;

#[test]
fn a_resume_that_failed_is_no_new_count() {
    let mut tape = resumed("--resume x", "2.1.325", FAILED.to_owned());
    assert_cost(&tape, 1.0, 10);
    tape.generation = 3;
    tape.keeper(&opened(3, "--resume x"))
        .agent(init("2.1.325"))
        .agent(result(1.4, 14, 4));
    assert_cost(&tape, 1.4, 14);
    // Nor does it say that the next one goes on.
    let mut tape = resumed("--resume x", "2.1.62", FAILED.to_owned());
    tape.generation = 3;
    tape.keeper(&opened(3, "--resume x"))
        .agent(init("2.1.62"))
        .agent(result(1.4, 14, 14));
    assert_cost(&tape, 2.4, 24);
}

#[test]
fn a_fork_whose_first_process_fails_is_still_one() {
    let mut tape = Tape::new();
    tape.keeper(&opened(1, "--resume x --fork-session"))
        .agent(FAILED);
    tape.generation = 2;
    tape.keeper(&opened(2, "--resume x --fork-session"))
        .agent(init("2.1.325"))
        .agent(first_result(5.5, 55, 0.5, 5));
    assert_cost(&tape, 0.5, 5);
}

#[test]
fn what_a_lost_turn_of_the_session_itself_has_cost_is_counted() {
    let mut tape = Tape::new();
    tape.keeper(&opened(1, "--session-id x"));
    tape.generation = 2;
    tape.keeper(&opened(2, "--resume x"))
        .agent(init("2.1.325"))
        .agent(first_result(0.8, 8, 0.5, 5));
    assert_cost(&tape, 0.8, 8);
}

#[test]
fn a_fork_of_a_version_that_counts_from_zero_is_counted_whole() {
    let mut tape = Tape::new();
    tape.keeper(&opened(1, "--resume x --fork-session"))
        .agent(init("2.1.62"))
        .agent(result(0.5, 5, 5));
    assert_cost(&tape, 0.5, 5);
}

#[test]
fn a_total_that_is_no_amount_changes_nothing() {
    let mut tape = Tape::new();
    tape.agent(result(1.0, 10, 10));
    for bad in ["-1", "\"x\"", "null"] {
        tape.agent(format!(
            r#"{{"type":"result","subtype":"success","total_cost_usd":{bad}}}"#
        ));
    }
    assert_cost(&tape, 1.0, 10);
    assert_eq!(tape.fold().0.totals().turns.succeeded, 4);
}

#[test]
fn the_part_of_the_model_is_that_of_the_turn_though_the_number_goes_on_rising() {
    let result = |api: u64, all: u64| {
        format!(
            r#"{{"type":"result","subtype":"success","total_cost_usd":0,"duration_ms":{all},"duration_api_ms":{api}}}"#
        )
    };
    let mut tape = Tape::new();
    // Of three calls of the model beside each other no more is told than the turn has lasted.
    for (api, all) in [(400, 1_000), (1_000, 900), (4_000, 500)] {
        tape.agent(result(api, all));
    }
    let totals = tape.fold().0.totals().clone();
    assert_eq!(
        (totals.duration_ms, totals.api_ms),
        (2_400, 400 + 600 + 500)
    );
}
