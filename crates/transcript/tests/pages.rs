//! Pages of a journal, against the fold in one go.
//!
//! Owns the journals they are read from, written by the real writer. Invariant held: pages put together are the
//! transcript, wherever blocks end, however often the journal was caught up with, and whatever was taken up from the shelf.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

mod made;
mod support;

use std::cell::RefCell;
use std::path::Path;

use countersign_journal::{Cursor, Limits, Reader, Writer};
use countersign_transcript::pages::{Every, Key, Memory, Page, Pages, Shelf, ShelfError};
use countersign_transcript::{Entry, EntryId, Fold, Life};
use proptest::prelude::*;
use support::{Owned, Tape, fold, recordings};

/// Writes records as the keepers of their generations would. The numbers are those of the records.
fn write(dir: &Path, records: &[Owned]) {
    let mut at = 0;
    while let Some(first) = records.get(at) {
        let generation = first.generation;
        let limits = Limits {
            head_every: u32::MAX,
            ..Limits::default()
        };
        let (mut writer, _) = Writer::open(dir, "s", generation, limits).unwrap();
        while let Some(record) = records
            .get(at)
            .filter(|record| record.generation == generation)
        {
            let seq = writer.push(record.at, record.kind, &record.payload);
            assert_eq!(seq, record.seq);
            at += 1;
        }
        writer.commit().unwrap();
        writer.finish();
    }
}

/// All pages, newest first, put together.
fn all<S: Shelf>(pages: &Pages<S>, reader: &mut Reader, most: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut page: Page = pages.newest(reader, most).unwrap();
    loop {
        assert!(page.entries.len() <= most);
        let older = page.older;
        page.entries.append(&mut entries);
        entries = page.entries;
        let Some(id) = older else { return entries };
        assert_eq!(Some(id), entries.first().map(|entry| entry.id));
        page = pages.before(reader, id, most).unwrap();
    }
}

fn every(records: u32) -> Every {
    Every {
        records,
        entries: 64,
    }
}

/// A shelf that notes what is taken from it.
#[derive(Default)]
struct Noting {
    shelf: Memory,
    taken: RefCell<Vec<String>>,
}

impl Shelf for Noting {
    fn get(&self, key: Key) -> Result<Option<Vec<u8>>, ShelfError> {
        self.taken.borrow_mut().push(key.to_string());
        self.shelf.get(key)
    }

    fn put(&mut self, key: Key, value: &[u8]) -> Result<(), ShelfError> {
        self.shelf.put(key, value)
    }
}

#[test]
fn the_fold_behind_any_record_is_the_one_up_to_there_and_costs_a_block() {
    const LENGTH: u64 = 5;
    let is_short = |records: &&(String, Vec<Owned>)| records.1.len() <= 200;
    for (name, records) in recordings().iter().filter(is_short) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), records);
        let mut reader = Reader::open(dir.path()).unwrap();
        let mut pages = Pages::open(Noting::default(), every(LENGTH as u32)).unwrap();
        pages.catch_up(&mut reader).unwrap();
        let mut whole = Fold::new();
        for owned in records {
            whole.step(owned.generation, &owned.record());
            let found = pages.fold_behind(&mut reader, whole.cursor()).unwrap();
            let text = |fold: &Fold| serde_json::to_string(&fold.checkpoint()).unwrap();
            assert_eq!(
                text(&found),
                text(&whole),
                "{name} behind {}",
                whole.cursor()
            );
        }
        let last = whole.cursor();
        let beyond = Cursor::new(last.generation, last.seq + 100);
        let found = pages.fold_behind(&mut reader, beyond).unwrap();
        assert_eq!(found.cursor(), last, "{name}: as far as it goes");
        let noting = pages.into_shelf();
        let taken = noting.taken.borrow();
        let folds = taken.iter().filter_map(|name| name.strip_prefix("fold "));
        let seqs = folds.filter_map(|cursor| cursor.split_once('-')?.1.parse::<u64>().ok());
        let least = seqs.filter(|seq| *seq > 0).collect::<Vec<_>>();
        // One checkpoint for each look, never an earlier one.
        assert!(
            least.windows(2).all(|two| two[0] <= two[1]),
            "{name}: {least:?}"
        );
    }
}

