//! A host ends, another one begins: nothing is lost, nothing happens twice.

use countersign_host::control::{Control, ControlError, Decide};

use crate::stage::Stage;

/// One question in each turn.
const ASKS: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_asked_before_is_answered_by_the_next_host() {
    let mut stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let before = stage.open_approvals(id, 1).await;
    let epoch = stage.host().epoch();
    stage.restart().await;
    assert!(stage.host().epoch() > epoch);
    let after = stage.open_approvals(id, 1).await;
    assert_eq!(after[0].id, before[0].id);
    assert_eq!(after[0].digest, before[0].digest);
    stage.decide(&after[0], Decide::allow()).await;
    stage.until_life(&after[0], "settled").await;
    let view = stage.until(id, "idle").await;
    assert_eq!(view.generation, 1, "the same agent went on");
    assert_eq!(stage.ran(), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_last_is_known_to_the_next_host() {
    let mut stage = Stage::new("turn always\n  say \"First.\\nHello: ${prompt}.\"\n").await;
    let id = stage.start("one").await;
    stage
        .until_seen(id, "idle, with words", |view| {
            view.state.name() == "idle" && view.last_line.is_some()
        })
        .await;
    stage.restart().await;
    let after = stage.until(id, "idle").await;
    assert_eq!(after.last_line.as_deref(), Some("Hello: one."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_a_loss_of_power_took_from_the_journal_keeps_nothing_from_going_on() {
    let mut stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let asked = stage.open_approvals(id, 1).await;
    stage.close().await;
    stage.kill_all();
    // The database knows of the question, the disk no longer does.
    let data = stage.settings.agents.data.clone();
    let segment = data.join(format!("sessions/{id}/journal/000001.j"));
    let text = std::fs::read(&segment).unwrap();
    let question = memchr::memmem::find(&text, b"can_use_tool").unwrap();
    let line = text[..question].iter().rposition(|byte| *byte == b'\n');
    std::fs::write(&segment, &text[..=line.unwrap()]).unwrap();
    stage.open().await;
    let view = stage.until(id, "failed").await;
    assert!(view.cut_off, "{}", view.reason);
    let gone = stage.host().approval(asked[0].id).await.unwrap_err();
    assert!(matches!(gone, ControlError::NotFound { .. }), "{gone}");
}
