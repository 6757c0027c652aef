//! What the table is and does: nothing outside of it is touched, and no row of it is without use.

use countersign_testkit::json::Json;
use countersign_testkit::recording::Entry;
use countersign_testkit::recording::normalise::Places;

use super::fields;
use super::normal::{Leaf, Normaliser};
use super::path::{Pattern, fits};
use super::stage;
use super::table::{Row, TABLE, lookup};

/// Folders as a run has them.
fn places() -> Places {
    Places {
        project: "/var/t/countersign-Ab1/project".into(),
        home: "/var/t/countersign-Ab1/home".into(),
        tmp: "/var/t/countersign-Ab1/tmp".into(),
        cli: "/var/t/cli".into(),
        key: "not-a-key".into(),
    }
}

/// The shortest first: a field is tried where it costs least.
fn recordings() -> Vec<(String, Vec<Entry>)> {
    let files = stage::scenarios();
    let names = files.iter().map(|file| file.file_stem().unwrap());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let recordings = names.map(|name| (name.clone(), stage::recording(&name).entries));
    let mut recordings: Vec<(String, Vec<Entry>)> = recordings.collect();
    let size = |entries: &[Entry]| entries.iter().map(|entry| entry.bytes.len()).sum::<usize>();
    recordings.sort_by_key(|(_, entries)| size(entries));
    recordings
}

/// Everything that a normaliser could be tempted to touch.
fn temptations() -> Vec<Json> {
    let texts = [
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "toolu_00000000000000010002",
        "2026-01-02T03:04:05.678Z",
        "/var/t/countersign-Ab1/project/a.txt",
        "/var/t/countersign-Ab1/home/.claude/plans/merry-blue-fox.md",
        "http://127.0.0.1:34567/v1",
        "2026-01-02-030405-good-morning.txt",
    ];
    let mut values: Vec<Json> = texts.map(Json::from).into();
    values.push(Json::String("many words ".repeat(30)));
    values.push(Json::from(1_767_225_600_123));
    values.push(Json::Number(
        serde_json::Number::from_f64(0.001_635_000_000_000_000_2).unwrap(),
    ));
    values
}

#[test]
fn the_normaliser_touches_no_field_outside_of_the_table() {
    let mut seen = std::collections::BTreeSet::new();
    let temptations = temptations();
    for (scenario, entries) in recordings() {
        let normaliser = Normaliser::of(&entries, &places());
        for field in fields::of(&entries) {
            let kind = (field.word.clone(), field.path.generic());
            let is_leaf = !matches!(field.value, Json::Object(_) | Json::Array(_));
            // These make the word of the line.
            let names_it = [
                "type",
                "subtype",
                "request_id",
                "tool_name",
                "method",
                "hook_event_name",
            ]
            .contains(&field.path.last_key().unwrap());
            if !is_leaf
                || names_it
                || lookup(&field.word, &field.path).is_some()
                || !seen.insert(kind)
            {
                continue;
            }
            for value in &temptations {
                let mut entry = entries[field.entry].clone();
                entry.bytes = field.with(value.clone()).to_string().into_bytes();
                let line = normaliser.line(1, &entry);
                let leaf = line.node.at(&field.path.0);
                assert_eq!(
                    leaf,
                    Some(&Leaf::Plain(value.clone())),
                    "{scenario}: {} {}",
                    field.word,
                    field.path
                );
            }
        }
    }
    assert!(seen.len() > 500, "only {} fields tried", seen.len());
}

#[test]
fn every_row_of_the_table_is_of_use() {
    let mut fields = Vec::new();
    for (_, entries) in recordings() {
        let of_log = fields::of(&entries).into_iter();
        fields.extend(of_log.map(|field| (field.word, field.path)));
    }
    let is_used = |row: &&Row| {
        let pattern = Pattern::parse(row.path);
        let mut fields = fields.iter();
        // A line that is no JSON has one field.
        row.line.starts_with('(')
            || fields.any(|(word, path)| fits(row.line, word) && pattern.matches(path))
    };
    let unused: Vec<&Row> = TABLE.iter().filter(|row| !is_used(row)).collect();
    assert!(
        unused.is_empty(),
        "these name no field of any recording: {unused:#?}"
    );
}
