//! `journal verify`: every way to meddle with a journal is named by record.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_journal::{heads, seal};

use crate::stage::{APPROVED, SESSION, Stage, text};

fn segment(stage: &Stage) -> PathBuf {
    stage.path("session/journal/000001.j")
}

/// Changes the lines of a segment; the header is line 0.
fn meddle(path: &Path, change: impl FnOnce(&mut Vec<String>)) {
    let mut lines: Vec<String> = fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    change(&mut lines);
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

/// What is said of the session after a change, and the record and word of the JSON.
fn found(change: impl FnOnce(&mut Vec<String>)) -> (String, String, String) {
    let stage = Stage::new();
    stage.session("session", &[APPROVED, APPROVED]);
    meddle(&segment(&stage), change);
    let output = stage.run(&["verify", "session"]);
    assert_eq!(output.status.code(), Some(1));
    let report = stage.json(&["verify", "session"]);
    assert_eq!(report["ok"], false);
    let word = |name: &str| {
        report["fault"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    (text(&output.stdout), word("what"), word("cursor"))
}

#[test]
fn a_whole_journal_is_told_in_one_line() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED, APPROVED]);
    let said = stage.said(&["verify", "session"]);
    let report = stage.json(&["inspect", "session"]);
    let expected = format!(
        "ok: {} records in 2 generations and 2 segments, ",
        report["records"]
    );
    assert!(said.starts_with(&expected), "{said}");
    assert!(said.ends_with(" heads, no seals checked\n"), "{said}");
    let json = stage.json(&["verify", "session"]);
    assert_eq!(
        (&json["ok"], &json["fault"]),
        (&true.into(), &serde_json::Value::Null)
    );
    for path in [
        "session/journal",
        "session/journal/000001.j",
        "session/journal/000002.j",
    ] {
        assert!(stage.said(&["verify", path]).starts_with("ok: "), "{path}");
    }
}

#[test]
fn a_changed_record_is_named() {
    let (said, what, cursor) = found(|lines| lines[9] = lines[9].replace("file", "fime"));
    assert!(
        said.starts_with("not as it was written: record 1-9 was changed\n"),
        "{said}"
    );
    assert!(said.contains("in order before it: 8 records\n"), "{said}");
    assert!(said.contains("export session --until 1-8\n"), "{said}");
    assert_eq!((what.as_str(), cursor.as_str()), ("changed", "1-9"));
}

#[test]
fn a_record_that_was_cut_out_is_named() {
    let (said, what, cursor) = found(|lines| drop(lines.remove(9)));
    assert!(
        said.starts_with("not as it was written: record 1-9 was cut out\n"),
        "{said}"
    );
    assert_eq!((what.as_str(), cursor.as_str()), ("cut", "1-9"));
}

#[test]
fn records_that_changed_places_are_named() {
    let (said, what, cursor) = found(|lines| {
        // With their numbers put right again.
        let payload = |line: &str| line.split_once(' ').unwrap().1.to_owned();
        let (a, b) = (payload(&lines[8]), payload(&lines[9]));
        lines[8] = format!("8 {b}");
        lines[9] = format!("9 {a}");
    });
    assert!(
        said.starts_with("not as it was written: record 1-8 "),
        "{said}"
    );
    assert!(["reordered", "changed"].contains(&what.as_str()), "{what}");
    assert_eq!(cursor, "1-8");
    let (_, what, cursor) = found(|lines| lines.swap(8, 9));
    assert_eq!((what.as_str(), cursor.as_str()), ("reordered", "1-8"));
}

#[test]
fn what_is_no_record_and_a_changed_header_are_named() {
    let (_, what, cursor) = found(|lines| lines[9] = "nonsense".to_owned());
    assert_eq!((what.as_str(), cursor.as_str()), ("changed", "1-9"));
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    meddle(&segment(&stage), |lines| lines.push("nonsense".to_owned()));
    let report = stage.json(&["verify", "session"]);
    assert_eq!(report["fault"]["what"], "damaged");
    stage.session("two", &[APPROVED, APPROVED]);
    meddle(&stage.path("two/journal/000002.j"), |lines| {
        lines[0] = lines[0].replace(SESSION, "another");
    });
    let report = stage.json(&["verify", "two"]);
    assert_eq!(report["fault"]["what"], "header");
}

