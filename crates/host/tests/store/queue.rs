//! The queue: its order under everything that can be done to it, and messages that are on their way.

use countersign_host::control::{Message, MessageId};
use countersign_host::store::{Store, StoreError, outbox, queue};
use proptest::prelude::*;
use serde_json::json;

use crate::stage::{Stage, message, read, refused, session_id, with_sessions, write};

fn waiting(store: &Store) -> Vec<String> {
    let rows = read(store, |connection| queue::list(connection, session_id(1)));
    rows.into_iter().map(|row| row.message.text).collect()
}

fn id(number: u64) -> MessageId {
    message(number).id
}

fn with_messages(numbers: impl IntoIterator<Item = u64>) -> (Stage, Store) {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    for number in numbers {
        let is_new = write(&store, move |connection| {
            queue::push(connection, session_id(1), &message(number), number, "me")
        });
        assert!(is_new);
    }
    (stage, store)
}

#[test]
fn messages_wait_in_the_order_they_came_until_somebody_moves_one() {
    let (_stage, store) = with_messages(1..=4);
    write(&store, |connection| {
        queue::edit(connection, session_id(1), id(2), "two")?;
        queue::move_before(connection, session_id(1), id(4), Some(id(1)))?;
        queue::move_before(connection, session_id(1), id(1), None)?;
        queue::move_before(connection, session_id(1), id(3), Some(id(3)))
    });
    assert_eq!(
        waiting(&store),
        ["message 4", "two", "message 3", "message 1"]
    );
    write(&store, |connection| {
        queue::move_behind(connection, session_id(1), id(1), Some(id(4)))?;
        queue::move_behind(connection, session_id(1), id(2), Some(id(9)))?;
        queue::move_behind(connection, session_id(1), id(2), None)?;
        queue::move_behind(connection, session_id(1), id(1), Some(id(1)))?;
        queue::move_behind(connection, session_id(1), id(1), Some(id(3)))
    });
    assert_eq!(
        waiting(&store),
        ["message 4", "two", "message 3", "message 1"]
    );
    let removed = write(&store, |connection| {
        queue::remove(connection, session_id(1), id(3))
    });
    assert_eq!(removed.message, message(3));
    write(&store, |connection| {
        queue::push(connection, session_id(1), &message(5), 5, "me")?;
        queue::push_front(connection, session_id(1), &message(6), 6, "me")
    });
    let expected = ["message 6", "message 4", "two", "message 1", "message 5"];
    assert_eq!(waiting(&store), expected);
}

#[test]
fn a_message_that_is_sent_again_is_there_once() {
    let (_stage, store) = with_messages([1]);
    let again = Message {
        text: "another text".to_owned(),
        ..message(1)
    };
    let is_new = write(&store, move |connection| {
        queue::push(connection, session_id(1), &again, 9, "me")
    });
    assert!(!is_new);
    assert_eq!(waiting(&store), ["message 1"]);
}

#[test]
fn a_message_with_images_comes_back_with_them() {
    let (_stage, store) = with_messages([]);
    let sent = Message {
        blocks: vec![json!({"type": "image"}), json!({"type": "document"})],
        ..message(1)
    };
    let stored = sent.clone();
    write(&store, move |connection| {
        queue::push(connection, session_id(1), &stored, 9, "me")
    });
    let row = read(&store, |connection| {
        queue::get(connection, session_id(1), id(1))
    });
    assert_eq!(row.message, sent);
    let view = row.view();
    assert_eq!((view.blocks, view.at, &*view.by), (2, 9, "me"));
}

