//! Sessions: started, spoken to, interrupted, stopped, resumed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use countersign_host::control::session::Setup;
use countersign_host::control::{
    Command, Control, Decide, Message, SessionFilter, SessionView, State,
};
use countersign_keeper::Graces;

use crate::stage::Stage;

/// Talks, without a question.
const TALK: &str = r#"
turn always
  say "Hello: ${prompt}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_runs_its_first_message_and_is_idle() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("one").await;
    let view = stage
        .until_seen(id, "idle after a turn", |view| {
            view.state.name() == "idle" && view.conversation.is_some() && view.queued == 0
        })
        .await;
    assert_eq!(view.name, "one");
    assert_eq!(view.generation, 1);
    assert_eq!(view.last_line.as_deref(), Some("Hello: one."));
    let page = stage.host().transcript(id, None, 50).await.unwrap();
    let text = serde_json::to_string(&page.items).unwrap();
    assert!(text.contains("Hello: one."), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_wait_are_sent_one_after_the_other() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("one").await;
    for text in ["two", "three"] {
        let message = Message::text(text);
        stage
            .execute(Command::Send {
                session: id,
                message,
            })
            .await;
    }
    stage
        .until_seen(id, "idle, with nothing waiting", |view| {
            view.state.name() == "idle" && view.queued == 0 && view.conversation.is_some()
        })
        .await;
    let said = || async {
        let page = stage.host().transcript(id, None, 50).await.unwrap();
        serde_json::to_string(&page.items).unwrap()
    };
    let text = said().await;
    let places: Vec<_> = ["Hello: one.", "Hello: two.", "Hello: three."]
        .iter()
        .map(|words| text.find(words))
        .collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_session_is_resumed_with_its_conversation() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("one").await;
    let before = stage
        .until_seen(id, "idle", |view| {
            view.state.name() == "idle" && view.conversation.is_some()
        })
        .await;
    stage.execute(Command::Stop { session: id }).await;
    stage.until(id, "stopped").await;
    let message = Some(Message::text("two"));
    stage
        .execute(Command::Resume {
            session: id,
            message,
        })
        .await;
    let after = stage
        .until_seen(id, "idle again", |view| {
            view.state.name() == "idle" && view.generation == 2 && view.queued == 0
        })
        .await;
    assert_eq!(after.conversation, before.conversation);
}

/// Hears nothing when it is told so: no interrupt, no end of input, no SIGTERM.
const DEAF: &str = r#"
default interrupt off
ignore eof
ignore sigterm
turn always when "deaf"
  say "I wait."
  wait forever
