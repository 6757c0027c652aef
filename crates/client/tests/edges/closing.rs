//! Before 2.1.325 a CLI whose stdin is closed lets pass what a hook denies. So it must be quiet before that, or dead.

use std::time::Duration;

use countersign_client::hook::PreToolUse;
use countersign_client::{Claude, Hook};
use serde_json::json;

use crate::pair::{Far, greeted, soon};
use crate::result;
use crate::shell::Shell;
use crate::stage::within;

const OLDER: &str = "2.1.62";

fn denies(claude: Claude) -> Claude {
    claude.hook(Hook::of(PreToolUse, |_, _| async {
        PreToolUse::deny("no")
    }))
}

async fn begins(far: &mut Far, uuid: &str) {
    far.say(&json!({"type": "system", "subtype": "init", "session_id": "s", "claude_code_version": OLDER}))
        .await;
    far.say(
        &json!({"type": "user", "isReplay": true, "uuid": uuid, "session_id": "s",
        "message": {"role": "user", "content": "x"}}),
    )
    .await;
    far.say(&json!({"type": "assistant", "session_id": "s", "message": {"role": "assistant", "content": []}}))
        .await;
}

async fn is_interrupted(far: &mut Far) {
    assert_eq!(far.accept(json!({})).await["subtype"], "interrupt");
}

async fn is_cut_off(far: &mut Far) {
    far.say(&json!({"type": "result", "subtype": "error_during_execution", "is_error": false, "session_id": "s"}))
        .await;
}

#[tokio::test]
async fn a_message_that_is_still_queued_is_interrupted_when_it_starts_and_stdin_closed_after() {
    let (session, mut far, _) = greeted(denies(Claude::new()), OLDER).await;
    let mut first = session.send("A").await.unwrap();
    let queued = session.send("B").await.unwrap();
    far.hear().await;
    far.hear().await;
    begins(&mut far, first.uuid()).await;
    far.say(&result()).await;
    soon(first.result()).await.unwrap();
    assert!(!session.is_idle());

    let handle = session.handle.clone();
    let closing = tokio::spawn(async move { handle.close().await });
    is_interrupted(&mut far).await;
    begins(&mut far, queued.uuid()).await;
    is_interrupted(&mut far).await;
    is_cut_off(&mut far).await;
    assert_eq!(far.end().await, None);
    drop(far);
    soon(closing).await.unwrap();
}

#[tokio::test]
async fn a_running_turn_and_the_one_that_is_queued_behind_it_are_both_interrupted() {
    let (session, mut far, _) = greeted(denies(Claude::new()), OLDER).await;
    let running = session.send("A").await.unwrap();
    let queued = session.send("B").await.unwrap();
    far.hear().await;
    far.hear().await;
    begins(&mut far, running.uuid()).await;

    let handle = session.handle.clone();
    let closing = tokio::spawn(async move { handle.close().await });
    is_interrupted(&mut far).await;
    is_cut_off(&mut far).await;
    begins(&mut far, queued.uuid()).await;
    is_interrupted(&mut far).await;
    is_cut_off(&mut far).await;
    assert_eq!(far.end().await, None);
    drop(far);
    soon(closing).await.unwrap();
}

#[tokio::test]
async fn stdin_stays_open_until_background_work_has_ended() {
    let (mut session, mut far, _) = greeted(denies(Claude::new()), OLDER).await;
    far.say(
        &json!({"type": "system", "subtype": "task_started", "task_id": "b", "session_id": "s"}),
    )
    .await;
    soon(session.events.next()).await.unwrap();
    assert!(!session.is_idle());

    let handle = session.handle.clone();
    let closing = tokio::spawn(async move { handle.close().await });
    is_interrupted(&mut far).await;
    far.say(&json!({"type": "system", "subtype": "task_notification", "task_id": "b", "status": "completed",
        "session_id": "s"}))
        .await;
    assert_eq!(far.end().await, None);
    drop(far);
    soon(closing).await.unwrap();
}

/// Reads on to the end of stdin, and notes that it came. What it does at an interrupt comes before.
fn never_quiet(at_interrupt: &str) -> String {
    format!(
        "greet
        hear; init; : > begun
        while hear; do case \"$line\" in *'\"interrupt\"'*) {at_interrupt};; esac; done
        : > stdin-was-closed"
    )
}

/// Whether a CLI that does not become quiet saw the end of its stdin, and the signal that ended it.
async fn closed_under(cli: Shell, claude: Claude, prompts: &[&str]) -> (bool, Option<i32>) {
    let claude = claude.graces(|graces| {
        graces.interrupt = Duration::from_millis(400);
        graces.result = Duration::from_millis(400);
    });
    let session = within(claude.connect()).await.unwrap();
    for prompt in prompts {
        drop(session.send(*prompt).await.unwrap());
    }
    cli.has_made("begun").await;
    let closed = within(session.close()).await;
    cli.stage.until_nothing_runs().await;
    (cli.file("stdin-was-closed").exists(), closed.signal)
}

const KILLED: (bool, Option<i32>) = (false, Some(9));

#[tokio::test]
async fn an_older_cli_with_a_hook_that_does_not_answer_the_interrupt_dies_before_stdin_is_closed() {
    let cli = Shell::of_version(OLDER, &never_quiet(":"));
    let claude = denies(cli.claude());
    assert_eq!(closed_under(cli, claude, &["A"]).await, KILLED);
}

#[tokio::test]
async fn an_older_cli_with_a_hook_that_goes_on_despite_the_interrupt_dies_before_stdin_is_closed() {
    let cli = Shell::of_version(OLDER, &never_quiet("accept '{}'"));
    let claude = denies(cli.claude());
    assert_eq!(closed_under(cli, claude, &["A"]).await, KILLED);
}

#[tokio::test]
async fn an_older_cli_with_a_hook_that_keeps_a_queued_message_dies_before_stdin_is_closed() {
    let ends_the_first = never_quiet(&format!("accept '{{}}'; say '{}'", result()));
    let cli = Shell::of_version(OLDER, &ends_the_first);
    let claude = denies(cli.claude());
    assert_eq!(closed_under(cli, claude, &["A", "B"]).await, KILLED);
}

#[tokio::test]
async fn an_older_cli_with_a_hook_and_work_in_the_background_dies_before_stdin_is_closed() {
    let task = r#"{"type":"system","subtype":"task_started","task_id":"b","session_id":"s"}"#;
    let body = format!(
        "greet; say '{task}'; accept_all() {{ while hear; do accept '{{}}'; done; }}
        hear; init; say '{}'; : > begun; accept_all; : > stdin-was-closed",
        result()
    );
    let cli = Shell::of_version(OLDER, &body);
    let claude = denies(cli.claude());
    assert_eq!(closed_under(cli, claude, &["A"]).await, KILLED);
}

#[tokio::test]
async fn the_same_cli_without_a_hook_has_its_stdin_closed() {
    let cli = Shell::of_version(OLDER, &never_quiet(":"));
    let claude = cli.claude();
    assert_eq!(closed_under(cli, claude, &["A"]).await, (true, None));
}

#[tokio::test]
async fn the_newest_cli_with_a_hook_has_its_stdin_closed() {
    let cli = Shell::new(&never_quiet(":"));
    let claude = denies(cli.claude());
    assert_eq!(closed_under(cli, claude, &["A"]).await, (true, None));
}
