//! A wrapper whose `--version` starts more than it ends: nothing of it is left, however the connecting goes.

use std::time::Duration;

use countersign_client::Claude;

use crate::shell::Shell;
use crate::stage::within;

/// An option that not every version has, so the version is asked for first.
fn needs_the_version(cli: &Shell) -> Claude {
    cli.claude().name("x").graces(|graces| {
        graces.close = Duration::ZERO;
        graces.term = Duration::ZERO;
    })
}

#[tokio::test]
async fn nothing_is_left_of_a_version_probe_that_was_dropped() {
    let cli = Shell::probed(
        "sleep 300 & setsid sleep 301 & : > probed; wait",
        "sleep 302",
    );
    let mut connecting = Box::pin(needs_the_version(&cli).connect());
    tokio::select! {
        connected = &mut connecting => panic!("it waits for the version: {connected:?}"),
        () = cli.has_made("probed") => {}
    }
    assert!(!cli.stage.running().is_empty());
    drop(connecting);
    cli.stage.until_nothing_runs().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_version_probe_whose_wrapper_left_children() {
    let probe = "sleep 300 >/dev/null 2>&1 & setsid sleep 301 >/dev/null 2>&1 & : > probed
        echo '2.1.325 (Claude Code)'";
    let cli = Shell::probed(probe, "greet; while hear; do accept '{}'; done");
    let session = within(needs_the_version(&cli).connect()).await.unwrap();
    assert!(cli.file("probed").exists(), "the version was asked for");
    within(session.close()).await;
    cli.stage.until_nothing_runs().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_version_probe_whose_children_hold_its_output() {
    let probe = "sleep 300 & setsid sleep 301 & : > probed; echo '2.1.325 (Claude Code)'";
    let cli = Shell::probed(probe, "greet; while hear; do accept '{}'; done");
    let connected = within(needs_the_version(&cli).connect()).await;
    assert!(cli.file("probed").exists(), "the version was asked for");
    if let Ok(session) = connected {
        within(session.close()).await;
    }
    cli.stage.until_nothing_runs().await;
}
