//! The writer on a disk that fails: full in the middle of a write, without room to keep, unable to sync or to cut.
//!
//! The disk keeps what it was given in memory and fails where it is told to; everything else is as in production.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::disk::{Disk, Segment};
use super::{Limits, Writer};
use crate::error::{AppendError, RollError, SyncError};
use crate::event::KeeperEvent;
use crate::record::{Kind, Record};

const NOSPC: i32 = 28;
const IO: i32 = 5;
const INTR: i32 = 4;
const OPNOTSUPP: i32 = 95;

/// What is on the disk, and what it does next.
#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Vec<u8>>,
    calls: Vec<&'static str>,
    /// So many bytes can still be written. None for any number.
    room: Option<usize>,
    /// So many bytes are kept of them.
    kept: usize,
    reserve_fails: Option<i32>,
    /// So many of the next tries to keep room are interrupted by a signal.
    interrupts: usize,
    write_fails: Option<i32>,
    sync_fails: bool,
    cut_fails: bool,
}

#[derive(Clone, Default)]
struct FakeDisk(Arc<Mutex<State>>);

impl FakeDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn text(&self, number: u32) -> String {
        let state = self.state();
        let name = format!("{number:06}.j");
        let found = state.files.iter().find(|(path, _)| path.ends_with(&name));
        String::from_utf8(found.map(|(_, bytes)| bytes.clone()).unwrap_or_default()).unwrap()
    }

    fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.state().calls)
    }
}

fn failed(errno: i32) -> io::Result<()> {
    Err(io::Error::from_raw_os_error(errno))
}

struct FakeSegment {
    disk: FakeDisk,
    path: PathBuf,
}

impl Disk for FakeDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Segment>> {
        self.state().calls.push("create");
        self.state().files.insert(path.to_owned(), Vec::new());
        self.reopen(path, 0)
    }

    fn reopen(&self, path: &Path, _: u64) -> io::Result<Box<dyn Segment>> {
        let (disk, path) = (self.clone(), path.to_owned());
        Ok(Box::new(FakeSegment { disk, path }))
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        self.state().calls.push("sync folder");
        Ok(())
    }
}

