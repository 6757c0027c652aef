//! Too many questions, too much to write, questions that nobody reads: what is bounded refuses, and nothing sticks.

use countersign_client::hook::PreToolUse;
use countersign_client::{
    Claude, Error, Event, Hook, Json, Notice, PermissionQuestion, Question, Session,
};
use futures_util::future::poll_immediate;
use serde_json::{Value, json};
use std::pin::pin;

use crate::pair::{Far, greeted, notice, session, soon};
use crate::result;

/// So many questions may be open.
const MOST_OPEN: usize = 1024;

async fn question(session: &mut Session) -> PermissionQuestion {
    match soon(session.questions.next()).await {
        Some(Question::Permission(question)) => question,
        other => panic!("a permission question: {other:?}"),
    }
}

/// A session that has as many open questions as may be, and the id of its hook.
async fn full() -> (Session, Far, Value) {
    let hook = Hook::of(PreToolUse, |_, _| async { PreToolUse::pass() });
    let claude = Claude::new().questions().hook(hook);
    let (mut session, mut far, initialize) = greeted(claude, "2.1.325").await;
    for n in 0..MOST_OPEN {
        far.ask_tool(&format!("q{n}"), "Bash", json!({"command": "x"}))
            .await;
    }
    // Read but not answered: the last one is open, so all are.
    let mut held = Vec::new();
    while held.len() < MOST_OPEN {
        held.push(question(&mut session).await);
    }
    assert_eq!(session.open_questions(), MOST_OPEN);
    // They stay open for the rest of the test.
    std::mem::forget(held);
    let callback = &initialize["hooks"]["PreToolUse"][0]["hookCallbackIds"][0];
    assert!(callback.is_string(), "{initialize}");
    (session, far, callback.clone())
}

#[tokio::test]
async fn a_hook_beyond_the_most_open_questions_denies() {
    let (mut session, mut far, callback) = full().await;
    let input = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "/",
        "tool_name": "Bash", "tool_input": {}});
    far.ask(
        "h",
        json!({"subtype": "hook_callback", "callback_id": callback, "input": input}),
    )
    .await;
    let reply = far.reply("h").await;
    assert_eq!(
        reply["hookSpecificOutput"]["permissionDecision"], "deny",
        "{reply}"
    );
    let noticed = notice(&mut session.events).await;
    assert!(
        matches!(noticed, Notice::TooManyQuestions { .. }),
        "{noticed:?}"
    );
}

#[tokio::test]
async fn a_call_beyond_the_most_open_questions_is_denied() {
    let (session, mut far, _) = full().await;
    far.ask_tool("over", "Bash", json!({})).await;
    let reply = far.reply("over").await;
    assert_eq!(reply["behavior"], "deny", "{reply}");
    assert_eq!(session.open_questions(), MOST_OPEN);
}

#[tokio::test]
async fn answers_and_an_interrupt_pass_a_full_outbox_and_a_second_message_does_not() {
    let claude = Claude::new()
        .questions()
        .bounds(|bounds| bounds.outbox_bytes = 1000);
    let (mut session, mut far) = session(claude).await;
    let mut turn = session.send("x".repeat(300_000)).await.unwrap();
    far.ask_tool("q", "Bash", json!({"command": "rm"})).await;
    let question = question(&mut session).await;

    let error = session.send("second").await.unwrap_err();
    assert!(matches!(error, Error::Backlog), "{error:?}");
    let handle = session.handle.clone();
    let mut interrupting = pin!(handle.interrupt());
    assert!(poll_immediate(&mut interrupting).await.is_none());
    question.deny("no").unwrap();

    // The CLI reads again.
    assert_eq!(far.hear().await["type"], "user");
    let (interrupted, asked) = tokio::join!(soon(interrupting), far.accept(json!({})));
    assert_eq!(asked["subtype"], "interrupt");
    interrupted.unwrap();
    let reply = far.reply("q").await;
    assert_eq!(reply, json!({"behavior": "deny", "message": "no"}));

    let uuid = turn.uuid();
    far.say(&json!({"type": "command_lifecycle", "command_uuid": uuid, "state": "started"}))
        .await;
    far.say(&result()).await;
    soon(turn.result()).await.unwrap();
    soon(session.idle()).await.unwrap();
    assert!(session.is_idle());
    let third = session.send("third").await.unwrap();
    assert_eq!(far.hear().await["uuid"], third.uuid());
}

#[tokio::test]
async fn a_message_that_the_full_outbox_refused_leaves_the_session_idle() {
    let claude = Claude::new().bounds(|bounds| bounds.outbox_bytes = 1000);
    let (session, mut far) = session(claude).await;
    let handle = session.handle.clone();
    let much = Json::of(&"y".repeat(300_000)).unwrap();
    let mut flood = pin!(handle.mcp_message("x", much));
    assert!(poll_immediate(&mut flood).await.is_none());

    let error = session.send("hello").await.unwrap_err();
    assert!(matches!(error, Error::Backlog), "{error:?}");
    assert!(session.is_idle());
    soon(session.idle()).await.unwrap();
    let (flooded, _) = tokio::join!(soon(flood), far.accept(json!({})));
    flooded.unwrap();
    assert!(session.is_idle());
}

#[tokio::test]
async fn questions_that_were_withdrawn_before_anybody_read_them_are_not_kept() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    for n in 0..3000 {
        let id = format!("q{n}");
        far.ask_tool(&id, "Write", json!({"content": "z"})).await;
        far.cancel(&id).await;
    }
    // The session has read all of them when this comes by.
    far.say(&json!({"type": "novel"})).await;
    assert!(matches!(
        soon(session.events.next()).await,
        Some(Event::Message(_))
    ));
    assert_eq!(session.open_questions(), 0);
    far.ask_tool("live", "Bash", json!({})).await;
    let live = question(&mut session).await;
    assert_eq!(live.responder().request_id(), "live");
    assert_eq!(session.open_questions(), 1);
    assert!(session.questions.try_next().is_none());
    live.deny("no").unwrap();
    assert_eq!(far.reply("live").await["behavior"], "deny");
    assert_eq!(session.open_questions(), 0);
}
