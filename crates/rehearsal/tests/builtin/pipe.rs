//! What only a pipe inside the test shows: a clock that does not wait, a host that does not read.

use countersign_rehearsal::cli::{PlayError, Scenario};
use serde_json::json;

use super::host::Host;

async fn in_turn(text: &str) -> Host {
    let scenario = Scenario::parse(text, "test").unwrap_or_else(|error| panic!("{error}"));
    let mut host = Host::play(scenario, &[]);
    host.say("hi").await;
    host
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_read_is_still_heard() {
    let mut host = in_turn("turn\n  flood 5000\n  expect interrupt\n  exit 9").await;
    // More than the pipe holds is on its way and nobody reads; writing must not hang either.
    for subtype in ["mcp_status"; 500].into_iter().chain(["rename_session"]) {
        let request = json!({"subtype": subtype});
        host.send(&json!({"type": "control_request", "request_id": "x", "request": request}))
            .await;
    }
    let ended = host.end().await;
    let why = ended.stderr;
    assert_eq!(ended.code, Some(97), "the interrupt did not come: {why}");
}

#[tokio::test]
async fn a_child_needs_a_process() {
    let host = in_turn("turn\n  spawn \"true\"").await;
    let error = host.cli.await.unwrap().unwrap_err();
    assert!(matches!(error, PlayError::NeedsProcess(command) if command == "true"));
}
