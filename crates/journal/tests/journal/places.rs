//! Finding a place in long segments: with an index, without one, and with a wrong one.

use std::fs::{self, OpenOptions};
use std::path::Path;

use countersign_journal::{
    Cursor, Flaw, Kind, Limits, Reader, Step, Writer, compress_closed, verify,
};

use crate::common::{journal, texts, write_lines};

/// A segment of some megabytes, with long lines in it.
fn long(dir: &Path) -> Writer {
    let (mut writer, _) = Writer::open(dir, "s-1", 1, Limits::default()).unwrap();
    for line in 0..3_000_u64 {
        let length = if line % 500 == 0 { 200_000 } else { 700 };
        writer.push_owned(line, Kind::Agent, vec![b'x'; length]);
    }
    writer.commit().unwrap();
    writer
}

fn next_seq(reader: &mut Reader) -> u64 {
    match reader.next().unwrap() {
        Step::Record(record) => record.seq,
        Step::Large(large) => large.seq,
        other => panic!("{other:?}"),
    }
}

fn every_place_is_found(dir: &Path, last: u64) {
    let mut reader = Reader::open(dir).unwrap().with_max_inline(1_000);
    for seq in (0..last).step_by(97).chain([500, 501, 1_000, last - 1]) {
        reader.seek(Cursor::new(1, seq)).unwrap();
        assert_eq!(next_seq(&mut reader), seq + 1);
    }
}

#[test]
fn an_index_is_made_used_and_made_anew_when_it_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = long(dir.path());
    let last = writer.tail().seq;
    let path = dir.path().join("000001.ix");
    every_place_is_found(dir.path(), last);
    let index = fs::read_to_string(&path).unwrap();
    let entries = index.lines().skip(1).count();
    assert!((5..20).contains(&entries), "{index}");
    every_place_is_found(dir.path(), last);
    // Offsets that are none, a file that is none, none at all.
    let (head, rest) = index.split_once('\n').unwrap();
    let shifted: String = rest
        .lines()
        .map(|line| {
            let (seq, offset) = line.split_once(' ').unwrap();
            format!("{seq} {}\n", offset.parse::<u64>().unwrap() + 3)
        })
        .collect();
    for wrong in [format!("{head}\n{shifted}"), "nonsense".to_owned()] {
        fs::write(&path, wrong).unwrap();
        every_place_is_found(dir.path(), last);
        assert_eq!(fs::read_to_string(&path).unwrap(), index);
    }
    // One that is older than the segment still leads to what is new.
    for line in 0..2_000 {
        writer.push(line, Kind::Agent, &[b'y'; 700]);
    }
    writer.commit().unwrap();
    every_place_is_found(dir.path(), writer.tail().seq);
    assert!(fs::read_to_string(&path).unwrap().starts_with(&index));
}

#[test]
fn a_compressed_segment_is_sought_in_with_the_same_index() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = long(dir.path());
    every_place_is_found(dir.path(), writer.tail().seq);
    writer.roll(9_999, &crate::common::carried()).unwrap();
    compress_closed(dir.path()).unwrap();
    every_place_is_found(dir.path(), writer.tail().seq);
}

#[test]
fn a_reader_of_one_file_stays_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 60);
    let mut reader = Reader::open(&dir.path().join("000002.j")).unwrap();
    let first = next_seq(&mut reader);
    assert!(first > 1);
    let count = texts(&mut reader).len();
    assert!(count > 5 && count < 60);
    reader.seek(Cursor::new(1, first + 4)).unwrap();
    assert_eq!(next_seq(&mut reader), first + 5);
}

#[test]
fn a_generation_that_lost_its_end_is_rewound_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 8);
    let mut reader = Reader::open(dir.path()).unwrap();
    assert_eq!(texts(&mut reader).len(), 8);
    let cursor = reader.cursor();
    drop(writer);
    // A power loss takes the last record and a half.
    let path = dir.path().join("000001.j");
    let text = fs::read(&path).unwrap();
    let last = memchr::memrchr(b'\n', &text[..text.len() - 1]).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(last as u64 - 20).unwrap();
    let (mut writer, carried) = journal(dir.path(), 2);
    assert_eq!(carried.seq, cursor.seq - 2);
    write_lines(&mut writer, 8, 2);
    // One that was there, and one that comes back with its cursor.
    let mut later = Reader::open(dir.path()).unwrap();
    later.seek(cursor).unwrap();
    for reader in [&mut reader, &mut later] {
        match reader.next().unwrap() {
            Step::Rewound { to } => assert_eq!(to, Cursor::new(1, carried.seq)),
            other => panic!("{other:?}"),
        }
        assert_eq!(next_seq(reader), carried.seq + 1);
        assert_eq!(reader.cursor().generation, 2);
    }
}

#[test]
fn what_is_no_record_is_said_and_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 3);
    let path = dir.path().join("000001.j");
    let text = fs::read_to_string(&path).unwrap();
    let damaged = text.replacen("\n2 ", "\n? ", 1);
    fs::write(&path, &damaged).unwrap();
    let mut reader = Reader::open(dir.path()).unwrap();
    assert_eq!(next_seq(&mut reader), 1);
    match reader.next().unwrap() {
        Step::Damaged(found) => {
            assert_eq!(found.offset as usize, damaged.find("\n? ").unwrap() + 1);
            assert!(matches!(found.flaw, Flaw::Record(_)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(next_seq(&mut reader), 3);
    // A header that is none is said, too, and what stands behind it is given out.
    fs::write(&path, damaged.replacen('#', "!", 1)).unwrap();
    let mut reader = Reader::open(dir.path()).unwrap();
    match reader.next().unwrap() {
        Step::Damaged(found) => assert!(matches!(found.flaw, Flaw::Header(_))),
        other => panic!("{other:?}"),
    }
    assert_eq!(next_seq(&mut reader), 1);
    assert!(!verify(dir.path(), &[]).unwrap().is_whole());
}
