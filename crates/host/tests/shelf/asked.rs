//! What an agent is asked, and what is known while none is there.

use countersign_host::control::{
    Command, Control as _, ControlError, McpAct, Probe as _, SessionId, State, TaskView,
};
use countersign_host::control::{Decide, SessionView};

use crate::stage::{DEADLINE, Stage};

const TALKS: &str = "turn always\n  say \"Talked.\"\n";

async fn stop(stage: &Stage, session: SessionId) {
    stage.execute(Command::Stop { session }).await;
    stage.until(session, "stopped").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_and_models_are_known_also_when_the_agent_has_gone() {
    let stage = Stage::new(TALKS).await;
    assert_eq!(stage.host().models().await.unwrap().at, None);
    let id = stage.start("one").await;
    stage.until(id, "idle").await;
    let live = stage.host().commands(id).await.unwrap();
    assert!(live.at.is_some() && !live.items.is_empty(), "{live:?}");
    assert!(live.items.iter().all(|one| one["name"].is_string()));
    stop(&stage, id).await;
    assert_eq!(stage.host().commands(id).await.unwrap(), live);
    let models = stage.host().models().await.unwrap();
    assert!(models.items.iter().all(|one| one["value"].is_string()));
    assert!(!models.items.is_empty());
    let nobody = stage.host().commands(SessionId::fresh()).await.unwrap_err();
    assert!(matches!(nobody, ControlError::NotFound { .. }), "{nobody}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_context_is_asked_of_a_live_agent_and_remembered_of_one_that_has_gone() {
    let stage = Stage::new(TALKS).await;
    let id = stage.start("one").await;
    stage.until(id, "idle").await;
    let live = stage.host().context(id).await.unwrap();
    assert!(live.is_live && live.window.is_some(), "{live:?}");
    assert!(!live.parts.is_empty());
    stop(&stage, id).await;
    let known = stage.host().context(id).await.unwrap();
    assert!(!known.is_live && known.parts.is_empty(), "{known:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_an_agent_can_say_says_that_none_is_there() {
    let stage = Stage::new(TALKS).await;
    let id = stage.start("one").await;
    stage.until(id, "idle").await;
    assert_eq!(stage.host().mcp(id).await.unwrap(), []);
    let act = |act| Command::Mcp {
        session: id,
        server: "nobody".to_owned(),
        act,
    };
    let unknown = stage
        .host()
        .execute(Stage::cmd(), act(McpAct::Disable))
        .await;
    let unknown = unknown.unwrap_err();
    assert!(
        matches!(&unknown, ControlError::NotNow { why } if why.contains("not found")),
        "{unknown}"
    );
    stop(&stage, id).await;
    let gone = stage.host().mcp(id).await.unwrap_err();
    assert!(matches!(gone, ControlError::NotNow { .. }), "{gone}");
    let gone = stage
        .host()
        .execute(Stage::cmd(), act(McpAct::Reconnect))
        .await;
    assert!(matches!(gone, Err(ControlError::NotNow { .. })), "{gone:?}");
    let gone = stage
        .host()
        .task_output(id, "x".to_owned())
        .await
        .unwrap_err();
    assert!(matches!(gone, ControlError::NotNow { .. }), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_listed_while_it_runs_and_when_it_was_stopped() {
    let scenario = r#"
turn always
  agent general-purpose "Wait." background
    wait 60m
  end
  say "It goes on."
"#;
    let stage = Stage::new(scenario).await;
    let id = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
    let works = |view: &SessionView| {
        matches!(
            view.state,
            State::Idle {
                background: 1..,
                ..
            }
        )
    };
    stage.until_seen(id, "work in the background", works).await;
    let task = until_task(&stage, id, |task| task.state == "running").await;
    assert!(task.is_background, "{task:?}");
    let output = stage.host().task_output(id, task.id.clone()).await.unwrap();
    assert!(!output.is_cut);
    let wrong = stage
        .host()
        .task_output(id, "no-such".to_owned())
        .await
        .unwrap_err();
    assert!(matches!(wrong, ControlError::NotNow { .. }), "{wrong}");
    stage
        .execute(Command::StopTask {
            session: id,
            task: task.id.clone(),
        })
        .await;
    let ended = until_task(&stage, id, |task| task.state != "running").await;
    assert_eq!(ended.id, task.id);
}

async fn until_task(stage: &Stage, id: SessionId, holds: impl Fn(&TaskView) -> bool) -> TaskView {
    let start = std::time::Instant::now();
    loop {
        let tasks = stage.host().tasks(id).await.unwrap();
        if let Some(task) = tasks.iter().find(|task| holds(task)) {
            return task.clone();
        }
        assert!(
            start.elapsed() < DEADLINE,
            "{tasks:#?}\n{}",
            stage.story(id)
        );
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_found_in_the_folder_of_the_session_alone() {
    let stage = Stage::new(TALKS).await;
    std::fs::create_dir_all(stage.project().join("src")).unwrap();
    std::fs::write(stage.project().join("src/lib.rs"), "").unwrap();
    let id = stage.start("one").await;
    let found = stage.host().files(id, "lib".to_owned(), 0).await.unwrap();
    assert_eq!(found.paths, ["src/lib.rs"]);
    let found = stage
        .host()
        .files(id, "../data".to_owned(), 0)
        .await
        .unwrap();
    assert!(found.paths.is_empty(), "{found:?}");
}
