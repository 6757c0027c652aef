//! Whoever changes, cuts or moves something is told which record it was.
//!
//! Each test does one thing to a good journal, and the good one is checked first.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_journal::{
    Cursor, Fault, HeadAt, Kind, Limits, Verdict, What, Writer, compress_closed, heads, seal,
    verify,
};

use crate::common::{carried, journal, write_lines};

/// Three segments and two generations, headed to the end: `session/journal`.
pub(crate) struct Session {
    pub(crate) dir: tempfile::TempDir,
}

impl Session {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let (mut writer, _) = journal(&path, 1);
        write_lines(&mut writer, 0, 40);
        writer.head(9_000);
        writer.commit().unwrap();
        writer.finish();
        let (mut writer, _) = journal(&path, 2);
        write_lines(&mut writer, 40, 12);
        writer.head(9_000);
        writer.commit().unwrap();
        writer.finish();
        let session = Self { dir };
        assert!(session.verdict().segments >= 3);
        session
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let verdict = verify(self.dir.path(), &[]).unwrap();
        assert_eq!(verdict.fault, None);
        verdict
    }

    pub(crate) fn fault(&self) -> Fault {
        let verdict = verify(self.dir.path(), &[]).unwrap();
        verdict.fault.expect("a fault")
    }

    pub(crate) fn segment(&self, number: u32) -> PathBuf {
        self.dir.path().join(format!("journal/{number:06}.j"))
    }

    /// Rewrites the lines of a segment.
    pub(crate) fn change(&self, number: u32, change: impl FnOnce(&mut Vec<String>)) {
        let path = self.segment(number);
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        change(&mut lines);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
    }
}