#[test]
fn pages_put_together_are_the_transcript() {
    for (name, records) in recordings() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &records);
        let (whole, entries) = fold(&records);
        let entries = entries.into_vec();
        let is_long = records.iter().any(|record| record.payload.len() > 100_000);
        for length in if is_long {
            [1000].iter()
        } else {
            [1, 5].iter()
        } {
            let length = *length;
            let mut reader = Reader::open(dir.path()).unwrap();
            let mut pages = Pages::open(Memory::default(), every(length)).unwrap();
            pages.catch_up(&mut reader).unwrap();
            assert_eq!(pages.cursor(), whole.cursor(), "{name}");
            assert_eq!(pages.totals(), whole.totals(), "{name}");
            for most in [3, 100] {
                assert!(
                    all(&pages, &mut reader, most) == entries,
                    "{name} {length} {most}"
                );
            }
        }
    }
}

/// A session in which a sub-agent and a question stay open over many blocks.
fn long_session(turns: usize) -> Vec<Owned> {
    let mut tape = Tape::new();
    tape.agent(r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Task","input":{"description":"long"}}]}}"#);
    tape.agent(r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Task","tool_use_id":"t","input":{"description":"long"}}}"#);
    for turn in 0..turns {
        tape.wait(1).agent(format!(
            r#"{{"type":"assistant","message":{{"id":"m{turn}","content":[{{"type":"text","text":"turn {turn}"}}]}}}}"#
        ));
    }
    tape.host(r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow","updatedInput":{"description":"long"}}}}"#);
    tape.agent(r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}}"#);
    tape.agent(
        r#"{"type":"assistant","message":{"id":"z","content":[{"type":"text","text":"the end"}]}}"#,
    );
    tape.records
}

#[test]
fn an_entry_that_ends_much_later_is_shown_as_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let records = long_session(500);
    write(dir.path(), &records);
    let mut reader = Reader::open(dir.path()).unwrap();
    let mut pages = Pages::open(Memory::default(), every(10)).unwrap();
    pages.catch_up(&mut reader).unwrap();
    let first = EntryId::new(Cursor::new(1, 5), 0);
    let page = pages.before(&mut reader, first, 10).unwrap();
    assert_eq!(page.entries.len(), 3);
    assert_eq!(page.entries[0].life, Life::Final);
    assert!(support::entry_text(&page.entries[0]).contains("settled: Ran"));
    assert_eq!(page.older, None);
}

#[test]
fn what_is_open_is_shown_as_it_stands_at_the_end_of_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let mut records = long_session(50);
    records.truncate(records.len() - 2);
    write(dir.path(), &records);
    let mut reader = Reader::open(dir.path()).unwrap();
    let mut pages = Pages::open(Memory::default(), every(10)).unwrap();
    pages.catch_up(&mut reader).unwrap();
    let (_, entries) = fold(&records);
    assert!(all(&pages, &mut reader, 7) == entries.into_vec());
    let open = pages
        .before(&mut reader, EntryId::new(Cursor::new(1, 3), 0), 1)
        .unwrap();
    assert_eq!(open.entries[0].life, Life::Open);
    assert!(support::entry_text(&open.entries[0]).contains("written"));
}

/// Counts what a page asks for.
struct Counting<'a> {
    shelf: &'a Memory,
    gets: std::cell::RefCell<Vec<String>>,
}

impl Shelf for Counting<'_> {
    fn get(&self, key: Key) -> Result<Option<Vec<u8>>, ShelfError> {
        self.gets.borrow_mut().push(key.to_string());
        self.shelf.get(key)
    }

    fn put(&mut self, key: Key, _: &[u8]) -> Result<(), ShelfError> {
        panic!("{key} is written by a page")
    }
}

#[test]
fn a_page_folds_the_blocks_it_shows_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let records = long_session(5_000);
    write(dir.path(), &records);
    let mut reader = Reader::open(dir.path()).unwrap();
    let mut shelf = Memory::default();
    let mut pages = Pages::open(&mut shelf, every(50)).unwrap();
    pages.catch_up(&mut reader).unwrap();
    drop(pages);
    let counting = Counting {
        shelf: &shelf,
        gets: std::cell::RefCell::default(),
    };
    let pages = Pages::open(counting, every(50)).unwrap();
    let id = EntryId::new(Cursor::new(1, 2_500), 0);
    let page = pages.before(&mut reader, id, 60).unwrap();
    assert_eq!(page.entries.len(), 60);
    let read = pages.into_shelf().gets.into_inner();
    let folds = read.iter().filter(|name| name.starts_with("fold")).count();
    // One at the opening, and the blocks that sixty entries lie in.
    assert!(folds <= 1 + 3, "{read:?}");
}

