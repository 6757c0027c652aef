//! What clients see from outside: events by number, records by cursor, words that are found, what was spent.

use std::time::Duration;

use countersign_host::control::{
    Command, Control, ControlError, Followed, Happened, HostEvent, Message, Mode, SessionId,
    SessionView,
};

use crate::heard::{is_quiet, next};
use crate::stage::Stage;

/// Each turn costs a quarter of a dollar.
const TALK: &str = r#"
turn always
  usage input=1000 output=100 cost=0.25
  say "The cormorant says: ${prompt}."
"#;

fn is_done(view: &SessionView) -> bool {
    view.state.name() == "idle" && view.queued == 0 && view.generation > 0
}

async fn talk(stage: &Stage, session: SessionId, text: &str) {
    let message = Message::text(text);
    stage.execute(Command::Send { session, message }).await;
    stage.until_seen(session, "done", is_done).await;
    stage.until_said(session, &format!("says: {text}.")).await;
}

/// The state that an event tells of a session.
fn state(event: &HostEvent) -> Option<&str> {
    match &event.what {
        Happened::Session { state, .. } => Some(state),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mode_that_somebody_chose_is_news_to_everybody() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("one").await;
    stage.until_said(id, "says: one.").await;
    // What it has cost is the last that is told of a turn.
    let is_counted = |view: &SessionView| is_done(view) && view.cost_usd > 0.2;
    stage.until_seen(id, "counted", is_counted).await;
    let last = stage.host().last_event().await.unwrap();
    let mut news = stage.host().events(Some(last)).await.unwrap();
    let mode = Mode::Edits;
    let command = Command::SetMode { session: id, mode };
    stage.execute(command).await;
    let event = next(&mut news).await;
    assert_eq!((event.session, state(&event)), (Some(id), Some("idle")));
    assert_eq!(stage.view(id).await.mode, mode);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_have_numbers_without_a_gap_and_go_on_from_any_of_them() {
    let mut stage = Stage::new(TALK).await;
    let mut live = stage.host().events(Some(0)).await.unwrap();
    let id = stage.start("one").await;
    let mut seen = Vec::new();
    loop {
        let event = next(&mut live).await;
        seen.push(event);
        let is_turn = |event: &HostEvent| matches!(event.what, Happened::Turn { ok: true, .. });
        let is_over = seen.last().and_then(state) == Some("idle");
        if is_over && seen.iter().any(is_turn) {
            break;
        }
        assert!(seen.len() < 200, "{seen:#?}");
    }
    let numbers: Vec<u64> = seen.iter().map(|event| event.number).collect();
    let expected: Vec<u64> = (1..=seen.len() as u64).collect();
    assert_eq!(numbers, expected);
    assert!(seen.iter().all(|event| event.session == Some(id)));
    let states: Vec<_> = seen.iter().filter_map(state).collect();
    for wanted in ["starting", "running", "idle"] {
        assert!(states.contains(&wanted), "{states:?}");
    }
    // From the middle on, and by another host.
    let middle = seen[seen.len() / 2].number;
    stage.restart().await;
    let mut again = stage.host().events(Some(middle)).await.unwrap();
    for expected in seen.iter().filter(|event| event.number > middle) {
        assert_eq!(&next(&mut again).await, expected);
    }
    // Without a number only what is new is told.
    let mut new = stage.host().events(None).await.unwrap();
    stage
        .execute(Command::Rename {
            session: id,
            name: "x".to_owned(),
        })
        .await;
    talk(&stage, id, "two").await;
    assert!(next(&mut new).await.number > seen.last().unwrap().number);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_followed_from_a_cursor_and_history_has_an_end() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("one").await;
    stage.until_said(id, "says: one.").await;
    stage.until_seen(id, "done", is_done).await;
    let mut all = stage.host().follow(id, None, 1 << 20).await.unwrap();
    let mut cursors = Vec::new();
    let end = loop {
        match next(&mut all).await.unwrap() {
            Followed::Record { cursor, .. } => cursors.push(cursor),
            Followed::CaughtUp { cursor } => break cursor,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(cursors.last(), Some(&end));
    let expected: Vec<String> = (1..=cursors.len()).map(|seq| format!("1-{seq}")).collect();
    assert_eq!(cursors, expected, "no record is missing or told twice");
    // It is told once that history ends; then only what is new comes.
    assert!(is_quiet(&mut all, Duration::from_millis(100)).await);
    talk(&stage, id, "two").await;
    let Followed::Record { cursor, .. } = next(&mut all).await.unwrap() else {
        panic!("a record");
    };
    assert_eq!(cursor, format!("1-{}", cursors.len() + 1));
    // From the middle on.
    let middle = cursors[cursors.len() / 2].clone();
    let mut rest = stage
        .host()
        .follow(id, Some(middle), 1 << 20)
        .await
        .unwrap();
    let Followed::Record { cursor, .. } = next(&mut rest).await.unwrap() else {
        panic!("a record");
    };
    assert_eq!(cursor, cursors[cursors.len() / 2 + 1]);
    // Large records come by name, and are read in parts.
    let mut small = stage.host().follow(id, None, 64).await.unwrap();
    let large = loop {
        match next(&mut small).await.unwrap() {
            Followed::Large { cursor, len, .. } => break (cursor, len),
            Followed::Record { payload, .. } => assert!(payload.len() <= 64),
            other => panic!("{other:?}"),
        }
    };
    let bytes = stage.host().read(id, large.0.clone(), 0..10).await.unwrap();
    assert_eq!(bytes.len(), 10);
    let whole = stage.host().read(id, large.0, 0..u64::MAX).await.unwrap();
    assert_eq!(whole.len() as u64, large.1);
    assert!(whole.starts_with(&bytes));
    let wrong = stage
        .host()
        .follow(id, Some("nonsense".to_owned()), 64)
        .await;
    assert!(matches!(wrong.err(), Some(ControlError::Invalid { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_an_agent_is_followed_from_its_first_record_on() {
    let stage = Stage::with(TALK, |settings| settings.most_agents = 1).await;
    let new = countersign_host::control::NewSession {
        id: SessionId::fresh(),
        prompt: None,
        cwd: stage.project(),
        setup: Default::default(),
        worktree: None,
    };
    let id = new.id;
    stage.execute(Command::Start(Box::new(new))).await;
    let mut records = stage.host().follow(id, None, 1 << 20).await.unwrap();
    let first = next(&mut records).await.unwrap();
    assert!(matches!(first, Followed::CaughtUp { .. }), "{first:?}");
    talk(&stage, id, "one").await;
    let Followed::Record { cursor, .. } = next(&mut records).await.unwrap() else {
        panic!("a record");
    };
    assert_eq!(cursor, "1-1");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_found() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("about herons").await;
    stage.until_seen(id, "done", is_done).await;
    stage.until_said(id, "says: about herons.").await;
    let search = async |words: &str| stage.host().search(words.to_owned(), 10).await.unwrap();
    let mut found = search("cormorant").await;
    for _ in 0..500 {
        if !found.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        found = search("cormorant").await;
    }
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].session, id);
    assert!(
        found[0].excerpt.contains("\u{2068}cormorant\u{2069}"),
        "{}",
        found[0].excerpt
    );
    assert_eq!(
        search("herons").await.len(),
        2,
        "what was asked is found, too"
    );
    assert!(search("pelican").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_spent_is_summed_once() {
    let mut stage = Stage::new(TALK).await;
    let (one, other) = (stage.start("one").await, stage.start("two").await);
    for id in [one, other] {
        stage
            .until_seen(id, "counted", |view| view.cost_usd > 0.2 && is_done(view))
            .await;
    }
    talk(&stage, one, "three").await;
    stage
        .until_seen(one, "counted", |view| view.cost_usd > 0.4)
        .await;
    for round in 0..2 {
        let usage = stage.host().usage(0).await.unwrap();
        assert!((usage.cost_usd - 0.75).abs() < 1e-6, "{round}: {usage:?}");
        let turns: u64 = usage.days.iter().map(|day| day.turns).sum();
        let sent: u64 = usage.days.iter().map(|day| day.input_tokens).sum();
        assert_eq!((turns, sent), (3, 3_000), "{usage:?}");
        let totals = stage.host().totals(one).await.unwrap();
        assert!((totals.cost_usd - 0.5).abs() < 1e-6, "{totals:?}");
        stage.restart().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_holds_after_a_restart_and_a_deadline_is_kept() {
    let mut stage = Stage::new(TALK).await;
    let id = stage.start("one").await;
    let command = Command::Rename {
        session: id,
        name: "Renamed".to_owned(),
    };
    let cmd = Stage::cmd().key("rename");
    let first = stage
        .host()
        .execute(cmd.clone(), command.clone())
        .await
        .unwrap();
    stage.restart().await;
    let again = stage.host().execute(cmd.clone(), command).await.unwrap();
    assert_eq!(first, again);
    let other = Command::Archive {
        session: id,
        archived: true,
    };
    let reused = stage.host().execute(cmd, other.clone()).await;
    assert!(
        matches!(reused, Err(ControlError::KeyReused { .. })),
        "{reused:?}"
    );
    let mut late = Stage::cmd();
    late.deadline = Some(1);
    let late = stage.host().execute(late, other).await;
    assert!(matches!(late, Err(ControlError::TooLate)), "{late:?}");
    assert!(!stage.view(id).await.archived);
    let nobody = Command::Stop {
        session: SessionId::fresh(),
    };
    let nobody = stage.host().execute(Stage::cmd(), nobody).await;
    assert!(
        matches!(nobody, Err(ControlError::NotFound { .. })),
        "{nobody:?}"
    );
}
