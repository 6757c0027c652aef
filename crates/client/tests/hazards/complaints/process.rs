//! The life of the process: coming up, going down, staying, and what it says meanwhile.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use countersign_client::{EndedBy, Error};

use crate::stage::{Stage, unhurried, until, within};

#[tokio::test]
pub(crate) async fn c07_an_exit_during_the_handshake_is_told_at_once() {
    let stage = Stage::new("on initialize\n stderr \"Invalid API key\"\n exit 1");
    let error = within(stage.claude().connect()).await.unwrap_err();
    assert!(matches!(error, Error::Handshake(_)), "{error}");
    assert_eq!(error.exit_code(), Some(1));
    let text = error.to_string();
    assert!(
        text.contains("did not come up") && text.contains("Invalid API key"),
        "{text}"
    );
    stage.until_nothing_runs().await;
}

#[tokio::test]
pub(crate) async fn c08_what_stalls_the_handshake_can_be_told_apart() {
    let short = |stage: &Stage| {
        let wait = Duration::from_millis(300);
        stage
            .claude()
            .bounds(|bounds| bounds.initialize_timeout = wait)
    };
    let silent = Stage::new("reply never initialize\nstart\n stderr \"loading plugins\"");
    let error = within(short(&silent).connect()).await.unwrap_err();
    let text = error.to_string();
    assert!(error.is_timeout() && text.contains("greeting"), "{text}");
    assert!(text.contains("loading plugins"), "{text}");
    silent.until_nothing_runs().await;

    let refusing = Stage::new("reply error \"plugin x is broken\" initialize");
    let error = within(refusing.claude().connect()).await.unwrap_err();
    assert!(
        matches!(&error, Error::Refused { message, .. } if message == "plugin x is broken"),
        "{error}"
    );
    refusing.until_nothing_runs().await;

    let dead = Stage::new("start\n stderr \"error: unknown option '--nope'\"\n exit 1");
    let error = within(dead.claude().connect()).await.unwrap_err();
    assert!(
        error.to_string().contains("unknown option '--nope'"),
        "{error}"
    );

    let absent = dead.claude().cli(dead.folder().join("no-claude-here"));
    let error = within(absent.connect()).await.unwrap_err();
    assert!(
        matches!(error, Error::NotFound(_) | Error::Spawn(_)),
        "{error}"
    );
    assert!(error.to_string().contains("no-claude-here"), "{error}");
}

#[tokio::test]
pub(crate) async fn c09_an_exit_has_its_stderr_without_a_listener() {
    let scenario =
        "turn\n stderr \"first\"\n stderr flood 300K\n stderr \"panic: at the disco\"\n exit 1";
    let stage = Stage::new(scenario);
    let error = within(stage.claude().query("go").finish())
        .await
        .unwrap_err();
    assert_eq!(error.exit_code(), Some(1));
    assert!(
        error.to_string().ends_with("panic: at the disco"),
        "{error}"
    );
    let kept = error.stderr().unwrap();
    assert!(
        kept.len() < 200 << 10,
        "the tail is bounded: {}",
        kept.len()
    );

    // And with one, every line is told.
    let stage = Stage::new(scenario);
    let bytes = Arc::new(AtomicU64::new(0));
    let count = bytes.clone();
    let claude = stage.claude().on_stderr(move |line| {
        count.fetch_add(line.len() as u64 + 1, Ordering::Relaxed);
    });
    within(claude.query("go").finish()).await.unwrap_err();
    assert!(bytes.load(Ordering::Relaxed) >= 300 << 10);
}

const ORPHANS: &str = r#"turn
    spawn "echo $$ > near; exec sleep 600"
    spawn detached "echo $$ > far; exec sleep 600"
    say "Two are running."
    wait forever"#;

/// A session in the middle of a turn, with two grandchildren.
async fn with_orphans(stage: &Stage) -> countersign_client::Session {
    let session = within(stage.claude().connect()).await.unwrap();
    drop(session.send("go").await.unwrap());
    stage.pid_in("near").await;
    stage.pid_in("far").await;
    session
}

#[test]
pub(crate) fn c10_nothing_outlives_its_session() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let dropped = Stage::new(ORPHANS);
    runtime.block_on(async {
        let session = with_orphans(&dropped).await;
        assert_eq!(session.pid().map(u64::from), dropped.note()["pid"].as_u64());
        drop(session);
        dropped.until_nothing_runs().await;
    });
    // The runtime ends while the session is held.
    let held = Stage::new(ORPHANS);
    let session = runtime.block_on(with_orphans(&held));
    drop(runtime);
    held.assert_nothing_runs();
    drop(session);
}

const HOST: &str = "COUNTERSIGN_TEST_HOST_FOLDER";

#[test]
#[ignore = "the host that c10_the_agent_dies_with_its_host starts and kills"]
fn c10_host() {
    let Some(folder) = std::env::var_os(HOST) else {
        return;
    };
    let stage = Stage::at(folder.into(), ORPHANS);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let session = runtime.block_on(with_orphans(&stage));
    std::fs::write(stage.folder().join("up"), "up").unwrap();
    runtime.block_on(session.closed());
}

