//! Two of what there may be one of, a socket that is taken away, a clock that is set back.
//!
//! Owns one test for each of these faults, on the scripted CLI.

use std::time::Duration;

use countersign_keeper::{Order, start};
use rustix::process::Signal;

use crate::checks::Extent;
use crate::orders::{Decide, Leave};
use crate::procs;
use crate::raw::Raw;
use crate::scenes;
use crate::stage::Stage;
use crate::wait::{self, Dice};

#[test]
fn a_second_host_on_one_folder_does_not_start() {
    let mut dice = Dice::of("two hosts");
    let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
    let messages = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&messages);
    (orders.decide, orders.leave) = (Decide::Hold, Leave::Never);
    let mut first = stage.host(&orders);
    first.until("question");
    let heard = stage.witness(1).heard;
    let mut second = stage.host(&orders);
    assert_eq!(second.until_ended().code(), Some(75));
    assert_eq!(second.events("already running").len(), 1);
    assert_eq!(stage.witness(1).heard, heard, "it wrote nothing");
    assert!(first.ended().is_none(), "the first goes on");
}

#[test]
fn a_second_host_that_is_forced_past_the_lock_fences_the_first_off() {
    let mut dice = Dice::of("two hosts, forced");
    let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
    let messages = stage.messages(2, &mut dice);
    let mut orders = stage.orders(&messages);
    (orders.decide, orders.leave) = (Decide::Hold, Leave::Never);
    let mut first = stage.host(&orders);
    first.until("question");
    let mut orders = stage.orders(&messages);
    orders.past_the_lock = true;
    let mut second = stage.host(&orders);
    second.until_left();
    assert!(!first.until_ended().success(), "the first is cut off");
    let over = first.events("over");
    let why = over[0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("another host"), "{why}");
    stage.assert_kept(Extent::Whole, "after the second host");

    let socket = stage.socket();
    let (_, answer) = Raw::hello(&socket, stage.token(), 1, "own");
    assert_eq!(
        (&answer["type"], &answer["why"]),
        (&"refused".into(), &"epoch".into())
    );
}

#[test]
fn of_two_starts_of_one_generation_one_agent_comes() {
    let mut dice = Dice::of("two starts");
    for round in 0..wait::share(2, 3) {
        let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
        let order = stage.first_order();
        let keeper = stage.keeper();
        let begin = |order: &Order| start(&keeper, order).map_err(|error| error.to_string());
        let came: Vec<Result<_, String>> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..4).map(|_| scope.spawn(|| begin(&order))).collect();
            starts.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let count = came.iter().filter(|came| came.is_ok()).count();
        assert_eq!(count, 1, "round {round}: {came:?}\n{}", stage.story());
        wait::until("the agent runs", || stage.witness(1).starts > 0);

        // Whatever becomes of it, there is never a second one of that number.
        let processes = stage.processes();
        processes.iter().for_each(|one| procs::kill(one.pid));
        wait::until("all is dead", || stage.processes().is_empty());
        assert!(begin(&order).is_err(), "a generation begins once");
        assert_eq!(stage.witness(1).starts, 1);
        assert_eq!(stage.journal().events("open").len(), 1);
    }
}

#[test]
fn a_socket_that_is_deleted_comes_back_and_nothing_is_started_beside_it() {
    let mut dice = Dice::of("socket deleted");
    let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
    let stage = stage.with_habits(serde_json::json!({"rebind_ms": 300}));
    let messages = stage.messages(2, &mut dice);
    let mut orders = stage.orders(&messages);
    (orders.decide, orders.leave) = (Decide::Hold, Leave::Never);
    let mut first = stage.host(&orders);
    first.until("question");
    let keeper = stage.pid_of("keeper");
    std::fs::remove_file(stage.socket()).unwrap();
    first.kill();
    stage.finish(&messages);
    stage.assert_kept(Extent::Whole, "by way of the new socket");
    assert_eq!(stage.pid_of("keeper"), keeper, "the same keeper");
    assert_eq!(stage.journal().generations(), [1]);
}

#[test]
fn a_keeper_that_stands_still_is_waited_for_and_nothing_is_started_beside_it() {
    let mut dice = Dice::of("keeper stopped");
    let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
    let messages = stage.messages(2, &mut dice);
    stage.finish(&messages[..1]);
    let keeper = stage.pid_of("keeper").unwrap();
    procs::signal(keeper, Signal::STOP);
    wait::until("it stands still", || procs::Process::is_stopped(keeper));
    let mut host = stage.host(&stage.orders(&messages));
    host.until("started");
    // Long enough to do something wrong, not a wait for something to come.
    let wrong = wait::within(Duration::from_millis(700), || {
        let others = stage.processes();
        let kept = others.iter().filter(|one| one.command == "kept").count();
        (host.ended().is_some() || kept != 2 || stage.witness(2).starts > 0).then_some(others)
    });
    assert!(wrong.is_none(), "{wrong:#?}\n{}", host.story());
    procs::signal(keeper, Signal::CONT);
    host.until_left();
    stage.assert_kept(Extent::Whole, "after it went on");
    assert_eq!(stage.journal().generations(), [1]);
}

#[test]
fn a_clock_that_is_set_back_changes_no_order_and_is_recorded() {
    let mut dice = Dice::of("clock");
    let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
    let clock = stage.root().join("clock");
    let hour = 3_600_000_000_i64;
    // Whole at once: half a number would be another time.
    let set = |offset: i64| {
        let draft = clock.with_extension("draft");
        std::fs::write(&draft, offset.to_string()).unwrap();
        std::fs::rename(draft, &clock).unwrap();
    };
    set(0);
    let stage = stage.with_habits(serde_json::json!({"clock": clock}));
    let messages = stage.messages(4, &mut dice);
    stage.finish(&messages[..1]);
    for (count, offset) in [(2, -hour), (3, hour), (4, 0)] {
        set(offset);
        stage.finish(&messages[..count]);
        stage.assert_kept(Extent::Whole, "with another clock");
    }
    let jumps = stage.journal().events("clock");
    let jumps: Vec<i64> = jumps
        .iter()
        .filter_map(|jump| jump["jump"].as_i64())
        .collect();
    let about = |jump: &i64, expected: i64| (jump - expected).abs() < 60_000_000;
    let expected = [-hour, 2 * hour, -hour];
    let all = jumps
        .iter()
        .zip(expected)
        .all(|(jump, due)| about(jump, due));
    assert!(all && jumps.len() == 3, "{jumps:?}");
    let newest = stage.journal().entries.pop().unwrap().at;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.unwrap().as_micros() as u64;
    let ahead = Duration::from_micros(newest.saturating_sub(now));
    assert!(ahead <= Duration::from_secs(3_700), "{ahead:?}");
}
