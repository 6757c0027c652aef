//! The checks find what they are there for: each is given a session in which one promise is broken.

use std::collections::BTreeMap;

use countersign_journal::Kind;
use serde_json::{Value, json};

use crate::checks::{Case, Extent, Heard, Promise, Tally};
use crate::evidence::{Entry, Journal, Witness};

const OUT: [&str; 4] = [
    r#"{"type":"system"}"#,
    r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_use_id":"t1","input":{"command":"echo m0 >> ran.log"}}}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]}}"#,
    r#"{"type":"result"}"#,
];

fn heard() -> [Value; 2] {
    [
        json!({"type":"user","uuid":"u1"}),
        json!({"type":"control_response","response":{"request_id":"q1","response":{"behavior":"allow"}}}),
    ]
}

/// A session in which everything is as promised.
fn sound() -> Case {
    let [message, answer] = heard();
    let lines = [
        (
            Kind::Keeper,
            r#"{"event":"open","generation":1}"#.to_owned(),
        ),
        (Kind::Note, r#"{"n":1}"#.to_owned()),
        (Kind::Host, message.to_string()),
        (Kind::Agent, OUT[0].to_owned()),
        (Kind::Agent, OUT[1].to_owned()),
        (Kind::Note, r#"{"answer":"q1"}"#.to_owned()),
        (Kind::Host, answer.to_string()),
        (Kind::Agent, OUT[2].to_owned()),
        (Kind::Agent, OUT[3].to_owned()),
    ];
    let entries = lines.into_iter().zip(1..);
    let entries = entries.map(|((kind, line), seq)| Entry {
        generation: 1,
        seq,
        at: 100 + seq,
        kind,
        payload: line.into_bytes(),
    });
    let witness = Witness {
        out: OUT.concat_lines(),
        heard: format!("{message}\n{answer}\n").into_bytes(),
        starts: 1,
    };
    Case {
        journal: Journal {
            entries: entries.collect(),
            ..Journal::default()
        },
        witnesses: BTreeMap::from([(1, witness)]),
        ran: vec!["m0".to_owned()],
        hosts: vec![Heard {
            generation: 1,
            after: 1,
            lines: OUT[..1].concat_lines(),
        }],
    }
}

trait ConcatLines {
    fn concat_lines(&self) -> Vec<u8>;
}

impl ConcatLines for [&str] {
    fn concat_lines(&self) -> Vec<u8> {
        let lines = self.iter().map(|line| format!("{line}\n"));
        lines.collect::<String>().into_bytes()
    }
}

/// Which promises are broken once this was done to a sound session.
fn broken(extent: Extent, harm: impl FnOnce(&mut Case)) -> Vec<Promise> {
    let mut case = sound();
    harm(&mut case);
    let wrong = case.violations(extent).into_iter();
    wrong.map(|violation| violation.promise).collect()
}

fn witness(case: &mut Case) -> &mut Witness {
    case.witnesses.get_mut(&1).unwrap()
}

#[test]
fn a_sound_session_has_no_violation() {
    assert_eq!(sound().violations(Extent::Whole), []);
    assert_eq!(sound().grants(), []);
    let tally = Tally {
        asked: 1,
        allowed: 1,
        unknown: 0,
    };
    assert_eq!(sound().tally(), tally);
}

#[test]
fn a_frame_that_is_lost_doubled_or_changed_is_found() {
    let lost = broken(Extent::Begun, |case| {
        case.journal.entries.remove(3);
    });
    assert!(lost.contains(&Promise::Frames), "{lost:?}");
    let doubled = broken(Extent::Begun, |case| {
        let twice = case.journal.entries[3].clone();
        case.journal.entries.insert(3, twice);
    });
    assert!(doubled.contains(&Promise::Frames), "{doubled:?}");
    let changed = broken(Extent::Begun, |case| {
        case.journal.entries[3].payload[0] = b'[';
    });
    assert!(changed.contains(&Promise::Frames), "{changed:?}");
}

#[test]
fn a_frame_that_is_not_there_yet_is_missed_only_where_all_must_be() {
    let cut = |case: &mut Case| drop(case.journal.entries.pop());
    assert_eq!(broken(Extent::Whole, cut), [Promise::Frames]);
    assert_eq!(broken(Extent::Begun, cut), []);
}

#[test]
fn a_frame_that_a_host_was_not_given_or_was_given_twice_is_found() {
    let given = |lines: &[&str]| {
        let lines = lines.concat_lines();
        broken(Extent::Whole, |case| case.hosts[0].lines = lines)
    };
    assert_eq!(given(&[OUT[0], OUT[2], OUT[3]]), []);
    assert_eq!(given(&[OUT[2], OUT[3]]), [Promise::Heard]);
    assert_eq!(given(&[OUT[0], OUT[0], OUT[2]]), [Promise::Heard]);
    let killed = |case: &mut Case| case.hosts[0].lines.truncate(9);
    assert_eq!(broken(Extent::Whole, killed), []);
}

#[test]
fn a_line_at_stdin_that_is_not_journalled_is_found() {
    let harm = |case: &mut Case| witness(case).heard.extend_from_slice(b"{\"type\":\"x\"}\n");
    assert_eq!(broken(Extent::Begun, harm), [Promise::HostLines]);
    let unwritten = |case: &mut Case| witness(case).heard.clear();
    let found = broken(Extent::Whole, unwritten);
    assert!(found.contains(&Promise::HostLines), "{found:?}");
}

#[test]
fn an_answer_or_a_message_that_came_twice_is_found() {
    for index in [0, 1] {
        let found = broken(Extent::Begun, |case| {
            let line = format!("{}\n", heard()[index]);
            witness(case).heard.extend_from_slice(line.as_bytes());
        });
        assert!(found.contains(&Promise::Once), "{found:?}");
    }
}

#[test]
fn a_tool_that_ran_twice_or_not_at_all_or_unasked_is_found() {
    let twice = |case: &mut Case| case.ran.push("m0".to_owned());
    assert_eq!(broken(Extent::Whole, twice), [Promise::Tools]);
    let never = |case: &mut Case| case.ran.clear();
    assert_eq!(broken(Extent::Whole, never), [Promise::Tools]);
    let unasked = |case: &mut Case| case.ran.push("m9".to_owned());
    assert_eq!(broken(Extent::Whole, unasked), [Promise::Tools]);
}

#[test]
fn where_the_wire_is_silent_a_tool_may_have_run_or_not() {
    for ran in [vec![], vec!["m0".to_owned()]] {
        let silent = |case: &mut Case| {
            case.journal.entries.truncate(7);
            case.ran = ran;
        };
        assert_eq!(broken(Extent::Begun, silent), []);
    }
}

#[test]
fn a_question_without_an_answer_is_found() {
    let found = broken(Extent::Whole, |case| {
        let message = format!("{}\n", heard()[0]);
        witness(case).heard = message.into_bytes();
    });
    assert!(found.contains(&Promise::Answers), "{found:?}");
}

#[test]
fn gaps_falling_times_and_notes_apart_from_their_lines_are_found() {
    let gap = |case: &mut Case| case.journal.entries[8].seq = 11;
    assert_eq!(broken(Extent::Whole, gap), [Promise::Order]);
    let falls = |case: &mut Case| case.journal.entries[8].at = 1;
    assert_eq!(broken(Extent::Whole, falls), [Promise::Order]);
    let apart = broken(Extent::Whole, |case| case.journal.entries.swap(1, 0));
    assert!(apart.contains(&Promise::Order), "{apart:?}");
    let skipped = |case: &mut Case| case.journal.entries[1].payload = br#"{"n":2}"#.to_vec();
    assert_eq!(broken(Extent::Whole, skipped), [Promise::Order]);
}

#[test]
fn a_second_agent_of_one_generation_is_found() {
    let harm = |case: &mut Case| witness(case).starts = 2;
    assert_eq!(broken(Extent::Whole, harm), [Promise::OneAgent]);
}

#[test]
fn a_grant_that_is_not_on_the_disk_is_found() {
    let mut case = sound();
    case.journal.entries.truncate(6);
    let wrong = case.grants();
    assert_eq!(wrong.len(), 1);
    assert_eq!(wrong[0].promise, Promise::Grants);
}
