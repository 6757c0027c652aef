//! Conversations that were begun in a terminal and come under our care, after a person has said that the terminal is done.

use std::process::{Command as Process, Stdio};

use countersign_host::control::{Command, Control, ControlError, Message, SessionId};

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
