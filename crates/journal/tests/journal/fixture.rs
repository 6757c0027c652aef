//! Journals that earlier builds have written stay readable. Nothing here writes into them.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_journal::transfer::export_ndjson;
use countersign_journal::{
    Cursor, Kind, Limits, Note, Reader, Step, Writer, compress_closed, heads, read_range, seal,
    survey, verify,
};

fn v1() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/journal/v1")
}

/// A copy that may be written to.
fn copy_of(from: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("journal")).unwrap();
    for folder in ["", "journal"] {
        for entry in fs::read_dir(from.join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let into = dir.path().join(folder).join(entry.file_name());
                fs::copy(entry.path(), into).unwrap();
            }
        }
    }
    dir
}

#[test]
fn version_1_is_whole_and_sealed() {
    let text = fs::read_to_string(v1().join("public-key")).unwrap();
    let key = seal::public_from_text(text.trim_end()).unwrap();
    let verdict = verify(&v1(), Some(&key)).unwrap();
    assert_eq!(verdict.fault, None);
    assert_eq!((verdict.records, verdict.segments), (30, 3));
    assert_eq!((verdict.generations, verdict.heads), (2, 5));
    assert_eq!(verdict.sealed, Some(Cursor::new(2, 29)));
    assert_eq!(verdict.torn, 22);
    assert_eq!(heads(&v1(), Cursor::new(1, 12)).unwrap().len(), 3);
}

#[test]
fn version_1_is_read_record_by_record() {
    let mut reader = Reader::open(&v1()).unwrap();
    assert_eq!(reader.session(), "0198f0c2-fixture-1");
    let mut kinds = String::new();
    let mut answers = Vec::new();
    loop {
        match reader.next().unwrap() {
            Step::Record(record) => {
                kinds.push(char::from(record.kind.letter()));
                if record.kind == Kind::Note {
                    let note: Note = serde_json::from_slice(record.payload).unwrap();
                    answers.extend(note.answer);
                }
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(kinds, "kkkdhadhkaakkaadhaaakeAkkkkaka");
    assert_eq!(answers, ["00000000-0000-4000-8000-000000000005"]);
    assert_eq!(reader.cursor(), Cursor::new(2, 30));
    let stderr = read_range(&v1(), Cursor::new(1, 22), 0..99).unwrap();
    assert_eq!(stderr, b"warning: \xff is no text");
}

#[test]
fn version_1_says_how_it_ended() {
    let found = survey(&v1()).unwrap();
    assert_eq!((found.generation, found.seq, found.torn), (2, 30, 22));
    assert_eq!((found.last_n, found.epoch), (2, 1));
    assert_eq!(found.agent.map(|agent| agent.pid), Some(4343));
    assert!(!found.is_ended());
}

#[test]
fn version_1_is_gone_on_with() {
    let dir = copy_of(&v1());
    let journal = dir.path().join("journal");
    let name = "0198f0c2-fixture-1";
    let (mut writer, carried) = Writer::open(&journal, name, 3, Limits::default()).unwrap();
    assert_eq!(carried.torn, 22);
    assert_eq!(writer.push(1, Kind::Agent, b"{}"), 31);
    writer.commit().unwrap();
    compress_closed(&journal).unwrap();
    let verdict = verify(dir.path(), None).unwrap();
    assert_eq!((verdict.fault, verdict.records), (None, 31));
    let mut out = Vec::new();
    export_ndjson(&mut Reader::open(dir.path()).unwrap(), &mut out).unwrap();
    assert!(out.ends_with(b"not JSON at all\n{}\n"));
}
