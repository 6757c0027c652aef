//! Readers beside a writer that appends and rolls, and beside one that compresses.
//!
//! Threads with files of their own see what processes see. Every reader must get every record once, in order.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use countersign_journal::{Kind, Limits, Reader, Step, Writer, compress_closed, verify};

use crate::common::carried;

const RECORDS: u64 = 20_000;

/// Reads until the record with that text is there, and fails if one is missing, doubled or damaged.
fn follow(dir: &Path, inline: usize) -> u64 {
    let mut reader = Reader::open(dir).unwrap().with_max_inline(inline);
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut seq = 0;
    let mut lines = 0;
    loop {
        match reader.next().unwrap() {
            Step::Record(record) => {
                seq += 1;
                assert_eq!(record.seq, seq);
                if record.kind == Kind::Agent {
                    let text = std::str::from_utf8(record.payload).unwrap();
                    assert_eq!(text.split(' ').next(), Some(lines.to_string().as_str()));
                    lines += 1;
                }
            }
            Step::Large(large) => {
                seq += 1;
                assert_eq!(large.seq, seq);
                lines += u64::from(large.kind == Kind::Agent);
            }
            Step::End if lines == RECORDS => return seq,
            Step::End => {
                assert!(Instant::now() < deadline, "{lines} lines");
                std::thread::yield_now();
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn every_reader_gets_every_record_while_segments_come_and_shrink() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let limits = Limits {
        segment: 128 << 10,
        reserve: 64 << 10,
        head_every: 100,
    };
    let (mut writer, _) = Writer::open(&path, "s-1", 1, limits).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for inline in [usize::MAX, 1_000, 0] {
            let path = &path;
            scope.spawn(move || follow(path, inline));
        }
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    compress_closed(&path).unwrap();
                }
            });
        }
        for line in 0..RECORDS {
            let mut payload = format!("{line} ").into_bytes();
            let length = if line % 1_000 == 999 {
                150_000
            } else {
                line % 97
            };
            payload.resize(payload.len() + length as usize, b'x');
            writer.push_owned(line, Kind::Agent, payload);
            if line % 3 == 0 || line + 1 == RECORDS {
                writer.commit().unwrap();
            }
            if writer.should_roll() {
                writer.roll(line, &carried()).unwrap();
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    writer.head(RECORDS);
    writer.commit().unwrap();
    assert!(writer.tail().seg > 5);
    let verdict = verify(dir.path(), &[]).unwrap();
    assert_eq!((verdict.fault, verdict.records), (None, writer.tail().seq));
}

#[test]
fn a_reader_goes_no_further_than_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = Writer::open(dir.path(), "s-1", 1, Limits::default()).unwrap();
    writer.push(1, Kind::Agent, b"told");
    let told = writer.commit().unwrap();
    writer.push(2, Kind::Agent, b"not told");
    writer.commit().unwrap();
    let mut reader = Reader::open(dir.path()).unwrap();
    reader.set_limit(Some(told));
    assert!(matches!(reader.next().unwrap(), Step::Record(record) if record.seq == 1));
    assert!(matches!(reader.next().unwrap(), Step::End));
    reader.set_limit(None);
    assert!(matches!(reader.next().unwrap(), Step::Record(record) if record.seq == 2));
}
