//! A CLI that ends when it should not: whoever waits is told why, with its exit code and its last words.

use std::time::Duration;

use countersign_client::{Error, Event};

use crate::shell::Shell;
use crate::stage::{Stage, within};

/// The order of a death is left to chance, so it is looked at so often.
const TIMES: usize = 30;

const DIES: &str = "exec 0<&-; echo 'fatal: cannot read settings' >&2; exit 3";

fn assert_says_why(error: &Error) {
    assert_eq!(error.exit_code(), Some(3), "{error:?}");
    let stderr = error.stderr().unwrap();
    assert!(stderr.contains("cannot read settings"), "{error:?}");
}

#[tokio::test]
async fn a_cli_that_dies_at_once_gives_its_code_and_its_reason() {
    let cli = Shell::new(DIES);
    for _ in 0..TIMES {
        let error = within(cli.claude().connect()).await.unwrap_err();
        assert!(matches!(error, Error::Handshake(_)), "{error:?}");
        assert_says_why(&error);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cli_that_dies_after_it_read_the_greeting_gives_its_code_and_its_reason() {
    let cli = Shell::new(&format!("hear; {DIES}"));
    for _ in 0..TIMES {
        let error = within(cli.claude().connect()).await.unwrap_err();
        assert_says_why(&error);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_to_a_cli_that_just_died_fails_with_its_code_and_its_reason() {
    let cli = Shell::new(&format!("greet; {DIES}"));
    for _ in 0..TIMES {
        let session = within(cli.claude().connect()).await.unwrap();
        // Where it is taken, it was faster than the death; then the turn says it.
        let error = match within(session.send("x")).await {
            Ok(turn) => within(turn).await.unwrap_err(),
            Err(error) => error,
        };
        assert_says_why(&error);
        let error = within(session.send("y")).await.unwrap_err();
        assert_says_why(&error);
    }
}

/// Its stdin is closed, and it takes a while to end: what is written fails before the end is known.
#[tokio::test]
async fn a_message_to_a_closed_stdin_waits_for_the_reason() {
    let cli = Shell::new(&format!(
        "greet; exec 0<&-; : > deaf; while [ ! -e refused ]; do sleep 0.02; done; {DIES}"
    ));
    let session = within(cli.claude().connect()).await.unwrap();
    cli.has_made("deaf").await;
    let sending = async {
        let mut sending = std::pin::pin!(session.send("x"));
        let early = futures_util::future::poll_immediate(&mut sending).await;
        std::fs::write(cli.file("refused"), "").unwrap();
        match early {
            Some(sent) => sent,
            None => sending.await,
        }
    };
    assert_says_why(&within(sending).await.unwrap_err());
}

#[tokio::test]
async fn a_run_whose_cli_exits_cleanly_without_a_result_gives_an_error() {
    for scenario in ["turn\n  exit 0\n", "turn\n  say \"half\"\n  exit 0\n"] {
        let stage = Stage::new(scenario);
        let mut run = within(stage.claude().query("x")).await.unwrap();
        let error = loop {
            match within(run.next()).await.expect("an error before the end") {
                Ok(Event::Closed(closed)) => panic!("no error: {closed}"),
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::Closed(_)), "{error:?}");
        assert_eq!(error.exit_code(), Some(0));
        let error = within(run.finish()).await.unwrap_err();
        assert!(matches!(error, Error::Closed(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_greeting_that_is_not_answered_in_time_gives_the_stderr_and_leaves_no_process() {
    let cli = Shell::new(
        "trap '' TERM; echo 'plugin X waits for its lock' >&2; while :; do sleep 1; done",
    );
    let limit = Duration::from_secs(3);
    let claude = cli
        .claude()
        .bounds(|bounds| bounds.initialize_timeout = limit);
    let error = within(claude.connect()).await.unwrap_err();
    assert!(
        matches!(&error, Error::HandshakeTimedOut { after, .. } if *after == limit),
        "{error:?}"
    );
    assert!(error.is_timeout() && error.is_closed());
    let stderr = error.stderr().unwrap();
    assert!(stderr.contains("plugin X waits for its lock"), "{error:?}");
    assert!(error.to_string().contains("plugin X"), "{error}");
    cli.stage.assert_nothing_runs();
}
