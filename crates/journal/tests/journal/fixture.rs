//! Journals that earlier builds have written stay readable. Nothing here writes into them.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_journal::transfer::export_ndjson;
use countersign_journal::{
    Cursor, Kind, Limits, Note, Reader, Step, VERSION, What, Writer, compress_closed, heads,
    read_range, seal, survey, verify,
};

/// The same session in each version of the format, by the name it has there.
const VERSIONS: [(&str, &str); 2] = [("v1", "0198f0c2-fixture-1"), ("v2", "0198f0c2-fixture-2")];

fn fixture(version: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/journal");
    fixtures.join(version)
}

fn key_of(version: &str) -> seal::VerifyingKey {
    let text = fs::read_to_string(fixture(version).join("public-key")).unwrap();
    seal::public_from_text(text.trim_end()).unwrap()
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
fn there_is_one_of_every_version() {
    let newest = format!("v{VERSION}");
    assert_eq!(VERSIONS.last().unwrap().0, newest);
    assert_eq!(VERSIONS.len(), VERSION as usize);
}

#[test]
fn every_version_is_whole_and_sealed() {
    for (version, _) in VERSIONS {
        let verdict = verify(&fixture(version), &[key_of(version)]).unwrap();
        assert_eq!(verdict.fault, None, "{version}");
        assert_eq!((verdict.records, verdict.segments), (30, 3), "{version}");
        assert_eq!((verdict.generations, verdict.heads), (2, 5), "{version}");
        assert_eq!(verdict.sealed, Some(Cursor::new(2, 29)), "{version}");
        assert_eq!(verdict.torn, 22, "{version}");
        // Among several keys the one that signed it counts, and another one alone does not.
        let all: Vec<_> = VERSIONS
            .iter()
            .map(|(version, _)| key_of(version))
            .collect();
        assert_eq!(verify(&fixture(version), &all).unwrap(), verdict);
        let others: Vec<_> = all
            .into_iter()
            .filter(|it| *it != key_of(version))
            .collect();
        let fault = verify(&fixture(version), &others).unwrap().fault;
        assert_eq!(fault.unwrap().what, What::BadSeal, "{version}");
    }
}

#[test]
fn what_is_signed_is_the_same_from_the_beginning_and_from_a_seal() {
    for (version, _) in VERSIONS {
        let dir = fixture(version);
        let all = heads(&dir, None).unwrap();
        assert_eq!((all.heads.len(), all.fault), (5, None), "{version}");
        let seals = seal::read(&dir).unwrap();
        for (place, seal) in seals.iter().enumerate() {
            let behind = heads(&dir, Some(seal)).unwrap();
            assert_eq!(behind.heads, all.heads[place + 1..], "{version} {place}");
        }
    }
}

#[test]
fn every_version_is_read_record_by_record() {
    for (version, name) in VERSIONS {
        let mut reader = Reader::open(&fixture(version)).unwrap();
        assert_eq!(reader.session(), name);
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
                other => panic!("{version}: {other:?}"),
            }
        }
        assert_eq!(kinds, "kkkdhadhkaakkaadhaaakeAkkkkaka", "{version}");
        assert_eq!(answers, ["00000000-0000-4000-8000-000000000005"]);
        assert_eq!(reader.cursor(), Cursor::new(2, 30));
        let stderr = read_range(&fixture(version), Cursor::new(1, 22), 0..99).unwrap();
        assert_eq!(stderr, b"warning: \xff is no text", "{version}");
    }
}

#[test]
fn every_version_says_how_it_ended() {
    for (version, _) in VERSIONS {
        let found = survey(&fixture(version)).unwrap();
        assert_eq!((found.generation, found.seq, found.torn), (2, 30, 22));
        assert_eq!((found.last_n, found.epoch), (2, 1), "{version}");
        assert_eq!(found.agent.map(|agent| agent.pid), Some(4343), "{version}");
        assert!(!found.is_ended(), "{version}");
    }
}

