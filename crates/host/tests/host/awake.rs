//! Sleep and waking, resumes and forks: what a session had its next agent has, hands-off excepted.
//!
//! What holds afterwards is read from the agent itself: the line its turn begins with, its answers about rules and
//! folders, and whether a call is asked about.

use countersign_host::control::approval::{Remember, Scope};
use countersign_host::control::session::Setup;
use countersign_host::control::{
    ApprovalView, Command, Control, ControlError, Decide, ForkWorktree, Message, Mode, NewSession,
    SessionId, SessionView, State,
};
use serde_json::Value;

use crate::heard::{Heard, of_cli};
use crate::stage::Stage;

/// Soon, in microseconds.
const SOON: u64 = 200_000;

/// One question in each turn, unless it is to talk.
const ASKS: &str = r#"
turn always when "talk"
  say "Talked: ${prompt}."
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

fn is_asleep(view: &SessionView) -> bool {
    matches!(view.state, State::Idle { asleep: true, .. }) && view.generation > 0
}

fn is_awake(view: &SessionView) -> bool {
    matches!(view.state, State::Idle { asleep: false, .. })
}

async fn sleepy(scenario: &str) -> Stage {
    Stage::with(scenario, |settings| {
        settings.timing.sleep_after = Some(SOON)
    })
    .await
}

async fn send(stage: &Stage, session: SessionId, text: &str) {
    let message = Message::text(text);
    stage.execute(Command::Send { session, message }).await;
}

/// Allows this call, and those like it from now on.
async fn remember(stage: &Stage, open: &ApprovalView, scope: Scope) {
    let file = stage.project().join("ran.log");
    let remember = Remember {
        rules: vec![
            "Bash(echo *)".to_owned(),
            format!("Edit(/{})", file.display()),
        ],
        scope,
        expires: None,
        also_cli: false,
    };
    let decide = Decide::Allow {
        updated_input: None,
        remember: Some(remember),
        mode: None,
        add_dirs: Vec::new(),
    };
    stage.decide(open, decide).await;
}

fn setup(stage: &Stage, mode: Mode) -> Setup {
    let more = stage.root().join("more");
    std::fs::create_dir_all(&more).unwrap();
    Setup {
        model: Some("opus".to_owned()),
        mode,
        add_dirs: vec![more],
        ..Setup::default()
    }
}

