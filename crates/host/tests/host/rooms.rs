//! The cap on live agents: who waits, who makes room, who is next.
//!
//! A question that nobody has answered holds an agent at work for as long as a test wants.

use countersign_host::control::{Command, Control, Decide, Message, SessionId, SessionView, State};

use crate::stage::Stage;

/// One question in each turn, unless it is to talk.
const ASKS: &str = r#"
turn always when "talk"
  say "Talked: ${prompt}."
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

async fn narrow() -> Stage {
    Stage::with(ASKS, |settings| settings.most_agents = 1).await
}

fn is_asleep(view: &SessionView) -> bool {
    matches!(view.state, State::Idle { asleep: true, .. }) && view.generation > 0
}

async fn allow(stage: &Stage, id: SessionId) {
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_agent_makes_room_for_another_session() {
    let stage = narrow().await;
    let first = stage.start("talk one").await;
    let has_spoken = |view: &SessionView| view.state.name() == "idle" && view.generation == 1;
    stage.until_seen(first, "idle", has_spoken).await;
    let second = stage.start("two").await;
    allow(&stage, second).await;
    stage.until_seen(first, "asleep", is_asleep).await;
    stage.until(second, "idle").await;
    let message = Message::text("three");
    stage
        .execute(Command::Send {
            session: first,
            message,
        })
        .await;
    allow(&stage, first).await;
    stage.until_seen(second, "asleep", is_asleep).await;
    stage.until(first, "idle").await;
    assert_eq!(stage.ran(), ["two", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_something_kept_awake_makes_room_when_that_has_ended() {
    let scenario = format!("turn when \"child\"\n  spawn \"sleep 2\"\n  say \"Begun.\"\n{ASKS}");
    let stage = Stage::with(&scenario, |settings| settings.most_agents = 1).await;
    let first = stage.start("child").await;
    stage.until_said(first, "Begun.").await;
    let second = stage.start("two").await;
    allow(&stage, second).await;
    stage.until_seen(first, "asleep", is_asleep).await;
    stage.until(second, "idle").await;
    assert_eq!(stage.ran(), ["two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_wait_in_line_until_those_before_them_have_finished() {
    let stage = narrow().await;
    let first = stage.start("one").await;
    stage.open_approvals(first, 1).await;
    let mut others = Vec::new();
    for text in ["two", "three"] {
        let other = stage.start(text).await;
        stage.until(other, "queued").await;
        others.push(other);
    }
    let says_why = |view: &SessionView| view.reason.contains("room");
    stage.until_seen(others[0], "a reason", says_why).await;
    allow(&stage, first).await;
    let is_over = |view: &SessionView| view.generation == 1 && view.state.name() != "queued";
    stage.until_seen(others[0], "its turn", is_over).await;
    assert_eq!(stage.view(others[1]).await.state.name(), "queued");
    allow(&stage, others[0]).await;
    allow(&stage, others[1]).await;
    stage.until(others[1], "idle").await;
    assert_eq!(stage.ran(), ["one", "two", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_stopped_makes_room_and_one_that_waits_can_leave_the_line() {
    let stage = narrow().await;
    let first = stage.start("one").await;
    stage.open_approvals(first, 1).await;
    let second = stage.start("two").await;
    stage.until(second, "queued").await;
    let third = stage.start("three").await;
    stage.until(third, "queued").await;
    stage.execute(Command::Stop { session: second }).await;
    stage.until(second, "stopped").await;
    stage.execute(Command::Stop { session: first }).await;
    allow(&stage, third).await;
    stage.until(third, "idle").await;
    assert_eq!(stage.ran(), ["three"]);
    assert_eq!(stage.view(second).await.generation, 0);
    let waiting = stage.host().queue(second).await.unwrap();
    assert_eq!(waiting.len(), 1, "its message is not lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_at_work_keeps_its_room_until_it_is_done() {
    let stage = narrow().await;
    let first = stage.start("one").await;
    stage.open_approvals(first, 1).await;
    // It has more to do, and does it first: nobody is put to sleep in front of a queue.
    let message = Message::text("two");
    stage
        .execute(Command::Send {
            session: first,
            message,
        })
        .await;
    let second = stage.start("three").await;
    stage.until(second, "queued").await;
    allow(&stage, first).await;
    let open = stage.open_approvals(first, 1).await;
    assert!(open[0].input.to_string().contains("two"));
    assert_eq!(stage.view(second).await.state.name(), "queued");
    allow(&stage, first).await;
    allow(&stage, second).await;
    stage.until(second, "idle").await;
    assert_eq!(stage.ran(), ["one", "two", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_those_who_wait_still_wait_in_their_order() {
    let mut stage = narrow().await;
    let first = stage.start("one").await;
    stage.open_approvals(first, 1).await;
    let mut others = Vec::new();
    for text in ["two", "three"] {
        let other = stage.start(text).await;
        stage.until(other, "queued").await;
        others.push(other);
    }
    stage.restart().await;
    allow(&stage, first).await;
    allow(&stage, others[0]).await;
    allow(&stage, others[1]).await;
    stage.until(others[1], "idle").await;
    assert_eq!(stage.ran(), ["one", "two", "three"]);
    assert_eq!(stage.view(first).await.generation, 1, "its agent lived on");
}