#[tokio::test]
pub(crate) async fn c10_the_agent_dies_with_its_host() {
    let stage = Stage::new(ORPHANS);
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "complaints::process::c10_host"])
        .env(HOST, stage.folder())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let up = stage.folder().join("up");
    until("the host is up", || up.exists()).await;
    let pid = stage.note()["pid"].as_u64().unwrap() as u32;
    assert!(stage.running().contains(&pid));
    host.kill().unwrap();
    host.wait().unwrap();
    until("the CLI is gone", || !stage.running().contains(&pid)).await;
    // A killed host ends nobody but the CLI, which ends its own children; this one does not.
    for file in ["near", "far"] {
        let pid = stage.pid_in(file).await as i32;
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    until("nothing is left of the test", || stage.running().is_empty()).await;
}

#[tokio::test]
pub(crate) async fn c11_the_cli_has_time_to_write_its_transcript() {
    let stage = Stage::new(
        r#"turn
             say "Done."
             result
             wait 700ms
             spawn "echo flushed > transcript"
             wait 100ms
             exit 0"#,
    );
    let claude = stage.claude().graces(unhurried);
    let session = within(claude.connect()).await.unwrap();
    within(session.send("go").await.unwrap()).await.unwrap();
    let closed = within(session.close()).await;
    assert_eq!(
        (closed.code, closed.ended_by),
        (Some(0), Some(EndedBy::Eof))
    );
    let transcript = std::fs::read_to_string(stage.folder().join("transcript"));
    assert_eq!(transcript.unwrap(), "flushed\n");
}

#[tokio::test]
pub(crate) async fn c12_our_own_signal_is_no_error() {
    let stage = Stage::new("ignore eof\nturn\n say \"Done.\"");
    let claude = stage
        .claude()
        .graces(|graces| graces.close = Duration::from_millis(50));
    let outcome = within(claude.query("go").finish()).await.unwrap();
    assert_eq!(outcome.result.text(), "Done.");
    assert_eq!(outcome.closed.ended_by, Some(EndedBy::Term));
    assert!(outcome.closed.is_clean(), "{}", outcome.closed);
    assert!(outcome.closed.to_string().contains("our SIGTERM"));
    // The stream of such a run ends without an error, too.
    let mut run = within(
        stage
            .claude()
            .graces(|graces| graces.close = Duration::from_millis(50))
            .query("go")
            .start(),
    )
    .await
    .unwrap();
    while let Some(event) = within(run.next()).await {
        assert!(event.is_ok(), "{event:?}");
    }
}

#[tokio::test]
pub(crate) async fn c26_one_process_answers_many_prompts() {
    let stage = Stage::new("turn always\n say \"${prompt}!\"");
    let session = within(stage.claude().connect()).await.unwrap();
    for n in 0..50 {
        let result = within(session.send(format!("number {n}")).await.unwrap())
            .await
            .unwrap();
        assert_eq!(result.text(), format!("number {n}!"));
    }
    assert_eq!(stage.asked("initialize").len(), 1, "it was started once");
    assert_eq!(stage.running(), [session.pid().unwrap()]);
}

#[tokio::test]
pub(crate) async fn c27_nothing_blocks_the_event_loop() {
    let stage =
        Stage::new("reply late 300ms initialize\nignore eof\nturn\n wait 300ms\n say \"Slow.\"");
    let claude = stage
        .claude()
        .graces(|graces| graces.close = Duration::from_millis(300));
    let ticks = Arc::new(AtomicU64::new(0));
    let counting = ticks.clone();
    // One thread for everything: whoever blocks it stops the clock.
    let clock = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            counting.fetch_add(1, Ordering::Relaxed);
        }
    });
    let passed = |what: &str| {
        let count = ticks.swap(0, Ordering::Relaxed);
        assert!(count >= 10, "{what} blocked the loop: {count} ticks");
    };
    let session = within(claude.connect()).await.unwrap();
    passed("connect");
    within(session.send("go").await.unwrap()).await.unwrap();
    passed("the turn");
    within(session.close()).await;
    passed("close");
    clock.abort();
}

#[tokio::test]
pub(crate) async fn c28_a_cli_that_neither_answers_nor_ends_is_ended() {
    let stage = Stage::new(
        r#"ignore eof
           ignore sigterm
           reply never any
           reply normal initialize
           default interrupt off
           turn
             say "Hm."
             stop reading
             wait forever"#,
    );
    let claude = stage.claude().graces(|graces| {
        graces.interrupt = Duration::from_millis(100);
        graces.close = Duration::from_millis(100);
        graces.term = Duration::from_millis(100);
    });
    let claude = claude.bounds(|bounds| bounds.control_timeout = Duration::from_millis(100));
    let session = within(claude.connect()).await.unwrap();
    let mut turn = session.send("go").await.unwrap();
    // Giving up the wait costs nothing; the turn can be waited for again.
    let waited = tokio::time::timeout(Duration::from_millis(50), turn.result()).await;
    assert!(waited.is_err());
    let error = within(session.interrupt()).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    let closed = within(session.close()).await;
    assert_eq!(closed.ended_by, Some(EndedBy::Kill));
    let error = within(turn.result()).await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    stage.assert_nothing_runs();
}
