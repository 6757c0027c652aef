//! An end that is waited for comes as soon as it can: when the CLI dies meanwhile, or somebody has less patience.

use std::pin::pin;
use std::time::Duration;

use countersign_client::{Claude, Graces, Session};
use futures_util::future::poll_immediate;

use crate::shell::Shell;
use crate::stage::within;

/// All the time in the world: longer than any test may take.
fn patient(claude: Claude) -> Claude {
    claude.graces(|graces| {
        let long = Duration::from_secs(600);
        graces.interrupt = long;
        graces.result = long;
        graces.close = long;
        graces.background = long;
        graces.term = long;
    })
}

/// A session in the middle of a turn.
async fn working(cli: &Shell) -> Session {
    let session = within(patient(cli.claude()).connect()).await.unwrap();
    drop(within(session.send("go")).await.unwrap());
    cli.has_made("begun").await;
    session
}

#[tokio::test]
async fn a_cli_that_dies_of_the_interrupt_is_not_waited_for() {
    let cli = Shell::new("greet; hear; init; : > begun; hear; echo bye >&2; exit 5");
    let session = working(&cli).await;
    let closed = within(session.close()).await;
    assert_eq!(closed.code, Some(5), "{closed}");
    assert_eq!(closed.last_words(), Some("bye"));
}

#[tokio::test]
async fn a_cli_that_dies_after_it_answered_the_interrupt_is_not_waited_for() {
    let cli = Shell::new("greet; hear; init; : > begun; hear; accept '{}'; exit 5");
    let session = working(&cli).await;
    let closed = within(session.close()).await;
    assert_eq!(closed.code, Some(5), "{closed}");
}

/// The first close is under way when `mark` is there; the second one has no patience.
async fn second_close_is_heard(body: &str, mark: &str) {
    let cli = Shell::new(body);
    let session = working(&cli).await;
    let mut first = pin!(session.close());
    assert!(poll_immediate(&mut first).await.is_none());
    cli.has_made(mark).await;
    let hurried = within(session.close_with(Graces::at_once())).await;
    assert_eq!(hurried.signal, Some(9), "{hurried}");
    assert_eq!(within(first).await.signal, Some(9));
    cli.stage.until_nothing_runs().await;
}

#[tokio::test]
async fn a_second_close_without_patience_hurries_the_first_that_waits_for_the_interrupt() {
    let body = "trap '' TERM; greet; hear; init; : > begun; hear; : > interrupted; while :; do sleep 1; done";
    second_close_is_heard(body, "interrupted").await;
}

#[tokio::test]
async fn a_second_close_without_patience_hurries_the_first_that_waits_for_the_end() {
    let result = crate::result();
    let body = format!(
        "trap '' TERM; greet; hear; init; say '{result}'; : > begun
        while hear; do accept '{{}}'; done; : > stdin-was-closed; while :; do sleep 1; done"
    );
    second_close_is_heard(&body, "stdin-was-closed").await;
}
