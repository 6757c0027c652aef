//! What holds for every session, recorded or made up.
//!
//! Owns the generator of sessions: lines of all kinds with few ids, so that they meet, some of them broken, some of them
//! in an order no CLI would use. Invariants held: a checkpoint changes nothing, whatever record it stands behind; an entry
//! that is final is never told again; nothing grows beyond its bound; no line ends the fold.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod made;
mod support;

use std::collections::BTreeSet;

use countersign_transcript::{Change, Changes, Checkpoint, Entries, Fold, Life, bounds};
use proptest::prelude::*;
use support::{Owned, recordings};

/// The fold, stored and taken up again.
fn stored(fold: &Fold) -> Fold {
    let json = serde_json::to_string(&fold.checkpoint()).unwrap();
    let checkpoint: Checkpoint = serde_json::from_str(&json).unwrap();
    assert_eq!(checkpoint.cursor(), fold.cursor());
    let again = Fold::resume(checkpoint).unwrap();
    assert_eq!(serde_json::to_string(&again.checkpoint()).unwrap(), json);
    again
}

fn steps(mut fold: Fold, records: &[Owned]) -> (Vec<Changes>, Fold) {
    let changes = records
        .iter()
        .map(|owned| fold.step(owned.generation, &owned.record()))
        .collect();
    (changes, fold)
}

fn json(fold: &Fold) -> String {
    serde_json::to_string(&fold.checkpoint()).unwrap()
}

/// Stored behind every record, a fold says what it says in one go.
fn assert_checkpoints_change_nothing(name: &str, records: &[Owned]) {
    let mut whole = Fold::new();
    let mut interrupted = Fold::new();
    for owned in records {
        let one = whole.step(owned.generation, &owned.record());
        let other = interrupted.step(owned.generation, &owned.record());
        assert_eq!(one, other, "{name} at {}", owned.seq);
        interrupted = stored(&interrupted);
    }
    assert_eq!(json(&whole), json(&interrupted), "{name}");
    assert_eq!(whole.totals(), interrupted.totals());
}

/// Stored once, behind each record in turn, a fold says what it says in one go.
fn assert_any_split(name: &str, records: &[Owned]) {
    let (whole, last) = steps(Fold::new(), records);
    let mut before = Fold::new();
    for at in 0..=records.len() {
        let (rest, end) = steps(stored(&before), &records[at..]);
        assert!(rest == whole[at..], "{name} split at {at}");
        assert_eq!(json(&end), json(&last), "{name} split at {at}");
        if let Some(owned) = records.get(at) {
            before.step(owned.generation, &owned.record());
        }
    }
}

/// What a reader of the changes relies on.
fn assert_sound(records: &[Owned]) {
    let mut fold = Fold::new();
    let mut entries = Entries::default();
    let mut ended = BTreeSet::new();
    for owned in records {
        let changes = fold.step(owned.generation, &owned.record());
        let mut told = BTreeSet::new();
        for change in &changes.entries {
            let id = change.id();
            assert!(!ended.contains(&id), "{id} was final");
            assert!(told.insert(id), "{id} is told twice");
            match change {
                Change::Put(entry) => {
                    assert_eq!(entry.last, changes.cursor);
                    assert_eq!(entry.first, id.cursor());
                    let is_new = entry.first == changes.cursor;
                    assert_eq!(is_new, entries.get(id).is_none(), "{id}");
                    if entry.life != Life::Open {
                        ended.insert(id);
                    }
                }
                Change::Grow { .. } => {
                    assert!(entries.get(id).is_some(), "{id} grows from nothing")
                }
            }
        }
        entries.apply(changes);
    }
    assert!(fold.open() <= bounds::OPEN);
    let open: Vec<_> = entries
        .iter()
        .filter(|entry| entry.life == Life::Open)
        .collect();
    assert_eq!(open, fold.open_entries());
    let waiting = open.iter().filter(|entry| made::is_asking(entry)).count() as u64;
    assert_eq!(fold.totals().approvals.open, waiting);
}

#[test]
fn a_checkpoint_changes_nothing_in_any_recording() {
    for (name, records) in recordings() {
        assert_checkpoints_change_nothing(&name, &records);
    }
}

#[test]
fn a_recording_may_be_split_anywhere() {
    for (name, records) in recordings() {
        // Those with lines of megabytes are covered above; here each line is read once for each split.
        if records.iter().all(|owned| owned.payload.len() < 100_000) {
            assert_any_split(&name, &records);
        }
    }
}

#[test]
fn every_recording_is_told_soundly() {
    for (_, records) in recordings() {
        assert_sound(&records);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_made_up_session_may_be_split_anywhere(records in made::session(1..40)) {
        assert_any_split("made up", &records);
    }

    #[test]
    fn a_made_up_session_is_told_soundly(records in made::session(1..150)) {
        assert_sound(&records);
        assert_checkpoints_change_nothing("made up", &records);
    }

    #[test]
    fn any_bytes_are_folded(records in made::noise(1..20)) {
        assert_sound(&records);
    }
}
