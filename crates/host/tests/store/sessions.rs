//! Sessions: stored whole, listed newest first, one live agent for a conversation.

use countersign_host::control::{Mode, SessionFilter, State};
use countersign_host::store::sessions::{self, SessionRow};
use countersign_host::store::{Store, StoreError, approvals, plans, queue, search, usage};
use countersign_journal::Cursor;
use serde_json::json;

use crate::stage::{
    Stage, approval_row, message, read, refused, session_id, session_row, with_sessions, write,
};

fn list(store: &Store, filter: &SessionFilter) -> Vec<u64> {
    let page = read(store, |connection| sessions::list(connection, filter));
    page.items.iter().map(|it| it.view.last_activity).collect()
}

#[test]
fn a_session_comes_back_as_it_was_stored() {
    let stage = Stage::new();
    let store = stage.store();
    let mut row = SessionRow {
        mode: Mode::HandsOff { until: 77 },
        core: json!({"turns": [1, 2]}),
        state: State::Failed {
            stderr: "no\nroom".to_owned(),
        },
        reason: "it ended".to_owned(),
        cut_off: true,
        queue_held: true,
        conversation: Some("c".to_owned()),
        version: Some("2.1.325".to_owned()),
        generation: 3,
        token: "t".to_owned(),
        cursor: Cursor::new(3, 99),
        cost_usd: 0.1 + 0.2,
        parent: Some(session_id(9)),
        origin: Some("fork".to_owned()),
        trashed: Some(5),
        worktree: Some(json!({"branch": "x"})),
        ..session_row(1)
    };
    row.setup.env.insert("A".to_owned(), "b".to_owned());
    row.setup.budget_usd = Some(1.5);
    let stored = row.clone();
    write(&store, move |connection| {
        sessions::insert(connection, &stored)
    });
    assert_eq!(
        read(&store, |connection| sessions::get(connection, row.id)),
        row
    );

    let changed = write(&store, |connection| {
        sessions::change(connection, session_id(1), |row| {
            row.name = "another".to_owned();
            row.trashed = None;
            row.live = true;
        })
    });
    let expected = SessionRow {
        name: "another".to_owned(),
        trashed: None,
        live: true,
        ..row
    };
    assert_eq!(changed, expected);
    let id = expected.id;
    assert_eq!(
        read(&store, |connection| sessions::get(connection, id)),
        expected
    );
    write(&store, |connection| {
        sessions::set_cursor(connection, session_id(1), Cursor::new(4, 1))
    });
    let cursor = read(&store, |connection| sessions::get(connection, id)).cursor;
    assert_eq!(cursor, Cursor::new(4, 1));
}

#[test]
fn an_id_is_used_once_and_one_that_is_not_there_is_named() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    let error = refused(&store, |connection| {
        sessions::insert(connection, &session_row(1))
    });
    assert!(matches!(error, StoreError::Taken { .. }), "{error}");
    let error = refused(&store, |connection| {
        sessions::change(connection, session_id(2), |_| {})
    });
    assert!(matches!(error, StoreError::NotFound { .. }));
    assert!(error.to_string().contains(&session_id(2).to_string()));
}

#[test]
fn two_live_sessions_never_share_a_conversation() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    let go_live = |number, live| {
        move |connection: &_| {
            sessions::change(connection, session_id(number), |row| {
                row.conversation = Some("one".to_owned());
                row.live = live;
            })
        }
    };
    write(&store, go_live(1, true));
    write(&store, go_live(2, false));
    let error = refused(&store, go_live(2, true));
    assert!(
        matches!(&error, StoreError::ConversationLive(id) if id == "one"),
        "{error}"
    );
    write(&store, go_live(1, false));
    write(&store, go_live(2, true));
    let both = read(&store, |connection| {
        sessions::by_conversation(connection, "one")
    });
    assert_eq!(both.len(), 2);
}

#[test]
fn pages_go_from_the_newest_to_the_oldest_and_pass_nobody_over() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, 1..=7);
    let mut filter = SessionFilter {
        most: 3,
        ..SessionFilter::default()
    };
    let first = read(&store, |connection| sessions::list(connection, &filter));
    assert_eq!(list(&store, &filter), [7, 6, 5]);
    filter.after = first.next;
    // One comes, and one of the next page goes, in between.
    with_sessions(&store, [8]);
    write(&store, |connection| {
        sessions::delete(connection, session_id(4))
    });
    let second = read(&store, |connection| sessions::list(connection, &filter));
    assert_eq!(list(&store, &filter), [3, 2, 1]);
    assert_eq!(second.next, None);
    filter.after = Some("nonsense".to_owned());
    let error = store.read_blocking(|connection| sessions::list(connection, &filter));
    assert!(matches!(error, Err(StoreError::Invalid(_))));
}

#[test]
fn filters_tell_states_archive_and_trash_apart() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, 1..=4);
    write(&store, |connection| {
        sessions::change(connection, session_id(1), |row| row.state = State::Running)?;
        sessions::change(connection, session_id(2), |row| row.archived = true)?;
        sessions::change(connection, session_id(3), |row| row.trashed = Some(9))
    });
    let usual = SessionFilter::default();
    assert_eq!(list(&store, &usual), [4, 1]);
    let archived = SessionFilter {
        archived: true,
        ..usual.clone()
    };
    assert_eq!(list(&store, &archived), [4, 2, 1]);
    let trashed = SessionFilter {
        trashed: true,
        ..usual.clone()
    };
    assert_eq!(list(&store, &trashed), [3]);
    let states = SessionFilter {
        states: vec!["running".to_owned(), "failed".to_owned()],
        ..usual
    };
    assert_eq!(list(&store, &states), [1]);
}

