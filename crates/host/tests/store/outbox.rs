//! The outbox: numbers without a gap over all agents of a session, and messages that leave the queue with them.

use countersign_host::store::outbox::{self, LineKind, OutboxRow, SettledAs};
use countersign_host::store::{Store, queue};

use crate::stage::{Stage, message, read, session_id, until, with_sessions, write};

fn line(number: u64) -> Vec<u8> {
    let uuid = message(number).id.uuid();
    format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"role":"user"}}}}"#).into_bytes()
}

fn enter(store: &Store, session: u64, generation: u32, last_n: u64, line: Vec<u8>) -> u64 {
    write(store, move |connection| {
        outbox::enter(connection, session_id(session), generation, last_n, &line)
    })
}

fn settle(store: &Store, generation: u32, n: u64, how: SettledAs) {
    write(store, move |connection| {
        outbox::settle(connection, session_id(1), generation, n, how)
    });
}

fn unsettled(store: &Store, generation: u32) -> Vec<u64> {
    let rows = read(store, |connection| {
        outbox::unsettled(connection, session_id(1), generation)
    });
    rows.iter().map(|row| row.n).collect()
}

#[test]
fn numbers_follow_each_other_over_all_agents_of_a_session() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    let request = |subtype: &str| {
        format!(r#"{{"type":"control_request","request":{{"subtype":"{subtype}"}}}}"#).into_bytes()
    };
    assert_eq!(enter(&store, 1, 1, 0, request("initialize")), 1);
    assert_eq!(enter(&store, 1, 1, 0, line(1)), 2);
    // Another session counts for itself.
    assert_eq!(enter(&store, 2, 1, 0, line(9)), 1);
    settle(&store, 1, 1, SettledAs::Written);
    settle(&store, 1, 2, SettledAs::Written);
    // Nothing is left of what was written but the last number, and the next one follows.
    assert_eq!(enter(&store, 1, 1, 0, line(2)), 3);
    assert_eq!(unsettled(&store, 1), [3]);
    // That agent ended before it took number 3: the next keeper has 2, and 3 is free again.
    settle(&store, 1, 3, SettledAs::Refused);
    assert_eq!(enter(&store, 1, 2, 2, request("initialize")), 3);
    assert_eq!(enter(&store, 1, 2, 2, line(2)), 4);
    assert_eq!(enter(&store, 1, 2, 2, line(3)), 5);
    assert_eq!(unsettled(&store, 2), [3, 4, 5]);
}

#[test]
fn numbers_count_on_from_what_a_keeper_has_after_the_store_forgot() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    assert_eq!(enter(&store, 1, 3, 41, line(1)), 42);
    settle(&store, 3, 42, SettledAs::Written);
    write(&store, |connection| {
        outbox::forget(connection, session_id(1), 3)
    });
    assert_eq!(enter(&store, 1, 4, 42, line(2)), 43);
}

#[test]
fn a_line_is_kept_until_the_journal_has_it() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    enter(&store, 1, 1, 0, line(1));
    enter(&store, 1, 1, 0, line(2));
    let rows = read(&store, |connection| {
        outbox::unsettled(connection, session_id(1), 1)
    });
    let expected = OutboxRow {
        session: session_id(1),
        generation: 1,
        n: 2,
        kind: LineKind::Message,
        message: Some(message(2).id),
        line: Some(line(2)),
        settled: None,
    };
    assert_eq!(rows[1], expected);
    settle(&store, 1, 1, SettledAs::Written);
    settle(&store, 1, 2, SettledAs::Refused);
    let left = read(&store, |connection| {
        outbox::left_over(connection, session_id(1), 1)
    });
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!((left[0].n, left[0].settled), (2, Some(SettledAs::Refused)));
    assert_eq!(left[0].line, Some(line(2)));
}

#[test]
fn a_message_is_in_the_queue_or_on_its_way_and_gone_when_the_journal_has_it() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    write(&store, |connection| {
        queue::push(connection, session_id(1), &message(1), 0, "me")
    });
    let n = enter(&store, 1, 1, 0, line(1));
    let (waits, goes) = read(&store, |connection| {
        let waits = queue::list(connection, session_id(1))?;
        Ok((waits, queue::going(connection, session_id(1))?))
    });
    assert!(waits.is_empty());
    assert_eq!(goes[0].going, Some((1, n)));
    settle(&store, 1, n, SettledAs::Written);
    let goes = read(&store, |connection| queue::going(connection, session_id(1)));
    assert!(goes.is_empty());
}

#[cfg(unix)]
#[test]
fn a_connection_to_a_keeper_numbers_its_lines_here() {
    use countersign_host::store::outbox::StoredOutbox;
    use countersign_keeper::attach::{Outbox as _, PutOutcome};
    use countersign_keeper::protocol::{Ref, Refusal};
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    let outbox = StoredOutbox::new(store.clone(), session_id(1), 2, 7);
    let synced = store.counts().synced;
    assert_eq!(outbox.enter(&line(1)).unwrap(), 8);
    assert_eq!(
        store.counts().synced,
        synced + 1,
        "on the disk before it goes"
    );
    assert_eq!(outbox.enter(&line(2)).unwrap(), 9);
    assert_eq!(outbox.enter(&line(3)).unwrap(), 10);
    outbox.settled(&Ref::N(8), &PutOutcome::Written { seq: 3 });
    outbox.settled(
        &Ref::Answer("r".to_owned()),
        &PutOutcome::Written { seq: 4 },
    );
    outbox.settled(&Ref::N(10), &PutOutcome::Refused(Refusal::Ending));
    until("the notes are stored", || unsettled(&store, 2) == [9]);
    let nobody = StoredOutbox::new(store, session_id(9), 1, 0);
    nobody.enter(&line(1)).unwrap_err();
}