/// What an agent says of itself is what the one before said.
async fn stands_alike(
    stage: &Stage,
    before: (SessionId, u32),
    after: (SessionId, u32),
    mode: Mode,
) {
    let (one, other) = (
        Heard::of(stage, before.0).await,
        Heard::of(stage, after.0).await,
    );
    let (one_init, other_init) = (one.inits(before.1), other.inits(after.1));
    let (was, is) = (one_init.last().unwrap(), other_init[0]);
    for field in ["cwd", "model", "claude_code_version", "tools"] {
        assert_eq!(was[field], is[field], "{field}");
    }
    assert_eq!(is["permissionMode"], of_cli(mode));
    let state = |heard: &Heard, generation| {
        let answer = heard.answer(generation, "list_permission_rules");
        let state = answer.expect("it was asked for its rules")["state"].clone();
        let folders = state["workspaceDirectories"].as_array().unwrap().iter();
        let folders = folders.map(|it| it["path"].clone()).collect::<Vec<_>>();
        (folders, state["rules"].clone())
    };
    let (was, is) = (state(&one, before.1), state(&other, after.1));
    let more = Value::from(stage.root().join("more").to_str().unwrap());
    assert!(is.0.contains(&more), "{is:?}");
    assert_eq!(was, is);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_was_woken_stands_as_before() {
    let stage = sleepy(ASKS).await;
    let id = stage.start_with("one", setup(&stage, Mode::Ask)).await;
    let open = stage.open_approvals(id, 1).await;
    remember(&stage, &open[0], Scope::Session).await;
    let before = stage.until_seen(id, "asleep", is_asleep).await;
    assert_eq!((before.generation, before.open_approvals), (1, 0));
    send(&stage, id, "two").await;
    let after = |view: &SessionView| view.generation == 2 && is_asleep(view);
    let after = stage.until_seen(id, "asleep again", after).await;
    assert_eq!(stage.ran(), ["one", "two"], "the rule of the session holds");
    assert_eq!(after.conversation, before.conversation);
    assert_eq!((after.mode, &after.model), (Mode::Ask, &before.model));
    stands_alike(&stage, (id, 1), (id, 2), Mode::Ask).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_mode_and_a_model_that_was_chosen_later_are_there_after_a_resume() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start_with("talk one", setup(&stage, Mode::Ask)).await;
    stage
        .until_seen(id, "idle", |view| is_awake(view) && view.model.is_some())
        .await;
    let model = Some("haiku".to_owned());
    stage
        .execute(Command::SetModel { session: id, model })
        .await;
    let mode = Mode::Plan;
    stage.execute(Command::SetMode { session: id, mode }).await;
    send(&stage, id, "talk two").await;
    let spoke = |view: &SessionView| is_awake(view) && view.queued == 0;
    stage.until_seen(id, "idle", spoke).await;
    let heard = Heard::of(&stage, id).await;
    let inits = heard.inits(1);
    assert_eq!(inits[1]["permissionMode"], "plan", "the CLI itself says so");
    assert_ne!(inits[1]["model"], inits[0]["model"]);
    stage.execute(Command::Stop { session: id }).await;
    stage.until(id, "stopped").await;
    let message = Some(Message::text("talk three"));
    stage
        .execute(Command::Resume {
            session: id,
            message,
        })
        .await;
    let resumed = |view: &SessionView| view.generation == 2 && is_awake(view) && view.queued == 0;
    let view = stage.until_seen(id, "idle again", resumed).await;
    assert_eq!(view.mode, Mode::Plan);
    stands_alike(&stage, (id, 1), (id, 2), Mode::Plan).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hands_off_ends_with_the_agent_it_was_given_to() {
    let stage = sleepy(ASKS).await;
    let until = now() + 3_600_000_000;
    let mode = Mode::HandsOff { until };
    let new = NewSession {
        id: SessionId::fresh(),
        prompt: None,
        cwd: stage.project(),
        setup: setup(&stage, mode),
        worktree: None,
    };
    let host = stage.host();
    let refused = host
        .execute(Stage::cmd(), Command::Start(Box::new(new)))
        .await;
    assert!(
        matches!(refused, Err(ControlError::Invalid { .. })),
        "{refused:?}"
    );
    let id = stage.start("talk").await;
    stage.until_seen(id, "asleep", is_asleep).await;
    let set = Command::SetMode { session: id, mode };
    let refused = host.execute(Stage::cmd(), set.clone()).await;
    assert!(
        matches!(refused, Err(ControlError::NotNow { .. })),
        "{refused:?}"
    );
    send(&stage, id, "one").await;
    let open = stage.open_approvals(id, 1).await;
    stage.execute(set).await;
    stage.decide(&open[0], Decide::allow()).await;
    // Without a question, since nobody wants to be asked.
    send(&stage, id, "two").await;
    let slept = stage.until_seen(id, "asleep", is_asleep).await;
    assert_eq!(slept.mode, Mode::Ask);
    assert_eq!(stage.ran(), ["one", "two"]);
    send(&stage, id, "three").await;
    let view = stage.until(id, "needs_you").await;
    assert_eq!((view.mode, view.generation), (Mode::Ask, 3));
    assert_eq!(stage.ran(), ["one", "two"]);
}

fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_micros() as u64
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_has_the_rules_folders_and_model_of_where_it_came_from() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start_with("one", setup(&stage, Mode::Ask)).await;
    let open = stage.open_approvals(id, 1).await;
    remember(&stage, &open[0], Scope::Session).await;
    let before = stage.until_seen(id, "idle", is_awake).await;
    let fork = SessionId::fresh();
    let message = Some(Message::text("two"));
    stage
        .execute(Command::Fork {
            session: id,
            id: fork,
            message,
            worktree: ForkWorktree::Own,
        })
        .await;
    let spoke = |view: &SessionView| is_awake(view) && view.queued == 0;
    let after = stage.until_seen(fork, "idle", spoke).await;
    assert_eq!(stage.ran(), ["one", "two"], "nobody was asked again");
    assert_eq!(
        (after.parent, after.origin.as_deref()),
        (Some(id), Some("fork"))
    );
    assert_ne!(after.conversation, before.conversation);
    stands_alike(&stage, (id, 1), (fork, 1), Mode::Ask).await;
    // What the fork is allowed later is not allowed to its parent.
    assert_eq!(stage.view(id).await.conversation, before.conversation);
}

/// Waits until a session that was begun now sleeps: by then every other one could have.
async fn could_have_slept(stage: &Stage) {
    let other = stage.start("talk").await;
    stage.until_seen(other, "asleep", is_asleep).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_with_an_open_question_is_not_put_to_sleep() {
    let stage = sleepy(ASKS).await;
    let id = stage.start("one").await;
    stage.open_approvals(id, 1).await;
    could_have_slept(&stage).await;
    let view = stage.view(id).await;
    assert_eq!((view.state.name(), view.generation), ("needs_you", 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_with_work_in_the_background_is_not_put_to_sleep() {
    let scenario = r#"
turn always when "talk"
  say "Talked."
turn
  agent general-purpose "Wait." background
    wait 60m
  end
  say "It goes on."
"#;
    let stage = sleepy(scenario).await;
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
    stage
        .until_seen(id, "idle with work in the background", works)
        .await;
    could_have_slept(&stage).await;
    let view = stage.view(id).await;
    assert!(works(&view) && !is_asleep(&view), "{view:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_with_a_child_is_not_put_to_sleep_but_one_with_a_server_is() {
    let scenario = r#"
start
  spawn "exec sleep 600"
turn when "child"
  tool Bash {"command":"true","description":"Begin"}
  spawn "exec sleep 601"
  say "It has a child."
turn always
  say "Talked."
"#;
    let stage = sleepy(scenario).await;
    let id = stage.start("child").await;
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
    stage
        .until_seen(id, "idle", |view| is_awake(view) && view.queued == 0)
        .await;
    // It has what the other has from its start on: a server.
    could_have_slept(&stage).await;
    let view = stage.view(id).await;
    assert!(is_awake(&view), "{view:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_whose_agent_ended_before_its_first_turn_is_still_a_fork() {
    let scenario = r#"
turn always
  say "First you said: ${first_prompt}. Now: ${prompt}."
"#;
    let stage = Stage::new(scenario).await;
    let id = stage.start("one").await;
    stage.until_said(id, "Now: one.").await;
    stage.until_seen(id, "idle", is_awake).await;
    let fork = SessionId::fresh();
    let command = Command::Fork {
        session: id,
        id: fork,
        message: None,
        worktree: ForkWorktree::Own,
    };
    stage.execute(command).await;
    let resume = |message| Command::Resume {
        session: fork,
        message,
    };
    stage.execute(resume(None)).await;
    stage
        .until_seen(fork, "an agent", |view| {
            is_awake(view) && view.generation == 1
        })
        .await;
    stage.execute(Command::Stop { session: fork }).await;
    stage.until(fork, "stopped").await;
    stage.execute(resume(Some(Message::text("two")))).await;
    stage
        .until_said(fork, "First you said: one. Now: two.")
        .await;
    let view = stage.view(fork).await;
    assert_ne!(view.conversation, stage.view(id).await.conversation);
}
