//! Messages that wait: one after the other, changed, moved, taken back, sent at once; held after an interrupt or a failure.

use countersign_host::control::{
    Command, Control, ControlError, Did, Message, MessageId, SessionId, SessionView,
};

use crate::heard::Heard;
use crate::stage::Stage;

/// Talks; hangs when it is told to.
const TALK: &str = r#"
turn always when "hang"
  say "I wait."
  wait forever
turn always when "fail"
  fail 529 "Overloaded"
turn always
  say "Hello: ${prompt}."
"#;

async fn send(stage: &Stage, session: SessionId, text: &str) -> MessageId {
    let message = Message::text(text);
    let id = message.id;
    let receipt = stage.execute(Command::Send { session, message }).await;
    assert_eq!(receipt.did, Did::Message { message: id });
    id
}

async fn waiting(stage: &Stage, id: SessionId) -> Vec<String> {
    let queue = stage.host().queue(id).await.unwrap();
    queue.into_iter().map(|one| one.text).collect()
}

async fn runs(stage: &Stage, id: SessionId) {
    let works = |view: &SessionView| view.state.name() == "running" && view.queued == 0;
    stage.until_seen(id, "at work", works).await;
    // The turn has begun: an interrupt hits it.
    let begun = async || {
        let heard = Heard::of(stage, id).await;
        heard
            .0
            .iter()
            .any(|line| line.said.to_string().contains("I wait."))
    };
    while !begun().await {
        tokio::task::yield_now().await;
    }
}

fn is_done(view: &SessionView) -> bool {
    view.state.name() == "idle" && view.queued == 0
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_holds_the_queue_until_somebody_lets_it_go_on() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("hang").await;
    runs(&stage, id).await;
    send(&stage, id, "two").await;
    send(&stage, id, "three").await;
    stage.execute(Command::Interrupt { session: id }).await;
    let is_held = |view: &SessionView| view.state.name() == "idle" && view.queue_held;
    let view = stage.until_seen(id, "held", is_held).await;
    assert_eq!(view.queued, 2);
    assert!(view.reason.contains("interrupted"), "{}", view.reason);
    assert_eq!(waiting(&stage, id).await, ["two", "three"]);
    stage.execute(Command::ReleaseQueue { session: id }).await;
    stage.until_seen(id, "done", is_done).await;
    assert_eq!(Heard::of(&stage, id).await.sent(), ["hang", "two", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_fails_holds_the_queue_and_says_why() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("hang").await;
    runs(&stage, id).await;
    send(&stage, id, "fail").await;
    send(&stage, id, "three").await;
    stage.execute(Command::Interrupt { session: id }).await;
    stage.until_seen(id, "held", |view| view.queue_held).await;
    stage.execute(Command::ReleaseQueue { session: id }).await;
    let view = stage.until(id, "failed").await;
    assert!(view.reason.contains("Overloaded"), "{}", view.reason);
    stage
        .until_seen(id, "held again", |view| view.queue_held)
        .await;
    assert_eq!(waiting(&stage, id).await, ["three"]);
    stage.execute(Command::ReleaseQueue { session: id }).await;
    stage.until_seen(id, "done", is_done).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_messages_are_edited_moved_and_taken_back() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("hang").await;
    runs(&stage, session).await;
    let two = send(&stage, session, "two").await;
    let three = send(&stage, session, "three").await;
    let four = send(&stage, session, "four").await;
    let text = "two, better".to_owned();
    let message = two;
    stage
        .execute(Command::EditQueued {
            session,
            message,
            text,
        })
        .await;
    let (message, before) = (four, Some(two));
    stage
        .execute(Command::MoveQueued {
            session,
            message,
            before,
        })
        .await;
    let (message, before) = (two, None);
    stage
        .execute(Command::MoveQueued {
            session,
            message,
            before,
        })
        .await;
    let message = three;
    stage
        .execute(Command::RemoveQueued { session, message })
        .await;
    assert_eq!(waiting(&stage, session).await, ["four", "two, better"]);
    let gone = stage
        .host()
        .execute(Stage::cmd(), Command::RemoveQueued { session, message })
        .await;
    assert!(
        matches!(gone, Err(ControlError::NotFound { .. })),
        "{gone:?}"
    );
    stage.execute(Command::Interrupt { session }).await;
    stage
        .until_seen(session, "held", |view| view.queue_held)
        .await;
    stage.execute(Command::ReleaseQueue { session }).await;
    stage.until_seen(session, "done", is_done).await;
    let sent = Heard::of(&stage, session).await.sent();
    assert_eq!(sent, ["hang", "four", "two, better"]);
    let message = four;
    let text = "too late".to_owned();
    let late = Command::EditQueued {
        session,
        message,
        text,
    };
    let late = stage.host().execute(Stage::cmd(), late).await;
    assert!(late.is_err(), "what was sent is not changed: {late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_sent_into_the_running_turn() {
    let scenario = r#"
turn
  say "I wait."
  wait user
  fold
  say "I heard you."
turn always
  say "Hello: ${prompt}."
"#;
    let stage = Stage::new(scenario).await;
    let session = stage.start("one").await;
    runs(&stage, session).await;
    send(&stage, session, "two").await;
    let message = send(&stage, session, "three").await;
    stage.execute(Command::SendNow { session, message }).await;
    stage.until_seen(session, "done", is_done).await;
    let heard = Heard::of(&stage, session).await;
    assert_eq!(heard.sent(), ["one", "three", "two"]);
    let results = heard.0.iter().filter(|line| line.said["type"] == "result");
    assert_eq!(
        results.count(),
        2,
        "one for the first two, one for the last"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_outlives_the_host_and_the_agent() {
    let mut stage = Stage::new(TALK).await;
    let session = stage.start("hang").await;
    runs(&stage, session).await;
    send(&stage, session, "two").await;
    stage.restart().await;
    assert_eq!(waiting(&stage, session).await, ["two"]);
    stage.execute(Command::Stop { session }).await;
    let view = stage.until(session, "stopped").await;
    assert_eq!(view.queued, 1);
    stage.restart().await;
    assert_eq!(stage.view(session).await.state.name(), "stopped");
    let message = None;
    stage.execute(Command::Resume { session, message }).await;
    stage.until_seen(session, "done", is_done).await;
    assert_eq!(Heard::of(&stage, session).await.sent(), ["hang", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_message_is_refused_and_a_key_sends_once() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("one").await;
    let message = Message::text("  ");
    let empty = stage
        .host()
        .execute(Stage::cmd(), Command::Send { session, message })
        .await;
    assert!(
        matches!(empty, Err(ControlError::Invalid { .. })),
        "{empty:?}"
    );
    let message = Message::text("two");
    let command = Command::Send { session, message };
    let cmd = Stage::cmd().key("once");
    let first = stage
        .host()
        .execute(cmd.clone(), command.clone())
        .await
        .unwrap();
    stage.until_seen(session, "done", is_done).await;
    let again = stage.host().execute(cmd, command).await.unwrap();
    assert_eq!(first, again);
    stage.until_seen(session, "done", is_done).await;
    assert_eq!(Heard::of(&stage, session).await.sent(), ["one", "two"]);
}
