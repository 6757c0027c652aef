//! What is done for journals beside the sessions: heads are signed, closed segments are made small.

use std::path::{Path, PathBuf};
use std::time::Instant;

use countersign_host::control::{Command, Control, Message, SessionId, SessionView};
use countersign_journal::{Verdict, seal, verify};

use crate::stage::{DEADLINE, Stage};

const TALK: &str = r#"
turn always
  say "Hello: ${prompt}."
"#;

fn folder(stage: &Stage, id: SessionId) -> PathBuf {
    let data = &stage.settings.agents.data;
    data.join("sessions").join(id.to_string())
}

fn key_file(stage: &Stage) -> PathBuf {
    stage.settings.agents.data.join("seal.key")
}

/// What the journal of a session looks like to whoever has the host's key.
fn verdict(stage: &Stage, dir: &Path) -> Option<Verdict> {
    let key = seal::load(&key_file(stage)).ok()?.verifying_key();
    verify(dir, &[key]).ok()
}

/// Waits until all of this is so.
async fn until(stage: &Stage, id: SessionId, what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "{what}\n{}", stage.story(id));
        tokio::task::yield_now().await;
    }
}

async fn stopped(stage: &Stage, session: SessionId) {
    let is_done = |view: &SessionView| view.state.name() == "idle" && view.queued == 0;
    stage.until_seen(session, "done", is_done).await;
    stage.execute(Command::Stop { session }).await;
    stage.until(session, "stopped").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_is_sealed_to_its_last_head_when_its_agent_has_ended() {
    let stage = Stage::new(TALK).await;
    let id = stage.start("one").await;
    stage.until_said(id, "Hello: one.").await;
    stopped(&stage, id).await;
    let dir = folder(&stage, id);
    let is_sealed = || {
        let heads = countersign_journal::heads(&dir, None);
        let last = heads.unwrap().heads.last().map(|head| head.cursor);
        let found = verdict(&stage, &dir);
        found
            .is_some_and(|found| found.is_whole() && found.sealed.is_some() && found.sealed == last)
    };
    until(&stage, id, "it is never sealed", is_sealed).await;
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(key_file(&stage))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let public = std::fs::read_to_string(stage.settings.agents.data.join("seal.pub")).unwrap();
    let key = seal::load(&key_file(&stage)).unwrap().verifying_key();
    assert_eq!(seal::public_from_text(public.trim()), Some(key));
    // A journal that was cut behind a whole record is told by its seals alone.
    let segment = dir.join("journal/000001.j");
    let text = std::fs::read(&segment).unwrap();
    let cut = text
        .iter()
        .take(text.len() / 2)
        .rposition(|byte| *byte == b'\n');
    std::fs::write(&segment, &text[..=cut.unwrap()]).unwrap();
    assert!(!verdict(&stage, &dir).unwrap().is_whole());
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_segments_are_made_small_and_read_as_before() {
    let stage = Stage::new(TALK).await;
    let session = stage.start("one").await;
    stage.until_said(session, "Hello: one.").await;
    stopped(&stage, session).await;
    let message = Some(Message::text("two"));
    stage.execute(Command::Resume { session, message }).await;
    stage.until_said(session, "Hello: two.").await;
    stopped(&stage, session).await;
    let dir = folder(&stage, session);
    let is_small = || {
        let closed = dir.join("journal/000001.j");
        let is_whole = verdict(&stage, &dir).is_some_and(|it| it.is_whole() && it.sealed.is_some());
        !closed.exists() && is_whole
    };
    until(&stage, session, "it is never made small", is_small).await;
    let page = stage.host().transcript(session, None, 50).await.unwrap();
    let text = serde_json::to_string(&page.items).unwrap();
    assert!(text.contains("Hello: one.") && text.contains("Hello: two."));
}
