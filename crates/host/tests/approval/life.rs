//! The life of an approval: every state with every event.

use countersign_host::approval::{Event, Refusal, Stage, step};
use countersign_host::control::approval::{Effect, Kind, Life, Outcome, Withdrawal};

const KINDS: [Kind; 5] = [
    Kind::Tool,
    Kind::Plan,
    Kind::Questions,
    Kind::Elicitation,
    Kind::Dialog,
];

const EVENTS: [Event; 11] = [
    Event::Decided,
    Event::Written,
    Event::ToolResult { is_error: false },
    Event::ToolResult { is_error: true },
    Event::Cancelled,
    Event::Interrupted,
    Event::AgentGone,
    Event::AgentBack,
    Event::NotOpen,
    Event::CarriedOut,
    Event::AskerEnded,
];

const RAN: Life = settled(Outcome::Ran);
const FAILED: Life = settled(Outcome::Failed);
const REFUSED: Life = settled(Outcome::Refused);
const UNUSED: Life = settled(Outcome::Unused);
const UNKNOWN: Life = settled(Outcome::Unknown);
const CANCELLED: Life = withdrawn(Withdrawal::Cancelled);
const INTERRUPTED: Life = withdrawn(Withdrawal::Interrupted);
const GONE: Life = withdrawn(Withdrawal::AgentGone);

const fn settled(outcome: Outcome) -> Life {
    Life::Settled { outcome }
}

const fn withdrawn(why: Withdrawal) -> Life {
    Life::Withdrawn { why }
}

/// What a row says: where it goes, or that it is refused because somebody was first.
type Row = [Option<Life>; 11];

/// Rows in the order of [`EVENTS`].
fn check(kind: Kind, answer: Option<Effect>, from: &Life, row: Row) {
    for (event, expected) in EVENTS.into_iter().zip(row) {
        let stage = Stage { kind, answer };
        let found = step(stage, from, event);
        let expected = expected.ok_or(Refusal::DecidedBefore);
        assert_eq!(found, expected, "{kind:?} {answer:?} {from:?} {event:?}");
    }
}

#[test]
fn an_open_question_about_a_call() {
    for kind in [Kind::Tool, Kind::Questions] {
        for answer in [None, Some(Effect::Allow), Some(Effect::Deny)] {
            let row = [
                Some(Life::Decided),
                Some(Life::Written),
                Some(RAN),
                Some(CANCELLED),
                Some(CANCELLED),
                Some(INTERRUPTED),
                Some(GONE),
                Some(GONE),
                Some(CANCELLED),
                Some(Life::Open),
                Some(CANCELLED),
            ];
            check(kind, answer, &Life::Open, row);
        }
    }
}

#[test]
fn an_open_plan_outlives_its_agent_until_another_takes_over() {
    let row = [
        Some(Life::Decided),
        Some(Life::Written),
        Some(RAN),
        Some(CANCELLED),
        Some(CANCELLED),
        Some(INTERRUPTED),
        Some(Life::Open),
        Some(GONE),
        Some(CANCELLED),
        Some(Life::Open),
        Some(CANCELLED),
    ];
    check(Kind::Plan, None, &Life::Open, row);
}

#[test]
fn an_open_form_is_over_when_its_answer_has_gone_out() {
    for kind in [Kind::Elicitation, Kind::Dialog] {
        for (answer, outcome) in [(Effect::Allow, RAN), (Effect::Deny, REFUSED)] {
            let row = [
                Some(Life::Decided),
                Some(outcome),
                Some(RAN),
                Some(CANCELLED),
                Some(CANCELLED),
                Some(INTERRUPTED),
                Some(GONE),
                Some(GONE),
                Some(CANCELLED),
                Some(Life::Open),
                Some(CANCELLED),
            ];
            check(kind, Some(answer), &Life::Open, row);
        }
    }
}

#[test]
fn a_decision_that_is_not_yet_sent() {
    for kind in [Kind::Tool, Kind::Questions] {
        for (answer, carried_out) in [(Effect::Allow, RAN), (Effect::Deny, REFUSED)] {
            let row = [
                None,
                Some(Life::Written),
                Some(RAN),
                Some(CANCELLED),
                Some(CANCELLED),
                Some(INTERRUPTED),
                Some(GONE),
                Some(GONE),
                Some(CANCELLED),
                Some(carried_out),
                Some(CANCELLED),
            ];
            check(kind, Some(answer), &Life::Decided, row);
        }
    }
}