#[test]
fn checkpoints_are_taken_up_and_the_rest_is_folded() {
    let dir = tempfile::tempdir().unwrap();
    let records = long_session(300);
    let mut shelf = Memory::default();
    for length in [40, 41, 200, records.len()] {
        let part = dir.path().join(length.to_string());
        write(&part, &records[..length]);
        let mut reader = Reader::open(&part).unwrap();
        let mut pages = Pages::open(&mut shelf, every(20)).unwrap();
        assert!(pages.cursor().seq <= length as u64);
        pages.catch_up(&mut reader).unwrap();
        let (whole, entries) = fold(&records[..length]);
        assert_eq!(pages.totals(), whole.totals());
        assert!(
            all(&pages, &mut reader, 9) == entries.into_vec(),
            "{length}"
        );
    }
}

#[test]
fn records_that_a_power_loss_took_are_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let records = long_session(300);
    let mut shelf = Memory::default();
    let before = dir.path().join("before");
    write(&before, &records[..200]);
    let mut pages = Pages::open(&mut shelf, every(20)).unwrap();
    pages.catch_up(&mut Reader::open(&before).unwrap()).unwrap();
    drop(pages);
    // The same session, cut back to 130 records, then another generation that gives the numbers out again.
    let mut cut: Vec<Owned> = records[..130].to_vec();
    for record in &records[130..260] {
        cut.push(Owned {
            generation: 2,
            ..record.clone()
        });
    }
    let after = dir.path().join("after");
    write(&after, &cut);
    let mut reader = Reader::open(&after).unwrap();
    let mut pages = Pages::open(&mut shelf, every(20)).unwrap();
    pages.catch_up(&mut reader).unwrap();
    let (whole, entries) = fold(&cut);
    assert_eq!(pages.cursor(), Cursor::new(2, 260));
    assert_eq!(pages.totals(), whole.totals());
    assert!(all(&pages, &mut reader, 50) == entries.into_vec());
}

#[test]
fn an_end_that_a_power_loss_took_is_forgotten() {
    let say = |tape: &mut Tape, count: usize| {
        for _ in 0..count {
            let id = tape.records.len();
            tape.agent(format!(
                r#"{{"type":"assistant","message":{{"id":"m{id}","content":[{{"type":"text","text":"{id}"}}]}}}}"#
            ));
        }
    };
    let mut tape = Tape::new();
    say(&mut tape, 25);
    tape.agent(r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"x"}}]}}"#);
    say(&mut tape, 30);
    tape.agent(r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}}"#);
    say(&mut tape, 30);
    let dir = tempfile::tempdir().unwrap();
    let before = dir.path().join("before");
    write(&before, &tape.records);
    let mut shelf = Memory::default();
    let mut pages = Pages::open(&mut shelf, every(20)).unwrap();
    pages.catch_up(&mut Reader::open(&before).unwrap()).unwrap();
    drop(pages);
    // The call is left, its result is not: the next generation finds it without an end.
    tape.records.truncate(30);
    tape.generation = 2;
    tape.keeper(&support::opened(2, ""));
    say(&mut tape, 60);
    let after = dir.path().join("after");
    write(&after, &tape.records);
    let entries = fold(&tape.records).1.into_vec();
    let mut without_index = shelf.clone();
    without_index.put(Key::Blocks(0), b"{}").unwrap();
    for mut shelf in [shelf, without_index] {
        let mut reader = Reader::open(&after).unwrap();
        let mut pages = Pages::open(&mut shelf, every(20)).unwrap();
        pages.catch_up(&mut reader).unwrap();
        assert!(all(&pages, &mut reader, 50) == entries);
    }
}

