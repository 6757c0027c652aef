//! The ordinary life of a journal: written, read, followed, sought in.

use countersign_journal::{
    Carried, Cursor, KeeperEvent, Kind, Limits, OpenError, Reader, Step, Tail, Writer, heads,
    read_range, survey, verify,
};

use crate::common::{carried, journal, open_event, small, texts, write_lines};

#[test]
fn what_is_written_is_read_in_order_over_segments() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, before) = journal(dir.path(), 1);
    assert_eq!(before, Carried::default());
    write_lines(&mut writer, 0, 200);
    assert!(writer.tail().seg > 3, "{:?}", writer.tail());
    let mut reader = Reader::open(dir.path()).unwrap();
    let read = texts(&mut reader);
    assert_eq!(read.len(), 200);
    for (line, text) in read.iter().enumerate() {
        assert!(text.starts_with(&format!("a line {line} ")), "{text}");
    }
    assert_eq!(reader.cursor(), Cursor::new(1, writer.tail().seq));
    assert_eq!(reader.session(), "s-1");
    assert!(heads(dir.path(), None).unwrap().heads.len() > 10);
}

#[test]
fn a_reader_goes_on_where_the_writer_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut reader = Reader::open(&dir.path().join("journal")).unwrap();
    assert!(matches!(reader.next().unwrap(), Step::End));
    let dir = dir.path().join("journal");
    let (mut writer, _) = journal(&dir, 1);
    assert!(matches!(reader.next().unwrap(), Step::End));
    let mut all = Vec::new();
    for round in 0..50 {
        write_lines(&mut writer, round * 3, 3);
        all.extend(texts(&mut reader));
        assert_eq!(all.len() as u64, (round + 1) * 3);
    }
    writer.finish();
    let (mut writer, carried) = journal(&dir, 2);
    assert_eq!(
        (carried.generation, carried.last_n, carried.epoch),
        (1, 7, 3)
    );
    write_lines(&mut writer, 150, 3);
    assert_eq!(texts(&mut reader).len(), 3);
    assert_eq!(reader.cursor(), Cursor::new(2, writer.tail().seq));
}

#[test]
fn a_cursor_leads_to_the_record_behind_it_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 60);
    let first = writer.tail().seq;
    writer.finish();
    let (mut writer, _) = journal(dir.path(), 2);
    write_lines(&mut writer, 60, 60);
    let last = writer.tail().seq;
    let mut reader = Reader::open(dir.path()).unwrap();
    for seq in 0..last {
        let generation = if seq < first { 1 } else { 2 };
        let cursor = Cursor::new(generation, seq);
        reader.seek(cursor).unwrap();
        match reader.next().unwrap() {
            Step::Record(record) => assert_eq!(record.seq, seq + 1),
            other => panic!("{cursor} {other:?}"),
        }
    }
    reader.seek(Cursor::new(2, last)).unwrap();
    assert!(matches!(reader.next().unwrap(), Step::End));
    write_lines(&mut writer, 120, 1);
    assert_eq!(texts(&mut reader).len(), 1);
    let mut rewound = |cursor: Cursor| {
        reader.seek(cursor).unwrap();
        match reader.next().unwrap() {
            Step::Rewound { to } => to,
            other => panic!("{cursor} {other:?}"),
        }
    };
    assert_eq!(rewound(Cursor::new(1, first + 1)), Cursor::new(1, first));
    let last = writer.tail().seq;
    assert_eq!(rewound(Cursor::new(2, last + 5)), Cursor::new(2, last));
    assert_eq!(rewound(Cursor::new(9, 3)), Cursor::new(2, last));
}

#[test]
fn a_generation_is_begun_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 2);
    let again = Writer::open(dir.path(), "s-1", 1, small());
    assert!(matches!(again, Err(OpenError::Generation { .. })));
    writer.push_event(5, &open_event(2));
    writer.commit().unwrap();
    for generation in [1, 2] {
        let again = Writer::open(dir.path(), "s-1", generation, small());
        assert!(matches!(
            again,
            Err(OpenError::Generation { newest: 2, .. })
        ));
    }
    let other = Writer::open(dir.path(), "s-2", 3, small());
    assert!(matches!(other, Err(OpenError::Session { .. })));
    let found = survey(dir.path()).unwrap();
    assert_eq!(found.boot_id.as_deref(), Some("boot"));
    assert!(!found.is_ended());
}

#[test]
fn a_later_segment_that_is_only_a_header_frees_no_generation() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    writer.push_event(5, &open_event(1));
    write_lines(&mut writer, 0, 3);
    writer.roll(2_000, &carried()).unwrap();
    let seq = writer.tail().seq;
    drop(writer);
    // The kill came in the middle of the write that begins the segment: what must be known of the earlier ones is not there.
    let rolled = dir.path().join("000002.j");
    let text = std::fs::read_to_string(&rolled).unwrap();
    let header = text.find('\n').unwrap() + 1;
    std::fs::write(&rolled, &text[..header + 7]).unwrap();
    let again = Writer::open(dir.path(), "s-1", 1, small());
    assert!(matches!(
        again,
        Err(OpenError::Generation { newest: 1, .. })
    ));
    // Its end can be told in it, and the next one begins behind it.
    let (mut writer, found) = Writer::reopen(dir.path(), small()).unwrap();
    assert_eq!(
        (found.seq, found.boot_id.as_deref()),
        (seq - 1, Some("boot"))
    );
    writer.push_event(9_999, &KeeperEvent::Lost { killed: Vec::new() });
    writer.head(9_999);
    writer.commit().unwrap();
    writer.finish();
    let (writer, found) = journal(dir.path(), 2);
    assert!(found.lost);
    writer.finish();
    assert_eq!(verify(dir.path(), &[]).unwrap().fault, None);
}

