//! Where a fault is told: at the record it begins with, so that what stands before it can be kept and signed.

use countersign_journal::Cursor;

use crate::verify::{Session, seq};

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
