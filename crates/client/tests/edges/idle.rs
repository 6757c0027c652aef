//! When nothing goes on any more, and whose turn it is.

use std::pin::pin;
use std::sync::Arc;

use countersign_client::{
    Claude, Decision, Error, Event, Kind, PermissionRequest, Prompt, Question,
};
use futures_util::future::poll_immediate;
use serde_json::json;
use tokio::sync::Notify;

use crate::pair::{session, soon};
use crate::result;
use crate::stage::{Stage, within};

#[tokio::test]
async fn idle_comes_with_the_answer_to_the_last_question() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    let mut turn = session.send("x").await.unwrap();
    far.hear().await;
    far.ask_tool("q", "Bash", json!({})).await;
    let Some(Question::Permission(question)) = soon(session.questions.next()).await else {
        panic!("a permission question");
    };
    far.say(&result()).await;
    soon(turn.result()).await.unwrap();

    let mut idle = pin!(session.handle.idle());
    assert!(poll_immediate(&mut idle).await.is_none());
    question.deny("no").unwrap();
    soon(idle).await.unwrap();
    assert!(session.handle.is_idle());
}

#[tokio::test]
async fn idle_comes_when_the_last_question_is_withdrawn() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    let mut turn = session.send("x").await.unwrap();
    far.hear().await;
    far.ask_tool("q", "Bash", json!({})).await;
    let question = soon(session.questions.next()).await.unwrap();
    far.say(&result()).await;
    soon(turn.result()).await.unwrap();

    let mut idle = pin!(session.handle.idle());
    assert!(poll_immediate(&mut idle).await.is_none());
    far.cancel("q").await;
    soon(idle).await.unwrap();
    assert!(session.handle.is_idle());
    drop(question);
}

#[tokio::test]
async fn a_query_ends_with_the_answer_to_a_question_that_outlived_the_result() {
    let stage = Stage::new(
        r#"
turn
  emit {"type":"control_request","request_id":"late","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}
  say "x"
"#,
    );
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    // The ceiling on background work stays at its ten minutes.
    let claude = stage.claude().permissions(move |_: PermissionRequest| {
        let opened = Arc::clone(&opened);
        async move {
            opened.notified().await;
            Decision::deny("too late")
        }
    });
    let mut run = within(claude.query("go")).await.unwrap();
    loop {
        match within(run.next()).await.unwrap().unwrap() {
            Event::Message(frame) if frame.kind() == Kind::Result => break,
            _ => {}
        }
    }
    assert_eq!(run.handle().open_questions(), 1);
    gate.notify_one();
    let outcome = within(run.finish()).await.unwrap();
    assert!(outcome.result.is_success());
    assert!(outcome.closed.is_clean(), "{}", outcome.closed);
    assert_eq!(stage.answers().len(), 1, "{:?}", stage.answers());
}

#[tokio::test]
async fn a_uuid_that_is_still_open_is_not_sent_again_and_its_turn_goes_on() {
    const UUID: &str = "11111111-1111-4111-8111-111111111111";
    let (session, mut far) = session(Claude::new()).await;
    let mut first = session.send(Prompt::from("A").uuid(UUID)).await.unwrap();
    let error = session
        .send(Prompt::from("A").uuid(UUID))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, Error::Duplicate { uuid } if uuid == UUID),
        "{error:?}"
    );

    assert_eq!(far.hear().await["uuid"], UUID);
    for state in ["queued", "started"] {
        far.say(&json!({"type": "command_lifecycle", "command_uuid": UUID, "state": state}))
            .await;
    }
    far.say(&result()).await;
    assert_eq!(soon(first.result()).await.unwrap().text(), "ok");
    // Only one message went out: the next line of the host is another one.
    let next = session.send("B").await.unwrap();
    assert_eq!(far.hear().await["uuid"], next.uuid());
}

#[tokio::test]
async fn idle_does_not_come_between_the_end_of_background_work_and_the_turn_that_follows_it() {
    // In this order, some two milliseconds apart, 2.1.62 and 2.1.200 to 2.1.327 say it.
    let (session, mut far) = session(Claude::new()).await;
    let state =
        |state: &str| json!({"type": "system", "subtype": "session_state_changed", "state": state});
    let tasks = |tasks: serde_json::Value| json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks});
    let mut turn = session.send("x").await.unwrap();
    far.hear().await;
    far.say(&state("running")).await;
    far.say(&tasks(json!([{"task_id": "t", "task_type": "local_bash"}])))
        .await;
    far.say(&result()).await;
    far.say(&state("idle")).await;
    soon(turn.result()).await.unwrap();

    let mut idle = pin!(session.handle.idle());
    assert!(poll_immediate(&mut idle).await.is_none());
    far.say(&tasks(json!([]))).await;
    let between = tokio::time::timeout(std::time::Duration::from_millis(20), &mut idle).await;
    assert!(between.is_err(), "idle between the task and its turn");
    far.say(&state("running")).await;
    far.say(&json!({"type": "system", "subtype": "init", "session_id": "s"}))
        .await;
    let during = tokio::time::timeout(std::time::Duration::from_secs(1), &mut idle).await;
    assert!(during.is_err(), "idle while the turn runs");
    far.say(&result()).await;
    far.say(&state("idle")).await;
    soon(idle).await.unwrap();
    assert!(session.handle.is_idle());
}
