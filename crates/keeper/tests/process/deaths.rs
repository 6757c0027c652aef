//! `kill -9` of any of them: nothing runs on, and the folder says what happened.

use std::time::{Duration, Instant};

use countersign_keeper::{Found, Habits, bury, look};
use rustix::process::Signal;

use crate::stage::{Stage, kill, lives, until};

/// An agent with a shell in a session of its own, which has left an orphan in another, none of which minds SIGTERM.
const TREE: &str = r#"trap '' TERM
    setsid sh -c 'trap "" TERM; (setsid sleep 300 &); sleep 300' &
    echo ready; while :; do sleep 300; done"#;

fn started_tree(habits: &Habits) -> (Stage, countersign_keeper::Started, u32) {
    let mut stage = Stage::with(TREE, habits);
    // Longer than any test here may take.
    stage.order.graces = countersign_keeper::Graces::default();
    let started = stage.start();
    stage.until_journalled("a ready");
    until("five processes", || stage.agents_processes() >= 5);
    let agent = stage.own(1).status().agent.unwrap().pid;
    (stage, started, agent)
}

fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    id.trim().to_owned()
}

fn until_nothing_is_left(stage: &Stage, within: Duration) {
    let begun = Instant::now();
    until("nothing left", || stage.agents_processes() == 0);
    assert!(begun.elapsed() < within, "{:?}", begun.elapsed());
}

#[test]
fn a_killed_keeper_takes_everything_with_it() {
    let (stage, started, agent) = started_tree(&Habits::default());
    kill(started.keeper, Signal::KILL);
    until_nothing_is_left(&stage, Duration::from_secs(2));
    until("the guard", || !lives(started.guard));
    assert!(!lives(agent));
    assert_eq!(
        look(&stage.session()).unwrap(),
        Found::Lost { generation: 1 }
    );
    let killed = bury(&stage.session(), &boot_id(), 1, None).unwrap();
    assert_eq!(killed, []);
    assert!(
        stage
            .journal()
            .iter()
            .any(|one| one.starts_with(r#"k {"event":"lost""#))
    );
    // Once is enough.
    let length = stage.journal().len();
    bury(&stage.session(), &boot_id(), 1, None).unwrap();
    assert_eq!(stage.journal().len(), length);
}

#[test]
fn a_killed_guard_makes_the_keeper_end_the_agent() {
    let (stage, started, _) = started_tree(&Habits::default());
    kill(started.guard, Signal::KILL);
    until_nothing_is_left(&stage, Duration::from_secs(2));
    until("the keeper", || !lives(started.keeper));
    assert!(matches!(
        look(&stage.session()).unwrap(),
        Found::Ended { .. }
    ));
    assert!(
        stage
            .journal()
            .iter()
            .any(|one| one.contains("the guard is gone"))
    );
}

#[test]
fn a_killed_agent_is_recorded_and_leaves_nothing() {
    let (stage, started, agent) = started_tree(&Habits::default());
    kill(agent, Signal::KILL);
    until_nothing_is_left(&stage, Duration::from_secs(2));
    until("the guard", || !lives(started.guard));
    let Found::Ended { exit, .. } = look(&stage.session()).unwrap() else {
        panic!("ended");
    };
    assert_eq!((exit.signal, &exit.step), (Some(9), &None));
    assert!(exit.killed.len() >= 4, "{exit:?}");
}

#[test]
fn both_killed_at_once_are_buried_with_what_is_left() {
    let (mut stage, started, agent) = started_tree(&Habits::default());
    // Stopped first, so that neither acts on the other's death.
    for pid in [started.guard, started.keeper] {
        kill(pid, Signal::STOP);
    }
    for pid in [started.guard, started.keeper] {
        kill(pid, Signal::KILL);
    }
    until("both gone", || {
        !lives(started.keeper) && !lives(started.guard)
    });
    assert_eq!(
        look(&stage.session()).unwrap(),
        Found::Lost { generation: 1 }
    );
    // The agent died with the keeper, its shells did not.
    until("the agent", || !lives(agent));
    assert!(stage.agents_processes() > 0);
    let killed = bury(&stage.session(), &boot_id(), 1, None).unwrap();
    assert!(!killed.is_empty());
    assert_eq!(stage.agents_processes(), 0);
    stage.order.generation = 2;
    stage.start();
    assert!(matches!(look(&stage.session()).unwrap(), Found::Live(_)));
}

#[test]
fn without_a_guard_a_killed_keeper_leaves_shells_behind() {
    let habits = Habits {
        guard: false,
        ..Habits::default()
    };
    let (stage, started, agent) = started_tree(&habits);
    assert_eq!(started.guard, started.keeper);
    kill(started.keeper, Signal::KILL);
    until("the agent", || !lives(agent));
    assert!(stage.agents_processes() > 0, "the switch does nothing");
}

#[test]
fn a_kept_session_cannot_be_buried() {
    let stage = Stage::new("read line");
    stage.start();
    let refused = bury(&stage.session(), &boot_id(), 1, None);
    assert!(matches!(
        refused,
        Err(countersign_keeper::RecoverError::Kept)
    ));
}

#[test]
fn a_keeper_that_does_not_answer_is_unreachable_and_nothing_is_started_beside_it() {
    let stage = Stage::new("read line");
    let started = stage.start();
    kill(started.keeper, Signal::STOP);
    std::fs::remove_file(&started.socket).unwrap();
    let found = look(&stage.session()).unwrap();
    assert!(matches!(found, Found::Unreachable(_)), "{found:?}");
    assert!(matches!(
        stage.try_start(),
        Err(countersign_keeper::StartError::Busy(_))
    ));
}

/// Whoever ignores the deaths of children hands that down to what it starts.
#[test]
fn a_guard_of_a_host_that_ignores_its_children_still_ends_everything() {
    let mut stage = Stage::new("(setsid sleep 300 &); echo done; read line");
    let kept = stage.keeper.program.clone();
    stage.keeper.program = "/usr/bin/env".into();
    stage.keeper.args = vec!["--ignore-signal=CHLD".into(), kept.into()];
    // Not every `env` can do it.
    let can = std::process::Command::new(&stage.keeper.program)
        .args(["--ignore-signal=CHLD", "true"])
        .output();
    if !can.is_ok_and(|can| can.status.success()) {
        return;
    }
    let started = stage.start();
    stage.until_journalled("a done");
    kill(started.keeper, rustix::process::Signal::KILL);
    until("the end of all", || {
        !lives(started.guard) && stage.agents_processes() == 0
    });
}
