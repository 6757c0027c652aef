//! Conversations that were begun in a terminal and come under our care, after a person has said that the terminal is done.

use std::process::{Command as Process, Stdio};

use countersign_host::control::{
    Came, Command, Control, ControlError, Earlier, EarlierPart, Message, SessionId,
};

use crate::heard::Heard;
use crate::stage::Stage;

/// Remembers what it was told first.
const REMEMBERS: &str = r#"
turn always
  say "First you said: ${first_prompt}. Now: ${prompt}."
"#;

/// A person talks to the CLI in a terminal. Returns the id of the conversation.
fn in_a_terminal(stage: &Stage, prompt: &str) -> String {
    let id = uuid::Uuid::new_v4().to_string();
    let agents = &stage.settings.agents;
    let done = Process::new(&agents.claude[0])
        .args(["-p", prompt, "--session-id", &id])
        .current_dir(stage.project())
        .env_clear()
        .envs(agents.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    id
}

fn import(stage: &Stage, conversation: &str, confirmed: bool) -> (SessionId, Command) {
    let id = SessionId::fresh();
    let command = Command::Import {
        id,
        conversation: conversation.to_owned(),
        cwd: stage.project(),
        config_dir: None,
        confirmed,
    };
    (id, command)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_of_a_terminal_goes_on_with_its_history() {
    let stage = Stage::new(REMEMBERS).await;
    let conversation = in_a_terminal(&stage, "from the terminal");
    let (id, command) = import(&stage, &conversation, false);
    let asked = stage.host().execute(Stage::cmd(), command).await;
    let Err(ControlError::Confirm { why }) = asked else {
        panic!("{asked:?}");
    };
    assert!(why.contains("end it there first"), "{why}");
    let nobody = stage.host().session(id).await;
    assert!(matches!(nobody, Err(ControlError::NotFound { .. })));
    let (id, command) = import(&stage, &conversation, true);
    stage.execute(command).await;
    let view = stage.until(id, "idle").await;
    assert_eq!(view.conversation.as_ref(), Some(&conversation));
    assert_eq!(
        (view.origin.as_deref(), view.generation),
        (Some("import"), 0)
    );
    assert!(!view.name.is_empty());
    let message = Message::text("from the host");
    stage
        .execute(Command::Send {
            session: id,
            message,
        })
        .await;
    stage
        .until_said(id, "First you said: from the terminal. Now: from the host.")
        .await;
    let heard = Heard::of(&stage, id).await;
    assert_eq!(heard.inits(1)[0]["session_id"], conversation);
    let (_, again) = import(&stage, &conversation, true);
    let again = stage.host().execute(Stage::cmd(), again).await;
    assert!(
        matches!(again, Err(ControlError::Conflict { .. })),
        "{again:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_of_ours_is_not_imported() {
    let stage = Stage::new(REMEMBERS).await;
    let ours = stage.start("one").await;
    stage.until_said(ours, "Now: one.").await;
    let conversation = stage.view(ours).await.conversation.unwrap();
    let (_, command) = import(&stage, &conversation, true);
    let refused = stage.host().execute(Stage::cmd(), command).await;
    let Err(ControlError::Conflict { first, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(first.contains(&ours.to_string()), "{first}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_was_begun_elsewhere_is_refused() {
    let stage = Stage::new(REMEMBERS).await;
    let nowhere = uuid::Uuid::new_v4().to_string();
    let (_, command) = import(&stage, &nowhere, true);
    let refused = stage.host().execute(Stage::cmd(), command).await;
    assert!(
        matches!(refused, Err(ControlError::NotFound { .. })),
        "{refused:?}"
    );
    let conversation = in_a_terminal(&stage, "here");
    let elsewhere = stage.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let command = Command::Import {
        id: SessionId::fresh(),
        conversation,
        cwd: elsewhere,
        config_dir: None,
        confirmed: true,
    };
    let refused = stage.host().execute(Stage::cmd(), command).await;
    assert!(
        matches!(refused, Err(ControlError::Invalid { .. })),
        "{refused:?}"
    );
}

/// A turn that has a cost.
const COSTS: &str = r#"
turn always
  usage input=1000 output=100 cost=0.25
  say "The heron says: ${prompt}."
"#;

fn texts(earlier: &Earlier) -> String {
    serde_json::to_string(&earlier.items).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_session_shows_the_conversation_of_the_terminal_and_does_not_count_it() {
    let mut stage = Stage::new(COSTS).await;
    let conversation = in_a_terminal(&stage, "from the terminal");
    let (id, command) = import(&stage, &conversation, true);
    stage.execute(command).await;
    let part = EarlierPart::default();
    let earlier = stage
        .host()
        .earlier(id, part.clone())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (earlier.how, earlier.missing.as_deref()),
        (Came::Imported, None)
    );
    assert_eq!(earlier.conversation.as_deref(), Some(&*conversation));
    let said = texts(&earlier);
    assert!(
        said.contains("The heron says: from the terminal."),
        "{said}"
    );
    // It is found, and counts nowhere.
    for _ in 0..2 {
        let found = stage.host().search("heron".to_owned(), 10).await.unwrap();
        assert!(found.iter().any(|one| one.session == id), "{found:?}");
        stage.restart().await;
    }
    assert_eq!(stage.host().usage(0).await.unwrap().cost_usd, 0.0);
    // What the session says itself is not of the earlier conversation.
    let (session, message) = (id, Message::text("and now here"));
    stage.execute(Command::Send { session, message }).await;
    stage.until_said(id, "and now here").await;
    stage.until(id, "idle").await;
    let later = stage
        .host()
        .earlier(id, part.clone())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(texts(&later), said);
    let found = stage
        .host()
        .search("heron terminal".to_owned(), 10)
        .await
        .unwrap();
    assert!(found.iter().any(|one| one.session == id), "{found:?}");
    let narrow = |words: &str| EarlierPart {
        words: Some(words.to_owned()),
        ..part.clone()
    };
    let one = stage
        .host()
        .earlier(id, narrow("HERON says"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(one.items.len(), 1);
    let none = stage
        .host()
        .earlier(id, narrow("pelican"))
        .await
        .unwrap()
        .unwrap();
    assert!(none.items.is_empty());
    // Pages of it, put together, are all of it.
    let mut entries = Vec::new();
    let mut part = EarlierPart {
        most: 1,
        ..EarlierPart::default()
    };
    loop {
        let page = stage
            .host()
            .earlier(id, part.clone())
            .await
            .unwrap()
            .unwrap();
        part.before = page.items.first().map(|entry| entry.id);
        entries.splice(0..0, page.items);
        if !page.more {
            break;
        }
    }
    assert_eq!(entries, later.items);
}

async fn say(stage: &Stage, session: SessionId, words: &str) {
    let message = Message::text(words);
    stage.execute(Command::Send { session, message }).await;
    stage.until_said(session, words).await;
    stage.until(session, "idle").await;
}

async fn fork(stage: &Stage, session: SessionId) -> SessionId {
    let id = SessionId::fresh();
    let fork = Command::Fork {
        session,
        id,
        message: None,
        worktree: countersign_host::control::ForkWorktree::Own,
    };
    stage.execute(fork).await;
    id
}

async fn earlier(stage: &Stage, session: SessionId) -> Earlier {
    let part = EarlierPart::default();
    stage.host().earlier(session, part).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_shows_what_its_agent_took_over_from_the_parent_with_a_cost_of_its_own() {
    let stage = Stage::new(COSTS).await;
    let parent = stage.start("before the fork").await;
    stage.until(parent, "idle").await;
    let id = fork(&stage, parent).await;
    // No agent has taken it over yet: what the parent says now is part of it.
    say(&stage, parent, "after the fork").await;
    let is_counted = |view: &countersign_host::control::SessionView| view.cost_usd > 0.4;
    let cost = stage
        .until_seen(parent, "counted", is_counted)
        .await
        .cost_usd;
    say(&stage, id, "in the fork").await;
    say(&stage, parent, "without the fork").await;
    let is_more = |view: &countersign_host::control::SessionView| view.cost_usd > cost + 0.2;
    let whole = stage.until_seen(parent, "counted", is_more).await.cost_usd;
    let is_own = |view: &countersign_host::control::SessionView| view.cost_usd > 0.2;
    let own = stage.until_seen(id, "counted", is_own).await.cost_usd;

    let shown = earlier(&stage, id).await;
    let said = texts(&shown);
    assert!(
        said.contains("before the fork") && said.contains("after the fork"),
        "{said}"
    );
    assert!(!said.contains("without the fork"), "{said}");
    assert_eq!((shown.how, shown.session), (Came::Forked, Some(parent)));
    assert!(!shown.goes_on);
    let counted = shown.cost_usd.unwrap();
    assert!((counted - cost).abs() < 1e-9, "{counted} {cost}");
    let usage = stage.host().usage(0).await.unwrap().cost_usd;
    assert!((usage - whole - own).abs() < 1e-9, "{usage} {whole} {own}");
    let part = EarlierPart::default();
    assert_eq!(stage.host().earlier(parent, part).await.unwrap(), None);
    // A fork of the fork shows the fork, and says that there is more before it.
    let second = fork(&stage, id).await;
    let shown = earlier(&stage, second).await;
    let said = texts(&shown);
    assert!(said.contains("in the fork") && shown.goes_on, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_an_imported_session_that_has_not_spoken_shows_the_conversation_of_the_terminal()
{
    let stage = Stage::new(COSTS).await;
    let conversation = in_a_terminal(&stage, "from the terminal");
    let (parent, command) = import(&stage, &conversation, true);
    stage.execute(command).await;
    let id = fork(&stage, parent).await;
    let shown = earlier(&stage, id).await;
    assert_eq!((shown.missing.as_deref(), shown.goes_on), (None, false));
    assert_eq!((shown.how, shown.session), (Came::Forked, Some(parent)));
    let said = texts(&shown);
    assert!(
        said.contains("The heron says: from the terminal."),
        "{said}"
    );
}
