//! Approvals: decided once, on what was seen, and listed with the oldest open one first.

use countersign_host::control::approval::{Decided, Effect, Life, Outcome, Withdrawal};
use countersign_host::control::{ApprovalFilter, ControlError, Digest};
use countersign_host::store::approvals::{self, ApprovalRow};
use countersign_host::store::{Durability, Store, StoreError};
use serde_json::json;

use crate::stage::{Stage, approval_row, read, refused, session_id, with_sessions, write};

fn with_approvals(store: &Store, session: u64, seqs: impl IntoIterator<Item = u64>) {
    let rows: Vec<ApprovalRow> = seqs
        .into_iter()
        .map(|seq| approval_row(session_id(session), seq))
        .collect();
    write(store, move |connection| {
        rows.iter().try_for_each(|row| {
            assert!(approvals::insert(connection, row)?);
            Ok(())
        })
    });
}

fn decided(by: &str) -> Decided {
    Decided {
        effect: Effect::Allow,
        way: None,
        by: by.to_owned(),
        why: String::new(),
        client: "web".to_owned(),
        at: 7,
        decision: json!({"decision": "allow"}),
    }
}

fn set_life(store: &Store, session: u64, seq: u64, life: Life) {
    let id = approval_row(session_id(session), seq).id;
    write(store, move |connection| {
        approvals::set_life(connection, id, &life)
    });
}

#[test]
fn an_approval_is_decided_once_by_whoever_is_first() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    with_approvals(&store, 1, [5]);
    let row = approval_row(session_id(1), 5);
    let winners: Vec<Result<ApprovalRow, StoreError>> = std::thread::scope(|scope| {
        let tries = (0..20).map(|number| {
            let (id, digest, store) = (row.id, row.digest.clone(), &store);
            scope.spawn(move || {
                store.write_blocking(Durability::Full, move |connection| {
                    let answer = json!({"behavior": "allow"});
                    let decided = decided(&format!("person {number}"));
                    approvals::decide(connection, id, &digest, &decided, Some(&answer))
                })
            })
        });
        let tries: Vec<_> = tries.collect();
        tries.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let won: Vec<&ApprovalRow> = winners.iter().flatten().collect();
    assert_eq!(won.len(), 1);
    let stored = read(&store, |connection| approvals::get(connection, row.id));
    assert_eq!(stored, *won[0]);
    assert_eq!(stored.life, Life::Decided);
    let by = stored.decided.unwrap().by;
    for lost in winners.into_iter().filter_map(Result::err) {
        let ControlError::Conflict { first, holds } = lost.into() else {
            panic!("a conflict");
        };
        assert!(first.contains(&by), "{first}");
        assert_eq!(holds.unwrap()["by"], by);
    }
}

#[test]
fn a_decision_on_something_else_than_what_is_asked_is_refused() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    with_approvals(&store, 1, [5]);
    let row = approval_row(session_id(1), 5);
    let error = refused(&store, move |connection| {
        let saw = Digest::of(b"another input");
        approvals::decide(connection, row.id, &saw, &decided("me"), None)
    });
    assert!(matches!(error, StoreError::Stale(now) if now == row.digest));
    let stored = read(&store, |connection| approvals::get(connection, row.id));
    assert_eq!(stored.life, Life::Open);

    let why = Withdrawal::Cancelled;
    set_life(&store, 1, 5, Life::Withdrawn { why });
    let digest = stored.digest;
    let error = refused(&store, move |connection| {
        approvals::decide(connection, row.id, &digest, &decided("me"), None)
    });
    assert!(matches!(error, StoreError::Withdrawn(_)), "{error}");
}

#[test]
fn a_question_that_is_read_again_leaves_the_decision_alone() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    with_approvals(&store, 1, [5]);
    let row = approval_row(session_id(1), 5);
    let (id, digest) = (row.id, row.digest.clone());
    let stored = write(&store, move |connection| {
        let answer = json!({"behavior": "allow"});
        approvals::decide(connection, id, &digest, &decided("me"), Some(&answer))
    });
    let is_new = write(&store, move |connection| {
        approvals::insert(connection, &row)
    });
    assert!(!is_new);
    assert_eq!(
        read(&store, |connection| approvals::get(connection, id)),
        stored
    );
}

#[test]
fn policy_may_add_to_a_question_but_not_change_it() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    with_approvals(&store, 1, [5]);
    let mut row = approval_row(session_id(1), 5);
    row.reason = "the folder is not ours".to_owned();
    row.expires = Some(99);
    let mut other = row.clone();
    other.input = json!({"command": "rm -rf /"});
    other.digest = Digest::of(b"x");
    write(&store, move |connection| {
        approvals::save(connection, &other)
    });
    assert_eq!(
        read(&store, |connection| approvals::get(connection, row.id)),
        row
    );
}

