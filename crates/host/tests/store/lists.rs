//! Events, what was spent, sums, checkpoints, plans, rules, settings.

use countersign_host::control::approval::{Effect, Scope};
use countersign_host::control::{Happened, HostEvent, Spent};
use countersign_host::store::rules::{self, NewRule};
use countersign_host::store::shelf::{self, ShelfIn, StoredShelf};
use countersign_host::store::{Store, StoreError, events, plans, settings, usage};
use countersign_journal::Cursor;
use countersign_transcript::pages::{Key, Shelf as _};

use crate::stage::{Stage, approval_row, read, refused, session_id, with_sessions, write};

fn happen(store: &Store, many: u64) {
    write(store, move |connection| {
        for at in 0..many {
            events::add(connection, at, Some(session_id(1)), &Happened::Rules)?;
        }
        Ok(())
    });
}

fn after(store: &Store, number: u64) -> Vec<(u64, bool)> {
    let events = read(store, |connection| events::after(connection, number, 100));
    let told = |event: &HostEvent| (event.number, event.what == Happened::Gap);
    events.iter().map(told).collect()
}

#[test]
fn events_have_numbers_of_their_own_and_come_in_their_order() {
    let stage = Stage::new();
    let store = stage.store();
    assert_eq!(after(&store, 0), []);
    happen(&store, 3);
    assert_eq!(after(&store, 0), [(1, false), (2, false), (3, false)]);
    assert_eq!(after(&store, 2), [(3, false)]);
    assert_eq!(after(&store, 3), []);
    let some = read(&store, |connection| events::after(connection, 0, 2));
    assert_eq!(some.len(), 2);
    assert_eq!(some[1].session, Some(session_id(1)));
    assert_eq!(some[1].at, 1);
}

#[test]
fn who_was_away_for_too_long_hears_of_the_gap() {
    let stage = Stage::new();
    let store = stage.store();
    happen(&store, 10);
    let purge = |keep| write(&store, move |connection| events::purge(connection, keep));
    assert_eq!(purge(3), 7);
    let rest = [(8, false), (9, false), (10, false)];
    let gap = [(7, true), rest[0], rest[1], rest[2]];
    assert_eq!(after(&store, 0), gap);
    assert_eq!(after(&store, 6), gap);
    assert_eq!(after(&store, 7), rest);
    // A number of a time that is no more.
    assert_eq!(after(&store, 99), [(10, true)]);
    // All gone: numbers go on, and the gap is told.
    assert_eq!(purge(0), 3);
    assert_eq!(after(&store, 9), [(10, true)]);
    assert_eq!(after(&store, 10), []);
    happen(&store, 1);
    assert_eq!(after(&store, 10), [(11, false)]);
    assert_eq!(read(&store, events::last), 11);
}

pub(crate) fn spent(day: &str, model: &str, cost_usd: f64) -> Spent {
    Spent {
        day: day.to_owned(),
        model: model.to_owned(),
        cost_usd,
        turns: 1,
        input_tokens: 10,
        output_tokens: 20,
        cache_read_tokens: 30,
        cache_creation_tokens: 40,
    }
}

#[test]
fn what_was_spent_adds_up_by_day_and_model() {
    let stage = Stage::new();
    let store = stage.store();
    write(&store, |connection| {
        usage::add(connection, session_id(1), &spent("2026-01-30", "big", 1.0))?;
        usage::add(connection, session_id(1), &spent("2026-01-31", "big", 2.0))?;
        usage::add(connection, session_id(1), &spent("2026-01-31", "big", 0.5))?;
        usage::add(connection, session_id(2), &spent("2026-01-31", "big", 4.0))?;
        usage::add(
            connection,
            session_id(2),
            &spent("2026-01-31", "small", 8.0),
        )
    });
    let since = |day: &'static str| read(&store, |connection| usage::since(connection, day));
    assert_eq!(since("2026-01-01").cost_usd, 15.5);
    let none = since("2027-01-01").cost_usd;
    assert!(none == 0.0 && none.is_sign_positive(), "{none:?}");
    let last = since("2026-01-31");
    let expected = Spent {
        cost_usd: 6.5,
        turns: 3,
        input_tokens: 30,
        output_tokens: 60,
        cache_read_tokens: 90,
        cache_creation_tokens: 120,
        ..spent("2026-01-31", "big", 0.0)
    };
    assert_eq!(last.days, [expected, spent("2026-01-31", "small", 8.0)]);
    let of_one = read(&store, |connection| {
        usage::of_session(connection, session_id(1))
    });
    assert_eq!(of_one.cost_usd, 3.5);
    write(&store, |connection| usage::clear(connection, session_id(2)));
    assert_eq!(since("2026-01-01").cost_usd, 3.5);
}

#[test]
fn the_sums_of_a_session_come_back_as_they_were_stored() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    let sums = |store: &Store| read(store, |connection| usage::totals(connection, session_id(1)));
    let mut totals = sums(&store);
    totals.turns.begun = 7;
    let stored = totals.clone();
    write(&store, move |connection| {
        usage::set_totals(connection, session_id(1), &stored)
    });
    assert_eq!(sums(&store), totals);
}

