//! The suite can fail: keepers that leave out the sync, the numbers or the guard are found out by the very same checks.
//!
//! Owns one test for each of them. Beside it stands the same fault with everything in place, which passes.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::checks::{Extent, Promise, Violation};
use crate::orders::Leave;
use crate::power;
use crate::procs::{self, Process};
use crate::rounds_keeper::left_running;
use crate::scenes;
use crate::stage::{Stage, lines};
use crate::wait::{self, Dice};

fn finds(wrong: &[Violation], promise: Promise) -> bool {
    wrong.iter().any(|violation| violation.promise == promise)
}

#[test]
fn a_keeper_that_does_not_sync_is_found_out() {
    let mut dice = Dice::of("can fail, sync");
    let stage = power::stage(scenes::SLOW_TOOL, json!({"sync": false}), &mut dice);
    let wrong = power::violations_after_power_loss(&stage, 1, &mut dice);
    assert!(finds(&wrong, Promise::Grants), "{}", lines(&wrong));
}

/// A host is killed when the keeper has written its first message and not said so; the next one hands it in again.
fn handed_in_twice(habits: Value, dice: &mut Dice) -> Vec<Violation> {
    let mut habits = habits;
    habits["stop_at_message"] = json!("written");
    let stage = Stage::scripted(scenes::ONE_QUESTION, dice).with_habits(habits);
    let messages = stage.messages(1, dice);
    let mut host = stage.host(&stage.orders(&messages));
    let stopped = || {
        stage
            .pid_of("keeper")
            .filter(|pid| Process::is_stopped(*pid))
    };
    let keeper = wait::found("the keeper stands still", || host.story(), stopped);
    host.kill();
    procs::signal(keeper, Signal::CONT);
    let mut orders = stage.orders(&messages);
    orders.leave = Leave::Never;
    let mut next = stage.host(&orders);
    let done = wait::within(wait::DEADLINE, || {
        if Process::is_stopped(keeper) {
            procs::signal(keeper, Signal::CONT);
        }
        let over = next.ended().is_some() || !next.events("done").is_empty();
        over.then_some(())
    });
    assert!(done.is_some(), "{}", next.story());
    next.kill();
    if Process::is_stopped(keeper) {
        procs::signal(keeper, Signal::CONT);
    }
    stage.case().violations(Extent::Begun)
}

#[test]
fn a_keeper_that_does_not_look_at_numbers_is_found_out() {
    let mut dice = Dice::of("can fail, numbers");
    let wrong = handed_in_twice(json!({}), &mut dice);
    assert!(wrong.is_empty(), "with numbers: {}", lines(&wrong));
    let wrong = handed_in_twice(json!({"numbers": false}), &mut dice);
    assert!(finds(&wrong, Promise::Once), "{}", lines(&wrong));
}

#[test]
fn a_keeper_without_a_guard_is_found_out() {
    let mut dice = Dice::of("can fail, guard");
    for (habits, is_guarded) in [(json!({}), true), (json!({"guard": false}), false)] {
        let stage = Stage::scripted(scenes::WITH_CHILDREN, &mut dice).with_habits(habits);
        let messages = stage.messages(1, &mut dice);
        let mut orders = stage.orders(&messages);
        orders.leave = Leave::Never;
        let mut host = stage.host(&orders);
        host.until("question");
        let tree = stage.processes();
        procs::kill(stage.pid_of("keeper").expect("a keeper"));
        let wrong = left_running(&stage, &tree);
        assert_eq!(
            finds(&wrong, Promise::NothingLeft),
            !is_guarded,
            "{}",
            lines(&wrong)
        );
    }
}
