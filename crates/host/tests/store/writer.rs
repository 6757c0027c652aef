//! One writer: groups, order, failures that stay alone, what is acknowledged when.

use std::sync::mpsc;

use countersign_host::store::{Durability, Store, StoreError, settings};

use crate::stage::{Stage, is_set, read, refused, set, until, write};

/// Holds the writer up inside of a job, until the gate is dropped.
struct Gate {
    _open: mpsc::Sender<()>,
}

impl Gate {
    fn close(store: &Store) -> Self {
        let (open, opened) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        store.post(move |_| {
            let _ = begin.send(());
            let _ = opened.recv();
            Ok(())
        });
        begun.recv().unwrap();
        Self { _open: open }
    }
}

/// Many who write at once, while the writer is held up, so that all of them wait together.
fn at_once(store: &Store, many: usize, how: Durability) {
    let gate = Gate::close(store);
    std::thread::scope(|scope| {
        for number in 0..many {
            scope.spawn(move || {
                let key = format!("of {number}");
                store.write_blocking(how, set(&key)).unwrap();
            });
        }
        until("all of them wait", || store.counts().waiting == many as u64);
        drop(gate);
    });
}

#[test]
fn writes_that_wait_together_cost_one_sync() {
    let stage = Stage::new();
    let store = stage.store();
    at_once(&store, 200, Durability::Full);
    let counts = store.counts();
    assert_eq!(counts.jobs, 201);
    // The gate, and all others. Each job may take long on a busy machine: then it is a few more.
    assert!(counts.synced <= 20, "{counts:?}");
    assert!((0..200).all(|number| is_set(&store, &format!("of {number}"))));
}

#[test]
fn one_thread_writes_whoever_asks_for_it() {
    let stage = Stage::new();
    let store = stage.store();
    let here = |store: &Store| write(store, |_| Ok(std::thread::current().id()));
    let writer = here(&store);
    assert_ne!(writer, std::thread::current().id());
    std::thread::scope(|scope| {
        let asked = (0..16).map(|_| scope.spawn(|| here(&store)));
        let asked: Vec<_> = asked.collect();
        for thread in asked {
            assert_eq!(thread.join().unwrap(), writer);
        }
    });
}

#[test]
fn what_a_journal_can_give_again_is_not_synced() {
    let stage = Stage::new();
    let store = stage.store();
    at_once(&store, 50, Durability::Normal);
    assert_eq!(store.counts().synced, 0);
    assert!(store.counts().transactions >= 2);
    assert!(is_set(&store, "of 49"));
}

#[test]
fn a_group_is_as_durable_as_the_most_careful_job_in_it() {
    let stage = Stage::new();
    let store = stage.store();
    // 1 is NORMAL, 2 is FULL, as SQLite counts.
    let level = |how| {
        let asked = store.write_blocking(how, |connection| {
            Ok(connection.pragma_query_value(None, "synchronous", |row| row.get::<_, u32>(0))?)
        });
        asked.unwrap()
    };
    assert_eq!(level(Durability::Full), 2);
    assert_eq!(level(Durability::Normal), 1);
    assert_eq!(level(Durability::Full), 2);

    let gate = Gate::close(&store);
    let (sender, seen) = mpsc::channel();
    store.post(move |connection| {
        let level =
            connection.pragma_query_value(None, "synchronous", |row| row.get::<_, u32>(0))?;
        let _ = sender.send(level);
        Ok(())
    });
    std::thread::scope(|scope| {
        scope.spawn(|| write(&store, set("careful")));
        until("both wait", || store.counts().waiting == 2);
        drop(gate);
    });
    assert_eq!(seen.recv(), Ok(2));
}

#[test]
fn whoever_is_told_of_a_note_finds_it() {
    let stage = Stage::new();
    let store = stage.store();
    let (sender, told) = mpsc::channel();
    for number in 0..50 {
        let key = format!("note {number}");
        let (looking, key_of) = (store.clone(), key.clone());
        let sender = sender.clone();
        store.post_and(set(&key), move || {
            let _ = sender.send(is_set(&looking, &key_of));
        });
    }
    let fails = |_: &_| Err(StoreError::Invalid("changed its mind".to_owned()));
    store.post_and(fails, move || {
        let _ = sender.send(false);
    });
    assert_eq!(told.iter().collect::<Vec<_>>(), [true; 50]);
}

#[test]
fn a_job_that_fails_takes_only_itself_back() {
    let stage = Stage::new();
    let store = stage.store();
    let gate = Gate::close(&store);
    std::thread::scope(|scope| {
        scope.spawn(|| write(&store, set("before")));
        until("the first waits", || store.counts().waiting == 1);
        let failing = scope.spawn(|| {
            refused(&store, |connection| -> Result<(), _> {
                settings::set(connection, "half", &true)?;
                Err(StoreError::Invalid("changed its mind".to_owned()))
            })
        });
        until("the failing one waits", || store.counts().waiting == 2);
        scope.spawn(|| write(&store, set("after")));
        until("all wait", || store.counts().waiting == 3);
        drop(gate);
        let error = failing.join().unwrap();
        assert_eq!(error.to_string(), "changed its mind");
    });
    assert!(is_set(&store, "before") && is_set(&store, "after"));
    assert!(!is_set(&store, "half"));
}

