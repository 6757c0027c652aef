//! Queues: their order, their bound, what holds what back; and the whole against random events and outcomes.

use proptest::prelude::*;

use super::*;
use crate::control::session::State;
use crate::notify::event::tests::view;
use crate::notify::{Delivered, Secret, Shape, To};

const SCHEDULE: Schedule = Schedule {
    first: 100,
    most: 1_000,
    tries: 3,
};

fn target(name: &str, on: &[Kind]) -> Target {
    Target {
        name: name.to_owned(),
        on: on.to_vec(),
        to: To::Webhook {
            url: Secret::new("http://127.0.0.1:9/x"),
            secret: Some(Secret::new("0123456789abcdef")),
            headers: std::collections::BTreeMap::new(),
            shape: Shape::Full,
        },
    }
}

fn targets(names: &[&str]) -> Targets {
    let all = [Kind::Finished, Kind::Failed, Kind::Stopped];
    let targets = names.iter().map(|name| target(name, &all)).collect();
    Targets::new(targets, SCHEDULE).unwrap()
}

fn event(session: u128, kind: Kind, at: u64) -> Event {
    let state = match kind {
        Kind::Failed => State::Failed {
            stderr: String::new(),
        },
        Kind::Stopped => State::Stopped,
        _ => State::Idle {
            asleep: false,
            background: 0,
        },
    };
    let mut view = view(session, state, "because");
    view.since = at;
    Event::turned(&State::Running, &view).unwrap()
}

fn bad() -> Outcome {
    Outcome::Unreached {
        why: "refused".to_owned(),
    }
}

#[test]
fn only_those_are_told_who_want_to_know() {
    let one = target("one", &[Kind::Failed]);
    let two = target("two", &[Kind::Finished]);
    let mut targets = Targets::new(vec![one, two], SCHEDULE).unwrap();
    targets.on(&event(1, Kind::Failed, 1), 1);
    let due = targets.due(1);
    assert_eq!(due.len(), 1);
    assert_eq!(targets.target(&due[0]).unwrap().name, "one");
    targets.on(&Event::test(2), 2);
    assert_eq!(targets.open(), 3);
    assert_eq!(targets.on_one("three", &Event::test(2), 2), None);
    assert_eq!(targets.on_one("two", &Event::test(3), 3), Some(Vec::new()));
    assert_eq!(targets.open(), 4);
}

#[test]
fn what_became_of_the_last_try_is_known() {
    let mut targets = targets(&["one", "two"]);
    assert_eq!(targets.last("one"), None);
    targets.on_one("one", &Event::test(5), 5);
    let job = targets.due(5).remove(0);
    assert_eq!(targets.last("one"), None, "nothing has come of it yet");
    let why = "http://127.0.0.1:9/x was refused".to_owned();
    targets.tried(&job, 7, &Outcome::Unreached { why }, 1.0);
    let last = targets.last("one").unwrap().clone();
    assert_eq!((last.at, last.about, last.tries), (7, Kind::Test, 1));
    assert_eq!(last.outcome, Delivered::Waits);
    assert_eq!(last.next, Some(107));
    let why = last.why.unwrap();
    assert!(why.contains("refused") && !why.contains("/x"), "{why}");

    let job = targets.due(107).remove(0);
    targets.tried(&job, 108, &Outcome::Done, 1.0);
    let last = targets.last("one").unwrap();
    assert_eq!((last.at, last.tries), (108, 2));
    assert_eq!((last.outcome, &last.why), (Delivered::Arrived, &None));
    assert_eq!((last.next, targets.last("two")), (None, None));

    targets.on_one("one", &Event::test(200), 200);
    let job = targets.due(200).remove(0);
    let why = "no such program".to_owned();
    targets.tried(&job, 201, &Outcome::Hopeless { why }, 1.0);
    let last = targets.last("one").unwrap();
    assert_eq!((last.outcome, last.next), (Delivered::GaveUp, None));
}

#[test]
fn two_of_one_name_are_refused() {
    let twice = vec![target("one", &[]), target("one", &[])];
    let refused = Targets::new(twice, SCHEDULE).unwrap_err();
    assert_eq!(refused, BadTarget::Twice("one".to_owned()));
}

#[test]
fn a_job_that_waits_holds_back_only_its_own_session() {
    let mut targets = targets(&["one"]);
    targets.on(&event(1, Kind::Failed, 1), 0);
    targets.on(&event(1, Kind::Finished, 2), 0);
    targets.on(&event(2, Kind::Failed, 3), 0);
    let first = targets.due(0).remove(0);
    assert_eq!(targets.due(0), [], "one at a time");
    assert_eq!(targets.tried(&first, 0, &bad(), 1.0), None);
    assert_eq!(targets.wake_at(), Some(0));
    let other = targets.due(0).remove(0);
    assert_eq!(other.event.at, 3, "the second of session 1 may not pass");
    targets.tried(&other, 0, &Outcome::Done, 1.0);
    assert_eq!(targets.due(0), []);
    assert_eq!(targets.wake_at(), Some(100));
    let again = targets.due(100).remove(0);
    assert_eq!((again.event.at, again.tries), (1, 2));
    assert_eq!(again.id, first.id);
    targets.tried(&again, 100, &Outcome::Done, 1.0);
    assert_eq!(targets.due(100)[0].event.at, 2);
}

