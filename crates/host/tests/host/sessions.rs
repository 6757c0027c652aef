//! Sessions: started, spoken to, interrupted, stopped, resumed.

use countersign_host::control::{Command, Control, Message};

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