#[test]
fn a_decided_form_is_over_when_its_answer_has_gone_out() {
    for kind in [Kind::Elicitation, Kind::Dialog] {
        for (answer, outcome) in [(Effect::Allow, RAN), (Effect::Deny, REFUSED)] {
            let row = [
                None,
                Some(outcome.clone()),
                Some(RAN),
                Some(CANCELLED),
                Some(CANCELLED),
                Some(INTERRUPTED),
                Some(GONE),
                Some(GONE),
                Some(CANCELLED),
                Some(outcome),
                Some(CANCELLED),
            ];
            check(kind, Some(answer), &Life::Decided, row);
        }
    }
}

#[test]
fn a_decided_plan_is_carried_out_whatever_becomes_of_the_agent() {
    for (answer, carried_out) in [(Effect::Allow, RAN), (Effect::Deny, REFUSED)] {
        let row = [
            None,
            Some(Life::Written),
            Some(RAN),
            Some(CANCELLED),
            Some(CANCELLED),
            Some(INTERRUPTED),
            Some(Life::Decided),
            Some(Life::Decided),
            Some(CANCELLED),
            Some(carried_out),
            Some(CANCELLED),
        ];
        check(Kind::Plan, Some(answer), &Life::Decided, row);
    }
}

#[test]
fn an_answer_that_was_written_is_settled_by_evidence() {
    let w = || Some(Life::Written);
    for kind in KINDS {
        let allowed = [
            None,
            w(),
            Some(RAN),
            Some(FAILED),
            Some(UNUSED),
            w(),
            Some(UNKNOWN),
            Some(UNKNOWN),
            w(),
            Some(RAN),
            Some(UNKNOWN),
        ];
        check(kind, Some(Effect::Allow), &Life::Written, allowed.clone());
        // Who answered is not known: the careful reading.
        check(kind, None, &Life::Written, allowed);
        let denied = [
            None,
            w(),
            Some(RAN),
            Some(REFUSED),
            Some(UNUSED),
            w(),
            Some(REFUSED),
            Some(REFUSED),
            w(),
            Some(REFUSED),
            Some(REFUSED),
        ];
        check(kind, Some(Effect::Deny), &Life::Written, denied);
    }
}

#[test]
fn what_has_ended_stays_as_it_is() {
    let ends = [
        RAN,
        FAILED,
        REFUSED,
        UNUSED,
        UNKNOWN,
        CANCELLED,
        INTERRUPTED,
        GONE,
    ];
    for kind in KINDS {
        for answer in [None, Some(Effect::Allow), Some(Effect::Deny)] {
            for end in &ends {
                for event in EVENTS.into_iter().filter(|event| *event != Event::Decided) {
                    let stage = Stage { kind, answer };
                    assert_eq!(step(stage, end, event).as_ref(), Ok(end), "{event:?}");
                }
                let refused = step(Stage { kind, answer }, end, Event::Decided).unwrap_err();
                let expected = match end {
                    Life::Withdrawn { why } => Refusal::Withdrawn(*why),
                    _ => Refusal::DecidedBefore,
                };
                assert_eq!(refused, expected);
                assert!(!refused.to_string().is_empty());
            }
        }
    }
}

#[test]
fn the_same_event_twice_is_the_same_as_once() {
    let lives = [Life::Open, Life::Decided, Life::Written, RAN, UNKNOWN, GONE];
    for kind in KINDS {
        for answer in [None, Some(Effect::Allow), Some(Effect::Deny)] {
            for life in &lives {
                for event in EVENTS.into_iter().filter(|event| *event != Event::Decided) {
                    let stage = Stage { kind, answer };
                    let once = step(stage, life, event).unwrap();
                    assert_eq!(
                        step(stage, &once, event),
                        Ok(once.clone()),
                        "{life:?} {event:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_way_through_a_life_ends_when_the_agent_is_gone_and_another_has_come() {
    for kind in KINDS {
        for answer in [Some(Effect::Allow), Some(Effect::Deny)] {
            for first in EVENTS {
                for second in EVENTS {
                    let stage = Stage { kind, answer };
                    let next = |life: Life, event| step(stage, &life, event).unwrap_or(life);
                    let life = next(next(Life::Open, first), second);
                    let life = next(next(life, Event::AgentGone), Event::AgentBack);
                    let life = match (kind, &life) {
                        (Kind::Plan, Life::Decided) => next(life, Event::CarriedOut),
                        _ => life,
                    };
                    let is_over = matches!(life, Life::Settled { .. } | Life::Withdrawn { .. });
                    assert!(is_over, "{kind:?} {first:?} {second:?} {life:?}");
                }
            }
        }
    }
}
