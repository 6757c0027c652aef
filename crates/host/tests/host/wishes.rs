//! Wishes: done once however often they are sent, in their order, and never waiting for a CLI that does not answer.

use std::time::{Duration, Instant};

use countersign_host::control::session::Setup;
use countersign_host::control::{
    Command, Control, ControlError, Message, MessageId, Mode, NewSession, SessionId, SessionView,
};

use crate::heard::Heard;
use crate::stage::{DEADLINE, Stage};

/// Talks; hangs when it is told to.
const TALK: &str = r#"
turn always when "hang"
  say "I wait."
  wait forever
turn always
  say "Hello: ${prompt}."
"#;

async fn send(stage: &Stage, session: SessionId, text: &str) -> MessageId {
    let message = Message::text(text);
    let id = message.id;
    stage.execute(Command::Send { session, message }).await;
    id
}

/// A session whose first turn waits for ever.
async fn hanging(stage: &Stage) -> SessionId {
    let id = stage.start("hang").await;
    stage.until_said(id, "I wait.").await;
    id
}

fn is_done(view: &SessionView) -> bool {
    view.state.name() == "idle" && view.queued == 0 && view.generation > 0
}

/// How often the agent was told to end its turn.
async fn interrupts(stage: &Stage, id: SessionId) -> usize {
    let heard = Heard::of(stage, id).await;
    let ours = heard.0.iter().filter(|line| line.kind == 'h');
    ours.filter(|line| line.said["request"]["subtype"] == "interrupt")
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_sent_twice_at_once_is_done_once() {
    let stage = Stage::new(TALK).await;
    let session = hanging(&stage).await;
    let message = send(&stage, session, "two").await;
    send(&stage, session, "three").await;
    let (cmd, command) = (Stage::cmd(), Command::SendNow { session, message });
    let (one, other) = tokio::join!(
        Control::execute(stage.host(), cmd.clone(), command.clone()),
        Control::execute(stage.host(), cmd, command),
    );
    assert_eq!(one.unwrap(), other.unwrap());
    let start = Instant::now();
    while Heard::of(&stage, session).await.sent().len() < 2 {
        assert!(start.elapsed() < DEADLINE, "{}", stage.story(session));
        tokio::task::yield_now().await;
    }
    // Behind everything that came of both.
    let name = "x".to_owned();
    stage.execute(Command::Rename { session, name }).await;
    let view = stage.view(session).await;
    assert!(!view.queue_held && view.queued == 1, "{view:?}");
    assert_eq!(Heard::of(&stage, session).await.sent(), ["hang", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_wait_is_not_sent_at_once_and_holds_nothing() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("one").await;
    stage.until_seen(session, "done", is_done).await;
    let message = Message::text("nobody has sent this").id;
    let refused = Control::execute(
        stage.host(),
        Stage::cmd(),
        Command::SendNow { session, message },
    );
    let refused = refused.await.unwrap_err();
    assert!(
        matches!(refused, ControlError::NotFound { .. }),
        "{refused}"
    );
    send(&stage, session, "two").await;
    stage.until_said(session, "Hello: two.").await;
    stage.until_seen(session, "done", is_done).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_message_under_a_used_id_is_refused_and_not_lost_without_a_word() {
    let stage = Stage::new(TALK).await;
    let session = hanging(&stage).await;
    let other = stage.start("one").await;
    let first = Message::text("two");
    let send = |session, message: Message| {
        let command = Command::Send { session, message };
        Control::execute(stage.host(), Stage::cmd(), command)
    };
    send(session, first.clone()).await.unwrap();
    send(session, first.clone()).await.unwrap();
    let mut changed = first.clone();
    changed.text = "something else".to_owned();
    for (session, message) in [(session, changed), (other, first.clone())] {
        let refused = send(session, message).await.unwrap_err();
        assert!(
            matches!(refused, ControlError::Conflict { .. }),
            "{refused}"
        );
    }
    let new = NewSession {
        id: SessionId::fresh(),
        prompt: Some(first),
        cwd: stage.project(),
        setup: Setup::default(),
        worktree: None,
    };
    let made = Control::execute(stage.host(), Stage::cmd(), Command::Start(Box::new(new)));
    let refused = made.await.unwrap_err();
    assert!(
        matches!(refused, ControlError::Conflict { .. }),
        "{refused}"
    );
    assert_eq!(stage.host().queue(session).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_here_knows_is_refused_and_the_turn_goes_on() {
    let scenario = "turn always\n  control something_new {\"a\":1}\n  say \"Went on.\"\n";
    let stage = Stage::new(scenario).await;
    let id = stage.start("one").await;
    stage.until_said(id, "Went on.").await;
    stage.until_seen(id, "done", is_done).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_cli_with_unread_messages_is_interrupted_too() {
    let stage = Stage::new(&format!("version 2.0.75\n{TALK}")).await;
    let session = hanging(&stage).await;
    let message = send(&stage, session, "two").await;
    stage.execute(Command::SendNow { session, message }).await;
    stage.execute(Command::Interrupt { session }).await;
    let start = Instant::now();
    while interrupts(&stage, session).await == 0 {
        assert!(start.elapsed() < DEADLINE, "{}", stage.story(session));
        tokio::task::yield_now().await;
    }
    stage.until_seen(session, "done", is_done).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_answer_a_wish_can_be_ended() {
    let stage = Stage::new(&format!("reply never stop_task\n{TALK}")).await;
    let session = hanging(&stage).await;
    let host = stage.host().clone();
    let task = "a task".to_owned();
    let asking = tokio::spawn(async move {
        let command = Command::StopTask { session, task };
        Control::execute(&host, Stage::cmd(), command).await
    });
    let is_asked = async || {
        let heard = Heard::of(&stage, session).await;
        let mut said = heard.0.iter().map(|line| &line.said);
        said.any(|said| said["request"]["subtype"] == "stop_task")
    };
    while !is_asked().await {
        tokio::task::yield_now().await;
    }
    let start = Instant::now();
    stage.execute(Command::ForceEnd { session }).await;
    stage.until(session, "stopped").await;
    assert!(start.elapsed() < Duration::from_secs(30));
    asking.await.unwrap().unwrap_err();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mode_that_is_chosen_while_the_agent_starts_is_in_force_for_its_first_turn() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("one").await;
    let mode = Mode::Plan;
    stage.execute(Command::SetMode { session, mode }).await;
    stage.until_seen(session, "done", is_done).await;
    let heard = Heard::of(&stage, session).await;
    let modes: Vec<_> = heard
        .inits(1)
        .iter()
        .map(|init| &init["permissionMode"])
        .collect();
    assert_eq!(modes, ["plan"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_start_failed_is_not_left_behind() {
    let stage = Stage::new(&format!("reply error \"not now\" get_settings\n{TALK}")).await;
    let session = stage.start("one").await;
    let view = stage.until(session, "failed").await;
    assert!(view.reason.contains("not now"), "{}", view.reason);
    // Nothing is in the way of the next one.
    let message = None;
    stage.execute(Command::Resume { session, message }).await;
    let tried_again = |view: &SessionView| view.generation == 2 && view.state.name() == "failed";
    let view = stage.until_seen(session, "failed again", tried_again).await;
    assert!(view.reason.contains("not now"), "{}", view.reason);
    let left = stage.processes();
    assert!(left.is_empty(), "{left:?}\n{}", stage.story(session));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_was_closed_does_nothing_more() {
    let mut stage = Stage::new(TALK).await;
    let session = stage.start("one").await;
    stage.until_seen(session, "done", is_done).await;
    let old = stage.host().clone();
    stage.restart().await;
    let message = Message::text("two");
    let refused = Control::execute(&old, Stage::cmd(), Command::Send { session, message });
    let refused = refused.await.unwrap_err();
    assert!(
        matches!(refused, ControlError::Unavailable { .. }),
        "{refused}"
    );
    assert!(stage.host().queue(session).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_dropped_lets_go_of_its_folder() {
    let mut stage = Stage::new(TALK).await;
    let session = stage.start("one").await;
    stage.until_seen(session, "done", is_done).await;
    stage.drop_host();
    let start = Instant::now();
    while let Err(error) = stage.try_open().await {
        assert!(start.elapsed() < DEADLINE, "{error}");
        tokio::task::yield_now().await;
    }
    let view = stage.until_seen(session, "done", is_done).await;
    assert_eq!(view.generation, 1, "its agent lived on");
}
