//! What counts as waiting, by whom, and when.

use super::*;

const NOW: u64 = 100 * 3_600 * SECOND;

fn session(n: u128) -> SessionId {
    SessionId::new(0, n)
}

/// A question about a call, asked at this second.
fn asked(at: u64) -> Asked {
    Asked {
        session: session(1),
        kind: Kind::Tool,
        tool: "Bash".to_owned(),
        rule: Some("Bash(make:*)".to_owned()),
        is_call_over: true,
        is_open: false,
        at: at * SECOND,
        decided: None,
    }
}

fn decided(mut one: Asked, by: &str, effect: Effect, after: u64) -> Asked {
    let at = one.at + after * SECOND;
    one.decided = Some(Verdict {
        by: by.to_owned(),
        effect,
        at,
        is_sent_back: false,
    });
    one
}

fn told(offset: i32, calls: u64, all: impl IntoIterator<Item = Asked>) -> Insights {
    let mut sums = Sums::new(NOW, offset);
    for one in all {
        sums.add(one);
    }
    sums.told(calls, |_| "a name".to_owned())
}

#[test]
fn a_rule_keeps_nobody_waiting_and_every_act_has_one_who_decided() {
    let found = told(
        0,
        10,
        [
            decided(asked(5), "rule", Effect::Allow, 0),
            decided(asked(6), "rule", Effect::Deny, 0),
            decided(asked(7), "ann", Effect::Allow, 12),
            decided(asked(8), "expired", Effect::Deny, 40),
            decided(asked(9), "mode", Effect::Allow, 0),
        ],
    );
    let Acts {
        calls,
        by_people,
        by_rules,
        by_settings,
        by_mode,
    } = found.acts;
    assert_eq!((by_people, by_rules, by_settings, by_mode), (1, 2, 1, 6));
    assert_eq!(calls, by_people + by_rules + by_settings + by_mode);
    assert_eq!(found.waits.asked, 2);
    assert_eq!(found.waits.waited, 52 * SECOND);
    assert_eq!(found.decided[0].by, "rule");
    assert_eq!((found.decided[0].allowed, found.decided[0].denied), (1, 1));
}

#[test]
fn an_open_question_waits_up_to_now_and_one_that_was_taken_back_counts_without_a_wait() {
    let open = Asked {
        is_open: true,
        is_call_over: false,
        ..asked(100 * 3_600 - 30)
    };
    let found = told(0, 0, [open, asked(5)]);
    assert_eq!(found.waits.asked, 2);
    assert_eq!(found.waits.open, 1);
    assert_eq!(found.waits.waited, 30 * SECOND);
    assert_eq!(found.waits.median, 0, "none was answered");
    assert!(found.speed.iter().all(|step| step.count == 0));
}

#[test]
fn what_waits_longest_comes_first_and_a_rule_stands_for_all_it_would_have_covered() {
    let plan = Asked {
        kind: Kind::Plan,
        tool: "ExitPlanMode".to_owned(),
        rule: None,
        session: session(2),
        ..asked(9)
    };
    let found = told(
        0,
        0,
        [
            decided(asked(1), "ann", Effect::Allow, 20),
            decided(asked(2), "ann", Effect::Allow, 30),
            decided(plan, "ann", Effect::Deny, 49),
        ],
    );
    let first = &found.by_what[0];
    assert_eq!(
        (first.what.as_str(), first.asked, first.allowed),
        ("Bash(make:*)", 2, 2)
    );
    assert_eq!(first.longest, 30 * SECOND);
    let second = &found.by_what[1];
    assert_eq!(
        (second.what.as_str(), second.is_rule, second.denied),
        ("ExitPlanMode", false, 1)
    );
    let sessions: Vec<SessionId> = found.by_session.iter().map(|one| one.session).collect();
    assert_eq!(sessions, [session(1), session(2)]);
}

#[test]
fn hours_are_those_of_the_reader() {
    let at_ten = asked(10 * 3_600 + 1);
    let hours = |offset: i32| {
        let found = told(
            offset,
            0,
            [decided(at_ten.clone(), "ann", Effect::Allow, 1)],
        );
        let busy = found.by_hour.iter().filter(|one| one.asked > 0);
        busy.map(|one| one.hour).collect::<Vec<_>>()
    };
    assert_eq!(hours(0), [10]);
    assert_eq!(hours(-11 * 60), [23]);
    assert_eq!(hours(5 * 60 + 30), [15]);
}

#[test]
fn each_answer_is_in_one_step_of_speed() {
    let waits = [1, 9, 10, 29, 59, 60, 1_799, 1_800, 90_000];
    let all = waits.map(|wait| decided(asked(1), "ann", Effect::Allow, wait));
    let found = told(0, 0, all);
    let counts: Vec<u64> = found.speed.iter().map(|step| step.count).collect();
    assert_eq!(counts, [2, 2, 1, 1, 1, 2]);
    assert_eq!(found.waits.median, 59 * SECOND);
}

#[test]
fn a_plan_that_is_sent_back_is_no_denial() {
    let mut sums = Sums::new(100, 0);
    let mut plan = decided(asked(1), "ann", Effect::Deny, 5);
    plan.kind = Kind::Plan;
    plan.decided.as_mut().unwrap().is_sent_back = true;
    sums.add(plan);
    let told = sums.told(0, |_| String::new());
    let [by] = &told.decided[..] else {
        panic!("{told:?}");
    };
    assert_eq!((by.allowed, by.denied, by.sent_back), (0, 0, 1));
    assert_eq!(told.by_what[0].denied, 0);
}
