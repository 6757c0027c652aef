//! Whether the comparison sees everything: every line of every recording dropped, doubled, swapped with its neighbour; every
//! kind of field removed, added, changed, given another type. Each must be reported, on either side, with the accepted
//! differences applied. No CLI runs.

use std::collections::{BTreeMap, BTreeSet};

use countersign_testkit::json::Json;
use countersign_testkit::recording::{Dir, Entry};

use super::accepted::{ACCEPTED, RACES, sort};
use super::compare::compare;
use super::fields::{self, Field};
use super::normal::{Leaf, Line, Normaliser, normal};
use super::order::settled;
use super::path::fits;
use super::stage::{self, fixed_places};
use super::table::{How, lookup};

/// A log, and what the comparison makes of a changed one.
struct Log {
    scenario: String,
    entries: Vec<Entry>,
    lines: Vec<Line>,
}

impl Log {
    fn all() -> Vec<Log> {
        let names = stage::scenarios();
        let names = names.iter().map(|file| file.file_stem().unwrap());
        names.map(|name| Log::of(&name.to_string_lossy())).collect()
    }

    fn of(name: &str) -> Log {
        let entries = stage::recording(name).entries;
        Log {
            scenario: name.to_owned(),
            lines: normal(&entries, &fixed_places()),
            entries,
        }
    }

    /// Whether neither side's change is seen.
    fn swallows(&self, changed: &[&Line]) -> bool {
        let own = settled(&self.lines);
        let changed = settled(changed.iter().copied());
        let unseen = |left: &[&Line], right: &[&Line]| {
            let sorted = sort(ACCEPTED, &self.scenario, compare(left, right));
            sorted.open.is_empty()
        };
        unseen(&own, &changed) || unseen(&changed, &own)
    }

    /// The same for other entries.
    fn swallows_entries(&self, changed: &[Entry]) -> bool {
        let lines = normal(changed, &fixed_places());
        self.swallows(&Vec::from_iter(&lines))
    }

    /// The places of lines, as opposed to starts and ends.
    fn places(&self) -> impl Iterator<Item = usize> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(place, entry)| is_line(entry).then_some(place))
    }
}

fn is_line(entry: &Entry) -> bool {
    matches!(entry.dir, Dir::In | Dir::Out | Dir::Err)
}

#[test]
fn a_log_agrees_with_itself() {
    for log in Log::all() {
        let lines = normal(&log.entries, &fixed_places());
        let (left, right) = (settled(&log.lines), settled(&lines));
        assert_eq!(compare(&left, &right), [], "{}", log.scenario);
    }
}

#[test]
fn a_line_that_is_missing_or_stands_twice_is_seen() {
    let mut tried = 0;
    for log in Log::all() {
        for place in log.places() {
            let mut dropped = log.entries.clone();
            let line = dropped.remove(place);
            assert!(
                !log.swallows_entries(&dropped),
                "{} without line {place}",
                log.scenario
            );
            let mut doubled = log.entries.clone();
            doubled.insert(place, line);
            assert!(
                !log.swallows_entries(&doubled),
                "{} with line {place} twice",
                log.scenario
            );
            tried += 2;
        }
    }
    assert!(tried > 1000, "only {tried} changes tried");
}

#[test]
fn two_lines_in_the_wrong_order_are_seen() {
    let mut tried = 0;
    for log in Log::all() {
        for place in log.places() {
            let Some(next) = log.entries.get(place + 1).filter(|next| is_line(next)) else {
                continue;
            };
            let on_stderr = [next.dir, log.entries[place].dir].contains(&Dir::Err);
            if on_stderr || may_change_places(&log, place) {
                continue;
            }
            let mut swapped = log.entries.clone();
            swapped.swap(place, place + 1);
            assert!(
                !log.swallows_entries(&swapped),
                "{}, lines {place} and the next",
                log.scenario
            );
            tried += 1;
        }
    }
    assert!(tried > 500, "only {tried} changes tried");
}

/// Whether two neighbours differ in nothing that counts, or one of them is known to race.
fn may_change_places(log: &Log, place: usize) -> bool {
    let line = |number: usize| log.lines.iter().find(|line| line.number == number);
    let (Some(line), Some(next)) = (line(place + 1), line(place + 2)) else {
        return false;
    };
    let races = |line: &Line| RACES.iter().any(|race| fits(race.word, &line.word));
    let alike = line.word == next.word && compare(&[line], &[next]).is_empty();
    alike || races(line) || races(next)
}

/// Every kind of field (line and place in it) once, in the shortest log that has it.
fn kinds() -> Vec<(Log, Vec<Field>)> {
    let mut logs = Log::all();
    let size = |log: &Log| {
        log.entries
            .iter()
            .map(|entry| entry.bytes.len())
            .sum::<usize>()
    };
    logs.sort_by_key(size);
    let mut seen = BTreeSet::new();
    let mut kinds = Vec::new();
    for log in logs {
        let mut fields = fields::of(&log.entries);
        fields.retain(|field| seen.insert((field.word.clone(), field.path.generic())));
        kinds.push((log, fields));
    }
    kinds
}