turn always
  say "Hello: ${prompt}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn force_end_ends_what_hears_nothing_within_twenty_seconds() {
    let stage = Stage::with(DEAF, |settings| {
        settings.graces = Graces::default();
    })
    .await;
    let session = stage.start("deaf").await;
    stage.until_said(session, "I wait.").await;
    let message = Message::text("two");
    stage.execute(Command::Send { session, message }).await;
    let begun = Instant::now();
    stage.execute(Command::ForceEnd { session }).await;
    let view = stage.until(session, "stopped").await;
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(view.queued, 1, "what waited waits");
    stage
        .execute(Command::Resume {
            session,
            message: None,
        })
        .await;
    let spoke = |view: &SessionView| view.state.name() == "idle" && view.queued == 0;
    let view = stage.until_seen(session, "resumed", spoke).await;
    assert_eq!(view.generation, 2);
    stage.until_said(session, "Hello: two.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn force_end_of_what_runs_nothing_is_a_stop() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("one").await;
    stage.until_said(session, "Hello: one.").await;
    stage.execute(Command::Stop { session }).await;
    stage.until(session, "stopped").await;
    stage.execute(Command::ForceEnd { session }).await;
    assert_eq!(stage.until(session, "stopped").await.generation, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_dies_in_a_turn_is_shown_with_its_last_words_and_resumed() {
    let scenario = r#"
turn when "die"
  say "I fall."
  stderr "out of memory, or so"
  crash
turn always
  say "Hello: ${prompt}."
"#;
    let stage = Stage::new(scenario).await;
    let session = stage.start("die").await;
    let view = stage.until(session, "failed").await;
    assert!(view.cut_off, "{view:?}");
    assert!(
        view.reason.contains("in the middle of a turn"),
        "{}",
        view.reason
    );
    let State::Failed { stderr } = &view.state else {
        panic!("{view:?}");
    };
    assert!(stderr.contains("out of memory"), "{stderr}");
    let message = Some(Message::text("two"));
    stage.execute(Command::Resume { session, message }).await;
    let view = stage
        .until_seen(session, "idle", |view| view.state.name() == "idle")
        .await;
    assert!(!view.cut_off);
    stage.until_said(session, "Hello: two.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn success_that_was_none_is_a_failure() {
    let scenario = r#"
turn when "one"
  result success with {"is_error":true,"result":"The model is not available."}
turn always
  say "Hello: ${prompt}."
"#;
    let stage = Stage::new(scenario).await;
    let session = stage.start("one").await;
    let view = stage.until(session, "failed").await;
    assert!(view.reason.contains("not available"), "{}", view.reason);
    let message = Message::text("two");
    stage.execute(Command::Send { session, message }).await;
    stage.until_said(session, "Hello: two.").await;
    stage.until(session, "idle").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_come_up_says_why() {
    let stage = Stage::new("start\n  stderr \"no such luck\"\n  exit 3\n").await;
    let session = stage.start("one").await;
    let view = stage.until(session, "failed").await;
    assert!(view.reason.contains("did not come up"), "{}", view.reason);
    assert_eq!(view.queued, 1, "its message waits");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_is_there_after_a_resume_at_the_next_idle_moment() {
    let scenario = r#"
turn always
  tool Bash {"command":"echo $WORD >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;
    let stage = Stage::new(scenario).await;
    let env = |word: &str| BTreeMap::from([("WORD".to_owned(), word.to_owned())]);
    let setup = Setup {
        env: env("first"),
        ..Setup::default()
    };
    let session = stage.start_with("one", setup).await;
    let open = stage.open_approvals(session, 1).await;
    // Not in the middle of a turn.
    stage
        .execute(Command::SetEnv {
            session,
            env: env("second"),
        })
        .await;
    assert_eq!(stage.view(session).await.generation, 1);
    stage.decide(&open[0], Decide::allow()).await;
    let renewed = |view: &SessionView| view.generation == 2 && view.state.name() == "idle";
    stage.until_seen(session, "a new agent", renewed).await;
    let message = Message::text("two");
    stage.execute(Command::Send { session, message }).await;
    let open = stage.open_approvals(session, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
    stage.until(session, "idle").await;
    assert_eq!(stage.ran(), ["first", "second"]);
    assert!(
        !stage.story(session).contains("second"),
        "no value stands in the journal"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_renamed_put_out_of_sight_and_thrown_away() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("one").await;
    stage.until_said(session, "Hello: one.").await;
    stage.until(session, "idle").await;
    let name = "Another".to_owned();
    stage.execute(Command::Rename { session, name }).await;
    assert_eq!(stage.view(session).await.name, "Another");
    let listed = async |filter: SessionFilter| {
        let page = stage.host().sessions(filter).await.unwrap();
        page.items.iter().any(|one| one.id == session)
    };
    stage
        .execute(Command::Archive {
            session,
            archived: true,
        })
        .await;
    assert!(!listed(SessionFilter::default()).await);
    let archived = SessionFilter {
        archived: true,
        ..SessionFilter::default()
    };
    assert!(listed(archived.clone()).await);
    stage
        .execute(Command::Archive {
            session,
            archived: false,
        })
        .await;
    stage.execute(Command::Trash { session }).await;
    stage.until(session, "stopped").await;
    assert!(!listed(SessionFilter::default()).await);
    stage.execute(Command::Restore { session }).await;
    assert!(listed(SessionFilter::default()).await);
}
