//! Journals to and from plain lines and recordings.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use countersign_journal::transfer::{
    TransferError, export_ndjson, export_recording, import_ndjson, import_recording,
};
use countersign_journal::{Reader, survey, verify};

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../fixtures/wire/newest").join(name)
}

#[test]
fn plain_lines_come_back_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let lines = b"{\"type\":\"x\"}\n\xff not utf-8\n\n  spaces  \nlast";
    let imported = import_ndjson(dir.path(), "s-1", 5, &mut &lines[..]).unwrap();
    assert_eq!((imported.first, imported.last, imported.lines), (1, 1, 5));
    let mut out = Vec::new();
    let count = export_ndjson(&mut Reader::open(dir.path()).unwrap(), &mut out).unwrap();
    assert_eq!(count, 5);
    assert_eq!(out, [&lines[..], b"\n"].concat());
    assert!(verify(dir.path(), &[]).unwrap().is_whole());
    assert!(survey(dir.path()).unwrap().is_ended());
    let again = import_ndjson(dir.path(), "s-1", 6, &mut &lines[..]).unwrap();
    assert_eq!(again.first, 2);
}

#[test]
fn recordings_come_back_entry_by_entry() {
    for name in [
        "plain-turn.ndjson",
        "resume.ndjson",
        "bash-approved.ndjson",
        "hooks.ndjson",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let text = fs::read(fixture(name)).unwrap();
        let mut input = BufReader::new(&text[..]);
        let imported = import_recording(dir.path(), "s-1", 1_000_000, &mut input).unwrap();
        let runs = text
            .split(|byte| *byte == b'\n')
            .filter(|line| memchr::memmem::find(line, b"\"dir\":\"run\"").is_some());
        assert_eq!(u64::from(imported.last), runs.count() as u64, "{name}");
        let mut out = Vec::new();
        let mut reader = Reader::open(dir.path()).unwrap();
        let scenario = name.trim_end_matches(".ndjson");
        export_recording(&mut reader, &mut out, "2.1.325", scenario).unwrap();
        let entries = |text: &[u8]| -> Vec<_> {
            let lines = text.split(|byte| *byte == b'\n').skip(1);
            let lines = lines.filter(|line| !line.is_empty());
            lines
                .map(|line| countersign_wire::recording::entry(line).unwrap())
                .collect()
        };
        assert_eq!(entries(&out), entries(&text), "{name}");
        assert!(verify(dir.path(), &[]).unwrap().is_whole());
    }
}

#[test]
fn what_is_no_recording_is_refused_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let import = |text: &str| import_recording(dir.path(), "s-1", 1, &mut text.as_bytes());
    assert!(matches!(import("{}\n"), Err(TransferError::NoRecording)));
    let later = "{\"recording\":9,\"cli\":\"1\",\"scenario\":\"s\"}\n";
    assert!(matches!(import(later), Err(TransferError::Version(9))));
    let head = "{\"recording\":1,\"cli\":\"1\",\"scenario\":\"s\"}\n";
    let bad = import(&format!("{head}nothing\n"));
    assert!(matches!(bad, Err(TransferError::Entry { line: 2, .. })));
    let newline = import(&format!(
        "{head}{{\"at\":0,\"dir\":\"out\",\"text\":\"a\\nb\"}}\n"
    ));
    assert!(matches!(newline, Err(TransferError::Newline { line: 2 })));
    let good = "{\"at\":0,\"dir\":\"out\",\"line\":{}}\n";
    let bad = import(&format!("{head}{good}nothing\n"));
    assert!(matches!(bad, Err(TransferError::Entry { line: 3, .. })));
    let found = survey(dir.path()).unwrap();
    assert!(found.generation == 1 && found.is_ended(), "{found:?}");
}