#[test]
fn what_does_not_wait_cannot_be_changed() {
    let (_stage, store) = with_messages(1..=3);
    let line = format!(r#"{{"type":"user","uuid":"{}"}}"#, id(1).uuid());
    write(&store, move |connection| {
        outbox::enter(connection, session_id(1), 1, 0, line.as_bytes())
    });
    assert_eq!(waiting(&store), ["message 2", "message 3"]);
    let nobody =
        |error: StoreError| assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
    for gone in [id(1), id(9)] {
        let session = session_id(1);
        nobody(refused(&store, move |c| queue::edit(c, session, gone, "x")));
        nobody(refused(&store, move |c| queue::remove(c, session, gone)));
        nobody(refused(&store, move |c| {
            queue::move_before(c, session, gone, None)
        }));
        nobody(refused(&store, move |c| {
            queue::move_before(c, session, id(2), Some(gone))
        }));
    }
    // Nor by the name of another session.
    nobody(refused(&store, |c| {
        queue::edit(c, session_id(2), id(2), "x")
    }));
    nobody(refused(&store, |c| queue::remove(c, session_id(2), id(2))));
    assert_eq!(waiting(&store), ["message 2", "message 3"]);
}

#[test]
fn messages_that_never_reached_their_agent_wait_again_in_front() {
    let (_stage, store) = with_messages(1..=4);
    write(&store, |connection| {
        for number in 1..=3 {
            let line = format!(r#"{{"type":"user","uuid":"{}"}}"#, id(number).uuid());
            outbox::enter(connection, session_id(1), 1, 0, line.as_bytes())?;
        }
        // The journal has the first.
        outbox::settle_up_to(connection, session_id(1), 1, 1)
    });
    assert_eq!(waiting(&store), ["message 4"]);
    let back = write(&store, |connection| {
        queue::give_back(connection, session_id(1), 1)
    });
    assert_eq!(back, 2);
    assert_eq!(waiting(&store), ["message 2", "message 3", "message 4"]);
}

#[test]
fn a_message_that_is_given_back_stays_even_if_the_word_that_it_arrived_comes_late() {
    let (_stage, store) = with_messages(1..=2);
    write(&store, |connection| {
        let line = format!(r#"{{"type":"user","uuid":"{}"}}"#, id(2).uuid());
        outbox::enter(connection, session_id(1), 1, 0, line.as_bytes()).map(drop)
    });
    assert_eq!(waiting(&store), ["message 1"]);
    write(&store, |connection| {
        queue::put_back(connection, session_id(1), &message(2), 2, "me")
    });
    assert_eq!(waiting(&store), ["message 2", "message 1"]);
    write(&store, |connection| {
        outbox::settle_up_to(connection, session_id(1), 1, 1)
    });
    assert_eq!(waiting(&store), ["message 2", "message 1"]);
    // One that has left the queue comes back, too.
    write(&store, |connection| {
        queue::remove(connection, session_id(1), id(1))?;
        queue::put_back(connection, session_id(1), &message(1), 1, "me")
    });
    assert_eq!(waiting(&store), ["message 1", "message 2"]);
}

#[derive(Debug, Clone)]
enum Deed {
    Push(u64),
    Front(u64),
    Move(u64, Option<u64>),
    Remove(u64),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let number = || 1..8_u64;
    let deed = prop_oneof![
        number().prop_map(Deed::Push),
        number().prop_map(Deed::Front),
        (number(), proptest::option::of(number())).prop_map(|(it, before)| Deed::Move(it, before)),
        number().prop_map(Deed::Remove),
    ];
    proptest::collection::vec(deed, 0..30)
}

/// What a list would do.
fn on_list(list: &mut Vec<u64>, deed: &Deed) {
    match *deed {
        Deed::Push(it) if !list.contains(&it) => list.push(it),
        Deed::Front(it) if !list.contains(&it) => list.insert(0, it),
        Deed::Remove(it) => list.retain(|known| *known != it),
        Deed::Move(it, before) if list.contains(&it) && before != Some(it) => {
            let to = match before {
                Some(before) if !list.contains(&before) => return,
                before => before,
            };
            list.retain(|known| *known != it);
            let place = to.and_then(|to| list.iter().position(|known| *known == to));
            list.insert(place.unwrap_or(list.len()), it);
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_queue_does_what_a_list_would_do(deeds in deeds()) {
        let (_stage, store) = with_messages([]);
        let mut list = Vec::new();
        for deed in deeds {
            on_list(&mut list, &deed);
            // Refused where it names what is not there.
            let session = session_id(1);
            let _ = store.write_blocking(countersign_host::store::Durability::Normal, move |c| match deed {
                Deed::Push(it) => queue::push(c, session, &message(it), 0, "me").map(drop),
                Deed::Front(it) => queue::push_front(c, session, &message(it), 0, "me").map(drop),
                Deed::Move(it, before) => queue::move_before(c, session, id(it), before.map(id)),
                Deed::Remove(it) => queue::remove(c, session, id(it)).map(drop),
            });
            let ids = read(&store, |c| queue::ids(c, session_id(1)));
            let expected: Vec<MessageId> = list.iter().map(|it| id(*it)).collect();
            prop_assert_eq!(ids, expected);
        }
    }
}