/// A new generation behind it, and the end of the last one written into it.
#[test]
fn every_version_is_gone_on_with_and_sealed_on() {
    // What the keys of the fixtures were made of.
    let secrets = [66, 42];
    for ((version, name), secret) in VERSIONS.into_iter().zip(secrets) {
        let dir = copy_of(&fixture(version));
        let journal = dir.path().join("journal");
        let (mut writer, carried) = Writer::reopen(&journal, Limits::default()).unwrap();
        assert_eq!(carried.torn, 22);
        // A segment of an earlier version is left alone: the next one begins with a sum of what was before.
        let sums = u64::from(version != "v2");
        assert_eq!(writer.tail().seg, 3 + sums as u32, "{version}");
        assert_eq!(writer.push(1, Kind::Agent, b"[]"), 31 + sums);
        writer.head(2);
        writer.commit().unwrap();
        writer.sync().unwrap();
        drop(writer);
        let again = survey(&journal).unwrap();
        assert_eq!((again.generation, again.last_n), (2, carried.last_n));
        assert_eq!((again.epoch, again.agent), (carried.epoch, carried.agent));
        assert_eq!(again.boot_id, carried.boot_id, "{version}");
        let (mut writer, _) = Writer::open(&journal, name, 3, Limits::default()).unwrap();
        assert_eq!(writer.push(1, Kind::Agent, b"{}"), 33 + sums);
        writer.head(2);
        writer.commit().unwrap();
        compress_closed(&journal).unwrap();
        let verdict = verify(dir.path(), &[]).unwrap();
        let records = 34 + sums;
        assert_eq!(
            (verdict.fault, verdict.records),
            (None, records),
            "{version}"
        );
        let mut out = Vec::new();
        export_ndjson(&mut Reader::open(dir.path()).unwrap(), &mut out).unwrap();
        assert!(out.ends_with(b"not JSON at all\n[]\n{}\n"));
        // Seals that were there stay, and new ones stand behind them, though they say more.
        let key = seal::SigningKey::from_bytes(&[secret; 32]);
        let seals = seal::read(dir.path()).unwrap();
        let new = heads(dir.path(), seals.last()).unwrap();
        assert_eq!((new.heads.len(), new.fault), (2, None), "{version}");
        for head in new.heads {
            seal::seal(dir.path(), name, &key, &[head]).unwrap();
            let verdict = verify(dir.path(), &[key.verifying_key()]).unwrap();
            assert_eq!(verdict.fault, None, "{version}");
            assert!(verdict.sealed > Some(Cursor::new(2, 31)), "{version}");
        }
    }
}

/// Version 1 has a hash beside its marks: who forges a mark is told at once, though not which record it was.
#[test]
fn the_hash_of_version_1_is_held_against_it() {
    let dir = copy_of(&fixture("v1"));
    let path = dir.path().join("journal/000002.j");
    let bytes = fs::read(&path).unwrap();
    let at = |part: &[u8]| memchr::memmem::find(&bytes, part).unwrap();
    let mark = |line: &[u8]| format!("{:08x}", crc32fast::hash(line));
    let begin = at(b"19 17672");
    let end = begin + memchr::memchr(b'\n', &bytes[begin..]).unwrap();
    let line = &bytes[begin..end];
    let there = memchr::memmem::find(line, b"there").unwrap();
    let mut forged = line.to_vec();
    forged[there..there + 5].copy_from_slice(b"not !");
    let mut changed = bytes.clone();
    changed[begin..end].copy_from_slice(&forged);
    let place = at(mark(line).as_bytes());
    changed[place..place + 8].copy_from_slice(mark(&forged).as_bytes());
    fs::write(&path, changed).unwrap();
    let fault = verify(dir.path(), &[]).unwrap().fault.unwrap();
    assert_eq!(fault.cursor, Cursor::new(1, 21));
    assert!(matches!(fault.what, What::Between { .. }), "{fault}");
}