pub(crate) fn seq(line: &str) -> u64 {
    line.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_journal_that_nobody_touched_is_whole() {
    let verdict = Session::new().verdict();
    assert_eq!(verdict.generations, 2);
    assert_eq!(verdict.records, verdict.end.seq);
    assert_eq!(verdict.vouched, Some(verdict.end));
    assert!(verdict.heads >= 4);
}

#[test]
fn a_changed_record_is_named_in_every_segment() {
    for (segment, generation) in [(1, 1), (2, 1), (3, 2)] {
        for place in [1, 2, 5] {
            let session = Session::new();
            let mut expected = 0;
            session.change(segment, |lines| {
                expected = seq(&lines[place]);
                lines[place] = lines[place]
                    .replacen("x", "y", 1)
                    .replacen("last_n", "last_m", 1);
            });
            let cursor = Cursor::new(generation, expected);
            let what = What::Changed;
            assert_eq!(session.fault(), Fault { cursor, what }, "{segment} {place}");
        }
    }
}

#[test]
fn a_record_that_was_cut_out_is_named() {
    let session = Session::new();
    session.change(1, |lines| drop(lines.remove(4)));
    let cursor = Cursor::new(1, 4);
    let what = What::Cut;
    assert_eq!(session.fault(), Fault { cursor, what });
}

#[test]
fn a_record_that_was_cut_out_is_named_when_the_others_were_renumbered() {
    let session = Session::new();
    session.change(1, |lines| {
        lines.remove(4);
        for line in &mut lines[4..] {
            let (number, rest) = line.split_once(' ').unwrap();
            *line = format!("{} {rest}", number.parse::<u64>().unwrap() - 1);
        }
    });
    let fault = session.fault();
    // Every record behind it is another line now; the first of them is where it was.
    assert_eq!(fault.cursor, Cursor::new(1, 4));
}

#[test]
fn records_that_changed_places_are_named() {
    let session = Session::new();
    session.change(1, |lines| lines.swap(5, 7));
    let cursor = Cursor::new(1, 5);
    let what = What::Reordered;
    assert_eq!(session.fault(), Fault { cursor, what });
}

#[test]
fn a_record_that_was_added_is_named() {
    let session = Session::new();
    session.change(1, |lines| {
        let another = lines[6].replacen("line", "lime", 1);
        lines.insert(6, another);
    });
    let cursor = Cursor::new(1, 6);
    let what = What::Added;
    assert_eq!(session.fault(), Fault { cursor, what });
}

#[test]
fn a_line_that_is_no_record_is_named() {
    let session = Session::new();
    session.change(1, |lines| lines[3] = "nothing".to_owned());
    assert_eq!(session.fault().cursor, Cursor::new(1, 3));
}

#[test]
fn a_closed_segment_that_was_cut_short_is_noticed() {
    let session = Session::new();
    let mut last = 0;
    session.change(1, |lines| last = seq(&lines.pop().unwrap()));
    let cursor = Cursor::new(1, last);
    let what = What::Cut;
    assert_eq!(session.fault(), Fault { cursor, what });
}

#[test]
fn a_segment_that_is_missing_is_noticed() {
    let session = Session::new();
    let mut last = 0;
    session.change(1, |lines| last = seq(lines.last().unwrap()));
    fs::remove_file(session.segment(2)).unwrap();
    let cursor = Cursor::new(1, last + 1);
    let what = What::Cut;
    assert_eq!(session.fault(), Fault { cursor, what });
}

#[test]
fn a_journal_without_its_beginning_is_noticed() {
    let session = Session::new();
    fs::remove_file(session.segment(1)).unwrap();
    let cursor = Cursor::new(1, 1);
    let what = What::Cut;
    assert_eq!(session.fault(), Fault { cursor, what });
    // One segment alone cannot know, and is held against itself.
    let alone = verify(&session.segment(2), &[]).unwrap();
    assert_eq!((alone.fault, alone.segments), (None, 1));
}

#[test]
fn a_segment_whose_next_one_has_not_begun_is_the_newest() {
    let session = Session::new();
    let newest = session.verdict().segments;
    fs::write(session.segment(newest + 1), "#countersign-j").unwrap();
    let path = session.segment(newest);
    let mut text = fs::read(&path).unwrap();
    text.extend_from_slice(b"99 1 a half");
    fs::write(&path, text).unwrap();
    session.verdict();
}

#[test]
fn a_closed_segment_with_an_unfinished_end_is_noticed() {
    let session = Session::new();
    let path = session.segment(1);
    let mut text = fs::read(&path).unwrap();
    text.extend_from_slice(b"99 1 a half");
    fs::write(&path, text).unwrap();
    assert_eq!(session.fault().what, What::TornTail);
}

#[test]
fn an_unfinished_end_of_the_newest_segment_is_no_fault() {
    let session = Session::new();
    let path = session.segment(session.verdict().segments);
    let mut text = fs::read(&path).unwrap();
    text.extend_from_slice(b"99 1 a half");
    fs::write(&path, text).unwrap();
    assert_eq!(session.verdict().torn, 11);
}

#[test]
fn a_changed_head_is_named() {
    let session = Session::new();
    let mut expected = 0;
    session.change(1, |lines| {
        let head = |line: &&mut String| line.contains("\"event\":\"head\"");
        let line = lines.iter_mut().find(head).unwrap();
        expected = seq(line);
        let at = line.find("marks").unwrap() + 8;
        let digit = if &line[at..=at] == "0" { "1" } else { "0" };
        line.replace_range(at..=at, digit);
    });
    let cursor = Cursor::new(1, expected);
    let what = What::Changed;
    assert_eq!(session.fault(), Fault { cursor, what });
}

#[test]
fn a_changed_header_is_noticed() {
    let session = Session::new();
    session.change(1, |lines| lines[0] = lines[0].replacen("s-1", "s-9", 1));
    assert!(matches!(
        session.fault().what,
        What::Between { .. } | What::Header { .. }
    ));
    let session = Session::new();
    session.change(2, |lines| {
        let last = lines[0].pop().unwrap();
        lines[0].push(if last == '0' { '1' } else { '0' });
    });
    assert_eq!(session.fault().what, What::Header { segment: 2 });
}

fn mark(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

/// Changes a record and the mark of it, so that its head knows nothing of it.
fn forge_mark(lines: &mut [String], place: usize) {
    let before = mark(&lines[place]);
    lines[place] = lines[place].replacen("x", "y", 1);
    let after = mark(&lines[place]);
    let head = lines.iter_mut().find(|line| line.contains(&before));
    let head = head.expect("a head with its mark");
    let marks = head.split('"').nth(7).unwrap().to_owned();
    let forged = marks.replace(&before, &after);
    *head = head
        .replace(&marks, &forged)
        .replace(&mark(&marks), &mark(&forged));
}

#[test]
fn a_record_that_was_changed_with_its_mark_is_told_by_the_next_head() {
    let session = Session::new();
    let mut heads = Vec::new();
    session.change(1, |lines| {
        let is_head = |line: &&String| line.contains("\"event\":\"head\"");
        heads.extend(lines.iter().filter(is_head).map(|line| seq(line)));
        let place = lines.iter().position(|line| seq_or_0(line) == heads[0] + 2);
        forge_mark(lines, place.unwrap());
    });
    // The head is not the one that was written, so nothing that it vouched for is beyond doubt.
    let cursor = Cursor::new(1, heads[1]);
    let from = Cursor::new(1, heads[0]);
    let what = What::Between { from };
    assert_eq!(session.fault(), Fault { cursor, what });
    let verdict = verify(session.dir.path(), &[]).unwrap();
    assert_eq!(verdict.vouched, Some(from));
    assert_eq!(signable(&session), [from]);
}

/// What a host would sign.
pub(crate) fn signable(session: &Session) -> Vec<Cursor> {
    let found = heads(session.dir.path(), None).unwrap();
    found.heads.iter().map(|head| head.cursor).collect()
}

#[test]
fn a_head_whose_marks_do_not_reach_back_vouches_for_nothing() {
    let session = Session::new();
    let before = signable(&session);
    let newest = session.verdict().segments;
    let mut last = 0;
    session.change(newest, |lines| {
        lines[2] = lines[2].replacen("x", "y", 1);
        let is_head = |line: &String| line.contains("\"event\":\"head\"");
        lines.truncate(lines.iter().position(is_head).unwrap() + 1);
        let head = lines.last_mut().unwrap();
        last = seq(head);
        let (front, _) = head.split_once('{').unwrap();
        *head = format!("{front}{{\"event\":\"head\",\"marks\":\"\",\"sum\":\"00000000\"}}");
    });
    let Fault { cursor, what } = session.fault();
    assert_eq!(cursor, Cursor::new(2, last));
    assert!(matches!(what, What::Between { .. }), "{what:?}");
    let of_earlier = |at: &&Cursor| at.generation == 1;
    let earlier: Vec<Cursor> = before.iter().filter(of_earlier).copied().collect();
    assert_eq!(signable(&session), earlier);
}

#[test]
fn a_head_with_another_number_is_named() {
    for more in [1, 3, 5, 100] {
        let session = Session::new();
        let mut expected = 0;
        session.change(1, |lines| {
            let head = |line: &&mut String| line.contains("\"event\":\"head\"");
            let line = lines.iter_mut().find(head).unwrap();
            expected = seq(line);
            let (_, rest) = line.split_once(' ').unwrap();
            *line = format!("{} {rest}", expected + more);
        });
        let cursor = Cursor::new(1, expected);
        let what = What::Changed;
        assert_eq!(session.fault(), Fault { cursor, what }, "{more}");
    }
}

#[test]
fn the_last_head_of_a_segment_is_told_by_the_next_segment() {
    let session = Session::new();
    let mut last_but_one = 0;
    let before = signable(&session);
    session.change(1, |lines| {
        let is_head = |line: &&String| line.contains("\"event\":\"head\"");
        let heads: Vec<u64> = lines.iter().filter(is_head).map(|line| seq(line)).collect();
        last_but_one = heads[heads.len() - 2];
        let place = lines
            .iter()
            .position(|line| seq_or_0(line) == last_but_one + 1);
        forge_mark(lines, place.unwrap());
    });
    let from = Cursor::new(1, last_but_one);
    assert_eq!(session.fault().what, What::Between { from });
    let sound = |at: &&Cursor| **at <= from;
    let sound: Vec<Cursor> = before.iter().filter(sound).copied().collect();
    assert_eq!(signable(&session), sound);
}

fn seq_or_0(line: &str) -> u64 {
    line.split(' ').next().unwrap().parse().unwrap_or(0)
}

#[test]
fn compressed_segments_are_held_against_the_same_chain() {
    let session = Session::new();
    let before = session.verdict();
    let journal = session.dir.path().join("journal");
    compress_closed(&journal).unwrap();
    assert!(!session.segment(1).exists());
    assert_eq!(session.verdict(), before);
    // Somebody changes a record inside, and compresses it again.
    let packed = journal.join("000001.j.zst");
    let text = zstd::decode_all(&fs::read(&packed).unwrap()[..]).unwrap();
    let text = String::from_utf8(text)
        .unwrap()
        .replacen("line 3 x", "line 3 y", 1);
    fs::write(&packed, zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    let fault = session.fault();
    assert_eq!(
        (fault.cursor, fault.what),
        (Cursor::new(1, 4), What::Changed)
    );
    // Somebody damages the file itself.
    let mut bytes = fs::read(&packed).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    fs::write(&packed, bytes).unwrap();
    assert!(matches!(session.fault().what, What::Unreadable { .. }));
}

fn key() -> seal::SigningKey {
    seal::SigningKey::from_bytes(&[7; 32])
}

fn sealed() -> Session {
    let session = Session::new();
    let heads = heads(session.dir.path(), None).unwrap().heads;
    let count = seal::seal(session.dir.path(), "s-1", &key(), &heads).unwrap();
    assert_eq!(count, heads.len());
    let verdict = verify(session.dir.path(), &[key().verifying_key()]).unwrap();
    assert_eq!(verdict.fault, None);
    assert_eq!(verdict.sealed, heads.last().map(|head| head.cursor));
    session
}

fn sealed_fault(session: &Session) -> Fault {
    let verdict = verify(session.dir.path(), &[key().verifying_key()]).unwrap();
    verdict.fault.expect("a fault")
}

/// Writes the whole journal anew, with one payload changed: chain, marks and headers are right.
fn rewrite(dir: &Path, but: &str) {
    let lines = {
        let mut reader = countersign_journal::Reader::open(dir).unwrap();
        let mut lines = Vec::new();
        while let countersign_journal::Step::Record(record) = reader.next().unwrap() {
            let payload = record.payload.to_vec();
            let (at, kind) = (record.at, record.kind);
            lines.push((reader.generation(), at, kind, payload));
        }
        lines
    };
    let journal = dir.join("journal");
    fs::remove_dir_all(&journal).unwrap();
    let mut generation = 0;
    let mut writer: Option<Writer> = None;
    for (of, at, kind, payload) in lines {
        if of != generation {
            generation = of;
            writer = Some(
                Writer::open(&journal, "s-1", of, Limits::default())
                    .unwrap()
                    .0,
            );
        }
        let writer = writer.as_mut().unwrap();
        if kind == Kind::Keeper && payload.starts_with(b"{\"event\":\"head\"") {
            writer.head(at);
        } else {
            let text = String::from_utf8(payload)
                .unwrap()
                .replacen(but, "changed ", 1);
            writer.push(at, kind, text.as_bytes());
        }
        writer.commit().unwrap();
    }
}

#[test]
fn a_journal_that_was_written_anew_is_told_by_its_seals_alone() {
    let session = sealed();
    rewrite(session.dir.path(), "line 3 ");
    assert_eq!(verify(session.dir.path(), &[]).unwrap().fault, None);
    assert!(matches!(sealed_fault(&session).what, What::Between { .. }));
}

#[test]
fn behind_what_was_signed_and_is_no_more_nothing_is_signed() {
    // Written anew with another word, and with a seal that was changed.
    let session = sealed();
    let seals = seal::read(session.dir.path()).unwrap();
    let of_middle = &seals[seals.len() / 2];
    let behind = heads(session.dir.path(), Some(of_middle)).unwrap();
    assert_eq!((behind.heads.is_empty(), behind.fault), (false, None));
    let mut other = of_middle.clone();
    other.before = Some("1".repeat(64));
    let mut gone = of_middle.clone();
    gone.seq += 1;
    for seal in [&other, &gone] {
        let found = heads(session.dir.path(), Some(seal)).unwrap();
        assert!(found.heads.is_empty() && found.fault.is_some(), "{seal:?}");
    }
    rewrite(session.dir.path(), "line 3 ");
    let found = heads(session.dir.path(), Some(of_middle)).unwrap();
    assert!(found.heads.is_empty() && found.fault.is_some());
}

#[test]
fn what_was_sealed_and_is_cut_off_the_end_is_named() {
    let session = sealed();
    let newest = session.verdict().segments;
    let mut last = 0;
    session.change(newest, |lines| {
        lines.truncate(6);
        last = seq(&lines[5]);
    });
    assert_eq!(session.verdict().end.seq, last);
    let cursor = Cursor::new(2, last + 1);
    let what = What::Cut;
    assert_eq!(sealed_fault(&session), Fault { cursor, what });
}

#[test]
fn seals_of_another_key_or_session_do_not_count() {
    let session = sealed();
    let other = seal::SigningKey::from_bytes(&[8; 32]).verifying_key();
    let verdict = verify(session.dir.path(), &[other]).unwrap();
    assert_eq!(verdict.fault.unwrap().what, What::BadSeal);
    let seals = session.dir.path().join("seals");
    let text = fs::read_to_string(&seals).unwrap();
    let first = seal::read(session.dir.path()).unwrap().remove(0);
    assert!(first.is_by(&key().verifying_key(), "s-1"));
    assert!(!first.is_by(&key().verifying_key(), "s-2"));
    let mut moved = first.clone();
    moved.seq += 1;
    assert!(!moved.is_by(&key().verifying_key(), "s-1"));
    fs::write(&seals, text.replacen("\"seq\"", "\"sex\"", 1)).unwrap();
    assert_eq!(sealed_fault(&session).what, What::BadSeal);
}

#[test]
fn a_seal_that_was_not_finished_is_written_again() {
    let session = sealed();
    let seals = session.dir.path().join("seals");
    let text = fs::read(&seals).unwrap();
    fs::write(&seals, &text[..text.len() - 5]).unwrap();
    let heads = heads(session.dir.path(), None).unwrap().heads;
    let again = seal::seal(session.dir.path(), "s-1", &key(), &heads).unwrap();
    assert_eq!(again, 1);
    assert_eq!(fs::read(&seals).unwrap(), text);
    assert_eq!(
        seal::seal(session.dir.path(), "s-1", &key(), &heads).unwrap(),
        0
    );
}

#[test]
fn what_is_not_as_it_was_marked_is_not_signed() {
    let session = Session::new();
    let whole = heads(session.dir.path(), None).unwrap();
    assert_eq!(whole.fault, None);
    let mut changed = 0;
    session.change(2, |lines| {
        changed = seq(&lines[3]);
        lines[3] = lines[3].replacen("x", "y", 1);
    });
    let found = heads(session.dir.path(), None).unwrap();
    let cursor = Cursor::new(1, changed);
    let what = What::Changed;
    assert_eq!(found.fault, Some(Fault { cursor, what }));
    let before = |head: &&HeadAt| head.cursor < cursor;
    let expected: Vec<HeadAt> = whole.heads.iter().filter(before).cloned().collect();
    assert!(!expected.is_empty());
    assert_eq!(found.heads, expected);
    // Nor is anything behind it, once it was found.
    seal::seal(session.dir.path(), "s-1", &key(), &found.heads).unwrap();
    let last = seal::read(session.dir.path()).unwrap().pop();
    let again = heads(session.dir.path(), last.as_ref()).unwrap();
    assert_eq!((again.heads, again.fault), (Vec::new(), found.fault));
}

#[test]
fn a_record_behind_the_last_head_of_a_run_is_told_by_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    // Its writer is killed: there is no head at the end.
    let (mut writer, _) = journal(&path, 1);
    write_lines(&mut writer, 0, 20);
    drop(writer);
    let (mut writer, _) = journal(&path, 2);
    write_lines(&mut writer, 20, 2);
    writer.head(9_000);
    writer.commit().unwrap();
    writer.finish();
    assert_eq!(verify(dir.path(), &[]).unwrap().fault, None);
    let segment = path.join("000001.j");
    let text = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, text.replacen("line 19 x", "line 19 y", 1)).unwrap();
    let fault = verify(dir.path(), &[]).unwrap().fault.unwrap();
    assert!(matches!(fault.what, What::Between { .. }), "{fault}");
}

#[test]
fn a_key_is_made_once_and_is_nobody_elses() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("host/seal.key");
    let made = seal::load_or_create(&path, &[1; 32]).unwrap();
    let again = seal::load_or_create(&path, &[2; 32]).unwrap();
    assert_eq!(made, again);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let public = made.verifying_key();
    let text = seal::public_text(&public);
    assert_eq!(seal::public_from_text(&text), Some(public));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let open = seal::load(&path);
    assert!(matches!(open, Err(seal::KeyError::Open { .. })));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, "something").unwrap();
    assert!(matches!(
        seal::load(&path),
        Err(seal::KeyError::Text { .. })
    ));
}

#[test]
fn the_sum_of_a_rolled_segment_is_part_of_the_chain() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let (mut writer, _) = journal(&path, 1);
    write_lines(&mut writer, 0, 3);
    writer.roll(50, &carried()).unwrap();
    writer.roll(51, &carried()).unwrap();
    let verdict = verify(dir.path(), &[]).unwrap();
    assert_eq!((verdict.fault, verdict.segments), (None, 3));
}
