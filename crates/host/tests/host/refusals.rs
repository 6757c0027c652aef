//! What a host refuses at once, in words, instead of taking it and doing nothing or something else.
//!
//! Owns the refusals that concern a session as a whole or its queue. Invariant: a receipt is given for what is done, and for
//! nothing else.

use std::collections::BTreeMap;
use std::path::Path;

use countersign_host::control::session::{NewWorktree, Setup};
use countersign_host::control::{
    ApprovalFilter, Cmd, Command, Control as _, ControlError, Decide, Message, MessageId,
    NewSession, Receipt, Result, SessionFilter, SessionId, SessionView, State,
};

use crate::stage::Stage;

const TALK: &str = r#"
turn always when "hang"
  say "I wait."
  wait forever
turn always when "ask"
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
turn always
  say "Hello: ${prompt}."
"#;

async fn tried(stage: &Stage, command: Command) -> Result<Receipt> {
    stage.host().execute(Stage::cmd(), command).await
}

fn send(session: SessionId, message: Message) -> Command {
    Command::Send { session, message }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_sent_at_once_and_given_back_by_an_interrupt_runs_later() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("hang").await;
    stage.until_said(session, "I wait.").await;
    let message = Message::text("q0");
    let id = message.id;
    stage.execute(send(session, message)).await;
    stage
        .execute(Command::SendNow {
            session,
            message: id,
        })
        .await;
    stage
        .until_seen(session, "on its way", |view| view.queued == 0)
        .await;
    stage.execute(Command::Interrupt { session }).await;
    let given_back =
        |view: &SessionView| view.queued == 1 && matches!(view.state, State::Idle { .. });
    stage.until_seen(session, "given back", given_back).await;
    stage.execute(Command::ReleaseQueue { session }).await;
    stage.until_said(session, "Hello: q0.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_an_interrupt_gives_back_keep_their_order() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("hang").await;
    stage.until_said(session, "I wait.").await;
    for text in ["q0", "q1", "q2"] {
        let message = Message::text(text);
        let id = message.id;
        stage.execute(send(session, message)).await;
        let message = id;
        stage.execute(Command::SendNow { session, message }).await;
        stage
            .until_seen(session, "on its way", |view| view.queued == 0)
            .await;
    }
    stage.execute(send(session, Message::text("q3"))).await;
    stage.execute(Command::Interrupt { session }).await;
    let given_back =
        |view: &SessionView| view.queued == 4 && matches!(view.state, State::Idle { .. });
    stage.until_seen(session, "given back", given_back).await;
    let queue = stage.host().queue(session).await.unwrap();
    let texts: Vec<String> = queue.into_iter().map(|one| one.text).collect();
    assert_eq!(texts, ["q0", "q1", "q2", "q3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_do_nothing_is_refused() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("hang").await;
    let other = stage.start("hello").await;
    stage.until_said(session, "I wait.").await;
    let waiting = Message::text("waits");
    stage.execute(send(session, waiting.clone())).await;
    let unknown = MessageId::fresh();
    for nothing in [
        Command::SendNow {
            session,
            message: unknown,
        },
        Command::EditQueued {
            session,
            message: waiting.id,
            text: " ".into(),
        },
        Command::Resume {
            session: other,
            message: Some(Message::text("")),
        },
        Command::SetEnv {
            session,
            env: BTreeMap::from([("A=B".into(), "x".into())]),
        },
        Command::SetModel {
            session,
            model: Some(String::new()),
        },
    ] {
        let refused = tried(&stage, nothing.clone()).await;
        assert!(refused.is_err(), "{nothing:?}");
    }
    let elsewhere = tried(&stage, send(other, waiting)).await;
    let is_taken = matches!(elsewhere, Err(ControlError::Conflict { .. }));
    assert!(is_taken, "{elsewhere:?}");
    let queue = stage.host().queue(session).await.unwrap();
    assert_eq!(queue[0].text, "waits");
    let totals = stage.host().totals(SessionId::fresh()).await;
    assert!(matches!(totals, Err(ControlError::NotFound { .. })));
    let states = SessionFilter {
        states: vec!["asleep".into()],
        ..SessionFilter::default()
    };
    assert!(stage.host().sessions(states).await.is_err());
    let life = ApprovalFilter {
        life: Some("pending".into()),
        ..ApprovalFilter::default()
    };
    assert!(stage.host().approvals(life).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_the_trash_is_not_woken() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("hello").await;
    stage.until(session, "idle").await;
    stage.execute(Command::Trash { session }).await;
    let since = stage.until(session, "stopped").await.trashed;
    stage.execute(Command::Trash { session }).await;
    assert_eq!(stage.view(session).await.trashed, since);
    let resume = Command::Resume {
        session,
        message: None,
    };
    for wakes in [send(session, Message::text("hi")), resume.clone()] {
        let refused = tried(&stage, wakes).await.unwrap_err().to_string();
        assert!(refused.contains("restore it first"), "{refused}");
    }
    stage.execute(Command::Restore { session }).await;
    stage.execute(resume).await;
    stage.until(session, "idle").await;
}

fn start(cwd: &Path, setup: Setup, prompt: Option<Message>) -> NewSession {
    NewSession {
        id: SessionId::fresh(),
        prompt,
        cwd: cwd.to_owned(),
        setup,
        worktree: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_could_never_run_is_not_made() {
    let stage = Stage::new(TALK).await;
    let project = stage.project();
    let bad_server = BTreeMap::from([("a".to_owned(), serde_json::json!({"nonsense": 1}))]);
    let setups = [
        Setup {
            env: BTreeMap::from([(String::new(), String::new())]),
            ..Setup::default()
        },
        Setup {
            mcp_servers: bad_server,
            ..Setup::default()
        },
        Setup {
            name: Some("n".repeat(201)),
            ..Setup::default()
        },
        Setup {
            add_dirs: vec!["/no/such/folder".into()],
            ..Setup::default()
        },
    ];
    let mut news: Vec<NewSession> = setups.map(|setup| start(&project, setup, None)).into();
    let data = &stage.settings.agents.data;
    news.push(start(&data.join("sessions"), Setup::default(), None));
    news.push(start(&project, Setup::default(), Some(Message::text(" "))));
    for new in news {
        let refused = tried(&stage, Command::Start(Box::new(new.clone()))).await;
        let is_invalid = matches!(refused, Err(ControlError::Invalid { .. }));
        assert!(is_invalid, "{new:?}: {refused:?}");
    }
    let fresh = start(&project, Setup::default(), None);
    let id = fresh.id;
    stage.execute(Command::Start(Box::new(fresh))).await;
    let view = stage.view(id).await;
    assert_eq!(view.reason, "It waits for its first message.", "{view:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_a_session_that_waits_for_a_word_shows_as_held() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("hello").await;
    stage.until(session, "idle").await;
    stage.execute(Command::Stop { session }).await;
    stage.until(session, "stopped").await;
    stage.execute(send(session, Message::text("two"))).await;
    let is_held = |view: &SessionView| view.queued == 1 && view.queue_held;
    stage.until_seen(session, "held", is_held).await;
    stage.execute(Command::ReleaseQueue { session }).await;
    stage.until_said(session, "Hello: two.").await;
    assert!(!stage.view(session).await.queue_held);
}

fn git(repository: &Path, words: &[&str]) -> String {
    let done = std::process::Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(words)
        .current_dir(repository)
        .output()
        .unwrap();
    String::from_utf8(done.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_comes_twice_makes_one_worktree() {
    let stage = Stage::new(TALK).await;
    let project = stage.project();
    git(&project, &["init", "-q"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let mut new = start(&project, Setup::default(), None);
    new.worktree = Some(NewWorktree::default());
    let command = Command::Start(Box::new(new));
    let cmd = Stage::cmd();
    let (first, second) = tokio::join!(
        stage.host().execute(cmd.clone(), command.clone()),
        stage.host().execute(cmd, command.clone())
    );
    assert_eq!(first.unwrap(), second.unwrap());
    assert!(tried(&stage, command).await.is_err(), "another key");
    let branches = git(&project, &["branch", "--list", "countersign/*"]);
    assert_eq!(branches.lines().count(), 1, "{branches}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_decides_second_hears_of_the_first_also_when_its_agent_is_gone() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("ask").await;
    let open = stage.open_approvals(session, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
    stage.until_life(&open[0], "settled").await;
    stage.execute(Command::Stop { session }).await;
    stage.until(session, "stopped").await;
    let late = Command::Decide {
        approval: open[0].id,
        saw: open[0].digest.clone(),
        decide: Decide::deny("No."),
    };
    match tried(&stage, late).await {
        Err(ControlError::Conflict { holds, .. }) => {
            assert_eq!(holds.unwrap()["effect"], "allow");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_host_takes_no_command_from_any_clone() {
    let mut stage = Stage::new(TALK).await;
    let session = stage.start("hello").await;
    stage.until(session, "idle").await;
    let clone = stage.host().clone();
    stage.restart().await;
    let cmd = Cmd::of("the suite", "test");
    let late = clone
        .execute(cmd, send(session, Message::text("late")))
        .await;
    assert!(
        matches!(late, Err(ControlError::Unavailable { .. })),
        "{late:?}"
    );
    assert!(stage.host().queue(session).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn to_try_again_is_refused_with_what_would_help_where_nothing_would_come_of_it() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("hello").await;
    stage.until(session, "idle").await;
    let refused = tried(&stage, Command::TryAgain { session }).await;
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("nothing to try again"), "{why}");
    let message = Message::text("ask");
    stage.execute(send(session, message)).await;
    stage.open_approvals(session, 1).await;
    stage.kill_all();
    let cut_off = |view: &SessionView| view.cut_off;
    stage.until_seen(session, "cut off", cut_off).await;
    let refused = tried(&stage, Command::TryAgain { session }).await;
    let error = refused.unwrap_err();
    assert!(matches!(error, ControlError::NotNow { .. }), "{error}");
    assert!(error.to_string().contains("resume the session"), "{error}");
}
