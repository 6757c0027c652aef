//! Whether the comparison sees everything: every line of every recording dropped or doubled; every kind of field removed,
//! changed, given another type. Each must be reported, on either side. No CLI runs.

use std::collections::BTreeSet;

use countersign_testkit::recording::Entry;
use serde_json::{Value, json};

use super::compare::compare;
use super::normal::{Line, Normaliser, generic, normal, parsed};
use super::order::settled;
use super::stage;
use super::table::{TABLE, lookup};

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
            let lines = normal(&entries);
            Log {
                scenario,
                entries,
                lines,
            }
        })
        .collect();
    let size = |log: &Log| log.entries.iter().map(|entry| entry.bytes.len()).sum();
    logs.sort_by_key(|log| -> usize { size(log) });
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

/// Every place of a line, as a JSON pointer and as the table writes it: also those that hold others.
fn places(value: &Value, pointer: &str, written: &str) -> Vec<(String, String)> {
    let below: Vec<(String, String, &Value)> = match value {
        Value::Object(fields) => (fields.iter())
            .map(|(key, value)| {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                (escaped, format!("{written}.{key}"), value)
            })
            .collect(),
        Value::Array(items) => (items.iter().enumerate())
            .map(|(index, item)| (index.to_string(), format!("{written}[{index}]"), item))
            .collect(),
        _ => Vec::new(),
    };
    let below = below.into_iter().flat_map(|(step, written, value)| {
        let pointer = format!("{pointer}/{step}");
        let deeper = places(value, &pointer, &written);
        std::iter::once((pointer, generic(&written))).chain(deeper)
    });
    below.collect()
}

/// The line with the value at a place changed, unless it is one that may change, removed, and of another type.
fn changes(line: &Value, pointer: &str, may_change: bool) -> Vec<Value> {
    let with = |new: Value| {
        let mut line = line.clone();
        *line.pointer_mut(pointer).unwrap() = new;
        line
    };
    let old = line.pointer(pointer).unwrap();
    let other = match old {
        Value::Null => Some(json!(true)),
        Value::Bool(value) => Some(json!(!value)),
        Value::Number(number) => Some(json!(number.as_f64().unwrap().abs() as u64 + 1)),
        // At its start: a recording may have cut the end.
        Value::String(text) => Some(json!(format!("x{text}"))),
        Value::Array(items) => items.split_last().map(|(_, rest)| json!(rest)),
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.insert("surprise".to_owned(), json!("new"));
            Some(fields.into())
        }
    };
    let mut changed: Vec<Value> = other
        .filter(|_| !may_change)
        .map(with)
        .into_iter()
        .collect();
    changed.push(with(match old {
        Value::String(_) => json!(7),
        _ => json!("seven"),
    }));
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let mut without = line.clone();
    if let Some(Value::Object(fields)) = without.pointer_mut(parent) {
        fields.remove(&key.replace("~1", "/").replace("~0", "~"));
        changed.push(without);
    }
    changed
}

/// Every kind of field (line and place in it) is changed once, in the shortest log that has it.
#[test]
fn every_change_of_a_field_is_seen_and_every_row_of_the_table_is_of_use() {
    let mut seen = BTreeSet::new();
    let mut used = vec![false; TABLE.len()];
    let mut swallowed = Vec::new();
    for log in logs() {
        let normaliser = Normaliser::of(&log.entries);
        for (entry, number) in log.entries.iter().zip(1..) {
            let Some(line) = parsed(entry) else { continue };
            let word = normaliser.line(number, entry).word;
            for (pointer, place) in places(&line, "", "") {
                if !seen.insert((word.clone(), place.clone())) {
                    continue;
                }
                for (row, used) in TABLE.iter().zip(&mut used) {
                    *used |= row.fits(&word, &place);
                }
                for line in changes(&line, &pointer, lookup(&word, &place).is_some()) {
                    let entry = Entry {
                        bytes: line.to_string().into_bytes(),
                        ..entry.clone()
                    };
                    let other = normaliser.line(number, &entry);
                    let lines = log.lines.iter();
                    let lines = lines.map(|line| if line.number == number { &other } else { line });
                    if log.swallows(lines) {
                        swallowed.push(format!("{}: {word} {pointer}", log.scenario));
                    }
                }
            }
        }
    }
    assert!(seen.len() > 500, "only {} fields tried", seen.len());
    assert!(swallowed.is_empty(), "not seen\n{}", swallowed.join("\n"));
    let rows = TABLE.iter().zip(used);
    let unused: Vec<_> = rows.filter(|(_, used)| !used).collect();
    assert!(unused.is_empty(), "these name no field: {unused:#?}");
}
