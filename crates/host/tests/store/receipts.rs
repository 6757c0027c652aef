//! Receipts: the same key does nothing twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use countersign_host::control::{Cmd, Command, ControlError, Did, Digest, Receipt};
use countersign_host::store::{Durability, Store, StoreError, receipts};

use crate::stage::{Stage, is_set, refused, session_id, set, write};

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn once(
    store: &Store,
    key: &str,
    digest: Digest,
    now: u64,
    done: &Arc<AtomicU32>,
) -> Result<Receipt, StoreError> {
    let (key, done) = (key.to_owned(), Arc::clone(done));
    store.write_blocking(Durability::Full, move |connection| {
        receipts::once(connection, &key, &digest, now, |_| {
            done.fetch_add(1, Ordering::SeqCst);
            let session = session_id(now);
            Ok(Did::Session { session })
        })
    })
}

#[test]
fn the_same_key_and_command_give_the_same_receipt_and_do_nothing_twice() {
    let stage = Stage::new();
    let store = stage.store();
    let done = Arc::default();
    let first = once(&store, "k", digest("a"), 1, &done).unwrap();
    assert_eq!(first.key, "k");
    assert_eq!(once(&store, "k", digest("a"), 2, &done).unwrap(), first);
    drop(store);
    let store = stage.store();
    assert_eq!(once(&store, "k", digest("a"), 3, &done).unwrap(), first);
    assert_eq!(done.load(Ordering::SeqCst), 1);
}

#[test]
fn a_key_that_was_used_for_another_command_is_refused() {
    let stage = Stage::new();
    let store = stage.store();
    let done = Arc::default();
    once(&store, "k", digest("a"), 1, &done).unwrap();
    let error = once(&store, "k", digest("b"), 2, &done).unwrap_err();
    let key = "k".to_owned();
    assert_eq!(ControlError::from(error), ControlError::KeyReused { key });
    assert_eq!(done.load(Ordering::SeqCst), 1);
    once(&store, "other", digest("b"), 2, &done).unwrap();
}

#[test]
fn a_deed_that_fails_leaves_no_receipt_and_nothing_else() {
    let stage = Stage::new();
    let store = stage.store();
    refused(&store, |connection| {
        receipts::once(connection, "k", &digest("a"), 1, |connection| {
            set("half")(connection)?;
            Err(StoreError::Invalid("not now".to_owned()))
        })
    });
    assert!(!is_set(&store, "half"));
    let found = write(&store, |connection| {
        receipts::find(connection, "k", &digest("a"))
    });
    assert_eq!(found, None);
}

#[test]
fn receipts_are_forgotten_after_thirty_days() {
    let stage = Stage::new();
    let store = stage.store();
    let done = Arc::default();
    let day = 24 * 60 * 60 * 1_000_000;
    once(&store, "old", digest("a"), day, &done).unwrap();
    once(&store, "young", digest("a"), 2 * day, &done).unwrap();
    let purge = |now| write(&store, move |connection| receipts::purge(connection, now));
    assert_eq!(purge(31 * day), 0);
    assert_eq!(purge(31 * day + 1), 1);
    let error = once(&store, "young", digest("b"), 3 * day, &done).unwrap_err();
    assert!(matches!(error, StoreError::KeyReused(_)));
    once(&store, "old", digest("b"), 3 * day, &done).unwrap();
}

#[test]
fn a_command_is_the_same_if_the_same_person_wants_the_same() {
    let cmd = |principal: &str, client: &str| Cmd::of(principal, client).key("k");
    let stop = |number| Command::Stop {
        session: session_id(number),
    };
    let of = |cmd: &Cmd, command: &Command| receipts::digest(cmd, command).unwrap();
    let one = of(&cmd("ann", "web"), &stop(1));
    assert_eq!(of(&cmd("ann", "terminal"), &stop(1)), one);
    assert_ne!(of(&cmd("ann", "web"), &stop(2)), one);
    assert_ne!(of(&cmd("ben", "web"), &stop(1)), one);
}
