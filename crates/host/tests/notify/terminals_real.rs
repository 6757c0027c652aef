//! A real CLI that runs is seen, whatever its version, and is gone when it has ended.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_client::history::Transcripts;
use countersign_host::control::ControlError;
use countersign_host::import::{self, Sign, Wanted, World};
use countersign_rehearsal::model::{Options, Script, Server};
use countersign_testkit::demand;
use countersign_testkit::sandbox::{Launch, Patience, RunAs, Sandbox};

use crate::stage::until;

const OTHER: &str = "7a0d2a9e-8a52-4c9b-9a57-2a8f0c1d3e4c";
const TALK: &str = "reply always\n  say \"Well.\"\n";

/// Long after anything was written.
fn later() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    (now.unwrap() + Duration::from_secs(3_600)).as_micros() as u64
}

/// Started as a terminal starts it: not by a host of ours. Each has an id of its own, since all processes are looked at.
async fn is_seen_while_it_runs(version: &str, conversation: &str, keeps_records: bool) {
    let Some(installed) = demand::cli(version) else {
        return;
    };
    let sandbox = Sandbox::create(RunAs::Caller).unwrap();
    let script = Script::parse(TALK).unwrap();
    let model = Server::start(script, Options::default()).await.unwrap();
    let launch = Launch {
        base_url: model.base_url(),
        flags: ["--session-id", conversation].map(str::to_owned).into(),
        ..Launch::default()
    };
    let ended = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&ended);
    let mut cli = sandbox
        .start(&installed, &launch, move |_, line: Vec<u8>| {
            let line = String::from_utf8_lossy(&line);
            heard.fetch_or(line.contains(r#""type":"result""#), Ordering::Relaxed);
        })
        .unwrap();
    let said = r#"{"type":"user","message":{"role":"user","content":"heron"}}"#;
    assert!(cli.write_line(said).await);
    until("the turn to end", || ended.load(Ordering::Relaxed)).await;

    let config = sandbox.home().join(".claude");
    let transcripts = Transcripts::at(&config);
    let project = sandbox.project().canonicalize().unwrap();
    let sign = |id: &str, cwd: &Path| World::look(&config).sign_of(id, cwd, 0, later());
    let seen = sign(conversation, &project);
    if keeps_records {
        assert!(
            matches!(&seen, Some(Sign::Says { version: Some(said), .. }) if said == installed.pinned.version),
            "{seen:?}"
        );
    } else {
        // It has written over its own arguments.
        assert!(matches!(seen, Some(Sign::SameFolder { .. })), "{seen:?}");
    }
    // What it is at is known of those that tell.
    assert_eq!(sign(OTHER, &project).is_none(), keeps_records);
    assert_eq!(sign(conversation, sandbox.root()).is_some(), keeps_records);

    until("the transcript", || {
        let listed = transcripts.list_all(&Default::default());
        listed.is_ok_and(|listed| !listed.is_empty())
    })
    .await;
    let check = |confirmed| {
        let wanted = Wanted {
            conversation,
            cwd: &project,
            confirmed,
        };
        import::check(&transcripts, wanted, &World::look(&config), later())
    };
    let ControlError::Confirm { why } = check(false).unwrap_err() else {
        panic!("not asked");
    };
    assert!(why.starts_with("Process "), "{why}");
    cli.end(Patience::default()).await.unwrap();
    until("its end to be seen", || {
        sign(conversation, &project).is_none()
    })
    .await;
    let found = check(true).unwrap();
    assert_eq!((found.cwd, found.maybe_running), (project, None));
    assert_eq!(found.title, "heron");
}

#[tokio::test]
async fn a_running_newest_is_seen() {
    is_seen_while_it_runs("newest", "7a0d2a9e-8a52-4c9b-9a57-2a8f0c1d3e00", true).await;
}

#[tokio::test]
async fn a_running_2_1_62_is_seen() {
    is_seen_while_it_runs("2.1.62", "7a0d2a9e-8a52-4c9b-9a57-2a8f0c1d3e01", false).await;
}

#[tokio::test]
async fn a_running_2_0_75_is_seen() {
    is_seen_while_it_runs("2.0.75", "7a0d2a9e-8a52-4c9b-9a57-2a8f0c1d3e02", false).await;
}