#[test]
fn the_agent_that_has_been_idle_for_longest_is_known() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, 1..=4);
    assert_eq!(read(&store, sessions::idle), []);
    let idle = State::Idle {
        asleep: false,
        background: 0,
    };
    write(&store, move |connection| {
        for number in 1..=4 {
            sessions::change(connection, session_id(number), |row| {
                row.live = number != 1;
                row.state = match number {
                    2 => State::Running,
                    _ => idle.clone(),
                };
            })?;
        }
        Ok(())
    });
    assert_eq!(read(&store, sessions::idle)[0], session_id(3));
}

#[test]
fn what_waits_and_what_is_asked_is_counted() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    write(&store, |connection| {
        approvals::insert(connection, &approval_row(session_id(1), 5))?;
        approvals::insert(connection, &approval_row(session_id(1), 6))?;
        queue::push(connection, session_id(1), &message(1), 1, "me")
    });
    let one = read(&store, |connection| {
        sessions::listed(connection, session_id(1))
    });
    assert_eq!((one.view.open_approvals, one.view.queued), (2, 1));
    let other = read(&store, |connection| {
        sessions::listed(connection, session_id(2))
    });
    assert_eq!((other.view.open_approvals, other.view.queued), (0, 0));
}

#[test]
fn a_list_tells_what_matters_of_core_setup_and_worktree() {
    let stage = Stage::new();
    let store = stage.store();
    let mut full = SessionRow {
        core: json!({"turns": [{"last": "no"}], "last": "He said \"yes\".\tThen ü.", "context": {"used": 5}}),
        worktree: Some(json!({"base": "a", "branch": "x"})),
        ..session_row(1)
    };
    full.setup.budget_usd = Some(1.5);
    let odd = SessionRow {
        core: json!({"last": null, "context": ["of", "another", "form"]}),
        worktree: Some(json!({})),
        ..session_row(2)
    };
    write(&store, move |connection| {
        for row in [&full, &odd, &session_row(3)] {
            sessions::insert(connection, row)?;
        }
        Ok(())
    });
    let filter = SessionFilter::default();
    let page = read(&store, |connection| sessions::list(connection, &filter));
    let [none, odd, full] = &page.items[..] else {
        panic!("{page:?}");
    };
    let last = full.view.last_line.as_deref();
    assert_eq!(last, Some("He said \"yes\".\tThen ü."));
    assert_eq!(full.context.as_deref(), Some(r#"{"used":5}"#));
    assert_eq!(full.view.budget_usd, Some(1.5));
    assert_eq!(full.view.branch.as_deref(), Some("x"));
    assert_eq!(odd.view.last_line, None);
    let context = odd.context.as_deref();
    assert_eq!(context, Some(r#"["of","another","form"]"#));
    assert_eq!((&odd.view.branch, odd.view.budget_usd), (&None, None));
    assert_eq!((&none.view.last_line, &none.context), (&None, &None));
}

#[test]
fn what_a_journal_can_give_again_is_thrown_away_and_the_rest_stays() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1, 2]);
    write(&store, |connection| {
        for id in [session_id(1), session_id(2)] {
            approvals::insert(connection, &approval_row(id, 5))?;
            queue::push(connection, id, &message(id.at()), 1, "me")?;
            usage::add(connection, id, &crate::lists::spent("2026-01-31", "m", 1.0))?;
            search::put(connection, id, &crate::search::entry("e", 1, "needle"))?;
            sessions::set_cursor(connection, id, Cursor::new(2, 9))?;
        }
        sessions::forget_derived(connection, session_id(1))
    });
    read(&store, |connection| {
        let found = search::search(connection, "needle", 0, None)?;
        assert_eq!(found.items.len(), 1);
        assert_eq!(usage::since(connection, "2026-01-01")?.cost_usd, 1.0);
        assert_eq!(
            sessions::get(connection, session_id(1))?.cursor,
            Cursor::START
        );
        assert_eq!(
            sessions::get(connection, session_id(2))?.cursor,
            Cursor::new(2, 9)
        );
        assert_eq!(queue::list(connection, session_id(1))?.len(), 1);
        assert_eq!(approvals::unsettled(connection, session_id(1))?.len(), 1);
        Ok(())
    });
}

#[test]
fn with_a_session_goes_all_that_hangs_on_it_but_not_what_it_cost() {
    let stage = Stage::new();
    let store = stage.store();
    with_sessions(&store, [1]);
    write(&store, |connection| {
        let id = session_id(1);
        approvals::insert(connection, &approval_row(id, 5))?;
        queue::push(connection, id, &message(1), 1, "me")?;
        plans::add(connection, id, None, 1, "agent", "a plan")?;
        usage::add(connection, id, &crate::lists::spent("2026-01-31", "m", 1.0))?;
        search::put(connection, id, &crate::search::entry("e", 1, "needle"))?;
        sessions::delete(connection, id)
    });
    let left = read(&store, |connection| {
        let found = search::search(connection, "needle", 0, None)?;
        assert!(found.items.is_empty());
        assert!(queue::list(connection, session_id(1))?.is_empty());
        assert!(plans::list(connection, session_id(1))?.is_empty());
        assert!(approvals::unsettled(connection, session_id(1))?.is_empty());
        usage::since(connection, "2026-01-01")
    });
    assert_eq!(left.cost_usd, 1.0);
}