#[test]
fn a_shelf_with_nothing_useful_on_it_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let records = long_session(100);
    write(dir.path(), &records);
    let (_, entries) = fold(&records);
    let entries = entries.into_vec();
    let mut sound = Memory::default();
    let mut reader = Reader::open(dir.path()).unwrap();
    Pages::open(&mut sound, every(20))
        .unwrap()
        .catch_up(&mut reader)
        .unwrap();
    let keys: Vec<Key> = sound.iter().map(|(key, _)| key).collect();
    for key in keys {
        if let Key::Late(_) = key {
            continue;
        }
        let mut shelf = sound.clone();
        shelf.put(key, b"{}").unwrap();
        let mut pages = Pages::open(&mut shelf, every(20)).unwrap();
        pages.catch_up(&mut reader).unwrap();
        assert!(all(&pages, &mut reader, 50) == entries, "{key}");
    }
}

/// The newest page of so many records: how many were folded for it, and how many entries it has.
fn cost_of_newest(count: usize, shape: impl Fn(usize) -> Vec<Owned>) -> (u64, usize) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &shape(count));
    let mut shelf = Memory::default();
    let mut reader = Reader::open(dir.path()).unwrap();
    let mut pages = Pages::open(&mut shelf, Every::default()).unwrap();
    pages.catch_up(&mut reader).unwrap();
    drop(pages);
    let mut pages = Pages::open(&mut shelf, Every::default()).unwrap();
    let mut reader = Reader::open(dir.path()).unwrap();
    pages.catch_up(&mut reader).unwrap();
    let page = pages.newest(&mut reader, 100).unwrap();
    (pages.folded(), page.entries.len())
}

/// Answers that come in very many small pieces.
fn small_pieces(count: usize) -> Vec<Owned> {
    let mut tape = Tape::new();
    for at in 0..count {
        tape.agent(match at % 3_000 {
            0 => r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}"#,
            1 => r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text"}}}"#,
            2_999 => r#"{"type":"stream_event","event":{"type":"message_stop"}}"#,
            _ => r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"on "}}}"#,
        });
    }
    tape.records
}

#[test]
fn the_newest_page_costs_the_same_however_long_the_session_is() {
    // A block that is not over, and the page's own records, however few entries they are.
    let most = 2 * 2_048 + 16_384;
    for shape in [long_session as fn(usize) -> Vec<Owned>, small_pieces] {
        let (short, _) = cost_of_newest(12_000, shape);
        let (long, entries) = cost_of_newest(48_000, shape);
        assert!(short <= most && long <= most, "{short} {long}");
        assert!(entries > 0);
    }
}

#[test]
fn a_list_of_blocks_in_several_parts_is_read_whole_and_cut_where_records_are_gone() {
    let dir = tempfile::tempdir().unwrap();
    let records = long_session(1_500);
    let mut shelf = Memory::default();
    let whole = dir.path().join("whole");
    write(&whole, &records);
    let mut reader = Reader::open(&whole).unwrap();
    let mut pages = Pages::open(&mut shelf, every(2)).unwrap();
    pages.catch_up(&mut reader).unwrap();
    drop(pages);
    let parts = |shelf: &Memory| {
        shelf
            .iter()
            .filter(|(key, _)| matches!(key, Key::Blocks(_)))
            .count()
    };
    assert!(parts(&shelf) > 2, "{}", parts(&shelf));
    let mut pages = Pages::open(&mut shelf, every(2)).unwrap();
    pages.catch_up(&mut reader).unwrap();
    assert!(pages.folded() <= 4, "{}", pages.folded());
    assert!(all(&pages, &mut reader, 90) == fold(&records).1.into_vec());
    drop(pages);
    for left in [700, 512, 3] {
        let cut = dir.path().join(left.to_string());
        write(&cut, &records[..left]);
        let mut reader = Reader::open(&cut).unwrap();
        let mut shelf = shelf.clone();
        for _ in 0..2 {
            let mut pages = Pages::open(&mut shelf, every(2)).unwrap();
            pages.catch_up(&mut reader).unwrap();
            assert!(all(&pages, &mut reader, 90) == fold(&records[..left]).1.into_vec());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_of_a_made_up_session_are_its_transcript(
        records in made::session(1..120),
        length in 1..40u32,
        most in 1..30usize,
    ) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &records);
        let mut reader = Reader::open(dir.path()).unwrap();
        let mut pages = Pages::open(Memory::default(), every(length)).unwrap();
        pages.catch_up(&mut reader).unwrap();
        let (whole, entries) = fold(&records);
        prop_assert_eq!(pages.totals(), whole.totals());
        prop_assert!(all(&pages, &mut reader, most) == entries.into_vec());
    }
}