#[test]
fn a_target_that_does_not_answer_delays_no_other() {
    let mut targets = targets(&["slow", "quick"]);
    for at in 0..3 {
        targets.on(&event(1, Kind::Failed, at), 0);
    }
    let mut told = Vec::new();
    loop {
        let due = targets.due(0);
        let quick = due.iter().find(|job| job.target == 1);
        let Some(quick) = quick else { break };
        told.push(quick.event.at);
        targets.tried(quick, 0, &Outcome::Done, 0.0);
    }
    assert_eq!(told, [0, 1, 2]);
    assert_eq!(targets.open(), 3);
}

#[test]
fn a_full_queue_merges_the_oldest_of_the_same_kind_and_says_so() {
    let mut targets = targets(&["one"]).bound(2);
    targets.on(&event(1, Kind::Failed, 1), 0);
    targets.on(&event(2, Kind::Finished, 2), 0);
    let said = targets.on(&event(3, Kind::Finished, 3), 0);
    let merged = |kind, so_far| Said::Merged {
        target: "one".to_owned(),
        kind,
        so_far,
    };
    assert_eq!(said, [merged(Kind::Finished, 1)]);
    let said = targets.on(&event(4, Kind::Finished, 4), 0);
    assert_eq!(said, [merged(Kind::Finished, 2)]);
    // None of its kind: the oldest goes.
    let said = targets.on(&event(5, Kind::Stopped, 5), 0);
    assert_eq!(said, [merged(Kind::Failed, 3)]);
    let kept = targets.due(0).remove(0);
    assert_eq!(
        (kept.event.at, kept.merged, kept.merged_since),
        (4, 2, Some(2))
    );
}

#[test]
fn a_question_that_is_settled_is_not_told_any_more() {
    let mut targets = Targets::new(vec![target("one", &[Kind::NeedsYou])], SCHEDULE).unwrap();
    let mut asked = event(1, Kind::Failed, 1);
    asked.kind = Kind::NeedsYou;
    let mut ids = Vec::new();
    for number in 0..2 {
        let id = ApprovalId::new(1, number);
        asked.approval = Some(crate::notify::Question {
            id,
            kind: crate::control::approval::Kind::Tool,
            tool: "Bash".to_owned(),
            summary: "Bash: ls".to_owned(),
        });
        ids.push(id);
        targets.on(&asked, 0);
    }
    targets.settled(ids[0]);
    let under_way = targets.due(0).remove(0);
    assert_eq!(under_way.approval(), Some(ids[1]));
    // Settled while it is told: it is not tried again.
    targets.settled(ids[1]);
    assert_eq!(targets.tried(&under_way, 0, &bad(), 0.5), None);
    assert_eq!(targets.open(), 0);
}

#[test]
fn what_is_given_up_is_said_without_secrets() {
    let mut targets = targets(&["one"]);
    targets.on(&event(1, Kind::Failed, 1), 0);
    let job = targets.due(0).remove(0);
    let outcome = Outcome::Answered {
        status: 410,
        retry_after: None,
        said: "no 0123456789abcdef here".to_owned(),
    };
    let said = targets.tried(&job, 0, &outcome, 0.0).unwrap();
    let words = said.to_string();
    assert_eq!(
        words,
        "`one` (http://127.0.0.1/…) was not told of `failed`: it answered with status 410: no [masked] here"
    );
    assert_eq!(targets.open(), 0);
    // Only what is under way can be tried.
    assert_eq!(targets.tried(&job, 0, &outcome, 0.0), None);
}

proptest! {
    /// Whatever happens in whatever order: bounded, in order a session, and every event is accounted for.
    #[test]
    fn every_event_arrives_in_order_or_is_said_to_be_missing(
        steps in proptest::collection::vec((0..3_u8, 0..4_u128, 0..3_u8), 1..200),
        bound in 1..6_usize,
    ) {
        let mut targets = targets(&["one"]).bound(bound);
        let (mut now, mut put, mut accounted) = (0, 0_u64, 0_u64);
        let mut last: std::collections::BTreeMap<Option<SessionId>, u64> = Default::default();
        let mut under_way: Option<Job> = None;
        for (what, session, how) in steps.into_iter().chain(std::iter::repeat_n((2, 0, 0), 400)) {
            now += 50;
            match (what, under_way.take()) {
                (0, current) => {
                    under_way = current;
                    put += 1;
                    let kind = [Kind::Failed, Kind::Finished, Kind::Stopped][usize::from(how)];
                    targets.on(&event(session, kind, put), now);
                }
                (_, Some(job)) => {
                    let outcome = if how == 1 { bad() } else { Outcome::Done };
                    let gave_up = targets.tried(&job, now, &outcome, 0.5).is_some();
                    if how != 1 || gave_up {
                        accounted += 1 + u64::from(job.merged);
                        let before = last.insert(job.session(), job.event.at);
                        prop_assert!(before.is_none_or(|before| before < job.event.at));
                    }
                }
                (_, None) => under_way = targets.due(now).pop(),
            }
            prop_assert!(targets.open() <= bound + 1);
        }
        prop_assert_eq!(targets.open(), 0);
        prop_assert_eq!(put, accounted);
    }
}
