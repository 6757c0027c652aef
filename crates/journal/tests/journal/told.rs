//! Where a fault is told: at the record it begins with, so that what stands before it can be kept and signed.

use std::fs;

use countersign_journal::{Cursor, Fault, What};

use crate::verify::{Session, seq, signable};

/// Counts the records from this line on by so many more.
fn count_on(lines: &mut [String], more: u64) {
    for line in lines {
        let (number, rest) = line.split_once(' ').unwrap();
        *line = format!("{} {rest}", number.parse::<u64>().unwrap() + more);
    }
}

#[test]
fn records_that_were_added_are_named_when_the_others_were_renumbered() {
    // Behind the header, and behind a head; one, and two.
    for (after_head, more) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        let session = Session::new();
        let mut added = 0;
        session.change(1, |lines| {
            let is_head = |line: &String| line.contains("\"event\":\"head\"");
            let begin = match after_head {
                true => lines.iter().position(is_head).unwrap(),
                false => 0,
            };
            let place = begin + 4;
            added = seq(&lines[place]);
            let another = lines[place].replacen("line", "lime", 1);
            count_on(&mut lines[place..], more);
            for more in (0..more).rev() {
                let mut line = [another.clone()];
                count_on(&mut line, more);
                lines.splice(place..place, line);
            }
        });
        // Every record behind it is another line now, so it is the place that tells.
        let fault = session.fault();
        assert_eq!(fault.cursor, Cursor::new(1, added), "{after_head} {more}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_told_behind_the_last_record_before_it() {
    for broken in ["", "nonsense"] {
        let session = Session::new();
        let whole = signable(&session);
        let mut first = 0;
        session.change(2, |lines| {
            first = seq(&lines[1]);
            lines[0] = broken.to_owned();
        });
        let cursor = Cursor::new(1, first);
        let what = What::Header { segment: 2 };
        assert_eq!(session.fault(), Fault { cursor, what });
        // The head right before it is as it was written.
        let sound = whole.iter().filter(|at| **at < cursor).copied();
        let sound: Vec<Cursor> = sound.collect();
        assert_eq!(sound.last(), Some(&Cursor::new(1, first - 1)));
        assert_eq!(signable(&session), sound);
    }
}

#[test]
fn what_stands_before_a_torn_end_is_beyond_doubt() {
    let session = Session::new();
    let whole = signable(&session);
    let path = session.segment(1);
    let mut text = fs::read(&path).unwrap();
    let last = seq(text_of(&text).lines().last().unwrap());
    text.extend_from_slice(b"99 1 a half");
    fs::write(&path, text).unwrap();
    let cursor = Cursor::new(1, last);
    let what = What::TornTail;
    assert_eq!(session.fault(), Fault { cursor, what });
    let sound: Vec<Cursor> = whole.into_iter().filter(|at| *at <= cursor).collect();
    assert_eq!(sound.last(), Some(&cursor));
    assert_eq!(signable(&session), sound);
}

fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
