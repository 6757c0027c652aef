//! What holds for any payload, any cut and any flipped byte.

use std::fs::{self, OpenOptions};
use std::path::Path;

use countersign_journal::{Kind, Limits, Reader, Step, Writer, verify};
use proptest::prelude::*;

/// Bytes that can cross a wire as one line.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(
        any::<u8>().prop_filter("a newline", |byte| *byte != b'\n'),
        0..200,
    )
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::ALL.to_vec())
}

fn limits() -> Limits {
    Limits {
        segment: 64 << 20,
        reserve: 0,
        head_every: 5,
    }
}

fn write(dir: &Path, records: &[(Kind, Vec<u8>)]) -> Vec<(u64, Kind, Vec<u8>)> {
    let (mut writer, _) = Writer::open(dir, "s-1", 1, limits()).unwrap();
    let mut written = Vec::new();
    for (kind, payload) in records {
        let seq = writer.push(7, *kind, payload);
        written.push((seq, *kind, payload.clone()));
    }
    writer.commit().unwrap();
    written
}

/// All records but heads.
fn read(dir: &Path) -> Vec<(u64, Kind, Vec<u8>)> {
    let mut reader = Reader::open(dir).unwrap();
    let mut read = Vec::new();
    loop {
        match reader.next().unwrap() {
            Step::Record(record) if record.payload.starts_with(b"{\"event\":\"head\"") => {}
            Step::Record(record) => read.push((record.seq, record.kind, record.payload.to_vec())),
            Step::End => return read,
            other => panic!("{other:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_payload_comes_back(records in prop::collection::vec((kind(), payload()), 0..40)) {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path(), &records);
        prop_assert_eq!(read(dir.path()), written);
        prop_assert!(verify(dir.path(), &[]).unwrap().is_whole());
    }

    #[test]
    fn a_cut_at_any_byte_keeps_all_whole_records_and_numbers_go_on(
        records in prop::collection::vec((kind(), payload()), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &records);
        let path = dir.path().join("000001.j");
        let text = fs::read(&path).unwrap();
        let cut = cut.index(text.len() + 1);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(cut as u64).unwrap();
        let whole = memchr::memrchr(b'\n', &text[..cut]).map_or(0, |last| last + 1);
        let records = memchr::memchr_iter(b'\n', &text[..whole]).count().saturating_sub(1) as u64;
        // Whoever reads before the next writer sees the whole records, too.
        let early = read(dir.path());
        let (mut writer, carried) = Writer::open(dir.path(), "s-1", 2, limits()).unwrap();
        prop_assert_eq!(carried.seq, records);
        prop_assert_eq!(fs::metadata(&path).unwrap().len() > 0, whole > 0 || writer.tail().seg == 1);
        let seq = writer.push(9, Kind::Agent, b"on");
        prop_assert_eq!(seq, records + 1);
        writer.commit().unwrap();
        let mut expected = early;
        expected.push((seq, Kind::Agent, b"on".to_vec()));
        prop_assert_eq!(read(dir.path()), expected);
        let verdict = verify(dir.path(), &[]).unwrap();
        prop_assert!(verdict.is_whole(), "{:?}", verdict.fault);
    }

    #[test]
    fn a_flipped_byte_before_the_last_head_is_noticed(
        records in prop::collection::vec((kind(), payload()), 1..20),
        place in any::<prop::sample::Index>(),
        bit in 0_u8..8,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut writer, _) = Writer::open(dir.path(), "s-1", 1, limits()).unwrap();
        for (kind, payload) in &records {
            writer.push(7, *kind, payload);
        }
        let end = writer.tail().off + writer.staged();
        writer.head(8);
        writer.commit().unwrap();
        let path = dir.path().join("000001.j");
        let mut text = fs::read(&path).unwrap();
        // The newline right before the head is part of it: without it there is no head, and nothing behind it.
        let place = place.index(end as usize - 1);
        text[place] ^= 1 << bit;
        fs::write(&path, &text).unwrap();
        // A version of the future is an error rather than a fault.
        let whole = verify(dir.path(), &[]).is_ok_and(|verdict| verdict.is_whole());
        prop_assert!(!whole, "byte {place}");
    }

    #[test]
    fn a_flipped_byte_in_a_record_names_that_record(
        records in prop::collection::vec(payload(), 2..20),
        place in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut writer, _) = Writer::open(dir.path(), "s-1", 1, limits()).unwrap();
        for payload in &records {
            writer.push(7, Kind::Agent, payload);
        }
        writer.head(8);
        writer.commit().unwrap();
        let path = dir.path().join("000001.j");
        let mut text = fs::read(&path).unwrap();
        let lines: Vec<(usize, usize)> = {
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', &text).collect();
            ends.windows(2).map(|ends| (ends[0] + 1, ends[1])).collect()
        };
        // Not the last head: nothing behind it vouches for it.
        let which = place.index(lines.len() - 1);
        let (start, end) = lines[which];
        // The last byte of a line, which is no newline before and none after.
        text[end - 1] = if text[end - 1] == b'!' { b'?' } else { b'!' };
        prop_assert!(end > start);
        fs::write(&path, &text).unwrap();
        let fault = verify(dir.path(), &[]).unwrap().fault.unwrap();
        prop_assert_eq!(fault.cursor.seq, which as u64 + 1);
    }
}