#[test]
fn both_shelves_hold_the_same_checkpoints() {
    let fold = Key::Fold(Cursor::new(1, 42));
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    let mut stored = StoredShelf::new(store.clone(), session_id(1));
    assert_eq!(stored.get(Key::Blocks(0)).unwrap(), None);
    stored.put(Key::Blocks(0), b"one").unwrap();
    stored.put(Key::Blocks(0), b"two").unwrap();
    write(&store, move |connection| {
        let mut within = ShelfIn::new(connection, session_id(1));
        assert_eq!(
            within.get(Key::Blocks(0)).unwrap().as_deref(),
            Some(&b"two"[..])
        );
        within.put(fold, &[0, 255]).unwrap();
        assert_eq!(within.get(fold).unwrap(), Some(vec![0, 255]));
        let other = ShelfIn::new(connection, session_id(2));
        assert_eq!(other.get(Key::Blocks(0)).unwrap(), None);
        Ok(())
    });
    assert_eq!(stored.get(fold).unwrap(), Some(vec![0, 255]));
    write(&store, |connection| shelf::clear(connection, session_id(1)));
    assert_eq!(stored.get(Key::Blocks(0)).unwrap(), None);
}

#[test]
fn versions_of_a_plan_count_from_one_and_say_something_new_each() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    let approval = |seq| Some(approval_row(session_id(1), seq).id);
    let add = |approval, by: &'static str, text: &'static str| {
        write(&store, move |connection| {
            plans::add(connection, session_id(1), approval, 5, by, text)
        })
    };
    assert_eq!(add(approval(1), "agent", "a"), 1);
    // The journal is read again.
    assert_eq!(add(approval(1), "agent", "a"), 1);
    assert_eq!(add(approval(1), "ann", "b"), 2);
    assert_eq!(add(approval(2), "agent", "c"), 3);
    assert_eq!(add(None, "agent", "c"), 3);
    // Presented again as it is: the same version, asked about by another approval.
    assert_eq!(add(approval(3), "agent", "c"), 3);
    assert_eq!(add(approval(1), "agent", "a"), 1);
    let all = read(&store, |connection| plans::list(connection, session_id(1)));
    let texts: Vec<&str> = all.iter().map(|plan| &*plan.text).collect();
    assert_eq!(texts, ["a", "b", "c"]);
    let of = read(&store, |connection| {
        let shown = approval_row(session_id(1), 1).id;
        plans::of_approval(connection, session_id(1), shown)
    });
    assert_eq!(of.unwrap(), all[0]);
    let again = read(&store, |connection| {
        let again = approval_row(session_id(1), 3).id;
        plans::of_approval(connection, session_id(1), again)
    });
    assert_eq!(again.unwrap(), all[2]);
    let presented = read(&store, |connection| {
        plans::presented(connection, session_id(1))
    });
    let numbers: Vec<u32> = presented.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 3, 3]);
    let other = read(&store, |connection| plans::list(connection, session_id(2)));
    assert!(other.is_empty());
}

fn rule(scope: Scope, session: Option<u64>, repository: Option<&str>, text: &str) -> NewRule {
    NewRule {
        scope,
        session: session.map(session_id),
        repository: repository.map(str::to_owned),
        effect: Effect::Allow.into(),
        rule: text.to_owned(),
        expires: None,
        by: "ann".to_owned(),
        client: "web".to_owned(),
        at: 1,
        approval: None,
        note: None,
    }
}

#[test]
fn rules_hold_where_and_as_long_as_they_say() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    let boxed = NewRule {
        expires: Some(100),
        ..rule(Scope::Always, None, None, "boxed")
    };
    let ids = write(&store, move |connection| {
        let rules = [
            rule(Scope::Session, Some(1), None, "one"),
            rule(Scope::Session, Some(2), None, "two"),
            rule(Scope::Repository, None, Some("/a"), "in a"),
            rule(Scope::Always, None, None, "always"),
            boxed,
        ];
        let ids = rules.iter().map(|rule| rules::add(connection, rule));
        ids.collect::<Result<Vec<u64>, _>>()
    });
    let holding = |session, repository: Option<&str>, now| {
        let rows = read(&store, |connection| {
            rules::holding(connection, session_id(session), repository, now)
        });
        rows.into_iter()
            .map(|row| row.rule.rule)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        holding(1, Some("/a"), 99),
        ["one", "in a", "always", "boxed"]
    );
    assert_eq!(holding(2, Some("/b"), 99), ["two", "always", "boxed"]);
    assert_eq!(holding(3, None, 100), ["always"]);
    let id = ids[3];
    write(&store, move |connection| rules::remove(connection, id));
    assert_eq!(holding(3, None, 100), Vec::<String>::new());
    let error = refused(&store, move |connection| rules::remove(connection, id));
    assert!(matches!(error, StoreError::NotFound { .. }));
    assert_eq!(read(&store, rules::all).len(), 4);
    for lost in [
        rule(Scope::Session, None, None, "x"),
        rule(Scope::Repository, Some(1), None, "x"),
    ] {
        let error = refused(&store, move |connection| rules::add(connection, &lost));
        assert!(matches!(error, StoreError::Invalid(_)), "{error}");
    }
}

#[test]
fn settings_have_one_value_and_one_of_another_shape_is_an_error() {
    let stage = Stage::new();
    let store = stage.store();
    write(&store, |connection| {
        settings::set(connection, "sleep after", &5_u32)?;
        settings::set(connection, "sleep after", &6_u32)
    });
    let found = read(&store, |connection| {
        settings::get::<u32>(connection, "sleep after")
    });
    assert_eq!(found, Some(6));
    let error = store
        .read_blocking(|connection| settings::get::<Vec<u8>>(connection, "sleep after"))
        .unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    write(&store, |connection| {
        settings::unset(connection, "sleep after")
    });
    let found = read(&store, |connection| {
        settings::get::<u32>(connection, "sleep after")
    });
    assert_eq!(found, None);
}
