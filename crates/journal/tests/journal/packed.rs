//! Compressed segments: smaller, and otherwise the same for whoever reads.

use std::fs;

use countersign_journal::{Cursor, Reader, Step, Writer, compress_closed, read_range, survey};

use crate::common::{journal, small, texts, write_lines};

#[test]
fn a_reader_sees_no_difference() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 200);
    let before = texts(&mut Reader::open(dir.path()).unwrap());
    let done = compress_closed(dir.path()).unwrap();
    assert_eq!(done.segments, writer.tail().seg - 1);
    assert!(done.after < done.before / 3, "{done:?}");
    assert_eq!(texts(&mut Reader::open(dir.path()).unwrap()), before);
    assert_eq!(compress_closed(dir.path()).unwrap().segments, 0);
    let mut reader = Reader::open(dir.path()).unwrap();
    for seq in 0..writer.tail().seq {
        reader.seek(Cursor::new(1, seq)).unwrap();
        match reader.next().unwrap() {
            Step::Record(record) => assert_eq!(record.seq, seq + 1),
            other => panic!("{other:?}"),
        }
    }
    let part = read_range(dir.path(), Cursor::new(1, 2), 0..6).unwrap();
    assert_eq!(part, b"line 1");
}

#[test]
fn a_reader_that_has_a_segment_open_reads_on_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 100);
    let mut reader = Reader::open(dir.path()).unwrap();
    assert!(matches!(reader.next().unwrap(), Step::Record(_)));
    compress_closed(dir.path()).unwrap();
    assert_eq!(texts(&mut reader).len(), 99);
    write_lines(&mut writer, 100, 100);
    compress_closed(dir.path()).unwrap();
    assert_eq!(texts(&mut reader).len(), 100);
}

#[test]
fn what_was_stopped_in_the_middle_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 100);
    let plain = dir.path().join("000001.j");
    let packed = dir.path().join("000001.j.zst");
    let text = fs::read(&plain).unwrap();
    // Stopped while it wrote.
    fs::write(dir.path().join("000001.j.zst.new"), "half").unwrap();
    // Stopped before the plain one went.
    compress_closed(dir.path()).unwrap();
    fs::write(&plain, &text).unwrap();
    assert_eq!(compress_closed(dir.path()).unwrap().segments, 1);
    assert!(!plain.exists() && packed.exists());
    // A compressed one that is not what the plain one says is made anew.
    fs::write(&plain, &text).unwrap();
    fs::write(&packed, zstd::encode_all(&b"other"[..], 1).unwrap()).unwrap();
    compress_closed(dir.path()).unwrap();
    let again = zstd::decode_all(&fs::read(&packed).unwrap()[..]).unwrap();
    assert_eq!(again, text);
    assert_eq!(texts(&mut Reader::open(dir.path()).unwrap()).len(), 100);
}

#[test]
fn a_segment_is_closed_only_when_the_next_one_has_begun() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 3);
    // The next one was made, and there was no room for its header.
    fs::write(dir.path().join("000002.j"), "").unwrap();
    assert_eq!(compress_closed(dir.path()).unwrap().segments, 0);
    let mut reader = Reader::open(dir.path()).unwrap();
    assert_eq!(texts(&mut reader).len(), 3);
    write_lines(&mut writer, 3, 3);
    assert_eq!(texts(&mut reader).len(), 3);
}

#[test]
fn a_generation_begins_behind_compressed_ones() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = journal(dir.path(), 1);
    write_lines(&mut writer, 0, 100);
    let seq = writer.tail().seq;
    drop(writer);
    compress_closed(dir.path()).unwrap();
    let (writer, carried) = Writer::open(dir.path(), "s-1", 2, small()).unwrap();
    assert_eq!((carried.seq, carried.last_n), (seq, 7));
    drop(writer);
    assert_eq!(compress_closed(dir.path()).unwrap().segments, 1);
    assert_eq!(survey(dir.path()).unwrap().seq, seq);
}