#[test]
fn the_end_of_a_closed_segment_cannot_be_cut_off() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED, APPROVED]);
    meddle(&segment(&stage), |lines| lines.truncate(lines.len() - 2));
    let output = stage.run(&["verify", "session"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
}

#[test]
fn an_end_that_was_cut_off_clean_is_told_as_an_end_that_is_not_there() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    assert_eq!(stage.json(&["verify", "session"])["ended"], "exit");
    meddle(&segment(&stage), |lines| lines.truncate(10));
    let said = stage.said(&["verify", "session"]);
    assert!(said.starts_with("ok: 9 records"), "{said}");
    assert!(said.contains("behind the last head"), "{said}");
    assert!(
        said.contains("no end recorded: it may still run, or its end was cut off"),
        "{said}"
    );
    let report = stage.json(&["verify", "session"]);
    assert!(
        report["ended"].is_null() && report["behind_head"].as_u64() > Some(0),
        "{report}"
    );
    // A header alone, and nothing.
    for left in [1, 0] {
        meddle(&segment(&stage), |lines| lines.truncate(left));
        if left == 0 {
            fs::write(segment(&stage), "").unwrap();
        }
        let output = stage.run(&["verify", "session"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        let report = stage.json(&["verify", "session"]);
        assert_eq!(report["fault"]["what"], "empty", "{report}");
    }
}

#[test]
fn a_later_segment_that_was_emptied_is_told() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED, APPROVED]);
    fs::write(stage.path("session/journal/000002.j"), "").unwrap();
    let said = stage.said(&["verify", "session"]);
    assert!(said.contains("the last segment is empty"), "{said}");
}

#[test]
fn an_end_before_a_segment_that_has_not_begun_is_recorded() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    // What a disk without room for the next segment leaves, and what a kill in the middle of its header does.
    for begun in ["", "#countersign-j"] {
        fs::write(stage.path("session/journal/000002.j"), begun).unwrap();
        let said = stage.said(&["verify", "session"]);
        assert!(
            said.starts_with("ok: ") && !said.contains("no end"),
            "{said}"
        );
        assert_eq!(stage.json(&["verify", "session"])["ended"], "exit");
    }
    // Its end is not there when it is cut off, whatever was made behind it.
    meddle(&segment(&stage), |lines| lines.truncate(10));
    assert!(stage.said(&["verify", "session"]).contains(", no end\n"));
    assert!(stage.json(&["verify", "session"])["ended"].is_null());
}

#[test]
fn a_fault_between_two_segments_leaves_all_of_the_first() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED, APPROVED]);
    let first = fs::read(segment(&stage)).unwrap();
    let last = text(&first).lines().count() - 1;
    let kept = format!(
        "in order before it: {last} records\nto keep what stands before it: countersign journal export session --until 1-{last}\n"
    );
    fs::write(segment(&stage), [&first, &b"99 17672"[..]].concat()).unwrap();
    let said = text(&stage.run(&["verify", "session"]).stdout);
    assert!(said.ends_with(&kept), "{said}");
    fs::write(segment(&stage), first).unwrap();
    meddle(&stage.path("session/journal/000002.j"), |lines| {
        lines[0] = "nonsense".to_owned();
    });
    let said = text(&stage.run(&["verify", "session"]).stdout);
    assert!(said.ends_with(&kept), "{said}");
    let report = stage.json(&["verify", "session"]);
    assert_eq!(report["fault"]["cursor"], format!("1-{}", last + 1));
}