#[test]
fn a_mistake_in_the_words_for_the_database_takes_only_itself_back() {
    let stage = Stage::new();
    let store = stage.store();
    let error = refused(&store, |connection| {
        settings::set(connection, "half", &true)?;
        Ok(connection.execute("INSERT INTO nowhere VALUES (1)", [])?)
    });
    assert!(matches!(error, StoreError::Sqlite { .. }), "{error}");
    write(&store, set("after"));
    assert!(is_set(&store, "after") && !is_set(&store, "half"));
}

#[test]
fn a_job_that_panics_takes_only_itself_back_and_the_writer_goes_on() {
    let stage = Stage::new();
    let store = stage.store();
    let gate = Gate::close(&store);
    std::thread::scope(|scope| {
        scope.spawn(|| write(&store, set("before")));
        until("the first waits", || store.counts().waiting == 1);
        let panicking = scope.spawn(|| {
            refused(&store, |connection| -> Result<(), _> {
                settings::set(connection, "half", &true)?;
                panic!("as the test wants it")
            })
        });
        until("both wait", || store.counts().waiting == 2);
        drop(gate);
        let error = panicking.join().unwrap();
        assert!(matches!(error, StoreError::Panicked), "{error}");
    });
    write(&store, set("after"));
    assert!(is_set(&store, "before") && is_set(&store, "after"));
    assert!(!is_set(&store, "half"));
}

#[test]
fn a_job_that_ends_the_transaction_by_itself_is_not_told_as_done() {
    let stage = Stage::new();
    let store = stage.store();
    refused(&store, |connection| {
        Ok(connection.execute_batch("ROLLBACK")?)
    });
    write(&store, set("after"));
    assert!(is_set(&store, "after"));
}

#[test]
fn jobs_run_in_the_order_they_were_handed_in_whatever_they_survive() {
    let stage = Stage::new();
    let store = stage.store();
    let gate = Gate::close(&store);
    for number in 0..100_u32 {
        store.post(move |connection| {
            let before: Option<u32> = settings::get(connection, "last")?;
            assert_eq!(before, number.checked_sub(1));
            settings::set(connection, "last", &number)
        });
    }
    drop(gate);
    let last = write(&store, |connection| {
        settings::get::<u32>(connection, "last")
    });
    assert_eq!(last, Some(99));
}

#[test]
fn a_job_that_waits_for_the_writer_is_told_instead_of_waiting_for_ever() {
    let stage = Stage::new();
    let store = stage.store();
    let inner = store.clone();
    let error = refused(&store, move |_| {
        inner.write_blocking(Durability::Full, set("inner"))
    });
    assert!(matches!(error, StoreError::Nested), "{error}");
}

#[test]
fn what_waits_when_the_store_is_let_go_of_is_still_written() {
    let stage = Stage::new();
    let store = stage.store();
    let gate = Gate::close(&store);
    for number in 0..20 {
        store.post(set(&format!("late {number}")));
    }
    let closing = std::thread::spawn(move || drop(store));
    drop(gate);
    closing.join().unwrap();
    let log = stage.file().with_extension("db-wal");
    assert!(!log.exists(), "the file is closed");
    let store = stage.store();
    assert!((0..20).all(|number| is_set(&store, &format!("late {number}"))));
}

#[tokio::test]
async fn a_full_queue_makes_whoever_comes_wait_and_loses_nothing() {
    let stage = Stage::new();
    let store = stage.store();
    let gate = Gate::close(&store);
    let mut writes = tokio::task::JoinSet::new();
    for number in 0..3000_u32 {
        let store = store.clone();
        writes.spawn(async move {
            let job = set(&format!("of {number}"));
            store.write(Durability::Normal, job).await
        });
    }
    // Everybody who can, waits in the queue; the others wait for room.
    while store.counts().waiting < 1024 {
        tokio::task::yield_now().await;
    }
    for _ in 0..1000 {
        tokio::task::yield_now().await;
        assert!(store.counts().waiting <= 1024);
    }
    drop(gate);
    while let Some(done) = writes.join_next().await {
        done.unwrap().unwrap();
    }
    let stored = store.read(|connection| {
        let count = "SELECT count(*) FROM settings";
        Ok(connection.query_row(count, [], |row| row.get::<_, u32>(0))?)
    });
    assert_eq!(stored.await.unwrap(), 3000);
}

#[tokio::test]
async fn a_question_sees_one_state_while_others_write() {
    let stage = Stage::new();
    let store = stage.store();
    let (sender, go_on) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    let asking = tokio::spawn({
        let store = store.clone();
        async move {
            let question = store.read(move |connection| {
                let first: Option<bool> = settings::get(connection, "x")?;
                let _ = begin.send(());
                let _ = go_on.recv();
                Ok((first, settings::get::<bool>(connection, "x")?))
            });
            question.await
        }
    });
    while begun.try_recv().is_err() {
        tokio::task::yield_now().await;
    }
    store.write(Durability::Full, set("x")).await.unwrap();
    drop(sender);
    assert_eq!(asking.await.unwrap().unwrap(), (None, None));
    assert!(is_set(&store, "x"));
}

#[test]
fn a_question_cannot_write_and_one_that_panics_harms_nobody() {
    let stage = Stage::new();
    let store = stage.store();
    let error = store.read_blocking(set("x")).unwrap_err();
    assert!(matches!(error, StoreError::Sqlite { .. }), "{error}");
    let error = store.read_blocking(|_| -> Result<(), _> { panic!("as the test wants it") });
    assert!(matches!(error, Err(StoreError::Panicked)));
    assert!(!read(&store, |connection| Ok(connection.is_autocommit())));
    assert!(!is_set(&store, "x"));
}