fn seqs(rows: &[ApprovalRow]) -> Vec<u64> {
    rows.iter().map(|row| row.seq).collect()
}

#[test]
fn pages_begin_with_the_oldest_open_one_and_go_on_with_the_newest_of_the_others() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    with_approvals(&store, 1, 1..=6);
    with_approvals(&store, 2, [7]);
    let settled = || Life::Settled {
        outcome: Outcome::Ran,
    };
    for seq in [1, 3, 5] {
        set_life(&store, 1, seq, settled());
    }
    // Open: 2 4 6 7. Others, newest first: 5 3 1.
    let mut pages = Vec::new();
    let mut filter = ApprovalFilter {
        most: 2,
        ..ApprovalFilter::default()
    };
    loop {
        let page = read(&store, |connection| approvals::list(connection, &filter));
        pages.push(seqs(&page.items));
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    assert_eq!(pages, [vec![2, 4], vec![6, 7], vec![5, 3], vec![1]]);

    let some = |filter: ApprovalFilter| {
        let page = read(&store, |connection| approvals::list(connection, &filter));
        assert_eq!(page.next, None);
        seqs(&page.items)
    };
    let life = Some("settled".to_owned());
    assert_eq!(
        some(ApprovalFilter {
            life,
            ..ApprovalFilter::default()
        }),
        [5, 3, 1]
    );
    let life = Some("open".to_owned());
    assert_eq!(
        some(ApprovalFilter {
            life,
            ..ApprovalFilter::default()
        }),
        [2, 4, 6, 7]
    );
    let session = Some(session_id(2));
    assert_eq!(
        some(ApprovalFilter {
            session,
            ..ApprovalFilter::default()
        }),
        [7]
    );
}

#[test]
fn nobody_is_passed_over_when_one_is_decided_between_two_pages() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    with_approvals(&store, 1, 1..=5);
    let mut filter = ApprovalFilter {
        most: 2,
        ..ApprovalFilter::default()
    };
    let first = read(&store, |connection| approvals::list(connection, &filter));
    assert_eq!(seqs(&first.items), [1, 2]);
    set_life(&store, 1, 2, Life::Written);
    set_life(&store, 1, 3, Life::Written);
    filter.after = first.next;
    filter.most = 10;
    let second = read(&store, |connection| approvals::list(connection, &filter));
    assert_eq!(seqs(&second.items), [4, 5, 3, 2]);
}

#[test]
fn a_cursor_is_of_its_list_only() {
    let stage = Stage::new();
    let store = stage.store();
    for after in ["", "zz", "7b7d", "5b315d", "é"] {
        let filter = ApprovalFilter {
            after: Some(after.to_owned()),
            ..ApprovalFilter::default()
        };
        let refused = store.read_blocking(|connection| approvals::list(connection, &filter));
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::Invalid(_)), "{after}: {error}");
    }
}

#[test]
fn questions_are_found_by_what_is_known_of_them() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    with_approvals(&store, 1, 1..=4);
    let mut asks = approval_row(session_id(1), 9);
    asks.tool = "Write".to_owned();
    asks.expires = Some(50);
    write(&store, move |connection| {
        approvals::insert(connection, &asks)
    });
    set_life(&store, 1, 1, Life::Written);
    set_life(
        &store,
        1,
        2,
        Life::Settled {
            outcome: Outcome::Ran,
        },
    );
    let id = session_id(1);
    read(&store, |connection| {
        let found = approvals::by_request(connection, id, 1, "request-3")?;
        assert_eq!(found.map(|row| row.seq), Some(3));
        assert_eq!(approvals::by_request(connection, id, 2, "request-3")?, None);
        let found = approvals::by_call(connection, id, "call-4")?;
        assert_eq!(found.map(|row| row.seq), Some(4));
        assert_eq!(seqs(&approvals::unsettled(connection, id)?), [1, 3, 4, 9]);
        let one = approval_row(id, 3);
        assert_eq!(seqs(&approvals::alike(connection, one.id)?), [3, 4]);
        assert!(approvals::has_business(connection, id)?, "9 expires");
        Ok(())
    });
    // A loss of power took the end of the journal.
    let gone = write(&store, move |connection| {
        approvals::forget_behind(connection, id, 1, 3)
    });
    assert_eq!(gone, 2);
    assert!(!read(&store, move |it| approvals::has_business(it, id)));
    set_life(&store, 1, 3, Life::Decided);
    assert!(read(&store, move |it| approvals::has_business(it, id)));
    set_life(&store, 1, 3, Life::Open);
    // All that an agent said went with it.
    let mut row = approval_row(id, 77);
    (row.generation, row.seq) = (2, 1);
    let gone = write(&store, move |connection| {
        approvals::insert(connection, &row)?;
        approvals::forget_behind(connection, id, 1, 9)
    });
    assert_eq!(gone, 1);
}
