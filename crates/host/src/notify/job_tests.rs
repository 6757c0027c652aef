//! What is tried again, when, and what is given up.

use super::*;

const SCHEDULE: Schedule = Schedule {
    first: 1_000,
    most: 10_000,
    tries: 5,
};

fn job(tries: u32) -> Job {
    let mut job = Job::new(0, 1, Event::test(7), 7);
    job.tries = tries;
    job
}

fn answer(status: u16, retry_after: Option<u64>) -> Outcome {
    Outcome::Answered {
        status,
        retry_after,
        said: String::new(),
    }
}

fn again(outcome: &Outcome, tries: u32, jitter: f64) -> Option<u64> {
    match job(tries).tried(1_000_000, outcome, &SCHEDULE, jitter) {
        Next::Again { at, .. } => Some(at - 1_000_000),
        Next::Done | Next::GiveUp { .. } => None,
    }
}

#[test]
fn what_may_pass_is_tried_again_and_what_will_not_is_not() {
    for status in [408, 425, 429, 500, 502, 503, 504, 599] {
        assert!(again(&answer(status, None), 1, 0.5).is_some(), "{status}");
    }
    for status in [
        100, 301, 302, 307, 308, 400, 401, 403, 404, 405, 409, 410, 413, 422, 451,
    ] {
        assert_eq!(again(&answer(status, None), 1, 0.5), None, "{status}");
    }
    let why = "connection refused".to_owned();
    assert!(again(&Outcome::Unreached { why: why.clone() }, 1, 0.5).is_some());
    assert_eq!(again(&Outcome::Hopeless { why }, 1, 0.5), None);
    let exited = |code| Outcome::Exited {
        code,
        said: String::new(),
    };
    assert!(again(&exited(Some(75)), 1, 0.5).is_some());
    for code in [Some(1), Some(127), None] {
        assert_eq!(again(&exited(code), 1, 0.5), None);
    }
    let done = job(1).tried(5, &Outcome::Done, &SCHEDULE, 0.5);
    assert_eq!(done, Next::Done);
}

#[test]
fn waits_double_up_to_a_bound_and_jitter_shortens_them_by_half_at_most() {
    let outcome = answer(500, None);
    let whole: Vec<_> = (1..5)
        .filter_map(|tries| again(&outcome, tries, 1.0))
        .collect();
    assert_eq!(whole, [1_000, 2_000, 4_000, 8_000]);
    let half: Vec<_> = (1..5)
        .filter_map(|tries| again(&outcome, tries, 0.0))
        .collect();
    assert_eq!(half, [500, 1_000, 2_000, 4_000]);
    let mut long = SCHEDULE;
    long.tries = 100;
    for tries in [5, 20, 40, 64, 99] {
        let next = job(tries).tried(0, &outcome, &long, 1.0);
        assert!(matches!(next, Next::Again { at: 10_000, .. }), "{tries}");
    }
    for jitter in [f64::NAN, f64::INFINITY, -3.0, 7.0] {
        let wait = again(&outcome, 1, jitter).unwrap();
        assert!((500..=1_000).contains(&wait), "{jitter}");
    }
}

#[test]
fn a_receiver_may_ask_for_a_longer_wait_up_to_the_bound() {
    let long = Schedule {
        most: 60_000_000,
        ..SCHEDULE
    };
    let next = |seconds| job(1).tried(0, &answer(503, Some(seconds)), &long, 0.0);
    assert!(matches!(next(0), Next::Again { at: 500, .. }));
    assert!(matches!(next(30), Next::Again { at: 30_000_000, .. }));
    assert!(matches!(next(u64::MAX), Next::Again { at: 60_000_000, .. }));
}

#[test]
fn a_job_is_given_up_after_its_tries_and_that_is_said() {
    let outcome = answer(500, None);
    let Next::GiveUp { why } = job(5).tried(0, &outcome, &SCHEDULE, 0.5) else {
        panic!("tried for ever");
    };
    assert_eq!(why, "it answered with status 500; given up after 5 tries");
    let Next::GiveUp { why } = job(1).tried(0, &answer(302, None), &SCHEDULE, 0.5) else {
        panic!("followed");
    };
    assert!(why.contains("redirects are not followed"), "{why}");
}

#[test]
fn a_merged_job_counts_all_that_it_stands_for() {
    let mut first = job(0);
    first.event.at = 3;
    let mut second = job(0);
    second.merge(&first);
    let mut third = job(0);
    third.merge(&second);
    assert_eq!((third.merged, third.merged_since), (2, Some(3)));
}