#[test]
fn a_damaged_compressed_segment_is_named_once_and_in_json() {
    let stage = Stage::new();
    let session = stage.session("session", &[APPROVED, APPROVED]);
    countersign_journal::compress_closed(&session.join("journal")).unwrap();
    let file = stage.path("session/journal/000001.j.zst");
    // Alone, as a journal whose later segments are gone.
    fs::remove_file(stage.path("session/journal/000002.j")).unwrap();
    let mut packed = fs::read(&file).unwrap();
    let middle = packed.len() / 2;
    packed[middle] ^= 0x55;
    fs::write(&file, packed).unwrap();
    let output = stage.run(&["verify", "session"]);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("cannot be decompressed").count(), 1, "{said}");
    assert!(said.contains("000001.j.zst"), "{said}");
    let report = stage.json(&["verify", "session"]);
    assert_eq!(
        (&report["ok"], &report["fault"]["what"]),
        (&false.into(), &"unreadable".into())
    );
    let (said, _) = stage.refused(&["inspect", "session"]);
    assert!(said.contains("000001.j.zst"), "{said}");
}

#[test]
fn half_a_record_at_the_very_end_is_no_fault() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let mut bytes = fs::read(segment(&stage)).unwrap();
    bytes.extend_from_slice(b"99 17672");
    fs::write(segment(&stage), bytes).unwrap();
    let said = stage.said(&["verify", "session"]);
    assert!(
        said.contains("at the very end: 8 bytes of an unfinished record"),
        "{said}"
    );
}

/// Seals the session, and gives the file with the public half of the key.
fn sealed(stage: &Stage, randomness: u8) -> PathBuf {
    let folder = stage.path("session");
    let key = seal::load_or_create(&stage.path("key"), &[randomness; 32]).unwrap();
    let all = heads(&folder, None).unwrap().heads;
    seal::seal(&folder, SESSION, &key, &all).unwrap();
    let public = stage.path("key.pub");
    fs::write(&public, seal::public_text(&key.verifying_key()) + "\n").unwrap();
    public
}

#[test]
fn seals_are_checked_with_either_half_of_the_key() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    sealed(&stage, 7);
    for key in ["key", "key.pub"] {
        let said = stage.said(&["verify", "session", "--key", key]);
        assert!(
            said.starts_with("ok: ") && said.contains(", sealed up to 1-"),
            "{said}"
        );
    }
    assert!(stage.json(&["verify", "session", "--key", "key"])["sealed"].is_string());
}

#[test]
fn whoever_mends_the_chain_cannot_mend_the_seals() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    let key = sealed(&stage, 7);
    // The same session written again, with another word in it: its own chain is whole.
    fs::rename(stage.path("session/journal"), stage.path("old")).unwrap();
    let forged = Stage::new();
    forged.session("session", &["newest/bash-denied.ndjson"]);
    fs::rename(
        forged.path("session/journal"),
        stage.path("session/journal"),
    )
    .unwrap();
    assert!(stage.said(&["verify", "session"]).starts_with("ok: "));
    let output = stage.run(&["verify", "session", "--key", key.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
}

#[test]
fn a_seal_by_another_key_and_no_seal_are_faults() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    sealed(&stage, 7);
    let other = Stage::new();
    other.session("session", &[APPROVED]);
    let key = sealed(&other, 8);
    let key = key.to_str().unwrap();
    let report = stage.json(&["verify", "session", "--key", key]);
    assert_eq!(report["fault"]["what"], "bad_seal");
    fs::remove_file(stage.path("session/seals")).unwrap();
    let output = stage.run(&["verify", "session", "--key", key]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).starts_with("not sealed: "),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(
        stage.json(&["verify", "session", "--key", key])["fault"]["what"],
        "unsealed"
    );
}

#[test]
fn keys_and_inputs_that_cannot_be_used_are_refused() {
    let stage = Stage::new();
    stage.session("session", &[APPROVED]);
    fs::write(stage.path("nokey"), "hello").unwrap();
    let recorded = crate::stage::recording(APPROVED);
    for (arguments, words) in [
        (
            &["verify", "session", "--key", "missing"][..],
            "cannot read the key missing",
        ),
        (&["verify", "session", "--key", "nokey"], "nokey"),
        (
            &["verify", "session/journal/000001.j", "--key", "nokey"],
            "give the session's folder",
        ),
        (
            &["verify", recorded.to_str().unwrap()],
            "only a journal can be verified",
        ),
        (&["verify", "-"], "standard input is no journal"),
    ] {
        let (said, code) = stage.refused(arguments);
        assert!(said.contains(words), "{said}");
        assert_eq!(code, 1);
    }
}
