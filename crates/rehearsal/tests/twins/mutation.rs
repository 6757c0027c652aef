//! Whether the comparison sees everything: every line of every recording dropped or doubled; every kind of field removed,
//! changed, given another type. Each must be reported, on either side. No CLI runs.

use std::collections::BTreeSet;

use countersign_testkit::json::Json;
use countersign_testkit::recording::Entry;

use super::compare::compare;
use super::fields::{self, Field};
use super::normal::{Line, Normaliser, normal};
use super::order::settled;
use super::stage;
use super::table::{lookup, table};

/// A log, and what the comparison makes of a changed one.
struct Log {
    scenario: String,
    entries: Vec<Entry>,
    lines: Vec<Line>,
}

/// All recordings, the shortest first.
fn logs() -> Vec<Log> {
    let names = super::names().into_iter();
    let mut logs: Vec<Log> = names
        .map(|scenario| {
            let entries = stage::recording(&scenario).entries;
            Log {
                lines: normal(&entries),
                scenario,
                entries,
            }
        })
        .collect();
    logs.sort_by_key(|log| {
        log.entries
            .iter()
            .map(|entry| entry.bytes.len())
            .sum::<usize>()
    });
    logs
}

impl Log {
    /// Whether neither side's change is seen.
    fn swallows<'a>(&'a self, changed: impl IntoIterator<Item = &'a Line>) -> bool {
        let (own, changed) = (settled(&self.lines), settled(changed));
        compare(&own, &changed).is_empty() || compare(&changed, &own).is_empty()
    }
}

#[test]
fn a_log_agrees_with_itself_and_sees_a_line_that_is_missing_or_stands_twice() {
    let mut tried = 0;
    for log in logs() {
        let again = normal(&log.entries);
        assert_eq!(compare(&settled(&log.lines), &settled(&again)), []);
        for place in 0..log.lines.len() {
            for times in [0, 2] {
                let mut changed = Vec::from_iter(&log.lines);
                let line = changed[place];
                changed.splice(place..=place, std::iter::repeat_n(line, times));
                let name = &log.scenario;
                assert!(
                    !log.swallows(changed),
                    "{name}: line {place}, {times} times"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "only {tried} changes tried");
}

/// A change of a value that is compared as it is; `None` for others.
fn changed(field: &Field) -> Option<Json> {
    if lookup(&field.word, &field.path).is_some() {
        return None;
    }
    Some(field.with(match &field.value {
        Json::Null => Json::Bool(true),
        Json::Bool(value) => Json::Bool(!value),
        Json::Number(number) => Json::from(number.as_f64().unwrap().abs() as u64 + 1),
        // At its start: a recording may have cut the end.
        Json::String(text) => Json::String(format!("x{text}")),
        Json::Array(items) => Json::Array(items.split_last()?.1.to_vec()),
        Json::Object(entries) => {
            let new = ("surprise".to_owned(), Json::from("new"));
            Json::Object(entries.iter().cloned().chain([new]).collect())
        }
    }))
}

fn of_another_type(field: &Field) -> Json {
    field.with(match &field.value {
        Json::String(_) => Json::from(7),
        _ => Json::from("seven"),
    })
}

/// Every kind of field (line and place in it) is changed once, in the shortest log that has it.
#[test]
fn every_change_of_a_field_is_seen_and_every_row_of_the_table_is_of_use() {
    let mut seen = BTreeSet::new();
    let mut used = vec![false; table().len()];
    let mut swallowed = Vec::new();
    for log in logs() {
        let normaliser = Normaliser::of(&log.entries);
        for field in fields::of(&log.entries) {
            if !seen.insert((field.word.clone(), field.path.generic())) {
                continue;
            }
            for (row, used) in table().iter().zip(&mut used) {
                // A line that is no JSON has one field.
                *used |= row.line.starts_with('(') || row.fits(&field.word, &field.path);
            }
            let changes = [
                changed(&field),
                field.without(),
                Some(of_another_type(&field)),
            ];
            for line in changes.into_iter().flatten() {
                let entry = Entry {
                    bytes: line.to_string().into_bytes(),
                    ..log.entries[field.entry].clone()
                };
                let number = field.entry + 1;
                let other = normaliser.line(number, &entry);
                let lines = log.lines.iter();
                let lines = lines.map(|line| if line.number == number { &other } else { line });
                if log.swallows(lines) {
                    swallowed.push(format!("{}: {} {}", log.scenario, field.word, field.path));
                }
            }
        }
    }
    assert!(seen.len() > 500, "only {} fields tried", seen.len());
    assert!(swallowed.is_empty(), "not seen\n{}", swallowed.join("\n"));
    let rows = table().iter().zip(used);
    let unused: Vec<_> = rows.filter(|(_, used)| !used).collect();
    assert!(unused.is_empty(), "these name no field: {unused:#?}");
}
