//! An agent crashes in the middle of a turn: asked again where that is wanted, and once.

use std::time::{Duration, Instant};

use countersign_host::control::{
    Command, Control as _, Decide, Keep, Message, SessionId, SessionView,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::heard::Heard;
use crate::stage::{DEADLINE, Stage};

/// Every turn waits for an answer in its middle.
const ASKS: &str = r#"
turn always when "Go on"
  tool Bash {"command":"echo again >> ran.log"}
  say "I went on."
turn always
  tool Bash {"command":"echo first >> ran.log"}
  say "Done."
"#;

async fn wanted(stage: &Stage) {
    let change = serde_json::from_str(r#"{"asks_again_after_crash": true}"#).unwrap();
    stage.execute(Command::Keep(Keep::Prefer { change })).await;
}

/// Kills the agent of this generation, and nothing else, once it has asked something.
async fn kill(stage: &Stage, id: SessionId, generation: u32) {
    let start = Instant::now();
    loop {
        let mut lines = Heard::of(stage, id).await.0;
        lines.retain(|line| line.generation == generation);
        let mut said = lines.iter().map(|line| &line.said);
        if said.any(|said| said["request"]["subtype"] == "can_use_tool") {
            let mut said = lines.iter().map(|line| &line.said);
            let spawned = said.find(|said| said["event"] == "spawned").unwrap();
            let pid = i32::try_from(spawned["pid"].as_i64().unwrap()).unwrap();
            return kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        }
        assert!(start.elapsed() < DEADLINE, "{}", stage.story(id));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What its agents were told.
async fn told(stage: &Stage, id: SessionId) -> Vec<String> {
    let heard = Heard::of(stage, id).await;
    let told = heard
        .0
        .iter()
        .filter(|line| line.kind == 'h' && line.said["type"] == "user");
    let text = told.map(|line| &line.said["message"]["content"]);
    text.map(|text| match text.as_str() {
        Some(text) => text.to_owned(),
        None => text[0]["text"].as_str().unwrap().to_owned(),
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_was_killed_is_asked_again_once_where_that_is_wanted() {
    let stage = Stage::new(ASKS).await;
    wanted(&stage).await;
    let id = stage.start("one").await;
    kill(&stage, id, 1).await;
    kill(&stage, id, 2).await;
    let view = stage.until(id, "failed").await;
    assert!(view.cut_off, "{}", view.reason);
    assert_eq!((view.generation, view.queued), (2, 0));
    assert_eq!(told(&stage, id).await, ["one", "Go on."]);
    let page = stage.host().transcript(id, None, 50).await.unwrap();
    let text = serde_json::to_string(&page.items).unwrap();
    assert_eq!(
        text.matches("Asked again after the agent crashed").count(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_asked_again_is_through_and_the_next_one_may_be_too() {
    let stage = Stage::new(ASKS).await;
    wanted(&stage).await;
    let id = stage.start("one").await;
    kill(&stage, id, 1).await;
    let is_second = |view: &SessionView| view.generation == 2 && view.state.name() == "needs_you";
    stage.until_seen(id, "asked by the second", is_second).await;
    let asked = stage.open_approvals(id, 1).await;
    stage.decide(&asked[0], Decide::allow()).await;
    stage.until_said(id, "I went on.").await;
    stage.until(id, "idle").await;
    assert_eq!(stage.ran(), ["again"]);
    let message = Message::text("two");
    let session = id;
    stage.execute(Command::Send { session, message }).await;
    stage.open_approvals(id, 1).await;
    kill(&stage, id, 2).await;
    let is_third = |view: &SessionView| view.generation == 3;
    stage.until_seen(id, "a third agent", is_third).await;
    stage.until(id, "needs_you").await;
    assert_eq!(told(&stage, id).await, ["one", "Go on.", "two", "Go on."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_was_killed_is_left_alone_by_default_and_where_it_was_stopped() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    kill(&stage, id, 1).await;
    stage.until(id, "failed").await;
    // What crashed before it was wanted is not taken up.
    wanted(&stage).await;
    let other = stage.start("two").await;
    stage.open_approvals(other, 1).await;
    stage.execute(Command::ForceEnd { session: other }).await;
    stage.until(other, "stopped").await;
    assert_eq!(stage.view(id).await.state.name(), "failed");
    assert_eq!(told(&stage, id).await, ["one"]);
    assert_eq!(told(&stage, other).await, ["two"]);
}