impl Segment for FakeSegment {
    fn append(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut state = self.disk.state();
        state.calls.push("write");
        if let Some(errno) = state.write_fails {
            failed(errno)?;
        }
        let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
        let taken = state.room.map_or(bytes.len(), |room| room.min(bytes.len()));
        if taken == 0 && !bytes.is_empty() {
            failed(NOSPC)?;
        }
        state.room = state.room.map(|room| room - taken);
        let file = state.files.get_mut(&self.path).unwrap();
        file.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn cut_to(&mut self, len: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.calls.push("cut");
        if state.cut_fails {
            failed(IO)?;
        }
        let file = state.files.get_mut(&self.path).unwrap();
        let gone = file.len() - len as usize;
        file.truncate(len as usize);
        state.room = state.room.map(|room| room + gone);
        Ok(())
    }

    fn reserve(&mut self, from: u64, len: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.calls.push("reserve");
        if let Some(left) = state.interrupts.checked_sub(1) {
            state.interrupts = left;
            failed(INTR)?;
        }
        if let Some(errno) = state.reserve_fails {
            failed(errno)?;
        }
        let held = state.files[&self.path].len();
        state.kept = (from + len) as usize - held;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.calls.push("sync");
        if state.sync_fails {
            failed(IO)?;
        }
        Ok(())
    }
}

struct Setup {
    disk: FakeDisk,
    writer: Writer,
    _dir: tempfile::TempDir,
}

fn setup(reserve: u64) -> Setup {
    let dir = tempfile::tempdir().unwrap();
    let disk = FakeDisk::default();
    let limits = Limits {
        segment: 1_000,
        reserve,
        head_every: 10,
    };
    let boxed = Box::new(disk.clone());
    let (writer, _) = Writer::open_on(boxed, dir.path(), "s-1", 1, limits).unwrap();
    disk.calls();
    Setup {
        disk,
        writer,
        _dir: dir,
    }
}

fn carried() -> KeeperEvent {
    KeeperEvent::Carried {
        last_n: 0,
        epoch: 0,
        open: Vec::new(),
        agent: None,
    }
}

#[test]
fn a_commit_is_one_write_of_whole_records() {
    let Setup {
        disk, mut writer, ..
    } = setup(0);
    writer.push(1, Kind::Agent, b"one");
    writer.push_owned(2, Kind::Agent, vec![b'x'; 100_000]);
    writer.push(3, Kind::Agent, b"three");
    assert!(disk.calls().is_empty());
    writer.commit().unwrap();
    assert_eq!(disk.calls(), ["write"]);
    let text = disk.text(1);
    let records: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(records.len(), 3);
    assert_eq!(records[0], "1 1 a one");
    assert_eq!(records[1].len(), "2 2 a ".len() + 100_000);
    assert_eq!(writer.tail().off as usize, text.len());
}

#[test]
fn a_short_write_is_taken_back_and_what_is_staged_is_written_later() {
    let Setup {
        disk, mut writer, ..
    } = setup(0);
    writer.push(1, Kind::Agent, b"before");
    let before = writer.commit().unwrap();
    let text = disk.text(1);
    writer.push(2, Kind::Note, b"{}");
    writer.push(3, Kind::Host, &[b'x'; 500]);
    for room in [0, 1, 9, 10, 11, 300] {
        disk.state().room = Some(room);
        let full = writer.commit();
        assert!(matches!(full, Err(AppendError::Full { errno: NOSPC })));
        assert_eq!(disk.text(1), text, "{room}");
        assert_eq!(writer.tail(), before);
    }
    disk.state().room = None;
    assert_eq!(writer.commit().unwrap().seq, 3);
    assert!(disk.text(1).starts_with(&text));
    assert_eq!(disk.text(1).lines().count(), 4);
}

#[test]
fn what_is_discarded_leaves_no_trace() {
    let Setup {
        disk, mut writer, ..
    } = setup(0);
    let Setup {
        disk: other_disk,
        writer: mut other,
        ..
    } = setup(0);
    for writer in [&mut writer, &mut other] {
        for at in 0..7 {
            writer.push(at, Kind::Agent, b"kept");
        }
        writer.commit().unwrap();
    }
    // Enough for a head among them.
    for _ in 0..8 {
        writer.push(90, Kind::Agent, b"gone");
    }
    writer.head(90);
    writer.push_owned(90, Kind::Agent, vec![b'x'; 70_000]);
    writer.discard();
    assert_eq!(writer.staged(), 0);
    for writer in [&mut writer, &mut other] {
        for at in 7..30 {
            writer.push(at, Kind::Agent, b"kept");
        }
        writer.head(30);
        writer.commit().unwrap();
    }
    assert_eq!(disk.text(1), other_disk.text(1));
}

#[test]
fn what_was_handed_over_and_discarded_comes_back_in_order() {
    let Setup { mut writer, .. } = setup(0);
    let long = |byte: u8| vec![byte; 70_000];
    writer.push_owned(1, Kind::Agent, long(b'a'));
    writer.push_owned(1, Kind::Agent, b"short, and copied".to_vec());
    writer.push_owned(1, Kind::Agent, long(b'b'));
    assert_eq!(writer.discard_owned(), [long(b'a'), long(b'b')]);
    assert_eq!((writer.staged(), writer.push(1, Kind::Agent, b"")), (0, 1));
}

#[test]
fn a_full_disk_is_told_before_a_byte_is_written_and_the_reserve_is_left() {
    let Setup {
        disk, mut writer, ..
    } = setup(1_000);
    disk.state().reserve_fails = Some(NOSPC);
    writer.push(1, Kind::Agent, &[b'x'; 400]);
    writer.commit().unwrap();
    assert_eq!(
        disk.calls(),
        ["write"],
        "half of the reserve is still there"
    );
    writer.push(2, Kind::Agent, &[b'x'; 400]);
    let full = writer.commit();
    assert!(matches!(full, Err(AppendError::Full { errno: NOSPC })));
    assert_eq!(disk.calls(), ["reserve", "reserve"]);
    assert_eq!(writer.commit_from_reserve().unwrap().seq, 2);
    assert_eq!(disk.calls(), ["reserve", "reserve", "write"]);
    disk.state().reserve_fails = None;
    writer.push(3, Kind::Agent, b"x");
    writer.commit().unwrap();
    assert!(disk.state().kept >= 500);
}

#[test]
fn a_disk_that_keeps_no_room_is_written_all_the_same() {
    let Setup {
        disk, mut writer, ..
    } = setup(1_000);
    disk.state().reserve_fails = Some(OPNOTSUPP);
    for at in 0..5 {
        writer.push(at, Kind::Agent, &[b'x'; 300]);
        writer.commit().unwrap();
    }
    let reserves = disk
        .calls()
        .iter()
        .filter(|call| **call == "reserve")
        .count();
    assert_eq!(reserves, 1, "asked once, and not again");
}

#[test]
fn a_signal_while_room_is_kept_does_not_end_the_keeping() {
    let Setup {
        disk, mut writer, ..
    } = setup(1_000);
    disk.state().interrupts = 2;
    writer.push(1, Kind::Agent, &[b'x'; 600]);
    writer.commit().unwrap();
    assert_eq!(disk.calls(), ["reserve", "reserve", "reserve", "write"]);
    // Nor where the next segment begins: on a disk that is full then, its reserve is there.
    disk.state().interrupts = 1;
    writer.roll(2, &carried()).unwrap();
    disk.state().reserve_fails = Some(NOSPC);
    writer.push(3, Kind::Agent, &[b'x'; 600]);
    let full = writer.commit();
    assert!(matches!(full, Err(AppendError::Full { errno: NOSPC })));
}

#[test]
fn a_failed_sync_is_never_tried_again() {
    let Setup {
        disk, mut writer, ..
    } = setup(0);
    writer.push(1, Kind::Agent, b"one");
    writer.commit().unwrap();
    assert_eq!(writer.sync().unwrap(), 1);
    assert_eq!(disk.calls(), ["write", "sync", "sync folder"]);
    assert_eq!(writer.sync().unwrap(), 1);
    assert!(disk.calls().is_empty(), "nothing is new");
    writer.push(2, Kind::Agent, b"two");
    writer.commit().unwrap();
    disk.state().sync_fails = true;
    assert!(matches!(writer.sync(), Err(SyncError::Failed(_))));
    disk.state().sync_fails = false;
    disk.calls();
    assert!(matches!(writer.sync(), Err(SyncError::FailedBefore)));
    assert!(disk.calls().is_empty());
    assert_eq!(writer.synced(), 1);
    assert!(writer.roll(3, &carried()).is_err());
    // Nor is anything written behind what may be lost.
    writer.push(3, Kind::Agent, b"three");
    let appended = writer.commit();
    assert!(matches!(appended, Err(AppendError::Broken { .. })));
    assert!(disk.calls().is_empty());
}

#[test]
fn after_an_unknown_error_or_a_failed_cut_nothing_is_written() {
    let Setup {
        disk, mut writer, ..
    } = setup(0);
    disk.state().write_fails = Some(IO);
    writer.push(1, Kind::Agent, b"one");
    assert!(matches!(writer.commit(), Err(AppendError::Broken { .. })));
    disk.state().write_fails = None;
    disk.calls();
    assert!(matches!(writer.commit(), Err(AppendError::Broken { .. })));
    assert!(disk.calls().is_empty());
    let Setup {
        disk, mut writer, ..
    } = setup(0);
    disk.state().room = Some(3);
    disk.state().cut_fails = true;
    writer.push(1, Kind::Agent, b"one");
    assert!(matches!(writer.commit(), Err(AppendError::Broken { .. })));
}

#[test]
fn a_segment_is_closed_in_order() {
    let Setup {
        disk, mut writer, ..
    } = setup(0);
    writer.push(1, Kind::Agent, &[b'x'; 1_000]);
    writer.commit().unwrap();
    assert!(writer.should_roll());
    writer.sync().unwrap();
    disk.calls();
    writer.roll(2, &carried()).unwrap();
    let order = [
        "write",
        "sync",
        "create",
        "write",
        "cut",
        "sync",
        "sync folder",
    ];
    assert_eq!(disk.calls(), order);
    let closed = disk.text(1);
    let head = closed.lines().last().unwrap();
    assert!(head.contains("\"event\":\"head\""), "{head}");
    let next = disk.text(2);
    let (header, rest) = next.split_once('\n').unwrap();
    // The marks from its last head on are that of the head.
    let marks = format!("{:08x}", crc32fast::hash(head.as_bytes()));
    let mark = crc32fast::hash(marks.as_bytes());
    assert_eq!(header, format!("#countersign-journal 2 s-1 1 3 {mark:08x}"));
    let first = Record::parse(rest.trim_end().as_bytes()).unwrap();
    assert_eq!((first.seq, first.kind), (3, Kind::Keeper));
    assert!(!writer.should_roll());
    assert_eq!((writer.tail().seg, writer.synced()), (2, 3));
}

fn is_full(error: &RollError) -> bool {
    matches!(error, RollError::Append(AppendError::Full { .. }))
}

#[test]
fn without_room_for_the_next_segment_the_old_one_goes_on() {
    // No room for the head, for half of it, for the header, for half of that, for the sum behind it.
    for room in [0, 25, 60, 85, 110] {
        let Setup {
            disk, mut writer, ..
        } = setup(0);
        writer.push(1, Kind::Agent, &[b'x'; 1_000]);
        writer.commit().unwrap();
        disk.state().room = Some(room);
        let rolled = writer.roll(2, &carried());
        assert!(rolled.as_ref().is_err_and(is_full), "{room} {rolled:?}");
        assert_eq!(disk.text(2), "", "{room}");
        assert_eq!(writer.tail().seg, 1);
        disk.state().room = None;
        writer.push(3, Kind::Agent, b"on");
        writer.commit().unwrap();
        assert!(disk.text(1).ends_with(" a on\n"));
        writer.roll(4, &carried()).unwrap();
        assert_eq!(writer.tail().seg, 2);
    }
}

#[test]
fn times_do_not_fall_and_notes_stay_with_their_lines() {
    let Setup {
        disk, mut writer, ..
    } = setup(0);
    writer.push(100, Kind::Agent, b"x");
    writer.push(50, Kind::Agent, b"y");
    for at in 0..40 {
        writer.push(at, Kind::Note, b"{}");
        writer.push(at, Kind::Host, b"{}");
    }
    writer.commit().unwrap();
    let text = disk.text(1);
    let records: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| Record::parse(line.as_bytes()).unwrap())
        .collect();
    assert!(records.iter().all(|record| record.at == 100));
    assert!(
        records
            .iter()
            .filter(|record| record.kind == Kind::Keeper)
            .count()
            > 5
    );
    for pair in records.windows(2) {
        assert_eq!(pair[0].kind == Kind::Note, pair[1].kind == Kind::Host);
    }
}

#[test]
fn memory_goes_back_after_a_long_line() {
    let Setup { mut writer, .. } = setup(0);
    writer.push(1, Kind::Agent, &vec![b'x'; 4 << 20]);
    let longest = (4 << 20) + 100;
    assert!(writer.stage.held() <= longest, "{}", writer.stage.held());
    writer.commit().unwrap();
    assert!(writer.stage.held() <= 512 << 10, "{}", writer.stage.held());
    writer.push_owned(1, Kind::Agent, vec![b'x'; 4 << 20]);
    assert!(writer.stage.held() <= longest + (512 << 10));
    writer.commit().unwrap();
    assert!(writer.stage.held() <= 512 << 10);
}