#[test]
fn whoever_finds_a_generation_without_end_says_so_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    writer.push_event(5, &open_event(1));
    write_lines(&mut writer, 0, 30);
    let seq = writer.tail().seq;
    drop(writer);
    let (mut writer, found) = Writer::reopen(dir.path(), small()).unwrap();
    assert_eq!((found.seq, found.generation, found.lost), (seq, 1, false));
    assert_eq!(found.boot_id.as_deref(), Some("boot"));
    let lost = writer.push_event(9_999, &KeeperEvent::Lost { killed: Vec::new() });
    assert!(lost > seq);
    writer.head(9_999);
    writer.commit().unwrap();
    writer.sync().unwrap();
    let found = survey(dir.path()).unwrap();
    assert!(found.lost && found.is_ended());
    let verdict = verify(dir.path(), &[]).unwrap();
    assert_eq!((verdict.fault, verdict.vouched), (None, Some(verdict.end)));
}

#[test]
fn large_records_come_by_name_and_their_bytes_by_range() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = Writer::open(dir.path(), "s-1", 1, Limits::default()).unwrap();
    let large: Vec<u8> = (0..300_000_u32)
        .map(|byte| b'a' + (byte % 26) as u8)
        .collect();
    writer.push(1, Kind::Agent, b"small");
    let at = writer.push_owned(2, Kind::Agent, large.clone());
    writer.push(3, Kind::Agent, b"small again");
    let Tail { seq, .. } = writer.commit().unwrap();
    let mut reader = Reader::open(dir.path()).unwrap().with_max_inline(1_000);
    assert!(matches!(reader.next().unwrap(), Step::Record(_)));
    match reader.next().unwrap() {
        Step::Large(found) => {
            assert_eq!((found.seq, found.len), (at, large.len() as u64));
            assert_eq!(found.digest, *blake3::hash(&large).as_bytes());
        }
        other => panic!("{other:?}"),
    }
    match reader.next().unwrap() {
        Step::Record(record) => {
            assert_eq!((record.seq, record.payload), (seq, &b"small again"[..]))
        }
        other => panic!("{other:?}"),
    }
    for range in [
        0..10,
        99_990..200_010,
        299_990..400_000,
        5..5,
        400_000..500_000,
    ] {
        let found = read_range(dir.path(), Cursor::new(1, at), range.clone()).unwrap();
        let end = (range.end as usize).min(large.len());
        let start = (range.start as usize).min(end);
        assert_eq!(found, &large[start..end], "{range:?}");
    }
    let small = read_range(dir.path(), Cursor::new(1, 1), 1..3).unwrap();
    assert_eq!(small, b"ma");
    assert!(read_range(dir.path(), Cursor::new(1, 99), 0..1).is_err());
}

#[test]
fn a_number_counts_only_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    for n in [1, 2] {
        writer.push(1, Kind::Note, format!(r#"{{"n":{n}}}"#).as_bytes());
        writer.push(1, Kind::Host, br#"{"type":"user"}"#);
        writer.commit().unwrap();
    }
    drop(writer);
    // The last line is torn off, its note is not.
    let segment = dir.path().join("000001.j");
    let whole = std::fs::read(&segment).unwrap();
    std::fs::write(&segment, &whole[..whole.len() - 5]).unwrap();
    let (_, carried) = journal(dir.path(), 2);
    assert_eq!(carried.last_n, 1);
    std::fs::remove_file(dir.path().join("000002.j")).unwrap();
    std::fs::write(&segment, &whole).unwrap();
    let (_, carried) = journal(dir.path(), 2);
    assert_eq!(carried.last_n, 2);
}

#[test]
fn what_its_writer_takes_back_is_not_kept_by_a_reader_with_a_limit() {
    use std::os::unix::fs::FileExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    writer.push(1, Kind::Agent, b"one");
    let first = writer.commit().unwrap();
    // Whole records of a write that came out short, before they are taken back.
    let segment = dir.path().join("000001.j");
    let segment = std::fs::OpenOptions::new()
        .write(true)
        .open(segment)
        .unwrap();
    segment
        .write_all_at(b"2 1 a taken back\n3 1 a ta", first.off)
        .unwrap();
    let mut reader = Reader::open(dir.path()).unwrap();
    reader.set_limit(Some(first));
    assert_eq!(texts(&mut reader), ["a one"]);
    segment.set_len(first.off).unwrap();
    writer.push(1, Kind::Stderr, b"something longer");
    writer.push(1, Kind::Agent, b"two");
    let tail = writer.commit().unwrap();
    reader.set_limit(Some(tail));
    assert_eq!(texts(&mut reader), ["e something longer", "a two"]);
}