/// Changes one kind of field after the other. `change` says what becomes of a value, or that it is none of its business.
fn every_change_is_seen(what: &str, change: impl Fn(&Log, &Field) -> Option<Json>) {
    let mut tried = 0;
    let mut swallowed = Vec::new();
    for (log, fields) in kinds() {
        let normaliser = Normaliser::of(&log.entries, &fixed_places());
        for field in fields {
            let Some(line) = change(&log, &field) else {
                continue;
            };
            let entry = Entry {
                bytes: line.to_string().into_bytes(),
                ..log.entries[field.entry].clone()
            };
            let number = field.entry + 1;
            let other = normaliser.line(number, &entry);
            let lines = log.lines.iter();
            let changed = lines.map(|line| if line.number == number { &other } else { line });
            tried += 1;
            if log.swallows(&Vec::from_iter(changed)) {
                swallowed.push(format!("{}: {} {}", log.scenario, field.word, field.path));
            }
        }
    }
    assert!(tried > 60, "only {tried} changes tried");
    assert!(
        swallowed.is_empty(),
        "{what}: {} of {tried} not seen\n{}",
        swallowed.len(),
        swallowed.join("\n")
    );
}

#[test]
fn a_field_that_is_missing_is_seen() {
    every_change_is_seen("missing", |_, field| field.without());
}

#[test]
fn a_field_that_is_new_is_seen() {
    every_change_is_seen("new", |_, field| {
        let Json::Object(mut entries) = field.value.clone() else {
            return None;
        };
        entries.push(("surprise".to_owned(), Json::from("new")));
        Some(field.with(Json::Object(entries)))
    });
}

#[test]
fn an_item_that_is_missing_from_a_list_is_seen() {
    every_change_is_seen("item", |_, field| {
        let Json::Array(items) = &field.value else {
            return None;
        };
        let (_, fewer) = items.split_last()?;
        Some(field.with(Json::Array(fewer.to_vec())))
    });
}

#[test]
fn a_value_that_the_table_does_not_name_is_seen_when_it_changes() {
    every_change_is_seen("changed", |_, field| {
        if lookup(&field.word, &field.path).is_some() {
            return None;
        }
        Some(field.with(match &field.value {
            Json::Null => Json::Bool(true),
            Json::Bool(value) => Json::Bool(!value),
            Json::Number(number) => Json::from(number.as_f64().unwrap().abs() as u64 + 1),
            Json::String(text) => Json::String(format!("{text}x")),
            _ => return None,
        }))
    });
}

#[test]
fn a_value_of_another_type_is_seen_also_where_the_table_names_the_field() {
    every_change_is_seen("type", |_, field| {
        Some(field.with(match &field.value {
            Json::String(_) => Json::from(7),
            _ => Json::from("seven"),
        }))
    });
}

#[test]
fn the_rest_of_a_place_and_the_sum_of_a_cost_are_seen_when_they_change() {
    every_change_is_seen("rest", |_, field| {
        let how = lookup(&field.word, &field.path);
        Some(field.with(match (how, &field.value) {
            // At its start: a recording may have cut the end.
            (Some(How::Place), Json::String(text)) => Json::String(format!("x{text}")),
            (Some(How::Cost), Json::Number(cost)) => {
                Json::Number(serde_json::Number::from_f64(cost.as_f64().unwrap() + 0.001).unwrap())
            }
            (Some(How::Prose | How::Report), Json::String(text)) if !text.is_empty() => {
                Json::from("")
            }
            _ => return None,
        }))
    });
}

#[test]
fn an_id_that_no_longer_is_the_one_used_elsewhere_is_seen() {
    every_change_is_seen("id", |log, field| {
        let how = lookup(&field.word, &field.path);
        let (Some(How::Id | How::LetteredId), Json::String(id)) = (how, &field.value) else {
            return None;
        };
        let uses = uses(&log.lines);
        if uses.get(id).copied().unwrap_or_default() < 2 {
            return None;
        }
        // Another one of the same form: its last letter goes up by one.
        let last = id.chars().next_back()?;
        let other = char::from_digit((last.to_digit(36)? + 7) % 10, 10)?;
        let stranger = format!("{}{other}", &id[..id.len() - 1]);
        Some(field.with(Json::String(stranger)))
    });
}

/// How often each id is used.
fn uses(lines: &[Line]) -> BTreeMap<String, usize> {
    let mut uses = BTreeMap::new();
    for line in lines {
        line.node.each_leaf(&mut |leaf| {
            if let Leaf::Id { id, .. } = leaf {
                *uses.entry(id.clone()).or_default() += 1;
            }
        });
    }
    uses
}
